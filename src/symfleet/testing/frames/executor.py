"""Spoilt frames between a worker and an executor, in both directions.

*To the worker.* A client's dialogue, whose pipe a test fills, drives a worker's machine. Whatever
comes out of the pipe, nothing raises, the machine's invariants hold, and every
RESULT that leaves fits into its frame and accounts for each item of its delivery.

*To an executor.* A real executor process gets a spoilt stream. It may refuse it and end; it must
not die by a signal, and under a sanitizer it must not say anything.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import select
import subprocess
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from symfleet.engine import frames
from symfleet.engine.dialogue import Dialogue, bytes_of_a_frame
from symfleet.errors import DataError
from symfleet.protocol.events import (
    ExecutorGone,
    KillExecutor,
    RunItem,
    StartExecutor,
    WorkerAction,
    WorkerEvent,
)
from symfleet.protocol.messages import Result
from symfleet.protocol.ranges import plain
from symfleet.testing.frames.mutate import Spoilt, spoil_value
from symfleet.testing.frames.target import Report
from symfleet.testing.worker_bench import WorkerBench

FRAMES_A_LIFE: Final = 30
_LENGTH_BYTES: Final = 4
_QUIET_S: Final = 0.3
"""An executor that says nothing for so long waits for more."""


def honest_answers(run_id: int, data: bytes) -> Sequence[frames.FromExecutor]:
    """Return what an engine says of an input, from its first word on."""
    child = data + b"c"
    digest = hashlib.sha256(data).hexdigest()
    return (
        frames.Ready("fuzz 1", 8, "00", 1),
        frames.SelfTestAnswer(ok=True, message=""),
        frames.Started(run_id),
        frames.Progress(run_id, 7),
        frames.Child(
            *(run_id, child, hashlib.sha256(child).hexdigest(), "scan", 2**63, 1),
            *("ok", 0, b"\0\0\0\0", 0, 5),
        ),
        frames.Done(
            *(run_id, digest, "ok", 0, 0, b"\x08\0\0\0", 0, 1, 0),
            *({"sat": 1}, {"scan": 1}, 2, 1, 1, 1, 1),
        ),
        frames.Failure("internal", "m", "h"),
    )


def spoil(draw: random.Random, frame: frames.FromWorker | frames.FromExecutor) -> Spoilt:
    """Change a frame's structure, its bytes, or its length."""
    body = frames.encode_frame(frame)[_LENGTH_BYTES:]
    if draw.random() < 0.1:
        length = draw.choice((0, len(body) - 1, len(body) + 1, 2**31, 2**32 - 1))
        return Spoilt("length", length.to_bytes(_LENGTH_BYTES, "little") + body)
    how, spoilt = spoil_value(draw, msgspec.msgpack.decode(body))
    return Spoilt(how, len(spoilt).to_bytes(_LENGTH_BYTES, "little") + spoilt)


# ---- to the worker ------------------------------------------------------------------------------


class _Life:
    """One worker with one slot, whose executors are whatever a test says."""

    def __init__(self) -> None:
        self.bench = WorkerBench(slots=1)
        self._talk: Dialogue | None = None
        self._soon: list[WorkerEvent] = []
        self._runs = 0
        self._data = b""
        self._owed: dict[str, int] = {}
        self.bench.start()
        self._carry_out(self.bench.step(self.bench.frame(self.bench.welcome(), slot=None)))

    @property
    def over(self) -> bool:
        """Whether the slot has given its engine up."""
        return self._talk is None

    def _carry_out(self, actions: Sequence[WorkerAction]) -> None:
        for action in actions:
            match action:
                case StartExecutor():
                    self._talk = Dialogue(
                        action, "a log", *bytes_of_a_frame(self.bench.knobs.frame_bytes)
                    )
                    self._runs = 0
                case RunItem():
                    assert self._talk is not None
                    self._talk.run(action)
                    self._runs += 1
                    self._data = action.data
                case KillExecutor() if self._talk is not None:
                    self._talk.asked = True
                    self._soon.append(self._end(self._talk))
                case _:
                    pass

    def _end(self, talk: Dialogue, detail: str = "") -> ExecutorGone:
        """As the client says it, whose process is gone by then."""
        self._talk = None
        return ExecutorGone(talk.slot, talk.executor, detail, 0, talk.asked, memory_evidence=False)

    def _step(self, *events: WorkerEvent) -> None:
        """Let the machine hear events, and do what it asks for."""
        while events or self._soon:
            soon, self._soon = self._soon, []
            self._carry_out(self.bench.step(*soon, *events))
            self._check()
            events = ()

    def give(self, *inputs: bytes) -> None:
        """Give it a delivery."""
        token, work = self.bench.work(*inputs)
        self._owed[token] = len(inputs)
        self._step(work)

    def answer(self, data: bytes) -> None:
        """Let its executor say something."""
        talk, events = self._talk, list[WorkerEvent]()
        if talk is None:
            return
        try:
            events += talk.hear(data)
        except DataError as error:
            events.append(self._end(talk, plain(f"invalid answer: {error}")))
        if talk.failed:
            events.append(self._end(talk, "it cannot run here"))
        self._step(*events)

    def draw_answer(self, draw: random.Random) -> frames.FromExecutor:
        """Return what an honest engine would say next, or now and then at another time."""
        answers, talk = honest_answers(self._runs, self._data), self._talk
        if talk is None or draw.random() < 0.1:
            return draw.choice(answers)
        if not talk.is_ready:
            return answers[0]
        return answers[1] if talk.selftest_due else draw.choice(answers[2:6])

    def _check(self) -> None:
        """A6: whatever its engine said, a delivery ends in one RESULT with an entry per item."""
        for header, message in self.bench.said():
            if isinstance(message, Result):
                assert len(message.items) == self._owed.pop(header.token), "A6"


def garbage_to_worker(seed: str, count: int) -> Report:
    """Send `count` frames, sound and spoilt in turns, to workers; return what was wrong."""
    draw, report = random.Random(seed), Report()
    while report.frames < count:
        life = _Life()
        life.give(*(b"input %d" % number for number in range(draw.randrange(1, 4))))
        for _ in range(FRAMES_A_LIFE):
            honest, frame = draw.random() < 0.5, life.draw_answer(draw)
            spoilt = Spoilt("sound", frames.encode_frame(frame)) if honest else spoil(draw, frame)
            report.frames += 1
            report.ways[spoilt.how] += 1
            report.kinds[type(frame).__name__] += 1
            try:
                life.answer(spoilt.data)
            except Exception:  # noqa: BLE001 - whatever it is, it must not be
                report.exceptions += 1
                trace = traceback.format_exc()[-3000:]
                report.violation("an exception in the worker", spoilt, traceback=trace)
                break
            if life.over:
                break
        report.campaigns += 1
    return report


# ---- to an executor -----------------------------------------------------------------------------


def honest_requests(argv: Sequence[str], work_dir: Path) -> Sequence[frames.FromWorker]:
    """Return what a worker says to an executor."""
    limits: dict[str, int] = {
        "wall_ms": 2000,
        "cpu_ms": 2000,
        "rss_mib": 512,
        "output_kib": 1024,
        "open_files": 64,
        "rows": 1 << 12,
        "events": 1 << 10,
        "solver_rlimit": 100_000,
        "solver_ms": 100,
        "goals": 16,
        "execution_ms": 2000,
        "children": 16,
        "result_mib": 1,
        "input_bytes": 1 << 12,
    }
    return (
        frames.Hello(1, list(argv), "file", str(work_dir), "novel", limits, 1, {"NAME": "value"}),
        frames.SelfTestRequest(),
        frames.Known(b"\x08\0\0\0\x10\0\0\0"),
        frames.Run(1, b"\0" * 24, 0, [(0, 3)], solitary=False),
    )


def stream(draw: random.Random, requests: Sequence[frames.FromWorker]) -> tuple[str, bytes]:
    """Return a conversation in which at least one frame is spoilt."""
    chosen = list(requests[: draw.randrange(1, len(requests) + 1)])
    if draw.random() < 0.2:
        draw.shuffle(chosen)
    at = draw.randrange(len(chosen))
    parts = [frames.encode_frame(frame) for frame in chosen]
    spoilt = spoil(draw, chosen[at])
    parts[at] = spoilt.data
    whole = b"".join(parts)
    if draw.random() < 0.1:
        return "cut", whole[: draw.randrange(len(whole))]
    return spoilt.how, whole


def garbage_to_executor(
    command: Sequence[str],
    argv: Sequence[str],
    folder: Path,
    seed: str,
    count: int,
    *,
    env: dict[str, str],
    within_s: float = 30.0,
) -> Report:
    """Start an executor for each of `count` spoilt streams; return what was wrong with its ends."""
    draw, report = random.Random(seed), Report()
    for number in range(count):
        work_dir = folder / str(number)
        work_dir.mkdir()
        how, data = stream(draw, honest_requests(argv, work_dir))
        report.frames += 1
        report.ways[how] += 1
        code, said = _converse(command, data, env, within_s)
        report.refused[f"ends with {code}"] += 1
        spoilt = Spoilt(how, data)
        if code is None:
            report.violation("the executor does not end", spoilt)
        elif code < 0 or b"Sanitizer" in said or b"runtime error" in said:
            report.exceptions += 1
            text = said[-3000:].decode("utf-8", "replace")
            report.violation("the executor broke", spoilt, code=code, said=text)
    return report


def _converse(
    command: Sequence[str], data: bytes, env: dict[str, str], within_s: float
) -> tuple[int | None, bytes]:
    """Write a stream, close it, read everything; return exit code (None: killed) and log."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        start_new_session=True,
    )
    try:
        # An executor ends at the end of its input: it must have had time to answer before.
        assert process.stdin is not None
        assert process.stdout is not None
        os.set_blocking(process.stdin.fileno(), False)
        _talk(process, data, time.monotonic() + within_s)
        _, said = process.communicate(timeout=within_s)
    except subprocess.TimeoutExpired:
        process.kill()
        _, said = process.communicate()
        return None, said
    return process.returncode, said


def _talk(process: subprocess.Popen[bytes], data: bytes, deadline: float) -> None:
    """Write what there is; then wait for silence, or for its end."""
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    rest = memoryview(data)
    with contextlib.suppress(BrokenPipeError):
        while rest and time.monotonic() < deadline:
            select.select([], [stdin], [], 0.1)
            with contextlib.suppress(BlockingIOError):
                rest = rest[os.write(stdin.fileno(), rest) :]
    while time.monotonic() < deadline:
        ready, _, _ = select.select([stdout], [], [], _QUIET_S)
        if not ready or not os.read(stdout.fileno(), 1 << 16):
            return
