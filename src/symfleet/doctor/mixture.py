"""Say which objects of a target are instrumented, and what in them is lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from symfleet.doctor.check import Check, ok, warning
from symfleet.doctor.objects import read_objects

_SHOWN_MAX: Final = 8


def check_objects(program: Path) -> Iterator[Check]:
    """Yield what a program was put together from; nothing where its file does not tell."""
    objects = read_objects(program)
    if objects is None or not objects.instrumented:
        return
    yield ok("objects", f"instrumented: {_some([one.source for one in objects.instrumented])}")
    if objects.others:
        yield warning(
            "other objects",
            f"not instrumented: {_some(objects.others)}",
            "build them with `symfleet cc` too; what they compute from the input is concrete",
        )
    lost = [place for module in objects.instrumented for place in module.lost]
    if lost:
        yield warning(
            "concrete",
            f"{len(lost)} places compute without labels: {_some(lost)}",
            "`symfleet-exec` tells how often an input meets them",
        )


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN_MAX
    return ", ".join(names[:_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")
