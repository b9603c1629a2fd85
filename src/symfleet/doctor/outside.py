"""Which functions that a program calls carry no labels, and what may be lost in them.

The notes of the compiler pass name calls of functions that an object file only declares. Whether
such a function is instrumented shows once the program is linked: a mark stands before it then, in
the program or in a shared library of it (native/include/symfleet/calls.h).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.doctor.objects import Objects, marked_functions

WAYS: Final = ("decides", "result", "memory", "state")
"""How what a function was given comes back, the likeliest to matter first (notes.h)."""
_LOADER_TIMEOUT_S: Final = 10.0
_LIBRARIES_MAX: Final = 256
_LIBRARY_LINE: Final = re.compile(rb"(?:=>\s*|^\s*)(/\S.*?)\s+\(0x", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outside:
    """A function without labels and a model, and where the program calls it."""

    name: str
    way: str
    places: tuple[str, ...]
    """`file.c:12`, each once."""


def outside_functions(program: Path, objects: Objects) -> tuple[Outside, ...]:
    """Return them, the likeliest to matter first.

    Of a stripped program only those are known that a shared library defines.
    """
    called = {call.name for module in objects.instrumented for call in module.calls}
    if not objects.has_symbols:
        called &= objects.imported
    called -= objects.marked
    if called and objects.interpreter:
        for library in _libraries(objects.interpreter, program):
            called -= marked_functions(library)
    return _ranked(objects, called)


def _ranked(objects: Objects, names: Iterable[str]) -> tuple[Outside, ...]:
    kept = frozenset(names)
    ways: dict[str, set[str]] = defaultdict(set)
    places: dict[str, dict[str, None]] = defaultdict(dict)
    for module in objects.instrumented:
        for call in module.calls:
            if call.name in kept:
                ways[call.name].add(call.way)
                places[call.name].setdefault(call.place)
    found = [
        Outside(name, min(ways[name], key=_rank), tuple(places[name])) for name in sorted(kept)
    ]
    return tuple(sorted(found, key=lambda one: (_rank(one.way), -len(one.places))))


def _rank(way: str) -> int:
    return WAYS.index(way) if way in WAYS else len(WAYS)


def _libraries(interpreter: str, program: Path) -> Iterable[Path]:
    """Yield the shared libraries that hold notes; none where the loader cannot tell."""
    try:
        done = subprocess.run(
            [interpreter, "--list", os.fspath(program)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LOADER_TIMEOUT_S,
            start_new_session=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    for name in _LIBRARY_LINE.findall(done.stdout)[:_LIBRARIES_MAX]:
        library = Path(os.fsdecode(name))
        if library.is_file():
            yield library
