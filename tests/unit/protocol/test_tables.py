"""The tables are the rules: each row is a case, and what is not in them is a violation."""

from __future__ import annotations

import itertools

import pytest

from symfleet.errors import InternalError
from symfleet.protocol.delivery import TABLE as DELIVERY_TABLE
from symfleet.protocol.delivery import Delivery, InFlight, Phase, Reservations, Step
from symfleet.protocol.fleet import SLOT_TABLE, Fleet, Slot, SlotPhase, SlotStep
from symfleet.protocol.intake import TABLE as INTAKE_TABLE
from symfleet.protocol.intake import Intake
from symfleet.protocol.join import READY_TABLE, RESULT_TABLE, Said, Verdict
from symfleet.protocol.violations import Chronicle, LocalProtocolError
from symfleet.protocol.worker_slot import WorkerSlot
from symfleet.protocol.worker_states import IGNORED
from symfleet.protocol.worker_states import TABLE as WORKER_TABLE
from symfleet.types import DispatchToken, Incarnation, SlotAddress

TOKEN = DispatchToken("1" * 64)


def delivery(phase: Phase) -> tuple[InFlight, Delivery]:
    in_flight = InFlight(Chronicle())
    one = Delivery(TOKEN, SlotAddress(1, 0), Incarnation(1), (), (), Reservations(), (), 0.0, phase)
    in_flight.add(one)
    return in_flight, one


@pytest.mark.parametrize(("phase", "step"), list(itertools.product(Phase, Step)))
def test_each_delivery_step_follows_the_table_or_raises_with_the_story(
    phase: Phase, step: Step
) -> None:
    in_flight, one = delivery(phase)
    in_flight.chronicle.note(0.0, "once upon a time", TOKEN)
    after = DELIVERY_TABLE.get((phase, step))
    if after is None:
        with pytest.raises(LocalProtocolError, match="once upon a time"):
            in_flight.step(1.0, one, step)
        assert one.phase is phase
    else:
        in_flight.step(1.0, one, step)
        assert one.phase is after
        assert (in_flight.get(TOKEN) is None) == (after is Phase.CLOSED)


@pytest.mark.parametrize(("phase", "step"), list(itertools.product(SlotPhase, SlotStep)))
def test_each_slot_step_follows_the_table_or_raises(phase: SlotPhase, step: SlotStep) -> None:
    fleet = Fleet((1,), 0.0, Chronicle())
    slot = Slot(SlotAddress(1, 0), Incarnation(1), 0.0, phase)
    after = SLOT_TABLE.get((phase, step))
    if after is None:
        with pytest.raises(InternalError):
            fleet.step(0.0, slot, step)
    else:
        fleet.step(0.0, slot, step)
        assert slot.phase is after


# protocol.md's RESULT table, written a second time: (slot has a delivery, token, body) -> class.
@pytest.mark.guarantee("D4")
@pytest.mark.guarantee("D5")
@pytest.mark.parametrize(
    ("holds", "said", "fits"), list(itertools.product((False, True), Said, (False, True)))
)
def test_result_classes_are_those_of_the_protocol(holds: bool, said: Said, fits: bool) -> None:
    if not holds:
        expected = Verdict.UNOWNED
    elif not fits or said is Said.GARBAGE:
        expected = Verdict.MALFORMED
    elif said is Said.NOTHING:
        expected = Verdict.MISSING
    elif said is Said.HERE:
        expected = Verdict.CURRENT
    else:
        expected = Verdict.STALE
    assert RESULT_TABLE[holds, said, fits] is expected


@pytest.mark.guarantee("J1")
@pytest.mark.guarantee("J4")
@pytest.mark.parametrize(("holds", "said"), list(itertools.product((False, True), Said)))
def test_ready_classes_are_those_of_the_protocol(holds: bool, said: Said) -> None:
    if said is Said.GARBAGE:
        expected: Verdict | None = Verdict.MALFORMED
    elif said is Said.HERE:
        expected = Verdict.CURRENT if holds else None  # in flight here implies a delivery
    elif said is Said.OWED:
        expected = Verdict.CURRENT
    elif said is Said.NOTHING:
        expected = Verdict.MISSING if holds else Verdict.IDLE
    elif said is Said.RETIRED:
        expected = Verdict.STALE if holds else Verdict.IDLE
    else:
        expected = Verdict.STALE
    assert READY_TABLE.get((holds, said)) is expected


def test_every_rule_that_a_table_names_exists() -> None:
    for rule in WORKER_TABLE.values():
        assert rule == IGNORED or callable(getattr(WorkerSlot, f"_on_{rule}"))
    for _, rule in INTAKE_TABLE.values():
        assert callable(getattr(Intake, f"_on_{rule}"))
