"""Which cases are a change's turn."""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path

import pytest

from symfleet.testing.kills.mpi_cases import double_cases, point_cases, shuffled, strike_cases
from symfleet.testing.kills.rotation import turn_of, window

TODAY = datetime.date(2026, 1, 31)


@pytest.mark.parametrize("size", [1, 3, 7, 10, 12])
def test_turns_that_follow_each_other_cover_all(size: int) -> None:
    cases = list(range(10))
    turns = range(5, 5 + -(-len(cases) // size))
    drawn = [case for turn in turns for case in window(cases, turn, size)]
    assert set(drawn) == set(cases)
    assert all(len(set(window(cases, turn, size))) == min(size, 10) for turn in turns)


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True)


def test_a_change_has_its_turn_and_the_next_one_has_the_next(tmp_path: Path) -> None:
    git(tmp_path, "init")
    git(tmp_path, "commit", "--allow-empty", "-m", "one")
    first = turn_of(tmp_path, TODAY)
    assert first == turn_of(tmp_path, TODAY + datetime.timedelta(days=3))
    git(tmp_path, "commit", "--allow-empty", "-m", "two")
    assert turn_of(tmp_path, TODAY) == first + 1


def test_without_a_history_the_day_decides(tmp_path: Path) -> None:
    tomorrow = TODAY + datetime.timedelta(days=1)
    assert turn_of(tmp_path / "nowhere", tomorrow) == turn_of(tmp_path / "nowhere", TODAY) + 1


def test_no_case_of_real_jobs_is_there_twice() -> None:
    cases = [*point_cases(), *strike_cases(long=True), *double_cases()]
    assert len({str(case) for case in cases}) == len(cases) > 400
    assert shuffled(cases) == shuffled(cases[::-1])
