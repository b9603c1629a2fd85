"""The executor client against real engine processes, served by `symfleet.engine.serve`."""

from __future__ import annotations

import errno
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest

from symfleet.config.environment import inherited_environment
from symfleet.engine import processes
from symfleet.engine.client import ExecutorClient
from symfleet.engine.reasons import NO_OUTPUT_FOLDER, OUTPUT_LIMIT
from symfleet.protocol.events import (
    ExecutionDone,
    ExecutorFailed,
    ExecutorGone,
    ExecutorReady,
    RunItem,
    SelfTestDone,
    StartExecutor,
    WorkerEvent,
)
from symfleet.protocol.item_results import Executed
from symfleet.protocol.messages import EngineSetup
from symfleet.protocol.setup import Knobs
from symfleet.protocol.work import WorkItem, encode_item, work_id_of
from symfleet.testing.small_disk import SmallDisk
from symfleet.types import NO_SPACE, GenerationId, Incarnation, Outcome, input_id_of

pytestmark = pytest.mark.alone

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
SOURCES = Path(__file__).resolve().parent.parent.parent / "src"
EventT = TypeVar("EventT", bound=WorkerEvent)
DEADLINE_S = 20.0


class Slot:
    """One executor and what it said, with waits that end."""

    def __init__(self, tmp: Path, setup: EngineSetup, *, selftest: bool = False) -> None:
        self.tmp = tmp
        self.client = ExecutorClient(
            StartExecutor(0, Incarnation(7), setup, selftest),
            work_dir=tmp / "work",
            log=tmp / "logs" / "executor.log",
            env={**inherited_environment(), "PYTHONPATH": str(SOURCES)},
            frame_bytes=Knobs().frame_bytes,
        )
        self.seen: list[WorkerEvent] = []

    def wait(self, kind: type[EventT]) -> EventT:
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            for number, event in enumerate(self.seen):
                if isinstance(event, kind):
                    del self.seen[number]
                    return event
            select.select(self.client.filenos(), [], [], 0.01)
            self.seen += self.client.poll()
        raise AssertionError(f"no {kind.__name__} within {DEADLINE_S} s, but {self.seen}")

    def hand_over(
        self, data: bytes, *, bound: int | None = None, solitary: bool = False
    ) -> WorkItem:
        item = WorkItem(GenerationId("0" * 64), input_id_of(data), bound=bound)
        self.client.run(RunItem(0, work_id_of(item), data, encode_item(item), solitary))
        return item

    def explore(self, data: bytes, *, bound: int | None = None, solitary: bool = False) -> Executed:
        item = self.hand_over(data, bound=bound, solitary=solitary)
        result = self.wait(ExecutionDone).result
        assert result.work_id == work_id_of(item)
        assert result.input_id == input_id_of(data)
        return result


def command_setup(*words: str, **limits: int) -> EngineSetup:
    serve = (sys.executable, "-m", "symfleet.engine.serve", "command", "--")
    return EngineSetup(
        engine=(*serve, *words),
        argv=("target",),
        input_mode="file",
        keep="all",
        limits={"wall_ms": 10_000, **limits},
        seed=1,
        env={},
    )


def program(name: str) -> tuple[str, ...]:
    return (sys.executable, "-S", "-E", str(PROGRAMS / name), "@@", "@out")


CLEARED = 'printf child > "$1/child"; rm -rf "$(cat "$0")"'
"""A program that makes a child and then removes what its input names."""


@pytest.fixture
def slots(tmp_path: Path) -> Iterator[list[Slot]]:
    started: list[Slot] = []
    yield started
    for slot in started:
        slot.client.close()
        assert not (slot.tmp / "work").exists()
    assert processes.children_of_self() == []


def start(slots: list[Slot], tmp_path: Path, setup: EngineSetup, **kwargs: bool) -> Slot:
    slots.append(Slot(tmp_path, setup, **kwargs))
    return slots[-1]


def misbehave(slots: list[Slot], tmp_path: Path, **limits: int) -> Slot:
    return start(slots, tmp_path, command_setup(*program("misbehave.py"), **limits))


def test_children_are_the_regular_files_of_the_output_folder(
    slots: list[Slot], tmp_path: Path
) -> None:
    setup = msgspec.structs.replace(
        command_setup(*program("two.py")), env={"RUNS": str(tmp_path / "runs"), "SECONDS": "0"}
    )
    slot = start(slots, tmp_path, setup, selftest=True)
    ready = slot.wait(ExecutorReady)
    assert ready.edges == 0
    assert len(ready.build) == 64
    assert slot.wait(SelfTestDone).ok
    result = slot.explore(b"seed")
    assert result.outcome is Outcome.OK
    assert sorted(child.data or b"" for child in result.children) == [b"A", b"B"]
    assert result.generated == 2
    assert slot.explore(b"A").children == ()
    assert (tmp_path / "runs").read_text().split() == [input_id_of(b"seed"), input_id_of(b"A")]


def test_a_ready_executor_comes_quickly(slots: list[Slot], tmp_path: Path) -> None:
    best = 9.0
    for _ in range(5):
        began = time.monotonic()
        slot = start(slots, tmp_path, command_setup(*program("none.py")))
        slot.wait(ExecutorReady)
        best = min(best, time.monotonic() - began)
        slot.client.close()
    assert best < 0.5


@pytest.mark.parametrize(
    ("word", "outcome", "code", "signum"),
    [
        (b"exit 0", Outcome.OK, 0, 0),
        (b"exit 3", Outcome.OK, 3, 0),
        (b"signal 11", Outcome.CRASH, 0, 11),
        (b"signal 6", Outcome.CRASH, 0, 6),
        (b"signal 15", Outcome.KILLED, 0, 0),
        (b"signal 9", Outcome.KILLED, 0, 0),
        (b"spin", Outcome.HANG, 0, 0),
        (b"sleep", Outcome.STALLED, 0, 0),
        (b"flood", Outcome.FLOOD, 0, 0),
        (b"print 16", Outcome.OK, 0, 0),
    ],
)
def test_every_end_of_a_program_has_its_outcome(
    slots: list[Slot], tmp_path: Path, word: bytes, outcome: Outcome, code: int, signum: int
) -> None:
    slot = misbehave(slots, tmp_path, wall_ms=400, output_kib=256)
    deadline = time.monotonic() + DEADLINE_S
    result = slot.explore(word)
    # Without its share of a busy machine a run has no verdict; a campaign runs it again, too.
    while result.outcome is Outcome.STALLED is not outcome and time.monotonic() < deadline:
        result = slot.explore(word)
    assert (result.outcome, result.exit_code, result.signal) == (outcome, code, signum)
    assert (result.reason == OUTPUT_LIMIT) is (outcome is Outcome.FLOOD)
    assert slot.explore(b"exit 0").outcome is Outcome.OK


def test_a_silent_program_is_a_hang_on_second_opinion(slots: list[Slot], tmp_path: Path) -> None:
    slot = misbehave(slots, tmp_path, wall_ms=150)
    assert slot.explore(b"sleep", solitary=True).outcome is Outcome.HANG


def test_the_cpu_limit_is_told_apart_from_a_hang(slots: list[Slot], tmp_path: Path) -> None:
    slot = misbehave(slots, tmp_path, wall_ms=10_000, cpu_ms=1000)
    assert slot.explore(b"spin").outcome is Outcome.CPU


def test_a_crash_is_confirmed_by_a_second_run(slots: list[Slot], tmp_path: Path) -> None:
    slot = misbehave(slots, tmp_path)
    assert slot.explore(b"signal 11").executions == 2
    assert slot.explore(b"exit 1").executions == 1


def test_what_a_program_leaves_running_is_ended_with_it(slots: list[Slot], tmp_path: Path) -> None:
    slot = misbehave(slots, tmp_path)
    pid_file = tmp_path / "daemon.pid"
    assert slot.explore(f"daemon {pid_file}".encode()).outcome is Outcome.OK
    assert not Path(f"/proc/{pid_file.read_text()}").exists()


@pytest.mark.parametrize("how", [b"together", b"apart"])
def test_a_program_of_too_many_processes_is_ended_before_it_takes_the_host(
    slots: list[Slot], tmp_path: Path, how: bytes
) -> None:
    slot = misbehave(slots, tmp_path, wall_ms=50_000)
    result = slot.explore(b"crowd " + how)
    assert result.outcome is Outcome.OOM
    assert result.wall_us < 50_000_000
    assert slot.explore(b"exit 0").outcome is Outcome.OK


def test_only_distinct_regular_files_are_children(slots: list[Slot], tmp_path: Path) -> None:
    slot = misbehave(slots, tmp_path)
    result = slot.explore(b"odd")
    assert [child.data for child in result.children] == [b"twin"]
    assert slot.explore(b"exit 0").children == ()


def test_what_ran_while_all_folders_were_cleared_away_is_no_result(
    slots: list[Slot], tmp_path: Path
) -> None:
    around = tmp_path / "around"
    slot = start(slots, around, command_setup("/bin/sh", "-c", CLEARED, "@@", "@out"))
    cleared = slot.explore(str(around).encode())
    assert (cleared.outcome, cleared.children) == (Outcome.STALLED, ())
    again = slot.explore(b"nothing")
    assert again.outcome is Outcome.OK
    assert [child.data for child in again.children] == [b"child"]


@pytest.mark.parametrize("what", ["output", "around", "input"])
@pytest.mark.parametrize("how", ["gone", "file", "folder", "elsewhere", "closed", "deep"])
def test_a_program_may_do_with_its_folder_what_it_likes(
    slots: list[Slot], tmp_path: Path, what: str, how: str
) -> None:
    if (what, how) == ("input", "deep"):
        pytest.skip("it is a file")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_bytes(b"not ours")
    slot = misbehave(slots, tmp_path)
    word = str(elsewhere) if how == "elsewhere" else how
    for end in ("", " crash"):
        result = slot.explore(f"lose {what} {word}{end}".encode())
        assert result.outcome is (Outcome.CRASH if end else Outcome.OK)
        found = [child.data for child in result.children]
        if what != "input" and how in ("gone", "file", "elsewhere"):
            assert (found, result.reason) == ([], NO_OUTPUT_FOLDER)
        after = slot.explore(b"many 2")
        assert [child.data for child in after.children] == [b"0", b"1"]
    assert [path.name for path in elsewhere.iterdir()] == ["precious"]


def test_a_folder_that_is_closed_has_no_children(tmp_path: Path) -> None:
    """Root may enter every folder, so somebody else has to look."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    look = f"from symfleet.engine.trees import names_in; print(names_in(Path({str(closed)!r})))"
    tmp_path.chmod(0o755)
    become = "import os; os.setuid(65534) if os.getuid() == 0 else None"
    script = (
        f"from pathlib import Path; {look.partition(';')[0]}; {become};{look.partition(';')[2]}"
    )
    said = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(SOURCES)},
        capture_output=True,
        timeout=DEADLINE_S,
        check=True,
    )
    assert said.stdout == b"None\n"


def test_a_counted_limit_names_the_first_child_left_out(slots: list[Slot], tmp_path: Path) -> None:
    slot = misbehave(slots, tmp_path, children=4)
    found = slot.explore(b"many 10")
    assert [child.data for child in found.children] == [b"0", b"1", b"2", b"3"]
    assert found.truncated == 4
    rest = slot.explore(b"many 10", bound=8)
    assert [child.data for child in rest.children] == [b"8", b"9"]
    assert rest.truncated is None


def test_a_child_may_be_as_large_as_an_input(slots: list[Slot], tmp_path: Path) -> None:
    knobs = Knobs()
    script = f'head -c {knobs.input_bytes} /dev/zero > "$2/child"'
    setup = command_setup("sh", "-c", script, "sh", "@@", "@out", input_bytes=knobs.input_bytes)
    slot = start(slots, tmp_path, setup)
    (found,) = slot.explore(bytes(knobs.input_bytes)).children
    assert found.data == bytes(knobs.input_bytes)


def test_a_missing_program_is_a_failure_with_a_hint(slots: list[Slot], tmp_path: Path) -> None:
    slot = start(slots, tmp_path, command_setup("/nonexistent/program", "@@"))
    failed = slot.wait(ExecutorFailed)
    assert failed.reason == "target_missing"
    assert failed.hint


def test_a_missing_engine_is_a_failure(slots: list[Slot], tmp_path: Path) -> None:
    setup = EngineSetup(("/nonexistent/engine",), ("t",), "file", "all", {}, 1, {})
    assert start(slots, tmp_path, setup).wait(ExecutorFailed).reason == "internal"


def test_a_killed_executor_takes_everything_below_with_it(
    slots: list[Slot], tmp_path: Path
) -> None:
    slot = misbehave(slots, tmp_path)
    slot.wait(ExecutorReady)
    item = WorkItem(GenerationId("0" * 64), input_id_of(b"sleep"))
    slot.client.run(RunItem(0, work_id_of(item), b"sleep", encode_item(item), solitary=False))
    assert slot.client.pid is not None
    children = Path(f"/proc/{slot.client.pid}/task/{slot.client.pid}/children")
    deadline = time.monotonic() + DEADLINE_S
    while not children.read_text().split():
        assert time.monotonic() < deadline
        slot.client.poll()
    target = int(children.read_text().split()[0])
    slot.client.kill()
    gone = slot.wait(ExecutorGone)
    assert gone.asked
    assert gone.executor == 7
    while Path(f"/proc/{target}/exe").exists():
        assert time.monotonic() < deadline


def test_an_executor_that_dies_by_itself_is_reported_with_its_signal(
    slots: list[Slot], tmp_path: Path
) -> None:
    slot = misbehave(slots, tmp_path)
    slot.wait(ExecutorReady)
    data = b"log last words"
    item = WorkItem(GenerationId("0" * 64), input_id_of(data))
    slot.client.run(RunItem(0, work_id_of(item), data, encode_item(item), solitary=False))
    gone = slot.wait(ExecutorGone)
    assert not gone.asked
    assert gone.signal == signal.SIGKILL
    assert gone.detail == "ended by signal 9"
    assert not gone.memory_evidence


@pytest.mark.parametrize("while_it_runs", [False, True])
def test_memory_that_ran_out_explains_a_death_only_while_the_item_ran(
    slots: list[Slot], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, while_it_runs: bool
) -> None:
    """The kernel's count is one for the whole host: what it killed before is no evidence."""
    counted = [3]
    monkeypatch.setattr(processes, "oom_kills", lambda: counted[0])
    slot = misbehave(slots, tmp_path)
    slot.wait(ExecutorReady)
    counted[0] += 1
    data = b"log last words"
    item = WorkItem(GenerationId("0" * 64), input_id_of(data))
    slot.client.run(RunItem(0, work_id_of(item), data, encode_item(item), solitary=False))
    counted[0] += while_it_runs
    assert slot.wait(ExecutorGone).memory_evidence is while_it_runs


@pytest.mark.parametrize(
    "answer",
    [b"\xff\xff\xff\xff", b"\x04\x00\x00\x00junk", b"\x01\x00\x00\x00\x80"],
    ids=["length", "junk", "untagged"],
)
def test_garbage_ends_the_executor_and_is_not_believed(
    slots: list[Slot], tmp_path: Path, answer: bytes
) -> None:
    setup = EngineSetup(
        (sys.executable, "-c", f"import os, time; os.write(1, {answer!r}); time.sleep(60)"),
        ("t",),
        "file",
        "all",
        {},
        1,
        {},
    )
    gone = start(slots, tmp_path, setup).wait(ExecutorGone)
    assert not gone.asked
    assert gone.detail.startswith("invalid answer")


def test_the_story_of_a_death_names_the_log_that_has_more(
    slots: list[Slot], tmp_path: Path
) -> None:
    script = "import sys; sys.exit('last words')"
    setup = EngineSetup((sys.executable, "-c", script), ("t",), "file", "all", {}, 1, {})
    gone = start(slots, tmp_path, setup).wait(ExecutorGone)
    assert gone.detail == "ended with 1 (its log: logs/executor.log)"
    assert (tmp_path / "logs" / "executor.log").read_text() == "last words\n"


def test_standard_error_of_an_engine_is_kept_and_bounded(slots: list[Slot], tmp_path: Path) -> None:
    words = "import os\nfor _ in range(300): os.write(2, b'x' * 16384)\nos.write(2, b'last')"
    setup = EngineSetup((sys.executable, "-c", words), ("t",), "file", "all", {}, 1, {})
    start(slots, tmp_path, setup).wait(ExecutorGone)
    kept = list((tmp_path / "logs").iterdir())
    assert sum(path.stat().st_size for path in kept) <= 1 << 20
    assert (tmp_path / "logs" / "executor.log").read_bytes().endswith(b"last")


def test_end_of_input_ends_engine_and_program(slots: list[Slot], tmp_path: Path) -> None:
    slot = misbehave(slots, tmp_path)
    slot.wait(ExecutorReady)
    item = WorkItem(GenerationId("0" * 64), input_id_of(b"sleep"))
    slot.client.run(RunItem(0, work_id_of(item), b"sleep", encode_item(item), solitary=False))
    slot.client.stop()
    gone = slot.wait(ExecutorGone)
    assert gone.asked
    assert gone.signal == 0


def symcc_setup(*argv: str, mode: str, keep: str = "all") -> EngineSetup:
    serve = (sys.executable, "-m", "symfleet.engine.serve", "symcc")
    return EngineSetup(serve, argv, mode, keep, {"wall_ms": 10_000}, 1, {})


@pytest.mark.parametrize("mode", ["file", "stdin"])
def test_a_symcc_binary_gets_its_variables_and_private_folders(
    slots: list[Slot], tmp_path: Path, mode: str
) -> None:
    words = (str(PROGRAMS / "fake_symcc.py"), *(["@@"] if mode == "file" else []))
    slot = start(slots, tmp_path, symcc_setup(*words, mode=mode))
    for _ in range(2):  # with `all` the map is new for every run
        assert [child.data for child in slot.explore(b"abc").children] == [b"Fbc"]


def test_a_symcc_map_lasts_when_only_novelty_is_kept(slots: list[Slot], tmp_path: Path) -> None:
    setup = symcc_setup(str(PROGRAMS / "fake_symcc.py"), mode="stdin", keep="novel")
    slot = start(slots, tmp_path, setup)
    assert len(slot.explore(b"abc").children) == 1
    assert slot.explore(b"xyz").children == ()


def test_a_crash_inside_the_symbolic_runtime_is_not_one_of_the_target(
    slots: list[Slot], tmp_path: Path
) -> None:
    slot = start(slots, tmp_path, symcc_setup(str(PROGRAMS / "fake_symcc.py"), mode="stdin"))
    assert slot.explore(b"crash").outcome is Outcome.CRASH
    assert slot.explore(b"fault").outcome is Outcome.OK


def test_mpi_variables_do_not_reach_the_target(slots: list[Slot], tmp_path: Path) -> None:
    listing = "import os,sys; open(sys.argv[1]+'/c','w').write(' '.join(os.environ))"
    slot = Slot.__new__(Slot)
    slot.tmp, slot.seen = tmp_path, []
    slot.client = ExecutorClient(
        StartExecutor(
            0, Incarnation(7), command_setup(sys.executable, "-c", listing, "@out"), selftest=False
        ),
        work_dir=tmp_path / "work",
        log=tmp_path / "log",
        env={"PYTHONPATH": str(SOURCES), "OMPI_COMM_WORLD_RANK": "3", "PATH": os.defpath},
        frame_bytes=Knobs().frame_bytes,
    )
    slots.append(slot)
    (child,) = slot.explore(b"x").children
    names = (child.data or b"").decode().split()
    assert "SYMFLEET_INPUT" in names
    assert not [name for name in names if name.startswith("OMPI_")]


@pytest.mark.guarantee("A2")
def test_what_is_written_on_a_full_disk_is_no_result(
    slots: list[Slot], small_disk: Callable[[str], SmallDisk]
) -> None:
    """A program whose write failed may end as if nothing were: its files are not trusted."""
    disk = small_disk("2m")
    script = 'cat /dev/zero > "$2/../ballast" 2>&-; printf "a child" > "$2/child" 2>&-; exit 0'
    slot = start(slots, disk.folder, command_setup("sh", "-c", script, "sh", "@@", "@out"))
    slot.wait(ExecutorReady)
    slot.hand_over(b"input")
    assert slot.wait(ExecutorFailed).reason == NO_SPACE
    assert not any(isinstance(event, ExecutionDone) for event in slot.seen)
    slots.remove(slot)
    slot.client.close()


@pytest.mark.guarantee("A2")
def test_an_input_that_finds_no_space_is_not_to_blame(
    slots: list[Slot], small_disk: Callable[[str], SmallDisk]
) -> None:
    disk = small_disk("2m")
    slot = start(slots, disk.folder, command_setup("true", "@@", "@out"))
    slot.wait(ExecutorReady)
    assert slot.explore(b"well").outcome is Outcome.OK
    disk.fill()
    slot.hand_over(b"no room for this" * 2_000)
    failed = slot.wait(ExecutorFailed)
    assert failed.reason == NO_SPACE
    assert str(disk.folder) in failed.message
    assert "No space left on device" in failed.message
    slots.remove(slot)
    slot.client.close()


def test_a_full_disk_is_named_when_an_executor_cannot_even_be_started(
    slots: list[Slot], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(processes, "start_child", full)
    failed = start(slots, tmp_path, command_setup("true", "@@", "@out")).wait(ExecutorFailed)
    assert failed.reason == NO_SPACE
    assert str(tmp_path) in failed.message


@pytest.mark.guarantee("A2")
def test_a_disk_that_was_full_for_an_instant_leaves_a_trace(
    slots: list[Slot], small_disk: Callable[[str], SmallDisk]
) -> None:
    """The owner of the ledger gives its reserve back then: there is space again, and the program
    has ended in between."""
    disk = small_disk("8m")
    (disk.folder / ".reserve").write_bytes(b"held")
    script = 'printf "a child" > "$2/child"; test "$(cat "$1")" = well || rm "$2/../../.reserve"'
    slot = start(slots, disk.folder, command_setup("sh", "-c", script, "sh", "@@", "@out"))
    slot.wait(ExecutorReady)
    assert slot.explore(b"well").outcome is Outcome.OK
    assert slot.explore(b"full").outcome is Outcome.STALLED
    slots.remove(slot)
    slot.client.close()
