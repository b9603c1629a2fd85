"""Which functions that a program calls carry no labels, and what may be lost in them.

The notes of the compiler pass name calls of functions that an object file only declares. Whether
such a function is instrumented shows once the program is linked: a mark stands before it then, in
the program or in a shared library of it (native/include/symfleet/calls.h).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from symfleet.doctor.objects import Module, Objects

WAYS: Final = ("decides", "result", "memory", "state")
"""How what a function was given comes back, the likeliest to matter first (notes.h)."""


@dataclass(frozen=True, slots=True)
class Outside:
    """A function without labels and a model, and where the program calls it."""

    name: str
    way: str
    places: tuple[str, ...]
    """`file.c:12`, each once."""


def outside_functions(parts: Sequence[Objects]) -> tuple[Outside, ...]:
    """Return them, the likeliest to matter first: of a program and its shared libraries.

    Of a part that is stripped only those are known that another part defines.
    """
    called: set[str] = set()
    for part in parts:
        names = {call.name for module in part.instrumented for call in module.calls}
        called |= names if part.has_symbols else names & part.imported
    called -= {name for part in parts for name in part.marked}
    return _ranked([module for part in parts for module in part.instrumented], called)


def _ranked(modules: Iterable[Module], names: Iterable[str]) -> tuple[Outside, ...]:
    kept = frozenset(names)
    ways: dict[str, set[str]] = defaultdict(set)
    places: dict[str, dict[str, None]] = defaultdict(dict)
    for module in modules:
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
