"""Inline assembly that is followed: what is recorded of it, against the real instructions.

`models/assembly.c` has a function for each kind. Each number that the instructions give is made a
fact: a recording of one input foretells all numbers of another.
"""

from __future__ import annotations

import itertools
import pathlib
import random
import re
import subprocess

import pytest
from recording import FACT, Recording, Target, check_recording, evaluate
from wrapper import SOURCES, Compile

PROGRAM = SOURCES / "models" / "assembly.c"
KINDS = re.findall(r"^KIND\((\w+)\)", PROGRAM.read_text(), re.MULTILINE)
NOT_FOLLOWED = ("two_names",)
NEWER = {"bmi1", "bmi2", "abm"}
LEVELS = ("-O0", "-O2")
PAIRS = 12


def random_numbers(rng: random.Random) -> bytes:
    """Return two numbers, close to each other or small more often than chance has it."""
    first = rng.choice([rng.getrandbits(64), rng.getrandbits(8), 1 << rng.randrange(64), 2**64 - 1])
    near = (first + rng.randrange(-2, 3)) % 2**64
    second = rng.choice([rng.getrandbits(64), rng.getrandbits(7), near, first])
    return b"".join(number.to_bytes(8, "little") for number in (first, second))


def numbers_told(recording: Recording, data: bytes) -> list[tuple[int | None, int]]:
    """Return what the recording says of its facts on an input, and what they were."""
    values = evaluate(recording, data)
    return [(values[each.label], each.value) for each in recording.events if each.kind == FACT]


def processor_has(kind: str) -> bool:
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return kind != "newer" or set(flags.split()) >= NEWER


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", LEVELS)
def test_recordings_foretell_what_the_instructions_give(
    kind: str,
    level: str,
    llvm_versions: list[int],
    instrumented: Compile,
    plain: Compile,
    tmp_path: pathlib.Path,
) -> None:
    if not processor_has(kind):
        pytest.skip("this processor lacks the instructions")
    rng = random.Random(kind + level)
    llvm = rng.choice(llvm_versions)
    program, oracle = instrumented(PROGRAM, level, llvm=llvm), plain(PROGRAM)
    inputs = [random_numbers(rng) for _ in range(PAIRS)]
    recordings = []
    with Target([str(program), kind, "@@"], tmp_path / "input") as target:
        for data in inputs:
            recordings.append(target.run(data))
            said = target.output()
            (tmp_path / "given").write_bytes(data)
            done = subprocess.run(
                [oracle, kind, tmp_path / "given"], capture_output=True, check=True, timeout=60
            )
            assert said == done.stdout
            assert check_recording(recordings[-1], data) == []
            if kind not in NOT_FOLLOWED:
                assert recordings[-1].unmodelled == len(said.splitlines())
    if kind in NOT_FOLLOWED:
        assert all(recording.unmodelled for recording in recordings)
        return
    runs = list(zip(recordings, inputs, strict=True))
    for (first, _), (second, data) in itertools.permutations(runs, 2):
        told = [value for value, _ in numbers_told(first, data)]
        assert told == [value for _, value in numbers_told(second, data)]
