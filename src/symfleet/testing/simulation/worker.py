"""A worker process in a simulation: the real machine, and executors that are only times."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, assert_never

from symfleet.protocol.codec import kind_of
from symfleet.protocol.events import (
    KillExecutor,
    Leave,
    Note,
    RunItem,
    Send,
    StartExecutor,
    TellKnowledge,
    WorkerAction,
    WorkerEvent,
)
from symfleet.protocol.messages import Started, StopAck
from symfleet.protocol.setup import WorkerSetup
from symfleet.protocol.worker import Worker
from symfleet.testing.simulation.clock import ProcessClock
from symfleet.testing.simulation.executors import SimulatedExecutors
from symfleet.types import DispatchToken

if TYPE_CHECKING:
    from symfleet.testing.simulation.campaign import Simulation

_STEP_S: Final = 1e-4
_PAUSE_S: Final = 90.0
_STALL_S: Final = 60.0
_OFFSET_S: Final = 1e6
_SLOT_AT: Final = 36
_TOKEN: Final = slice(48, 80)
_NO_TOKEN: Final = bytes(32)
_U32: Final = struct.Struct("<I")


class SimulatedWorker:
    """One worker rank. Its life ends by Leave, by a fault, or with its job."""

    def __init__(self, world: Simulation, rank: int, setup: WorkerSetup) -> None:
        self.rank = rank
        self.alive = True
        self.left: Leave | None = None
        self._world = world
        self._draw = random.Random(world.draw.random())
        self._inbox: list[WorkerEvent] = []
        self._paused_until = 0.0
        self._wake_at: float | None = None
        self._clock = ProcessClock(lambda: world.now, self._draw.random() * _OFFSET_S)
        self._executors = SimulatedExecutors(world, self._draw, self.deliver)
        self._running: dict[int, DispatchToken] = {}
        """What each slot said last that it has begun."""
        now = self._clock.now()
        self.machine = Worker(setup, now)
        self._carry_out(self.machine.start(now))
        self._wake_in_time()

    def deliver(self, event: WorkerEvent) -> None:
        """Take an event; the machine sees it a moment later."""
        if self.alive:
            self._inbox.append(event)
            self._wake(self._world.now + _STEP_S)

    def die(self) -> None:
        """Stop existing, executors included."""
        self.alive = False
        self._executors.clear()

    def _wake(self, at: float) -> None:
        if self._wake_at is None or at < self._wake_at:
            self._wake_at = at
            self._world.schedule(at, lambda: self._step(at))

    def _wake_in_time(self) -> None:
        deadline = self.machine.next_deadline()
        if self.alive and deadline is not None:
            self._wake(max(self._clock.world_at(deadline), self._world.now + _STEP_S))

    def _step(self, at: float) -> None:
        world, plan, draw = self._world, self._world.plan, self._draw
        if not self.alive or self._wake_at != at:
            return
        self._wake_at = None
        if world.now < self._paused_until:
            self._wake(self._paused_until)
            return
        dies = world.faults.dies_again("worker")
        if dies or world.happens(draw, plan.worker_dies, "worker dies"):
            world.faults.died("worker")
            world.worker_died(self)
            return
        if world.happens(draw, plan.worker_pauses, "worker pauses"):
            self._paused_until = world.now + draw.random() * _PAUSE_S
        if world.happens(draw, plan.clock_stalls, "clock stalls"):
            self._clock.stall(draw.random() * _STALL_S)
        events, self._inbox = self._inbox, []
        actions = self.machine.handle(self._clock.now(), events)
        self._carry_out(actions)
        if events or actions:
            self.machine.validate_state()
        self._wake_in_time()

    def _carry_out(self, actions: Sequence[WorkerAction]) -> None:
        for action in actions:
            self._do(action)

    def _do(self, action: WorkerAction) -> None:
        world = self._world
        match action:
            case Send(rank, frame):
                self._send(rank, frame)
            case StartExecutor(slot, executor, _, selftest):
                self._executors.start(slot, executor, selftest=selftest)
            case RunItem(slot):
                if self._executors.lives(slot):
                    world.ran_item(self.rank, self._running[slot], action)
                    self._executors.run(action)
            case KillExecutor(slot):
                self._executors.kill(slot)
            case Leave():
                self.left = action
                world.worker_left(self)
            case TellKnowledge(edges):
                self._executors.tell(edges)
            case Note():
                world.noted(f"worker {self.rank}", action)
            case _:
                assert_never(action)

    def _send(self, rank: int, frame: bytes) -> None:
        if kind_of(frame) is StopAck:
            self._world.oracle.stopped.add(self.rank)
        token = frame[_TOKEN]
        if token != _NO_TOKEN:
            name = DispatchToken(token.hex())
            self._world.oracle.said(self.rank, name)
            if kind_of(frame) is Started:
                (slot,) = _U32.unpack_from(frame, _SLOT_AT)
                self._running[slot] = name
        self._world.network.send(self.rank, rank, frame)
