"""Compile a program with `symfleet cc` or `c++`, and the same with clang alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.compiler.toolchain import CLANG_VARIABLE
from symfleet.testing.capabilities.programs import Program, Way

LEVELS: Final = ("O0", "O1", "O2", "O3")
HARNESS_MAIN: Final = "harness_main.c"
"""Beside a harness: what calls it in a build without an engine."""
_STANDARD: Final = "-std=gnu++17"
"""What clang 16 and later take by themselves."""
_LINK: Final = ("-pthread", "-lm", "-ldl")
_COMPILE_S: Final = 180
_WORDS_MAX: Final = 300


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One column of the table: a level of optimisation and an LLVM."""

    level: str
    llvm: int

    @property
    def name(self) -> str:
        return f"-{self.level}, LLVM {self.llvm}"


class DoesNotCompile(Exception):
    """The compiler refused or failed; the message is what it said first."""


@dataclass(frozen=True, slots=True)
class Compilers:
    """How to call the compilers for C and for C++ of a cell."""

    c: tuple[str, ...]
    cxx: tuple[str, ...]
    environment: Mapping[str, str]
    brings_main: bool
    """A harness gets its main from the runtime."""


def plain(cell: Cell) -> Compilers:
    """Return clang alone."""
    return Compilers((f"clang-{cell.llvm}",), (f"clang++-{cell.llvm}",), os.environ, False)


def instrumenting(cell: Cell) -> Compilers:
    """Return `symfleet cc` with the same clang."""
    command = str(Path(sys.executable).with_name("symfleet"))
    environment = {**os.environ, CLANG_VARIABLE: f"clang-{cell.llvm}"}
    return Compilers((command, "cc"), (command, "c++"), environment, True)


def build(
    program: Program, cell: Cell, compilers: Compilers, target: Path, options: Sequence[str] = ()
) -> None:
    """Compile and link a program at a cell's level; raise DoesNotCompile."""
    compiler = (*compilers.cxx, _STANDARD) if program.is_cxx else compilers.c
    words = [*compiler, f"-{cell.level}", *options]
    if program.library is not None:
        library = target.with_name(f"{target.name}.so")
        _call([*words, "-shared", "-fPIC", str(program.library), "-o", str(library)], compilers)
        words.append(f'-DLIBRARY="{library}"')
    words.append(str(program.source))
    if program.way is Way.HARNESS and not compilers.brings_main:
        words.append(str(program.source.with_name(HARNESS_MAIN)))
    _call([*words, *_LINK, "-o", str(target)], compilers)


def _call(words: Sequence[str], compilers: Compilers) -> None:
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_COMPILE_S,
            env=compilers.environment,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise DoesNotCompile(f"the compiler took more than {_COMPILE_S} s") from error
    except OSError as error:
        raise DoesNotCompile(f"{words[0]}: {error.strerror}") from error
    said = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        raise DoesNotCompile(_what_matters(said) or f"exit code {done.returncode}")


def _what_matters(said: str) -> str:
    """Return the first line that tells of an error."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line or "undefined" in line or "LLVM" in line]
    return (telling or lines or [""])[0][:_WORDS_MAX]
