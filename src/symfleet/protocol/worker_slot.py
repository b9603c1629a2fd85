"""One slot of a worker: an executor, the delivery that runs on it, and those that wait.

`worker_states.py` has the states and the table; here is what each rule does. A delivery ends in
exactly one RESULT with one entry per item, in order, whatever happens to the executor: items
behind a break are reported as not run, so that nothing waits for them (A6).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

import msgspec

from symfleet.protocol.blame import is_unexplained
from symfleet.protocol.events import (
    ExecutionDone,
    ExecutorFailed,
    ExecutorGone,
    ExecutorProgress,
    ExecutorReady,
    KillExecutor,
    RunItem,
    SelfTestDone,
    StartExecutor,
    WorkerAction,
)
from symfleet.protocol.item_results import ExecutorDied, ItemResult, NotRun, Unsettled
from symfleet.protocol.messages import (
    AnyMessage,
    EngineSetup,
    Progress,
    Ready,
    Started,
    WorkEntry,
    WorkerFault,
)
from symfleet.protocol.result_frames import Settled, bytes_of, settle
from symfleet.protocol.tokens import NO_TOKEN
from symfleet.protocol.violations import Chronicle
from symfleet.protocol.worker_states import (
    IGNORED,
    TABLE,
    Assignment,
    ExecutorEvent,
    KillReason,
    SlotState,
    Timing,
    Unanswered,
    timed_out,
)
from symfleet.types import (
    DispatchToken,
    Incarnation,
    SlotAddress,
    WorkId,
    input_id_of,
)

_SEEN_MAX: Final = 128
"""Tokens that a slot knows again: many times what its coordinator may still say again, and so few
that a worker soon has the size that it keeps."""
_UNANSWERED_MAX: Final = 8
_CHANGED: Final = "the target is another program than when this launch began"
_CHANGED_HINT: Final = (
    "put the old one back and resume; or go on with the new one: resume with --accept-new-target"
)
_STARTS_MAX: Final = 3
_KILLED_STARTS_MAX: Final = 16
"""Executors in a row that somebody may kill before one is usable; nothing follows from such kills,
but every loop has an end."""

Sender = Callable[["WorkerSlot", AnyMessage, DispatchToken, bool], None]


class WorkerSlot:
    """See the module's text. `send` seals and sends for this slot; `act` emits an action."""

    def __init__(
        self,
        place: SlotAddress,
        fresh: Callable[[], Incarnation],
        send: Sender,
        send_settled: Callable[[WorkerSlot, Settled, bool], None],
        act: Callable[[WorkerAction], None],
        version: Callable[[], int],
        chronicle: Chronicle,
        body_bytes_max: int,
    ) -> None:
        self.place = place
        self.incarnation = fresh()
        self.state = SlotState.WAITING
        self.executor: Incarnation | None = None
        self.current: Assignment | None = None
        self.waiting: deque[Assignment] = deque()
        self.unanswered: OrderedDict[DispatchToken, Unanswered[Settled]] = OrderedDict()
        self.ready: Unanswered[DispatchToken | None] | None = None
        self.seen: OrderedDict[DispatchToken, None] = OrderedDict()
        self.draining = False
        self.opened = False
        self._version = version
        self._fresh = fresh
        self._send = send
        self._send_settled = send_settled
        self._act = act
        self._chronicle = chronicle
        self._body_bytes_max = body_bytes_max
        self._setup: EngineSetup | None = None
        self._timing = Timing(2.0, 5.0, 60.0, 1)
        self._hard_at: float | None = None
        self._kill_reason: KillReason | None = None
        self._death: ExecutorGone | None = None
        self._starts = 0
        self._build = ""
        """Of the first executor; every later one has to run the same program."""

    # ---- what the rank asks of it -----------------------------------------------------------

    def welcome(self, now: float, setup: EngineSetup, timing: Timing) -> None:
        """Take the set-up; the first one starts the executor."""
        self._setup, self._timing = setup, timing
        if self.state is SlotState.WAITING:
            self._start(now, selftest=False)

    def accept(self, now: float, assignment: Assignment) -> None:
        """Queue a checked delivery; a WORK answers READY."""
        self.ready = None
        self._remember(assignment.token)
        if self.draining or self.broken or self.state is SlotState.STOPPED:
            self._conclude(now, assignment)
            return
        self.waiting.append(assignment)
        self._run_next(now)

    @property
    def broken(self) -> bool:
        """Whether the engine cannot run here."""
        return self.state is SlotState.BROKEN or self._kill_reason is KillReason.BROKEN

    @property
    def full(self) -> bool:
        """Whether no place is left for another delivery."""
        return len(self.waiting) + (self.current is not None) >= self._timing.places

    def answered(self, token: DispatchToken) -> None:
        """Stop repeating what this ACCEPTED answers."""
        self.unanswered.pop(token, None)
        if self.ready is not None and (self.ready.what or NO_TOKEN) == token:
            self.ready = None

    def repeat(self, now: float, token: DispatchToken) -> None:
        """Say the result of a token again when it was not answered yet."""
        kept = self.unanswered.get(token)
        if kept is not None:
            self.unanswered[token] = kept.repeated(now)
            self._send_settled(self, kept.what, True)

    def reset(self, now: float) -> None:
        """Forget everything and come back as a new incarnation; its executor is killed."""
        self.incarnation = self._fresh()
        self.current = self._death = self.ready = None
        self.waiting.clear()
        self.unanswered.clear()
        self.seen.clear()
        self._starts = 0
        self.opened = False
        self._chronicle.note(now, "reset", self.place)
        if self.state is SlotState.KILLING:
            if self._kill_reason is not KillReason.STOP:
                self._kill_reason = KillReason.RESET
        elif self.executor is not None:
            self._kill(now, KillReason.RESET)
        elif self.state not in (SlotState.STOPPED, SlotState.WAITING):
            self._start(now, selftest=True)

    def drain(self, now: float) -> None:
        """Run nothing new; what runs may finish."""
        if self.draining:
            return
        self.draining = True
        while self.waiting:
            self._conclude(now, self.waiting.popleft())
        if self.current is None:
            self._retire(now)

    def cancel(self, now: float) -> None:
        """End what still runs now."""
        self.drain(now)
        if self.state not in (SlotState.KILLING, SlotState.STOPPED):
            self._retire(now)

    # ---- time -------------------------------------------------------------------------------

    def deadline(self) -> float | None:
        """Return the next time at which `tick` has something to do."""
        times = [kept.again_at for kept in self.unanswered.values()]
        if self.ready is not None:
            times.append(self.ready.again_at)
        if self._hard_at is not None:
            times.append(self._hard_at)
        if self.current is not None and self.current.moves > self.current.told:
            times.append(self.current.told_at + self._timing.progress_s)
        return min(times, default=None)

    def tick(self, now: float) -> None:
        """Do what is due: hard limit, progress, repetitions."""
        if self._hard_at is not None and now >= self._hard_at:
            self._kill(now, KillReason.HARD_LIMIT)
        self._tell_progress(now)
        for token, kept in list(self.unanswered.items()):
            if now >= kept.again_at:
                self.repeat(now, token)
        if self.ready is not None and now >= self.ready.again_at:
            self.ready = self.ready.repeated(now)
            self._send_ready(self.ready.what, repeat=True)

    # ---- executor events --------------------------------------------------------------------

    def handle(self, now: float, event: ExecutorEvent) -> None:
        """Look the pair up in the table and do it."""
        if isinstance(event, ExecutorGone) and event.executor != self.executor:
            return  # the end of an executor that was replaced already
        rule = TABLE.get((self.state, type(event)))
        if rule is None:
            raise self._chronicle.broken(
                f"slot {self.place.slot} is {self.state} and met {type(event).__name__}",
                self.place,
            )
        self._chronicle.note(now, f"{self.state}: {type(event).__name__} -> {rule}", self.place)
        if rule != IGNORED:
            getattr(self, f"_on_{rule}")(now, event)

    def _on_up(self, now: float, event: ExecutorReady) -> None:
        if self._is_of_another_build(now, event):
            return
        self._starts = 0
        self.state = SlotState.IDLE
        self._open(now)

    def _on_test_begins(self, now: float, event: ExecutorReady) -> None:
        """The respawned executor is up; its self-test decides."""
        self._is_of_another_build(now, event)

    def _is_of_another_build(self, now: float, event: ExecutorReady) -> bool:
        """Break when somebody has built the target anew meanwhile: what this executor finds is not
        of the program that the campaign explores."""
        self._build = self._build or event.build
        if event.build == self._build:
            return False
        self._death = None  # neither the item nor this host is to blame for it
        self._break(now, "target_changed", _CHANGED, _CHANGED_HINT)
        return True

    def _on_tested(self, now: float, event: SelfTestDone) -> None:
        if event.ok:
            self._starts = 0
            self.state = SlotState.IDLE
            self._account_death(selftest_ok=True)
            self._open(now)
        else:
            self._break(now, "selftest_failed", event.message, "see the engine's log")

    def _on_test_died(self, now: float, event: ExecutorGone) -> None:
        self.executor = None
        if self._was_killed(event):
            self._start(now, selftest=True)
            return
        self._break(now, "selftest_died", event.detail, "see the engine's log")

    def _on_cannot_run(self, now: float, event: ExecutorFailed) -> None:
        self.executor = None
        self._break(now, event.reason, event.message, event.hint)

    def _on_cannot_go_on(self, now: float, event: ExecutorFailed) -> None:
        """It has no space: the host is at fault, and the item goes back as one that did not run."""
        self._hard_at = None
        self._on_cannot_run(now, event)

    def _on_died_early(self, now: float, event: ExecutorGone) -> None:
        self.executor = None
        if self._starts < _STARTS_MAX or self._was_killed(event):
            self._start(now, selftest=False)
        else:
            self._break(now, "executor_dies", event.detail, "see the engine's log")

    def _was_killed(self, event: ExecutorGone) -> bool:
        """Whether somebody ended an executor before it was usable, and another is worth a try."""
        unexplained = is_unexplained(event.signal, memory_evidence=event.memory_evidence)
        return unexplained and self._starts < _KILLED_STARTS_MAX

    def _on_died_idle(self, now: float, _: ExecutorGone) -> None:
        self._start(now, selftest=True)

    def _on_progress(self, now: float, _: ExecutorProgress) -> None:
        assert self.current is not None
        self.current.moves += 1
        self._tell_progress(now)

    def _on_item_done(self, now: float, event: ExecutionDone) -> None:
        work_id, entry = self._running()
        self._hard_at = None
        self.state = SlotState.IDLE
        self._starts = 0
        result = event.result
        if result.outcome.is_verdict:
            # A1, L7: the input's id is what the target got; the item's is what arrived.
            self._settle_item(
                result
                if result.work_id == work_id
                else msgspec.structs.replace(result, work_id=work_id)
            )
        else:
            self._settle_item(Unsettled(work_id, input_id_of(entry.data), result.outcome.value))
        self._run_next(now)

    def _on_died_running(self, now: float, event: ExecutorGone) -> None:
        self._hard_at = None
        self._death = event
        self._start(now, selftest=True)

    def _on_killed(self, now: float, _: ExecutorGone) -> None:
        self.executor = None
        reason, self._kill_reason = self._kill_reason, None
        if reason is KillReason.STOP:
            self.state = SlotState.STOPPED
            if self.current is not None:
                self._cancel_item()
                self._finish(now)
            return
        if reason is KillReason.HARD_LIMIT and self.current is not None:
            work_id, entry = self._running()
            self._settle_item(timed_out(work_id, entry, self._timing.hard_limit_s))
            if self.current.next_item == len(self.current.entries):
                self._finish(now)  # the answer does not wait for the next executor
        if self.draining:
            self.state = SlotState.STOPPED
            self._finish(now)
        elif reason is KillReason.BROKEN:
            self.state = SlotState.BROKEN
        else:
            self._start(now, selftest=reason is KillReason.RESET)

    # ---- steps ------------------------------------------------------------------------------

    def _start(self, now: float, *, selftest: bool) -> None:
        assert self._setup is not None, "an executor starts after Welcome"
        self._starts += 1
        self.executor = self._fresh()
        self.state = SlotState.TESTING if selftest else SlotState.STARTING
        self._hard_at = None
        self._chronicle.note(now, f"start executor {self.executor:016x}", self.place)
        self._act(StartExecutor(self.place.slot, self.executor, self._setup, selftest))

    def _open(self, now: float) -> None:
        """The executor is usable: go on with the delivery, or say that there are places."""
        if self.draining:
            self._finish(now)
            self._retire(now)
        elif self.current is not None or self.waiting:
            self._run_next(now)
        elif not self.opened:
            # Once in a life: later on the coordinator knows the places, and a second statement
            # could cross a WORK.
            self.opened = True
            self._say_ready(now, None)

    def _run_next(self, now: float) -> None:
        """Start the next item, of the running delivery or of the next one."""
        if self.state is not SlotState.IDLE:
            return
        if self.current is not None and (
            self.draining
            or self.current.next_item == len(self.current.entries)
            # What is left of a bundle goes back, so that the RESULT fits into its frame.
            or self.current.held_bytes > self._body_bytes_max // 4
        ):
            self._finish(now)
        if self.draining:
            self._retire(now)
            return
        if self.current is None:
            if not self.waiting:
                return
            self.current = self.waiting.popleft()
            self.current.told_at = now
            self._send(self, Started(), self.current.token, False)
        number = self.current.next_item
        entry = self.current.entries[number]
        self.state = SlotState.RUNNING
        self._hard_at = now + self._timing.hard_limit_s
        self._chronicle.note(now, f"run item {number}", self.place, self.current.token)
        self._act(
            RunItem(
                self.place.slot,
                self.current.work_ids[number],
                entry.data,
                entry.payload,
                entry.solitary,
            )
        )

    def _running(self) -> tuple[WorkId, WorkEntry]:
        assert self.current is not None, "D3: what runs belongs to a delivery"
        number = self.current.next_item
        return self.current.work_ids[number], self.current.entries[number]

    def _settle_item(self, result: ItemResult) -> None:
        assert self.current is not None
        self.current.done.append(result)
        self.current.held_bytes += bytes_of(result)
        self.current.moves += 1

    def _cancel_item(self) -> None:
        if self.current is not None and self.current.next_item < len(self.current.entries):
            work_id, entry = self._running()
            self._settle_item(Unsettled(work_id, input_id_of(entry.data), "cancelled"))

    def _account_death(self, *, selftest_ok: bool) -> None:
        """Turn a death while running into evidence, now that the self-test has spoken."""
        death, self._death = self._death, None
        if death is None or self.current is None:
            return
        work_id, entry = self._running()
        self._settle_item(
            ExecutorDied(
                work_id,
                input_id_of(entry.data),
                death.executor,
                death.detail,
                death.signal,
                death.memory_evidence,
                selftest_ok,
            )
        )

    def _break(self, now: float, reason: str, message: str, hint: str) -> None:
        """The engine cannot run here: hand everything back and say so."""
        self.state = SlotState.BROKEN
        self._account_death(selftest_ok=False)
        self._finish(now)
        while self.waiting:
            self._conclude(now, self.waiting.popleft())
        self._send(self, WorkerFault(reason, message, hint), NO_TOKEN, False)
        self.ready = None
        if self.executor is not None:
            self._kill(now, KillReason.BROKEN)
        elif self.draining:
            self._retire(now)

    def _finish(self, now: float) -> None:
        if self.current is not None:
            assignment, self.current = self.current, None
            self._conclude(now, assignment)

    def _conclude(self, now: float, assignment: Assignment) -> None:
        """Send the one RESULT of a delivery, then READY with its token (J1)."""
        rest = assignment.work_ids[assignment.next_item :]
        results = [*assignment.done, *(NotRun(work_id) for work_id in rest)]
        assert len(results) == len(assignment.entries), "A6: each item is accounted for"
        settled = settle(assignment.token, results, self._body_bytes_max)
        self.unanswered[assignment.token] = Unanswered.said(settled, now, self._timing.repeat_s)
        while len(self.unanswered) > _UNANSWERED_MAX:
            self.unanswered.popitem(last=False)
        self._chronicle.note(now, "result", self.place, assignment.token)
        self._send_settled(self, settled, False)
        self._say_ready(now, assignment.token)

    def _say_ready(self, now: float, completed: DispatchToken | None) -> None:
        self.ready = Unanswered.said(completed, now, self._timing.repeat_s)
        self._send_ready(completed, repeat=False)

    def _send_ready(self, completed: DispatchToken | None, *, repeat: bool) -> None:
        self._send(self, Ready(completed, self._version()), completed or NO_TOKEN, repeat)

    def _tell_progress(self, now: float) -> None:
        current = self.current
        if (
            current is not None
            and current.moves > current.told
            and now >= current.told_at + self._timing.progress_s
        ):
            current.told, current.told_at = current.moves, now
            self._send(self, Progress(current.moves), current.token, False)

    def _kill(self, now: float, reason: KillReason) -> None:
        self._kill_reason = reason
        self._hard_at = None
        self.state = SlotState.KILLING
        self._chronicle.note(now, f"kill: {reason}", self.place)
        self._act(KillExecutor(self.place.slot))

    def _retire(self, now: float) -> None:
        """End the executor for good."""
        if self.executor is not None and self.state is not SlotState.KILLING:
            self._kill(now, KillReason.STOP)
        elif self.executor is None:
            self.state = SlotState.STOPPED

    def _remember(self, token: DispatchToken) -> None:
        self.seen[token] = None
        while len(self.seen) > _SEEN_MAX:
            self.seen.popitem(last=False)
