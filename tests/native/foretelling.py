"""What the recording of one input says of another, against the recording of that one.

As long as two runs take the same way, their recordings hold the same branches. The first
recording, evaluated on the other input, has to foretell which way each of them goes there, up to
the first one that goes another way, or the first value that was made concrete and is another one.
"""

from __future__ import annotations

import dataclasses

from recording import BRANCH, FACT, Event, Recording, evaluate


@dataclasses.dataclass(frozen=True, slots=True)
class Foretold:
    """How far two recordings were compared."""

    branches: int
    """Branches that went as foretold."""
    flipped: bool
    """Whether the last of them went another way than on the first input."""
    fault: str
    """What went another way than foretold; empty if nothing did."""


def compare(first: Recording, second: Recording, other: bytes) -> Foretold:
    """Compare what `first` says of the input `other` with `second`, which was recorded on it."""
    values = evaluate(first, other)
    ours, theirs = _shape(first), _shape(second)
    branches = 0
    for at, event in enumerate(ours):
        value = values[event.label]
        if value is None or (event.kind == FACT and value != event.value):
            break
        if at == len(theirs) or _place(theirs[at]) != _place(event):
            break  # another way for a reason that is no branch, the end of the input for one
        if event.kind == FACT:
            continue
        if theirs[at].taken != value:
            return Foretold(branches, False, f"event {at}: {event} went {theirs[at].taken}")
        branches += 1
        if value != event.taken:
            return Foretold(branches, True, "")
    return Foretold(branches, False, "")


def _shape(recording: Recording) -> list[Event]:
    return [event for event in recording.events if event.kind in (BRANCH, FACT)]


def _place(event: Event) -> tuple[int, int, int]:
    return event.kind, event.site, event.aux
