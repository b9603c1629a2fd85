"""What a run records is true, and a program does the same with and without instrumentation."""

from __future__ import annotations

import os
import pathlib
import random
import re
import subprocess

import pytest
from recording import COVER, EOF, FACT, INPUT, Target, check_recording
from wrapper import SOURCES, Compile

from symfleet.testing.random_programs.writing import write_inputs, write_program

SEEDS = range(6)
INPUTS = 3
OPTIONS = ("-fwrapv",)


def output_of(program: pathlib.Path, *arguments: str | pathlib.Path) -> bytes:
    done = subprocess.run([program, *arguments], capture_output=True, timeout=60, check=True)
    return done.stdout


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("optimisation", "age"), [("-O0", 0), ("-O2", 0), ("-O1", 1), ("-O3", -1)])
def test_rows_explain_every_event_of_random_programs(
    seed: int,
    optimisation: str,
    age: int,
    llvm_versions: list[int],
    instrumented: Compile,
    plain: Compile,
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: pathlib.Path,
) -> None:
    source = tmp_path_factory.getbasetemp() / f"random{seed}.c"
    if not source.exists():
        source.write_text(write_program(seed))
    llvm = llvm_versions[age if abs(age) < len(llvm_versions) else 0]
    program = instrumented(source, optimisation, *OPTIONS, llvm=llvm)
    oracle = plain(source, *OPTIONS)
    with Target([str(program), "@@"], tmp_path / "input") as target:
        for number, data in enumerate(write_inputs(seed, INPUTS)):
            file = tmp_path / f"given{number}"
            file.write_bytes(data)
            expected = output_of(oracle, file)
            recording = target.run(data)
            assert recording.status == 0
            assert target.output() == expected
            assert check_recording(recording, data) == []
            assert recording.degraded == 0
            assert recording.branches
            assert output_of(program, file) == expected  # without an executor


@pytest.mark.parametrize("source", ["arithmetic.c", "memory.c", "classes.cpp"])
@pytest.mark.parametrize("optimisation", ["-O0", "-O2"])
def test_rows_explain_every_event_of_the_capability_cases(
    source: str, optimisation: str, instrumented: Compile, tmp_path: pathlib.Path
) -> None:
    path = SOURCES / "cases" / source
    program = instrumented(path, optimisation)
    rng = random.Random(source)
    for name in re.findall(r'\{"(\w+)", \1\}', path.read_text()):
        with Target([str(program), name, "@@"], tmp_path / "input") as target:
            for _ in range(3):
                data = rng.randbytes(24)
                faults = check_recording(target.run(data), data)
                assert faults == [], f"{name} on {data.hex()}"


def test_a_cover_run_counts_the_same_edges_and_records_nothing(
    instrumented: Compile, tmp_path: pathlib.Path
) -> None:
    program = instrumented(SOURCES / "cases" / "arithmetic.c", "-O2")
    data = bytes(range(16))
    with Target([str(program), "nested", "@@"], tmp_path / "input") as target:
        recorded, covered = target.run(data), target.run(data, COVER)
        again = target.run(b"nest" + data)
    assert covered.edges == recorded.edges
    assert any(covered.edges)
    assert (len(covered.rows), covered.events, covered.symbolic_bytes) == (1, [], 0)
    assert again.edges != recorded.edges


def test_sites_are_the_same_in_two_builds_and_differ_between_branches(
    tmp_path: pathlib.Path, instrumented: Compile
) -> None:
    path = SOURCES / "cases" / "arithmetic.c"
    sites = []
    builds = []
    for options in ((), ("-DREBUILT",)):
        program = instrumented(path, "-O2", *options)
        with Target([str(program), "nested", "@@"], tmp_path / "input") as target:
            recording = target.run(b"nesteX0123456789")
            sites.append([event.site for event in recording.branches])
            builds.append(target.build_id)
    assert sites[0] == sites[1]
    assert len(set(sites[0])) == len(sites[0]) > 5
    assert builds[0] == builds[1]


def test_standard_input_is_symbolic_in_every_execution(
    tmp_path: pathlib.Path, instrumented: Compile
) -> None:
    source = tmp_path / "reader.c"
    source.write_text(
        "#include <stdio.h>\nint main(void) { int c = getchar(); if (c == 'x') puts(\"x\");\n"
        "  char b[9]; if (fread(b, 1, 9, stdin) != 9) return 3; return b[8] == 'y'; }\n"
    )
    with Target([str(instrumented(source, "-O1"))], tmp_path / "input") as target:
        for _ in range(3):
            long = target.run(b"A123456789")
            # Whether there is a first character, and which one.
            assert len(long.branches) == 2
            assert long.input_opens == 1
            short = target.run(b"A")
            assert os.waitstatus_to_exitcode(short.status) == 3
            assert [event.value for event in short.events if event.kind == EOF] == [10]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_bytes_that_the_buffer_of_cin_gives_are_the_inputs(
    level: str, tmp_path: pathlib.Path, instrumented: Compile, plain: Compile
) -> None:
    source = tmp_path / "bytes.cpp"
    source.write_text(
        "#include <cstdio>\n#include <iostream>\n#include <iterator>\nint main() {\n"
        "  int first = std::getchar(), next = std::cin.rdbuf()->sgetc();\n"
        '  std::printf("%d %d\\n", first, next);\n'
        "  for (std::istreambuf_iterator<char> i(std::cin), end; i != end; ++i)\n"
        "    if (*i == 'x') std::puts(\"x\");\n  return std::cin.get() == -1 ? 0 : 1; }\n"
    )
    program, oracle = instrumented(source, level), plain(source, level)
    data = b"Abx!"
    with Target([str(program)], tmp_path / "input") as target:
        recording = target.run(data)
        seen = target.output()
    done = subprocess.run([oracle], input=data, capture_output=True, timeout=60, check=True)
    assert seen == done.stdout
    assert check_recording(recording, data) == []
    rows = recording.rows
    compared = [rows[rows[event.label].a] for event in recording.branches]
    compared = [row if row.op == INPUT else rows[row.a] for row in compared]  # extended or not
    assert {row.k for row in compared if row.op == INPUT} >= {1, 2, 3}
    assert [event.value for event in recording.events if event.kind == EOF] == [5]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_text_that_was_copied_with_its_size_is_the_inputs(
    level: str, tmp_path: pathlib.Path, instrumented: Compile
) -> None:
    source = tmp_path / "copies.c"
    source.write_text(
        "#include <stdio.h>\n#include <string.h>\nint main(void) {\n"
        "  char from[16], to[64] = {0}; size_t size = fread(from, 1, 15, stdin);\n"
        '  memcpy(to, from, size); to[size] = 0; return strcmp(to, "abcdefgh") == 0; }\n'
    )
    with Target([str(instrumented(source, level))], tmp_path / "input") as target:
        recording = target.run(b"abcdXfgh")
    # What is compared is an input byte and no choice of the size; what the place of
    # the terminator says is a fact about the size, not about an address.
    compared = [recording.rows[event.label] for event in recording.branches][-5:]
    assert [recording.rows[row.a].op for row in compared] == [INPUT] * 5
    facts = [event.value for event in recording.events if event.kind == FACT]
    assert facts
    assert max(facts) < 1 << 32


def test_full_tables_degrade_the_run_and_do_not_end_it(
    tmp_path: pathlib.Path, instrumented: Compile, plain: Compile
) -> None:
    source = tmp_path / "many.c"
    source.write_text(write_program(2))
    program, oracle = instrumented(source, "-O1", *OPTIONS), plain(source, *OPTIONS)
    data = write_inputs(2, 1)[0]
    file = tmp_path / "given"
    file.write_bytes(data)
    for caps in ({"rows": 50}, {"events": 5}, {"blobs": 16}):
        with Target([str(program), "@@"], tmp_path / "input", **caps) as target:
            recording = target.run(data)
            assert recording.status == 0
            assert target.output() == output_of(oracle, file)
            assert recording.degraded != 0, caps
            assert check_recording(recording, data) == []


def test_a_target_with_address_sanitizer_records_and_reports(
    tmp_path: pathlib.Path, instrumented: Compile
) -> None:
    source = tmp_path / "overflow.c"
    source.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char **v) {\n"
        '  FILE *f = fopen(v[1], "rb"); char *p = malloc(8); int n = getc(f);\n'
        "  static const char t[256] = {[7] = 9}; if (t[n] == 9) p[n + 1] = 1;\n"
        "  return p[0] == 77; }\n"
    )
    program = instrumented(source, "-O1", "-fsanitize=address")
    with Target([str(program), "@@"], tmp_path / "input") as target:
        quiet = target.run(b"A")
        assert quiet.status in (0, 256)
        assert check_recording(quiet, b"A") == []
        assert len(quiet.branches) >= 1
        assert target.run(b"\x07").status != 0
        assert b"heap-buffer-overflow" in target.output()
