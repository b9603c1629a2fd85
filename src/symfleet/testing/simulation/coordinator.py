"""A coordinator process in a simulation: the real machine over the memory ledger, with the crash
points of a turn. The root's turns are direct; another's go to the owner and back, and may find
that nobody takes them any more."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar, assert_never

from symfleet.errors import ExitCode, IOFailure
from symfleet.protocol.answers import SinkRow, TurnAnswers
from symfleet.protocol.codec import Codec, Frame, kind_of
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
    ScanFinished,
    Send,
    SendFailed,
    SinkAdvanced,
    SourceBatch,
    StopRequested,
)
from symfleet.protocol.messages import Accepted, Message, Work
from symfleet.protocol.setup import CoordinatorSetup
from symfleet.testing.simulation.clock import ProcessClock
from symfleet.types import DispatchToken

if TYPE_CHECKING:
    from symfleet.testing.simulation.campaign import Simulation

_STEP_S: Final = 1e-4
_PUBLISH_S: Final = 0.02
_SCAN_S: Final = 0.02
_ROOT_PAUSE_S: Final = 40.0
_PEER_PAUSE_S: Final = 90.0
_STALL_S: Final = 60.0
_OFFSET_S: Final = 1e6
_YEAR_S: Final = 365.25 * 86400


M = TypeVar("M", bound=Message)


class Crash(Exception):
    """The coordinator's process ends at a crash point."""


class SimulatedCoordinator:
    """One coordinator of one epoch. `sink`: what it publishes (the root's alone)."""

    def __init__(self, world: Simulation, setup: CoordinatorSetup, sink: SinkRow | None) -> None:
        self.alive = True
        self.finish: Finish | None = None
        self.setup = setup
        self.turns = 0
        self._world = world
        self._draw = random.Random(world.draw.random())
        self._inbox: list[CoordinatorEvent] = []
        self.paused_until = 0.0
        self._moved = True
        """Whether its turn took or asked anything."""
        self._commits = False
        """Its turn is with the owner; it hears nobody else."""
        self._wake_at: float | None = None
        self._sink = sink
        self._published = sink.published_upto if sink is not None else 0
        self._publishing: int | None = None
        self._codec = Codec(setup.campaign, setup.epoch, setup.rank, setup.knobs.frame_bytes)
        self._clock = ProcessClock(lambda: world.now, self._draw.random() * _OFFSET_S)
        self.machine = Coordinator(setup, self._clock.now())
        self.notes: list[Note] = []
        self.damaged_seen = 0
        """Frames that were spoilt on their way and given to the machine."""
        for source in setup.sources:
            self._scan(source.source, 0)
        self._wake(world.now + _STEP_S)

    def deliver(self, event: CoordinatorEvent) -> None:
        """Take an event; a turn sees it a moment later."""
        if self.alive:
            self._inbox.append(event)
            self._wake(self._world.now + _STEP_S)

    def _wake(self, at: float) -> None:
        if self._wake_at is None or at < self._wake_at:
            self._wake_at = at
            self._world.schedule(at, lambda: self._step(at))

    def _step(self, at: float) -> None:
        if not self.alive or self._wake_at != at:
            return
        self._wake_at = None
        if self._commits:
            return
        if self._world.now < self.paused_until:
            self._wake(self.paused_until)
            return
        self._pause()
        self._guard(self._turn)

    @property
    def is_root(self) -> bool:
        """Whether it owns the ledger."""
        return self.setup.number == 0

    @property
    def now(self) -> float:
        """Monotonic seconds of this process."""
        return self._clock.now()

    @property
    def name(self) -> str:
        """How it is told of."""
        return "root" if self.is_root else f"coordinator {self.setup.number}"

    def _pause(self) -> None:
        """Stop after this turn, let the clock stand still, or set the wall clock."""
        world, plan, draw = self._world, self._world.plan, self._draw
        if self.is_root and world.happens(draw, plan.coordinator_pauses, "root pauses"):
            self.paused_until = world.now + draw.random() * _ROOT_PAUSE_S
        if not self.is_root and world.happens(draw, plan.peer_pauses, "peer pauses"):
            self.paused_until = world.now + draw.random() * _PEER_PAUSE_S
        if world.happens(draw, plan.clock_stalls, "clock stalls"):
            self._clock.stall(draw.random() * _STALL_S)
        if self.is_root and world.happens(draw, plan.wall_jumps, "wall clock jumps"):
            world.clock.wall_s += draw.choice((-_YEAR_S, _YEAR_S))
        if self.is_root and world.happens(draw, plan.stops, "stop requested"):
            drain_s, restart = draw.choice((0.0, 3.0)), draw.random() < 0.3
            self._inbox.append(StopRequested("interrupted", 0, drain_s, restart))

    def _guard(self, what: Callable[[], None]) -> None:
        try:
            what()
        except Crash:
            self._world.coordinator_died(self)
            return
        deadline = self.machine.next_deadline()
        if deadline is not None and not self._commits:
            self._wake(max(self._clock.world_at(deadline), self._world.now + _STEP_S))

    def _turn(self) -> None:
        world = self._world
        self.turns += 1
        events, drained = self._intake()
        if self.is_root:
            world.dismissed.update(e.rank for e in events if isinstance(e, RankLost))
        if not self.machine.finished:
            self.damaged_seen += sum(
                isinstance(event, FrameReceived) and event.data in world.network.damaged
                for event in events
            )
        operations = self.machine.begin_turn(self._clock.now(), events, drained=drained)
        self._moved = bool(events or operations)
        self._crash_point()
        if not operations:
            self._end_turn(None)
        elif self.is_root:
            try:
                answers = world.commit(self.name, operations)
            except IOFailure as error:
                self._ledger_failed(error)
                return
            self._crash_point()
            self._end_turn(answers)
        else:
            self._commits = True
            world.turns.submit(self, operations)

    def answered(self, answers: TurnAnswers | IOFailure) -> None:
        """The owner has run this coordinator's turn, or could not."""
        if not self.alive:
            return
        if self._world.now < self.paused_until:
            self._world.schedule(self.paused_until, lambda: self.answered(answers))
            return
        self._commits = False
        if isinstance(answers, IOFailure):
            self._guard(lambda: self._ledger_failed(answers))
        else:
            self._guard(lambda: self._end_turn(answers))

    def _ledger_failed(self, error: IOFailure) -> None:
        """As the loop does: nothing of the turn is known to have happened, and the end begins."""
        self.machine.fail(int(error.exit_code), str(error))
        self._end_turn(None)

    def _end_turn(self, answers: TurnAnswers | None) -> None:
        self._crash_point()
        actions = self.machine.end_turn(answers)
        for action in actions:
            self._do(action)
            self._crash_point()
        if self._moved or actions:
            self.machine.validate_state()

    def _intake(self) -> tuple[list[CoordinatorEvent], bool]:
        world = self._world
        if len(self._inbox) > 1 and world.happens(
            self._draw, world.plan.partial_intake, "partial intake"
        ):
            taken = self._inbox[:1]
            del self._inbox[:1]
            self._wake(self._world.now + _STEP_S)
            return taken, False
        events, self._inbox = self._inbox, []
        return events, True

    def _crash_point(self) -> None:
        world, plan = self._world, self._world.plan
        if self.finish is not None or plan.is_calm:
            return  # an epoch that has ended; a second death would end the next one's launch
        kind, chance = ("root", plan.coordinator_dies) if self.is_root else ("peer", plan.peer_dies)
        if world.faults.dies_again(kind) or world.happens(self._draw, chance / 4, f"{kind} dies"):
            world.faults.died(kind)
            raise Crash

    def _do(self, action: CoordinatorAction) -> None:
        world = self._world
        match action:
            case Send(rank, frame, token):
                self._say(rank, frame, token)
            case Publish(upto):
                self._publish(upto)
            case Scan(source, number):
                self._scan(source, number)
            case GiveUpRank(rank):
                world.give_up(rank)
            case Finish():
                self.finish = action
                self.alive = False
                world.history.note(world.now, self.name, f"{action}")
                if self.is_root:
                    world.job_finished(action)
            case Note():
                self.notes.append(action)
                world.noted(self.name, action)
            case ConfirmAdmitted(_, origins):
                world.seeds.confirmed.update(origins)
            case _:
                assert_never(action)

    def _say(self, rank: int, frame: bytes, token: DispatchToken | None) -> None:
        """Send a frame; a delivery that cannot be sent is told to the machine."""
        world = self._world
        if token is None:
            self._send(rank, frame, delivers=False)
            return
        fails = world.happens(self._draw, world.plan.send_fails, "send fails")
        if fails or not world.reachable(rank):
            self.deliver(SendFailed(rank, token))
            return
        self._send(rank, frame, delivers=True)
        self.machine.sent(token)

    def _send(self, rank: int, frame: bytes, *, delivers: bool) -> None:
        world = self._world
        if delivers:
            token, work = self._opened(frame, Work)
            lost = self.setup.rank in world.dismissed
            world.oracle.dispatched(self.setup.number, rank, token, work, lost=lost)
        elif kind_of(frame) is Accepted:
            _, accepted = self._opened(frame, Accepted)
            if accepted.disposition == "decided":
                world.oracle.answered(accepted.token)
        if world.reachable(rank):
            world.network.send(self.setup.rank, rank, frame)

    def _opened(self, frame: bytes, kind: type[M]) -> tuple[DispatchToken, M]:
        opened = self._codec.open(frame)
        assert isinstance(opened, Frame)
        assert isinstance(opened.message, kind)
        return opened.header.token, opened.message

    def _publish(self, upto: int) -> None:
        """Write files, then say so; one publication at a time."""
        world, sink = self._world, self._sink
        if sink is None:
            return
        if self._publishing is not None:
            self._publishing = max(self._publishing, upto)
            return
        if upto <= self._published:
            return
        self._publishing = upto

        world.schedule(world.now + _PUBLISH_S, lambda: self._guard(lambda: self._written(sink)))

    def _written(self, sink: SinkRow) -> None:
        """Files are there; or some of them are, and the process dies, or the disk fails."""
        if not self.alive:
            return
        world, draw = self._world, self._draw
        target, self._publishing = self._publishing, None
        assert target is not None
        before, self._published = self._published, target
        if world.happens(draw, world.plan.publication_fails, "publication fails"):
            world.publish(before, draw.randint(before, target))
            self.deliver(PublishFailed(int(ExitCode.IO), "the disk of the files is full"))
            return
        if world.happens(draw, world.plan.coordinator_dies, "root dies while it publishes"):
            world.publish(before, draw.randint(before, target))
            raise Crash
        world.publish(before, target)
        self.deliver(SinkAdvanced(sink.sink, sink.incarnation, before, target))

    def _scan(self, source: int, number: int) -> None:
        world = self._world

        def scanned() -> None:
            if self.alive:
                entries = world.scan(source, self.setup.rank)
                if entries:
                    self.deliver(SourceBatch(source, entries))
                self.deliver(ScanFinished(source, number))

        world.schedule(world.now + _SCAN_S, scanned)

    def receive(self, source: int, frame: bytes) -> None:
        """A frame arrived."""
        self.deliver(FrameReceived(source, frame))
