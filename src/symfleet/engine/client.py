"""A worker's end of the pipe to one executor.

The client never blocks and has no thread: `poll` moves bytes both ways and turns what arrived into
worker events. It owns the process: own session, dies with us, everything below it ended with it,
reaped always. What the engine says is judged by `dialogue.py`; an answer that makes no sense ends
the executor and is reported as `ExecutorGone(asked=False)`, which the blame rule judges.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from symfleet.engine import frames, processes
from symfleet.engine.capture import Capture
from symfleet.engine.dialogue import Dialogue, bytes_of_a_frame
from symfleet.engine.trees import remove_if_possible
from symfleet.errors import NO_SPACE_ERRNOS, DataError
from symfleet.protocol.events import (
    ExecutorFailed,
    ExecutorGone,
    RunItem,
    StartExecutor,
    WorkerEvent,
)
from symfleet.protocol.ranges import plain

_READ_BYTES: Final = 1 << 18
_READS_A_POLL: Final = 32
_MPI_PREFIXES: Final = ("OMPI_", "PMIX_", "PRTE_", "OPAL_", "HWLOC_")


class ExecutorClient:
    """One life of one executor on one slot."""

    def __init__(
        self,
        start: StartExecutor,
        *,
        work_dir: Path,
        log: Path,
        env: Mapping[str, str],
        frame_bytes: int,
    ) -> None:
        """Start the process. `work_dir` is made empty and removed at the end; `log` takes its
        standard error (bounded). `frame_bytes`: largest frame between ranks, in which its answers
        have to fit. Never raises for a program that cannot be started: the first `poll` says
        so."""
        self.slot = start.slot
        self.executor = start.executor
        self._work_dir = work_dir
        self._log_name = plain(f"{log.parent.name}/{log.name}")
        self._dialogue = Dialogue(start, str(log), *bytes_of_a_frame(frame_bytes))
        self._unsent = bytearray()
        self._memory_before = processes.oom_kills()
        self._capture = Capture(log)
        self._child: subprocess.Popen[bytes] | None = None
        self._not_started: ExecutorFailed | None = None
        self._gone = False
        remove_if_possible(work_dir)
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
            self._not_started = _why_not_started(start, work_dir, error)
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
        # What the host killed for memory in the hours before explains no death of now.
        self._memory_before = processes.oom_kills()
        self._queue(self._dialogue.run(item))

    def tell(self, edges: bytes) -> None:
        """Pass on edges that the campaign has."""
        self._queue(frames.Known(edges))

    def kill(self) -> None:
        """End the executor and everything below it now; ExecutorGone(asked=True) follows."""
        self._dialogue.asked = True
        if self._child is not None:
            processes.kill_group(self._child)

    def stop(self) -> None:
        """Let the executor end by itself: end of file on its standard input."""
        self._dialogue.asked = True
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
            return [] if self._not_started is None else [self._not_started]
        ended = processes.has_ended(self._child)
        self._flush()
        self._read_log()
        events: list[WorkerEvent] = []
        try:
            self._read_frames(events)
        except DataError as error:
            return [*events, self._end(plain(f"invalid answer: {error}"))]
        if self._dialogue.failed:
            return [*events, self._end("it cannot run here")]
        if ended:
            events.append(self._end(""))
        return events

    def close(self) -> None:
        """End the process without further events."""
        if not self._gone and self._child is not None:
            self.kill()
            self._end("")
        self._capture.close()
        remove_if_possible(self._work_dir)

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
            events += self._dialogue.hear(data)

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
        if self._capture.has_begun:
            detail += f" (its log: {self._log_name})"
        return ExecutorGone(
            slot=self.slot,
            executor=self.executor,
            detail=detail,
            signal=signum,
            asked=self._dialogue.asked,
            memory_evidence=processes.oom_kills() > self._memory_before,
        )


def _why_not_started(start: StartExecutor, work_dir: Path, error: OSError) -> ExecutorFailed:
    if error.errno in NO_SPACE_ERRNOS:
        said = frames.no_space(plain(str(work_dir)), error)
        return ExecutorFailed(start.slot, said.reason, said.message, said.hint)
    why = f"{plain(start.setup.engine[0])}: {error.strerror}"
    return ExecutorFailed(start.slot, "internal", why, "check that the engine is installed")
