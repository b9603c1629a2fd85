"""Real libraries, unmodified, do with `symfleet cc` what they do with clang.

Two of those that both releases of Debian have in the same version, by turns; all of them, at two
levels, are the full form: `python -m benchmarks.identity`."""

from __future__ import annotations

import datetime
import os
import pathlib

import pytest
from benchmarks.identity.__main__ import compared, compilers
from benchmarks.identity.libraries import LIBRARIES, Library

from symfleet.compiler.toolchain import find_toolchain
from symfleet.testing.kills.rotation import turn_of, window

ROOT = pathlib.Path(__file__).parents[2]
TURN = turn_of(ROOT, datetime.datetime.now(datetime.UTC).date())
SMALL = [each for each in LIBRARIES if each.name in {"cjson", "jansson", "libyaml"}]
EACH_TURN = 2
INPUTS = 10


@pytest.mark.parametrize("library", window(SMALL, TURN, EACH_TURN), ids=lambda each: each.name)
def test_builds_as_with_clang_and_prints_the_same(
    library: Library, native: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    toolchain = find_toolchain(os.environ, lambda _: "")
    work = tmp_path / "work"
    folders = compilers(work, toolchain)
    (row,) = compared([(library, "-O0")], folders, work, INPUTS)
    assert row.differences == []
    assert row.tests_exit_codes == [0] * len(row.tests)
    assert row.lines_of_tests > 0
    assert row.objects > 0
    assert row.instrumented == row.objects
