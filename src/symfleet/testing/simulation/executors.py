"""The executors of a simulated worker: they are only times, and sometimes they are bad.

What a good one answers is the program's truth. With `--keep novel` it drops, as real ones do,
children that show nothing new to it; what it was told is lost with it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from symfleet.ledger.edges import unpack_edges
from symfleet.protocol.events import (
    ExecutionDone,
    ExecutorFailed,
    ExecutorGone,
    ExecutorReady,
    RunItem,
    SelfTestDone,
    WorkerEvent,
)
from symfleet.protocol.item_results import Executed
from symfleet.protocol.work import decode_item
from symfleet.types import Incarnation, InputId, Keep, Outcome, WorkId

if TYPE_CHECKING:
    from symfleet.testing.simulation.campaign import Simulation

_START_S: Final = 0.05
_KILLED_S: Final = 0.01
_SOON_S: Final = 3.0
_SIGKILL, _SIGSEGV = 9, 11

Misfit = Callable[[Executed, random.Random], Executed]


def _other_input(result: Executed, _: random.Random) -> Executed:
    return replace(result, input_id=InputId("0" * 64))


def _other_work(result: Executed, _: random.Random) -> Executed:
    """The worker knows better, so this one is repaired on its way."""
    return replace(result, work_id=WorkId("0" * 64))


def _cut_edges(result: Executed, _: random.Random) -> Executed:
    return replace(result, edges=result.edges[:-1])


def _unsorted_edges(result: Executed, _: random.Random) -> Executed:
    return replace(result, edges=result.edges[4:] + result.edges[:4])


def _too_few_generated(result: Executed, _: random.Random) -> Executed:
    return replace(result, generated=len(result.children) - 1)


def _absurd_signal(result: Executed, _: random.Random) -> Executed:
    return replace(result, signal=999)


def _no_verdict(result: Executed, _: random.Random) -> Executed:
    return replace(result, outcome=Outcome.STALLED)


def _spoilt_child(result: Executed, draw: random.Random) -> Executed:
    if not result.children:
        return _other_input(result, draw)
    number = draw.randrange(len(result.children))
    child = replace(result.children[number], data=b"something else")
    children = [*result.children[:number], child, *result.children[number + 1 :]]
    return replace(result, children=tuple(children))


MISFITS: Final[tuple[Misfit, ...]] = (
    _other_input,
    _other_work,
    _cut_edges,
    _unsorted_edges,
    _too_few_generated,
    _absurd_signal,
    _no_verdict,
    _spoilt_child,
)


class SimulatedExecutors:
    """One for each slot. `deliver`: takes events to the worker, which may be dead by then."""

    def __init__(
        self, world: Simulation, draw: random.Random, deliver: Callable[[WorkerEvent], None]
    ) -> None:
        self._world = world
        self._draw = draw
        self._deliver = deliver
        self._lives: dict[int, Incarnation] = {}
        self._known: dict[int, set[int]] = {}

    def clear(self) -> None:
        """All end with their worker."""
        self._lives.clear()

    def start(self, slot: int, life: Incarnation, *, selftest: bool) -> None:
        """Start the slot's executor."""
        world, plan, draw = self._world, self._world.plan, self._draw
        self._lives[slot] = life
        self._known[slot] = set()
        fails = world.happens(draw, plan.executor_fails, "executor fails")
        early = fails and draw.random() < 0.5

        def up() -> None:
            if self._lives.get(slot) != life:
                return
            if early and draw.random() < 0.5:
                self._deliver(ExecutorFailed(slot, "no_engine", "it is not there", "install it"))
            elif early:
                self._end(slot, life, "exit code 1", 0)
            else:
                self._deliver(ExecutorReady(slot, life, "synthetic", "00", 4096))
                if selftest:
                    self._deliver(SelfTestDone(slot, not fails, "bad memory" if fails else ""))

        world.schedule(world.now + _START_S * (0.5 + draw.random()), up)
        if world.happens(draw, plan.executor_garbage, "executor garbage"):
            self._end_later(draw.random() * _SOON_S, slot, life, "invalid answer: garbage", 0)

    def kill(self, slot: int) -> None:
        """Kill the slot's executor, if it lives."""
        life = self._lives.pop(slot, None)
        if life is not None:
            gone = ExecutorGone(slot, life, "killed", _SIGKILL, True, False)
            self._world.schedule(self._world.now + _KILLED_S, lambda: self._deliver(gone))

    def tell(self, edges: bytes) -> None:
        """All of them are told what the campaign covers."""
        for known in self._known.values():
            known.update(unpack_edges(edges))

    def lives(self, slot: int) -> bool:
        """Whether the slot has an executor. The worker may not have heard yet that it is gone."""
        return slot in self._lives

    def run(self, item: RunItem) -> None:
        """Run an item on an executor that lives."""
        world, plan, draw, slot = self._world, self._world.plan, self._draw, item.slot
        life = self._lives[slot]
        result = self._result(item)
        cost_s = result.wall_us / 1e6
        if world.happens(draw, plan.execution_hangs, "execution hangs"):
            return
        if world.happens(draw, plan.executor_dies, "executor dies"):
            # Nobody explains this SIGKILL, so nobody is blamed for it.
            self._end_later(cost_s / 2, slot, life, "vanished", _SIGKILL)
            return
        if world.happens(draw, plan.executor_crashes, "executor crashes"):
            self._end_later(cost_s / 2, slot, life, "segmentation fault", _SIGSEGV)
            return
        if world.happens(draw, plan.result_misfits, "result misfits"):
            result = draw.choice(MISFITS)(result, draw)

        def done() -> None:
            if self._lives.get(slot) == life:
                self._deliver(ExecutionDone(slot, result))

        world.schedule(world.now + cost_s, done)

    def _result(self, item: RunItem) -> Executed:
        """What a good executor answers."""
        world = self._world
        if world.shape.keep is Keep.ALL:
            return world.program.execute(item.work_id, item.data)
        bound = decode_item(item.payload).bound
        result = world.program.execute(item.work_id, item.data)
        node = world.program.node(item.data)
        goals = result.children
        if bound is not None:
            goals = goals[bound:]
        elif node % 3 == 0 and len(goals) > 1:
            goals, result = goals[:1], replace(result, truncated=1)
        known = self._known[item.slot]
        novel = tuple(child for child in goals if not known.issuperset(unpack_edges(child.edges)))
        dropped = len(goals) - len(novel)
        return replace(result, children=novel, generated=len(goals), dropped=dropped)

    def _end_later(
        self, seconds: float, slot: int, life: Incarnation, detail: str, signal: int
    ) -> None:
        world = self._world
        world.schedule(world.now + seconds, lambda: self._end(slot, life, detail, signal))

    def _end(self, slot: int, life: Incarnation, detail: str, signal: int) -> None:
        """The executor ends by itself, unless it was replaced meanwhile."""
        if self._lives.get(slot) == life:
            del self._lives[slot]
            self._deliver(ExecutorGone(slot, life, detail, signal, False, False))
