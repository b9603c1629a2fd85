"""One campaign in numbers."""

from __future__ import annotations

from typing import Final

import msgspec

from benchmarks.kill_cost.traced_ranks import RootUse
from symfleet.testing.jobs import Role

ROLES: Final = (Role.WORKER, Role.EXECUTOR, Role.ROOT, Role.MPIRUN, Role.LAUNCHER)
"""Who is killed."""


class Kill(msgspec.Struct):
    """One kill. `at_s`: of the wall clock. `recovery_s`: see the module's text."""

    role: str
    at_s: float
    recovery_s: float | None = None


class Budget(msgspec.Struct, frozen=True):
    """What there was when the budget was used up: CPU seconds of executors, edges, decisions."""

    cpu_s: float
    edges: int
    decided: int


class Row(msgspec.Struct, frozen=True):
    """One campaign. Times are in seconds; all but `budget`, which is None when it was not used up,
    is as of the clean end."""

    pair: int
    disturbed: bool
    cpu_s: float
    job_cpu_s: float
    wall_s: float
    budget: Budget | None
    edges: int
    executions: int
    decided: int
    repeated: int
    runs_of_an_item_max: int
    decided_run_max_s: float
    """The longest execution that was decided."""
    run_s: float
    run_lost_s: float
    solver_s: float
    solver_lost_s: float
    epochs: int
    kills: tuple[Kill, ...]
    root: RootUse
    problems: tuple[str, ...]

    @property
    def lost(self) -> int:
        """Executions that began and were not decided."""
        return self.executions - self.decided

    @property
    def cpu_lost_s(self) -> float:
        """Estimate of the executors' CPU time that was lost."""
        return self.cpu_s * share(self.run_lost_s, self.run_s)


def share(part: float, whole: float) -> float:
    """Return a part of a whole; 0 of nothing."""
    return part / whole if whole else 0.0
