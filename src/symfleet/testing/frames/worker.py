"""A worker under spoilt frames: two slots, one of which runs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from symfleet.protocol.codec import NO_SLOT, Codec
from symfleet.protocol.events import (
    ExecutionDone,
    ExecutorGone,
    ExecutorReady,
    FrameReceived,
    KillExecutor,
    Leave,
    Note,
    RunItem,
    SelfTestDone,
    StartExecutor,
    WorkerAction,
    WorkerEvent,
)
from symfleet.protocol.item_results import Executed
from symfleet.protocol.messages import (
    Accepted,
    Adopt,
    AnyMessage,
    Beat,
    Knowledge,
    Ready,
    Refuse,
    ResetSlot,
    Result,
    Stop,
    StopAck,
    Work,
    WorkEntry,
)
from symfleet.protocol.tokens import NO_TOKEN
from symfleet.protocol.worker_states import SlotState
from symfleet.testing.coordinator_bench import CAMPAIGN, admission
from symfleet.testing.frames.mutate import spoil_value
from symfleet.testing.frames.reference import BODY, Judgement
from symfleet.testing.frames.target import Arrival
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.testing.worker_bench import RANK, WorkerBench
from symfleet.types import DispatchToken, Epoch, SlotAddress, input_id_of

PROGRAM: Final = SyntheticProgram(30)
_HONEST: Final = tuple(range(10, 16))


class WorkerTarget:
    """A worker on its bench. Rank 0 is the root; `coordinator` is whom it serves. Its executors
    come up, and go when they are killed, one step after they were told to."""

    def __init__(self, coordinator: int) -> None:
        self.bench = WorkerBench(slots=2, coordinator=coordinator)
        self.bench.up()
        self.campaign = CAMPAIGN
        self.epoch = 1
        self.frame_bytes = self.bench.knobs.frame_bytes
        self._codecs = {
            rank: Codec(CAMPAIGN, Epoch(1), rank, self.frame_bytes) for rank in {0, coordinator}
        }
        self._running: dict[int, RunItem] = {}
        self._soon: list[WorkerEvent] = []
        self._left = self._adopted = False
        self._step(self.bench.work(PROGRAM.data(0))[1])

    def _step(self, *events: WorkerEvent) -> Sequence[WorkerAction]:
        soon, self._soon = self._soon, []
        actions = self.bench.step(*soon, *events)
        for action in actions:
            match action:
                case RunItem(slot=slot):
                    self._running[slot] = action
                case StartExecutor(slot, executor, _, selftest):
                    self._soon.append(ExecutorReady(slot, executor, "synthetic", "00", 8))
                    if selftest:
                        self._soon.append(SelfTestDone(slot, True, ""))
                case KillExecutor(slot):
                    executor = self.bench.executors[slot]
                    self._soon.append(ExecutorGone(slot, executor, "killed", 9, True, False))
                case Note(event="adopted"):
                    self._adopted = True
                case Leave():
                    self._left = True
                case _:
                    pass
        return actions

    def _settle(self) -> None:
        """Let the executors do what they were told to."""
        while self._soon and not self._left:
            self._step()

    def sound(self) -> Sequence[Arrival]:
        """Return a sound frame of every kind that a coordinator sends."""
        bench, token = self.bench, DispatchToken("5" * 64)
        messages: tuple[tuple[AnyMessage, int | None], ...] = (
            (Accepted(token, "decided"), 0),
            (Knowledge(0, 1, b"abcd"), None),
            (Beat(), None),
            (ResetSlot(), 1),
            (bench.welcome(), None),
            (Refuse("no"), None),
            (Stop(30.0), None),
        )
        works = [bench.work(PROGRAM.data(slot + 1), slot=slot)[1] for slot in (0, 1)]
        frames = [bench.frame(message, slot=slot) for message, slot in messages]
        frames += [bench.root_frame(Adopt(4)), bench.root_frame(Beat())]
        return [Arrival(event.rank, event.data) for event in (*works, *frames)]

    def odd(self, draw: random.Random) -> Arrival | None:
        """Return a WORK whose item is spoilt."""
        good = admission(PROGRAM.data(draw.randrange(30)))
        payload = spoil_value(draw, msgspec.msgpack.decode(good.payload))[1]
        entry = WorkEntry(good.work_id, payload, good.data)
        token = self.bench.mint.mint(SlotAddress(RANK, 1))
        event = self.bench.frame(Work((entry,)), slot=1, token=token)
        return Arrival(event.rank, event.data)

    def take(self, *arrivals: Arrival) -> object:
        """Run one step with these frames."""
        actions = self._step(*(FrameReceived(one.rank, one.data) for one in arrivals))
        return [action for action in actions if not isinstance(action, Note)]

    def again(self, arrival: Arrival, judged: Judgement) -> Arrival:
        """Seal the message as the bench's coordinator does."""
        assert judged.message is not None
        sealed = self._codecs[arrival.rank].seal(
            judged.message,
            slot=None if judged.slot == NO_SLOT else judged.slot,
            incarnation=judged.incarnation,
            token=DispatchToken(judged.token.hex()) if any(judged.token) else NO_TOKEN,
            repeat=judged.repeat,
        )
        return Arrival(arrival.rank, sealed)

    def refused(self) -> Mapping[tuple[str, str], int]:
        """Return the worker's own counts."""
        counts = self.bench.machine.quarantined
        return {("quarantined_frames", why): amount for why, amount in counts.items()}

    def is_refusal(self, judged: Judgement, fresh: Counter[tuple[str, str]]) -> bool:
        """One count, under the reason."""
        reason = judged.refused or "sender"
        if reason == BODY and judged.rank not in self._codecs:
            reason = "sender"
        return fresh == Counter({("quarantined_frames", reason): 1})

    def state(self) -> object:
        """Return what each slot holds."""
        return [
            (
                slot.state,
                slot.incarnation,
                slot.current.token if slot.current else None,
                [one.token for one in slot.waiting],
                list(slot.unanswered),
            )
            for slot in self.bench.slots
        ]

    @property
    def over(self) -> bool:
        """Whether it was told to end, or serves somebody else now."""
        draining = any(slot.draining for slot in self.bench.slots)
        return self._left or self._adopted or draining

    def close(self) -> None:
        """Nothing is held."""

    def finish(self) -> Sequence[str]:
        """Reset both slots, give honest work to them, look at every answer."""
        bench = self.bench
        counted = dict(self.refused())
        for slot in (0, 1):
            self._step(bench.frame(ResetSlot(), slot=slot))
        self._settle()
        wrong: list[str] = []
        self._running.clear()
        for number, node in enumerate(_HONEST):
            wrong += self._one(number % 2, node)
        self._step(bench.frame(Stop(0.0), slot=None))
        self._settle()
        states = {slot.state for slot in bench.slots}
        said = [type(message) for _, message in bench.said()]
        if states != {SlotState.STOPPED} or StopAck not in said:
            wrong.append(f"the worker does not acknowledge its end: {states}, {said}")
        if dict(self.refused()) != counted:
            wrong.append(f"an honest coordinator was set aside: {counted}, then {self.refused()}")
        return wrong

    def _one(self, slot: int, node: int) -> list[str]:
        """Have one item executed; return what is wrong with the answer."""
        data = PROGRAM.data(node)
        token, work = self.bench.work(data, slot=slot)
        self._step(work)
        run = self._running.pop(slot, None)
        if run is None or run.data != data:
            return [f"slot {slot} does not run what it was given: {run}"]
        done = PROGRAM.execute(run.work_id, run.data)
        self._step(ExecutionDone(slot, done))
        told = [
            (header.token, message)
            for header, message in self.bench.said()
            if isinstance(message, Result | Ready)
        ]
        wrong = []
        if [type(message) for _, message in told] != [Result, Ready] or {
            said for said, _ in told
        } != {token}:
            wrong.append(f"slot {slot} answered {told}")
        results = [message for _, message in told if isinstance(message, Result)]
        items = [item for result in results for item in result.items]
        if [item.input_id for item in items if isinstance(item, Executed)] != [input_id_of(data)]:
            wrong.append(f"slot {slot} answered for something else: {items}")
        self._step(self.bench.frame(Accepted(token, "decided"), slot=slot, token=token))
        return wrong
