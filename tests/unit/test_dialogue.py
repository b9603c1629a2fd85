"""What an engine may say when, and what it may not: nothing that it writes reaches the machine in a
state that has no place for it."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from symfleet.engine import frames
from symfleet.engine.dialogue import Dialogue, bytes_of_a_frame
from symfleet.errors import DataError
from symfleet.protocol.events import (
    ExecutionDone,
    ExecutorFailed,
    ExecutorReady,
    RunItem,
    SelfTestDone,
    StartExecutor,
    WorkerEvent,
)
from symfleet.protocol.setup import Knobs
from symfleet.testing.coordinator_bench import ENGINE, admission
from symfleet.types import NO_SPACE, Incarnation

DATA = b"input"
READY = frames.Ready("engine 1", 8, "00", 1)
TESTED = frames.SelfTestAnswer(ok=True, message="")
FULL = frames.no_space("/x", OSError(errno.ENOSPC, "full"))
FAILURE = frames.Failure("no_memory", "out of\0memory" + "x" * 10_000, "hint")
REPORT_BYTES_MAX = 10_000
CHILD_BYTES_MAX = 11_000


def done(**changed: Any) -> frames.Done:
    digest = hashlib.sha256(DATA).hexdigest()
    first: tuple[Any, ...] = (1, digest, "ok", 0, 0, b"", 0, 0, 0, {}, {}, 1, 0, 1, 1, 1)
    return msgspec.structs.replace(frames.Done(*first), **changed)


def child(**changed: Any) -> frames.Child:
    digest = hashlib.sha256(b"child").hexdigest()
    first = (1, b"child", digest, "scan", 0, 0, "ok", 0, b"", 0, 1)
    return msgspec.structs.replace(frames.Child(*first), **changed)


def talk(*, selftest: bool = False, running: bool = False) -> Dialogue:
    start = StartExecutor(0, Incarnation(7), ENGINE, selftest)
    dialogue = Dialogue(start, "its log", REPORT_BYTES_MAX, CHILD_BYTES_MAX)
    if running:
        hear(dialogue, READY)
        item = admission(DATA)
        dialogue.run(RunItem(0, item.work_id, DATA, item.payload, False))
    return dialogue


def hear(dialogue: Dialogue, *said: frames.FromExecutor) -> Sequence[WorkerEvent]:
    return list(dialogue.hear(b"".join(map(frames.encode_frame, said))))


def test_an_engine_is_ready_tested_and_runs() -> None:
    dialogue = talk(selftest=True)
    assert [type(event) for event in hear(dialogue, READY, TESTED)] == [ExecutorReady, SelfTestDone]
    running = talk(running=True)
    (event,) = hear(running, child(), done(generated=1))
    assert isinstance(event, ExecutionDone)
    assert [one.data for one in event.result.children] == [b"child"]


def test_an_engine_that_cannot_run_says_so_once_in_bounded_words() -> None:
    dialogue = talk()
    (event,) = hear(dialogue, FAILURE, READY, FAILURE)
    assert isinstance(event, ExecutorFailed)
    assert dialogue.failed
    assert "\0" not in event.message
    assert len(event.message) <= 500


@pytest.mark.guarantee("A2")
def test_an_engine_without_space_may_say_so_while_it_runs_an_item_only() -> None:
    (event,) = hear(talk(running=True), child(), FULL, done())
    assert isinstance(event, ExecutorFailed)
    assert event.reason == NO_SPACE


@pytest.mark.parametrize(
    "said",
    [
        (READY, FULL),
        (READY, READY),
        (TESTED,),
        (READY, TESTED),
        (READY, FAILURE),
        (READY, frames.Started(1)),
        (READY, done()),
        (READY, child()),
        (msgspec.structs.replace(READY, edges=-1),),
    ],
)
def test_words_that_may_not_come_yet_or_no_more_make_no_sense(
    said: tuple[frames.FromExecutor, ...],
) -> None:
    with pytest.raises(DataError):
        hear(talk(), *said)


@pytest.mark.guarantee("A6")
@pytest.mark.parametrize(
    "said",
    [
        (READY,),
        (FAILURE,),
        (done(id=2),),
        (done(), done()),
        (done(digest="0"),),
        (done(outcome="fine"),),
        (done(flips={"maybe": 1}),),
        (done(reason="x" * 3_000),),
        (done(edges=bytes(4 * 3_000)),),
        (done(opened=["/dev/null"] * 500),),
        (child(digest="0" * 64),),
        (child(how="x" * 3_000),),
        (child(edges=bytes(4 * 3_000)),),
    ],
)
def test_a_report_that_contradicts_itself_or_fits_no_frame_makes_no_sense(
    said: tuple[frames.FromExecutor, ...],
) -> None:
    with pytest.raises(DataError):
        hear(talk(running=True), *said)


def test_every_input_that_may_enter_fits_a_frame_with_its_edges() -> None:
    for frame_mib in range(2, 40):
        for input_mib in range(1, min(16, frame_mib - 1) + 1):
            knobs = Knobs(frame_mib=frame_mib, input_mib=input_mib)
            _, child_bytes_max = bytes_of_a_frame(knobs.frame_bytes)
            assert child_bytes_max >= knobs.input_bytes + 512 * 1024
            assert child_bytes_max < knobs.frame_bytes


@pytest.mark.parametrize("body", [b"\x82\xa1x" + b"\x91" * 5_000 + b"\xc0\xa1t\xa5ready", b"\xc1"])
def test_bytes_that_are_no_frame_make_no_sense(body: bytes) -> None:
    with pytest.raises(DataError):
        list(talk().hear(len(body).to_bytes(4, "little") + body))
