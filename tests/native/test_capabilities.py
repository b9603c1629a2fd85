"""Every capability of the engine: a condition is reached from a seed that says nothing of it.

The oracle is the program built by clang alone: a case counts when *that* program prints HIT on an
input that the engine made.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
from collections.abc import Iterator

import pytest
from wrapper import SOURCES, Compile

from symfleet.testing.capabilities.exploring import Budget, Exploration
from symfleet.testing.capabilities.programs import Way

SEED = b"A" * 16
INPUTS_MAX = 600
BUDGET = Budget(inputs=INPUTS_MAX, seconds=60)
TIMEOUT_S = 60


def cases() -> Iterator[tuple[str, str, str]]:
    for source in ("arithmetic.c", "memory.c", "classes.cpp"):
        text = (SOURCES / "cases" / source).read_text()
        names = re.findall(r'\{"(\w+)", \1\}', text)
        assert len(names) > 5
        for optimisation in ("-O0", "-O2"):
            for name in names:
                yield source, optimisation, name


@pytest.mark.parametrize(("source", "optimisation", "name"), list(cases()))
def test_reaches_the_condition(
    source: str,
    optimisation: str,
    name: str,
    native: pathlib.Path,
    instrumented: Compile,
    plain: Compile,
    tmp_path: pathlib.Path,
) -> None:
    path = SOURCES / "cases" / source
    program, oracle = instrumented(path, optimisation), plain(path)
    executor, trial = native / "bin" / "symfleet-exec", tmp_path / "trial"
    found = Exploration(executor, program, Way.FILE, tmp_path, BUDGET, (name,))
    count = 0
    for produced, _ in found.batches(SEED):
        count += len(produced)
        for child in produced:
            trial.write_bytes(child.input)
            printed = subprocess.run(
                [oracle, name, trial], capture_output=True, timeout=TIMEOUT_S, check=False
            ).stdout
            if b"HIT" in printed:
                return
        if count > INPUTS_MAX:
            break
    pytest.fail(f"no input among {count} reaches the condition: {found.why()}")


def test_a_longer_number_is_also_written_before_what_follows_it(
    native: pathlib.Path, instrumented: Compile, tmp_path: pathlib.Path
) -> None:
    source = tmp_path / "number.c"
    source.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n"
        "int main(void) { char d[64] = {0}, *end; fread(d, 1, 63, stdin);\n"
        "  unsigned long a = strtoul(d, &end, 10), b = strtoul(end, &end, 10);\n"
        "  return a == 4096 && b == 80 && *end == 10; }\n"
    )
    program = instrumented(source, "-O0")
    executor = native / "bin" / "symfleet-exec"
    found = Exploration(executor, program, Way.STDIN, tmp_path, Budget(inputs=1))
    produced, _ = next(found.batches(b"1 2\n"))
    assert b"4096 2\n" in {child.input for child in produced}


@pytest.mark.parametrize("optimisation", ["-O0", "-O2"])
def test_a_copied_word_goes_on_where_it_came_from(
    optimisation: str, native: pathlib.Path, instrumented: Compile, tmp_path: pathlib.Path
) -> None:
    source = tmp_path / "keyword.c"
    source.write_text(
        "#include <stdio.h>\n#include <string.h>\n"
        "int main(void) { char d[32] = {0}, word[16]; fread(d, 1, 31, stdin);\n"
        '  return sscanf(d, "%15[a-z]", word) == 1 && strcmp(word, "return") == 0; }\n'
    )
    program = instrumented(source, optimisation)
    executor = native / "bin" / "symfleet-exec"
    found = Exploration(executor, program, Way.STDIN, tmp_path, Budget(inputs=1))
    produced, _ = next(found.batches(b"re = 12345;"))
    assert any(child.input.startswith(b"return") for child in produced)


@pytest.mark.parametrize("optimisation", ["-O0", "-O2"])
def test_how_far_a_word_of_a_format_goes_is_a_question(
    optimisation: str, native: pathlib.Path, instrumented: Compile, tmp_path: pathlib.Path
) -> None:
    source = tmp_path / "format.c"
    source.write_text(
        "#include <stdio.h>\n"
        "int main(void) { char d[32] = {0}, key[8], value[8]; int used = 0;\n"
        "  fread(d, 1, 31, stdin);\n"
        '  if (sscanf(d, "%7[a-c]=%7[^;];%n", key, value, &used) != 2) return 1;\n'
        "  return used == 9 ? 2 : 3; }\n"
    )
    program = instrumented(source, optimisation)
    executor = native / "bin" / "symfleet-exec"
    found = Exploration(executor, program, Way.STDIN, tmp_path, Budget(inputs=1))
    produced, _ = next(found.batches(b"a=b;12345678"))
    assert any(child.input[:2] == b"a=" and child.input[8:9] == b";" for child in produced)


def test_a_format_of_widths_is_met_by_a_packed_text(
    native: pathlib.Path, instrumented: Compile, tmp_path: pathlib.Path
) -> None:
    source = tmp_path / "date.c"
    source.write_text(
        "#include <stdio.h>\n"
        "int main(void) { char d[9] = {0}; int year, month, day; fread(d, 1, 8, stdin);\n"
        '  if (sscanf(d, "%4d%2d%2d", &year, &month, &day) != 3) return 1;\n'
        "  return year == 2024 && month == 12 && day == 24 ? 2 : 3; }\n"
    )
    program = instrumented(source, "-O1")
    executor = native / "bin" / "symfleet-exec"
    found = Exploration(executor, program, Way.STDIN, tmp_path, Budget(inputs=1))
    (first, *_), _ = next(found.batches(b"AAAAAAAA"))
    assert first.input.startswith(b"0001011")


def test_nothing_is_asked_of_a_number_that_a_stream_has_not_found(
    native: pathlib.Path, instrumented: Compile, tmp_path: pathlib.Path
) -> None:
    source = tmp_path / "stream.cpp"
    source.write_text(
        "#include <iostream>\n"
        "int main() { short a = 0; return std::cin >> a && a == -7 ? 2 : 3; }\n"
    )
    program = instrumented(source, "-O1")
    executor = native / "bin" / "symfleet-exec"
    found = Exploration(executor, program, Way.STDIN, tmp_path, Budget(inputs=1))
    produced, _ = next(found.batches(b"AAAAAAAA"))
    assert b"1AAAAAAA" in {child.input for child in produced}
    assert found.flips["unsat"] == 0
