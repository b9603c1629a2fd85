"""What an executor says, judged: bytes in, worker events out, no process and no pipe.

What the engine says is checked before it becomes an event (order, ids, digests, bounds), so that
the slot's machine meets each event in a state that it can come in, whatever an engine writes into
its pipe:

    hello ──ready──> selftest, when it was asked for ──> run ──started, progress, child──> done
      └──failure──> the end; a failure that comes later is a death like any other

An answer that makes no sense raises DataError: there is nothing more to be heard of that engine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, assert_never

from symfleet.engine import frames
from symfleet.errors import DataError
from symfleet.protocol.events import (
    ExecutionDone,
    ExecutorFailed,
    ExecutorProgress,
    ExecutorReady,
    RunItem,
    SelfTestDone,
    StartExecutor,
    WorkerEvent,
)
from symfleet.protocol.item_results import ChildReport, Executed, Flips
from symfleet.protocol.ranges import plain
from symfleet.protocol.work import decode_item, work_id_of
from symfleet.types import NO_SPACE, InputId, Outcome, WorkId, input_id_of, parse_input_id

_WORD_OVERHEAD: Final = 16
_EDGES_MAX: Final = 2**32
_FRAME_ROOM: Final = 256 << 10
"""What a frame holds beside one child: much more than its header and the words around it."""


@dataclass(slots=True)
class _Running:
    """The item that the executor runs."""

    id: int
    work_id: WorkId
    input_id: InputId
    children: list[ChildReport] = field(default_factory=list)
    bytes_left: int = 0


class Dialogue:
    """One life of one executor, as far as words go."""

    def __init__(
        self, start: StartExecutor, log: str, report_bytes_max: int, child_bytes_max: int
    ) -> None:
        """`log`: where people find the executor's own words. `report_bytes_max`: what may be said
        of an item beside its children. `child_bytes_max`: one child with its edges."""
        self.slot = start.slot
        self.executor = start.executor
        self.failed = False
        """It said that it cannot run here: nothing more is heard."""
        self.asked = False
        """It was told to end."""
        self._log = log
        self._limits = start.setup.limits
        self._report_bytes_max = report_bytes_max
        self._child_bytes_max = child_bytes_max
        self._reader = frames.FrameReader(frames.FROM_EXECUTOR)
        self.is_ready = False
        self.selftest_due = start.selftest
        self._running: _Running | None = None
        self._runs = 0

    def run(self, item: RunItem) -> frames.Run:
        """Return what hands over one item; one at a time. Raises DataError for a payload that is
        not one."""
        assert self._running is None, "an executor runs one item at a time"
        work = decode_item(item.payload)
        self._runs += 1
        self._running = _Running(
            id=self._runs,
            work_id=work_id_of(work),
            input_id=input_id_of(item.data),
            bytes_left=(self._limits.get("result_mib", 64) + 16) << 20,
        )
        focus = None if work.focus is None else list(work.focus)
        return frames.Run(self._runs, item.data, work.bound or 0, focus, item.solitary)

    def hear(self, data: bytes) -> Iterator[WorkerEvent]:
        """Take bytes of the pipe; yield what happened. Raises DataError for what makes no sense."""
        self._reader.feed(data)
        while not self.failed and (frame := self._reader.next()) is not None:
            event = self._take(frame)
            if event is not None:
                yield event

    def _take(  # noqa: PLR0911 - one return for each kind of frame
        self, frame: frames.FromExecutor
    ) -> WorkerEvent | None:
        match frame:
            case frames.Ready():
                self._require(not self.is_ready, "was ready twice")
                self.is_ready = True
                self._require(0 <= frame.edges <= _EDGES_MAX, "has no such coverage map")
                name, build = plain(frame.engine), plain(frame.build)
                return ExecutorReady(self.slot, self.executor, name, build, frame.edges)
            case frames.Failure():
                why = f"gave up: {frame.reason}: {frame.message}"
                ran = frame.reason == NO_SPACE and self._running is not None
                self._require((ran or not self.is_ready) and not self.asked, why)
                self.failed = True
                words = (plain(frame.reason), plain(frame.message), plain(frame.hint))
                return ExecutorFailed(self.slot, *words)
            case frames.SelfTestAnswer():
                self._require(self.is_ready and self.selftest_due, "answered no self-test")
                self.selftest_due = False
                return SelfTestDone(self.slot, frame.ok, plain(frame.message))
            case frames.Started():
                self._current(frame.id)
                return ExecutorProgress(self.slot, 0)
            case frames.Progress():
                self._current(frame.id)
                return ExecutorProgress(self.slot, frame.counter)
            case frames.Child():
                self._take_child(self._current(frame.id), frame)
                return None
            case frames.Done():
                running = self._current(frame.id)
                self._running = None
                self._require(_bytes_of(frame) <= self._report_bytes_max, "reported too much")
                return ExecutionDone(self.slot, _executed(running, frame))
            case _:
                assert_never(frame)

    def _require(self, holds: bool, what: str) -> None:
        """Raise DataError unless an answer comes where one may come."""
        if not holds:
            raise DataError(f"an executor {what}", where=self._log)

    def _current(self, run_id: int) -> _Running:
        if self._running is None or self._running.id != run_id:
            raise DataError(
                "an executor answered for an item that it does not run", where=self._log
            )
        return self._running

    def _take_child(self, running: _Running, child: frames.Child) -> None:
        running.bytes_left -= len(child.input) + len(child.edges)
        limit = self._limits.get("children", 4096)
        size = len(child.input) + len(child.edges) + 4 * len(child.how)
        self._require(size <= self._child_bytes_max, "reported a child that fits no frame")
        if running.bytes_left < 0 or len(running.children) >= limit:
            raise DataError("an executor reported more children than its limits allow")
        if hashlib.sha256(child.input).hexdigest() != child.digest:
            raise DataError("a child does not match its digest", where=plain(child.digest))
        running.children.append(
            ChildReport(
                digest=parse_input_id(child.digest),
                data=child.input,
                how=child.how,
                site=child.site,
                direction=child.direction,
                outcome=_outcome(child.outcome),
                signal=child.signal,
                edges=child.edges,
                unstable=child.unstable,
                wall_us=child.wall_us,
            )
        )


def bytes_of_a_frame(frame_bytes: int) -> tuple[int, int]:
    """Return what a report and what a child may take when frames between ranks are so large: an
    input that may enter fits with its edges, because it is a MiB smaller than a frame."""
    return frame_bytes // 2, frame_bytes - _FRAME_ROOM


def _bytes_of(done: frames.Done) -> int:
    """Return about how much a report takes in a frame, its children aside."""
    counted = (*done.how, *done.flips, *done.left_out)
    words = (*done.degraded, *done.opened, *counted, done.reason or "")
    return len(done.edges) + sum(4 * len(word) + _WORD_OVERHEAD for word in words)


def _outcome(text: str) -> Outcome:
    try:
        return Outcome(text)
    except ValueError as error:
        raise DataError("an executor reported an unknown outcome", where=text[:80]) from error


def _executed(running: _Running, done: frames.Done) -> Executed:
    unknown = set(done.flips) - {"sat", "unsat", "timeout", "unknown", "skipped"}
    if unknown:
        raise DataError("an executor counted unknown flips", where=", ".join(sorted(unknown)))
    return Executed(
        work_id=running.work_id,
        input_id=parse_input_id(done.digest),
        outcome=_outcome(done.outcome),
        exit_code=done.exit_code,
        signal=done.signal,
        edges=done.edges,
        unstable=done.unstable,
        generated=done.generated,
        dropped=done.dropped,
        children=tuple(running.children),
        flips=Flips(**done.flips),
        solved=done.how,
        executions=done.executions,
        solver_us=done.solver_us,
        wall_us=done.wall_us,
        cpu_us=done.cpu_us,
        rss_kib_max=done.rss_kib_max,
        degraded=tuple(done.degraded),
        truncated=done.truncated,
        reason=done.reason,
        opened=tuple(done.opened),
        left_out=done.left_out,
    )
