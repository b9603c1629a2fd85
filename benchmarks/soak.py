"""The soak: `python -m benchmarks.soak [--minutes 30] [--every 2] [--coordinators 2]`.

Explores one finite program after another on real MPI while a random process of the job is killed or
stopped, again and again, and compares each with a run that nobody disturbed (see
symfleet.testing.soak.session). The result is a dated file in benchmarks/results; the exit code is 1
when anything is wrong. Then the soak's folder is kept: it holds the story of all faults
(faults.jsonl), what was seen of each process (lives.jsonl), the campaign and its logs. A soak that
was cut off goes on when it is started again with the same words and its folder.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import os
import shlex
import shutil
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import msgspec

from symfleet.testing.kills.layout_faults import end_session
from symfleet.testing.soak.graph import Graph
from symfleet.testing.soak.record import SoakRecord
from symfleet.testing.soak.session import Soak, SoakPlan
from symfleet.testing.stores.postgres_cluster import Cluster, programs

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "tests" / "programs" / "graph.sh"
_DENSE_S = 1.0
"""Seconds between two faults; a soak with more of them has results of its own."""


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two faults")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=2000, help="items of a campaign")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds that an item sleeps")
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--coordinators", type=int, default=1)
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--own-connections", action="store_true", help="of each coordinator")
    parser.add_argument("--cheap", type=int, default=2, help="cheap faults for each dear one")
    parser.add_argument("--steady", type=int, default=2, help="which campaign keeps its root")
    parser.add_argument("--steady-nodes", type=int, default=34_000, help="its items")
    parser.add_argument("--steady-bulk", type=int, default=8192, help="bytes of each of its inputs")
    parser.add_argument("--keep", action="store_true", help="keep the folder in any case")
    parser.add_argument("--folder", type=Path, help="where it works (default: a new one)")
    parser.add_argument("--json", type=Path, help="where the result goes")
    return parser.parse_args()


def soak(options: argparse.Namespace, folder: Path, cluster: Cluster | None) -> SoakRecord:
    """Run it."""
    # An edit of the program in the middle would make another generation.
    program = folder / PROGRAM.name
    if not program.exists():
        program.write_bytes(PROGRAM.read_bytes())
    plan = SoakPlan(
        seconds=options.minutes * 60,
        every_s=options.every,
        seed=options.seed,
        slots=options.slots,
        coordinators=options.coordinators,
        cheap=options.cheap,
        steady=options.steady,
        steady_nodes=options.steady_nodes,
        steady_bulk=options.steady_bulk,
        keep=options.keep,
        ledger="" if cluster is None else cluster.url,
        own_connections=options.own_connections,
    )
    cut = None if cluster is None else functools.partial(end_session, cluster.url)
    one = Soak(plan, Graph(program, options.nodes, options.pause), folder, cut=cut)
    try:
        return one.run()
    except Exception as error:  # noqa: BLE001 - hours of soak are not forgotten for its last error
        traceback.print_exc()
        record = one.record(finished=False)
        wrong = (*record.violations, f"{type(error).__name__}: {error}")
        return msgspec.structs.replace(record, violations=wrong)


def server(options: argparse.Namespace) -> Cluster | None:
    """Start a server if there is to be one."""
    if options.store == "sqlite":
        return None
    folder = programs()
    if folder is None:
        raise SystemExit("no PostgreSQL server is installed")
    return Cluster(folder)


def main() -> int:
    """Run it, write the result, return the exit code."""
    options = parse()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="symfleet-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"everything is below {folder}", file=sys.stderr)
    before = os.getloadavg()
    cluster = server(options)
    try:
        record = soak(options, folder, cluster)
    finally:
        if cluster is not None:
            cluster.stop()
    date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    result: dict[str, Any] = {
        "date": date,
        "command": shlex.join(["python", "-m", "benchmarks.soak", *sys.argv[1:]]),
        "load_before": [round(one, 2) for one in before],
        "load_after": [round(one, 2) for one in os.getloadavg()],
        **msgspec.to_builtins(record),
    }
    name = "soak" if options.every >= _DENSE_S else "soak-dense"
    path = options.json or ROOT / "benchmarks" / "results" / f"{name}-{date[:10]}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    wrong = list(record.violations)
    told = f"{record.faults} faults, {record.decided} decided, {record.harm}, wrong: {wrong}"
    print(f"{told}: {path}")
    if not wrong and not options.keep:
        shutil.rmtree(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
