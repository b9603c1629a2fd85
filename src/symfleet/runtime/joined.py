"""Joined mode: this process is a rank of a job that somebody else started with mpirun or srun.

Nobody restarts such a job: there is one epoch, and OUT/verdict.json says how it ended.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from symfleet.clock import Clock
from symfleet.config.environment import mpi_rank, mpi_world_size
from symfleet.config.model import CampaignConfig
from symfleet.corpus.durable import make_folder
from symfleet.errors import InternalError
from symfleet.runtime import plan as plans
from symfleet.runtime.campaign_lock import CampaignLock
from symfleet.runtime.mpirun import remove_run_dirs
from symfleet.runtime.room import naming_the_disk
from symfleet.runtime.stores import note_beginning


def follow_if_told(clock: Clock) -> None:
    """Be a rank of a job that somebody else started, if this is one other than its root; does not
    return then. Nothing is read or touched before: the campaign may be on another host."""
    from symfleet.runtime.rank import run_rank

    if mpi_world_size() is None or mpi_rank() == 0:
        return

    def no_plan() -> plans.EpochPlan:
        raise InternalError("this rank is the root, but was started as another", where="MPI")

    run_rank(no_plan, None, clock)


def join_as_root(
    config: CampaignConfig, program: Path, out: Path, run_folder: str, clock: Clock
) -> NoReturn:
    """Be the root of a job that somebody else started."""
    from symfleet.runtime.rank import run_rank

    run_dir = out / run_folder / "joined"
    lock = CampaignLock(out, clock)
    with naming_the_disk(out):
        lock.acquire(config.advanced.lock_wait_s)
        note_beginning(out, config)
    remove_run_dirs(out / run_folder)
    make_folder(run_dir, durable=False)
    plan = plans.plan_of(config, program, run_dir, 0, (0.0, 0))
    run_rank(lambda: plan, None, clock)
