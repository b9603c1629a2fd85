"""The one way to write a file."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from symfleet import crash
from symfleet.corpus.durable import clear_staging, sync_filesystem, write_file
from symfleet.errors import IOFailure


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    crash.arm("")


def test_a_written_file_holds_its_bytes_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_file(path, b"one")
    write_file(path, b"two", durable=False)
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_staging_may_be_elsewhere(tmp_path: Path) -> None:
    staging = tmp_path / "staging"
    staging.mkdir()
    folder = tmp_path / "folder"
    folder.mkdir()
    write_file(folder / "file", b"x", staging=staging)
    assert [path.name for path in folder.iterdir()] == ["file"]
    assert not list(staging.iterdir())


@pytest.mark.guarantee("A2")
@pytest.mark.parametrize("label", ["file.write", "file.sync", "file.rename"])
@pytest.mark.parametrize(("action", "code"), [("eio", errno.EIO), ("enospc", errno.ENOSPC)])
def test_a_failed_write_is_reported_and_leaves_the_old_file(
    tmp_path: Path, label: str, action: str, code: int
) -> None:
    path = tmp_path / "file"
    write_file(path, b"old")
    crash.arm(f"{label}:1:{action}")
    with pytest.raises(IOFailure) as caught:
        write_file(path, b"new")
    assert caught.value.why == os.strerror(code)
    assert caught.value.where == str(path)
    assert caught.value.hint
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.guarantee("A2")
def test_a_full_file_system_is_reported(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    link = tmp_path / "link"
    link.symlink_to(full)
    # The rename replaces the link; what fails is only what really goes to a full device.
    write_file(link, b"x")
    assert link.read_bytes() == b"x"
    assert not link.is_symlink()


@pytest.mark.guarantee("A2")
def test_a_failed_sync_of_the_file_system_is_reported(tmp_path: Path) -> None:
    sync_filesystem(tmp_path)
    crash.arm("filesystem.sync:1:eio")
    with pytest.raises(IOFailure):
        sync_filesystem(tmp_path)


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(IOFailure):
        write_file(tmp_path / "missing" / "file", b"x")


def test_unfinished_files_are_cleared_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / ".staging-1-0").write_bytes(b"torn")
    (tmp_path / "kept").write_bytes(b"x")
    (tmp_path / ".staging-folder").mkdir()
    assert clear_staging(tmp_path) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [".staging-folder", "kept"]
