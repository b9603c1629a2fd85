"""A campaign that is stopped goes on where it was, and has one owner at a time."""

from __future__ import annotations

import os
import pty
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from symfleet.config.model import Stop
from symfleet.ledger.contract import LedgerStatus
from symfleet.runtime.stores import open_reader
from symfleet.testing.jobs import Job, Role, until
from symfleet.testing.programs import program_campaign

TREE = Path(__file__).resolve().parent.parent / "programs" / "tree.py"
NODES = 150


class Campaign:
    """A tree of inputs, two slots, a few milliseconds each."""

    def __init__(self, folder: Path) -> None:
        (folder / "seeds").mkdir()
        (folder / "seeds" / "root").write_bytes(b"0")
        self.folder = folder
        self.out = folder / "out"
        self.log = folder / "runs.log"
        self.jobs: list[Job] = []

    def job(self, *, seconds: float = 0.03, stop: Stop | None = None) -> Job:
        scratch = self.folder / f"launch{len(self.jobs)}"
        scratch.mkdir()
        config = program_campaign(
            self.out, self.folder / "seeds", TREE, self.log, slots=2, seconds=seconds, stop=stop
        )
        self.jobs.append(Job(config, scratch))
        return self.jobs[-1]

    def status(self) -> LedgerStatus:
        with open_reader(self.out) as reader:
            assert list(reader.audit()) == []
            return reader.status()

    def decisions(self) -> int:
        if not (self.out / "ledger.db").exists():
            return 0
        with open_reader(self.out) as reader:
            return reader.status().decisions

    def started(self, job: Job) -> Job:
        job.start()
        before = self.decisions()
        until("a decision is made", lambda: self.decisions() > before, 30)
        return job

    def finish(self) -> None:
        """Resume to the end: everything is explored, nothing twice."""
        before = self.status()
        assert 0 < before.total.executed < NODES
        job = self.job(seconds=0.0)
        assert job.run() == 0, job.story.read_text()
        after = self.status()
        assert after.total.executed == NODES
        assert after.this_epoch.executed == NODES - before.total.executed
        assert after.epochs == before.epochs + 1
        assert not any(any(reasons.values()) for reasons in after.faults_total.values())


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    made = Campaign(tmp_path)
    yield made
    for job in made.jobs:
        job.end()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_cleanly_and_resume_goes_on(campaign: Campaign, signum: int) -> None:
    job = campaign.started(campaign.job())
    os.kill(job.pid, signum)
    assert job.wait() == 0, job.story.read_text()
    epoch = campaign.status().epoch
    assert epoch is not None
    assert epoch.reason == "interrupted"
    campaign.finish()


def test_a_closed_terminal_ends_cleanly(campaign: Campaign) -> None:
    """The launcher runs in a session whose terminal goes away, as with a lost connection."""
    job = campaign.job()
    master, slave = pty.openpty()
    job.start(terminal=slave)
    os.close(slave)
    until("a decision is made", lambda: campaign.decisions() > 0, 30)
    os.close(master)
    assert job.wait() == 0
    epoch = campaign.status().epoch
    assert epoch is not None
    assert epoch.reason == "interrupted"
    campaign.finish()


def test_a_second_signal_stops_at_once(campaign: Campaign) -> None:
    job = campaign.started(campaign.job(seconds=5.0))
    began = time.monotonic()
    os.kill(job.pid, signal.SIGTERM)
    until("the first is heard", lambda: "SIGTERM" in job.story.read_text(), 10)
    os.kill(job.pid, signal.SIGTERM)
    assert job.wait() == 0, job.story.read_text()
    assert time.monotonic() - began < 8
    assert campaign.status().total.executed >= 1


def test_a_time_limit_ends_cleanly_and_resume_goes_on(campaign: Campaign) -> None:
    job = campaign.job(seconds=0.05, stop=Stop(max_time_s=1.0))
    assert job.run() == 0, job.story.read_text()
    epoch = campaign.status().epoch
    assert epoch is not None
    assert epoch.reason == "max_time"
    campaign.finish()


def test_a_number_of_executions_ends_cleanly_and_resume_goes_on(campaign: Campaign) -> None:
    job = campaign.job(stop=Stop(max_executions=20))
    assert job.run() == 0, job.story.read_text()
    assert 20 <= campaign.status().total.executed < 40
    campaign.finish()


@pytest.mark.guarantee("L8")
def test_a_second_job_is_refused_until_the_first_is_killed(campaign: Campaign) -> None:
    first = campaign.started(campaign.job())
    second = campaign.job()
    began = time.monotonic()
    assert second.run() == 75
    assert time.monotonic() - began < 3.0  # two seconds of waiting and an interpreter's start
    story = second.story.read_text()
    assert f"process {first.pid} on " in story
    (launcher,) = first.find(Role.LAUNCHER)
    first.members()
    before = campaign.decisions()
    assert first.kill(launcher)
    third = campaign.started(campaign.job())
    first.assert_nothing_left()
    assert campaign.decisions() > before
    os.kill(third.pid, signal.SIGTERM)
    assert third.wait() == 0, third.story.read_text()
    campaign.finish()
