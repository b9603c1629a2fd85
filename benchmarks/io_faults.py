"""I/O faults in full: `python -m benchmarks.io_faults [--jobs 2]`.

Every call of every program of `symfleet.testing.power_cut.drivers` on its files fails once, with
each fault of `symfleet.testing.io_faults.faults`. The result is a dated file in benchmarks/results
that lists every problem; the exit code is 1 when there is one.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import datetime
import json
import os
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from symfleet.testing.io_faults.cases import Report
from symfleet.testing.io_faults.faults import FAULTS
from symfleet.testing.io_faults.launch import NAME
from symfleet.testing.io_faults.programme import examine
from symfleet.testing.power_cut.drivers import DRIVERS

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
LARGE = {"big": 40}
"""Programs whose calls are many and alike: one of how many is let fail."""
PROGRAMS = [*DRIVERS, NAME]
TIMEOUT_S = 7200.0


def examined(name: str, fault: str, scratch: Path) -> tuple[str, str, Report]:
    """Let all calls of one program fail in one way."""
    folder = scratch / f"{name}-{fault}".replace(" ", "-")
    report = examine([name], folder, stride=LARGE.get(name, 1), faults=[fault], timeout_s=TIMEOUT_S)
    return name, fault, report


def main() -> int:
    """Run all loops."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--programs", nargs="*", default=PROGRAMS, choices=PROGRAMS)
    options = parser.parse_args()
    now = datetime.datetime.now(datetime.UTC)
    result: dict[str, Any] = {
        "command": " ".join(["python", "-m", "benchmarks.io_faults", *sys.argv[1:]]),
        "date": now.isoformat(timespec="seconds"),
        "seed": 1,
        "load": os.getloadavg(),
        "cases": 0,
        "ends": {},
        "by_program": {},
        "problems": [],
    }
    started = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as scratch,
        concurrent.futures.ThreadPoolExecutor(options.jobs) as pool,
    ):
        pairs = [(name, fault.name) for name in options.programs for fault in FAULTS]
        futures = [pool.submit(examined, *pair, Path(scratch)) for pair in pairs]
        for future in concurrent.futures.as_completed(futures):
            add(result, *future.result())
    result["seconds"] = round(time.monotonic() - started, 1)
    file = RESULTS / f"io-faults-{now.date().isoformat()}.json"
    file.write_text(json.dumps(result, indent=1) + "\n")
    print(f"{result['cases']} cases, {len(result['problems'])} problems: {file}")
    return int(bool(result["problems"]))


def add(result: dict[str, Any], name: str, fault: str, report: Report) -> None:
    """Add what one loop came to."""
    result["cases"] += report.cases
    result["by_program"][name] = result["by_program"].get(name, 0) + report.cases
    for code, amount in report.ends.items():
        result["ends"][code] = result["ends"].get(code, 0) + amount
    for problem in report.problems:
        told = asdict(problem)
        told["what"] = told["what"].replace(f"{ROOT}/", "")  # results say nothing of the machine
        result["problems"].append(told)
    line = f"{name}, {fault}: {report.cases} cases, {len(report.problems)} problems"
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
