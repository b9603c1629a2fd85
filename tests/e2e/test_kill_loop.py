"""Kill -9 of anything, again and again: the campaign comes out as if nobody had touched it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from symfleet.testing.kill_loop import Facts, KillLoop, collect_facts
from symfleet.testing.programs import ProgramCampaign, faults_of

TREE = Path(__file__).resolve().parent.parent / "programs" / "tree.py"
NODES = 150
SECONDS_A_SLOT = 0.03
KILLS = 10
WITHIN_S = 0.5


def tree(folder: Path, slots: int) -> ProgramCampaign:
    return ProgramCampaign(
        folder, TREE, {"root": b"0"}, slots=slots, seconds=SECONDS_A_SLOT * slots
    )


def undisturbed(folder: Path, slots: int) -> Facts:
    campaign = tree(folder, slots)
    job = campaign.job()
    try:
        assert job.run(120) == 0, job.story.read_text()
    finally:
        campaign.close()
    assert len(campaign.runs()) == len(set(campaign.runs())) == NODES, "each item ran exactly once"
    assert faults_of(campaign.status()) == {}
    with campaign.reader() as reader:
        return collect_facts(reader, campaign.out)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return undisturbed(tmp_path_factory.mktemp("undisturbed"), 1)


@pytest.mark.guarantee("C7")
@pytest.mark.parametrize("slots", [2, 4])
def test_the_result_does_not_depend_on_the_number_of_slots(
    tmp_path: Path, expected: Facts, slots: int
) -> None:
    assert undisturbed(tmp_path, slots) == expected


@pytest.fixture
def campaigns(tmp_path: Path) -> Iterator[list[ProgramCampaign]]:
    made: list[ProgramCampaign] = []
    yield made
    for campaign in made:
        campaign.close()


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C2")
@pytest.mark.guarantee("C5")
@pytest.mark.guarantee("C8")
@pytest.mark.guarantee("J9")
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("slots", [1, 2, 4])
def test_ten_kills_leave_no_trace(
    tmp_path: Path, campaigns: list[ProgramCampaign], expected: Facts, slots: int, seed: int
) -> None:
    campaign = tree(tmp_path, slots)
    campaigns.append(campaign)
    chance = random.Random(seed * 100 + slots)
    job = campaign.job()
    report = KillLoop(job, campaign.log, chance, kills=KILLS, within_s=WITHIN_S).run()
    story = f"{report.kills}\n{job.story.read_text()}"
    assert report.exit_code in (0, 2), story
    assert len(report.kills) == KILLS, story
    assert report.run_again == (), story
    assert report.findings == (), story
    assert report.facts == expected, story
    assert report.facts.poisoned == 0
    assert list(campaign.tmp.iterdir()) == [], "nothing is left outside the output folder"
    assert not (campaign.out / ".run").exists()
