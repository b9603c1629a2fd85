"""What the ledger and the workers' own lines say of a campaign: what was lost, what ran again, how
soon it went on."""

from __future__ import annotations

import bisect
import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.kill_cost.rows import Kill, share
from benchmarks.kill_cost.traced_ranks import RootUse, Run
from symfleet.testing.jobs import Role

ENDS_EPOCH: Final = frozenset({Role.ROOT, Role.MPIRUN, Role.LAUNCHER})
_DECISIONS: Final = (
    "SELECT lower(hex(w.work_id)), d.epoch, d.decided_wall FROM decisions AS d"
    " JOIN work AS w ON w.work = d.work ORDER BY d.decision"
)
_EPOCHS: Final = "SELECT opened_wall FROM epochs ORDER BY epoch"


class Decisions(msgspec.Struct, frozen=True):
    """What the ledger says of time. `decided`: (work id, epoch, wall clock) in order; `opened`:
    when each epoch was."""

    decided: tuple[tuple[str, int, float], ...]
    opened: tuple[float, ...]

    @classmethod
    def of(cls, out: Path) -> Decisions:
        """Read a ledger on SQLite that nobody owns."""
        path = f"file:{out / 'ledger.db'}?mode=ro"
        with contextlib.closing(sqlite3.connect(path, uri=True)) as connection:
            return cls(
                tuple(connection.execute(_DECISIONS)),
                tuple(opened for (opened,) in connection.execute(_EPOCHS)),
            )

    def after(self, kill: Kill) -> float | None:
        """Return the seconds from a kill to the first decision that shows recovery."""
        epoch = sum(opened <= kill.at_s for opened in self.opened)
        least = epoch + 1 if Role(kill.role) in ENDS_EPOCH else epoch
        fresh = (at for _, of, at in self.decided if at > kill.at_s and of >= least)
        first = next(fresh, None)
        return None if first is None else round(first - kill.at_s, 3)


class Lost(msgspec.Struct, frozen=True):
    """Time that executions took, that of those that were lost, and the longest that was decided.
    Seconds."""

    run_s: float
    run_lost_s: float
    solver_s: float
    solver_lost_s: float
    decided_max_s: float


def lost_in(
    runs: Sequence[Run], decided: Iterable[str], kills: Sequence[float], end: float
) -> Lost:
    """Add up what runs took. `decided`: work ids; the last run of one that has a result counts,
    all others were lost. `kills` (in order) and `end`: when a run without a result may have ended.
    """
    names = frozenset(decided)
    counted = {run.work_id: run for run in runs if run.done is not None and run.work_id in names}
    results = [run.done for run in runs if run.done is not None]
    usual = share(sum(one.solver_us for one in results), sum(one.wall_us for one in results))
    total = lost = solver = solver_lost = 0.0
    for run in runs:
        took_s = max(0.0, _end_of(run, kills, end) - run.at)
        twin = counted.get(run.work_id)
        solver_s = _solver_s(run, twin, took_s, usual)
        total, solver = total + took_s, solver + solver_s
        if run is not twin:
            lost, solver_lost = lost + took_s, solver_lost + solver_s
    longest = max((run.done.at - run.at for run in counted.values() if run.done), default=0.0)
    return Lost(*(round(one, 3) for one in (total, lost, solver, solver_lost, longest)))


def _end_of(run: Run, kills: Sequence[float], end: float) -> float:
    if run.done is not None:
        return run.done.at
    place = bisect.bisect_left(kills, run.at)
    return kills[place] if place < len(kills) else end


def _solver_s(run: Run, twin: Run | None, took_s: float, usual: float) -> float:
    """Return the solver time of a run; `twin`: the run of the item that counted, `usual`: share of
    solver time in wall time."""
    if run.done is not None:
        return run.done.solver_us / 1e6
    if twin is None or twin.done is None:
        return took_s * usual
    return twin.done.solver_us / 1e6 * min(1.0, share(took_s, twin.done.wall_us / 1e6))


def run_after_decision(runs: Iterable[Run], decisions: Decisions) -> list[str]:
    """Name items that began after the transaction that decided them had begun."""
    at = {work_id: decided for work_id, _, decided in decisions.decided}
    return [f"{r.work_id} ran after its decision" for r in runs if r.at > at.get(r.work_id, r.at)]


def sum_of(roots: Iterable[RootUse]) -> RootUse:
    """Add up what all roots of a campaign have used."""
    wall, cpu, commits = 0.0, 0.0, 0
    spans_wall, spans_cpu = Counter[str](), Counter[str]()
    for root in roots:
        wall, cpu, commits = wall + root.wall_s, cpu + root.cpu_s, commits + root.commits
        spans_wall.update(root.spans_wall_s)
        spans_cpu.update(root.spans_cpu_s)
    return RootUse(
        round(wall, 3), round(cpu, 3), commits, _rounded(spans_wall), _rounded(spans_cpu)
    )


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    return {name: round(one, 4) for name, one in seconds.items()}
