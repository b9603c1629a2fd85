"""What one turn takes of what has arrived."""

from __future__ import annotations

from collections import deque

import pytest

from symfleet.protocol.batch import BatchBounds, take_batch
from symfleet.protocol.codec import KINDS
from symfleet.protocol.events import CoordinatorEvent, FrameReceived, RankLost
from symfleet.protocol.messages import Message, Ready, Result, Started
from symfleet.protocol.setup import Knobs

KNOBS = Knobs(turn_results=8)
DELIVERY = (Started, Result, Ready)


def frame(kind: type[Message]) -> FrameReceived:
    return FrameReceived(1, bytes(6) + bytes((KINDS.index(kind),)))


def deliveries(amount: int) -> deque[CoordinatorEvent]:
    return deque(frame(kind) for _ in range(amount) for kind in DELIVERY)


@pytest.mark.parametrize(("through_root", "taken"), [(True, 8), (False, 8 * 3 - 1)])
def test_a_turn_is_bounded_by_results_unless_the_root_runs_the_turns_of_others(
    through_root: bool, taken: int
) -> None:
    events = deliveries(100)
    bounds = BatchBounds.of(KNOBS, through_root=through_root)
    assert len(take_batch(events, bounds)) == taken
    assert len(events) == 300 - taken


def test_frames_that_bring_no_result_are_bounded_too() -> None:
    events: deque[CoordinatorEvent] = deque([frame(Started)] * 100)
    assert len(take_batch(events, BatchBounds.of(KNOBS, through_root=False))) == 32


def test_what_came_from_this_process_takes_no_place_and_order_is_kept() -> None:
    events = deliveries(9)
    events.insert(5, RankLost(7))
    whole = [*events]
    batch = take_batch(events, BatchBounds.of(KNOBS, through_root=False))
    assert batch == whole[: len(batch)]
    assert len(batch) == 8 * 3
    assert [*batch, *take_batch(events, BatchBounds.of(KNOBS, through_root=False))] == whole
    assert not events
