"""Where a job may run: deep folders, and inside somebody else's mpirun."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from symfleet.config.environment import inherited_environment
from symfleet.runtime.mpirun import find_mpirun, mpirun_command
from symfleet.testing.programs import ProgramCampaign

TREE = Path(__file__).resolve().parent.parent / "programs" / "tree.py"
NODES = 20


def campaign(folder: Path) -> ProgramCampaign:
    return ProgramCampaign(folder, TREE, {"root": b"0"}, slots=2, env=[f"NODES={NODES}"])


def test_a_path_longer_than_a_socket_name_may_be(tmp_path: Path) -> None:
    made = campaign(tmp_path.joinpath(*["deeply-nested"] * 10))
    job = made.job()
    try:
        assert job.run() == 0, job.story.read_text()
    finally:
        made.close()
    assert made.status().total.executed == NODES
    assert list(made.tmp.iterdir()) == [], "the short link is removed"


def run_joined(made: ProgramCampaign, ranks: int) -> subprocess.CompletedProcess[bytes]:
    """Start mpirun as a cluster's script would; every rank is a launcher that joins."""
    path = made.folder / "config.json"
    path.write_bytes(msgspec.json.encode(made.config()))
    command = mpirun_command(find_mpirun(os.defpath), ranks, made.tmp, Path("unused"))
    launch = command[: command.index(sys.executable)]
    return subprocess.run(
        [*launch, sys.executable, "-m", "symfleet.testing.launch", str(path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=50,  # ranks that nobody lets go end by themselves after a minute
        check=False,
        env=inherited_environment(),
    )


def test_an_existing_mpirun_is_joined_for_one_epoch(tmp_path: Path) -> None:
    made = campaign(tmp_path)
    done = run_joined(made, 3)
    assert done.returncode == 0, done.stderr.decode()
    status = made.status()
    assert status.total.executed == NODES
    verdict = json.loads((made.out / "verdict.json").read_text())
    assert (verdict["exit_code"], verdict["reason"]) == (0, "quiescent")
    assert not (made.out / ".run" / "joined").exists()


@pytest.mark.guarantee("L8")
def test_a_joined_job_respects_the_owner_of_a_campaign(tmp_path: Path) -> None:
    made = campaign(tmp_path)
    with made.owned():
        done = run_joined(made, 3)
    assert b"owned by a live job" in done.stdout + done.stderr
    assert done.returncode == 75
    assert not (made.out / "verdict.json").exists(), "it is the owner's to write"
    assert made.runs() == []
