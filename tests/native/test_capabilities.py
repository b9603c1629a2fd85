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

SEED = b"A" * 16
INPUTS_MAX = 600
GENERATIONS_MAX = 30
BATCH = 48
TIMEOUT_S = 60


def cases() -> Iterator[tuple[str, str, str]]:
    for source in ("arithmetic.c", "memory.c", "classes.cpp"):
        text = (SOURCES / "cases" / source).read_text()
        names = re.findall(r'\{"(\w+)", \1\}', text)
        assert len(names) > 5
        for optimisation in ("-O0", "-O2"):
            for name in names:
                yield source, optimisation, name


def children_of(
    executor: pathlib.Path, program: pathlib.Path, name: str, inputs: list[pathlib.Path]
) -> list[bytes]:
    """Give a batch of inputs to the executor and return the distinct children."""
    folder = inputs[0].parent / f"{inputs[0].name}-children"
    words = [word for path in inputs for word in ("-i", str(path))]
    subprocess.run(
        [executor, *words, "-o", folder, "--", program, name, "@@"],
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return [child.read_bytes() for child in sorted(folder.glob("*"))] if folder.is_dir() else []


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
    seen = {SEED}
    pending = [SEED]
    for generation in range(GENERATIONS_MAX):
        batch, pending = pending[:BATCH], pending[BATCH:]
        if not batch or len(seen) > INPUTS_MAX:
            break
        files: list[pathlib.Path] = []
        for number, data in enumerate(batch):
            file = tmp_path / f"{generation}-{number}"
            file.write_bytes(data)
            files.append(file)
        for child in children_of(native / "bin" / "symfleet-exec", program, name, files):
            if child in seen:
                continue
            seen.add(child)
            pending.append(child)
            trial = tmp_path / "trial"
            trial.write_bytes(child)
            printed = subprocess.run(
                [oracle, name, trial], capture_output=True, timeout=TIMEOUT_S, check=False
            ).stdout
            if b"HIT" in printed:
                return
    pytest.fail(f"no input among {len(seen)} reaches the condition")
