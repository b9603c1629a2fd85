"""Kill -9 of anything, again and again: the campaign comes out as if nobody had touched it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from symfleet.runtime.stores import open_reader
from symfleet.testing.jobs import Job, Role
from symfleet.testing.kills.loop import Facts, KillLoop, RunReport, collect_facts
from symfleet.testing.own_engine import compile_target, exhaustive_job
from symfleet.testing.programs import ProgramCampaign, well_status

TREE = Path(__file__).resolve().parent.parent / "programs" / "tree.py"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "exhaustible"
PATHS = 125
NODES = 150
SECONDS_A_SLOT = 0.03
KILLS = 10
WITHIN_S = 0.5


def tree(folder: Path, slots: int, coordinators: int = 1) -> ProgramCampaign:
    campaign = ProgramCampaign(
        folder, TREE, {"root": b"0"}, slots=slots, seconds=SECONDS_A_SLOT * slots
    )
    campaign.coordinators = coordinators
    return campaign


def undisturbed(folder: Path, slots: int) -> Facts:
    campaign = tree(folder, slots)
    job = campaign.job()
    try:
        assert job.run(120) == 0, job.story.read_text()
    finally:
        campaign.close()
    assert len(campaign.runs()) == len(set(campaign.runs())) == NODES, "each item ran exactly once"
    campaign.status()
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
@pytest.mark.parametrize(("slots", "coordinators"), [(1, 1), (2, 1), (4, 1), (6, 2)])
def test_ten_kills_leave_no_trace(
    tmp_path: Path,
    campaigns: list[ProgramCampaign],
    expected: Facts,
    capsys: pytest.CaptureFixture[str],
    slots: int,
    coordinators: int,
) -> None:
    campaign = tree(tmp_path, slots, coordinators)
    campaigns.append(campaign)
    chance = random.Random(100 + slots)
    job = campaign.job()
    report = KillLoop(job, campaign.log, chance, kills=KILLS, within_s=WITHIN_S).run()
    with capsys.disabled():
        print(told(report), end=" ", flush=True)
    assert_no_trace(report, expected, KILLS, job)
    assert report.run_again == ()
    assert report.runs >= NODES
    campaign.assert_tidy()


def told(report: RunReport) -> str:
    """Who was killed, for the reader of a test run."""
    killed = Counter(kill.role for kill in report.kills)
    roles = ", ".join(f"{role} {killed[role]}" for role in Role if killed[role])
    return f"[killed: {roles}; {report.epochs} epochs]"


def assert_no_trace(report: RunReport, expected: Facts, kills: int, job: Job) -> None:
    """Everything is as without kills, and each role of the job was killed."""
    killed = Counter(kill.role for kill in report.kills)
    print(f"killed: {dict(killed)} in {report.epochs} epochs, {report.runs} runs")
    story = f"{report.kills}\n{job.story.read_text()}"
    # A worker that was killed in the last epoch has not acknowledged: that is told with 2.
    assert report.exit_code in (0, 2), story
    assert sum(killed.values()) == kills, story
    assert set(killed) == set(job.roles), story
    assert report.findings == (), story
    assert report.facts == expected, story
    assert report.facts.poisoned == 0, story


@pytest.fixture(scope="module")
def exhaustible(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("target") / "exhaustible"
    compile_target(EXAMPLE / "exhaustible.c", target)
    return target


@pytest.fixture(scope="module")
def expected_of_own(tmp_path_factory: pytest.TempPathFactory, exhaustible: Path) -> Facts:
    """Of our own engine, undisturbed, on one slot."""
    folder = tmp_path_factory.mktemp("calm") / "folder"
    calm = exhaustive_job(folder, exhaustible, EXAMPLE / "seeds", slots=1)
    try:
        assert calm.run(120) == 0, calm.story.read_text()
    finally:
        calm.end()
    executed = well_status(calm.out).total.executed
    with open_reader(calm.out) as reader:
        facts = collect_facts(reader, calm.out)
    assert executed == len(facts.corpus) == len(facts.files) >= PATHS
    return facts


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C7")
@pytest.mark.parametrize("slots", [1, 2, 4])
def test_kills_leave_no_trace_in_a_campaign_of_our_own_engine(
    tmp_path: Path,
    exhaustible: Path,
    expected_of_own: Facts,
    capsys: pytest.CaptureFixture[str],
    slots: int,
) -> None:
    job = exhaustive_job(tmp_path / "killed", exhaustible, EXAMPLE / "seeds", slots=slots)
    try:
        chance = random.Random(7 + slots)
        report = KillLoop(job, None, chance, kills=len(job.roles), within_s=0.3).run()
        with capsys.disabled():
            print(told(report), end=" ", flush=True)
        assert_no_trace(report, expected_of_own, len(job.roles), job)
    finally:
        job.end()
