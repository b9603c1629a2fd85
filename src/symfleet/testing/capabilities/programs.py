"""The capability programs and what their headers say.

    // Exercises: strchr
    // Input: stdin; seed: 41*12
    // Solution: 41*6 3d31 41*4
    // Library: strchr.lib.c            (only where a library is opened at run time)

Bytes are hexadecimal; `41*12` is twelve times 41, `-` is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

_SEED: Final = re.compile(r"^// Input: (\w+); seed: (.+)$", re.MULTILINE)
_BYTES_MAX: Final = 1 << 16


class Way(Enum):
    """How the input comes to the program."""

    STDIN = "stdin"
    FILE = "file"
    ARGV = "argv"
    """The argument is the input, up to its first zero."""
    SOCKET = "socket"
    """Standard input is a connected socket."""
    LISTENER = "listener"
    """Standard input is a socket with a connection to accept."""
    HARNESS = "harness"
    """LLVMFuzzerTestOneInput is called with the input; there is no main."""


class BadHeader(Exception):
    """The header of a program does not say what it must."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program: the seed does not satisfy its condition, the solution does."""

    source: Path
    exercises: str
    way: Way
    seed: bytes
    solution: bytes
    library: Path | None
    """Source of a library that the program opens at the path LIBRARY."""

    @property
    def name(self) -> str:
        return self.source.stem

    @property
    def is_cxx(self) -> bool:
        return self.source.suffix == ".cpp"


def parse_bytes(text: str) -> bytes:
    """Return the bytes that a header means; raise BadHeader."""
    if text == "-":
        return b""
    data = b""
    for word in text.split():
        digits, _, times = word.partition("*")
        try:
            data += bytes.fromhex(digits) * int(times or 1)
        except ValueError as error:
            raise BadHeader(f"`{word}` are no bytes") from error
        if len(data) > _BYTES_MAX:
            raise BadHeader(f"more than {_BYTES_MAX} bytes")
    return data


def read_program(source: Path) -> Program:
    """Read the header of a source; raise BadHeader."""
    text = source.read_text()
    found = _SEED.search(text)
    if found is None:
        raise BadHeader(f"{source}: no line `// Input: WAY; seed: BYTES`")
    try:
        way, seed = Way(found[1]), parse_bytes(found[2])
        solution = parse_bytes(_line(text, "Solution"))
        exercises = _line(text, "Exercises")
    except (ValueError, BadHeader) as error:
        raise BadHeader(f"{source}: {error}") from error
    library = re.search(r"^// Library: (\S+)$", text, re.MULTILINE)
    beside = None if library is None else source.with_name(library[1])
    return Program(source, exercises, way, seed, solution, beside)


def _line(text: str, key: str) -> str:
    found = re.search(rf"^// {key}: (.+)$", text, re.MULTILINE)
    if found is None:
        raise BadHeader(f"no line `// {key}: ...`")
    return found[1]


def read_programs(folder: Path, only: Sequence[str] = ()) -> list[Program]:
    """Return the programs of a folder by name; `only`: those whose name holds one of the words."""
    sources = [*folder.glob("*.c"), *folder.glob("*.cpp")]
    found = [read_program(source) for source in sources if _SEED.search(source.read_text())]
    chosen = [one for one in found if not only or any(word in one.name for word in only)]
    return sorted(chosen, key=lambda one: one.name)
