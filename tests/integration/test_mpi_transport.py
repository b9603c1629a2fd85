"""The MPI transport on real Open MPI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from symfleet.config.environment import inherited_environment
from symfleet.runtime.mpirun import find_mpirun, mpirun_command

PROGRAM = Path(__file__).resolve().parent.parent / "programs" / "mpi_echo.py"


def play(tmp_path: Path, scenario: str) -> dict[str, Any]:
    mpirun = find_mpirun(os.defpath)
    command = mpirun_command(mpirun, 3, tmp_path, Path("unused"))
    launch = command[: command.index(sys.executable)]
    done = subprocess.run(
        [*launch, sys.executable, str(PROGRAM), scenario],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
        env=inherited_environment(),
    )
    assert done.returncode == 0 or scenario != "sizes", done.stderr.decode()
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_frames_of_all_sizes_come_whole_and_in_order(tmp_path: Path) -> None:
    assert play(tmp_path, "sizes") == {"whole": True, "unsent": 0}
    assert not any(tmp_path.iterdir()), "MPI leaves nothing behind"


def test_survivors_go_on_after_a_rank_was_killed(tmp_path: Path) -> None:
    result = play(tmp_path, "death")
    assert result["lost"] == 2
    assert result["refused"]
    assert result["answer"] == "still there?"


def test_one_rank_is_heard_while_what_others_say_waits(tmp_path: Path) -> None:
    result = play(tmp_path, "one_source")
    assert result["heard"] == ["2 other", "1 first", "1 second", "2 again", "1 lost"]


@pytest.mark.parametrize("euid", [0, 1000])
def test_root_needs_and_gets_a_permission_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, euid: int
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: euid)
    command = mpirun_command("mpirun", 2, tmp_path, tmp_path / "plan.json")
    assert ("--allow-run-as-root" in command) is (euid == 0)
