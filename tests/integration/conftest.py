"""Campaigns on real MPI whose engine is a program of a few lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from symfleet.testing.programs import ProgramCampaign

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., ProgramCampaign]]:
    """Make campaigns of a program in tests/programs with these seeds (name=bytes)."""
    made: list[ProgramCampaign] = []

    def campaign(program: str, **seeds: bytes) -> ProgramCampaign:
        made.append(ProgramCampaign(tmp_path, PROGRAMS / f"{program}.py", seeds))
        return made[-1]

    yield campaign
    for one in made:
        one.close()
        one.assert_tidy()
