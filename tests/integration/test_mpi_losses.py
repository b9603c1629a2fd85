"""What is lost with a process, and what goes on without it (architecture: failure domains)."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from symfleet.config.model import Advanced, Limits, Resources
from symfleet.ledger.contract import LedgerStatus
from symfleet.testing.jobs import Job, Role, until
from symfleet.testing.programs import ProgramCampaign
from symfleet.types import input_id_of

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
SEEDS = {f"seed{n:02}": b"%d" % n for n in range(24)}
Make = Callable[..., ProgramCampaign]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[ProgramCampaign] = []

    def campaign(*, slots: int, seconds: float) -> ProgramCampaign:
        program = PROGRAMS / "none.py"
        made.append(ProgramCampaign(tmp_path, program, SEEDS, slots=slots, seconds=seconds))
        return made[-1]

    yield campaign
    for one in made:
        one.close()
        one.assert_tidy()


def started(campaign: ProgramCampaign, job: Job) -> None:
    job.start()
    campaign.wait_for_decision(job)


def assert_complete(campaign: ProgramCampaign, *disturbed: str) -> LedgerStatus:
    """Everything was executed, nothing was decided twice, nobody was blamed."""
    status = campaign.status(disturbed=disturbed)
    assert status.total.executed == len(SEEDS)
    assert set(campaign.runs()) == {input_id_of(data) for data in SEEDS.values()}
    return status


def single_slot_workers(job: Job) -> None:
    """Give every slot a rank of its own."""
    job.config = dataclasses.replace(
        job.config, resources=Resources(jobs=job.config.resources.jobs, slots_per_worker=1)
    )


@pytest.mark.guarantee("J6")
@pytest.mark.guarantee("Q4")
def test_survivors_of_a_lost_worker_go_on_in_the_same_epoch(make: Make) -> None:
    campaign = make(slots=5, seconds=0.3)
    job = campaign.job()
    single_slot_workers(job)
    started(campaign, job)
    assert job.kill(job.find(Role.WORKER)[0])
    assert job.wait() == 2, job.story.read_text()
    status = assert_complete(campaign)
    assert status.epochs == 1
    (acks,) = status.coordinators
    assert (acks.acknowledged, acks.workers) == (4, 5)
    assert len(acks.missing) == 1


def test_a_new_epoch_brings_back_slots_when_too_few_are_left(make: Make) -> None:
    campaign = make(slots=2, seconds=0.1)
    job = campaign.job()
    started(campaign, job)
    assert job.kill(job.find(Role.WORKER)[0])
    assert job.wait() == 0, job.story.read_text()
    assert assert_complete(campaign).epochs == 2


@pytest.mark.parametrize("role", [Role.ROOT, Role.MPIRUN])
def test_the_launcher_opens_the_next_epoch_by_itself(make: Make, role: Role) -> None:
    campaign = make(slots=2, seconds=0.1)
    job = campaign.job()
    started(campaign, job)
    assert job.kill(job.find(role)[0])
    assert job.wait() == 0, job.story.read_text()
    assert assert_complete(campaign).epochs == 2


@pytest.mark.parametrize("role", [Role.EXECUTOR, Role.TARGET])
def test_a_killed_executor_or_target_is_replaced_unblamed(make: Make, role: Role) -> None:
    campaign = make(slots=2, seconds=0.2)
    job = campaign.job()
    started(campaign, job)
    until("one of them runs", lambda: bool(job.find(role)), 10)
    job.kill(job.find(role)[0])
    assert job.wait() == 0, job.story.read_text()
    assert assert_complete(campaign).epochs == 1


@pytest.mark.long
def test_a_stopped_worker_is_given_up(make: Make) -> None:
    campaign = make(slots=5, seconds=0.5)
    job = campaign.job()
    job.config = dataclasses.replace(
        job.config,
        limits=Limits(wall_ms=20_000, solver_ms=0),
        advanced=Advanced(idle_window_s=0.1, delivery_silence_s=10, progress_s=0.5),
    )
    single_slot_workers(job)
    started(campaign, job)
    assert job.kill(job.find(Role.WORKER)[0], signal.SIGSTOP)
    assert job.wait(170) == 2, job.story.read_text()
    assert_complete(campaign, "silence_timeouts")
