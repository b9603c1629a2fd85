"""Every call on a file may fail: the program says so with 74 or goes on, and nothing is lost.

A small library that is loaded before all others lets the n-th open, write, fsync, rename and so on
fail. The programs and the checks are those of the power cuts. Each change looks at a share of all
calls; `python -m benchmarks.io_faults` lets every one fail.
"""

from __future__ import annotations

import errno
import resource
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from symfleet.errors import ExitCode, parts_of
from symfleet.testing.io_faults.faults import EACH_SYNC, FAULTS, Fault, Kind, Mode, build, variable
from symfleet.testing.io_faults.programme import examine
from symfleet.testing.programs import ProgramCampaign

PROGRAM = Path(__file__).resolve().parent.parent / "programs" / "two.py"
SEED = 20_261_129
ROOT = "0"
DISTURBED = ("leases_recovered", "redone_decisions", "projection_repaired")
STRIDES = {
    "create": 80,
    "turns": 80,
    "publish": 100,
    "recover": 40,
    "fold": 100,
    "close": 120,
    "migrate": 40,
    "repair": 24,
    "drop": 2,
    "backup": 50,
    "copy": 120,
}


@pytest.mark.guarantee("A2")
@pytest.mark.guarantee("C5")
@pytest.mark.parametrize("name", STRIDES)
def test_a_call_that_fails_is_told_and_nothing_is_lost(tmp_path: Path, name: str) -> None:
    report = examine([name], tmp_path, stride=STRIDES[name], seed=SEED)
    assert report.problems == []
    assert report.cases >= 3
    if name == "recover":
        assert report.by_fault.keys() == {fault.name for fault in FAULTS}
    assert report.ends.keys() <= {"0", "74"}


@pytest.mark.guarantee("A2")
@pytest.mark.parametrize("name", STRIDES)
def test_each_sync_that_fails_is_told(tmp_path: Path, name: str) -> None:
    report = examine([name], tmp_path, faults=[EACH_SYNC.name])
    assert report.problems == []
    assert report.cases >= 3
    # 0: only a folder's, which was synchronised again.
    assert report.ends.keys() <= {"0", "74"}


@pytest.mark.guarantee("A2")
@pytest.mark.guarantee("C9")
@pytest.mark.parametrize("name", ["copy", "backup"])
def test_a_page_that_could_not_be_read_is_not_called_damage(tmp_path: Path, name: str) -> None:
    """SQLite's own check of its pages lists it among the bad ones."""
    report = examine([name], tmp_path, faults=["EIO while reading"])
    assert report.problems == []
    assert report.cases >= 100


@pytest.mark.long
@pytest.mark.guarantee("A2")
def test_a_call_that_fails_inside_a_whole_job_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    report = examine(["launch"], tmp_path, stride=120, seed=SEED, faults=["EIO"])
    assert report.problems == []
    assert report.cases >= 3
    # 2: a launch that goes on counts what its scene does wrong by itself.
    assert report.ends.keys() <= {"0", "2", "74"}


@pytest.mark.parametrize(
    ("fault", "plant", "seen"),
    [
        ("EIO", "sync-again", "synchronised again"),
        ("EIO", "ignore-sync", "as if nothing had"),
        ("EIO", "run-again", "it ended with 70"),
    ],
)
def test_a_planted_fault_is_seen(tmp_path: Path, fault: str, plant: str, seen: str) -> None:
    report = examine(["recover"], tmp_path, stride=4, seed=SEED, faults=[fault], plant=plant)
    assert any(seen in problem.what for problem in report.problems), report


@pytest.mark.parametrize(
    ("plant", "name", "seen"),
    [
        ("ignore-folder", "recover", "as if nothing had"),
        ("close-by-itself", "turns", "as if nothing had"),
        ("close-by-itself", "migrate", "synchronised again"),
    ],
)
def test_a_planted_fault_of_syncs_is_seen(tmp_path: Path, plant: str, name: str, seen: str) -> None:
    report = examine([name], tmp_path, faults=[EACH_SYNC.name], plant=plant)
    assert any(seen in problem.what for problem in report.problems), report


@pytest.fixture
def job_of(tmp_path: Path) -> Iterator[ProgramCampaign]:
    """A campaign of a ten-line program on real MPI."""
    campaign = ProgramCampaign(tmp_path / "job", PROGRAM, {"one": b"1"})
    yield campaign
    campaign.close()


@pytest.mark.guarantee("A2")
def test_a_root_on_a_failing_disk_ends_its_job_with_74_and_nothing_is_lost(
    job_of: ProgramCampaign, tmp_path: Path
) -> None:
    fault = Fault("no sync from then on", Kind.SYNC, errno.EIO, Mode.FOR_EVER)
    env = {"LD_PRELOAD": str(build(tmp_path)), **variable(job_of.out, fault, 12, ROOT)}
    job = job_of.job(env=env)
    assert job.run() == ExitCode.IO, job.story.read_text()
    again = job_of.job()
    assert again.run() == ExitCode.DONE, again.story.read_text()
    assert job_of.status(disturbed=DISTURBED).total.executed == 3
    assert set(job_of.corpus_files().values()) == {b"1", b"A", b"B"}


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[ProgramCampaign]:
    """A campaign of our own engine; its target is never reached."""
    campaign = ProgramCampaign(tmp_path, PROGRAM, {"one": b"1"})
    yield campaign
    campaign.close()


@pytest.mark.guarantee("A2")
@pytest.mark.parametrize("mib", [20, 140])
def test_a_limit_on_files_that_an_executor_would_die_of_is_named(
    embedded: ProgramCampaign, monkeypatch: pytest.MonkeyPatch, mib: int
) -> None:
    job = embedded.job(
        launcher=(
            *("sh", "-c", f'ulimit -f {mib * 2048}; exec "$@"', "sh"),
            *(sys.executable, "-m", "symfleet.testing.launch"),
        )
    )
    target = replace(job.config.target, engine="embedded", engine_command=())
    job.config = replace(job.config, target=target)
    assert job.run() == ExitCode.IO, job.story.read_text()
    what, _, why, hint = parts_of(job.story.read_text().splitlines()[-1])
    assert what == "the job cannot start: a limit keeps files too small"
    assert f"a file may have {mib}.0 MiB" in why
    assert "ulimit -f" in hint
    assert not (embedded.out / "logs").exists(), "mpirun has not said a word"


def test_no_limit_is_set_here() -> None:
    """The tests above would mean nothing in a shell that has one."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
