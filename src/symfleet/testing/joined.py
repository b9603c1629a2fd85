"""Jobs that somebody else's mpirun starts: ranks of one command each, which find their roles.

So a test can have a rank that is another program: one of another version, or one that misbehaves.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from symfleet.config.environment import inherited_environment
from symfleet.runtime.mpirun import find_mpirun, mpirun_command
from symfleet.runtime.rank import VERDICT
from symfleet.testing.programs import ProgramCampaign

OURS = ("-m", "symfleet.cli.main")
"""What Python runs as a rank of this version."""


class Verdict(msgspec.Struct, frozen=True):
    """What scripts around mpirun or srun read."""

    exit_code: int
    reason: str
    what: str
    where: str
    why: str
    workers: int
    missing: list[int]


def join(
    campaign: ProgramCampaign,
    *groups: tuple[int, Sequence[str]],
    options: Sequence[str] = (),
    timeout_s: float = 60.0,
) -> Verdict:
    """Run a campaign on ranks that mpirun starts, so many of each group's Python command; return
    what the job says of its end. `options`: more of `symfleet explore`."""
    config = campaign.config()
    common = ["explore", "--json", "-o", str(campaign.out), "-i", str(campaign.seeds)]
    common += ["--until-quiescent", "--keep", "all", "--engine", "command"]
    common += ["-j", str(campaign.slots), "--coordinators", str(campaign.coordinators)]
    common += ["--ledger", campaign.ledger] if campaign.ledger else []
    common += ["--engine-command", shlex.join(config.target.engine_command)]
    common += [word for pair in config.target.env for word in ("--env", pair)]
    common += ["--wall-time", "20s", *options, "--", sys.executable]
    command = mpirun_command(find_mpirun(os.defpath), 1, campaign.folder, Path("unused"))
    launch = command[: command.index(sys.executable)]
    del launch[launch.index("-n") : launch.index("-n") + 2]
    for number, (ranks, words) in enumerate(groups):
        launch += [":"] * (number > 0) + ["-n", str(ranks), sys.executable, *words, *common]
    done = subprocess.run(
        launch,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout_s,
        check=False,
        env={**inherited_environment(), "TMPDIR": str(campaign.tmp)},
    )
    path = campaign.out / VERDICT
    assert path.exists(), (done.stdout + done.stderr).decode()
    return msgspec.json.decode(path.read_bytes(), type=Verdict)
