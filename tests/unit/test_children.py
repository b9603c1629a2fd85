"""What is left in an output folder is a child, or is counted by the limit that cut it off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from symfleet.engine.children import Left, read_children
from symfleet.engine.command import CommandAdapter
from symfleet.engine.programs import ProgramRun
from symfleet.engine.reasons import NO_CHILD, PROGRAM_FAILED, PROGRAM_LIMITED
from symfleet.engine.serve import _reason
from symfleet.engine.symcc import SymccAdapter
from symfleet.types import Outcome


def left_by(folder: Path, files: Sequence[bytes], bound: int = 0, **limits: int) -> Left:
    for number, data in enumerate(files):
        (folder / f"{number:04}").write_bytes(data)
    return read_children(folder, limits, bound)


def test_what_a_limit_on_children_cuts_off_is_counted(tmp_path: Path) -> None:
    left = left_by(tmp_path, [b"%d" % number for number in range(12)], children=4)
    assert (len(left.children), left.truncated, left.left_out) == (4, 4, {"children": 8})


def test_what_a_limit_on_bytes_cuts_off_is_counted(tmp_path: Path) -> None:
    files = [bytes([number]) * 600_000 for number in range(5)]
    left = left_by(tmp_path, files, result_mib=1)
    assert (len(left.children), left.truncated, left.left_out) == (1, 1, {"bytes": 4})


def test_a_child_that_is_too_large_is_counted_and_the_others_are_taken(tmp_path: Path) -> None:
    left = left_by(tmp_path, [b"a", b"b" * 11, b"c", b"d" * 12], input_bytes=10)
    assert (left.children, left.truncated, left.degraded) == ([b"a", b"c"], None, [])
    assert left.left_out == {"child_size": 2}


def test_folders_and_links_are_not_children_that_were_cut_off(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "2").symlink_to(tmp_path / "0000")
    left = left_by(tmp_path, [b"a", b"b"], children=1)
    assert left.left_out == {"children": 1}


def test_where_nothing_was_cut_off_nothing_is_counted(tmp_path: Path) -> None:
    left = left_by(tmp_path, [b"a", b"a", b"b"], bound=1)
    assert (left.children, left.truncated, left.left_out) == ([b"a", b"b"], None, {})


@pytest.mark.parametrize(
    ("left", "exit_code", "outcome", "command", "symcc"),
    [
        (Left(), 0, Outcome.OK, NO_CHILD, NO_CHILD),
        (Left(), 1, Outcome.OK, PROGRAM_FAILED, NO_CHILD),
        (Left(), 2, Outcome.ERROR, PROGRAM_FAILED, PROGRAM_FAILED),
        (Left(left_out={"child_size": 1}), 1, Outcome.OK, PROGRAM_LIMITED, PROGRAM_LIMITED),
        (Left(degraded=["time"]), 0, Outcome.CPU, PROGRAM_LIMITED, PROGRAM_LIMITED),
        (Left(children=[b"a"]), 1, Outcome.OK, None, None),
    ],
)
def test_outside_programs_without_children_have_their_own_reasons(
    left: Left, exit_code: int, outcome: Outcome, command: str | None, symcc: str | None
) -> None:
    run = ProgramRun(outcome, exit_code, 0, 0, 0, 0, cut_short=False)
    for adapter, reason in ((CommandAdapter(("x",)), command), (SymccAdapter(), symcc)):
        assert _reason(run, left, fails_by_code=adapter.fails_by_code) == reason
