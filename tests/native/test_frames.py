"""A function's frame stays about as large as clang makes it: recursion ends where it did."""

from __future__ import annotations

import pathlib
import subprocess

import pytest
from wrapper import symfleet_cc

STATEMENTS = 300
DEPTH = 600
STACK_BYTES = 8 << 20
"""What most systems give a program; clang's frames need less than a fifth of it here."""


@pytest.fixture
def parser(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a long function that calls itself, as parsers of nested things do."""
    statements = [
        f"if (text[{at}] == 'a' + {at % 26}) total += text[{at + 1}] * next(total);"
        f" else total ^= next(total + {at});"
        for at in range(STATEMENTS)
    ]
    lines = [
        "#include <stdio.h>",
        "__attribute__((noinline)) static int next(int x) { return x * 5 + 1; }",
        f"static char text[{STATEMENTS + 2}];",
        "static int nested(int depth) {",
        "  int total = depth;",
        *statements,
        "  return depth ? total + nested(depth - 1) : total;",
        "}",
        "int main(void) {",
        "  fread(text, 1, sizeof text - 1, stdin);",
        f'  printf("%d\\n", nested({DEPTH}));',
        "}",
    ]
    path = tmp_path / "nested.c"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_deep_recursion_of_a_long_function_has_room_enough(
    parser: pathlib.Path, level: str
) -> None:
    program = parser.with_name("nested")
    compiled = symfleet_cc([level, str(parser), "-o", str(program)])
    assert compiled.returncode == 0, compiled.stderr
    run = subprocess.run(
        ["prlimit", f"--stack={STACK_BYTES}", program],
        input=b"abcdefgh" * 9,
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0
    assert run.stdout.strip()
