"""A transport between processes of one host: a socket between the root and each other rank.

What MPI promises, without MPI: frames arrive once, whole and in order, and the death of a process
is seen. A stopped process keeps its socket.
"""

from __future__ import annotations

import select
import socket
from collections import deque
from typing import Final

from symfleet.clock import SystemClock
from symfleet.protocol.events import FrameReceived, RankLost
from symfleet.transport.contract import Arrivals, NotSent

_FRAME_BYTES_MAX: Final = 1 << 18


def pair() -> tuple[socket.socket, socket.socket]:
    """Return the two ends of a wire."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * _FRAME_BYTES_MAX)
    return ends


class Wires:
    """One rank's transport. `ends`: its end of the wire to each other rank."""

    def __init__(self, rank: int, size: int, ends: dict[int, socket.socket]) -> None:
        self._rank = rank
        self._size = size
        self._ends = ends
        self._unsent: dict[int, deque[bytes]] = {other: deque() for other in ends}
        self._lost: deque[RankLost] = deque()

    @property
    def rank(self) -> int:
        """This rank."""
        return self._rank

    @property
    def size(self) -> int:
        """Number of ranks."""
        return self._size

    def send(self, rank: int, frame: bytes) -> None:
        """Hand over a frame, or keep it while the wire is full."""
        if rank not in self._ends:
            raise NotSent("a frame cannot be sent", where=f"rank {rank}", why="the rank is dead")
        self._unsent[rank].append(frame)
        self._move_on(rank)

    def _move_on(self, rank: int) -> None:
        queue = self._unsent[rank]
        try:
            while queue:
                self._ends[rank].send(queue[0])
                queue.popleft()
        except BlockingIOError:
            return
        except OSError:
            queue.clear()  # Its death is seen when it is read from.

    def receive(self, frames_max: int, bytes_max: int, source: int | None = None) -> Arrivals:
        """Take what has arrived."""
        events: list[FrameReceived | RankLost] = []
        size, drained = 0, True
        for rank in [*self._ends] if source is None else [source]:
            if self._unsent.get(rank):
                self._move_on(rank)
            while rank in self._ends:
                if events and (len(events) >= frames_max or size >= bytes_max):
                    drained = False
                    break
                try:
                    frame = self._ends[rank].recv(_FRAME_BYTES_MAX)
                except BlockingIOError:
                    break
                except OSError:
                    frame = b""
                if frame:
                    events.append(FrameReceived(rank, frame))
                    size += len(frame)
                else:
                    self.give_up(rank)
                    self._lost.append(RankLost(rank))
        if source is None or any(one.rank == source for one in self._lost):
            events += self._lost
            self._lost.clear()
        return Arrivals(tuple(events), drained)

    def give_up(self, rank: int) -> None:
        """Close the wire."""
        end = self._ends.pop(rank, None)
        if end is not None:
            end.close()
            self._unsent.pop(rank, None)

    def unsent_bytes(self, rank: int | None = None) -> int:
        """Return how much waits for room on a wire."""
        queues = self._unsent.values() if rank is None else [self._unsent.get(rank, ())]
        return sum(len(frame) for queue in queues for frame in queue)

    def wait(self, seconds: float, beside: tuple[int, ...] = ()) -> None:
        """Wait until something arrives, here or at a descriptor beside, or for so long."""
        watched = [*(end.fileno() for end in self._ends.values()), *beside]
        select.select(watched, (), (), max(0.0, seconds))


class WaitingClock(SystemClock):
    """A clock whose sleeper wakes when something arrives."""

    def __init__(self, wires: Wires) -> None:
        self._wires = wires

    def sleep(self, seconds: float) -> None:
        """Wait for a frame, a hundred times longer than one would sleep between looks."""
        self._wires.wait(100 * seconds)
