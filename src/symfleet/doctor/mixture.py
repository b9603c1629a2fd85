"""Say which objects of a target are instrumented, and what in them is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from symfleet.doctor.check import Check, first_of, ok, warning
from symfleet.doctor.demangling import demangled
from symfleet.doctor.libraries import is_of_the_system, shared_libraries
from symfleet.doctor.objects import Objects, read_objects
from symfleet.doctor.outside import Outside, outside_functions

_PLACES_MAX: Final = 3
_HARMLESS: Final = "state"
YOURS: Final = (
    "build what is yours with `symfleet cc` too; of libraries, what they return is concrete"
)


def check_objects(program: Path) -> Iterator[Check]:
    """Yield what a program was put together from; nothing where its file does not tell."""
    objects = read_objects(program)
    if objects is None or not objects.instrumented:
        return
    sources = [one.source for one in objects.instrumented]
    yield ok("objects", f"instrumented: {first_of(sources)}", sources)
    if objects.others:
        yield warning(
            "other objects",
            f"not instrumented: {first_of(objects.others)}",
            "build them with `symfleet cc` too; what they compute from the input is concrete",
            objects.others,
        )
    if not objects.has_symbols:
        yield warning(
            "other objects",
            "not known: the program's symbols have been stripped",
            "ask before they are",
        )
    libraries = _libraries(program, objects)
    yield from _check_libraries(libraries)
    parts = [objects, *(part for part in libraries.values() if part.instrumented)]
    lost = [demangled(at) for part in parts for one in part.instrumented for at in one.lost]
    if lost:
        yield warning(
            "concrete",
            f"{len(lost)} places compute without labels: {first_of(lost)}",
            "`symfleet-exec` tells how often an input meets them",
            lost,
        )
    yield from _check_calls(parts)


def _libraries(program: Path, objects: Objects) -> dict[Path, Objects]:
    """Return the shared libraries that are the user's, or instrumented, and what is in them."""
    if not objects.interpreter:
        return {}
    found = {}
    for library in shared_libraries(program, objects.interpreter):
        part = read_objects(library) or Objects((), (), has_symbols=False)
        if part.instrumented or not is_of_the_system(library):
            found[library] = part
    return found


def _check_libraries(libraries: dict[Path, Objects]) -> Iterator[Check]:
    """Yield which of a program's own shared libraries are instrumented."""
    instrumented = [str(library) for library, part in libraries.items() if part.instrumented]
    others = [str(library) for library, part in libraries.items() if not part.instrumented]
    if instrumented:
        yield ok("libraries", f"instrumented: {first_of(instrumented)}", instrumented)
    if others:
        yield warning("other libraries", f"not instrumented: {first_of(others)}", YOURS, others)


def _check_calls(parts: list[Objects]) -> Iterator[Check]:
    """Yield which functions make values concrete, the likeliest to matter first."""
    outside = outside_functions(parts)
    if not outside:
        return
    calls = [_calls(one) for one in outside]
    told = f"{len(outside)} functions without a model: {first_of(calls)}"
    if all(one.way == _HARMLESS for one in outside):
        yield ok("outside calls", told, calls)
        return
    yield warning(
        "outside calls",
        told,
        f"{YOURS}; `symfleet doctor --seed FILE -- TARGET @@` tells which of them an input reaches",
        calls,
    )


def _calls(one: Outside) -> str:
    more = len(one.places) - _PLACES_MAX
    places = " ".join(one.places[:_PLACES_MAX]) + (f" and {more} more" if more > 0 else "")
    return f"{demangled(one.name)} ({one.way}; {places})"
