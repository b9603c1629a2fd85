"""Functions with a model do what the real ones do, and what is recorded of them is true."""

from __future__ import annotations

import pathlib
import random

import pytest
from libc_models import (
    OPTIONS,
    PROGRAM,
    random_records,
    told_apart_alone,
    told_apart_in_a_session,
)
from wrapper import Compile

LEVELS = ("-O0", "-O2")


@pytest.mark.parametrize("level", LEVELS)
def test_models_are_the_real_functions(
    level: str, instrumented: Compile, tmp_path: pathlib.Path
) -> None:
    program = instrumented(PROGRAM, level, *OPTIONS)
    data = random_records(random.Random(level), 500)
    assert told_apart_alone(program, data, tmp_path) == ""


@pytest.mark.parametrize("level", LEVELS)
def test_models_are_the_real_functions_while_recording(
    level: str, instrumented: Compile, tmp_path: pathlib.Path
) -> None:
    program = instrumented(PROGRAM, level, *OPTIONS)
    data = random_records(random.Random(level), 40)
    assert told_apart_in_a_session(program, data, tmp_path) == ""
