"""A worker process in a simulation: the real machine, and executors that are only times."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, assert_never

from symfleet.protocol.events import (
    ExecutionDone,
    ExecutorGone,
    ExecutorProgress,
    ExecutorReady,
    KillExecutor,
    Leave,
    Note,
    RunItem,
    SelfTestDone,
    Send,
    StartExecutor,
    TellKnowledge,
    WorkerAction,
    WorkerEvent,
)
from symfleet.protocol.setup import WorkerSetup
from symfleet.protocol.worker import Worker
from symfleet.types import Incarnation

if TYPE_CHECKING:
    from symfleet.testing.simulation import Simulation

_STEP_S: Final = 1e-4
_START_S: Final = 0.05
_PROGRESS_S: Final = 0.5


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
        self._executors: dict[int, Incarnation] = {}
        self._runs = 0
        self.machine = Worker(setup, world.now)
        self._carry_out(self.machine.start(world.now))
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

    def pause(self, seconds: float) -> None:
        """Do nothing for a while (SIGSTOP)."""
        self._paused_until = self._world.now + seconds

    def _wake(self, at: float) -> None:
        if self._wake_at is None or at < self._wake_at:
            self._wake_at = at
            self._world.schedule(at, lambda: self._step(at))

    def _wake_in_time(self) -> None:
        deadline = self.machine.next_deadline()
        if self.alive and deadline is not None:
            self._wake(max(deadline, self._world.now + _STEP_S))

    def _step(self, at: float) -> None:
        if not self.alive or self._wake_at != at:
            return
        self._wake_at = None
        now = self._world.now
        if now < self._paused_until:
            self._wake(self._paused_until)
            return
        plan = self._world.plan
        if self._draw.random() < plan.worker_dies and self._world.spend("worker dies"):
            self._world.worker_died(self)
            return
        if self._draw.random() < plan.worker_pauses and self._world.spend("worker pauses"):
            self.pause(self._draw.random() * 90)
        events, self._inbox = self._inbox, []
        self._carry_out(self.machine.handle(now, events))
        self.machine.validate_state()
        self._wake_in_time()

    def _carry_out(self, actions: Sequence[WorkerAction]) -> None:
        for action in actions:
            self._do(action)

    def _do(self, action: WorkerAction) -> None:
        world = self._world
        match action:
            case Send(rank, frame):
                world.network.send(world.now, self.rank, rank, frame)
            case StartExecutor(slot, executor, _, selftest):
                self._start(slot, executor, selftest=selftest)
            case RunItem():
                self._run(action)
            case KillExecutor(slot):
                killed = self._executors.pop(slot, None)
                if killed is not None:
                    self._later(0.01, ExecutorGone(slot, killed, "killed", 9, True, False))
            case Leave():
                self.left = action
                world.worker_left(self)
            case TellKnowledge() | Note():
                pass
            case _:
                assert_never(action)

    def _later(self, seconds: float, event: WorkerEvent) -> None:
        def arrive() -> None:
            if self.alive:
                self.deliver(event)

        self._world.schedule(self._world.now + seconds, arrive)

    def _start(self, slot: int, executor: Incarnation, *, selftest: bool) -> None:
        self._executors[slot] = executor

        def up() -> None:
            if self._executors.get(slot) == executor:
                self.deliver(ExecutorReady(slot, executor, "synthetic", "00", 4096))
                if selftest:
                    self.deliver(SelfTestDone(slot, True, ""))

        self._world.schedule(self._world.now + _START_S * (0.5 + self._draw.random()), up)

    def _run(self, item: RunItem) -> None:
        world, plan, slot = self._world, self._world.plan, item.slot
        executor = self._executors[slot]
        self._runs += 1
        result = world.program.execute(item.work_id, item.data)
        cost_s = result.wall_us / 1e6
        world.executions += 1

        def alive() -> bool:
            return self.alive and self._executors.get(slot) == executor

        def done() -> None:
            if alive():
                self.deliver(ExecutionDone(slot, result))

        def gone() -> None:
            if alive():
                del self._executors[slot]
                # Nobody explains this SIGKILL, so nobody is blamed for it.
                self.deliver(ExecutorGone(slot, executor, "vanished", 9, False, False))

        if self._draw.random() < plan.execution_hangs and world.spend("execution hangs"):
            return
        if self._draw.random() < plan.executor_dies and world.spend("executor dies"):
            world.schedule(world.now + cost_s / 2, gone)
            return
        steps = int(cost_s / _PROGRESS_S)
        for step in range(steps):
            self._later((step + 1) * _PROGRESS_S, ExecutorProgress(slot, step + 1))
        world.schedule(world.now + cost_s, done)
