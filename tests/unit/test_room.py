"""What a start needs of the disk, how it is asked for, and how a lack of it is told."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from symfleet.corpus.durable import make_folder
from symfleet.errors import ExitCode, IOFailure
from symfleet.runtime.room import (
    Room,
    hold_shared_memory,
    lack_of_room,
    naming_the_disk,
    require_room,
    room_of_start,
    words_of_lack,
)

MIB = 1 << 20
SMALL = Room(files=5, sizes=(MIB, MIB // 2))


def refusal(code: int) -> OSError:
    return OSError(code, os.strerror(code))


def test_a_start_needs_a_segment_for_each_rank_and_what_the_reserve_lacks() -> None:
    assert room_of_start(3, 2, 16 * MIB).total == (3 * 16 + 16 + 2) * MIB
    assert room_of_start(3, 2, 0).total == (3 * 16 + 2) * MIB
    assert room_of_start(7, 48, 0).files > room_of_start(3, 2, 0).files


def test_room_that_is_there_is_given_back(tmp_path: Path) -> None:
    require_room(tmp_path, tmp_path / "run", SMALL)
    assert list((tmp_path / "run").iterdir()) == []


@pytest.mark.parametrize(
    ("code", "wanted", "remedy"),
    [
        (errno.ENOSPC, "the disk is full", "free some space"),
        (errno.EDQUOT, "the disk quota is used up", "free some space"),
        (errno.EFBIG, "a limit keeps files too small", "ulimit -f"),
    ],
)
def test_a_refusal_of_room_is_told_in_four_parts_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, wanted: str, remedy: str
) -> None:
    def refuse(*_: int) -> None:
        raise refusal(code)

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with pytest.raises(IOFailure, match=wanted) as caught:
        require_room(tmp_path, tmp_path / "run", SMALL)
    error = caught.value
    assert error.exit_code is ExitCode.IO
    assert error.where == str(tmp_path)
    assert error.why.startswith(os.strerror(code))
    assert remedy in error.hint
    assert "nothing is lost" in error.hint
    assert list((tmp_path / "run").iterdir()) == []


def test_an_error_of_another_kind_keeps_its_own_words(tmp_path: Path) -> None:
    error = lack_of_room(refusal(errno.EROFS), tmp_path, SMALL)
    assert "read-only" in error.hint
    assert "full" not in error.what


def test_the_beginning_of_a_campaign_names_a_full_disk_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = errno.ENOSPC

    def refuse(*_: object, **__: object) -> None:
        raise refusal(code)

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(IOFailure, match="the disk is full") as full, naming_the_disk(tmp_path):
        make_folder(tmp_path / "out")
    assert "give the same command again" in full.value.hint, "there is no campaign to resume yet"
    code = errno.EACCES
    with pytest.raises(IOFailure, match="a folder cannot be made"), naming_the_disk(tmp_path):
        make_folder(tmp_path / "out")
    code = errno.ENOENT  # as in /proc
    with pytest.raises(IOFailure, match="cannot be made") as other, naming_the_disk(tmp_path):
        make_folder(tmp_path / "out")
    assert "resume" not in other.value.hint


def test_shared_memory_is_filled_and_keeps_its_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    (tmp_path / "plan.json").write_bytes(b"{}")
    sparse = folder / "sm_segment.0"
    with sparse.open("wb") as file:
        file.write(b"head")
        file.truncate(MIB)
        file.seek(MIB // 2)
        file.write(b"middle")
    before = sparse.read_bytes()
    assert sparse.stat().st_blocks * 512 < MIB
    hold_shared_memory(tmp_path, tmp_path)
    assert sparse.stat().st_blocks * 512 >= MIB
    assert sparse.read_bytes() == before
    assert (tmp_path / "plan.json").read_bytes() == b"{}"


@pytest.mark.parametrize("code", [errno.EACCES, errno.ENOENT, errno.ENOSPC])
def test_only_a_lack_of_space_keeps_shared_memory_from_being_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    for name in ("a", "b"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(MIB)
    asked: list[int] = []

    def refuse(_descriptor: int, _offset: int, size: int) -> None:
        asked.append(size)
        raise refusal(code)

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    if code == errno.ENOSPC:
        with pytest.raises(IOFailure, match="the disk is full"):
            hold_shared_memory(tmp_path, tmp_path)
    else:
        hold_shared_memory(tmp_path, tmp_path)
        assert asked == [MIB, MIB], "the others are held all the same"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"", ""),
        (b"The job ended on signal 7\n", ""),
        (b"a\n  Error: No space left on device\nb", "Error: No space left on device"),
        (b"there is not enough space for /x (the\nfile)", "there is not enough space for /x (the"),
    ],
)
def test_words_about_space_are_found_among_others(said: bytes, words: str) -> None:
    assert words_of_lack(said) == words
