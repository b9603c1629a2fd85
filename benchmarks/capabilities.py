"""The capability suite in full: `python -m benchmarks.capabilities [--levels O0,O1,O2,O3]
[--llvm 14,16,19] [--only WORDS] [--jobs 1]`.

Each program of tests/capabilities/programs, compiled at each level with each LLVM, by clang and by
`symfleet cc`; then symfleet-exec looks for its condition (see symfleet.testing.capabilities).
Verdicts go into a dated file in benchmarks/results, beside those of the same day and the same
engine, and all of them into docs/reference/capabilities.md. The exit code is 1 when a case is not
solved. With `--only` or `--no-record` nothing is written.
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


def judged(
    trial: Trial, programs: Sequence[Program], cells: Sequence[Cell], jobs: int
) -> Iterator[Verdict]:
    """Judge all, cell by cell."""
    cases = [(program, cell) for cell in cells for program in programs]
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
    parser.add_argument("--jobs", type=int, default=1, help="programs at the same time")
    parser.add_argument("--inputs", type=int, default=Budget().inputs, help="inputs a program")
    parser.add_argument("--seconds", type=float, default=Budget().seconds, help="for a program")
    parser.add_argument("--no-record", action="store_true", help="write neither file nor page")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    """Judge, write, return the exit code."""
    options = options_of(argv)
    llvms = [int(word) for word in options.llvm.split(",") if word] or [
        llvm for llvm in LLVMS if shutil.which(f"clang-{llvm}")
    ]
    cells = [Cell(level, llvm) for llvm in llvms for level in options.levels.split(",")]
    native = Path(native_folder(os.environ))
    trial = Trial(native / "bin" / "symfleet-exec", Budget(options.inputs, options.seconds))
    date, engine = datetime.datetime.now(datetime.UTC).date().isoformat(), ""
    path = RESULTS / f"capabilities-{date}.json"
    engine = record.engine_digest(native)
    verdicts: list[Verdict] = []
    for verdict in judged(trial, read_programs(PROGRAMS, options.only), cells, options.jobs):
        tell(verdict)
        verdicts.append(verdict)
        if not options.only and not options.no_record:
            before = record.read_record(path) if path.exists() else None
            whole = record.joined(before, engine, date, [verdict])
            record.write_record(path, whole)
    if path.exists() and not options.only and not options.no_record:
        whole = record.read_record(path)
        facts = (
            f"Measured {whole.date}, engine {whole.engine}: at most {options.inputs} inputs and"
            f" {options.seconds:.0f} s a program."
        )
        PAGE.write_text(page(whole.verdicts, read_programs(PROGRAMS), facts))
    for cell in cells:
        found = Counter(one.finding for one in verdicts if one.cell == cell)
        counts = ", ".join(f"{count} {what.value}" for what, count in found.most_common())
        print(f"{cell.name}: {found.total()} programs: {counts}")
    return int(any(verdict.finding is not Finding.SOLVED for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
