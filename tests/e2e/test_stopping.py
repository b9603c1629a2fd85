"""A campaign that is stopped goes on where it was, and has one owner at a time."""

from __future__ import annotations

import os
import pty
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from symfleet.config.model import Stop
from symfleet.testing.jobs import Job, Role, until
from symfleet.testing.programs import ProgramCampaign

TREE = Path(__file__).resolve().parent.parent / "programs" / "tree.py"
NODES = 100
UNTRIED = 2
"""All was to be tried, and the launch ended before that."""


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[ProgramCampaign]:
    made = ProgramCampaign(
        tmp_path, TREE, {"root": b"0"}, slots=2, seconds=0.1, env=[f"NODES={NODES}"]
    )
    yield made
    made.close()
    made.assert_tidy()


def started(campaign: ProgramCampaign, **how: float) -> Job:
    job = campaign.job(**how)  # type: ignore[arg-type]
    epochs = campaign.epochs()
    job.start()
    # Ranks of a launcher that was killed decide a little longer: that is not this job yet.
    until("its epoch begins", lambda: campaign.epochs() > epochs or not job.is_running, 30)
    campaign.wait_for_decision(job)
    return job


def reason(campaign: ProgramCampaign) -> str | None:
    epoch = campaign.status().epoch
    return None if epoch is None else epoch.reason


def finish(campaign: ProgramCampaign) -> None:
    """Resume to the end: everything is explored, nothing twice."""
    before = campaign.status()
    assert 0 < before.total.executed < NODES
    job = campaign.job(seconds=0.0)
    assert job.run() == 0, job.story.read_text()
    after = campaign.status()
    assert after.total.executed == NODES
    assert after.this_epoch.executed == NODES - before.total.executed
    assert after.epochs == before.epochs + 1


def stop_by(signum: int) -> Callable[[ProgramCampaign], None]:
    def stop(campaign: ProgramCampaign) -> None:
        job = started(campaign)
        os.kill(job.pid, signum)
        assert job.wait() == UNTRIED, job.story.read_text()
        assert reason(campaign) == "interrupted"

    return stop


def stop_by_closing_the_terminal(campaign: ProgramCampaign) -> None:
    """The launcher runs in a session whose terminal goes away, as with a lost connection."""
    job = campaign.job()
    master, slave = pty.openpty()
    job.start(terminal=slave)
    os.close(slave)
    campaign.wait_for_decision(job)
    os.close(master)
    assert job.wait() == UNTRIED
    assert reason(campaign) == "interrupted"


def stop_by_time(campaign: ProgramCampaign) -> None:
    # Long enough for workers that start on a busy machine, and too short for all nodes.
    job = campaign.job(seconds=0.2, stop=Stop(max_time_s=3.0))
    assert job.run() == 0, job.story.read_text()
    assert reason(campaign) == "max_time"


def stop_by_executions(campaign: ProgramCampaign) -> None:
    job = campaign.job(stop=Stop(max_executions=4))
    assert job.run() == 0, job.story.read_text()
    assert reason(campaign) == "max_executions"


STOPS: dict[str, Callable[[ProgramCampaign], None]] = {
    "Ctrl-C": stop_by(signal.SIGINT),
    "SIGTERM": stop_by(signal.SIGTERM),
    "hang-up": stop_by(signal.SIGHUP),
    "closed terminal": stop_by_closing_the_terminal,
    "time": stop_by_time,
    "executions": stop_by_executions,
}


def test_every_way_to_stop_leaves_a_campaign_that_goes_on(campaign: ProgramCampaign) -> None:
    executed = 0
    for number, (name, stop) in enumerate(STOPS.items(), start=1):
        stop(campaign)
        status = campaign.status()
        assert executed < status.total.executed < NODES, name
        assert status.total.executed == executed + status.this_epoch.executed, name
        assert status.epochs == number, name
        executed = status.total.executed
    finish(campaign)


def test_a_second_signal_stops_at_once(campaign: ProgramCampaign) -> None:
    job = started(campaign, seconds=5.0)
    began = time.monotonic()
    os.kill(job.pid, signal.SIGTERM)
    until("the first is heard", lambda: "SIGTERM" in job.story.read_text(), 10)
    os.kill(job.pid, signal.SIGTERM)
    assert job.wait() == UNTRIED, job.story.read_text()
    assert time.monotonic() - began < 8
    assert campaign.status().total.executed >= 1


@pytest.mark.alone
@pytest.mark.guarantee("L8")
def test_a_second_job_is_refused_until_the_first_is_killed(campaign: ProgramCampaign) -> None:
    first = started(campaign)
    second = campaign.job()
    began = time.monotonic()
    assert second.run() == 75
    assert time.monotonic() - began < 2.0  # one second of waiting and an interpreter's start
    story = second.story.read_text()
    assert f"process {first.pid} on " in story
    (launcher,) = first.find(Role.LAUNCHER)
    first.members()
    before = campaign.decisions()
    assert first.kill(launcher)
    third = started(campaign)
    assert third.is_running, third.story.read_text()
    first.assert_nothing_left()
    assert campaign.decisions() > before
    os.kill(third.pid, signal.SIGTERM)
    assert third.wait() == UNTRIED, third.story.read_text()
    finish(campaign)
