"""Compare library after library; see the package."""

from __future__ import annotations

import argparse
import datetime
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import benchmarks.identity
from benchmarks.identity.comparing import BuildFailed, build, compare, write_compilers
from benchmarks.identity.libraries import LIBRARIES, Library
from benchmarks.identity.report import Record, Row, joined, newest, table, write
from benchmarks.real import sources
from benchmarks.real.targets import HERE as REAL
from symfleet.compiler.command import Toolchain
from symfleet.compiler.toolchain import CLANG_VARIABLE, find_toolchain, native_folder
from symfleet.testing.capabilities.record import engine_digest

RESULTS: Final = Path(__file__).resolve().parents[1] / "results"
LEVELS: Final = ("O0", "O2")

Case = tuple[Library, str]


def compilers(work: Path, toolchain: Toolchain) -> dict[str, Path]:
    """Write both compilers, clang first.

    Their names are of one length, and so the paths of what they build: how much of a program's
    output is written at a time depends on it, and so where another stream's comes in between.
    """
    clang = shlex.quote(toolchain.clang)
    here = shlex.quote(str(Path(sys.executable).parent / "symfleet"))
    symfleet = f"env {CLANG_VARIABLE}={clang} {here}"
    commands = {
        "by-clang": {"cc": clang, "c++": f"{clang} --driver-mode=g++"},
        "symfleet": {"cc": f"{symfleet} cc", "c++": f"{symfleet} c++"},
    }
    return {who: write_compilers(work / f"bin-{who}", each) for who, each in commands.items()}


def compared(cases: list[Case], folders: dict[str, Path], work: Path, count: int) -> Iterator[Row]:
    """Build and compare all. Raises SourceError."""
    for library, level in cases:
        upstream = sources.fetch(library.package, REAL / ".cache")
        at = work / library.name
        try:
            plain, ours = (
                build(library, upstream, folder, level, at / who / "build")
                for who, folder in folders.items()
            )
        except BuildFailed as failed:
            yield _not_built(library, upstream.name, level, str(failed))
            continue
        yield compare(library, upstream, level, count, plain, ours)


def _not_built(library: Library, upstream: str, level: str, said: str) -> Row:
    return Row(
        library=library.name,
        sources=upstream,
        build_system=library.build_system,
        level=level,
        clang_build_s=0.0,
        symfleet_build_s=0.0,
        tests=[],
        tests_exit_codes=[],
        lines_of_tests=0,
        runs=0,
        differences=[f"not built: {said}"],
    )


def main() -> int:
    """Compare, write, return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.identity", description=benchmarks.identity.__doc__
    )
    names = [each.name for each in LIBRARIES]
    parser.add_argument("--only", action="append", choices=names, help="repeatable")
    parser.add_argument("--level", action="append", help="O0 to O3; O0 and O2 if not given")
    parser.add_argument("--llvm", type=int, help="version of clang; the newest if not given")
    parser.add_argument("--inputs", type=int, default=60, help="generated inputs of each program")
    parser.add_argument("--again", action="store_true", help="also what was equal")
    parser.add_argument("--work", type=Path, default=Path("build/identity"))
    options = parser.parse_args()
    variables = {
        **os.environ,
        **({CLANG_VARIABLE: f"clang-{options.llvm}"} if options.llvm else {}),
    }
    toolchain = find_toolchain(variables, lambda _: "")
    engine = engine_digest(Path(native_folder(os.environ)))
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    whole = newest(RESULTS, engine, toolchain.major) or Record(
        date, engine, toolchain.major, os.cpu_count() or 1, []
    )
    cases = [
        (library, f"-{level}")
        for level in options.level or LEVELS
        for library in LIBRARIES
        if library.name in (options.only or names)
        and (options.again or not whole.is_equal(library.name, f"-{level}"))
    ]
    work = options.work.resolve()
    for row in compared(cases, compilers(work, toolchain), work, options.inputs):
        print(table([row]).splitlines()[-1], flush=True)
        whole = joined(whole, date, [row])
        write(RESULTS / f"identity-{date}-{engine[:8]}.json", whole)
    print(table(whole.rows))
    return 1 if whole.differing else 0


if __name__ == "__main__":
    sys.exit(main())
