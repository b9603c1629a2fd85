"""The executor protocol, spoken by the native executor."""

from __future__ import annotations

import hashlib
import signal
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from symfleet.engine import frames
from symfleet.errors import ExitCode
from symfleet.testing.small_disk import SmallDisk
from symfleet.types import NO_SPACE

Start = Callable[[], Any]
MAGIC = [0xDEADBEEF, 0x0BADCAFE, 0x12345678, 0xFEEDFACE, 0x8BADF00D, 0xC001D00D]
ALL_BUT_THE_DOOR = struct.pack("<2040I", *(edge for edge in range(2048) if edge // 8 != 123))
SECOND_TURN = 1 << 32
TURNS_MAX = 16


def test_nested_compares_are_solved_one_after_the_other(start: Start, fake_target: str) -> None:
    executor = start()
    ready = executor.hello([fake_target, "magic", "@@"])
    assert ready == frames.Ready(ready.engine, 2048, "1122334455667788", executor.process.pid)
    data = b"\0" * 24
    outcomes = []
    for depth in range(6):
        answer = executor.run(data)
        assert answer.done.digest == hashlib.sha256(data).hexdigest()
        (child,) = answer.children
        assert child.input == struct.pack("<6I", *MAGIC[: depth + 1], *[0] * (5 - depth))
        assert child.digest == hashlib.sha256(child.input).hexdigest()
        assert (child.site, child.direction, child.how) == (10 + depth, 1, "inversion")
        data = child.input
        outcomes.append(child.outcome)
    assert outcomes == ["ok"] * 5 + ["crash"]
    assert child.signal == signal.SIGABRT


def test_the_input_arrives_on_standard_input_too(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "magic"], input_mode="stdin")
    for _ in range(2):  # rewound for each run
        answer = executor.run(b"\0" * 24)
        assert answer.done.events == 1
    assert executor.run(struct.pack("<6I", *MAGIC)).done.outcome == "crash"


def test_what_no_cheap_step_solves_is_solved_by_z3(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "arithmetic", "@@"])
    children = {child.site: child for child in executor.run(b"\0" * 4).children}
    assert children[21].how == "smt"
    assert int.from_bytes(children[21].input, "little") == 123456


def test_a_contradiction_is_unsat_and_tried_without_its_path(
    start: Start, fake_target: str
) -> None:
    executor = start()
    executor.hello([fake_target, "contradiction", "@@"])
    done = executor.run(b"\0").done
    assert done.flips["unsat"] == 1
    assert done.how["optimistic"] == 1


def test_bytes_that_the_target_missed_are_added(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "hungry", "@@"])
    (child,) = executor.run(b"abc").children
    assert (child.how, child.input) == ("resize", b"abc\0\0\0\0\0")
    (grandchild,) = executor.run(child.input).children
    assert grandchild.input[:1] == b"x"


def test_only_children_with_new_edges_are_sent(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "classes", "@@"])
    first = executor.run(b"aaaa")
    assert first.children
    again = executor.run(b"aaaa")
    assert not again.children
    assert again.done.reason == "already_covered"


def test_known_edges_are_not_news(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "classes", "@@"])
    everything = struct.pack("<2048I", *range(2048))
    executor.send(frames.Known(everything))
    answer = executor.run(b"aaaa")
    assert not answer.children
    assert answer.done.dropped == answer.done.generated > 0


def test_bound_and_focus_choose_the_goals(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "classes", "@@"])
    (child,) = executor.run(b"zzzz", bound=3).children
    assert child.input[:3] == b"zzz"
    other = start()
    other.hello([fake_target, "classes", "@@"])
    (child,) = other.run(b"zzzz", focus=[(1, 1)]).children
    assert [a == b for a, b in zip(child.input, b"zzzz", strict=True)] == [True, False, True, True]


def test_candidates_without_a_new_edge_are_followed_one_branch_further(
    start: Start, fake_target: str
) -> None:
    executor = start()
    executor.hello([fake_target, "keywords", "@@"])
    assert executor.run(b"x?").inputs == [b"a?", b"b("]


def test_what_a_quick_search_leaves_is_found_in_later_turns(start: Start, fake_target: str) -> None:
    """Another slot told of every edge on the way: only the last step is news."""
    executor = start()
    executor.hello([fake_target, "door", "@@"])
    executor.send(frames.Known(ALL_BUT_THE_DOOR))
    bounds, found = [0], list[bytes]()
    while len(bounds) <= TURNS_MAX:
        answer = executor.run(b"......", bound=bounds[-1])
        found += answer.inputs
        if answer.done.truncated is None:
            break
        bounds.append(answer.done.truncated)
    assert found == [b"sesame"]
    assert bounds == [turn * SECOND_TURN for turn in range(len(bounds))]
    assert len(bounds) <= TURNS_MAX  # six steps have an end


def test_a_new_process_takes_up_the_turns_of_one_that_died(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "door", "@@"])
    executor.send(frames.Known(ALL_BUT_THE_DOOR))
    answer = executor.run(b"......", bound=7 * SECOND_TURN)
    assert answer.inputs == [b"sesame"]


def test_keeping_all_knows_no_turns(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "door", "@@"], keep="all")
    answer = executor.run(b"......")
    assert answer.inputs == [b"s....."]
    assert answer.done.truncated is None


def test_a_counted_limit_truncates_and_names_the_next_goal(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "classes", "@@"], goals=2)
    first = executor.run(b"zzzzzz")
    assert first.done.truncated == 2
    assert first.done.degraded == ["goals"]
    assert executor.run(b"zzzzzz", bound=2).done.truncated == 4
    last = executor.run(b"zzzzzz", bound=4).done
    assert (last.truncated, last.degraded) == (SECOND_TURN, [])


def test_row_and_event_caps_degrade_and_do_not_end_a_run(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "classes", "@@"], rows=16, events=16)
    done = executor.run(b"aaaaaaaa").done
    assert done.outcome == "ok"
    assert "rows" in done.degraded


def test_progress_is_told_while_a_run_lasts(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "spin", "@@"], wall_ms=300, cpu_ms=5000)
    answer = executor.run(b"x")
    assert answer.progress == sorted(set(answer.progress))


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["/nonexistent/program"], "target_missing"),
        (["/etc/passwd"], "target_not_executable"),
        (["/bin/true"], "not_instrumented"),
        (["FAKE", "early"], "target_dies"),
        (["FAKE", "version"], "abi_mismatch"),
    ],
)
def test_a_target_that_cannot_be_served_is_a_failure_with_a_hint(
    program: Path, tmp_path: Path, fake_target: str, argv: list[str], reason: str, start: Start
) -> None:
    executor = start()
    failure = executor.hello([fake_target if part == "FAKE" else part for part in argv])
    assert isinstance(failure, frames.Failure)
    assert failure.reason == reason
    assert failure.hint
    if reason == "target_dies":
        assert "cannot open shared object file" in failure.message
    assert executor.process.wait(30) in (64, 65)


@pytest.mark.guarantee("A2")
def test_an_input_that_finds_no_space_is_a_failure_of_the_host(
    start: Callable[[Path], Any], small_disk: Callable[[str], SmallDisk], fake_target: str
) -> None:
    disk = small_disk("2m")
    executor = start(disk.folder)
    executor.hello([fake_target, "magic", "@@"])
    assert executor.run(b"\0" * 24).done.outcome == "ok"
    disk.fill()
    executor.send(frames.Run(2, b"\0" * 20_000, 0, None, solitary=False))
    assert executor.receive() == frames.Started(2)
    failure = executor.receive()
    assert isinstance(failure, frames.Failure)
    assert failure.reason == NO_SPACE
    assert str(disk.folder) in failure.message
    assert executor.process.wait(30) == ExitCode.IO
    assert list(executor.work_dir.iterdir()) == []


@pytest.mark.parametrize(
    "body",
    [
        b"\xc1",
        msgspec.msgpack.encode([1, 2]),
        msgspec.msgpack.encode({"t": "dance"}),
        msgspec.msgpack.encode({"t": "known"}),
        msgspec.msgpack.encode({"t": "known", "edges": b"", "more": 1}),
        msgspec.msgpack.encode({"t": "known", "edges": b"123"}),
        msgspec.msgpack.encode({"t": "known", "edges": b"\xff\xff\xff\xff"}),
        msgspec.msgpack.encode(
            {"t": "run", "id": -1, "input": b"", "bound": 0, "focus": None, "solitary": False}
        ),
        msgspec.msgpack.encode(
            {"t": "run", "id": 1, "input": "", "bound": 0, "focus": None, "solitary": False}
        ),
        msgspec.msgpack.encode(
            {"t": "run", "id": 1, "input": b"", "bound": 0, "focus": [[1]], "solitary": False}
        ),
    ],
)
def test_a_frame_that_is_none_ends_the_executor(
    start: Start, fake_target: str, body: bytes
) -> None:
    executor = start()
    executor.hello([fake_target, "magic", "@@"])
    executor.send_bytes(struct.pack("<I", len(body)) + body)
    failure = executor.receive()
    assert isinstance(failure, frames.Failure)
    assert failure.reason == "internal"
    assert executor.process.wait(30) == 70


def test_stop_ends_with_0_and_selftest_is_content(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "magic", "@@"])
    executor.send(frames.SelfTestRequest())
    assert executor.receive() == frames.SelfTestAnswer(True, "")
    executor.send(frames.StopRequest())
    assert executor.process.wait(30) == 0


@pytest.mark.parametrize("how", ["end of file", "SIGKILL"])
def test_nothing_is_left_when_the_worker_goes_during_a_run(
    start: Start, own_target: str, none_left: Callable[[str], None], how: str
) -> None:
    executor = start()
    executor.hello([own_target, "spin", "@@"], wall_ms=60_000, cpu_ms=60_000)
    executor.send(frames.Run(1, b"x", 0, None, False))
    assert executor.receive() == frames.Started(1)
    if how == "SIGKILL":
        executor.process.kill()
        executor.process.wait(30)
        for path in executor.work_dir.iterdir():  # what the worker does with a dead one's folder
            path.unlink()
    else:
        executor.close()
    none_left(own_target)


def test_processes_that_leave_their_group_are_ended(
    start: Start, own_target: str, none_left: Callable[[str], None]
) -> None:
    executor = start()
    executor.hello([own_target, "escape", "@@"])
    executor.run(b"x")
    executor.close()
    none_left(own_target)
