"""Joined mode: this process is a rank of a job that somebody else started with mpirun or srun.

Nobody restarts such a job: there is one epoch, and OUT/verdict.json says how it ended.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final, NoReturn

from symfleet.clock import Clock
from symfleet.config.environment import has_pmix, mpi_rank, mpi_world_size
from symfleet.config.model import CampaignConfig
from symfleet.corpus.durable import make_folder
from symfleet.errors import InternalError, UserError
from symfleet.runtime import plan as plans
from symfleet.runtime.campaign_lock import CampaignLock
from symfleet.runtime.mpirun import remove_run_dirs
from symfleet.runtime.room import naming_the_disk
from symfleet.runtime.stores import holds_campaign, note_beginning

_GRACE_S: Final = 5.0
_awaited: Final = threading.Event()
"""Set while other ranks wait in MPI for what this one, the root, has not begun yet."""


def follow_if_told(clock: Clock) -> None:
    """Be a rank of a job that somebody else started, if this is one other than its root; does not
    return then. Nothing is read or touched before: the campaign may be on another host. Raises
    UserError for a job that can never work. A root that then gives up calls `dismiss_followers`."""
    from symfleet.runtime.rank import run_rank

    if mpi_world_size() is None:
        return
    _refuse_hopeless()
    if mpi_rank() == 0:
        _awaited.set()
        return

    def no_plan() -> plans.EpochPlan:
        raise InternalError("this rank is the root, but was started as another", where="MPI")

    run_rank(no_plan, None, clock)


def dismiss_followers(reason: str, clock: Clock) -> None:
    """Let the other ranks go when the root has been refused before it began; nothing when none
    wait. Say first why it was: a job whose ranks are not all there ends this process after a
    minute, as it would have ended theirs."""
    from symfleet.runtime.introduction import dismiss
    from symfleet.transport.mpi import MpiTransport

    if _awaited.is_set():
        _awaited.clear()
        transport = MpiTransport(clock)
        dismiss(transport, clock, _GRACE_S, reason)
        transport.finalize()


def _refuse_hopeless() -> None:
    """Raise UserError when the ranks could not find each other, or there is only one."""
    if not has_pmix():
        raise UserError(
            "the ranks of this job cannot find each other",
            where="srun",
            why="it was started with PMI, and Open MPI 5 knows PMIx only",
            hint="srun --mpi=pmix; --mpi=none for one command that starts its ranks by itself",
        )
    if mpi_world_size() == 1:
        raise UserError(
            "a job needs a root and at least one worker",
            where="mpirun or srun",
            why="it was started with one rank",
            hint="start at least two ranks, or one command with `srun --mpi=none`",
        )


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
    plan = plans.plan_of(config, program, run_dir, 0, (0.0, 0), has_ledger=holds_campaign(out))
    _awaited.clear()
    run_rank(lambda: plan, None, clock)
