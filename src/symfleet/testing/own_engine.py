"""Campaigns of our own engine, for tests that end its processes: what `ProgramCampaign` is for
engines that are programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from symfleet.config.model import Advanced, CampaignConfig, Output, Resources, Stop, Target
from symfleet.testing.jobs import Job


def compile_target(source: Path, target: Path) -> None:
    """Build a C program with `symfleet cc`; raises CalledProcessError."""
    compiler = [str(Path(sys.executable).with_name("symfleet")), "cc", "-O1"]
    subprocess.run([*compiler, str(source), "-o", str(target)], check=True, timeout=60)


def exhaustive_job(
    folder: Path,
    target: Path,
    seeds: Path,
    *,
    slots: int,
    coordinators: int = 1,
    ledger: str = "",
    own_connections: bool = False,
    env: Sequence[str] = (),
) -> Job:
    """Return a job that explores all of a target in a folder that is made, and keeps everything.
    `env`: variables of the target (NAME=VALUE); the rest are settings of their names."""
    folder.mkdir()
    config = CampaignConfig(
        target=Target(
            argv=(str(target), "@@"), seed_paths=(str(seeds),), keep="all", env=tuple(env)
        ),
        resources=Resources(jobs=slots, coordinators=coordinators),
        stop=Stop(until_quiescent=True),
        output=Output(out_dir=str(folder / "out"), screen="none", ledger=ledger),
        advanced=Advanced(idle_window_s=0.1, own_connections=own_connections),
    )
    (folder / "tmp").mkdir()
    return Job(config, folder, env={"TMPDIR": str(folder / "tmp")})
