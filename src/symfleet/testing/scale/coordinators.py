"""Coordinator processes: the real machine in each, and a loop of which only the times are left.

A process does one thing at a time. A turn: it takes what has arrived (`protocol.batch`), the
machine's first half costs what was measured for such a turn, then the transaction, then the second
half, then the frames leave. What arrives meanwhile is the next turn. The root with SQLite serves
the turns of all other coordinators besides: it joins what has arrived with its own operations into
one transaction, as its real loop does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from symfleet.corpus.publish import STEP_ARTEFACTS_MAX
from symfleet.protocol.answers import Answer, Claimed, Decided, TurnAnswers
from symfleet.protocol.batch import take_batch
from symfleet.protocol.codec import KINDS
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
    RankLost,
    Scan,
    ScanFinished,
    Send,
)
from symfleet.protocol.messages import Progress, Ready, Result, Started, Work
from symfleet.protocol.operations import Decide, Operation
from symfleet.protocol.setup import CoordinatorSetup
from symfleet.testing.scale.costs import Vector, next_look, total
from symfleet.testing.scale.record import Busy

if TYPE_CHECKING:
    from symfleet.testing.scale.world import World

_KIND_AT = 6
_EVIDENCE = frozenset((KINDS.index(Started), KINDS.index(Progress)))
_RESULT = KINDS.index(Result)
_READY = KINDS.index(Ready)
_WORK = KINDS.index(Work)
_SCAN_S = 0.02
_ASIDE_S = 0.005
"""How often an idle loop looks at what is to be published."""


def begin_vector(
    slots: int, events: Sequence[CoordinatorEvent], operations: Sequence[Operation]
) -> Vector:
    """Return what the first half of a turn held (see costs.BEGIN_TERMS)."""
    evidence = results = readies = other = 0
    for event in events:
        if not isinstance(event, FrameReceived):
            other += 1
            continue
        kind = event.data[_KIND_AT]
        evidence += kind in _EVIDENCE
        results += kind == _RESULT
        readies += kind == _READY
    other += len(events) - evidence - results - readies - other
    decided = sum(isinstance(operation, Decide) for operation in operations)
    return (1.0, slots, evidence, results, decided, readies, other)


def end_vector(
    slots: int, answers: Sequence[Answer], actions: Sequence[CoordinatorAction]
) -> Vector:
    """Return what the second half of a turn held (see costs.END_TERMS)."""
    sends = [action.frame[_KIND_AT] for action in actions if isinstance(action, Send)]
    works = sends.count(_WORK)
    leased = sum(len(a.leases) for a in answers if isinstance(a, Claimed))
    decided = sum(isinstance(answer, Decided) for answer in answers)
    return (1.0, slots, works, leased, decided, len(sends) - works)


def store_vector(operations: Sequence[Operation], answers: Sequence[Answer]) -> Vector:
    """Return what a transaction held (see costs.STORE_TERMS)."""
    leased = decided = new_work = claims = 0
    for answer in answers:
        if isinstance(answer, Claimed):
            leased += len(answer.leases)
            claims += 1
        elif isinstance(answer, Decided):
            decided += 1
            new_work += answer.new_work
    other = len(answers) - decided
    return (1.0, float(claims < len(operations)), leased, decided, new_work, other)


@dataclass(slots=True)
class Submitted:
    """A coordinator's turn on its way to the ledger. `size`: its bytes when it is a frame."""

    number: int
    operations: Sequence[Operation]
    answered: Callable[[TurnAnswers | None], None]
    size: int = 0


class ScaleCoordinator:
    """One coordinator rank."""

    def __init__(self, world: World, setup: CoordinatorSetup, slots: int) -> None:
        self.setup = setup
        self.slots = slots
        self.alive = True
        self.finish: Finish | None = None
        self.notes: list[Note] = []
        self.busy = Busy()
        self._world = world
        self._inbox: deque[CoordinatorEvent | Submitted] = deque()
        self._events: deque[CoordinatorEvent] = deque()
        """What was taken out of the transport and waits for a turn."""
        self._idle = True
        self._idle_since = world.now
        self._wake_at: float | None = None
        self._deadline: float | None = world.now
        self.machine = Coordinator(setup, world.now)
        for source in setup.sources:
            self.deliver(ScanFinished(source.source, 0))
        self._wake(world.now)

    # ---- waiting --------------------------------------------------------------------------------

    def deliver(self, event: CoordinatorEvent | Submitted) -> None:
        """Something arrives; for the root that may be another coordinator's turn."""
        if self.alive:
            self._inbox.append(event)
            if self._idle:
                self._wake(next_look(self._idle_since, self._world.now))

    def _wake(self, at: float) -> None:
        if self._wake_at is None or at < self._wake_at:
            self._wake_at = at
            self._world.schedule(at, self._look, at)

    def _look(self, at: float) -> None:
        if not self.alive or not self._idle or self._wake_at != at:
            return
        self._wake_at = None
        world = self._world
        due = self._deadline is not None and world.now >= self._deadline
        if not (self._inbox or self._events or world.store.waiting(self) or due or self._backlog):
            self._rest()
            return
        self._idle = False
        self._began = world.now
        cost = self._receive()
        batch: list[CoordinatorEvent] = []
        if not world.store.stand_back(self):
            batch = take_batch(self._events, world.store.bounds)
        if not (batch or world.store.waiting(self) or due):
            self._publish(cost)
            return
        drained = not self._inbox and not self._events
        operations = self.machine.begin_turn(world.now, batch, drained=drained)
        cost += total(world.costs.begin, begin_vector(self.slots, batch, operations))
        world.schedule(world.now + cost, self._commit, operations)

    def _receive(self) -> float:
        """Take frames out of the transport; return what that costs."""
        frames = min(len(self._inbox), self._world.store.bounds.frames)
        for _ in range(frames):
            event = self._inbox.popleft()
            if isinstance(event, Submitted):
                self._world.store.take(event)
            else:
                self._events.append(event)
        return frames * self._world.costs.receive

    def _commit(self, operations: Sequence[Operation]) -> None:
        if not self.alive:
            return
        if not operations and not self._world.store.waiting(self):
            self._end(None, ())
            return
        self._world.store.run(self, Submitted(self.setup.number, operations, self._answered))

    def _answered(self, answers: TurnAnswers | None) -> None:
        if self.alive:
            self._end(answers, answers.answers if answers else ())

    def _end(self, answers: TurnAnswers | None, each: Sequence[Answer]) -> None:
        world = self._world
        actions = self.machine.end_turn(answers)
        vector = end_vector(self.slots, each, actions)
        cost = total(world.costs.end, vector) + (vector[2] + vector[5]) * world.costs.send
        world.schedule(world.now + cost, self._carry_out, actions)

    def _carry_out(self, actions: Sequence[CoordinatorAction]) -> None:
        if not self.alive:
            return
        for action in actions:
            self._do(action)
        self._deadline = self.machine.next_deadline()
        self._publish(self._world.costs.loop)

    def _publish(self, before: float = 0.0) -> None:
        """Write a bounded piece of what is to be published, then be free."""
        files = min(STEP_ARTEFACTS_MAX, self._backlog)
        self._world.unpublished -= files
        cost = before + files * self._world.costs.publish
        self._world.schedule(self._world.now + cost, self._free)

    @property
    def _backlog(self) -> int:
        """Files that wait for this coordinator: the sinks are on the root's host."""
        return self._world.unpublished if self.setup.number == 0 else 0

    def _free(self) -> None:
        if not self.alive:
            return
        world = self._world
        self.busy.add(self._began, world.now)
        self._idle, self._idle_since = True, world.now
        if self._inbox or self._events or world.store.waiting(self):
            self._wake(world.now)
        else:
            self._rest()

    def _rest(self) -> None:
        now = self._world.now
        if self._deadline is not None:
            self._wake(max(now, self._deadline))
        if self._backlog:
            self._wake(now + _ASIDE_S)

    # ---- actions --------------------------------------------------------------------------------

    def _do(self, action: CoordinatorAction) -> None:
        world = self._world
        match action:
            case Send(rank, frame, token):
                if token is not None:
                    world.record.sent(world.now, token)
                    self.machine.sent(token)
                world.send(self.setup.rank, rank, frame)
            case Scan(source, number):
                world.schedule(world.now + _SCAN_S, self.deliver, ScanFinished(source, number))
            case GiveUpRank(rank):
                world.give_up(rank)
                self.deliver(RankLost(rank))
            case Finish():
                self.finish = action
                self.alive = False
            case Note():
                self.notes.append(action)
            case Publish() | ConfirmAdmitted():
                pass
            case _:
                assert_never(action)
