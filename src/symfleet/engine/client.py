"""A worker's end of the pipe to one executor.

The client never blocks and has no thread: `poll` moves bytes both ways and turns what arrived into
worker events. It owns the process: own session, dies with us, everything below it ended with it,
reaped always. What the engine says is checked before it becomes an event (ids, digests, bounds);
an answer that makes no sense ends the executor and is reported as `ExecutorGone(asked=False)`,
which the blame rule judges.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, assert_never

from symfleet.engine import frames, processes
from symfleet.engine.capture import Capture
from symfleet.errors import DataError
from symfleet.protocol.events import (
    ExecutionDone,
    ExecutorFailed,
    ExecutorGone,
    ExecutorProgress,
    ExecutorReady,
    RunItem,
    SelfTestDone,
    StartExecutor,
    WorkerEvent,
)
from symfleet.protocol.messages import ChildReport, Executed, Flips
from symfleet.protocol.work import decode_item, work_id_of
from symfleet.types import InputId, Outcome, WorkId, input_id_of, parse_input_id

_READ_BYTES: Final = 1 << 18
_READS_A_POLL: Final = 32
_MPI_PREFIXES: Final = ("OMPI_", "PMIX_", "PRTE_", "OPAL_", "HWLOC_")


@dataclass(slots=True)
class _Running:
    """The item that the executor runs."""

    id: int
    work_id: WorkId
    input_id: InputId
    children: list[ChildReport] = field(default_factory=list)
    bytes_left: int = 0


class ExecutorClient:
    """One life of one executor on one slot."""

    def __init__(
        self, start: StartExecutor, *, work_dir: Path, log: Path, env: Mapping[str, str]
    ) -> None:
        """Start the process. `work_dir` is made empty and removed at the end; `log` takes its
        standard error (bounded). Never raises for a program that cannot be started: the first
        `poll` says so."""
        self.slot = start.slot
        self.executor = start.executor
        self._setup = start.setup
        self._work_dir = work_dir
        self._reader = frames.FrameReader(frames.FROM_EXECUTOR)
        self._unsent = bytearray()
        self._running: _Running | None = None
        self._runs = 0
        self._asked = False
        self._memory_before = processes.oom_kills()
        self._capture = Capture(log)
        self._child: subprocess.Popen[bytes] | None = None
        self._start_error = ""
        self._gone = False
        shutil.rmtree(work_dir, ignore_errors=True)
        try:
            work_dir.mkdir(parents=True)
            self._child = processes.start_child(
                start.setup.engine,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={k: v for k, v in env.items() if not k.startswith(_MPI_PREFIXES)},
            )
        except OSError as error:
            self._start_error = f"{start.setup.engine[0]}: {error.strerror}"
            return
        for pipe in (self._child.stdin, self._child.stdout, self._child.stderr):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        self._queue(
            frames.Hello(
                protocol=frames.PROTOCOL_VERSION,
                argv=list(start.setup.argv),
                input_mode=start.setup.input_mode,
                work_dir=str(work_dir),
                keep=start.setup.keep,
                limits=start.setup.limits,
                seed=start.setup.seed,
                env=start.setup.env,
            )
        )
        if start.selftest:
            self._queue(frames.SelfTestRequest())

    # ---- what the worker asks for ------------------------------------------------------------

    @property
    def pid(self) -> int | None:
        """Process id while the process is ours."""
        return None if self._child is None or self._gone else self._child.pid

    @property
    def is_gone(self) -> bool:
        """Whether ExecutorGone (or ExecutorFailed without a process) was reported."""
        return self._gone

    def filenos(self) -> list[int]:
        """Descriptors whose readability means that `poll` has something to do."""
        if self._child is None or self._gone:
            return []
        return [p.fileno() for p in (self._child.stdout, self._child.stderr) if p is not None]

    def run(self, item: RunItem) -> None:
        """Hand over one item; one at a time. Raises DataError for a payload that is not one."""
        assert self._running is None, "an executor runs one item at a time"
        work = decode_item(item.payload)
        self._runs += 1
        self._running = _Running(
            id=self._runs,
            work_id=work_id_of(work),
            input_id=input_id_of(item.data),
            bytes_left=(self._setup.limits.get("result_mib", 64) + 16) << 20,
        )
        focus = None if work.focus is None else list(work.focus)
        self._queue(frames.Run(self._runs, item.data, work.bound or 0, focus, item.solitary))

    def tell(self, edges: bytes) -> None:
        """Pass on edges that the campaign has."""
        self._queue(frames.Known(edges))

    def kill(self) -> None:
        """End the executor and everything below it now; ExecutorGone(asked=True) follows."""
        self._asked = True
        if self._child is not None:
            processes.kill_group(self._child)

    def stop(self) -> None:
        """Let the executor end by itself: end of file on its standard input."""
        self._asked = True
        self._unsent.clear()
        if self._child is not None and self._child.stdin is not None:
            self._child.stdin.close()

    # ---- the pipe ----------------------------------------------------------------------------

    def poll(self) -> list[WorkerEvent]:
        """Move bytes, return what happened. Costs a few system calls when nothing did."""
        if self._gone:
            return []
        if self._child is None:
            self._gone = True
            return [
                ExecutorFailed(
                    self.slot, "internal", self._start_error, "check that the engine is installed"
                )
            ]
        ended = processes.has_ended(self._child)
        self._flush()
        self._read_log()
        events: list[WorkerEvent] = []
        try:
            self._read_frames(events)
        except DataError as error:
            return [*events, self._end(f"invalid answer: {error}")]
        if ended:
            events.append(self._end(""))
        return events

    def close(self) -> None:
        """End the process without further events."""
        if not self._gone and self._child is not None:
            self.kill()
            self._end("")
        self._capture.close()
        shutil.rmtree(self._work_dir, ignore_errors=True)

    def _queue(self, frame: frames.FromWorker) -> None:
        self._unsent += frames.encode_frame(frame)
        self._flush()

    def _flush(self) -> None:
        child = self._child
        if child is None or child.stdin is None or child.stdin.closed:
            return
        while self._unsent:
            try:
                sent = os.write(child.stdin.fileno(), self._unsent[:_READ_BYTES])
            except BlockingIOError:
                return
            except BrokenPipeError:  # it is ending: the next poll tells
                self._unsent.clear()
                return
            del self._unsent[:sent]

    def _read_log(self) -> None:
        assert self._child is not None
        assert self._child.stderr is not None
        with contextlib.suppress(BlockingIOError):
            for _ in range(_READS_A_POLL):
                data = os.read(self._child.stderr.fileno(), _READ_BYTES)
                if not data:
                    return
                self._capture.write(data)

    def _read_frames(self, events: list[WorkerEvent]) -> None:
        assert self._child is not None
        assert self._child.stdout is not None
        for _ in range(_READS_A_POLL):
            try:
                data = os.read(self._child.stdout.fileno(), _READ_BYTES)
            except BlockingIOError:
                return
            if not data:
                return
            self._reader.feed(data)
            while (frame := self._reader.next()) is not None:
                event = self._take(frame)
                if event is not None:
                    events.append(event)

    def _end(self, detail: str) -> ExecutorGone:
        """Kill what is left, reap, and say how it ended."""
        assert self._child is not None
        invalid = bool(detail)
        if not processes.has_ended(self._child):
            processes.kill_group(self._child)
        code, _ = processes.reap(self._child)
        self._read_log()
        for pipe in (self._child.stdin, self._child.stdout, self._child.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._gone = True
        signum = 0 if invalid or code >= 0 else -code
        if not invalid:
            detail = f"ended with {code}" if code >= 0 else f"ended by signal {signum}"
        return ExecutorGone(
            slot=self.slot,
            executor=self.executor,
            detail=detail,
            signal=signum,
            asked=self._asked,
            memory_evidence=processes.oom_kills() > self._memory_before,
        )

    # ---- frames to events --------------------------------------------------------------------

    def _take(  # noqa: PLR0911 - one return for each kind of frame
        self, frame: frames.FromExecutor
    ) -> WorkerEvent | None:
        match frame:
            case frames.Ready():
                return ExecutorReady(
                    self.slot, self.executor, frame.engine, frame.build, frame.edges
                )
            case frames.Failure():
                return ExecutorFailed(self.slot, frame.reason, frame.message, frame.hint)
            case frames.SelfTestAnswer():
                return SelfTestDone(self.slot, frame.ok, frame.message)
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
                return ExecutionDone(self.slot, _executed(running, frame))
            case _:
                assert_never(frame)

    def _current(self, run_id: int) -> _Running:
        if self._running is None or self._running.id != run_id:
            raise DataError("an executor answered for an item that it does not run", where=self.log)
        return self._running

    @property
    def log(self) -> str:
        """Where this executor's own words are kept."""
        return str(self._capture.path)

    def _take_child(self, running: _Running, child: frames.Child) -> None:
        running.bytes_left -= len(child.input) + len(child.edges)
        limit = self._setup.limits.get("children", 4096)
        if running.bytes_left < 0 or len(running.children) >= limit:
            raise DataError("an executor reported more children than its limits allow")
        if hashlib.sha256(child.input).hexdigest() != child.digest:
            raise DataError("a child does not match its digest", where=child.digest)
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
    )
