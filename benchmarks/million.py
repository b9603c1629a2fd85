"""What a campaign with a million records costs: listing, opening, resuming, telling, verifying.

    python -m benchmarks.million [--records 1000000] [--repetitions 7] [--verifications 1]

The campaign is made once, in build/million, through the ledger's own operations and with all its
files; that takes some minutes. Then measured in one run: how long open work takes to list; how long
from the root's death by SIGKILL to the first execution of the epoch that its launcher opens, and
from `symfleet resume` to the first one after the launcher's death, each beside a bare mpirun of as
many Python ranks; that nothing is executed that was decided; memory of the root; `symfleet status`
and `symfleet verify`. The result is a dated file in benchmarks/results; the exit code is 1 when a
promise of docs/explanation/reliability.md is not met.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

import msgspec

from symfleet.testing.million.campaign import Million, open_million
from symfleet.testing.million.measure import Figure, listing, programs, resumes

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "tests" / "programs" / "none.py"
LISTED_MS = 10.0
RESUMED_S = 1.5


def measure(million: Million, options: argparse.Namespace) -> dict[str, Any]:
    """Measure everything; return figures, and what is not as promised."""
    found = resumes(million, options.repetitions)
    figures: dict[str, Any] = {
        "bare mpirun": Figure.of("s", found.bare_s),
        "root killed to first execution": Figure.of("s", found.restart_s),
        "symfleet resume to first execution": Figure.of("s", found.command_s),
        "memory of the root": Figure.of("MiB", found.root_mib),
    }
    figures |= listing(million, options.repetitions)
    figures |= programs(million, options.repetitions, options.verifications)
    listed = figures["open work listed"].median
    over_s = statistics.median(found.restart_s) - statistics.median(found.bare_s)
    violations = [f"executed again: {digest}" for digest in found.repeated]
    if listed > LISTED_MS:
        violations.append(f"open work is listed in {listed} ms, promised are {LISTED_MS}")
    if over_s > RESUMED_S:
        violations.append(f"a restart takes {over_s:.2f} s more than mpirun, not {RESUMED_S}")
    if any(figures.get("exit codes of symfleet verify", [])):
        violations.append("symfleet verify finds something")
    return {
        "figures": figures,
        "restart_over_bare_s": round(over_s, 3),
        "executed": found.executed,
        "violations": violations,
    }


def main() -> int:
    """Make, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--verifications", type=int, default=1)
    options = parser.parse_args()
    million = open_million(
        ROOT / "build" / "million",
        options.records,
        PROGRAM,
        lambda line: print(line, file=sys.stderr),
    )
    began = os.getloadavg()
    try:
        measured = measure(million, options)
    finally:
        million.campaign.close()
    date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    result = {
        "date": date,
        "command": f"python -m benchmarks.million --records {options.records}"
        f" --repetitions {options.repetitions} --verifications {options.verifications}",
        "records": million.made.records,
        "made_in_s": million.made.seconds,
        "cores": os.cpu_count(),
        "load_average": [began, os.getloadavg()],
        **measured,
    }
    text = json.dumps(msgspec.to_builtins(result), indent=1)
    print(text)
    (ROOT / "benchmarks" / "results" / f"million-{date[:10]}.json").write_text(text + "\n")
    return int(bool(measured["violations"]))


if __name__ == "__main__":
    raise SystemExit(main())
