"""One campaign of a pair."""

from __future__ import annotations

import random
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.kill_cost.losses import Decisions, lost_in, run_after_decision, sum_of
from benchmarks.kill_cost.meter import Meter, cpu_of_children
from benchmarks.kill_cost.rows import ROLES, Budget, Kill, Row
from benchmarks.kill_cost.traced_ranks import roots_of, runs_of
from symfleet.config.model import CampaignConfig, Output, Resources, Target
from symfleet.engine import processes
from symfleet.runtime.stores import open_reader
from symfleet.testing.jobs import Job, Role
from symfleet.testing.programs import well_status

ROOT: Final = Path(__file__).resolve().parents[2]
_LOOK_S: Final = 0.1
_END_S: Final = 60.0
_SLOWNESS_MAX: Final = 20
"""A campaign may take that many times the time that its budget takes on an idle machine."""
_START_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What all campaigns have in common. `budget_s`: CPU seconds of all slots together."""

    program: Path
    seeds: Path
    slots: int
    budget_s: float
    every_s: float


class Campaign:
    """One campaign, from its first launch to its clean end."""

    def __init__(self, plan: Plan, folder: Path, chance: random.Random | None) -> None:
        """`chance` draws the victims; None: there are none."""
        self._plan = plan
        self._chance = chance
        self._trace = folder / "trace"
        self._tmp = folder / "tmp"
        for made in (self._trace, self._tmp):
            made.mkdir(parents=True)
        config = CampaignConfig(
            target=Target(argv=(str(plan.program), "@@"), seed_paths=(str(plan.seeds),)),
            resources=Resources(jobs=plan.slots),
            output=Output(out_dir=str(folder / "out"), screen="none"),
        )
        words = [
            sys.executable,
            "-m",
            "benchmarks.kill_cost.traced_ranks",
            "launch",
            str(self._trace),
        ]
        env = {"TMPDIR": str(self._tmp), "PYTHONPATH": str(ROOT)}
        self._job = Job(config, folder, launcher=words, env=env)
        self._meter = Meter()
        self._pack: list[Role] = []
        self._kills: list[Kill] = []
        self._problems: list[str] = []

    def run(self, pair: int) -> Row:
        """Run it; nothing of it is left afterwards, whatever happens."""
        cpu, began = cpu_of_children(), time.monotonic()
        budget: Budget | None = None
        try:
            self._job.start()
            budget = self._explore()
            self._end()
        except AssertionError as error:
            self._problems.append(str(error))
        finally:
            self._job.end()
            end_everything_below()
        wall_s, end = time.monotonic() - began, time.time()
        return self._row(pair, budget, cpu_of_children() - cpu, wall_s, end)

    def _explore(self) -> Budget:
        """Run until the budget is used up; return what there is then."""
        due = time.monotonic() + self._plan.every_s
        limit_s = _START_S + _SLOWNESS_MAX * self._plan.budget_s / self._plan.slots
        deadline = time.monotonic() + limit_s
        while self._look() < self._plan.budget_s:
            assert self._job.is_running, f"it ended by itself: {self._job.exit_code}"
            assert time.monotonic() < deadline, "the budget is not used up"
            if self._chance is not None and time.monotonic() >= due and self._kill(self._chance):
                due = time.monotonic() + self._plan.every_s
            time.sleep(_LOOK_S)
        with open_reader(self._job.out) as reader:
            total = reader.status().total
        return Budget(round(self._meter.cpu_s, 2), total.edges, total.executed)

    def _look(self) -> float:
        self._meter.look(self._job.members())
        return self._meter.cpu_s

    def _kill(self, chance: random.Random) -> bool:
        """Kill one process of the next role; False when there is none now."""
        if not self._pack:
            self._pack = chance.sample(ROLES, len(ROLES))
        members = self._job.members()
        found = [one for one in members if one.role is self._pack[-1]]
        if not found:
            return False
        victim = chance.choice(found)
        self._meter.look(members)
        at = time.time()
        if not self._job.kill(victim):
            return False
        self._kills.append(Kill(self._pack.pop().value, at))
        if victim.role is Role.LAUNCHER:
            # As a person would, while what the dead one has left may still be dying.
            self._job.start()
            self._job.assert_nothing_left_of_others()
        return True

    def _end(self) -> None:
        """Ask for the clean end, and wait for it."""
        launcher = self._job.find(Role.LAUNCHER)
        assert launcher, "the launcher ended by itself"
        self._job.kill(launcher[0], signal.SIGTERM)
        deadline = time.monotonic() + _END_S
        while self._job.is_running and time.monotonic() < deadline:
            self._look()
            time.sleep(_LOOK_S)
        code = self._job.wait(_LOOK_S)
        allowed = (0, 2) if self._kills else (0,)
        assert code in allowed, f"exit code {code}: {self._job.story.read_text()[-500:]}"

    def _row(
        self, pair: int, budget: Budget | None, job_cpu_s: float, wall_s: float, end: float
    ) -> Row:
        """Read what it came to."""
        out = self._job.out
        try:
            well_status(out)
        except AssertionError as error:
            self._problems.append(str(error))
        with open_reader(out) as reader:
            status = reader.status()
        decisions, runs = Decisions.of(out), runs_of(self._trace)
        for kill in self._kills:
            kill.recovery_s = decisions.after(kill)
        names = [work_id for work_id, _, _ in decisions.decided]
        lost = lost_in(runs, names, [kill.at_s for kill in self._kills], end)
        begun = {run.work_id for run in runs}
        self._problems += run_after_decision(runs, decisions)
        self._problems += [f"{name} was decided and never began" for name in set(names) - begun]
        left = [*self._tmp.iterdir(), *out.glob(".run")]
        self._problems += [f"{path} is left" for path in left]
        return Row(
            pair=pair,
            disturbed=self._chance is not None,
            cpu_s=round(self._meter.cpu_s, 2),
            job_cpu_s=round(job_cpu_s, 2),
            wall_s=round(wall_s, 2),
            budget=budget,
            edges=status.total.edges,
            executions=len(runs),
            decided=status.total.executed,
            repeated=len(runs) - len(begun),
            runs_of_an_item_max=max(Counter(run.work_id for run in runs).values(), default=0),
            decided_run_max_s=lost.decided_max_s,
            run_s=lost.run_s,
            run_lost_s=lost.run_lost_s,
            solver_s=lost.solver_s,
            solver_lost_s=lost.solver_lost_s,
            epochs=status.epochs,
            kills=tuple(self._kills),
            root=sum_of(roots_of(self._trace)),
            problems=tuple(self._problems),
        )


def end_everything_below() -> None:
    """End and reap all children of this process, and what they leave to it."""
    while processes.end_adopted(()):
        pass
