"""The end of an epoch: STOP, acknowledgements, what is left goes back, the verdict.

    RUNNING ──ending──> STOPPING ──acknowledged, or the grace is over──> CLOSING ──> FINISHED

Every answering worker is stopped and acknowledged within `shutdown_grace_s`; the others are named
(Q4). In STOPPING results are still decided. CLOSING is one turn: leases go back, faults are
counted, acknowledgements recorded (in slots), and last the verdict is written. After a control
failure (69, 70, 74) nothing changes the frontier any more: the next epoch takes the leases back.

Of many coordinators each does the same with its own workers when the root says EndEpoch, and its
last word is Closed. The root closes when all have; it names a coordinator that has not within
the grace, and its workers. The verdict is the root's, over the faults of all.

A finished run ends with 2 instead of 0 when messages were quarantined, results were invalid, items
are deferred or poisoned, or a worker did not acknowledge; and, in a run that was to be exhaustive,
when a limit cut executions off (in earlier epochs, too) or it ended before it was quiescent.
`accept_faults` makes it 0.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from symfleet.errors import ExitCode
from symfleet.protocol.core import QUIESCENT, Core, Ending
from symfleet.protocol.delivery import Phase, Undo
from symfleet.protocol.events import Finish, Publish
from symfleet.protocol.fleet import WorkerPhase, WorkerRecord
from symfleet.protocol.messages import Closed, EndEpoch, Stop
from symfleet.protocol.operations import CloseEpoch, RecordAck
from symfleet.protocol.peers import PeerRecord
from symfleet.protocol.settle import Settlement

_DRAIN_MARGIN_S: Final = 10.0
_FAULTS_OF_VERDICT: Final = (
    "quarantined_results",
    "quarantined_ready",
    "quarantined_frames",
    "invalid_results",
)


class RunPhase(enum.StrEnum):
    """Phases of an epoch."""

    RUNNING = "running"
    STOPPING = "stopping"
    CLOSING = "closing"
    FINISHED = "finished"


class Shutdown:
    """Brings an epoch to its end."""

    def __init__(
        self,
        core: Core,
        settlement: Settlement,
        published: Callable[[], bool],
        idle_window: Callable[[], float | None],
    ) -> None:
        self._core = core
        self._settlement = settlement
        self._published = published
        self._idle_window = idle_window
        self.phase = RunPhase.RUNNING
        self.exit_code: int | None = None
        self.missing: tuple[str, ...] = ()
        """Who was not acknowledged at the end, in the whole fleet as far as is known here."""
        self._drain_until = 0.0
        self._deadline = 0.0
        self._acks: Sequence[RecordAck] = ()
        """What is recorded at the end; its own comes first."""
        self._stop_at = 0.0
        self._said_control = False
        self._flushed = False
        self._began = 0.0

    def drain_left(self) -> float | None:
        """Return how long running items may still finish; None while nothing ends."""
        if self.phase is RunPhase.RUNNING:
            return None
        return max(0.0, self._drain_until - self._core.now)

    # ---- a turn ---------------------------------------------------------------------------------

    def begin_turn(self, *, drained: bool) -> None:
        """Move on; in the last turn ask for the last operations."""
        core, ending = self._core, self._core.ending
        if ending is None:
            return
        if self.phase is RunPhase.RUNNING:
            self._begin(ending)
        elif core.now + ending.drain_s < self._drain_until:
            # A second request makes the end faster.
            self._drain_until = core.now + ending.drain_s
            self._stop_at = core.now
        if ending.control and not self._said_control:
            self._stop_at = core.now
        if self.phase is RunPhase.STOPPING:
            self._take_back_from_stopped()
            done = drained and not self._missing(WorkerPhase.JOINED, WorkerPhase.EXPECTED)
            done = done and not self._unclosed()
            done = done and not core.outbox.asking and (ending.control or self._is_published())
            if done or core.now >= self._deadline:
                self._close(ending)
            elif core.now >= self._stop_at:
                self._say_stop()

    def end_turn(self) -> None:
        """Finish once the verdict is durable, or could not be made so."""
        core, ending = self._core, self._core.ending
        if self.phase is not RunPhase.CLOSING or ending is None:
            return
        self.phase = RunPhase.FINISHED
        assert self.exit_code is not None
        if core.setup.number > 0:
            ack = self._acks[0]
            core.send(
                core.setup.root,
                Closed(ack.acknowledged, ack.total, ack.missing, faulty=self.faulty),
            )
        finish = Finish(
            ending.reason,
            self.exit_code,
            ending.restart,
            (*self._acks, *self._acks_of_closed()),
            self.missing,
        )
        core.outbox.act(finish)

    def ledger_failed(self) -> None:
        """The last transaction failed: there will be no verdict, and it ends all the same."""
        self.end_turn()

    def say_again(self) -> None:
        """A turn failed: what it was to tell anybody was never sent (C1)."""
        self._stop_at = self._core.now

    def _begin(self, ending: Ending) -> None:
        core, knobs = self._core, self._core.setup.knobs
        self.phase = RunPhase.STOPPING
        self._began = core.now
        self._drain_until = core.now + ending.drain_s
        grace = max(knobs.shutdown_grace_s, ending.drain_s + _DRAIN_MARGIN_S)
        if self._unclosed():
            grace += _DRAIN_MARGIN_S  # the others have the same grace, and are to be heard
        self._deadline = core.now + grace
        self._stop_at = core.now
        core.chronicle.note(core.now, f"ending: {ending.reason}", core.setup.rank)
        if not ending.control:
            core.frontier.give_back_claims()
        self._say_stop()

    def _say_stop(self) -> None:
        core = self._core
        self._stop_at = core.now + core.setup.knobs.repeat_s
        drain_s = self.drain_left() or 0.0
        for worker in self._missing(WorkerPhase.JOINED, WorkerPhase.EXPECTED):
            core.send(worker.rank, Stop(drain_s))
        ending = core.ending
        assert ending is not None
        self._said_control = ending.control
        for peer in self._unclosed():
            core.send(peer.rank, EndEpoch(ending.reason, drain_s, ending.control, ending.restart))

    def _missing(self, *phases: WorkerPhase) -> Sequence[WorkerRecord]:
        return [w for w in self._core.fleet.workers.values() if w.phase in phases]

    def _unclosed(self) -> Sequence[PeerRecord]:
        """Return the coordinators that the root has to end."""
        return self._core.peers.live if self._core.setup.number == 0 else ()

    def _take_back_from_stopped(self) -> None:
        """What a stopped worker did not answer will never be answered."""
        core = self._core
        if core.ending is not None and core.ending.control:
            return
        for worker in core.fleet.in_phase(WorkerPhase.STOPPED):
            for slot in worker.slots:
                core.roll_back_slot(slot, Undo("cancelled", sent=True))

    def _is_published(self) -> bool:
        """Whether the files show everything; asks for it once."""
        core = self._core
        if self._published():
            return True
        if not self._flushed:
            self._flushed = True
            core.outbox.act(Publish(core.last_artefact, flush=True))
        return False

    def _close(self, ending: Ending) -> None:
        core = self._core
        self.phase = RunPhase.CLOSING
        if not ending.control:
            for delivery in list(core.in_flight):
                if delivery.phase is not Phase.DECIDING:
                    core.roll_back(delivery, Undo("cancelled", sent=True))
            core.frontier.give_back_claims()
        acks = [self._own_ack(), *self._acks_of_unclosed()]
        self._acks = acks
        self.missing = tuple(name for ack in acks for name in ack.missing) + tuple(
            name for peer in core.peers for name in peer.missing
        )
        self.exit_code = self._verdict(ending)
        core.outbox.flush_faults()
        for ack in acks:
            core.outbox.ask(ack)
        if not ending.restart and core.setup.number == 0:
            core.outbox.ask(CloseEpoch(ending.reason, self.exit_code))
        for name in self.missing:
            core.note("warning", "worker_unacknowledged", worker=name)

    def _own_ack(self) -> RecordAck:
        core = self._core
        workers = core.fleet.workers.values()
        missing = [worker for worker in workers if worker.phase is not WorkerPhase.STOPPED]
        total = sum(self._slots_of(worker) for worker in workers)
        return RecordAck(
            core.setup.number,
            total - sum(self._slots_of(worker) for worker in missing),
            total,
            tuple(worker.name for worker in missing),
            self._idle_window() or 0.0,
        )

    def _slots_of(self, worker: WorkerRecord) -> int:
        return len(worker.slots) or self._core.setup.slots.get(worker.rank, 1)

    def _acks_of_unclosed(self) -> Sequence[RecordAck]:
        """What the root records for a coordinator that did not close: its workers are named."""
        core = self._core
        return [
            RecordAck(
                peer.number,
                0,
                sum(core.setup.slots.get(rank, 1) for rank in peer.workers),
                (peer.name, *(f"worker {rank}" for rank in sorted(peer.workers))),
                0.0,
            )
            for peer in self._unclosed()
        ]

    def _acks_of_closed(self) -> Iterator[RecordAck]:
        """What the other coordinators have recorded themselves."""
        for peer in self._core.peers:
            if (closed := peer.closed) is not None:
                yield RecordAck(peer.number, closed.acknowledged, closed.total, closed.missing, 0.0)

    @property
    def faulty(self) -> bool:
        """Whether this coordinator counted what a healthy run does not."""
        core = self._core
        cut_off = self._settlement.not_exhaustive and core.setup.exhaustive
        return bool(cut_off) or any(core.outbox.count(name) for name in _FAULTS_OF_VERDICT)

    @property
    def waits(self) -> bool:
        """Whether only the ledger can say that what this coordinator waits for has come."""
        return self.phase is RunPhase.STOPPING and not self._published()

    def _verdict(self, ending: Ending) -> int:
        core = self._core
        if ending.exit_code != int(ExitCode.DONE) or core.setup.accept_faults:
            return ending.exit_code
        left = core.frontier.deferred + core.frontier.poisoned
        if self.faulty or core.peers.faulty or left or self.missing or self._is_untried(ending):
            return int(ExitCode.FINISHED_WITH_FAULTS)
        return int(ExitCode.DONE)

    def _is_untried(self, ending: Ending) -> bool:
        """Whether a run that was to be exhaustive has not tried everything: only quiescence proves
        that nothing is left, and what earlier epochs cut off was never tried."""
        setup = self._core.setup
        if not setup.exhaustive or ending.restart:
            return False
        return ending.reason != QUIESCENT or setup.cut_off_before > 0

    def deadlines(self) -> Iterator[float]:
        """Yield when the end has something to do."""
        if self.phase is RunPhase.STOPPING:
            yield self._stop_at
            yield self._deadline
