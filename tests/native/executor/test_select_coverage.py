"""A choice that an optimiser made of a branch is coverage like the branch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CHOICE = r"""
#include <unistd.h>
int main(void) {
  unsigned char byte = 0;
  if (read(0, &byte, 1) != 1)
    return 1;
  return byte == 'x' ? 3 : 5;
}
"""


@pytest.mark.parametrize("option", ["-O0", "-O1", "-O2", "-O3"])
def test_both_arms_of_a_select_are_edges(
    start: Callable[[], Any],
    instrumented: Callable[..., Path],
    llvm_versions: list[int],
    tmp_path: Path,
    option: str,
) -> None:
    source = tmp_path / "choice.c"
    source.write_text(CHOICE)
    for llvm in llvm_versions:
        executor = start()
        executor.hello([str(instrumented(source, option, llvm=llvm))], input_mode="stdin")
        answer = executor.run(b"a")
        by_input = dict(zip(answer.inputs, answer.children, strict=True))
        assert by_input.keys() == {b"x", b""}, f"LLVM {llvm}"
        assert by_input[b"x"].edges != answer.done.edges
