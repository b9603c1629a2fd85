"""Campaigns on real MPI whose engine is a program of a few lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.stores.postgres_cluster import Cluster

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


@pytest.fixture
def share(tmp_path: Path) -> Iterator[Callable[..., ProgramCampaign]]:
    """Make campaigns that several coordinators share, two of three slots unless told otherwise."""
    made: list[ProgramCampaign] = []

    def campaign(
        program: str, seeds: dict[str, bytes], *, coordinators: int = 2, slots: int = 6
    ) -> ProgramCampaign:
        folder = tmp_path / str(len(made))
        made.append(ProgramCampaign(folder, PROGRAMS / f"{program}.py", seeds, slots=slots))
        made[-1].coordinators = coordinators
        return made[-1]

    yield campaign
    for one in made:
        one.close()
        one.assert_tidy()


@pytest.fixture(params=["sqlite", "postgres"])
def anywhere(request: pytest.FixtureRequest) -> str:
    """The setting `ledger` of a campaign, for each kind of store."""
    if request.param == "sqlite":
        return ""
    cluster: Cluster = request.getfixturevalue("postgres")
    return cluster.url
