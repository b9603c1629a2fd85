"""Random lives of a worker: each token is answered exactly once, whatever its executors do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from symfleet.protocol.events import (
    ExecutionDone,
    ExecutorFailed,
    ExecutorGone,
    ExecutorProgress,
    KillExecutor,
    Leave,
    SelfTestDone,
    StartExecutor,
    WorkerAction,
    WorkerEvent,
)
from symfleet.protocol.messages import Accepted, Ready, Refused, ResetSlot, Result, Stop, StopAck
from symfleet.protocol.setup import Knobs
from symfleet.protocol.worker_states import SlotState
from symfleet.testing.coordinator_bench import admission
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.testing.worker_bench import WorkerBench
from symfleet.types import NO_SPACE, DispatchToken

PROGRAM = SyntheticProgram(40)
SLOTS = 2
slots = st.integers(0, SLOTS - 1)


class Life(RuleBasedStateMachine):
    """A coordinator that may send anything, and executors that may do anything."""

    prefetch: ClassVar[int] = 1

    def __init__(self) -> None:
        super().__init__()
        self.bench = WorkerBench(
            slots=SLOTS, prefetch=self.prefetch, knobs=Knobs(root_silence_s=86400.0)
        )
        self.accepted: dict[DispatchToken, int] = {}
        self.sizes: dict[DispatchToken, int] = {}
        self.answers: Counter[DispatchToken] = Counter()
        self.selftests: set[int] = set()
        self.killed: set[int] = set()
        self.stopped = False

    # ---- the model ------------------------------------------------------------------------------

    def state(self, slot: int) -> SlotState:
        return self.bench.machine.slot_states[slot]

    def step(self, *events: WorkerEvent, after_s: float = 0.01) -> None:
        self.look(self.bench.step(*events, after_s=after_s))

    def look(self, actions: Sequence[WorkerAction]) -> None:
        for action in actions:
            match action:
                case StartExecutor(slot=slot, selftest=selftest):
                    self.killed.discard(slot)
                    self.selftests.discard(slot)
                    if selftest:
                        self.selftests.add(slot)
                case KillExecutor(slot=slot):
                    self.killed.add(slot)
                case _:
                    pass
        last: dict[int | None, DispatchToken] = {}
        for header, message in self.bench.said(actions):
            if isinstance(message, Result) and not header.repeat:
                assert header.token in self.accepted, "D2: only the coordinator mints"
                assert len(message.items) == self.sizes[header.token], "A6"
                self.answers[header.token] += 1
                assert self.answers[header.token] == 1, "D3: a token is answered once"
                last[header.slot] = header.token
            elif isinstance(message, Ready) and not header.repeat and message.completed:
                assert last.get(header.slot) == message.completed, "J1: READY follows its RESULT"
            elif isinstance(message, Refused):
                self.accepted.pop(header.token, None)

    # ---- rules ----------------------------------------------------------------------------------

    @initialize()
    def begin(self) -> None:
        self.look(self.bench.start())
        self.step(self.bench.frame(self.bench.welcome(), slot=None))

    @precondition(lambda self: not self.stopped)
    @rule(slot=slots, nodes=st.lists(st.integers(0, 39), min_size=1, max_size=3))
    def work(self, slot: int, nodes: list[int]) -> None:
        token, frame = self.bench.work(*(PROGRAM.data(node) for node in nodes), slot=slot)
        self.accepted[token] = slot
        self.sizes[token] = len(nodes)
        self.step(frame)

    @precondition(lambda self: self.accepted and not self.stopped)
    @rule(data=st.data())
    def same_work_again(self, data: st.DataObject) -> None:
        token = data.draw(st.sampled_from(list(self.accepted)))
        _, frame = self.bench.work(PROGRAM.data(0), slot=self.accepted[token], token=token)
        self.look(self.bench.step(frame))
        assert not self.bench.runs(), "a token is executed once"

    @rule(slot=slots)
    def executor_comes_up(self, slot: int) -> None:
        if self.state(slot) in (SlotState.STARTING, SlotState.TESTING):
            self.step(self.bench.executor_ready(slot))
            if self.state(slot) is SlotState.TESTING:
                self.step(SelfTestDone(slot, True, ""))

    @rule(slot=slots)
    def self_test_fails(self, slot: int) -> None:
        if self.state(slot) is SlotState.TESTING:
            self.step(SelfTestDone(slot, False, "garbage"))

    @rule(slot=slots)
    def engine_cannot_run(self, slot: int) -> None:
        if self.state(slot) is SlotState.STARTING:
            self.step(ExecutorFailed(slot, "internal", "m", "h"))

    @rule(slot=slots)
    def engine_finds_no_space(self, slot: int) -> None:
        if self.state(slot) is SlotState.RUNNING:
            self.step(ExecutorFailed(slot, NO_SPACE, "m", "h"))

    @rule(slot=slots)
    def execution_ends(self, slot: int) -> None:
        current = self.bench.machine._slots[slot].current
        if self.state(slot) is SlotState.RUNNING and current is not None:
            entry = current.entries[current.next_item]
            result = PROGRAM.execute(admission(entry.data).work_id, entry.data)
            self.step(ExecutionDone(slot, result))

    @rule(slot=slots, counter=st.integers(0, 100))
    def executor_moves(self, slot: int, counter: int) -> None:
        if self.state(slot) is SlotState.RUNNING:
            self.step(ExecutorProgress(slot, counter))

    @rule(slot=slots, signal=st.sampled_from([0, 9, 11]))
    def executor_dies(self, slot: int, signal: int) -> None:
        executor = self.bench.executors.get(slot)
        alive = self.state(slot) not in (SlotState.WAITING, SlotState.BROKEN, SlotState.STOPPED)
        if executor is not None and alive:
            asked = slot in self.killed
            self.step(ExecutorGone(slot, executor, "gone", signal, asked, False))

    @precondition(lambda self: self.accepted)
    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        token = data.draw(st.sampled_from(list(self.accepted)))
        self.step(self.bench.frame(Accepted(token, "decided"), slot=self.accepted[token]))

    @rule(slot=slots)
    def reset(self, slot: int) -> None:
        self.step(self.bench.frame(ResetSlot(), slot=slot))
        for token in [t for t, s in self.accepted.items() if s == slot]:
            del self.accepted[token]

    @rule(seconds=st.sampled_from([0.1, 1.0, 6.0, 130.0]))
    def time_passes(self, seconds: float) -> None:
        for action in [self.bench.step(after_s=seconds / 4) for _ in range(4)]:
            self.look(action)

    def teardown(self) -> None:
        """Stopped, every worker gives all answers that it owes and leaves nothing running."""
        if not self.bench.lives:
            return
        self.step(self.bench.frame(Stop(0.0), slot=None))
        self.stopped = True
        for slot in range(SLOTS):
            for _ in range(3):
                self.executor_dies(slot, 9)
        assert set(self.bench.machine.slot_states) == {SlotState.STOPPED}
        owed = {token for token in self.accepted if not self.answers[token]}
        assert not owed, "A6: a delivery that was accepted is answered"
        said = [m for actions in (self.bench.wait(2.0),) for _, m in self.bench.said(actions)]
        acked = any(isinstance(message, StopAck) for message in said)
        assert acked or any(isinstance(a, Leave) for a in self.bench.actions)


class Deep(Life):
    prefetch = 2


class Flat(Life):
    prefetch = 0


@pytest.mark.guarantee("D2")
@pytest.mark.guarantee("D3")
@pytest.mark.guarantee("J1")
@pytest.mark.parametrize("machine", [Flat, Life, Deep])
def test_any_life_answers_each_token_once(machine: type[Life]) -> None:
    case = machine.TestCase
    case.settings = settings(
        max_examples=30,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    case("runTest").runTest()
