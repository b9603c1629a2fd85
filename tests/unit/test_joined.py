"""Jobs that somebody else starts, and that can never work: refused before anything is touched."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from symfleet.clock import SystemClock
from symfleet.errors import UserError
from symfleet.runtime.joined import follow_if_told

_NAMES = (
    "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK", "PMIX_SIZE",
    "PMIX_RANK", "SLURM_NTASKS",
)  # fmt: skip


@pytest.fixture
def started_with(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def set_variables(**variables: str) -> None:
        for name in _NAMES:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return set_variables


@pytest.mark.parametrize("rank", ["0", "2"])
def test_each_rank_of_srun_with_pmi2_says_what_to_do(
    started_with: Callable[..., None], rank: str
) -> None:
    started_with(PMI_SIZE="3", PMI_RANK=rank, SLURM_NTASKS="3")
    with pytest.raises(UserError, match="PMIx only") as refusal:
        follow_if_told(SystemClock())
    assert "srun --mpi=pmix" in refusal.value.hint


@pytest.mark.parametrize(
    "variables",
    [
        {"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0", "PMIX_RANK": "0"},
        {"SLURM_NTASKS": "1", "PMIX_RANK": "0"},
    ],
)
def test_a_job_of_one_rank_is_refused(
    started_with: Callable[..., None], variables: dict[str, str]
) -> None:
    started_with(**variables)
    with pytest.raises(UserError, match="one rank"):
        follow_if_told(SystemClock())


def test_the_root_of_several_ranks_goes_on_to_its_campaign(
    started_with: Callable[..., None],
) -> None:
    started_with(SLURM_NTASKS="3", PMIX_RANK="0")
    follow_if_told(SystemClock())
    started_with(SLURM_NTASKS="3")  # the job script of a batch system, or srun --mpi=none
    follow_if_told(SystemClock())
