"""Histories of concurrent coordinators on both stores, in full.

    python -m benchmarks.linearizability [--operations 10000000] [--postgres 0.1] [--seed 1]
                                         [--again]

A share of the operations is asked of PostgreSQL over own connections, the rest of SQLite through
the owner's turn service. Coordinators and owners are stopped, killed and given up, sessions and
servers ended, all the time (`symfleet.testing.linearizability`). What is done is noted after each
history of some ten thousand operations, below build/: the same command goes on where it was. The
result is a dated file in benchmarks/results; the exit code is 1 when a history has no order.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from symfleet.corpus.durable import write_file
from symfleet.testing.linearizability.run import SEGMENT_OPERATIONS, STORES, Report, history
from symfleet.testing.stores.postgres_cluster import Cluster, programs

ROOT = Path(__file__).resolve().parent.parent


class Progress:
    """What was done, by store, and with which seed the next history is made."""

    def __init__(self, path: Path, first_seed: int, *, again: bool) -> None:
        self._path = path
        self.reports = {store: Report() for store in STORES}
        self.seeds = dict.fromkeys(STORES, first_seed)
        if path.exists() and not again:
            noted = json.loads(path.read_text())
            self.seeds = noted["seeds"]
            self.reports = {store: Report.of(noted[store]) for store in STORES}

    def add(self, store: str, report: Report) -> None:
        """Note one history."""
        self.seeds[store] += 1
        self.reports[store].add(report)
        noted: dict[str, Any] = {store: one.as_json() for store, one in self.reports.items()}
        write_file(self._path, json.dumps({"seeds": self.seeds, **noted}).encode())


def run(folder: Path, operations: dict[str, int], progress: Progress) -> None:
    """Make and check histories until each store had its share, or one has a violation."""
    bin_folder = programs()
    assert bin_folder is not None, "no PostgreSQL server is installed"
    cluster = Cluster(bin_folder)
    servers = {"sqlite": None, "postgres": cluster}
    try:
        while True:
            done = {one: progress.reports[one].operations for one in STORES}
            due = [one for one in STORES if done[one] < operations[one]]
            if not due or any(report.violations for report in progress.reports.values()):
                return
            store = min(due, key=lambda one: done[one] / operations[one])
            left = operations[store] - done[store]
            seed = progress.seeds[store]
            one = history(folder, seed, min(left, SEGMENT_OPERATIONS), servers[store])
            progress.add(store, one)
            together = progress.reports[store].operations
            print(f"{store}, seed {seed}: {one.as_json()}; {together:,} in all", file=sys.stderr)
    finally:
        cluster.stop()


def main() -> int:
    """Make, check, write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=10_000_000)
    parser.add_argument("--postgres", type=float, default=0.1, help="share of its operations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="begin anew")
    options = parser.parse_args()
    (ROOT / "build").mkdir(exist_ok=True)
    progress = Progress(ROOT / "build" / "linearizability.json", options.seed, again=options.again)
    with tempfile.TemporaryDirectory(prefix="symfleet-histories-") as name:
        on_server = int(options.operations * options.postgres)
        shares = {"sqlite": options.operations - on_server, "postgres": on_server}
        run(Path(name), shares, progress)
    reports = progress.reports
    date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    result = {
        "date": date,
        "command": f"python -m benchmarks.linearizability --operations {options.operations}"
        f" --postgres {options.postgres:g} --seed {options.seed}",
        "seed": options.seed,
        "cores": os.cpu_count(),
        "load_average": os.getloadavg(),
        "operations": sum(report.operations for report in reports.values()),
        "violations": [one for report in reports.values() for one in report.violations],
        "seconds": round(sum(one.making_s + one.checking_s for one in reports.values()), 1),
        "stores": {store: report.as_json() for store, report in reports.items()},
    }
    print(json.dumps(result, indent=1))
    path = ROOT / "benchmarks" / "results" / f"linearizability-{date[:10]}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    return int(bool(result["violations"]))


if __name__ == "__main__":
    raise SystemExit(main())
