"""What the loops need of a transport: ordered frames between ranks, and word of dead ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from symfleet.errors import SymfleetError
from symfleet.protocol.events import FrameReceived, RankLost


class NotSent(SymfleetError):
    """A frame was not handed over; the peer gets nothing of it."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What one `receive` took. `drained`: the transport was seen empty afterwards."""

    events: tuple[FrameReceived | RankLost, ...]
    drained: bool


class Transport(Protocol):
    """Frames from one rank to another arrive once, whole and in order, unless a rank dies."""

    @property
    def rank(self) -> int:
        """This process's rank."""
        ...

    @property
    def size(self) -> int:
        """Number of ranks, dead ones included."""
        ...

    def send(self, rank: int, frame: bytes) -> None:
        """Hand over a frame; never waits for the peer. Raises NotSent when the rank is known to be
        dead or its queue is full."""
        ...

    def receive(self, frames_max: int, bytes_max: int, source: int | None = None) -> Arrivals:
        """Take what has arrived, up to a bound (at least one frame), and never wait. Also moves
        outgoing frames on. With `source` only what is of that rank: frames of others, and word of
        their death, wait for a call without one."""
        ...

    def give_up(self, rank: int) -> None:
        """Treat a rank as dead that does not answer: nothing is sent to it or taken from it."""
        ...

    def unsent_bytes(self, rank: int | None = None) -> int:
        """Return how much is not yet with its receiver: with that rank, or with any."""
        ...
