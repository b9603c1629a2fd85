"""The command."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import random
import shlex
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks import kill_cost
from benchmarks.kill_cost.campaign import ROOT, Campaign, Plan, end_everything_below
from benchmarks.kill_cost.figures import figures_of
from benchmarks.kill_cost.rows import Row
from benchmarks.real import sources, targets
from symfleet.engine import processes

LIBRARY: Final = "cjson"


def rows_of(options: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """Build cJSON, run all pairs; yield a row for each campaign."""
    library = next(one for one in targets.LIBRARIES if one.name == LIBRARY)
    upstream = sources.fetch(library.package, targets.HERE / ".cache")
    compiler = [str(Path(sys.executable).with_name("symfleet")), "cc"]
    program = targets.build(library, upstream, compiler, folder / "target")
    budget_s = options.seconds * options.slots
    plan = Plan(program, library.seeds, options.slots, budget_s, options.every)
    for pair in range(1, options.pairs + 1):
        for disturbed in (False, True) if pair % 2 else (True, False):
            place = folder / f"{pair}{'d' if disturbed else 'u'}"
            chance = random.Random(f"{options.seed} {pair}") if disturbed else None
            row = Campaign(plan, place, chance).run(pair)
            yield row
            if not row.problems:
                shutil.rmtree(place)


def measure(options: argparse.Namespace, folder: Path) -> list[Row]:
    """Run all, print a line for each pair; return all rows."""
    rows: list[Row] = []
    for row in rows_of(options, folder):
        rows.append(row)
        of_pair = [one for one in rows if one.pair == row.pair]
        if len(of_pair) == 2:
            told = {"pair": row.pair, "rows": msgspec.to_builtins(of_pair)}
            print(json.dumps(told), flush=True)
    return rows


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=kill_cost.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU seconds of each slot")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two kills")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="where the result goes")
    return parser.parse_args()


def report(options: argparse.Namespace, rows: Sequence[Row], load: Sequence[float]) -> int:
    """Write the result, print the figures, return the exit code."""
    date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    kinds = {True: "disturbed", False: "undisturbed"}
    problems = [
        f"pair {row.pair}, {kinds[row.disturbed]}: {problem}"
        for row in rows
        for problem in row.problems
    ]
    figures = figures_of(rows)
    result: dict[str, Any] = {
        "date": date,
        "command": shlex.join(["python", "-m", "benchmarks.kill_cost", *sys.argv[1:]]),
        "options": {name: value for name, value in vars(options).items() if name != "json"},
        "cores": os.cpu_count(),
        "load_average": [[round(one, 2) for one in when] for when in (load, os.getloadavg())],
        "pairs": len({row.pair for row in rows}),
        "killed": dict(Counter(kill.role for row in rows for kill in row.kills)),
        "figures": msgspec.to_builtins(figures),
        "problems": problems,
        "rows": msgspec.to_builtins(rows),
    }
    path = options.json or ROOT / "benchmarks" / "results" / f"kill-cost-{date[:10]}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    for name, one in figures.items():
        print(f"{name}: {one.median:g} [{one.low:g}, {one.high:g}] {one.unit}")
    print(f"{len(rows)} campaigns, {len(problems)} problems: {path}")
    return 1 if problems else 0


def main() -> int:
    """Run all, write the result, return the exit code; 130 when it was interrupted."""
    options = parse()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    processes.become_subreaper()
    load = os.getloadavg()
    (ROOT / "build").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="symfleet-kill-cost-", dir=ROOT / "build"))
    is_kept = True
    try:
        rows = measure(options, folder)
        is_kept = any(row.problems for row in rows)
    except KeyboardInterrupt:
        print("interrupted: no result is written", file=sys.stderr)
        is_kept, rows = False, []
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_everything_below()
        if is_kept:
            print(f"everything is below {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    return report(options, rows, load) if rows else 130


if __name__ == "__main__":
    sys.exit(main())
