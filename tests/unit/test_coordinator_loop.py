"""The loop of a coordinator, over a machine and a store that only note what they get."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from symfleet.errors import IOFailure
from symfleet.protocol.answers import TurnAnswers
from symfleet.protocol.batch import BatchBounds
from symfleet.protocol.events import (
    CoordinatorAction,
    CoordinatorEvent,
    Finish,
    FrameReceived,
    PublishFailed,
    RankLost,
)
from symfleet.protocol.operations import Operation
from symfleet.protocol.setup import Knobs
from symfleet.runtime.coordinator_loop import CoordinatorLoop, CoordinatorParts
from symfleet.runtime.observer import Unobserved
from symfleet.testing.fake_clock import FakeClock
from symfleet.transport.contract import Arrivals

BOUNDS = BatchBounds.of(Knobs(turn_results=8), through_root=True)


class Machine:
    """Notes what each turn holds; finishes after so many turns that held anything."""

    def __init__(self, turns: int) -> None:
        self.batches: list[Sequence[CoordinatorEvent]] = []
        self.drained: list[bool] = []
        self.finished = False
        self._turns = turns

    def begin_turn(
        self, now: float, events: Sequence[CoordinatorEvent], *, drained: bool
    ) -> Sequence[Operation]:
        self.batches.append(events)
        self.drained.append(drained)
        return ()

    def end_turn(self, answers: TurnAnswers | None) -> Sequence[CoordinatorAction]:
        self.finished = sum(map(bool, self.batches)) == self._turns
        return (Finish("done", 0),) if self.finished else ()

    def next_deadline(self) -> float:
        return 0.0

    def view(self) -> None:
        return None


class Store:
    """A store in which others' turns wait; the loop's own part stands back when `backs` says so."""

    waiting = True
    own_bytes_max = 1 << 20
    bounds = BOUNDS

    def __init__(self, backs: Callable[[int], bool]) -> None:
        self._backs = backs
        self._asked = 0

    @property
    def stand_back(self) -> bool:
        self._asked += 1
        return self._backs(self._asked)

    def arrived(self, events: Sequence[CoordinatorEvent]) -> Sequence[CoordinatorEvent]:
        return events

    def run(self, operations: Sequence[Operation]) -> None:
        return None

    def checkpoint(self) -> None:
        pass


class Transport:
    """Frames without end, or so many; numbered, so that their order is seen."""

    def __init__(self, frames: int, early: Sequence[CoordinatorEvent] = ()) -> None:
        self._frames = [*early, *(FrameReceived(1, b"%d" % n) for n in range(frames))]

    def receive(self, frames_max: int, bytes_max: int) -> Arrivals:
        taken = tuple(self._frames[:frames_max])
        del self._frames[:frames_max]
        return Arrivals(cast("Any", taken), not self._frames)

    def unsent_bytes(self) -> int:
        return 0


class Nothing:
    """No sources."""

    def step(self, now: float) -> list[CoordinatorEvent]:
        return []


class Failing:
    """Duties that cannot ask the ledger any more."""

    def step(self, now: float) -> list[CoordinatorEvent]:
        raise IOFailure("the connection was lost")


def run(machine: Machine, store: Store, transport: Transport, **more: Any) -> CoordinatorLoop:
    parts: Any = {"machine": machine, "store": store, "transport": transport, "intake": Nothing()}
    loop = CoordinatorLoop(
        CoordinatorParts(**parts, publishers=(), observer=Unobserved(), clock=FakeClock(), **more)
    )
    assert loop.run() is loop.finish
    return loop


def test_a_coordinator_that_stood_back_takes_no_more_at_once_than_any_other() -> None:
    machine = Machine(turns=3)
    run(machine, Store(lambda asked: asked % 4 != 0), Transport(1000))
    assert [len(batch) for batch in machine.batches] == [0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 8]
    taken = [event for batch in machine.batches for event in batch]
    assert [int(event.data) for event in taken if isinstance(event, FrameReceived)] == [*range(24)]
    assert not any(machine.drained)


def test_what_it_left_to_later_turns_comes_in_order_and_only_then_it_is_drained() -> None:
    machine = Machine(turns=2)
    run(machine, Store(lambda asked: asked == 1), Transport(12))
    assert [len(batch) for batch in machine.batches] == [0, 8, 4]
    assert machine.drained == [False, False, True]


@pytest.mark.guarantee("Q4")
def test_duties_that_cannot_ask_the_ledger_end_the_epoch_in_order() -> None:
    machine = Machine(turns=1)
    loop = run(machine, Store(lambda _: False), Transport(0), duties=Failing())
    assert machine.batches == [[PublishFailed(74, "the connection was lost")]]
    assert isinstance(loop.failure, IOFailure)


def test_what_is_no_frame_costs_no_frame_its_place() -> None:
    machine = Machine(turns=1)
    run(machine, Store(lambda asked: asked == 1), Transport(10, early=[RankLost(7)]))
    assert len(machine.batches[1]) == 1 + 8
