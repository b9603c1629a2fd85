"""Frames over MPI, point to point, on one duplicate of COMM_WORLD.

Theory of operation. Only upper-case calls (byte buffers, never pickle). Receiving is `Improbe` and
`Mrecv`, sending is `Isend` with the buffer kept until its request is complete; nothing here waits.
Outgoing frames of one peer stand in a queue of bounded size, of which a bounded part is in MPI's
hands, so that a slow peer costs memory only up to that bound and then `NotSent`.

A dead rank (measured with Open MPI 5 and `--with-ft ulfm`): any call may raise; every exception
means no more than "ask `Get_failed`, then `Ack_failed`", after which the survivors go on in the
same communicator. Collective operations are avoided after the start: Shrink, Agree and Barrier are
not needed and may hang. Without ULFM the job ends as a whole and the launcher opens the next epoch.

A rank never reports a failure by a non-zero exit, because mpirun would then end the others: see
`leave` and `end_by_signal`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NoReturn

import mpi4py

from symfleet.clock import Clock
from symfleet.protocol.events import FrameReceived, RankLost
from symfleet.transport.contract import Arrivals, NotSent

if TYPE_CHECKING:
    from mpi4py import MPI

_TAG: Final = 77
_START_ALARM_S: Final = 60
_FINALIZE_ALARM_S: Final = 10
_IN_FLIGHT_BYTES_MAX: Final = 8 << 20
_QUEUE_BYTES_MAX: Final = 256 << 20
_ASK_FAILED_S: Final = 0.02


@dataclass(slots=True)
class _Outgoing:
    """Frames to one peer: those in MPI's hands, then those that wait, oldest first."""

    in_flight: deque[tuple[MPI.Request, bytes]] = field(default_factory=deque)
    in_flight_bytes: int = 0
    waiting: deque[bytes] = field(default_factory=deque)
    waiting_bytes: int = 0


class MpiTransport:
    """The transport of this rank (see `transport.contract`). Make one per process."""

    def __init__(self, clock: Clock) -> None:
        """Start MPI. Collective: a rank that is alone for 60 s ends by SIGALRM."""
        mpi4py.rc.initialize = True
        mpi4py.rc.finalize = False
        mpi4py.rc.threads = False
        signal.alarm(_START_ALARM_S)
        from mpi4py import MPI

        self._mpi = MPI
        self._comm = MPI.COMM_WORLD.Dup()
        signal.alarm(0)
        self._comm.Set_errhandler(MPI.ERRORS_RETURN)
        MPI.COMM_WORLD.Set_errhandler(MPI.ERRORS_RETURN)
        MPI.COMM_SELF.Set_errhandler(MPI.ERRORS_RETURN)
        self._group = self._comm.Get_group()
        self._rank: Final = self._comm.Get_rank()
        self._size: Final = self._comm.Get_size()
        self._clock = clock
        self._peers = [_Outgoing() for _ in range(self._size)]
        self._busy: set[int] = set()
        self._dead: set[int] = set()
        self._lost: list[RankLost] = []
        """Deaths that nobody was told of yet."""
        self._acknowledged = 0
        """How many failures MPI was told that we know of."""
        self._ask_at = 0.0
        self._status = MPI.Status()

    @property
    def rank(self) -> int:
        """This process's rank."""
        return self._rank

    @property
    def size(self) -> int:
        """Number of ranks, dead ones included."""
        return self._size

    @property
    def failure_seen(self) -> bool:
        """Whether a rank has died, or was given up, in this epoch."""
        return bool(self._dead)

    def send(self, rank: int, frame: bytes) -> None:
        """Queue a frame and give MPI what it may have."""
        if rank in self._dead or not 0 <= rank < self._size:
            why = "the rank is dead" if rank in self._dead else f"there are {self._size} ranks"
            raise NotSent("a frame cannot be sent", where=f"rank {rank}", why=why)
        peer = self._peers[rank]
        if peer.waiting_bytes + len(frame) > _QUEUE_BYTES_MAX:
            raise NotSent(
                "a frame cannot be sent",
                where=f"rank {rank}",
                why=f"{peer.waiting_bytes} bytes wait for it already",
                hint="the peer does not receive; it will be given up",
            )
        peer.waiting.append(frame)
        peer.waiting_bytes += len(frame)
        self._busy.add(rank)
        self._move(rank)

    def receive(self, frames_max: int, bytes_max: int, source: int | None = None) -> Arrivals:
        """Take what has arrived, move outgoing frames on, look for dead ranks."""
        for rank in list(self._busy):
            self._move(rank)
        frames: list[FrameReceived | RankLost] = []
        size = 0
        drained = False
        failed = False
        while len(frames) < frames_max and (not frames or size < bytes_max):
            try:
                frame = self._take(source)
            except self._mpi.Exception:
                failed = True
                break
            if frame is None:
                drained = True
                break
            if frame.rank in self._dead:  # given up: it may still live and talk
                continue
            frames.append(frame)
            size += len(frame.data)
        now = self._clock.monotonic()
        if failed or (drained and now >= self._ask_at):
            self._ask_at = now + _ASK_FAILED_S
            self._lost += self._newly_dead()
        told = [event for event in self._lost if source in (None, event.rank)]
        if told:
            self._lost = [event for event in self._lost if event not in told]
        return Arrivals((*frames, *told), drained and not failed)

    def give_up(self, rank: int) -> None:
        """Forget what waits for this rank, and everything that it may still say."""
        self._dead.add(rank)
        self._busy.discard(rank)
        self._peers[rank] = _Outgoing()

    def unsent_bytes(self, rank: int | None = None) -> int:
        """Return how much is not yet with its receiver: with that rank, or with any."""
        peers = self._peers if rank is None else (self._peers[rank],)
        return sum(peer.waiting_bytes + peer.in_flight_bytes for peer in peers)

    # ---- inside ------------------------------------------------------------------------------

    def _take(self, only: int | None) -> FrameReceived | None:
        place = self._mpi.ANY_SOURCE if only is None else only
        message = self._comm.Improbe(place, _TAG, self._status)
        if message is None:
            return None
        source = self._status.Get_source()
        data = bytearray(self._status.Get_count(self._mpi.BYTE))
        message.Recv([data, self._mpi.BYTE])
        return FrameReceived(source, bytes(data))

    def _move(self, rank: int) -> None:
        """Drop what is delivered, hand over what waits. An exception leaves the rest in place: the
        next look at the dead ranks tells whether it has any hope."""
        peer = self._peers[rank]
        try:
            while peer.in_flight and peer.in_flight[0][0].Test():
                peer.in_flight_bytes -= len(peer.in_flight.popleft()[1])
            while peer.waiting and (
                not peer.in_flight or peer.in_flight_bytes < _IN_FLIGHT_BYTES_MAX
            ):
                frame = peer.waiting[0]
                request = self._comm.Isend([frame, self._mpi.BYTE], rank, _TAG)
                peer.waiting.popleft()
                peer.waiting_bytes -= len(frame)
                peer.in_flight.append((request, frame))
                peer.in_flight_bytes += len(frame)
        except self._mpi.Exception:
            self._ask_at = 0.0
            return
        if not peer.in_flight and not peer.waiting:
            self._busy.discard(rank)

    def _newly_dead(self) -> list[RankLost]:
        """Ask which ranks have failed, acknowledge them so that receiving goes on."""
        try:
            failed = self._comm.Get_failed()
            count = failed.Get_size()
            if count <= self._acknowledged:
                return []
            self._comm.Ack_failed(count)
            self._acknowledged = count
            ranks = self._mpi.Group.Translate_ranks(failed, list(range(count)), self._group)
        except (self._mpi.Exception, NotImplementedError):  # an MPI without fault tolerance
            return []
        news = [rank for rank in ranks if rank not in self._dead]
        for rank in news:
            self.give_up(rank)
        return [RankLost(rank) for rank in news]

    # ---- the end -----------------------------------------------------------------------------

    def leave(self) -> NoReturn:
        """End this process with 0."""
        self.finalize()
        os._exit(0)

    def finalize(self) -> None:
        """End MPI, when no failure was seen: with one it may hang."""
        sys.stdout.flush()
        sys.stderr.flush()
        if not self._dead:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(_FINALIZE_ALARM_S)
            self._mpi.Finalize()
            signal.alarm(0)


def end_by_signal() -> NoReturn:
    """End this rank on an error: a non-zero exit would end the others as well."""
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("SIGKILL returned")
