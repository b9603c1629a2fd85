"""One worker machine on a bench: hand-made coordinator and executors around it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from symfleet.protocol.codec import Codec, Frame, Header
from symfleet.protocol.events import (
    ExecutorReady,
    FrameReceived,
    RunItem,
    Send,
    StartExecutor,
    WorkerAction,
    WorkerEvent,
)
from symfleet.protocol.messages import AnyMessage, Hello, Welcome, Work, WorkEntry
from symfleet.protocol.setup import Knobs, WorkerSetup
from symfleet.protocol.tokens import NO_TOKEN, TokenMint
from symfleet.protocol.worker import Worker
from symfleet.protocol.worker_slot import WorkerSlot
from symfleet.testing.coordinator_bench import CAMPAIGN, ENGINE, admission
from symfleet.testing.fake_clock import FakeClock
from symfleet.types import DispatchToken, Epoch, Incarnation, SlotAddress

RANK: Final = 1


class WorkerBench:
    """A welcomed worker after `up()`; every step asserts the machine's invariants. `coordinator`:
    rank of the one that it serves; 0 is the root."""

    def __init__(
        self,
        *,
        slots: int = 1,
        prefetch: int = 1,
        knobs: Knobs | None = None,
        coordinator: int = 0,
    ) -> None:
        self.clock = FakeClock()
        self.knobs = knobs or Knobs()
        self.prefetch = prefetch
        self.machine = Worker(
            WorkerSetup(
                campaign=CAMPAIGN,
                epoch=Epoch(1),
                rank=RANK,
                coordinator=coordinator,
                incarnation=Incarnation(7),
                slots=slots,
                version="1.0",
                host="host 1",
                pid=1,
                python="3",
                random=random.Random(1),
                knobs=self.knobs,
            ),
            self.clock.monotonic(),
        )
        self.coordinator = coordinator
        self.codec = Codec(CAMPAIGN, Epoch(1), coordinator, self.knobs.frame_bytes)
        self.mint = TokenMint(bytes(32))
        self.lives: list[Incarnation] = []
        self.executors: dict[int, Incarnation] = {}
        self.actions: Sequence[WorkerAction] = ()

    @property
    def slots(self) -> Sequence[WorkerSlot]:
        """The machine's slots: for tests that look inside."""
        return self.machine._slots  # noqa: SLF001

    def step(self, *events: WorkerEvent, after_s: float = 0.001) -> Sequence[WorkerAction]:
        """Hand events over, `after_s` later; remember slot lives and executors."""
        self.clock.sleep(after_s)
        return self._note(self.machine.handle(self.clock.monotonic(), events))

    def wait(self, seconds: float, step_s: float = 0.5) -> list[WorkerAction]:
        """Let time pass without being late."""
        actions: list[WorkerAction] = []
        while seconds > 1e-9:
            actions += self.step(after_s=min(step_s, seconds))
            seconds -= step_s
        return actions

    def start(self) -> Sequence[WorkerAction]:
        """Let it say hello."""
        return self._note(self.machine.start(self.clock.monotonic()))

    def up(self) -> Sequence[WorkerAction]:
        """Welcome it and let every executor come up."""
        self.start()
        self.step(self.frame(self.welcome(), slot=None))
        return self.step(*(self.executor_ready(slot) for slot in self.executors))

    def welcome(self) -> Welcome:
        """Return the answer to hello."""
        return Welcome(
            "1.0",
            Incarnation(99),
            ENGINE,
            self.prefetch,
            self.knobs.progress_s,
            self.knobs.repeat_s,
            self.knobs.hard_limit_s,
        )

    def executor_ready(self, slot: int = 0) -> ExecutorReady:
        """Return the event that a slot's executor is up."""
        return ExecutorReady(slot, self.executors[slot], "synthetic", "00", 8)

    def frame(
        self,
        message: AnyMessage,
        *,
        slot: int | None = 0,
        life: int | None = None,
        token: DispatchToken = NO_TOKEN,
    ) -> FrameReceived:
        """Return a sealed frame of the coordinator as an event."""
        incarnation = life if life is not None else (0 if slot is None else self.lives[slot])
        sealed = self.codec.seal(message, slot=slot, incarnation=incarnation, token=token)
        return FrameReceived(self.coordinator, sealed)

    def root_frame(self, message: AnyMessage) -> FrameReceived:
        """Return a sealed frame of the root as an event."""
        codec = Codec(CAMPAIGN, Epoch(1), 0, self.knobs.frame_bytes)
        return FrameReceived(0, codec.seal(message))

    def work(
        self, *inputs: bytes, slot: int = 0, token: DispatchToken | None = None
    ) -> tuple[DispatchToken, FrameReceived]:
        """Return a token and the WORK of some inputs."""
        token = token or self.mint.mint(SlotAddress(RANK, slot))
        entries = tuple(
            WorkEntry(entry.work_id, entry.payload, entry.data)
            for entry in (admission(data) for data in inputs)
        )
        return token, self.frame(Work(entries), slot=slot, token=token)

    def said(
        self, actions: Sequence[WorkerAction] | None = None
    ) -> list[tuple[Header, AnyMessage]]:
        """Return the messages among actions (those of the last step by default)."""
        frames = []
        for action in self.actions if actions is None else actions:
            if isinstance(action, Send):
                opened = self.codec.open(action.frame)
                assert isinstance(opened, Frame), opened
                frames.append((opened.header, opened.message))
        return frames

    def runs(self, actions: Sequence[WorkerAction] | None = None) -> list[RunItem]:
        """Return the items that were started."""
        chosen = self.actions if actions is None else actions
        return [action for action in chosen if isinstance(action, RunItem)]

    def _note(self, actions: Sequence[WorkerAction]) -> Sequence[WorkerAction]:
        self.machine.validate_state()
        self.machine.next_deadline()
        self.actions = actions
        for action in actions:
            if isinstance(action, StartExecutor):
                self.executors[action.slot] = action.executor
        for _, message in self.said(actions):
            if isinstance(message, Hello):
                self.lives = list(message.slots)
        return actions
