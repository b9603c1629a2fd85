"""A coordinator process in a simulation: the real machine over the memory ledger, with the crash
points of a turn."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, assert_never

from symfleet.protocol.codec import Codec, Frame
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
    Scan,
    ScanFinished,
    Send,
    SendFailed,
    SinkAdvanced,
    SourceBatch,
)
from symfleet.protocol.messages import Work
from symfleet.protocol.operations import SinkRow
from symfleet.protocol.setup import CoordinatorSetup

if TYPE_CHECKING:
    from symfleet.testing.simulation import Simulation

_STEP_S: Final = 1e-4
_PUBLISH_S: Final = 0.02
_SCAN_S: Final = 0.02


class Crash(Exception):
    """The coordinator's process ends at a crash point."""


class SimulatedCoordinator:
    """The root of one epoch."""

    def __init__(self, world: Simulation, setup: CoordinatorSetup, sink: SinkRow) -> None:
        self.alive = True
        self.finish: Finish | None = None
        self.setup = setup
        self.turns = 0
        self._world = world
        self._draw = random.Random(world.draw.random())
        self._inbox: list[CoordinatorEvent] = []
        self._paused_until = 0.0
        self._wake_at: float | None = None
        self._sink = sink
        self._published = sink.published_upto
        self._publishing: int | None = None
        self._codec = Codec(setup.campaign, setup.epoch, setup.rank, setup.knobs.frame_bytes)
        self.machine = Coordinator(setup, world.now)
        self.notes: list[Note] = []
        self._scan(setup.sources[0].source, 0)
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
        if self._world.now < self._paused_until:
            self._wake(self._paused_until)
            return
        plan = self._world.plan
        if self._draw.random() < plan.coordinator_pauses and self._world.spend("root pauses"):
            self._paused_until = self._world.now + self._draw.random() * 40
        try:
            self._turn()
        except Crash:
            self._world.job_died()
            return
        deadline = self.machine.next_deadline()
        if deadline is not None:
            self._wake(max(deadline, self._world.now + _STEP_S))

    def _turn(self) -> None:
        world = self._world
        self.turns += 1
        events, drained = self._intake()
        operations = self.machine.begin_turn(world.now, events, drained=drained)
        self._crash_point()
        world.oracle.before_turn(operations)
        answers = world.ledger.run(operations) if operations else None
        self._crash_point()
        for action in self.machine.end_turn(answers):
            self._do(action)
            self._crash_point()
        self.machine.validate_state()
        world.oracle.after_turn(operations, answers)

    def _intake(self) -> tuple[list[CoordinatorEvent], bool]:
        chance = self._world.plan.partial_intake
        if (
            len(self._inbox) > 1
            and self._draw.random() < chance
            and self._world.spend("partial intake")
        ):
            taken = self._inbox[:1]
            del self._inbox[:1]
            self._wake(self._world.now + _STEP_S)
            return taken, False
        events, self._inbox = self._inbox, []
        return events, True

    def _crash_point(self) -> None:
        chance = self._world.plan.coordinator_dies / 4
        if self.finish is not None:
            return  # this epoch has ended; a second death would end the next one's launch
        if chance and self._draw.random() < chance and self._world.spend("root dies"):
            raise Crash

    def _do(self, action: CoordinatorAction) -> None:
        world = self._world
        match action:
            case Send(rank, frame, token):
                self._send(rank, frame, token is not None)
                if token is not None:
                    if world.reachable(rank):
                        self.machine.sent(token)
                    else:
                        self.deliver(SendFailed(rank, token))
            case Publish(upto):
                self._publish(upto)
            case Scan(source, number):
                self._scan(source, number)
            case GiveUpRank(rank):
                world.give_up(rank)
            case Finish():
                self.finish = action
                self.alive = False
                world.job_finished(action)
            case Note():
                self.notes.append(action)
            case ConfirmAdmitted(_, origins):
                world.confirmed.update(origins)
            case _:
                assert_never(action)

    def _send(self, rank: int, frame: bytes, delivers: bool) -> None:
        world = self._world
        if delivers:
            opened = self._codec.open(frame)
            assert isinstance(opened, Frame)
            assert isinstance(opened.message, Work)
            world.oracle.dispatched(opened.header.token, opened.message)
        if world.reachable(rank):
            world.network.send(world.now, self.setup.rank, rank, frame)

    def _publish(self, upto: int) -> None:
        """Write files, then say so; one publication at a time."""
        world = self._world
        if self._publishing is not None:
            self._publishing = max(self._publishing, upto)
            return
        if upto <= self._published:
            return
        self._publishing = upto

        def written() -> None:
            if not self.alive:
                return
            target, self._publishing = self._publishing, None
            assert target is not None
            before, self._published = self._published, target
            world.publish(before, target)
            self.deliver(SinkAdvanced(self._sink.sink, self._sink.incarnation, before, target))

        world.schedule(world.now + _PUBLISH_S, written)

    def _scan(self, source: int, number: int) -> None:
        world = self._world

        def scanned() -> None:
            if self.alive:
                entries = world.unseen_seeds()
                if entries:
                    self.deliver(SourceBatch(source, entries))
                self.deliver(ScanFinished(source, number))

        world.schedule(world.now + _SCAN_S, scanned)

    def receive(self, source: int, frame: bytes) -> None:
        """A frame arrived."""
        self.deliver(FrameReceived(source, frame))
