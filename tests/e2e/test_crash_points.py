"""Crash points: all are listed, and only those can be armed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from symfleet import crash
from symfleet.errors import UserError

ROOT = Path(__file__).resolve().parents[2]


def labels_in_source() -> Iterator[str]:
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "crash.point":
                (label,) = node.args
                assert isinstance(label, ast.Constant), f"{path}: {ast.unparse(node)}"
                yield str(label.value)


def test_every_crash_point_is_listed_and_stands_somewhere() -> None:
    assert set(labels_in_source()) == set(crash.LABELS)


def test_a_label_that_does_not_exist_cannot_be_armed() -> None:
    with pytest.raises(UserError, match="not a crash point"):
        crash.CrashPlan("coordinator.nowhere:1:kill")


@pytest.mark.parametrize(
    ("here", "where", "acts"),
    [
        ("0/1", "0/1", True),
        ("0/2", "0/1", False),
        ("3/1", "*/1", True),
        ("launcher", "*/1", False),
        ("launcher", "launcher", True),
        ("", "*", True),
    ],
)
def test_a_point_acts_at_its_place_only(here: str, where: str, acts: bool) -> None:
    plan = crash.CrashPlan(f"file.write:2:eio:{where}", lambda: here)
    assert [plan.passed("file.write") for _ in range(3)] == [None, "eio" if acts else None, None]
    assert plan.passages == {(here, "file.write"): 3}


def test_passages_are_counted_until_points_are_armed() -> None:
    passages = crash.count(lambda: "2")
    try:
        for label in ("file.write", "file.sync", "file.write"):
            crash.point(label)
        assert crash.is_armed()
    finally:
        crash.arm("")
    crash.point("file.write")
    assert passages == {("2", "file.write"): 2, ("2", "file.sync"): 1}
    assert not crash.is_armed()


def test_a_process_says_at_which_points_it_was(capfd: pytest.CaptureFixture[str]) -> None:
    crash.arm(crash.noting(crash.LABELS), lambda: "launcher")
    try:
        for label in ("file.write", "file.sync", "file.write"):
            crash.point(label)
    finally:
        crash.arm("")
    said = capfd.readouterr().err.splitlines()
    said = [line.removeprefix("symfleet: crash point ") for line in said]
    assert said == ["file.write: note (launcher)", "file.sync: note (launcher)"]
