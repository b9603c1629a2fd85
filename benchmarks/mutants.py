"""Every planted fault, looked for: `python -m benchmarks.mutants [--start 0] [--seeds 1000]`.

Each mutant is hunted by the check that is to see it: simulated campaigns from seed `--start` on, or
tests of this repository (see symfleet.testing.mutants). Writes a dated file into benchmarks/results
and the table of docs/reference/mutants.md. The exit code is 1 when one survives; it is listed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

import msgspec

from symfleet.testing.mutants.catalogue import AREAS, by_name
from symfleet.testing.mutants.hunting import hunt
from symfleet.testing.mutants.planting import InSimulation, Mutant
from symfleet.testing.mutants.trial import NOTHING, Trial

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "reference" / "mutants.md"
Row = dict[str, Any]


def hunted(name: str, start: int, seeds: int) -> Row:
    """Look for one in simulated campaigns."""
    mutant = by_name()[name]
    assert isinstance(mutant.seen, InSimulation)
    began = time.perf_counter()
    catch = hunt(mutant, mutant.seen.scene, start, seeds)
    took = round(time.perf_counter() - began, 2)
    where = f"simulation, {mutant.seen.scene}"
    if catch is None:
        return row(mutant, where, None, f"survived {seeds} seeds", took)
    after = f"seed {catch.seed}, {catch.seeds} tried"
    return row(mutant, where, f"{catch.check}: {catch.said}", after, took)


def tried(names: Sequence[str]) -> Iterator[Row]:
    """Run the tests that are to see some, one mutant after the other, and first without any."""
    command = [sys.executable, "-m", "symfleet.testing.mutants.trial", NOTHING, *names]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            trial = msgspec.json.decode(line, type=Trial)
            if trial.mutant == NOTHING:
                assert not trial.failed, f"a test fails without any mutant: {trial}"
                continue
            file, _, test = trial.failed.partition("::")
            seen = f"{test}: {trial.said}" if trial.failed else None
            after = f"test {trial.tests}" if trial.failed else f"survived {trial.tests} tests"
            yield row(by_name()[trial.mutant], file or "tests", seen, after, trial.seconds)


def row(mutant: Mutant, where: str, seen: str | None, after: str, seconds: float) -> Row:
    """Return what the record says of one."""
    told = None if seen is None else re.sub(r"(?<!\S)/\S+", "<path>", seen)
    return {
        "mutant": mutant.name,
        "guarantee": mutant.guarantee,
        "broken": mutant.broken,
        "where": where,
        "seen": told,
        "after": after,
        "seconds": seconds,
    }


def looked_for(names: Sequence[str], start: int, seeds: int, jobs: int) -> Iterator[Row]:
    """Look for all, those of the simulation first."""
    mutants = by_name()
    simulated = [name for name in names if isinstance(mutants[name].seen, InSimulation)]
    others = [name for name in names if name not in simulated]
    with ProcessPoolExecutor(jobs) as pool:
        every = len(simulated)
        yield from pool.map(hunted, simulated, [start] * every, [seeds] * every)
    if others:
        yield from tried(others)


def page(rows: Sequence[Row], date: str, options: argparse.Namespace) -> str:
    """Return the generated page."""
    found = {one["mutant"]: one for one in rows}
    survivors = [one["mutant"] for one in rows if one["seen"] is None]
    tried = f"seeds from {options.start} on, at most {options.seeds} each"
    lines = [
        "# Planted faults",
        "",
        "Made by `python -m benchmarks.mutants`; do not edit. A mutant is a small fault that is",
        "planted into the real machines or stores for the time of a check",
        "(`symfleet.testing.mutants`). A check that cannot see it proves nothing, so each has to",
        "be seen. `tests/simulation/test_mutants.py` asks for that at every change.",
        "",
        f"{len(rows)} mutants, {len(survivors)} survived: {date[:10]}, {tried}.",
        "",
    ]
    if survivors:
        lines += [f"**Survived: {', '.join(survivors)}**", ""]
    for area, mutants in AREAS.items():
        known = [mutant for mutant in mutants if mutant.name in found]
        if known:
            lines += [f"## {area.capitalize()}", "", *_TABLE]
            lines += [_line(found[mutant.name]) for mutant in known]
            lines.append("")
    return "\n".join(lines)


_TABLE: Final = (
    "| mutant | breaks | what is wrong | seen by | after |",
    "|---|---|---|---|---|",
)


def _line(one: Row) -> str:
    seen = "**survived**" if one["seen"] is None else f"{one['where']}: {_short(one)}"
    broken, told = (word.replace("|", "/").replace("<", "&lt;") for word in (one["broken"], seen))
    return f"| `{one['mutant']}` | {one['guarantee']} | {broken} | {told} | {one['after']} |"


def _short(one: Row) -> str:
    """Return the test that failed, or the words of the campaign."""
    seen = str(one["seen"])
    if one["where"].startswith("tests"):
        return f"`{seen.partition(': ')[0].partition('[')[0]}`"
    return seen if len(seen) <= 120 else seen[:120] + " ..."


def main() -> int:
    """Look for all, write record and page, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--start", type=int, default=0, help="first seed of each")
    parser.add_argument("--seeds", type=int, default=1000, help="how many seeds are tried at most")
    parser.add_argument("--jobs", type=int, default=2, help="campaigns at the same time")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="no record, no page")
    options = parser.parse_args()
    names = options.only or [*by_name()]
    began, load = time.perf_counter(), os.getloadavg()
    rows: list[Row] = []
    for one in looked_for(names, options.start, options.seeds, options.jobs):
        rows.append(one)
        seen = one["seen"] or "SURVIVED"
        told = (one["guarantee"], one["mutant"], one["where"], seen[:100], one["after"])
        print(*told, f"{one['seconds']} s", sep=" | ", file=sys.stderr, flush=True)
    survived = [one for one in rows if one["seen"] is None]
    print(f"{len(rows)} mutants, {len(survived)} survived")
    if not options.only:
        date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
        record = {
            "date": date,
            "command": f"python -m benchmarks.mutants --start {options.start}",
            "seed": options.start,
            "seeds_max": options.seeds,
            "mutants": len(rows),
            "violations": survived,
            "seconds": round(time.perf_counter() - began, 1),
            "load": load,
            "rows": rows,
        }
        results = ROOT / "benchmarks" / "results" / f"mutants-{date[:10]}.json"
        results.write_text(json.dumps(record, indent=1) + "\n")
        PAGE.write_text(page(rows, date, options))
        print(results)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
