"""What happens to a running campaign on a bad day: disks fill up, rights are lost, clocks are set,
the machine starts anew. Each ends with its own code and four parts, and goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from symfleet.cli.app import run
from symfleet.errors import ExitCode, parts_of
from symfleet.testing.jobs import Job, Role, until
from symfleet.testing.programs import ProgramCampaign, well_status
from symfleet.testing.shifted_wall import YEAR_S, ShiftedWall
from symfleet.testing.small_disk import SmallDisk

TREE = Path(__file__).resolve().parent.parent / "programs" / "tree.py"
NODES = 30


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[ProgramCampaign]:
    made = ProgramCampaign(
        tmp_path / "campaign", TREE, {"root": b"0"}, seconds=0.1, env=[f"NODES={NODES}"]
    )
    yield made
    made.close()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A file system with room for a campaign."""
    try:
        made = SmallDisk(tmp_path / "disk", "112m")
    except OSError as error:
        pytest.skip(str(error))
    yield made
    made.close()


def started(campaign: ProgramCampaign, **how: Any) -> Job:
    job = campaign.job(**how)
    job.start()
    campaign.wait_for_decision(job)
    return job


def error_of(campaign: ProgramCampaign, job: Job) -> tuple[str, str, str, str]:
    """Return the error that a launch ended with: of the epoch's verdict, else what the launcher
    said last; it was not started again."""
    story = job.story.read_text()
    assert "next epoch" not in story, story
    if not story:
        with campaign.reader() as reader:
            epoch = reader.status().epoch
        assert epoch is not None
        story = epoch.reason or ""
    what, where, why, hint = parts_of(story.splitlines()[-1])
    assert all((what, why, hint)), story
    return what, where, why, hint


def assert_goes_on(campaign: ProgramCampaign, **how: Any) -> None:
    """Resume to the end: everything is there, and nothing that was decided is done again."""
    before = campaign.status()
    assert 0 < before.total.executed < NODES
    job = campaign.job(seconds=0.0, **how)
    assert job.run() == ExitCode.DONE, job.story.read_text()
    after = campaign.status()
    assert after.total.executed == NODES
    assert after.this_epoch.executed == NODES - before.total.executed
    assert len(campaign.corpus_files()) == NODES
    assert set(campaign.corpus_files().values()) == {b"%d" % node for node in range(NODES)}
    assert run(["verify", str(campaign.out)]) == ExitCode.DONE


# ---- disks --------------------------------------------------------------------------------------


@pytest.mark.guarantee("A2")
@pytest.mark.guarantee("Q4")
def test_a_disk_that_fills_up_stops_the_campaign_in_order(
    campaign: ProgramCampaign, disk: SmallDisk
) -> None:
    campaign.out = disk.folder / "out"
    job = started(campaign)
    disk.fill()
    assert job.wait() == ExitCode.IO, job.story.read_text()
    *_, hint = error_of(campaign, job)
    assert "symfleet resume" in hint
    disk.free()
    status = campaign.status()
    assert status.epoch is not None
    assert status.epoch.exit_code == ExitCode.IO, "there was room for the verdict"
    assert [(one.acknowledged, one.workers) for one in status.coordinators] == [(2, 2)]
    assert_goes_on(campaign)


@pytest.mark.guarantee("A2")
@pytest.mark.guarantee("C6")
def test_a_full_disk_below_the_corpus_alone_loses_nothing(
    campaign: ProgramCampaign, tmp_path: Path
) -> None:
    """OUT/corpus lies on another disk than the ledger."""
    campaign.out.mkdir()
    try:
        corpus = SmallDisk(campaign.out / "corpus", "4m")
    except OSError as error:
        pytest.skip(str(error))
    try:
        job = started(campaign)
        until("something is published there", lambda: bool(campaign.corpus_files()), 30)
        corpus.fill()
        assert job.wait() == ExitCode.IO, job.story.read_text()
        _, where, why, hint = error_of(campaign, job)
        assert where.startswith(str(corpus.folder))
        assert "No space left" in why
        assert "symfleet resume" in hint
        corpus.free()
        assert_goes_on(campaign)
    finally:
        campaign.close()
        corpus.close()


# ---- rights -------------------------------------------------------------------------------------


@pytest.fixture
def read_only() -> Iterator[list[Path]]:
    """Folders that `lock_up` has made read-only."""
    locked: list[Path] = []
    yield locked
    for folder in locked:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def lock_up(folder: Path, locked: list[Path]) -> None:
    """Take the right to write in a folder away: for root, too."""
    for words in (["--bind", str(folder), str(folder)], ["-o", "remount,ro,bind", str(folder)]):
        done = subprocess.run(["mount", *words], capture_output=True, check=False)
        if done.returncode:
            pytest.skip(f"a folder cannot be made read-only here: {done.stderr.decode().strip()}")
        if "--bind" in words:
            locked.append(folder)


@pytest.mark.guarantee("A2")
@pytest.mark.parametrize("name", [".", pytest.param("corpus", marks=[pytest.mark.long])])
def test_a_folder_that_may_not_be_written_any_more_ends_the_campaign_in_order(
    campaign: ProgramCampaign, read_only: list[Path], name: str
) -> None:
    if os.geteuid() != 0:
        pytest.skip("a read-only mount needs root")
    job = started(campaign)
    until("something is published", lambda: bool(campaign.corpus_files()), 30)
    lock_up(campaign.out / name, read_only)
    assert job.wait() == ExitCode.IO, job.story.read_text()
    what, _, why, hint = error_of(campaign, job)
    assert "cannot be" in what
    assert "Read-only file system" in why
    assert "writable" in hint
    refused = campaign.job()
    assert refused.run() == ExitCode.IO, refused.story.read_text()
    assert "Read-only file system" in error_of(campaign, refused)[2]
    subprocess.run(["umount", "-l", str(read_only.pop())], check=True)
    assert_goes_on(campaign)


# ---- clocks and machines ------------------------------------------------------------------------


@pytest.mark.guarantee("L4")
@pytest.mark.guarantee("L5")
def test_a_wall_clock_that_is_set_by_years_changes_nothing(
    campaign: ProgramCampaign, tmp_path: Path
) -> None:
    try:
        wall = ShiftedWall(tmp_path)
    except OSError as error:
        pytest.skip(str(error))
    job = started(campaign, env=wall.env)
    for shift in (-YEAR_S, 2 * YEAR_S, 0, YEAR_S):
        wall.set(shift)
        campaign.wait_for_decision(job)
    for member in job.find(Role.LAUNCHER):
        job.kill(member)
    job.assert_nothing_left()
    wall.set(-YEAR_S)
    status = campaign.status()
    assert status.epoch is not None
    opened = status.epoch.opened_wall
    assert_goes_on(campaign, env=wall.env)
    with campaign.reader() as reader:
        first, second = reader.epochs()
    assert second.opened_wall < opened - YEAR_S / 2, "the clock was indeed set"
    assert first.reason is None


@pytest.mark.guarantee("L8")
@pytest.mark.guarantee("C8")
def test_what_a_machine_leaves_that_starts_anew_holds_nothing(campaign: ProgramCampaign) -> None:
    """Locks name processes of before: dead ones, and one whose number somebody else has now."""
    job = started(campaign)
    for member in reversed(job.members()):
        job.kill(member)
    job.assert_nothing_left()
    somebody = {"host": os.uname().nodename, "pid": 1, "epoch": 7, "since": 4e9}
    (campaign.out / "owner.lock").write_text(json.dumps(somebody))
    (campaign.out / "job.lock").write_text(json.dumps({**somebody, "epoch": None}))
    left = campaign.out / ".run" / "1"
    left.mkdir(parents=True, exist_ok=True)
    (left / "beat").write_bytes(b"12")
    (campaign.out / ".staging").mkdir(exist_ok=True)
    (campaign.out / ".staging" / ".staging-77-0").write_bytes(b"half a fi")
    assert_goes_on(campaign)
    assert not (campaign.out / ".run").exists()
    assert list((campaign.out / ".staging").iterdir()) == []


# ---- settings -----------------------------------------------------------------------------------


def test_settings_that_change_between_launches_are_kept_for_each_and_shown(
    campaign: ProgramCampaign, capsys: pytest.CaptureFixture[str]
) -> None:
    job = started(campaign)
    os.kill(job.pid, signal.SIGTERM)
    assert job.wait() == ExitCode.FINISHED_WITH_FAULTS, "all was to be tried"
    campaign.slots = 1
    campaign.env = (*campaign.env, "EXTRA=more")
    assert_goes_on(campaign)
    capsys.readouterr()
    assert run(["status", str(campaign.out), "--launches", "--json"]) == ExitCode.DONE
    first, second = json.loads(capsys.readouterr().out)
    assert (first["reason"], second["reason"]) == ("interrupted", "quiescent")
    assert first["changed"] == []
    changed = {change["key"]: (change["before"], change["now"]) for change in second["changed"]}
    assert changed["jobs"] == (2, 1)
    assert changed["env"][1] == [
        *changed["env"][0][:1],
        "SECONDS=0",
        *changed["env"][0][2:],
        "EXTRA=more",
    ]
    assert run(["status", str(campaign.out), "--launches"]) == ExitCode.DONE
    assert "           jobs: 2 -> 1" in capsys.readouterr().out.splitlines()
    assert well_status(campaign.out).decisions == NODES
