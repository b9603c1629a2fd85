"""Which program coverage belongs to."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from symfleet.config.model import CampaignConfig, Limits, Target
from symfleet.coverage.generation import (
    engine_build_of,
    generation_id_of,
    generation_key,
    key_differences,
)
from symfleet.errors import IOFailure
from symfleet.types import parse_generation_id

CONFIG = CampaignConfig(target=Target(argv=("./t", "-x", "@@")))


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "t"
    path.write_bytes(b"program")
    return path


def test_the_same_program_elsewhere_is_the_same_generation(program: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    moved.write_bytes(program.read_bytes())
    config = dataclasses.replace(CONFIG, target=Target(argv=(str(moved), "-x", "@@")))
    here, there = generation_key(CONFIG, program, "e"), generation_key(config, moved, "e")
    assert here == there
    assert key_differences(here, there) == []
    assert parse_generation_id(generation_id_of(here)) == generation_id_of(there)


def test_everything_that_changes_results_makes_another_generation(program: Path) -> None:
    before = generation_key(CONFIG, program, "e")
    longer = dataclasses.replace(CONFIG, limits=Limits(rows=1234))
    other_arguments = dataclasses.replace(CONFIG, target=Target(argv=("./t", "@@")))
    by_stdin = dataclasses.replace(CONFIG, target=Target(argv=("./t", "-x")))
    keys = [
        generation_key(longer, program, "e"),
        generation_key(other_arguments, program, "e"),
        generation_key(by_stdin, program, "e"),
        generation_key(CONFIG, program, "f"),
    ]
    program.write_bytes(b"another program")
    keys.append(generation_key(CONFIG, program, "e"))
    assert len({generation_id_of(key) for key in [before, *keys]}) == 6
    said = [" ".join(one.text for one in key_differences(before, key)) for key in keys]
    assert "rows: 4000000 in the campaign, 1234 now" in said[0]
    assert "arguments: -x @@ in the campaign, @@ now" in said[1]
    assert "input mode: file in the campaign, stdin now" in said[2]
    assert "engine build: e in the campaign, f now" in said[3]
    assert said[4].startswith("target: ")


def test_an_engine_is_its_version_its_words_and_its_files(tmp_path: Path) -> None:
    script = tmp_path / "engine.py"
    script.write_text("one")
    words = ("python", str(script), "@@")
    builds = [engine_build_of(words, "1"), engine_build_of(words, "2")]
    builds.append(engine_build_of((*words, "-v"), "1"))
    script.write_text("two")
    builds.append(engine_build_of(words, "1"))
    assert len(set(builds)) == 4


def test_a_program_that_cannot_be_read_is_an_io_failure(tmp_path: Path) -> None:
    with pytest.raises(IOFailure):
        generation_key(CONFIG, tmp_path / "nowhere", "e")
