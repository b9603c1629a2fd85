"""The coordinator's loop: carries out what its machine decides.

A turn (architecture 2): take the frames that have arrived, let the machine turn them into ledger
operations, run these in ONE transaction, give the answers back, carry out the actions. Nothing
that depends on a decision leaves this process before its transaction is durable (C1). There is no
timer and no thread: what arrives during the commit is the next batch. Publication, scanning and
looking at the inbox happen between turns, a bounded piece at a time, so that dispatch never waits
for them longer than for one such piece.

Every coordinator runs this loop. What differs is given to it: where its turns run (`TurnStore`: the
root's own ledger, which takes the others' turns along, or that ledger from afar), what it publishes
and takes in, and what it has to look after beside (`Duties`: the root hears the launcher and asks
the stop rules).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, assert_never

from symfleet import crash
from symfleet.clock import Clock
from symfleet.corpus.publish import Publisher
from symfleet.errors import ExitCode, SymfleetError
from symfleet.protocol.answers import TurnAnswers
from symfleet.protocol.batch import BatchBounds, take_batch
from symfleet.protocol.codec import kind_of
from symfleet.protocol.coordinator import Coordinator
from symfleet.protocol.events import (
    ConfirmAdmitted,
    CoordinatorAction,
    CoordinatorEvent,
    Finish,
    FrameReceived,
    GiveUpRank,
    Note,
    Publish,
    PublishFailed,
    RankLost,
    Scan,
    Send,
    SendFailed,
    StopRequested,
)
from symfleet.protocol.messages import Result
from symfleet.protocol.operations import Decide, Operation
from symfleet.runtime.intake import Intake
from symfleet.runtime.introduction import without_late_words
from symfleet.runtime.observer import EpochObserver
from symfleet.runtime.pace import Pace
from symfleet.runtime.stop_rules import DRAIN_S
from symfleet.transport.contract import NotSent, Transport

_ASIDE_S: Final = 0.005
"""How often publication and intake are looked at while no turn runs."""
_FLUSH_S: Final = 5.0
_LEDGER_FAILURES_MAX: Final = 100
"""A machine that does not come to its end although nothing can be written is a fault of ours."""


class TurnStore(Protocol):
    """Where a coordinator's turns run, and what it hears there of others."""

    @property
    def waiting(self) -> bool:
        """Whether a turn is due although nothing has arrived for this coordinator."""
        ...

    @property
    def bounds(self) -> BatchBounds:
        """How many frames the next turn may take."""
        ...

    @property
    def own_bytes_max(self) -> int:
        """How many bytes of frames the next turn may take."""
        ...

    @property
    def stand_back(self) -> bool:
        """Whether what has arrived for this coordinator is to wait for the turn after the next."""
        ...

    def arrived(self, events: Sequence[CoordinatorEvent]) -> Sequence[CoordinatorEvent]:
        """Take what is for the store out of what has arrived; return what is for the machine."""
        ...

    def run(self, operations: Sequence[Operation]) -> TurnAnswers | None:
        """Run a turn in one transaction; None when there was nothing to run."""
        ...

    def checkpoint(self) -> None:
        """Do what is due between turns."""
        ...

    def dismiss(self, rank: int) -> None:
        """Take nothing of a rank any more that is about to be given up."""
        ...


class Duties(Protocol):
    """What a coordinator looks after beside its turns."""

    def step(self, now: float) -> Sequence[CoordinatorEvent]:
        """Do what is due; return what came of it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorParts:
    """What the loop joins."""

    machine: Coordinator
    store: TurnStore
    transport: Transport
    publishers: Sequence[Publisher]
    intake: Intake
    duties: Duties | None = None
    """None: a coordinator that is not the root has none."""
    observer: EpochObserver
    clock: Clock
    early: Sequence[CoordinatorEvent] = ()
    """What happened before the loop began."""
    late: set[int] = field(default_factory=set)
    """Ranks of coordinators that have not said yet that they stand."""


class CoordinatorLoop:
    """Runs one epoch of a coordinator."""

    def __init__(self, parts: CoordinatorParts) -> None:
        self._p = parts
        self._machine = parts.machine
        self._events: deque[CoordinatorEvent] = deque(parts.store.arrived(parts.early))
        self._pace = Pace()
        self._aside_at = 0.0
        self._publish = Publish(0)
        self._deadline: float | None = 0.0
        self._ledger_failures = 0
        self.failure: SymfleetError | None = None
        """The first error that the ledger raised: the story behind a control stop."""
        self.finish: Finish | None = None
        """How the epoch ended, once it has."""

    @property
    def workers_told(self) -> bool:
        """Whether the machine itself came to its end, so that every worker knows of it."""
        return self._machine.finished

    def run(self) -> Finish:
        """Turn until the machine is finished; return how it ended."""
        while True:
            self.finish = self._turn()
            if self.finish is not None:
                self._flush()
                return self.finish

    # ---- one turn ----------------------------------------------------------------------------

    def _turn(self) -> Finish | None:
        now, store = self._p.clock.monotonic(), self._p.store
        self._look_after(now)
        arrivals = self._p.transport.receive(store.bounds.frames, store.own_bytes_max)
        if crash.is_armed() and _holds_result(arrivals.events):
            crash.point("result.received")
        self._events += store.arrived(without_late_words(arrivals.events, self._p.late))
        batch = [] if store.stand_back else take_batch(self._events, store.bounds)
        called = bool(batch) or store.waiting
        if not called and (self._deadline is None or now < self._deadline):
            if now >= self._aside_at:
                self._between_turns(now)
            if not self._events:
                self._p.clock.sleep(self._pace.idle(now, self._deadline))
            return None
        if called:
            self._pace.busy()
        crash.point("coordinator.turn")
        operations = self._machine.begin_turn(
            now, batch, drained=arrivals.drained and not self._events
        )
        finish = self._carry_out(self._commit(operations))
        self._deadline = self._machine.next_deadline()
        self._between_turns(now)
        self._p.observer.turned(now, self._machine.view)
        return finish

    def _commit(self, operations: Sequence[Operation]) -> Sequence[CoordinatorAction]:
        """Run the turn's transaction and hear what follows from it."""
        decides = crash.is_armed() and any(isinstance(one, Decide) for one in operations)
        crash.point("coordinator.before_commit")
        if decides:
            crash.point("result.undecided")
        try:
            answers = self._p.store.run(operations)
        except SymfleetError as error:
            return self._ledger_failed(error)
        crash.point("coordinator.after_commit")
        if decides:
            crash.point("result.decided")
        return self._machine.end_turn(answers)

    def _ledger_failed(self, error: SymfleetError) -> Sequence[CoordinatorAction]:
        """A transaction failed as a whole: nothing of it happened, the campaign stops cleanly.

        A ledger that also refuses the closing transaction has no verdict; the launcher is told by
        file."""
        self.failure = self.failure or error
        self._ledger_failures += 1
        self._p.observer.noted(Note("error", "ledger_failed", {"error": str(error)}))
        if self._ledger_failures > _LEDGER_FAILURES_MAX:
            return (Finish(str(error), int(error.exit_code)),)
        self._machine.fail(int(error.exit_code), str(error))
        return self._machine.end_turn(None)

    def _carry_out(self, actions: Sequence[CoordinatorAction]) -> Finish | None:
        finish: Finish | None = None
        for action in actions:
            match action:
                case Send():
                    self._send(action)
                case ConfirmAdmitted():
                    self._p.intake.confirm(action)
                case Scan():
                    self._p.intake.scan(action)
                case Publish():
                    self._publish = action
                case GiveUpRank():
                    self._p.store.dismiss(action.rank)
                    self._p.transport.give_up(action.rank)
                    crash.point("coordinator.gave_up")
                    self._events.append(RankLost(action.rank))
                case Note():
                    self._p.observer.noted(action)
                case Finish():
                    finish = action
                case _:
                    assert_never(action)
        return finish

    def _send(self, action: Send) -> None:
        crash.point("coordinator.before_send")
        try:
            self._p.transport.send(action.rank, action.frame)
        except NotSent as error:
            self._events.append(SendFailed(action.rank, action.token))
            self._p.observer.noted(Note("warning", "not_sent", {"error": str(error)}))
            return
        if action.token is not None:
            self._machine.sent(action.token)
        crash.point("coordinator.after_send")

    # ---- between turns -----------------------------------------------------------------------

    def _between_turns(self, now: float) -> None:
        """Publish and take in, a bounded piece each."""
        self._aside_at = now + _ASIDE_S
        for publisher in self._p.publishers:
            moved = publisher.step(self._publish.upto, now, flush=self._publish.flush)
            if moved:
                crash.point("coordinator.before_mark")
            self._events += moved
        self._events += self._p.intake.step(now)
        self._checkpoint()

    def _checkpoint(self) -> None:
        """Let the ledger do what is due between turns."""
        try:
            self._p.store.checkpoint()
        except SymfleetError as error:
            self._end_in_order("checkpoint_failed", error)

    def _look_after(self, now: float) -> None:
        """Do what stands beside the turns; it may ask the ledger."""
        try:
            if self._p.duties is not None:
                self._events += self._p.duties.step(now)
        except SymfleetError as error:
            self._end_in_order("duties_failed", error)

    def _end_in_order(self, what: str, error: SymfleetError) -> None:
        """What fails beside the turns ends the campaign in order, as a publication that fails
        does: every worker is still stopped and named (Q4)."""
        if self.failure is None:
            self.failure = error
            self._p.observer.noted(Note("error", what, {"error": str(error)}))
            self._events.append(PublishFailed(int(error.exit_code), str(error)))

    def request_stop(self, reason: str) -> None:
        """Ask for a clean end: for signal handlers of this process."""
        self._events.append(StopRequested(reason, int(ExitCode.DONE), DRAIN_S))

    def _flush(self) -> None:
        """Let the last frames reach their readers."""
        deadline = self._p.clock.monotonic() + _FLUSH_S
        while self._p.transport.unsent_bytes() and self._p.clock.monotonic() < deadline:
            self._p.transport.receive(1, 1)
            self._p.clock.sleep(self._pace.idle(0.0, None))
        self._p.observer.finished(self._p.clock.monotonic())


def _holds_result(events: Sequence[CoordinatorEvent]) -> bool:
    return any(isinstance(one, FrameReceived) and kind_of(one.data) is Result for one in events)
