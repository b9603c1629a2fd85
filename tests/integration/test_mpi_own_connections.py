"""Campaigns on real MPI whose coordinators write to PostgreSQL over their own connections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from symfleet.config.model import Stop
from symfleet.testing.jobs import Role, until
from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.types import input_id_of

PROGRAM = Path(__file__).resolve().parent.parent / "programs" / "none.py"
MANY = {f"seed{n:02}": b"%d" % n for n in range(48)}


@pytest.fixture
def campaign(tmp_path: Path, postgres: Cluster) -> Iterator[ProgramCampaign]:
    made = ProgramCampaign(tmp_path, PROGRAM, MANY, slots=6, seconds=0.1)
    made.ledger, made.coordinators, made.own_connections = postgres.url, 2, True
    yield made
    made.close()
    made.assert_tidy()


def sessions(postgres: Cluster) -> int:
    """How many coordinators of any campaign hold their lock on the server."""
    with psycopg.connect(postgres.url) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"
            " AND mode = 'ExclusiveLock' AND granted"
        ).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.guarantee("L1")
@pytest.mark.guarantee("Q1")
@pytest.mark.guarantee("Q4")
@pytest.mark.guarantee("C7")
def test_two_coordinators_share_a_frontier_on_a_server(
    campaign: ProgramCampaign, postgres: Cluster
) -> None:
    job = campaign.job()
    job.start()
    campaign.wait_for_decision(job)
    until("both hold their locks", lambda: sessions(postgres) == 2, 20)
    assert job.wait() == 0, job.story.read_text()
    status = campaign.status()
    assert status.total.executed == len(MANY)
    assert [(one.acknowledged, one.workers) for one in status.coordinators] == [(3, 3), (3, 3)]
    assert all(one.executed for one in status.coordinators)
    assert set(campaign.corpus_files()) == {input_id_of(data) for data in MANY.values()}
    assert sorted(campaign.runs()) == sorted(set(campaign.runs()))


@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("L6")
@pytest.mark.guarantee("C7")
def test_a_killed_coordinator_is_taken_over_on_the_server(campaign: ProgramCampaign) -> None:
    job = campaign.job()
    job.start()
    campaign.wait_for_decision(job)
    (victim,) = job.find(Role.COORDINATOR)
    assert job.kill(victim)
    assert job.wait() in (0, 2), job.story.read_text()
    status = campaign.status()
    assert (status.epochs, status.total.executed) == (1, len(MANY))
    assert set(campaign.corpus_files()) == {input_id_of(data) for data in MANY.values()}


def test_a_limit_counts_what_others_execute_without_the_root(campaign: ProgramCampaign) -> None:
    job = campaign.job(stop=Stop(max_executions=12))
    assert job.run() == 0, job.story.read_text()
    status = campaign.status()
    assert 12 <= status.total.executed < len(MANY)
    assert status.epoch is not None
    assert status.epoch.reason == "max_executions"
