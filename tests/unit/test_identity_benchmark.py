"""The comparison of real libraries sees differences, and forgives what no program decides."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import msgspec
import pytest
from benchmarks.identity.comparing import BuildFailed, Built, build, compare, difference, normalised
from benchmarks.identity.libraries import LIBRARIES, Library
from benchmarks.identity.report import Record, Row, joined, newest, table, write
from benchmarks.real.sources import Package

ROW = Row(
    library="a",
    sources="a_1",
    build_system="make",
    level="-O0",
    clang_build_s=1.0,
    symfleet_build_s=2.0,
    tests=["make check"],
    tests_exit_codes=[0],
    lines_of_tests=3,
    runs=4,
    differences=[],
)
RECORD = Record("2026-01-01", "engine", 19, 2, [ROW])


def printing(text: str) -> str:
    return shlex.join([sys.executable, "-c", f"import sys; {text}"])


def compiling(by_ours: str) -> str:
    """Return a build step that writes an object, as ours when what is given is true."""
    word = "b'__sf_init_module'"
    return printing(
        "import os, pathlib; ours = 'symfleet' in os.getcwd(); "
        f"pathlib.Path('x.o').write_bytes({word} if {by_ours} else b'')"
    )


def library(
    tests: tuple[str, ...], programs: tuple[str, ...] = (), step: str = compiling("ours")
) -> Library:
    package = Package("a", {"a_1.tar.gz": ""})
    return Library(package, "make", (step,), tests, programs, in_source=True)


def both(tmp_path: Path, one: Library) -> tuple[Path, Built, Built]:
    upstream = tmp_path / "upstream"
    upstream.mkdir()
    folders = [tmp_path / "work" / who / "build" for who in ("clang", "symfleet")]
    plain, ours = (build(one, upstream, tmp_path / at.parent.name, "-O0", at) for at in folders)
    return upstream, plain, ours


def test_folders_compilers_and_times_are_no_differences(tmp_path: Path) -> None:
    one = library((printing("import os; print(os.getcwd(), 'took', 1.25, 'sec')"),))
    upstream, plain, ours = both(tmp_path, one)
    row = compare(one, upstream, "-O0", 0, plain, ours)
    assert (row.differences, row.lines_of_tests, row.tests_exit_codes) == ([], 1, [0])
    said = f"{plain.fields['cc']} -c x.c\nPASS 0.5 s\n".encode()
    assert normalised(plain, said) == ["PASS <time>"]


def test_how_often_a_progress_display_was_written_is_no_difference(tmp_path: Path) -> None:
    plain = Built(tmp_path, dict.fromkeys(("source", "build", "cc", "cxx"), "/nowhere"))
    often = normalised(plain, b"one\r\n\r    2 of 9\r    7 of 9\r all done \r\ntwo\r")
    assert often == normalised(plain, b"one\n\r all done\ntwo") == ["one", " all done", "two"]
    aligned = [normalised(plain, f"Passed {time:>8.2f} sec".encode()) for time in (0.5, 10.5)]
    assert aligned == [["Passed <time>"]] * 2


@pytest.mark.parametrize("by_ours", ["False", "True"])
def test_a_build_that_took_another_compiler_proves_nothing(by_ours: str, tmp_path: Path) -> None:
    one = library((), step=compiling(by_ours))
    upstream, plain, ours = both(tmp_path, one)
    row = compare(one, upstream, "-O0", 0, plain, ours)
    assert row.differences == ["symfleet has not built it"]


@pytest.mark.parametrize("what", ["print(ours)", "sys.exit(ours)"])
def test_outputs_and_exit_codes_are_compared(what: str, tmp_path: Path) -> None:
    word = printing(f"import os; ours = 'symfleet' in os.getcwd(); {what}")
    one = library((word,), (word,))
    upstream, plain, ours = both(tmp_path, one)
    row = compare(one, upstream, "-O0", 1, plain, ours)
    assert len(row.differences) == 4
    assert row.runs == 3


def test_a_program_that_never_ends_is_compared_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.identity.comparing.PROGRAM_S", 0.2)
    one = library((), (printing("sys.stdin.read(); [0 for _ in iter(int, 1)]"),))
    upstream, plain, ours = both(tmp_path, one)
    row = compare(one, upstream, "-O0", 0, plain, ours)
    assert (row.differences, row.runs) == ([], 2)


def test_a_build_that_fails_says_where(tmp_path: Path) -> None:
    one = Library(Package("a", {}), "make", (printing("sys.exit('no rule')"),), ())
    with pytest.raises(BuildFailed, match="no rule"):
        both(tmp_path, one)


def test_a_missing_end_is_a_difference() -> None:
    assert difference("x", ["a", "b"], ["a"]) == "x: '2 lines' became '1'"
    assert difference("x", ["a"], ["a"]) == ""


def test_a_record_grows_and_is_found_again(tmp_path: Path) -> None:
    write(tmp_path / "identity-2026-01-01.json", RECORD)
    write(tmp_path / "identity-2026-01-02.json", Record("2026-01-02", "other", 19, 2, []))
    found = newest(tmp_path, "engine", 19)
    assert found == RECORD
    assert found.is_equal("a", "-O0")
    assert not found.is_equal("a", "-O2")
    assert newest(tmp_path, "engine", 14) is None


def test_a_newer_row_replaces_the_older_one() -> None:
    worse = msgspec.structs.replace(ROW, differences=["x"])
    after = joined(RECORD, "2026-01-03", [worse])
    assert (after.rows, after.differing) == ([worse], [worse])
    assert not after.is_equal("a", "-O0"), "what differed is compared again"
    assert "equal" in table(RECORD.rows)
    assert "equal" not in table(after.rows)


def test_at_least_twelve_libraries_by_every_usual_build_system() -> None:
    assert len({each.name for each in LIBRARIES}) == len(LIBRARIES) >= 12
    assert {"make", "autotools", "cmake", "meson"} <= {each.build_system for each in LIBRARIES}
    assert all(each.package.digests for each in LIBRARIES)
