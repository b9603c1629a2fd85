"""Kill -9 of anything, again and again: the campaign comes out as if nobody had touched it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from symfleet.runtime.stores import open_reader
from symfleet.testing.jobs import Job
from symfleet.testing.kill_loop import Facts, collect_facts, disturb
from symfleet.testing.programs import program_campaign

TREE = Path(__file__).resolve().parent.parent / "programs" / "tree.py"
NODES = 150
SECONDS_A_SLOT = 0.035
KILLS = 10
WITHIN_S = 0.5


def make_job(folder: Path, slots: int) -> tuple[Job, Path]:
    (folder / "seeds").mkdir(parents=True)
    (folder / "seeds" / "root").write_bytes(b"0")
    (folder / "tmp").mkdir()
    log = folder / "runs.log"
    config = program_campaign(
        folder / "out",
        folder / "seeds",
        TREE,
        log,
        slots=slots,
        seconds=SECONDS_A_SLOT * slots,
    )
    return Job(config, folder, env={"TMPDIR": str(folder / "tmp")}), log


def undisturbed(folder: Path, slots: int) -> Facts:
    job, log = make_job(folder, slots)
    try:
        assert job.run() == 0, job.story.read_text()
    finally:
        job.end()
    runs = log.read_text().split()
    assert len(runs) == len(set(runs)) == NODES, "each item ran exactly once"
    with open_reader(job.out) as reader:
        status = reader.status()
        assert not any(any(reasons.values()) for reasons in status.faults_total.values())
        assert list(reader.audit()) == []
        return collect_facts(reader, job.out)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return undisturbed(tmp_path_factory.mktemp("undisturbed"), 1)


@pytest.mark.guarantee("C7")
@pytest.mark.parametrize("slots", [2, 4])
def test_the_result_does_not_depend_on_the_number_of_slots(
    tmp_path: Path, expected: Facts, slots: int
) -> None:
    assert undisturbed(tmp_path, slots) == expected


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C2")
@pytest.mark.guarantee("C5")
@pytest.mark.guarantee("C8")
@pytest.mark.guarantee("J9")
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("slots", [1, 2, 4])
def test_ten_kills_leave_no_trace(tmp_path: Path, expected: Facts, slots: int, seed: int) -> None:
    report = disturb(
        lambda: make_job(tmp_path, slots),
        random.Random(seed * 100 + slots),
        kills=KILLS,
        within_s=WITHIN_S,
    )
    story = (tmp_path / "launcher.log").read_text()
    assert report.exit_code in (0, 2), f"{report.kills}\n{story}"
    assert len(report.kills) == KILLS, f"{report.kills}\n{story}"
    assert report.run_again == ()
    assert report.findings == ()
    assert report.facts == expected
    assert report.facts.poisoned == 0
    assert list((tmp_path / "tmp").iterdir()) == [], "nothing is left outside the output folder"
    assert not (tmp_path / "out" / ".run").exists()
