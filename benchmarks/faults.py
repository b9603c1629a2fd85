"""Faults in layouts of several coordinators: `python -m benchmarks.faults [--runs 60]`.

Each run takes the next layout (2, 3, 4 coordinators; SQLite through the root, PostgreSQL through
the root and over own connections; as many hosts as coordinators where a whole host is struck) with
the next fault that it can meet, at an instant drawn from the seed, and is compared with what one
undisturbed worker explores (see symfleet.testing.kills.layout_faults). The result is a dated file
in benchmarks/results; the exit code is 1 when anything differs.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
from collections import Counter
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from symfleet.testing.hosts.faults import StruckHost
from symfleet.testing.hosts.namespaces import why_not
from symfleet.testing.kills.layout_faults import Exploration, Layout, Store, disturb, layouts, wrong
from symfleet.testing.kills.loop import Facts
from symfleet.testing.stores.postgres_cluster import Cluster, programs

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / "tests" / "programs" / "tree.py"


def one(
    folder: Path, exploration: Exploration, expected: Facts, layout: Layout, seed: int, **more: Any
) -> dict[str, Any]:
    """Run one layout; return its row of the result."""
    row: dict[str, Any] = {
        "coordinators": layout.coordinators,
        "hosts": layout.hosts,
        "store": layout.store,
        "fault": layout.fault,
        "seed": seed,
    }
    try:
        make = StruckHost if layout.fault.of_host else None
        report, story = disturb(folder, exploration, layout, seed, make=make, **more)
    except AssertionError as error:
        said = f"{type(error).__name__}: {error}"
        return {**row, "wrong": [said], "log": log_of(folder / "out")}
    found = wrong(folder / "out", report, expected, layout)
    row |= {
        "exit_code": report.exit_code,
        "decided_at_fault": report.kills[0].decided if report.kills else None,
        "epochs": report.epochs,
        "executions": report.runs,
        "decided": report.facts.counters["decided"],
        "faults": {name: why for name, why in report.faults.items() if any(why.values())},
        "wall_s": report.wall_s,
        "wrong": found,
    }
    return {**row, "story": story, "log": log_of(folder / "out")} if found else row


def log_of(out: Path) -> list[str]:
    """Return what the root noted, for whoever looks for the cause."""
    path = out / "logs" / "coordinator-0.jsonl"
    return path.read_text().splitlines()[-100:] if path.exists() else []


def main() -> int:
    """Run all, write the result, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=150)
    parser.add_argument("--wall", type=float, default=6.0, help="seconds of a run at least")
    parser.add_argument("--within", type=float, default=3.0, help="seconds after a decision")
    parser.add_argument("--only", default="", help="words that a layout's name must hold")
    parser.add_argument("--json", type=Path, help="where the result goes")
    options = parser.parse_args()
    chosen = [one for one in layouts() if options.only in str(one)]
    binaries = programs()
    if binaries is None:
        chosen = [one for one in chosen if one.store is Store.SQLITE]
    if why_not() is not None:
        chosen = [one for one in chosen if not one.fault.of_host]
    cluster = None if binaries is None else Cluster(binaries)
    rows: list[dict[str, Any]] = []
    try:
        with tempfile.TemporaryDirectory(prefix="symfleet-faults-") as name:
            folder = Path(name)
            # An edit of the program in the middle of all runs would make another generation.
            program = folder / "program" / TREE.name
            program.parent.mkdir()
            program.write_bytes(TREE.read_bytes())
            exploration = Exploration(program, options.nodes, options.wall)
            expected = exploration.undisturbed(folder / "undisturbed")
            for number, layout in enumerate(islice(cycle(chosen), options.runs)):
                seed = options.seed * 1000 + number
                more = {"within_s": options.within, "cluster": cluster}
                rows.append(one(folder / str(number), exploration, expected, layout, seed, **more))
                print(json.dumps(rows[-1]), flush=True)
    finally:
        if cluster is not None:
            cluster.stop()
    date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    failed = sum(bool(row["wrong"]) for row in rows)
    result = {
        "date": date,
        "command": "python -m benchmarks.faults",
        "options": {name: value for name, value in vars(options).items() if name != "json"},
        "runs": len(rows),
        "by_fault": dict(Counter(row["fault"] for row in rows)),
        "by_store": dict(Counter(row["store"] for row in rows)),
        "wrong": failed,
        "rows": rows,
    }
    path = options.json or ROOT / "benchmarks" / "results" / f"faults-{date[:10]}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"{len(rows)} runs, {failed} wrong: {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
