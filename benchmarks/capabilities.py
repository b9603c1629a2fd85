"""The capability suite in full: `python -m benchmarks.capabilities [--levels O0,O1,O2,O3]
[--llvm 14,16,19] [--only WORDS] [--red] [--jobs 1]`.

Each program of tests/capabilities/programs, compiled at each level with each LLVM, by clang and by
`symfleet cc`; then symfleet-exec looks for its condition (see symfleet.testing.capabilities).
Verdicts go into a dated file in benchmarks/results together with older ones of the same build of
the engine, and all of them into docs/reference/capabilities.md. `--red` judges only what the newest
file does not call solved. The exit code is 1 when a case is not solved. With `--no-record`, or with
`--only` alone, nothing is written.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from symfleet.compiler.toolchain import native_folder
from symfleet.testing.capabilities import record
from symfleet.testing.capabilities.building import LEVELS, Cell
from symfleet.testing.capabilities.exploring import Budget
from symfleet.testing.capabilities.judging import Finding, Trial, Verdict
from symfleet.testing.capabilities.page import page
from symfleet.testing.capabilities.programs import Program, read_programs

ROOT: Final = Path(__file__).resolve().parent.parent
PROGRAMS: Final = ROOT / "tests" / "capabilities" / "programs"
RESULTS: Final = ROOT / "benchmarks" / "results"
PAGE: Final = ROOT / "docs" / "reference" / "capabilities.md"
LLVMS: Final = (19, 16, 14)


Case = tuple[Program, Cell]


def judged(trial: Trial, cases: Sequence[Case], jobs: int) -> Iterator[Verdict]:
    """Judge all, in their order."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda case: trial.judge(*case), cases)


def tell(verdict: Verdict) -> None:
    """Print one line about a verdict."""
    told = f"{verdict.explored} inputs, {verdict.produced} made, {verdict.seconds} s"
    how = f"by {verdict.how}" if verdict.how else ""
    words = f"{verdict.finding.value:16} {verdict.program:32} {verdict.cell.name:12}"
    print(f"{words} {told} {how}{verdict.reason}", flush=True)


def options_of(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", default=",".join(LEVELS), help="levels of optimisation")
    parser.add_argument("--llvm", default="", help="versions (default: those that are here)")
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD", help="names that hold it")
    parser.add_argument("--red", action="store_true", help="only what was not solved")
    parser.add_argument("--jobs", type=int, default=1, help="programs at the same time")
    parser.add_argument("--inputs", type=int, default=Budget().inputs, help="inputs a program")
    parser.add_argument("--seconds", type=float, default=Budget().seconds, help="for a program")
    parser.add_argument("--no-record", action="store_true", help="write neither file nor page")
    return parser.parse_args(argv)


def cases_of(options: argparse.Namespace, known: record.Record | None) -> list[Case]:
    """Return what to judge, cell by cell."""
    llvms = [int(word) for word in options.llvm.split(",") if word] or [
        llvm for llvm in LLVMS if shutil.which(f"clang-{llvm}")
    ]
    cells = [Cell(level, llvm) for llvm in llvms for level in options.levels.split(",")]
    cases = [(one, cell) for cell in cells for one in read_programs(PROGRAMS, options.only)]
    if not options.red:
        return cases
    verdicts = () if known is None else known.verdicts
    red = {(one.program, one.cell) for one in verdicts if one.finding is not Finding.SOLVED}
    return [(one, cell) for one, cell in cases if (one.name, cell) in red]


def write_page(whole: record.Record) -> None:
    """Make the page of the reference anew."""
    facts = f"Measured {whole.date}, engine {whole.engine}."
    PAGE.write_text(page(whole.verdicts, read_programs(PROGRAMS), facts))


def main(argv: Sequence[str]) -> int:
    """Judge, write, return the exit code."""
    options = options_of(argv)
    recorded = not options.no_record and (options.red or not options.only)
    native = Path(native_folder(os.environ))
    engine = record.engine_digest(native)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    path = RESULTS / f"capabilities-{date}.json"
    trial = Trial(native / "bin" / "symfleet-exec", Budget(options.inputs, options.seconds))
    whole = record.newest_record(RESULTS)
    verdicts: list[Verdict] = []
    for verdict in judged(trial, cases_of(options, whole), options.jobs):
        tell(verdict)
        verdicts.append(verdict)
        if recorded:
            whole = record.joined(whole, engine, date, [verdict])
            record.write_record(path, whole)
    if whole is not None and recorded:
        write_page(whole)
    for cell in sorted({verdict.cell for verdict in verdicts}):
        found = Counter(one.finding for one in verdicts if one.cell == cell)
        counts = ", ".join(f"{count} {what.value}" for what, count in found.most_common())
        print(f"{cell.name}: {found.total()} programs: {counts}")
    return int(any(verdict.finding is not Finding.SOLVED for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
