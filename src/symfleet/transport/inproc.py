"""A transport inside one process, for tests and simulation: deterministic, no clock, no thread."""

from __future__ import annotations

from collections import deque

from symfleet.protocol.events import FrameReceived, RankLost
from symfleet.transport.contract import Arrivals, NotSent


class Network:
    """The wires between `size` endpoints."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._inboxes: list[deque[FrameReceived | RankLost]] = [deque() for _ in range(size)]
        self._dead: set[int] = set()

    def endpoint(self, rank: int) -> Endpoint:
        """Return the transport of one rank."""
        return Endpoint(self, rank)

    def lose(self, rank: int) -> None:
        """Let a rank die: what it has sent still arrives, then everybody hears of it."""
        if rank in self._dead:
            return
        self._dead.add(rank)
        self._inboxes[rank].clear()
        for other, inbox in enumerate(self._inboxes):
            if other not in self._dead:
                inbox.append(RankLost(rank))

    def deliver(self, source: int, target: int, frame: bytes) -> None:
        """Put a frame into a rank's inbox."""
        if target in self._dead:
            raise NotSent("a frame cannot be sent", where=f"rank {target}", why="the rank is dead")
        self._inboxes[target].append(FrameReceived(source, frame))

    def take(
        self, rank: int, frames_max: int, bytes_max: int, source: int | None = None
    ) -> Arrivals:
        """Take what stands in a rank's inbox, of one source if that is named."""
        inbox = self._inboxes[rank]
        events: list[FrameReceived | RankLost] = []
        others: list[FrameReceived | RankLost] = []
        size = 0
        while inbox and len(events) < frames_max and (not events or size < bytes_max):
            event = inbox.popleft()
            if source is not None and event.rank != source:
                others.append(event)
                continue
            events.append(event)
            if isinstance(event, FrameReceived):
                size += len(event.data)
        drained = not inbox
        inbox.extendleft(reversed(others))
        return Arrivals(tuple(events), drained)


class Endpoint:
    """One rank's transport (see `transport.contract`)."""

    def __init__(self, network: Network, rank: int) -> None:
        self._network = network
        self._rank = rank
        self._given_up: set[int] = set()

    @property
    def rank(self) -> int:
        """This endpoint's rank."""
        return self._rank

    @property
    def size(self) -> int:
        """Number of ranks."""
        return self._network.size

    def send(self, rank: int, frame: bytes) -> None:
        """Deliver at once."""
        if rank in self._given_up:
            raise NotSent("a frame cannot be sent", where=f"rank {rank}", why="it was given up")
        self._network.deliver(self._rank, rank, frame)

    def receive(self, frames_max: int, bytes_max: int, source: int | None = None) -> Arrivals:
        """Take frames in order."""
        arrivals = self._network.take(self._rank, frames_max, bytes_max, source)
        events = tuple(event for event in arrivals.events if event.rank not in self._given_up)
        return Arrivals(events, arrivals.drained)

    def give_up(self, rank: int) -> None:
        """Refuse and drop frames of this rank from now on."""
        self._given_up.add(rank)

    def unsent_bytes(self, rank: int | None = None) -> int:  # noqa: ARG002
        """Nothing ever waits."""
        return 0
