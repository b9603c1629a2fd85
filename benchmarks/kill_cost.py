"""What kills cost (evidence scenario E20): `python -m benchmarks.kill_cost [--pairs 10]`.

Pairs of campaigns of our own engine on cJSON, one undisturbed, one in which a random process of the
job (worker, executor, root, mpirun, or the launcher, which is then started again) gets SIGKILL
every `--every` seconds of wall time. Roles are drawn as from a pack of cards. Which of a pair comes
first alternates.

Equal CPU. A campaign's budget is `--seconds` of CPU time for each slot. What counts is the CPU time
that executions were given: user and system time, from /proc/PID/stat, of each executor and of all
processes below it, of dead ones as far as the executor's tree has reaped them. It is read every
0.1 s and just before each kill. What an executor used after the last look at it is missed: at most
0.1 s for each of its lives. Neither the root nor workers, mpirun and launchers are charged. Beside
it stands the CPU time of the whole job, exactly: `getrusage(RUSAGE_CHILDREN)` of this process,
which adopts every orphan of the job. When the budget is used up the edges are read, and SIGTERM
asks for the clean end.

What is counted, and how:

* edges and decisions: those of the ledger when the budget was used up. Ratios are disturbed by
  undisturbed.
* executions lost: those that workers began (their own lines, `benchmarks.traced_ranks`) less those
  that the ledger has decided. The clean end itself may cut off one for each slot, in both kinds.
* executions repeated: those that began, less the different items that began.
* execution time lost: wall time from the begin of a lost execution to its result, or to the next
  kill, or to the end. CPU time lost is estimated as the same share of the executors' CPU time.
* solver time repeated: the time inside solver calls of executions that were lost (wall time of one
  thread, as executors measure it: their CPU time is at most that). An execution that was cut off
  reports none. Where its item was decided later, both took their solver time evenly: a run that
  came half as far in wall time has spent half of it. Else the campaign's mean share is taken.
* recovery: from a kill to the begin of the first transaction with a decision after it
  (`decided_wall`). After the death of a root, an mpirun or a launcher it has to be one of a later
  epoch: the old one may still commit for an instant. Results of a dead worker that were on their
  way count, and so do those of other slots. More kills may come before it; then it is long. Kills
  that no decision followed before the campaign's end have none: their number is told apart.
* durability: shares of the root's wall and CPU time, in undisturbed campaigns, that are spent
  in COMMIT alone, and in all that makes things durable: COMMIT, folding the log back, the fsync of
  files, and the syncfs of publication. Statements inside transactions are not part of it.

Figures are medians with the distribution-free interval between two order statistics whose
confidence is at least 95 % (see `median_interval`); with fewer than six values it is their range,
and `confidence` says what that is worth. Kills of one campaign are not independent of each other.

Each campaign is audited: a finding, a poisoned item, a fault counter that is not 0, an item that
ran after its decision, a process or file that is left, or a wrong exit code is a problem. The
result is a dated file in benchmarks/results; the exit code is 1 when there is any problem. Then the
folder in build/ is kept. Run it from a copy of the tree, on a machine with nothing else to do: wall
times, and thereby recovery, solver time and the number of kills, depend on what else runs.
"""

from __future__ import annotations

import argparse
import bisect
import contextlib
import datetime
import json
import math
import os
import random
import resource
import shlex
import shutil
import signal
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks.real import sources, targets
from benchmarks.traced_ranks import RootUse, Run, roots_of, runs_of
from symfleet.config.model import CampaignConfig, Output, Resources, Target
from symfleet.engine import processes
from symfleet.runtime.stores import open_reader
from symfleet.testing.jobs import Job, Member, Role
from symfleet.testing.programs import well_status

ROOT: Final = Path(__file__).resolve().parent.parent
LIBRARY: Final = "cjson"
ROLES: Final = (Role.WORKER, Role.EXECUTOR, Role.ROOT, Role.MPIRUN, Role.LAUNCHER)
ENDS_EPOCH: Final = frozenset({Role.ROOT, Role.MPIRUN, Role.LAUNCHER})
LEVEL: Final = 0.95
_LOOK_S: Final = 0.1
_END_S: Final = 60.0
_SLOWNESS_MAX: Final = 20
"""A campaign may take that many times the time that its budget takes on an idle machine."""
_START_S: Final = 120.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_DECISIONS: Final = (
    "SELECT lower(hex(w.work_id)), d.epoch, d.decided_wall FROM decisions AS d"
    " JOIN work AS w ON w.work = d.work ORDER BY d.decision"
)
_EPOCHS: Final = "SELECT opened_wall FROM epochs ORDER BY epoch"


# ---- statistics ---------------------------------------------------------------------------------


class Figure(msgspec.Struct, frozen=True):
    """A median and its interval. `confidence`: the probability that such an interval holds the
    median of what the values were drawn from; below 0.95 when there are fewer than six."""

    unit: str
    median: float
    low: float
    high: float
    confidence: float
    values: int

    @classmethod
    def of(cls, unit: str, values: Iterable[float]) -> Figure | None:
        """Return the figure of some values, None when there is none."""
        found = sorted(values)
        if not found:
            return None
        low, high, confidence = median_interval(found)
        middle = statistics.median(found)
        return cls(
            unit=unit,
            median=round(middle, 4),
            low=round(low, 4),
            high=round(high, 4),
            confidence=round(confidence, 4),
            values=len(found),
        )


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return (low, high, confidence) of the median's exact distribution-free interval.

    It reaches from the k-th smallest to the k-th largest value, with the largest k that leaves at
    least 95 %: as many values lie below the median as heads fall in n throws of a coin (Conover,
    Practical Nonparametric Statistics, 3rd edition, 1999, section 3.2). Where no k does, k is 1."""
    ordered, count = sorted(values), len(values)
    confidence = [
        1 - 2 * sum(math.comb(count, heads) for heads in range(k)) / 2**count
        for k in range(1, (count + 1) // 2 + 1)
    ]
    k = max((n for n, one in enumerate(confidence, 1) if one >= LEVEL), default=1)
    return ordered[k - 1], ordered[-k], max(0.0, confidence[k - 1])


# ---- what is read of a campaign -----------------------------------------------------------------


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
        return self.cpu_s * _share(self.run_lost_s, self.run_s)


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
    usual = _share(sum(one.solver_us for one in results), sum(one.wall_us for one in results))
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
    return twin.done.solver_us / 1e6 * min(1.0, _share(took_s, twin.done.wall_us / 1e6))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


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


# ---- CPU time -----------------------------------------------------------------------------------


@dataclass(slots=True)
class Meter:
    """The CPU time of all executors of a campaign, those that have died as of the last look."""

    _ticks: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def cpu_s(self) -> float:
        """Seconds so far."""
        return sum(self._ticks.values()) / _TICKS

    def look(self, members: Iterable[Member]) -> None:
        """Look at the members that are executors, and at everything below them."""
        executors = {one.pid: one.started for one in members if one.role is Role.EXECUTOR}
        table = dict(_process_times())
        sums = Counter[int]()
        for pid, (_, _, ticks) in table.items():
            above = pid
            while above in table and above not in executors:
                above = table[above][0]
            if above in table and table[above][1] == executors[above]:
                sums[above] += ticks
        for pid, ticks in sums.items():
            life = pid, executors[pid]
            # A process that was orphaned takes its time elsewhere: it was used all the same.
            self._ticks[life] = max(ticks, self._ticks.get(life, 0))


def _process_times() -> Iterator[tuple[int, tuple[int, int, int]]]:
    """Yield (pid, (parent, start, ticks of CPU, its own and of what it has reaped))."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "stat").read_text().rpartition(")")[2].split()
                ticks = sum(map(int, words[11:15]))
                yield int(entry.name), (int(words[1]), int(words[19]), ticks)


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


# ---- one campaign -------------------------------------------------------------------------------


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
        words = [sys.executable, "-m", "benchmarks.traced_ranks", "launch", str(self._trace)]
        env = {"TMPDIR": str(self._tmp), "PYTHONPATH": str(ROOT)}
        self._job = Job(config, folder, launcher=words, env=env)
        self._meter = Meter()
        self._pack: list[Role] = []
        self._kills: list[Kill] = []
        self._problems: list[str] = []

    def run(self, pair: int) -> Row:
        """Run it; nothing of it is left afterwards, whatever happens."""
        cpu, began = _cpu_of_children(), time.monotonic()
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
        return self._row(pair, budget, _cpu_of_children() - cpu, wall_s, end)

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


# ---- all campaigns ------------------------------------------------------------------------------


def figures_of(rows: Sequence[Row]) -> dict[str, Figure]:
    """Return the figures of all pairs whose campaigns have both used their budget up."""
    calm = {row.pair: row for row in rows if row.budget and not row.disturbed}
    pairs = [
        (row, calm[row.pair]) for row in rows if row.budget and row.disturbed and row.pair in calm
    ]
    at_budget = [(a.budget, b.budget) for a, b in pairs if a.budget and b.budget]
    struck = [row for row, _ in pairs]
    kills = [kill for row in struck for kill in row.kills]
    roots = [row.root for row in calm.values()]
    found = {
        "edges, disturbed / undisturbed": _ratio((a.edges, b.edges) for a, b in at_budget),
        "decisions, disturbed / undisturbed": _ratio((a.decided, b.decided) for a, b in at_budget),
        "CPU time of executors, disturbed / undisturbed": _ratio(
            (a.cpu_s, b.cpu_s) for a, b in at_budget
        ),
        "CPU time of the job by that of executors, disturbed / undisturbed": _ratio(
            (_share(a.job_cpu_s, a.cpu_s), _share(b.job_cpu_s, b.cpu_s)) for a, b in pairs
        ),
        "wall time, disturbed / undisturbed": _ratio((a.wall_s, b.wall_s) for a, b in pairs),
        "kills": Figure.of("a campaign", (len(row.kills) for row in struck)),
        "kills that no decision followed": Figure.of(
            "a campaign", (sum(k.recovery_s is None for k in row.kills) for row in struck)
        ),
        "executions lost": Figure.of("a campaign", (row.lost for row in struck)),
        "executions repeated": Figure.of("a campaign", (row.repeated for row in struck)),
        "executions repeated, undisturbed": Figure.of("a campaign", (b.repeated for _, b in pairs)),
        "execution time lost": _percent((row.run_lost_s, row.run_s) for row in struck),
        "CPU time lost": Figure.of("s", (row.cpu_lost_s for row in struck)),
        "solver time repeated": Figure.of("s", (row.solver_lost_s for row in struck)),
        "solver time repeated, share": _percent((r.solver_lost_s, r.solver_s) for r in struck),
        "recovery": _recovery(kills),
        **{
            f"recovery, {role} killed": _recovery(k for k in kills if k.role == role)
            for role in ROLES
        },
        "COMMIT, share of the root's wall time": _percent(
            (root.spans_wall_s.get("commit", 0.0), root.wall_s) for root in roots
        ),
        "COMMIT, share of the root's CPU time": _percent(
            (root.spans_cpu_s.get("commit", 0.0), root.cpu_s) for root in roots
        ),
        "durability, share of the root's wall time": _percent(
            (sum(root.spans_wall_s.values()), root.wall_s) for root in roots
        ),
        "durability, share of the root's CPU time": _percent(
            (sum(root.spans_cpu_s.values()), root.cpu_s) for root in roots
        ),
    }
    return {name: figure for name, figure in found.items() if figure is not None}


def _ratio(pairs: Iterable[tuple[float, float]]) -> Figure | None:
    return Figure.of("ratio", (_share(one, other) for one, other in pairs))


def _percent(parts: Iterable[tuple[float, float]]) -> Figure | None:
    return Figure.of("%", (100 * _share(part, whole) for part, whole in parts))


def _recovery(kills: Iterable[Kill]) -> Figure | None:
    return Figure.of("s", (k.recovery_s for k in kills if k.recovery_s is not None))


def rows_of(options: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """Build cJSON, run all pairs; yield a row for each campaign."""
    library = next(one for one in targets.LIBRARIES if one.name == LIBRARY)
    upstream = sources.fetch(library.package, targets.HERE / ".cache")
    compiler = [str(Path(sys.executable).with_name("symfleet")), "cc"]
    program = targets.build(library, upstream, compiler, folder / "target")
    budget_s = options.seconds * options.slots
    plan = Plan(program, library.seeds, options.slots, budget_s, options.every)
    for pair in range(1, options.pairs + 1):
        for disturbed in (False, True) if pair % 2 else (True, False):
            place = folder / f"{pair}{'d' if disturbed else 'u'}"
            chance = random.Random(f"{options.seed} {pair}") if disturbed else None
            row = Campaign(plan, place, chance).run(pair)
            yield row
            if not row.problems:
                shutil.rmtree(place)


def measure(options: argparse.Namespace, folder: Path) -> list[Row]:
    """Run all, print a line for each pair; return all rows."""
    rows: list[Row] = []
    for row in rows_of(options, folder):
        rows.append(row)
        of_pair = [one for one in rows if one.pair == row.pair]
        if len(of_pair) == 2:
            told = {"pair": row.pair, "rows": msgspec.to_builtins(of_pair)}
            print(json.dumps(told), flush=True)
    return rows


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU seconds of each slot")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two kills")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="where the result goes")
    return parser.parse_args()


def report(options: argparse.Namespace, rows: Sequence[Row], load: Sequence[float]) -> int:
    """Write the result, print the figures, return the exit code."""
    date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    kinds = {True: "disturbed", False: "undisturbed"}
    problems = [
        f"pair {row.pair}, {kinds[row.disturbed]}: {problem}"
        for row in rows
        for problem in row.problems
    ]
    figures = figures_of(rows)
    result: dict[str, Any] = {
        "date": date,
        "command": shlex.join(["python", "-m", "benchmarks.kill_cost", *sys.argv[1:]]),
        "options": {name: value for name, value in vars(options).items() if name != "json"},
        "cores": os.cpu_count(),
        "load_average": [[round(one, 2) for one in when] for when in (load, os.getloadavg())],
        "pairs": len({row.pair for row in rows}),
        "killed": dict(Counter(kill.role for row in rows for kill in row.kills)),
        "figures": msgspec.to_builtins(figures),
        "problems": problems,
        "rows": msgspec.to_builtins(rows),
    }
    path = options.json or ROOT / "benchmarks" / "results" / f"kill-cost-{date[:10]}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    for name, one in figures.items():
        print(f"{name}: {one.median:g} [{one.low:g}, {one.high:g}] {one.unit}")
    print(f"{len(rows)} campaigns, {len(problems)} problems: {path}")
    return 1 if problems else 0


def main() -> int:
    """Run all, write the result, return the exit code; 130 when it was interrupted."""
    options = parse()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    processes.become_subreaper()
    load = os.getloadavg()
    (ROOT / "build").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="symfleet-kill-cost-", dir=ROOT / "build"))
    is_kept = True
    try:
        rows = measure(options, folder)
        is_kept = any(row.problems for row in rows)
    except KeyboardInterrupt:
        print("interrupted: no result is written", file=sys.stderr)
        is_kept, rows = False, []
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_everything_below()
        if is_kept:
            print(f"everything is below {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    return report(options, rows, load) if rows else 130


if __name__ == "__main__":
    sys.exit(main())
