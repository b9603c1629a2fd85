"""The worker's machine: one rank with S slots; events in, actions out.

How a loop drives it:

    actions = machine.start(clock.monotonic())
    while True:
        carry out actions
        wait for events, at most until machine.next_deadline()
        actions = machine.handle(clock.monotonic(), events)

`handle` is called with an empty sequence when only the deadline passed. A `Leave` action is the
last one.

The rank says hello until it is welcomed, judges frames (a frame for an older incarnation of a slot
changes nothing), hands deliveries to slots (`worker_slot.py`), and ends when it is told to stop,
refused, or when the root is lost or its coordinator has been silent for `root_silence_s`. It keeps
no durable state: what it loses, its coordinator still has.

A worker whose coordinator is not the root may outlive it: lost or silent, the rank waits for the
root's Adopt (`adoption.py`), then forgets everything, takes new slot incarnations and says hello to
its new coordinator. What the old one still says is stale for ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal, assert_never

from symfleet.errors import DataError, ExitCode
from symfleet.protocol.adoption import Adoption
from symfleet.protocol.codec import BadBody, Codec, Foreign, Frame, FrameFault, Header, Unreadable
from symfleet.protocol.events import (
    DrainRequested,
    ExecutionDone,
    ExecutorFailed,
    ExecutorGone,
    ExecutorProgress,
    ExecutorReady,
    FrameReceived,
    KillExecutor,
    Leave,
    Note,
    RankLost,
    SelfTestDone,
    Send,
    TellKnowledge,
    WorkerAction,
    WorkerEvent,
)
from symfleet.protocol.messages import (
    NO_PLACE,
    Accepted,
    Adopt,
    AnyMessage,
    Beat,
    Hello,
    Knowledge,
    Refuse,
    Refused,
    ResetSlot,
    Stop,
    StopAck,
    Welcome,
    Work,
    WorkEntry,
)
from symfleet.protocol.ranges import plain
from symfleet.protocol.result_frames import Settled
from symfleet.protocol.setup import WorkerSetup
from symfleet.protocol.timeline import Timeline
from symfleet.protocol.tokens import NO_TOKEN
from symfleet.protocol.violations import Chronicle
from symfleet.protocol.work import decode_item, work_id_of
from symfleet.protocol.worker_slot import WorkerSlot
from symfleet.protocol.worker_states import Assignment, SlotState, Timing
from symfleet.types import (
    DispatchToken,
    Incarnation,
    SlotAddress,
    WorkId,
    input_id_of,
)

_HELLO_REPEAT_S: Final = 1.0
_STOP_ACK_REPEAT_S: Final = 1.0
_STOP_ACK_TIMES: Final = 5
_STORIES_A_SLOT: Final = 32
"""Several times what is under way in a slot: these are deliveries that somebody may ask about."""


class Worker:
    """See the module's text. One instance lives as long as its process."""

    def __init__(self, setup: WorkerSetup, now: float) -> None:
        """Begin with slots that have no executor yet. `now`: monotonic seconds."""
        knobs = setup.knobs
        self._setup = setup
        self._timeline = Timeline(now, knobs.late_s)
        self._now = now
        self._codec = Codec(setup.campaign, setup.epoch, setup.rank, knobs.frame_bytes)
        self._chronicle = Chronicle(_STORIES_A_SLOT * setup.slots)
        self._actions: list[WorkerAction] = []
        self._slots = [
            WorkerSlot(
                SlotAddress(setup.rank, number),
                self._fresh,
                self._send,
                self._send_settled,
                self._actions.append,
                lambda: self._knowledge,
                self._chronicle,
                self._codec.body_bytes_max(),
            )
            for number in range(setup.slots)
        ]
        self._knowledge = 0
        self._engine: ExecutorReady | None = None
        self._welcomed = False
        self._hello_at: float | None = None
        self._adoption = Adoption(setup.coordinator, setup.root, knobs.root_silence_s)
        self._silent_at = now + knobs.hello_wait_s
        self._drain_until: float | None = None
        self._acks = 0
        self._ack_at: float | None = None
        self._left = False
        self.quarantined: Counter[str] = Counter()
        """Frames that were set aside, by reason."""

    # ---- what the loop calls ----------------------------------------------------------------

    def start(self, now: float) -> Sequence[WorkerAction]:
        """Say hello."""
        now = self._now = self._timeline.begin(now)
        self._say_hello(now)
        return self._take()

    def handle(self, now: float, events: Sequence[WorkerEvent]) -> Sequence[WorkerAction]:
        """Judge events, then deadlines."""
        now = self._now = self._timeline.begin(now)
        for event in events:
            if self._left:
                break
            self._handle(now, event)
        if not self._left:
            self._tick(now)
        return self._take()

    def next_deadline(self) -> float | None:
        """Return when `handle` must be called even without an event (monotonic seconds)."""
        if self._left:
            return None
        until = self._adoption.until
        times = [self._silent_at if until is None else until]
        times += [at for at in (self._hello_at, self._drain_until, self._ack_at) if at is not None]
        times += [at for slot in self._slots if (at := slot.deadline()) is not None]
        return self._timeline.expect(self._now, min(times))

    def story(self, subject: DispatchToken | SlotAddress) -> Sequence[str]:
        """Return what happened to a delivery or a slot, oldest first (bounded)."""
        return self._chronicle.story(subject)

    @property
    def coordinator(self) -> int:
        """Rank that this worker serves now."""
        return self._adoption.coordinator

    @property
    def slot_states(self) -> tuple[SlotState, ...]:
        """State of each slot, for status."""
        return tuple(slot.state for slot in self._slots)

    def validate_state(self) -> None:
        """Assert every invariant that holds between calls."""
        for slot in self._slots:
            running = slot.state is SlotState.RUNNING
            assert not running or slot.current is not None, "D3: what runs belongs to a delivery"
            assert slot.current is None or slot.current.next_item < len(slot.current.entries)
            held = [a.token for a in slot.waiting] + [slot.current.token if slot.current else ""]
            assert len(held) == len(set(held)), "D1: a token stands for one delivery"
            assert not set(held) & slot.unanswered.keys(), "D3: a result leaves once"
            assert slot.state is not SlotState.IDLE or not slot.waiting, "an idle slot runs"
            live = slot.state in (SlotState.STARTING, SlotState.TESTING, SlotState.IDLE)
            assert not (live or running) or slot.executor is not None
            assert slot.state is not SlotState.STOPPED or slot.current is None
        assert len({slot.incarnation for slot in self._slots}) == len(self._slots)

    # ---- events -----------------------------------------------------------------------------

    def _handle(self, now: float, event: WorkerEvent) -> None:
        match event:
            case FrameReceived(rank, data):
                self._frame(now, rank, data)
            case RankLost(rank):
                if self._adoption.rank_lost(now, rank):
                    self._leave(ExitCode.HOST, "the coordinator is gone")
            case DrainRequested(reason):
                self._note("warning", "drain", reason=reason)
                self._drain(now, 0.0)
            case (
                ExecutorReady()
                | ExecutorFailed()
                | ExecutorProgress()
                | ExecutionDone()
                | ExecutorGone()
                | SelfTestDone()
            ):
                if isinstance(event, ExecutorReady):
                    self._engine = event
                if isinstance(event, ExecutorGone):
                    # A new executor knows nothing: the next READY asks for everything again.
                    self._knowledge = 0
                self._slots[event.slot].handle(now, event)
            case _:
                assert_never(event)

    def _frame(self, now: float, rank: int, data: bytes) -> None:
        opened = self._codec.open(data)
        match opened:
            case Frame(header, Adopt(coordinator)) if rank == header.rank == self._setup.root:
                self._adopted(now, coordinator)
            case Frame(header, message):
                if rank != self.coordinator or header.rank != rank:
                    self._quarantine(FrameFault.SENDER, f"rank {rank}")
                    return
                self._heard(now)
                self._message(now, header, message)
            case BadBody(header, kind, detail):
                if kind is Work and rank == self.coordinator:
                    self._refuse_work(header, f"schema: {detail}")
                self._quarantine(FrameFault.BODY, detail)
            case Foreign(fault, theirs, ours):
                if rank == self.coordinator and not self._welcomed:
                    self._leave(ExitCode.HOST, f"coordinator has {fault} {theirs}, not {ours}")
                self._quarantine(fault, f"{theirs}, not {ours}")
            case Unreadable(fault):
                self._quarantine(fault, f"{len(data)} bytes")
            case _:
                assert_never(opened)

    def _message(  # noqa: C901, PLR0912 - an arm a message
        self, now: float, header: Header, message: AnyMessage
    ) -> None:
        match message:
            case Welcome():
                self._welcome(now, message)
            case Work(items):
                self._work(now, header, items)
            case Accepted(token, disposition):
                if disposition == "stopped" and self._ack_at is not None:
                    self._leave(ExitCode.DONE, "stopped")
                elif (slot := self._slot(header)) is not None:
                    slot.answered(token)
            case Knowledge(base, version, edges):
                if base <= self._knowledge:
                    self._knowledge = max(self._knowledge, version)
                    self._actions.append(TellKnowledge(edges))
            case Beat():
                self._emit(Beat())
            case ResetSlot():
                slot = self._slot(header)
                if slot is not None:
                    slot.reset(now)
                self._say_hello(now)
            case Stop(drain_s):
                self._drain(now, drain_s)
            case Refuse(reason):
                if not self._welcomed:
                    self._leave(ExitCode.HOST, reason)
            case _:
                # What only workers or only coordinators among themselves say.
                self._quarantine(FrameFault.UNEXPECTED, type(message).__name__)

    def _welcome(self, now: float, welcome: Welcome) -> None:
        if welcome.prefetch < 0 or welcome.prefetch > 4:
            self._quarantine(FrameFault.BODY, f"prefetch {welcome.prefetch}")
            return
        self._welcomed = True
        self._hello_at = None
        self._heard(now)  # from now on it is to be heard often
        timing = Timing(
            welcome.progress_s, welcome.repeat_s, welcome.hard_limit_s, welcome.prefetch + 1
        )
        for slot in self._slots:
            slot.welcome(now, welcome.setup, timing)

    def _work(self, now: float, header: Header, items: tuple[WorkEntry, ...]) -> None:
        slot = self._slot(header)
        if slot is None or header.token == NO_TOKEN:
            self._quarantine(FrameFault.UNEXPECTED, "work for a slot that is not here")
            return
        if header.token in slot.seen:
            # A token is executed once in the life of a slot; its result may be said again.
            slot.repeat(now, header.token)
            return
        refusal = self._refusal(slot, items)
        if isinstance(refusal, str):
            self._refuse_work(header, refusal)
            return
        slot.accept(now, Assignment(header.token, items, refusal))

    def _refusal(self, slot: WorkerSlot, items: tuple[WorkEntry, ...]) -> str | tuple[WorkId, ...]:
        """Return why a WORK cannot be accepted, or the recomputed ids of its items (A1, A4)."""
        if not self._welcomed:
            return "limits: no welcome yet"
        if slot.full:
            return NO_PLACE
        if not 1 <= len(items) <= self._setup.knobs.bundle_items:
            return f"limits: {len(items)} items"
        try:
            return tuple(self._check_entry(entry) for entry in items)
        except DataError as error:
            return f"{error.where}: {error.what}: {error.why}"

    def _check_entry(self, entry: WorkEntry) -> WorkId:
        """Return the recomputed id of an item; raise DataError when it cannot be accepted."""
        if len(entry.data) > self._setup.knobs.input_bytes:
            raise DataError(f"an input of {len(entry.data)} bytes", where="limits", why="too large")
        item = decode_item(entry.payload)
        input_id, work_id = input_id_of(entry.data), work_id_of(item)
        if item.input != input_id:
            raise DataError("the bytes are another input", where="digest", why=input_id)
        if work_id != entry.work_id:
            raise DataError("the item has another id", where="digest", why=work_id)
        return work_id

    def _refuse_work(self, header: Header, reason: str) -> None:
        if header.slot is None or header.token == NO_TOKEN:
            return
        self._chronicle.note(self._now, f"refused: {reason}", header.token)
        self._emit(
            Refused(plain(reason)),
            slot=header.slot,
            incarnation=header.incarnation,
            token=header.token,
        )

    def _slot(self, header: Header) -> WorkerSlot | None:
        """Return the slot that a frame is about, if that very incarnation lives here."""
        if header.slot is None or header.slot >= len(self._slots):
            return None
        slot = self._slots[header.slot]
        return slot if slot.incarnation == header.incarnation else None

    # ---- time and end -----------------------------------------------------------------------

    def _adopted(self, now: float, coordinator: int) -> None:
        """The root gives this worker to another coordinator: nothing of the old one stays."""
        if not self._adoption.adopt(now, coordinator):
            self._quarantine(FrameFault.UNEXPECTED, f"adoption by rank {coordinator}")
            return
        self._note("warning", "adopted", coordinator=str(coordinator))
        self._welcomed = False
        self._knowledge = 0
        self._acks, self._ack_at = 0, None
        self._silent_at = now + self._setup.knobs.hello_wait_s
        for slot in self._slots:
            slot.reset(now)
        self._say_hello(now)

    def _heard(self, now: float) -> None:
        self._adoption.heard()
        knobs = self._setup.knobs
        wait = knobs.root_silence_s if self._welcomed else knobs.hello_wait_s
        self._silent_at = now + wait

    def _tick(self, now: float) -> None:
        if now >= self._silent_at:
            self._adoption.silent(now)
        if self._adoption.is_over(now):
            self._leave(ExitCode.HOST, "the coordinator is silent")
            return
        if self._hello_at is not None and now >= self._hello_at:
            self._say_hello(now)
        for slot in self._slots:
            slot.tick(now)
        if self._drain_until is not None and now >= self._drain_until:
            self._drain_until = None
            for slot in self._slots:
                slot.cancel(now)
        self._acknowledge(now)

    def _drain(self, now: float, drain_s: float) -> None:
        until = now + max(0.0, drain_s)
        first = not any(slot.draining for slot in self._slots)
        if first or (self._drain_until is not None and until < self._drain_until):
            self._drain_until = until
        for slot in self._slots:
            slot.drain(now)

    def _acknowledge(self, now: float) -> None:
        """Say that nothing is left, until it is answered (Q4)."""
        if not all(slot.state is SlotState.STOPPED for slot in self._slots):
            return
        if self._ack_at is not None and now < self._ack_at:
            return
        if self._acks >= _STOP_ACK_TIMES:
            self._leave(ExitCode.DONE, "stopped, but not answered")
            return
        self._acks += 1
        self._ack_at = now + _STOP_ACK_REPEAT_S
        self._emit(StopAck(len(self._slots)), repeat=self._acks > 1)

    def _leave(self, code: ExitCode, reason: str) -> None:
        if self._left:
            return
        for slot in self._slots:
            if slot.executor is not None and slot.state is not SlotState.STOPPED:
                self._actions.append(KillExecutor(slot.place.slot))
        self._left = True
        self._actions.append(Leave(int(code), reason))

    # ---- sending ----------------------------------------------------------------------------

    def _say_hello(self, now: float) -> None:
        self._hello_at = now + _HELLO_REPEAT_S
        engine = self._engine
        self._emit(
            Hello(
                version=self._setup.version,
                host=self._setup.host,
                pid=self._setup.pid,
                worker=self._setup.incarnation,
                slots=tuple(slot.incarnation for slot in self._slots),
                engine=engine.engine if engine else "",
                build=engine.build if engine else "",
                edges=engine.edges if engine else 0,
                python=self._setup.python,
            )
        )

    def _send(
        self, slot: WorkerSlot, message: AnyMessage, token: DispatchToken, repeat: bool
    ) -> None:
        self._emit(
            message,
            slot=slot.place.slot,
            incarnation=slot.incarnation,
            token=token,
            repeat=repeat,
        )

    def _send_settled(self, slot: WorkerSlot, settled: Settled, repeat: bool) -> None:
        for frame in settled.frames(self._codec, slot.place.slot, slot.incarnation, repeat=repeat):
            self._actions.append(Send(self.coordinator, frame))

    def _emit(
        self,
        message: AnyMessage,
        *,
        slot: int | None = None,
        incarnation: int = 0,
        token: DispatchToken = NO_TOKEN,
        repeat: bool = False,
    ) -> None:
        frame = self._codec.seal(
            message, slot=slot, incarnation=incarnation, token=token, repeat=repeat
        )
        self._actions.append(Send(self.coordinator, frame))

    def _quarantine(self, reason: str, detail: str) -> None:
        self.quarantined[reason] += 1
        self._note("warning", "frame_quarantined", reason=reason, detail=detail)

    def _note(self, level: Literal["info", "warning"], event: str, **detail: str) -> None:
        self._chronicle.note(self._now, f"{event} {detail}", self._setup.rank)
        self._actions.append(Note(level, event, detail))

    def _fresh(self) -> Incarnation:
        return Incarnation(self._setup.random.getrandbits(64) or 1)

    def _take(self) -> Sequence[WorkerAction]:
        actions = list(self._actions)
        self._actions.clear()  # the slots hold a reference to this very list
        return actions
