"""Models of libstdc++ do what the real functions do, what is recorded of them is true, and it
foretells what they do with other inputs."""

from __future__ import annotations

import pathlib
import random
import re

import pytest
from foretelling import compare
from libc_models import OPTIONS, random_records, told_apart_alone, told_apart_in_a_session
from recording import Target
from wrapper import SOURCES, Compile

PROGRAM = SOURCES / "models" / "cxx_models.cpp"
MODELS = SOURCES.parents[1] / "native" / "include" / "symfleet" / "cxx_models.def"
FUNCTIONS = len(re.findall(r"^SF_MODEL\(", MODELS.read_text(), re.MULTILINE))
CHANGED_BYTES = 12
"""The first bytes of a record, from which streams of strings are made."""
BUILDS = (("-O0",), ("-O2", "-DOWN_BUFFER"), ("-O1",))


@pytest.mark.parametrize("options", BUILDS, ids="".join)
def test_models_are_the_real_functions(
    options: tuple[str, ...], instrumented: Compile, tmp_path: pathlib.Path
) -> None:
    program = instrumented(PROGRAM, *options, *OPTIONS)
    data = random_records(random.Random(options[0]), 2000)
    assert told_apart_alone(program, data, tmp_path) == ""


@pytest.mark.parametrize("options", BUILDS[:2], ids="".join)
def test_models_are_the_real_functions_while_recording(
    options: tuple[str, ...], instrumented: Compile, tmp_path: pathlib.Path
) -> None:
    program = instrumented(PROGRAM, *options, *OPTIONS)
    data = random_records(random.Random(options[0]), 50)
    assert told_apart_in_a_session(program, data, tmp_path) == ""


@pytest.mark.parametrize("function", range(FUNCTIONS))
def test_a_recording_foretells_another_input(
    function: int, instrumented: Compile, tmp_path: pathlib.Path
) -> None:
    program = instrumented(PROGRAM, *BUILDS[2], *OPTIONS)
    rng = random.Random(function)
    branches = 0
    with Target([str(program), "@@", str(function)], tmp_path / "input") as target:
        for _ in range(40):
            record = random_records(rng, 1)
            at = rng.randrange(CHANGED_BYTES)
            other = record[:at] + rng.choice([b"0", b"a", b" ", b"-", b"x", b"\n", b"\0"])
            other += record[at + 1 :]
            first, second = target.run(record), target.run(other)
            assert (first.status, second.status) == (0, 0), target.output()
            target.output()
            found = compare(first, second, other)
            assert not found.fault, (record.hex(), other.hex())
            branches += found.branches
    assert branches > 0
