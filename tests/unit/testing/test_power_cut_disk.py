"""What the three models of a disk keep, and that a trace leaves nothing out."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from symfleet.testing.power_cut.crash_states import crash_states
from symfleet.testing.power_cut.disk import Disk, Model, Spoil
from symfleet.testing.power_cut.operations import (
    Before,
    Create,
    MakeFolder,
    Note,
    Operation,
    Rename,
    Resize,
    Sync,
    SyncAll,
    SyncFolder,
    Trace,
    Write,
)
from symfleet.testing.power_cut.trace import TraceError, can_trace, record

NOTHING = Before(frozenset(), {}, {})


def after(model: Model, *operations: Operation, before: Before = NOTHING) -> Disk:
    disk = Disk(before, operations, model)
    for _ in operations:
        disk.step()
    return disk


def found(disk: Disk, kept: dict[int, object] | None = None) -> dict[str, bytes]:
    tree = disk.tree(kept or {})  # type: ignore[arg-type]
    return {name: data for name, (data, _) in tree.files.items()}


def test_a_new_name_is_lost_until_its_folder_is_synchronised() -> None:
    made = (Create("a", 1), Write(1, 0, b"text"), Sync(1))
    assert found(after(Model.REORDERED, *made)) == {}
    assert found(after(Model.REORDERED, *made, SyncFolder("."))) == {"a": b"text"}
    assert found(after(Model.ORDERED, *made)) == {"a": b"text"}, "one journal holds all names"


def test_a_file_in_a_folder_that_is_lost_is_lost() -> None:
    made = (MakeFolder("f"), Create("f/a", 1), Write(1, 0, b"text"), Sync(1), SyncFolder("f"))
    assert found(after(Model.LOSSY, *made)) == {}
    assert found(after(Model.LOSSY, *made, SyncFolder("."))) == {"f/a": b"text"}


def test_a_rename_without_a_sync_may_bring_a_name_without_bytes() -> None:
    made = (Create("a", 1), Write(1, 0, b"text"), Rename("a", "b", 1))
    disk = after(Model.REORDERED, *made)
    assert [index for index, _ in disk.free_data] == [1]
    assert found(disk, {0: None, 2: None}) == {"b": b""}
    assert found(after(Model.REORDERED, *made, SyncAll())) == {"b": b"text"}


def test_what_is_written_follows_the_file_and_not_its_name() -> None:
    made = (Create("a", 1), Rename("a", "b", 1), Create("a", 2), Write(1, 0, b"old"))
    disk = after(Model.REORDERED, *made, Write(2, 0, b"new"), SyncAll())
    assert found(disk) == {"a": b"new", "b": b"old"}


def test_a_write_is_torn_at_sectors_of_the_disk() -> None:
    before = Before(frozenset(), {"a": 1}, {1: b"-" * 1500})
    disk = after(Model.REORDERED, Write(1, 500, b"x" * 600), before=before)
    assert found(disk, {0: (True, False, False)})["a"] == b"-" * 500 + b"x" * 12 + b"-" * 988
    assert found(disk, {0: (False, False, True)})["a"] == b"-" * 1024 + b"x" * 76 + b"-" * 400


def test_only_what_was_appended_may_hold_what_nobody_has_written() -> None:
    before = Before(frozenset(), {"a": 1}, {1: b"old"})
    disk = after(Model.LOSSY, Write(1, 1, b"12345"), before=before)
    assert found(disk, {0: Spoil.ZEROS})["a"] == b"old\0\0\0"
    garbage = found(disk, {0: Spoil.GARBAGE})["a"]
    assert garbage[:3] == b"old"
    assert garbage[3:] not in (b"345", b"\0\0\0")


def test_a_cut_that_was_not_synchronised_may_be_undone() -> None:
    before = Before(frozenset(), {"a": 1}, {1: b"long text"})
    disk = after(Model.LOSSY, Resize(1, 0), before=before)
    assert found(disk) == {"a": b"long text"}
    assert found(disk, {0: None}) == {"a": b""}


@pytest.mark.parametrize("model", list(Model))
def test_what_is_synchronised_is_in_every_state(model: Model) -> None:
    operations = (
        *(Create("a", 1), Write(1, 0, b"1" * 2000), Sync(1), SyncFolder("."), Note("image")),
        *(Write(1, 0, b"2" * 2000), Create("b", 2), Write(2, 0, b"3" * 700)),
    )
    seen = set()
    for state in crash_states(Trace(NOTHING, operations), model, random.Random(1)):
        if state.notes:
            assert len(state.tree.files["a"][0]) == 2000
            assert set(state.tree.files["a"][0]) <= set(b"12")
        seen.add(state.tree.digest)
    assert len(seen) >= 12


needs_strace = pytest.mark.skipif(bool(can_trace()), reason=can_trace() or "can trace")


def traced(folder: Path, source: str) -> Trace:
    root = folder / "root"
    root.mkdir()
    command = [sys.executable, "-S", "-c", source, str(folder / "notes")]
    return record(command, root, folder / "notes", folder / "log")


@needs_strace
def test_a_trace_has_names_bytes_syncs_and_notes(tmp_path: Path) -> None:
    source = """
import os, sys
notes = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
file = os.open("a", os.O_RDWR | os.O_CREAT)
os.write(file, b"one"); os.write(file, b"two"); os.pwrite(file, b"X", 1)
os.fsync(file); os.write(notes, b"durable\\n"); os.rename("a", "b")
"""
    assert traced(tmp_path, source).operations == (
        *(Create("a", 1), Write(1, 0, b"one"), Write(1, 3, b"two"), Write(1, 1, b"X")),
        *(Sync(1), Note("durable"), Rename("a", "b", 1)),
    )


@needs_strace
@pytest.mark.parametrize(
    "source",
    [
        "import os; os.symlink('x', 'a')",
        "import os; open('a', 'w').close(); os.link('a', 'b')",
        "import mmap; f = open('a', 'w+b'); f.truncate(4096); mmap.mmap(f.fileno(), 4096)[0] = 1",
        "import os; os.fork(); open('a', 'w').close()",
    ],
)
def test_what_the_model_does_not_know_is_an_error(tmp_path: Path, source: str) -> None:
    with pytest.raises(TraceError):
        traced(tmp_path, source)
