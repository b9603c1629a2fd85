"""READY and RESULT: each is classified before anything that is owned is touched (D4).

The two tables below are protocol.md's, spelt out over facts. Facts are read from the frame and the
in-flight table; the class follows from the table alone; the effect is the caller's. No order of
READY and RESULT is assumed (J2): a delivery whose READY comes after its RESULT was decided is
`OWED` one, and that READY is current.

One class is not in protocol.md: ECHO. Frames that say again what was said before carry the REPEAT
flag (a stalled coordinator makes its workers repeat themselves, which is no fault). An ECHO of
something that was settled here is answered and changes nothing; only the same frame without the
flag counts as a fault.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import Final

from symfleet.protocol.delivery import Delivery, InFlight
from symfleet.protocol.fleet import Slot
from symfleet.protocol.tokens import NO_TOKEN
from symfleet.types import DispatchToken

_TOKEN: Final = re.compile(r"[0-9a-f]{64}")


class Verdict(enum.StrEnum):
    """Classes of READY and RESULT; those of a fault are its reason in the counters."""

    CURRENT = "current"
    IDLE = "idle"
    ECHO = "echo"
    UNOWNED = "unowned"
    MISSING = "missing"
    MALFORMED = "malformed"
    STALE = "stale"


class Said(enum.StrEnum):
    """Which delivery a frame speaks of, seen from the slot incarnation that sent it."""

    NOTHING = "no token"
    GARBAGE = "not a token"
    HERE = "in flight here"
    OWED = "settled here, READY not read yet"
    RETIRED = "settled here"
    ELSEWHERE = "not in flight here"


_HOLDS: Final = (False, True)

# (slot has a delivery, what the header's token says, body fits) -> class
RESULT_TABLE: Final[dict[tuple[bool, Said, bool], Verdict]] = {
    **{(False, said, fits): Verdict.UNOWNED for said in Said for fits in (False, True)},
    **{(True, said, False): Verdict.MALFORMED for said in Said},
    (True, Said.NOTHING, True): Verdict.MISSING,
    (True, Said.GARBAGE, True): Verdict.MALFORMED,
    (True, Said.HERE, True): Verdict.CURRENT,
    (True, Said.OWED, True): Verdict.STALE,
    (True, Said.RETIRED, True): Verdict.STALE,
    (True, Said.ELSEWHERE, True): Verdict.STALE,
}

# (slot has a delivery, what `completed` says) -> class
READY_TABLE: Final[dict[tuple[bool, Said], Verdict]] = {
    (False, Said.NOTHING): Verdict.IDLE,
    (False, Said.RETIRED): Verdict.IDLE,
    (False, Said.OWED): Verdict.CURRENT,
    (False, Said.ELSEWHERE): Verdict.STALE,
    (True, Said.NOTHING): Verdict.MISSING,
    (True, Said.HERE): Verdict.CURRENT,
    (True, Said.OWED): Verdict.CURRENT,
    (True, Said.RETIRED): Verdict.STALE,
    (True, Said.ELSEWHERE): Verdict.STALE,
    **{(holds, Said.GARBAGE): Verdict.MALFORMED for holds in _HOLDS},
}

_SETTLED: Final = frozenset({Said.OWED, Said.RETIRED})


@dataclass(frozen=True, slots=True)
class Judged:
    """A class, and the delivery that it is about when that is in flight."""

    verdict: Verdict
    said: Said
    delivery: Delivery | None = None


def _speaks_of(slot: Slot, in_flight: InFlight, token: object) -> tuple[Said, Delivery | None]:
    if token is None or token in ("", NO_TOKEN):
        return Said.NOTHING, None
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        return Said.GARBAGE, None
    named = DispatchToken(token)
    delivery = in_flight.get(named)
    if (
        delivery is not None
        and delivery.place == slot.place
        and delivery.incarnation == slot.incarnation
    ):
        return Said.HERE, delivery
    if named in slot.owed:
        return Said.OWED, None
    if named in slot.retired:
        return Said.RETIRED, None
    return Said.ELSEWHERE, None


def judge_result(
    slot: Slot,
    in_flight: InFlight,
    token: DispatchToken,
    *,
    fits: bool,
    repeat: bool,
    current_life: bool,
) -> Judged:
    """Classify a RESULT. `fits`: its body decoded. `current_life`: the frame comes from the
    slot's present incarnation; a frame of an older one is about nothing that is in flight here."""
    said, delivery = _speaks_of(slot, in_flight, token)
    if not current_life and said is Said.HERE:
        said, delivery = Said.ELSEWHERE, None
    if repeat and said in _SETTLED and current_life:
        return Judged(Verdict.ECHO, said)
    return Judged(RESULT_TABLE[bool(slot.deliveries), said, fits], said, delivery)


def judge_ready(
    slot: Slot, in_flight: InFlight, completed: object, *, fits: bool, repeat: bool
) -> Judged:
    """Classify a READY of the slot's present incarnation."""
    if not fits:
        return Judged(Verdict.MALFORMED, Said.GARBAGE)
    if not tables_agree(slot, in_flight):
        return Judged(Verdict.UNOWNED, Said.ELSEWHERE)
    said, delivery = _speaks_of(slot, in_flight, completed)
    if repeat and slot.deliveries and (said is Said.NOTHING or said is Said.RETIRED):
        return Judged(Verdict.ECHO, said)
    return Judged(READY_TABLE[bool(slot.deliveries), said], said, delivery)


def tables_agree(slot: Slot, in_flight: InFlight) -> bool:
    """Whether the slot's list and the in-flight table tell the same about the slot."""
    return all(
        in_flight.get(delivery.token) is delivery and delivery.incarnation == slot.incarnation
        for delivery in slot.deliveries
    )


def may_recover(slot: Slot, delivery: Delivery, now: float, recover_s: float) -> bool:
    """recover(T): READY(completed = T) was read, and a mark stands or RESULT{T} stayed away (J3).

    Ask only in a turn in which the transport was seen empty: a good RESULT that is already here
    wins (J5)."""
    if delivery.ready_at is None:
        return False
    return delivery.marked or slot.marked or now >= delivery.ready_at + recover_s
