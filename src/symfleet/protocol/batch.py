"""How much of what has arrived one turn of a coordinator takes.

A turn costs by the items that it decides. Whoever writes to the ledger alone, or beside others,
takes as many RESULTs as a turn may have and the frames that come with them: each transaction has a
fixed price, and the more coordinators wait for it the more each finds when it is its turn. Where
one process runs the turns of all, frames of any kind are bounded instead: the root finds its own
frames without a way to go, and would else take more of the ledger than its part.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

from symfleet.protocol.codec import kind_of
from symfleet.protocol.events import CoordinatorEvent, FrameReceived
from symfleet.protocol.messages import Result
from symfleet.protocol.setup import Knobs

_FRAMES_A_RESULT: Final = 4
"""A delivery sends STARTED, RESULT and READY, and PROGRESS while it takes long."""


@dataclass(frozen=True, slots=True)
class BatchBounds:
    """The most that one turn takes: frames of any kind, and RESULTs among them."""

    frames: int
    results: int

    @classmethod
    def of(cls, knobs: Knobs, *, through_root: bool) -> BatchBounds:
        """Return the bounds of a coordinator; `through_root`: the root runs turns of others."""
        results = knobs.turn_results
        return cls(results if through_root else _FRAMES_A_RESULT * results, results)


def take_batch(events: deque[CoordinatorEvent], bounds: BatchBounds) -> list[CoordinatorEvent]:
    """Take what the next turn holds out of `events`, in order. What is no frame is free: it came
    from this process."""
    batch: list[CoordinatorEvent] = []
    frames, results = bounds.frames, bounds.results
    while events and frames and results:
        event = events.popleft()
        if isinstance(event, FrameReceived):
            frames -= 1
            results -= kind_of(event.data) is Result
        batch.append(event)
    return batch
