"""Power cuts in full: `python -m benchmarks.power_cut [--states 1000000] [--jobs 2]`.

Every program of `symfleet.testing.power_cut.drivers` is traced anew in every round, every instant
of it is looked at, and recoveries are cut as well. The first round takes all systematic variants
and few drawn ones, later rounds draw more. The result is a dated file in benchmarks/results that is
written after each program: the same command with `--resume FILE` goes on from it. The exit code is
1 when there is a violation; all are listed.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import datetime
import json
import multiprocessing
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from symfleet.testing.power_cut.drivers import DRIVERS
from symfleet.testing.power_cut.judge import Tally
from symfleet.testing.power_cut.programme import Share, examine
from symfleet.testing.power_cut.trace import can_trace

RESULTS = Path(__file__).resolve().parent / "results"
RARE = frozenset({"big", "copy"})
"""Programs with large files or slow checks: their own share of instants is enough."""
SECOND_CUTS = {"turns": 6, "publish": 4, "fold": 4, "recover": 8, "close": 4, "create": 2}


def share_of(name: str, round_number: int, every: int) -> Share:
    """Return how much of a program one round looks at."""
    return Share(
        every=None if name in RARE else every,
        subsets=4 if round_number == 0 else 16,
        second=-(-SECOND_CUTS.get(name, 0) // every),
        second_every=every if round_number == 0 else 3 * every,
    )


def examined(name: str, round_number: int, seed: int, every: int) -> tuple[str, int, Tally, float]:
    """Look at one program in one round, in a process of its own."""
    started = time.process_time()
    tally = examine(name, seed + round_number, share_of(name, round_number, every))
    return name, round_number, tally, time.process_time() - started


def main() -> int:
    """Run rounds until there are as many states as asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=1_000_000, help="distinct states")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds-max", type=int, default=100)
    parser.add_argument("--every", type=int, default=1, help="one of how many instants")
    parser.add_argument("--resume", type=Path, help="go on from this result")
    options = parser.parse_args()
    reason = can_trace()
    if reason:
        parser.error(reason)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    file = options.resume or RESULTS / f"power-cut-{today}.json"
    result = json.loads(file.read_text()) if options.resume else fresh(options.seed)
    run(result, file, options)
    print(f"{result['distinct']} distinct states, {len(result['violations'])} violations: {file}")
    return int(bool(result["violations"]))


def fresh(seed: int) -> dict[str, Any]:
    """Return the result before the first round. States of one round are distinct by all their
    bytes; between rounds salts and process ids differ, too."""
    return {
        "command": " ".join(["python", "-m", "benchmarks.power_cut", *sys.argv[1:]]),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seed": seed,
        "states": 0,
        "distinct": 0,
        "opened": 0,
        "finished": 0,
        "rounds": 0,
        "by_program": {},
        "violations": [],
        "cpu_seconds": 0.0,
        "seconds": 0.0,
        "load": os.getloadavg(),
        "done": [],
    }


def run(result: dict[str, Any], file: Path, options: argparse.Namespace) -> None:
    """Add rounds to a result, and write it after each program."""
    started, before = time.monotonic(), float(result["seconds"])
    done = {(name, number) for name, number in result["done"]}
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        for number in range(options.rounds_max):
            if result["distinct"] >= options.states:
                break
            due = [name for name in DRIVERS if (name, number) not in done]
            futures = [
                pool.submit(examined, name, number, result["seed"], options.every) for name in due
            ]
            for future in concurrent.futures.as_completed(futures):
                add(result, *future.result())
                result["rounds"] = number + 1
                result["seconds"] = round(before + time.monotonic() - started, 1)
                file.write_text(json.dumps(result, indent=1) + "\n")


def add(result: dict[str, Any], name: str, number: int, tally: Tally, cpu_s: float) -> None:
    """Add what was found in one program."""
    for field in ("states", "distinct", "opened", "finished"):
        result[field] += getattr(tally, field)
    result["by_program"][name] = result["by_program"].get(name, 0) + tally.distinct
    result["violations"] += [asdict(violation) for violation in tally.violations]
    result["cpu_seconds"] = round(result["cpu_seconds"] + cpu_s, 1)
    result["done"].append([name, number])
    line = f"round {number} {name}: {tally.distinct} distinct, {len(tally.violations)} violations"
    print(f"{line}; {result['distinct']} in all", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
