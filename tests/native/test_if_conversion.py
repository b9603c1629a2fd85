"""Branches that only choose a value are selects without an optimiser, too; others stay."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess

import pytest
from wrapper import symfleet_cc

CHOOSES = {
    "both_ways": "int y; if (c > x) y = x + 1; else y = x - 1; return y;",
    "one_way": "int y = x; if (c > x) y = y * 3; return y;",
    "other_way": "int y = x; if (c > x) ; else y = c; return y;",
    "one_in_another": "int y = 0; if (c & 1) { if (c & 2) { y = x; x = y + 1; } else y = -x; }"
    " return y * 7 ^ x;",
    "swaps": "if (c > x) { int t = c; c = x; x = t; } return c * 3 + x;",
    "of_a_loop": "for (int i = 0; i < 9; i++) if (x & 1) x = x >> 1 ^ c; else x = x * 2; return x;",
    "value": "return (c > x ? c - x : x - c) * 2;",
    "narrow": "signed char y = 0; if (c > x) y = (signed char)x; return y;",
}
STAYS = {
    "observed": "volatile int y = 0; if (c > x) y = 1; return y;",
    "known_elsewhere": "int y = 0; see(&y); if (c > x) y = 1; return y;",
    "may_trap": "int y = 0; if (c) y = x / c; return y;",
    "calls": "int y = 0; if (c > x) y = see(&x); return y;",
    "reads_memory": "int y = 0; int *p = c ? &x : 0; if (p) y = *p; return y;",
    "returns_twice": "int y = 0; if (setjmp(place)) return y; if (c > x) y = 1; else y = 2;"
    " if (y == 1) longjmp(place, 1); return y;",
    "both_asked": "return c > 3 && x > 4;",
}


def source() -> str:
    functions = [
        f"int {name}(int c, int x) {{ {body} }}" for name, body in {**CHOOSES, **STAYS}.items()
    ]
    calls = [f'printf("{name} %d\\n", {name}(c, x));' for name in (*CHOOSES, *STAYS)]
    return "\n".join(
        [
            "#include <setjmp.h>\n#include <stdio.h>",
            "static jmp_buf place;",
            "__attribute__((noinline)) static int see(int *x) { return *x += 5; }",
            *functions,
            "int main(void) { for (int c = -9; c < 9; c++) for (int x = -9; x < 9; x++) {",
            *calls,
            "} return 0; }",
        ]
    )


@pytest.fixture(scope="module")
def folder(native: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    made = tmp_path_factory.mktemp("if-conversion")
    (made / "ways.c").write_text(source())
    return made


def selects(ir: str, name: str) -> int:
    body = re.search(rf"define [^\n]*@{name}\(.*?\n}}\n", ir, re.DOTALL)
    assert body is not None
    return len(re.findall(r" = select i1 ", body[0]))


def test_what_only_chooses_is_a_select_and_the_rest_stays(
    folder: pathlib.Path, llvm_versions: list[int]
) -> None:
    for llvm in llvm_versions:
        words = ["-O0", "-S", "-emit-llvm", str(folder / "ways.c"), "-o", str(folder / "ways.ll")]
        assert symfleet_cc(words, SYMFLEET_CLANG=f"clang-{llvm}").returncode == 0
        ir = (folder / "ways.ll").read_text()
        assert {name for name in CHOOSES if not selects(ir, name)} == set()
        assert {name for name in STAYS if selects(ir, name)} == set()


@pytest.mark.parametrize("debug", ["-g0", "-g"])
def test_they_choose_what_they_chose(
    debug: str, folder: pathlib.Path, llvm_versions: list[int]
) -> None:
    for llvm in llvm_versions:
        words = ["-O0", debug, str(folder / "ways.c"), "-o"]
        subprocess.run([f"clang-{llvm}", *words, str(folder / "plain")], check=True)
        done = symfleet_cc([*words, str(folder / "ours")], SYMFLEET_CLANG=f"clang-{llvm}")
        assert done.returncode == 0, done.stderr
        outputs = [
            subprocess.run(
                [folder / name], stdout=subprocess.PIPE, env=os.environ, check=True, timeout=60
            ).stdout
            for name in ("plain", "ours")
        ]
        assert outputs[0] == outputs[1]
        assert len(outputs[0].splitlines()) == 18 * 18 * len({**CHOOSES, **STAYS})
