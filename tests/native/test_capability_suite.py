"""The capability suite: its programs are fair cases, its driver tells the truth, and what the last
record calls solved is solved (a part of it at each change, by turns)."""

from __future__ import annotations

import dataclasses
import datetime
import pathlib
from collections.abc import Callable

import pytest

from symfleet.testing.capabilities import building
from symfleet.testing.capabilities.building import LEVELS, Cell
from symfleet.testing.capabilities.exploring import Budget
from symfleet.testing.capabilities.judging import Finding, Trial, Verdict
from symfleet.testing.capabilities.page import page
from symfleet.testing.capabilities.programs import (
    BadHeader,
    Program,
    parse_bytes,
    read_program,
    read_programs,
)
from symfleet.testing.capabilities.record import (
    Record,
    joined,
    newest_record,
    read_record,
    write_record,
)
from symfleet.testing.capabilities.running import run
from symfleet.testing.kills.rotation import turn_of, window

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "capabilities" / "programs"
RESULTS = ROOT / "benchmarks" / "results"
PROGRAMS = read_programs(FOLDER)
TURN = turn_of(ROOT, datetime.datetime.now(datetime.UTC).date())
FAIR_CASES = 12
SOLVED_CASES = 4
SOLVED_LEVELS = ("O0", "O2")
SOLVED_INPUTS_MAX = 100
"""What needed more is left to the full form: it takes too long on a busy machine."""
PATIENT = Budget(seconds=90)
STRICT = ("-Wall", "-Wextra", "-Werror")

Write = Callable[[str], Program]


def test_there_is_a_program_for_each_capability() -> None:
    assert len(PROGRAMS) >= 120
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert len({program.exercises for program in PROGRAMS}) == len(PROGRAMS)
    for program in PROGRAMS:
        assert program.seed != program.solution
        assert program.library is None or program.library.is_file()
    told = {source.name for source in FOLDER.iterdir()}
    known = {program.source.name for program in PROGRAMS}
    known |= {program.library.name for program in PROGRAMS if program.library is not None}
    assert told - known == {"capability.h", building.HARNESS_MAIN}


def is_fair(program: Program, cell: Cell, folder: pathlib.Path) -> None:
    target = folder / program.name
    building.build(program, cell, building.plain(cell), target, STRICT)
    assert run(target, program.way, program.solution, folder).hit
    on_seed = run(target, program.way, program.seed, folder)
    assert not on_seed.hit
    assert on_seed.status is not None
    assert on_seed.status >= 0


@pytest.mark.parametrize(
    "program", window(PROGRAMS, TURN, FAIR_CASES), ids=lambda program: program.name
)
def test_clang_has_no_warning_and_only_the_solution_reaches_the_condition(
    program: Program, llvm_versions: list[int], tmp_path: pathlib.Path
) -> None:
    cell = Cell(LEVELS[TURN % len(LEVELS)], llvm_versions[TURN % len(llvm_versions)])
    is_fair(program, cell, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_program_is_fair_everywhere(
    program: Program, llvm_versions: list[int], tmp_path: pathlib.Path
) -> None:
    for llvm in llvm_versions:
        for level in LEVELS:
            is_fair(program, Cell(level, llvm), tmp_path)


def solved_before() -> list[tuple[Program, str]]:
    """What the newest record calls solved with its newest LLVM."""
    record = newest_record(RESULTS)
    if record is None or not record.verdicts:
        return []
    newest = max(verdict.llvm for verdict in record.verdicts)
    by_name = {program.name: program for program in PROGRAMS}
    return [
        (by_name[verdict.program], verdict.level)
        for verdict in record.verdicts
        if verdict.finding is Finding.SOLVED
        and (verdict.llvm, verdict.level in SOLVED_LEVELS) == (newest, True)
        and verdict.program in by_name
        and verdict.explored <= SOLVED_INPUTS_MAX
    ]


@pytest.fixture
def trial(native: pathlib.Path) -> Trial:
    return Trial(native / "bin" / "symfleet-exec", PATIENT)


@pytest.mark.parametrize(
    ("program", "level"),
    window(solved_before(), TURN, SOLVED_CASES),
    ids=lambda value: value.name if isinstance(value, Program) else value,
)
def test_what_was_solved_is_solved(
    program: Program, level: str, trial: Trial, llvm_versions: list[int]
) -> None:
    verdict = trial.judge(program, Cell(level, llvm_versions[0]))
    assert verdict.finding is Finding.SOLVED, verdict


@pytest.fixture
def write(tmp_path: pathlib.Path) -> Write:
    """A function that makes a program of the text behind its header: the seed is A, Z solves."""

    def written(text: str) -> Program:
        source = tmp_path / "case.c"
        header = "// Exercises: the driver\n// Input: stdin; seed: 41\n// Solution: 5a\n"
        source.write_text(f'{header}#include "{FOLDER / "capability.h"}"\n{text}\n')
        return read_program(source)

    return written


@pytest.fixture
def judge(trial: Trial, write: Write, llvm_versions: list[int]) -> Callable[[str], Verdict]:
    return lambda text: trial.judge(write(text), Cell("O1", llvm_versions[0]))


CONDITION = "if (getchar() == 'Z') hit(); return tell(1);"


def test_a_condition_that_is_reached_is_solved(judge: Callable[[str], Verdict]) -> None:
    verdict = judge(f"int main(void) {{ {CONDITION} }}")
    assert (verdict.finding, verdict.solved, verdict.reason) == (Finding.SOLVED, True, "")
    assert verdict.explored == 1
    assert verdict.produced >= 1


def test_a_condition_on_what_the_engine_cannot_see_is_unsolved_with_its_reason(
    judge: Callable[[str], Verdict],
) -> None:
    verdict = judge(
        "int main(void) { char c = 0; long got;\n"
        '  __asm__ volatile("syscall" : "=a"(got) : "a"(0l), "D"(0l), "S"(&c), "d"(1l)\n'
        '                   : "rcx", "r11", "memory");\n'
        "  if (got == 1 && c == 'Z') hit(); return tell(1); }"
    )
    assert verdict.finding is Finding.UNSOLVED
    assert not verdict.solved
    assert "no_symbolic_byte" in verdict.reason


@pytest.mark.parametrize(
    "difference",
    ['puts("another word");', "return 9;", "raise(SIGSEGV);", "for (;;) pause();"],
)
def test_a_build_that_does_something_else_is_told_apart(
    difference: str, trial: Trial, write: Write, llvm_versions: list[int]
) -> None:
    program = write(
        "#include <signal.h>\nint main(void) {\n"
        f"#ifdef __SYMFLEET__\n  {difference}\n#endif\n  {CONDITION} }}"
    )
    hasty = dataclasses.replace(trial, run_s=5.0)
    verdict = hasty.judge(program, Cell("O1", llvm_versions[0]))
    assert verdict.finding is Finding.DIFFERS
    assert "clang: status" in verdict.reason


def test_a_run_that_ends_otherwise_while_it_is_recorded_is_told_apart(
    judge: Callable[[str], Verdict],
) -> None:
    verdict = judge(
        "#include <sys/resource.h>\nint main(void) { struct rlimit files; int c = getchar();\n"
        "  getrlimit(RLIMIT_NOFILE, &files);\n"  # the executor allows 256
        "  if (files.rlim_cur == 256) return 3;\n  if (c == 'Z') hit(); return tell(1); }"
    )
    assert verdict.finding is Finding.DIFFERS
    assert "recorded: status 3" in verdict.reason


def test_what_our_compiler_refuses_is_told_apart_from_what_clang_refuses(
    judge: Callable[[str], Verdict],
) -> None:
    ours = judge(f"#ifdef __SYMFLEET__\n#error refused\n#endif\nint main(void) {{ {CONDITION} }}")
    assert ours.finding is Finding.NO_BUILD
    assert "refused" in ours.reason
    both = judge(f"#error refused\nint main(void) {{ {CONDITION} }}")
    assert both.finding is Finding.UNFIT


@pytest.mark.parametrize("condition", ["getchar() == 'Y'", "getchar()"])
def test_a_wrong_header_is_no_case(condition: str, judge: Callable[[str], Verdict]) -> None:
    verdict = judge(f"int main(void) {{ if ({condition}) hit(); return tell(1); }}")
    assert verdict.finding is Finding.UNFIT


def test_bytes_of_a_header() -> None:
    assert parse_bytes("41*3 0a0b ff*2") == b"AAA\x0a\x0b\xff\xff"
    assert parse_bytes("-") == b""
    for wrong in ("4", "xy", "41*x", "41*99999999"):
        with pytest.raises(BadHeader):
            parse_bytes(wrong)


def test_a_header_without_a_line_is_refused(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "case.c"
    for text in (
        "int main(void) {}\n",
        "// Input: stdin; seed: 41\n// Exercises: x\n",
        "// Input: nowhere; seed: 41\n// Solution: 42\n// Exercises: x\n",
    ):
        source.write_text(text)
        with pytest.raises(BadHeader, match=r"case\.c"):
            read_program(source)


def verdicts() -> list[Verdict]:
    return [
        Verdict("strlen", "O0", 19, Finding.SOLVED, solved=True, how="scan"),
        Verdict("strlen", "O2", 19, Finding.UNSOLVED, reason="all_unsat x1 | a*b"),
        Verdict("strchr", "O0", 19, Finding.DIFFERS, reason="clang: status 0"),
    ]


def test_the_page_has_every_program_the_totals_and_the_reasons() -> None:
    programs = read_programs(FOLDER, ["strlen", "strchr"])
    text = page(verdicts(), programs, "Measured then.")
    assert "| -O0, LLVM 19 | 2 | 1 | 0 | 1 | 0 | 0 |" in text
    assert "| `strlen` | strlen | solved | **unsolved** |" in text
    assert "| `strlen` | -O2, LLVM 19 | unsolved: all\\_unsat x1 \\| a\\*b |" in text
    assert text.index("Not the same program") < text.index("Not solved")


def test_records_of_one_engine_are_joined_and_of_another_replaced(tmp_path: pathlib.Path) -> None:
    first, second, third = verdicts()
    before = joined(None, "engine", "2026-01-01", [first, second])
    again = Verdict("strlen", "O2", 19, Finding.SOLVED, solved=True)
    after = joined(before, "engine", "2026-01-02", [again, third])
    assert after == Record("2026-01-02", "engine", [third, first, again])
    assert joined(before, "other", "2026-01-02", [third]).verdicts == [third]
    path = tmp_path / "capabilities-2026-01-02.json"
    write_record(path, after)
    assert read_record(path) == after == newest_record(tmp_path)
