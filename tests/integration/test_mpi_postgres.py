"""A campaign on real MPI whose ledger is on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from symfleet.testing.jobs import Role
from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.types import input_id_of

Make = Callable[..., ProgramCampaign]


@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("L6")
def test_a_killed_campaign_on_a_server_that_crashes_loses_and_repeats_nothing(
    make: Make, postgres: Cluster
) -> None:
    campaign = make("two", one=b"1", two=b"2", three=b"3")
    campaign.ledger = postgres.url
    campaign.seconds = 0.1
    job = campaign.job()
    job.start()
    campaign.wait_for_decision(job)
    (launcher,) = job.find(Role.LAUNCHER)
    assert job.kill(launcher)
    job.assert_nothing_left()
    for seed in campaign.seeds.iterdir():
        seed.unlink()
    again = campaign.job()
    again.start()
    campaign.wait_for_decision(again)
    postgres.halt("immediate")
    postgres.start()
    assert again.wait() == 0, again.story.read_text()
    inputs = {input_id_of(data) for data in (b"1", b"2", b"3", b"A", b"B")}
    status = campaign.status()
    assert status.epoch is not None
    assert (status.epoch.epoch, status.epoch.reason) == (2, "quiescent")
    assert status.total.executed == len(inputs)
    assert set(campaign.corpus_files()) == inputs
    assert not (campaign.out / "ledger.db").exists()
