"""What a target may leave behind is removed, whatever it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from symfleet.engine.trees import empty_folder, names_in, own_folder, remove, remove_if_possible
from symfleet.runtime.mpirun import remove_run_dirs

DEPTH = 3000
"""More than a recursion may go, and with these names longer than a path may be."""


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    """A folder with a deep one, closed at its end, and files and links beside it."""
    before = Path.cwd()
    top = tmp_path / "runs" / "deep"
    top.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").touch()
    try:
        os.chdir(top)
        for _ in range(DEPTH):
            Path("x" * 50).mkdir()
            os.chdir("x" * 50)
            Path("0").touch()
        Path("closed").mkdir(mode=0)
        Path("link").symlink_to(tmp_path / "elsewhere")
    finally:
        os.chdir(before)
    return top


def test_a_link_in_the_place_of_all_run_folders_is_not_followed(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "1").mkdir(parents=True)
    (theirs / "1" / "precious").touch()
    parent = tmp_path / ".run"
    parent.symlink_to(theirs)
    remove_run_dirs(parent)
    assert (theirs / "1" / "precious").exists()
    assert not parent.is_symlink()


def test_a_folder_is_emptied_however_deep_it_is(deep: Path) -> None:
    empty_folder(deep)
    assert names_in(deep) == []
    assert names_in(deep.parents[1] / "elsewhere") == ["kept"]


def test_the_folders_of_an_earlier_launch_go_however_deep_they_are(deep: Path) -> None:
    remove_run_dirs(deep.parent)
    assert names_in(deep.parent) == []
    assert names_in(deep.parents[1] / "elsewhere") == ["kept"]


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").touch()
    for act in (remove, remove_if_possible, own_folder, empty_folder):
        link = tmp_path / "link"
        link.symlink_to(tmp_path / "elsewhere")
        assert names_in(link) is None
        act(link)
        assert not link.is_symlink()
        remove(link)
    assert names_in(tmp_path / "elsewhere") == ["kept"]


def test_what_is_not_there_is_no_error_where_it_is_to_go(tmp_path: Path) -> None:
    remove(tmp_path / "nothing")
    remove_if_possible(tmp_path / "nothing" / "below")
    assert names_in(tmp_path / "nothing") is None
