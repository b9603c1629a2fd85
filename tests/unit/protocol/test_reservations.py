"""What a delivery holds is given back in reverse, once, whatever fails on the way."""

from __future__ import annotations

import pytest

from symfleet.errors import InternalError
from symfleet.protocol.answers import Lease
from symfleet.protocol.delivery import Reservation, Reservations, Undo
from symfleet.protocol.dispatch import Choices
from symfleet.protocol.setup import Knobs
from symfleet.protocol.sizing import Costs, bundle
from symfleet.types import Epoch, Fence, FencingToken, StateId, WorkId

LOST = Undo("lost", sent=True)


def lease(number: int, *, cost_us: int = 0, size: int = 1, **more: object) -> Lease:
    return Lease(
        WorkId(f"{number:064x}"),
        StateId(f"{number:064x}"),
        FencingToken(Epoch(1), Fence(1)),
        b"",
        bytes(size),
        0,
        blames=int(more.get("blames", 0)),  # type: ignore[call-overload]
        suspect=bool(more.get("suspect", False)),
        cost_us=cost_us,
    )


@pytest.mark.guarantee("L3")
@pytest.mark.guarantee("J6")
def test_undo_runs_in_reverse_and_once_although_a_step_fails() -> None:
    undone: list[str] = []

    def fails(_: Undo) -> None:
        undone.append("b")
        raise InternalError("b cannot be undone")

    held = Reservations()
    held.take(Reservation("a", lambda _: undone.append("a")))
    held.take(Reservation("b", fails))
    held.take(Reservation("c", lambda _: undone.append("c")))
    errors = held.undo(LOST)
    assert undone == ["c", "b", "a"]
    assert [str(error) for error in errors] == ["b cannot be undone"]
    assert not held.open
    assert not held.undo(LOST)
    assert undone == ["c", "b", "a"]


def test_what_is_settled_cannot_be_undone() -> None:
    log: list[str] = []
    held = Reservations()
    held.take(Reservation("a", lambda _: log.append("undo"), lambda: log.append("settle")))
    held.settle()
    held.undo(LOST)
    assert log == ["settle"]


def test_an_attempt_counts_once_it_was_sent_and_teaches_nothing_when_undone() -> None:
    choices = Choices()
    choices.attempt("deep")
    choices.undo("deep", sent=False)
    assert choices.attempts["deep"] == 0
    choices.attempt("deep")
    choices.undo("deep", sent=True)
    assert (choices.attempts["deep"], choices.successes.get("deep", 0)) == (1, 0)


def test_a_bundle_holds_about_a_tenth_of_a_second() -> None:
    costs, knobs = Costs(), Knobs()
    waiting = [lease(n, cost_us=10_000) for n in range(64)]
    assert bundle(waiting, 64, costs, knobs) == 10
    assert bundle(waiting, 3, costs, knobs) == 3
    cheap = [lease(n, cost_us=1) for n in range(100)]
    assert bundle(cheap, 100, costs, knobs) == 64


@pytest.mark.parametrize(
    "first",
    [
        lease(0),  # nothing is known
        lease(0, cost_us=150_000),
        lease(0, cost_us=1, blames=1),
        lease(0, cost_us=1, suspect=True),
    ],
)
def test_an_item_that_is_dear_blamed_suspect_or_unknown_goes_alone(first: Lease) -> None:
    others = [lease(n, cost_us=1) for n in range(1, 9)]
    assert bundle([first, *others], 9, Costs(), Knobs()) == 1
    assert bundle([*others, first], 9, Costs(), Knobs()) == 8


def test_an_item_that_was_lost_in_a_bundle_goes_alone() -> None:
    waiting = [lease(n, cost_us=1) for n in range(4)]
    assert bundle(waiting, 4, Costs(), Knobs(), solo={waiting[2].work_id}) == 2


def test_a_bundle_stays_within_a_frame() -> None:
    waiting = [lease(n, cost_us=1, size=1 << 20) for n in range(8)]
    assert bundle(waiting, 8, Costs(), Knobs()) == 1


def test_costs_are_a_running_mean() -> None:
    costs = Costs()
    assert costs.typical_items(Knobs()) == 1
    costs.learn(10_000)
    assert costs.typical_items(Knobs()) == 10
    costs.learn(90_000)
    assert 10_000 < (costs.mean_us or 0) < 90_000
