"""The whole kill matrix: `python -m benchmarks.kill_matrix`.

Two halves, whose implementations are symfleet.testing.kills.matrix and
symfleet.testing.kills.mpi_kills:

* processes: every crash point of every role, its first three occurrences, each with a death at
  every point of the recovery (`--processes turn`: one occurrence and one of these deaths each),
  and, where a PostgreSQL server is installed, three turns with their ledgers there;
* jobs, with real MPI: every crash point with one and with two coordinators, its first three
  occurrences, killed, and stopped and continued; every strike; every double death.

`--jobs-max` takes the first so many of the jobs' cases in their fixed order, in which no part of
the list is like another. The result is a dated file in benchmarks/results; the exit code is 1 when
anything is wrong.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shlex
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from symfleet import crash
from symfleet.testing import memory_limit
from symfleet.testing.kills import matrix as kill_matrix
from symfleet.testing.kills.layout_faults import Exploration
from symfleet.testing.kills.mpi_cases import Case, double_cases, point_cases, shuffled, strike_cases
from symfleet.testing.kills.mpi_kills import NODES, run_cases
from symfleet.testing.stores.postgres_cluster import Cluster, programs

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / "tests" / "programs" / "tree.py"


def tell(line: str) -> None:
    """Say how it goes."""
    print(line, file=sys.stderr, flush=True)


def kill_processes(form: str) -> dict[str, Any]:
    """Run the half that needs no MPI."""
    turn = None if form == "pairs" else 0
    with tempfile.TemporaryDirectory(prefix="kills-", dir=kill_matrix.in_memory()) as name:
        return asdict(kill_matrix.run(Path(name), tell, turn=turn))


def kill_processes_on_a_server() -> list[dict[str, Any]]:
    """Run three turns, which have all occurrences, with ledgers on a server if there is one."""
    binaries = programs()
    if binaries is None:
        return []
    cluster = Cluster(binaries)
    try:
        reports = []
        for turn in range(kill_matrix.OCCURRENCES):
            with tempfile.TemporaryDirectory(prefix="kills-", dir=kill_matrix.in_memory()) as name:
                report = kill_matrix.run(Path(name), tell, turn=turn, server=cluster.url)
                reports.append(asdict(report))
        return reports
    finally:
        cluster.stop()


def job_cases() -> list[Case]:
    """Return all cases of real jobs, strikes first."""
    strikes = strike_cases(long=True)
    return [*shuffled(strikes), *shuffled([*point_cases(), *double_cases()])]


def kill_jobs(cases: list[Case]) -> dict[str, Any]:
    """Run the half with real MPI."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="symfleet-kills-") as name:
        folder = Path(name)
        # An edit of the program in the middle of all runs would make another generation.
        program = folder / "program" / TREE.name
        program.parent.mkdir()
        program.write_bytes(TREE.read_bytes())
        expected = Exploration(program, NODES, 0.0).undisturbed(folder / "undisturbed")
        outcome = run_cases(folder / "jobs", program, cases, tell, expected=expected)
    return {
        "cases": len(cases),
        "met": len(outcome.met),
        "violations": outcome.wrong,
        "not_possible_here": memory_limit.why_not(),
        "list": outcome.met,
        "seconds": round(time.monotonic() - began, 1),
    }


def main() -> int:
    """Run both halves, write the result, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", choices=["pairs", "turn", "none"], default="pairs")
    parser.add_argument("--jobs-max", type=int, default=10_000, help="cases of real jobs")
    parser.add_argument("--only", default="", help="words that a case of a real job must hold")
    parser.add_argument("--json", type=Path, help="where the result goes")
    options = parser.parse_args()
    date = datetime.datetime.now(tz=datetime.UTC)
    load = os.getloadavg()
    processes = {} if options.processes == "none" else kill_processes(options.processes)
    on_a_server = [] if options.processes == "none" else kill_processes_on_a_server()
    cases = [case for case in job_cases() if options.only in str(case)][: options.jobs_max]
    jobs = kill_jobs(cases)
    died_in = [one for one in (processes, *on_a_server) if one]
    wrong = [*(found for one in died_in for found in one["violations"]), *jobs["violations"]]
    result: dict[str, Any] = {
        "command": shlex.join(["python", "-m", "benchmarks.kill_matrix", *sys.argv[1:]]),
        "date": date.isoformat(timespec="seconds"),
        "options": {name: str(value) for name, value in vars(options).items() if name != "json"},
        "seed": "none: all cases, in a fixed order",
        "labels": len(crash.LABELS),
        "processes": processes,
        "processes_on_a_server": on_a_server,
        "jobs": jobs,
        "violations": wrong,
        "load": {"before": load, "after": os.getloadavg(), "cores": os.cpu_count()},
    }
    path = options.json or ROOT / "benchmarks" / "results" / f"kill-matrix-{date:%Y-%m-%d}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    died = f"{sum(one['deaths'] for one in died_in)} processes and {jobs['met']} jobs died"
    print(f"{died}, {len(wrong)} wrong: {path}")
    return 1 if wrong or jobs["met"] != len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
