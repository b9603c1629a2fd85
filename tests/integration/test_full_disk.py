"""Launches on a disk that is full, or fills up at a bad moment: 74, four parts, nothing lost.

The disk is a tmpfs that the test mounts (skipped where it may not). A stop at a crash point gives
the moment: the process waits there while the disk is filled.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from symfleet.errors import ExitCode, parts_of
from symfleet.testing.jobs import Job, until
from symfleet.testing.programs import ProgramCampaign

pytestmark = pytest.mark.jobs

MIB = 1 << 20
PROGRAM = Path(__file__).resolve().parent.parent / "programs" / "two.py"
ROOMY = "size=96m,nr_inodes=0"
Mount = Callable[[str], ProgramCampaign]


def mount(folder: Path, options: str) -> None:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted: {mounted.stderr.decode().strip()}")


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Mount]:
    """Make a campaign whose output folder lies on a file system with these options."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made: list[ProgramCampaign] = []

    def make(options: str) -> ProgramCampaign:
        if os.geteuid() != 0:
            pytest.skip("mounting a small file system needs root")
        mount(disk, options)
        made.append(ProgramCampaign(tmp_path, PROGRAM, {"one": b"1"}))
        made[-1].out = disk / "out"
        return made[-1]

    yield make
    for one in made:
        one.close()
        subprocess.run(["umount", "-l", str(disk)], check=True)


def enlarge(campaign: ProgramCampaign) -> None:
    """Give the file system room, as somebody does who frees some."""
    (campaign.out.parent / "ballast").unlink(missing_ok=True)
    command = ["mount", "-o", f"remount,{ROOMY}", str(campaign.out.parent)]
    subprocess.run(command, check=True)


def fill(folder: Path) -> None:
    """Take all space that is left."""
    with (folder / "ballast").open("ab", buffering=0) as ballast:
        for size in (MIB, 4096):
            try:
                while True:
                    ballast.write(b"x" * size)
            except OSError:
                pass


def error_of(job: Job) -> tuple[str, str, str, str]:
    """Return the error that the launch printed last, after it asserts that there was no other."""
    story = job.story.read_text()
    assert "opening the next epoch" not in story, story
    assert "MPI_ERRORS_ARE_FATAL" not in story, story
    return parts_of(story.splitlines()[-1])


def assert_goes_on(campaign: ProgramCampaign) -> None:
    """Resume with room; everything is there and was run once."""
    job = campaign.job()
    assert job.run() == ExitCode.DONE, job.story.read_text()
    assert campaign.status().total.executed == 3
    assert len(campaign.runs()) == len(set(campaign.runs())) == 3
    assert set(campaign.corpus_files().values()) == {b"1", b"A", b"B"}
    assert not (campaign.out / ".run").exists()


@pytest.mark.guarantee("A2")
@pytest.mark.parametrize("size", ["16k", "64k", "256k", "1m", "2m", "4m", "32m"])
def test_a_launch_on_a_disk_without_room_is_refused_before_mpi_starts(
    campaign: Mount, size: str
) -> None:
    small = campaign(f"size={size},nr_inodes=0")
    job = small.job()
    assert job.run() == ExitCode.IO, job.story.read_text()
    what, where, why, hint = error_of(job)
    assert what == "the job cannot start: the disk is full"
    assert where == str(small.out)
    assert "a start needs 66 MiB" in why
    assert "nothing is lost" in hint
    assert not (small.out / "logs").exists(), "mpirun has not said a word"
    assert not (small.out / ".run").exists()
    if size == "1m":
        enlarge(small)
        assert_goes_on(small)


@pytest.mark.parametrize("inodes", [3, 20])
def test_a_disk_that_takes_no_more_files_is_told_from_one_without_space(
    campaign: Mount, inodes: int
) -> None:
    small = campaign(f"size=96m,nr_inodes={inodes}")
    job = small.job()
    assert job.run() == ExitCode.IO, job.story.read_text()
    what, _, why, hint = error_of(job)
    assert what == "the job cannot start: the disk takes no more files"
    assert "more files" in why
    assert "remove some files" in hint


def test_a_limit_on_the_size_of_files_is_named(tmp_path: Path) -> None:
    limited = ProgramCampaign(tmp_path, PROGRAM, {"one": b"1"})
    limit = ("sh", "-c", 'ulimit -f 8192; exec "$@"', "sh")
    job = limited.job(launcher=(*limit, sys.executable, "-m", "symfleet.testing.launch"))
    try:
        assert job.run() == ExitCode.IO, job.story.read_text()
        what, _, why, hint = error_of(job)
        assert what == "the job cannot start: a limit keeps files too small"
        assert "16 of them in one file" in why
        assert "ulimit -f" in hint
        assert_goes_on(limited)
    finally:
        limited.close()


def stopped_member(job: Job) -> int | None:
    """Return the process that waits at its crash point."""
    for member in job.members():
        try:
            status = Path(f"/proc/{member.pid}/stat").read_text()
        except OSError:
            continue
        if status.rpartition(")")[2].split()[0] == "T":
            return member.pid
    return None


def let_go_on(job: Job) -> bool:
    """Let the processes that wait go on, those of other ranks that come to the point later too."""
    waits = stopped_member(job)
    if waits is not None:
        os.kill(waits, signal.SIGCONT)
    return False


@pytest.mark.guarantee("A2")
@pytest.mark.parametrize(
    "moment",
    [
        "launcher.before_mpirun",
        "root.before_epoch",
        "coordinator.before_commit",
        "worker.start_executor",
    ],
)
def test_a_disk_that_fills_up_before_the_first_decision_ends_the_launch_once(
    campaign: Mount, moment: str
) -> None:
    filling = campaign(ROOMY)
    job = filling.job(env={"SYMFLEET_CRASH": f"{moment}:1:stop"})
    job.start()
    until("a process waits", lambda: stopped_member(job) is not None, 30.0)
    fill(filling.out.parent)
    until("the launcher ends", lambda: let_go_on(job) or not job.is_running, 60.0)
    assert job.wait() == ExitCode.IO, job.story.read_text()
    story = job.story.read_text()
    assert "opening the next epoch" not in story, story
    enlarge(filling)
    assert_goes_on(filling)
