"""Real jobs die at crash points and by signals, one after the other, in one campaign.

Theory of operation. A campaign of a finite tree is launched again and again. Each launch meets
one *case*: a crash point of one rank or of the launcher, two of them (the second while the first is
recovered from), or a *strike* from outside. It is waited for by what it does, never by time. Then
the launch is over, too, nothing of it may be left, and the ledger is looked at: audit, nothing that
was decided is lost. The next launch is the recovery. In the end one launch is left alone, and
everything must be as in a run of one worker that nobody disturbed, with no decided item run again.
"""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from symfleet.config.model import Advanced
from symfleet.testing.jobs import Job, Member, Role, until
from symfleet.testing.kills.layout_faults import verify
from symfleet.testing.kills.loop import Facts, Watch, collect_facts, decided_inputs
from symfleet.testing.kills.mpi_cases import Case, Strike
from symfleet.testing.kills.mpi_points import Death, Way
from symfleet.testing.memory_limit import MemoryLimit
from symfleet.testing.programs import ProgramCampaign, faults_of
from symfleet.types import input_id_of

SLOTS: Final = {1: 2, 2: 6}
"""Slots by coordinators: two workers in both."""
NODES: Final = 150
RATE: Final = 10.0
"""Decisions a second of a launch: enough to wait for, and a tree lasts for many launches."""
SILENCE_S: Final = 3.0
_WITHIN_S: Final = 90.0
_ASKED: Final = (0, 2)
"""Exit codes of a launch that was asked to end: something is left when it was to try everything."""
_END_S: Final = 180.0
_WORN: Final = 0.6
_PASSED: Final = re.compile(r"crash point (\S+): ")
_BY_DEATH: Final = frozenset({"leases_recovered", "redone_decisions", "slots_recovered"})
_BY_LOSS: Final = frozenset({"slots_reborn", "silence_timeouts"})
_BY_SILENCE: Final = frozenset({"quarantined_frames", "quarantined_ready", "quarantined_results"})
"""Fault counters that are explained by deaths; by losses of a slot; by a worker that comes back
after it was given up: what it still says is set aside."""


_KILLED: Final = {
    Strike.LAUNCHER: Role.LAUNCHER,
    Strike.MPIRUN: Role.MPIRUN,
    Strike.ROOT: Role.ROOT,
    Strike.COORDINATOR: Role.COORDINATOR,
    Strike.WORKER: Role.WORKER,
    Strike.EXECUTOR: Role.EXECUTOR,
    Strike.TARGET: Role.TARGET,
}


@dataclass(slots=True)
class Outcome:
    """What cases came to. `met`: those that happened. `noted`: points that were passed by launches
    that said so."""

    tell: Callable[[str], None]
    met: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    noted: set[str] = field(default_factory=set)

    def add(self, wrong: str) -> None:
        """Something is wrong."""
        self.wrong.append(wrong)
        self.tell(wrong)


class Chain:
    """One campaign and all launches that die on it."""

    def __init__(
        self, folder: Path, program: Path, outcome: Outcome, chance: random.Random, note: str
    ) -> None:
        """`note`: what every launch has armed besides its case."""
        nodes = (f"NODES={NODES}",)
        self.campaign = ProgramCampaign(folder, program, {"root": b"0"}, env=nodes)
        self._outcome = outcome
        self._chance = chance
        self._note_spec = note
        self._out = self.campaign.out
        self._decided: frozenset[str] = frozenset()
        self._watch = Watch(self.campaign.log)
        self._explained = _BY_DEATH | _BY_LOSS

    @property
    def is_begun(self) -> bool:
        """Whether there is a ledger."""
        return (self._out / "ledger.db").exists()

    @property
    def is_worn(self) -> bool:
        """Whether too little is left to be disturbed."""
        return len(self._decided) > NODES * _WORN

    def run(self, case: Case) -> None:
        """Let one launch meet its case."""
        self.campaign.coordinators = case.coordinators
        self.campaign.slots = SLOTS[case.coordinators]
        spec = case.what.spec if isinstance(case.what, Death) else ""
        if case.then is not None:
            spec += f",{case.then.in_epoch(2).spec}"
        spec = ",".join(filter(None, (spec, self._note_spec)))
        job = self.campaign.job(
            seconds=SLOTS[case.coordinators] / RATE,
            advanced=_advanced(case),
            env={"SYMFLEET_CRASH": spec} if spec else {},
        )
        launch = Launch(self.campaign, job, self._chance)
        try:
            if isinstance(case.what, Death):
                launch.die(case.what, case.then)
            else:
                launch.strike(case.what)
            launch.end()
            self._outcome.met.append(str(case))
            if case.what is Strike.STOP_WORKER:
                self._explained |= _BY_SILENCE
        except AssertionError as error:
            self._note(case, f"{type(error).__name__}: {error}: {launch.said()[-3000:]}")
            job.end()
        self._outcome.noted.update(_PASSED.findall(launch.said()))
        for one in self.look():
            self._note(case, one)

    def _note(self, case: Case | str, one: str) -> None:
        self._outcome.add(f"{case}: {one}")

    def look(self) -> list[str]:
        """Return what is wrong while nothing runs."""
        if not self.is_begun:
            return ["the ledger is gone"] if self._decided else []
        with self.campaign.reader() as reader:
            wrong = [f"{found.what}: {found.row}: {found.detail}" for found in reader.audit()]
            decided = decided_inputs(reader)
        if self._decided - decided:
            wrong.append(f"decided and lost: {sorted(self._decided - decided)}")
        self._decided = decided
        self._watch.mark(decided)
        return wrong

    def finish(self, expected: Facts | None) -> None:
        """Let the last launch be, and judge everything. `expected`: what nobody disturbed, if that
        is known; what the tree is, is known in any case."""
        job = self.campaign.job(seconds=0.0)
        code = job.run(_END_S)
        wrong = [] if code == 0 else [f"exit code {code}: {job.story.read_text()}"]
        for one in [*wrong, *self.look(), *self.judge(expected)]:
            self._note("in the end", one)
        self.campaign.assert_tidy()

    def judge(self, expected: Facts | None) -> list[str]:
        """Return what is wrong with a campaign that has ended."""
        with self.campaign.reader() as reader:
            facts, faults = collect_facts(reader, self._out), faults_of(reader.status())
        tree = {input_id_of(b"%d" % node) for node in range(NODES)}
        checks = {
            "another corpus": facts.corpus == facts.files == tree,
            "other decisions": len(facts.manifests) == facts.counters["decided"] == NODES,
            f"other facts: {facts} instead of {expected}": expected in (None, facts),
            f"run again: {self._watch.run_again()}": not self._watch.run_again(),
            f"faults: {faults}": faults.keys() <= self._explained,
            (found := verify(self._out)): not found,
        }
        return [name for name, holds in checks.items() if not holds]


def run_cases(
    folder: Path,
    program: Path,
    cases: Sequence[Case],
    tell: Callable[[str], None],
    *,
    expected: Facts | None = None,
    note: str = "",
) -> Outcome:
    """Run cases below a folder, as many in one campaign as it can bear; those of a first launch
    each on a campaign that has none yet."""
    outcome, chance = Outcome(tell), random.Random(1)
    chains: list[Chain] = []
    try:
        ordered = sorted(cases, key=lambda case: not case.is_fresh)
        for number, case in enumerate(ordered, 1):
            tell(f"{number} of {len(ordered)}: {case}")
            if not chains or chains[-1].is_worn or (case.is_fresh and chains[-1].is_begun):
                if chains:
                    chains[-1].finish(expected)
                place = folder / f"campaign{len(chains)}"
                chains.append(Chain(place, program, outcome, chance, note))
            chains[-1].run(case)
        if chains:
            chains[-1].finish(expected)
    finally:
        for chain in chains:
            chain.campaign.close()
    return outcome


def _advanced(case: Case) -> Advanced:
    """Return the settings of a launch: a deadline that is to be missed is low, no other one is."""
    match case.what:
        case Strike.STOP_COORDINATOR:
            return Advanced(idle_window_s=0.1, root_silence_s=SILENCE_S)
        case Strike.STOP_WORKER:
            return Advanced(idle_window_s=0.1, delivery_silence_s=20, progress_s=0.5)
        case _:
            return Advanced(idle_window_s=0.1)


class Launch:
    """One launch and what it meets."""

    def __init__(self, campaign: ProgramCampaign, job: Job, chance: random.Random) -> None:
        """Start it."""
        self._campaign = campaign
        self._job = job
        self._chance = chance
        logs = campaign.out / "logs"
        self._log, self._notes = logs / "mpirun.log", logs / "coordinator-0.jsonl"
        self._offsets = {
            path: path.stat().st_size if path.exists() else 0 for path in (self._log, self._notes)
        }
        job.start()

    def said(self) -> str:
        """Return what launcher and ranks have said since the start."""
        return self._job.story.read_text("utf-8", "replace") + self._new(self._log)

    def _new(self, path: Path) -> str:
        """Return what was written to a log since the start."""
        try:
            with path.open("rb") as log:
                log.seek(self._offsets[path])
                return log.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

    def _until(self, what: str, condition: Callable[[], bool]) -> None:
        """Wait for something while the launch runs."""
        until(what, lambda: condition() or not self._job.is_running, _WITHIN_S)

    # ---- crash points --------------------------------------------------------------------------

    def die(self, death: Death, then: Death | None) -> None:
        """Wait until the launch has met its crash points."""
        match death.way:
            case Way.DRAIN:
                self._campaign.wait_for_decision(self._job, _WITHIN_S)
                self._job.kill(self._one(Role.LAUNCHER), signal.SIGTERM)
            case Way.ORPHAN:
                self._until(
                    "a coordinator is there", lambda: bool(self._job.find(Role.COORDINATOR))
                )
                self._campaign.wait_for_decision(self._job)
                self._job.kill(self._one(Role.COORDINATOR))
            case _:
                pass
        self._meet(death)
        if then is not None:
            self._meet(then)

    def _meet(self, death: Death) -> None:
        words = f"crash point {death.label}: {death.action}"
        self._until(f"{death.label} is passed", lambda: words in self.said())
        assert words in self.said(), f"nobody was at {death}"
        if death.action == "stop":
            self._continue()

    def _continue(self) -> None:
        """Let whoever stopped by itself go on, and see the campaign get on."""
        stopped: list[Member] = []

        def found() -> bool:
            stopped[:] = [one for one in self._job.members() if one.is_stopped]
            return bool(stopped)

        self._until("somebody stands still", found)
        for one in stopped:
            self._job.kill(one, signal.SIGCONT)
        if self._job.is_running:
            self._campaign.wait_for_decision(self._job, _WITHIN_S)

    # ---- strikes -------------------------------------------------------------------------------

    def strike(self, strike: Strike) -> None:
        """Let the strike happen after a decision."""
        self._campaign.wait_for_decision(self._job, _WITHIN_S)
        match strike:
            case Strike.SESSION:
                for member in self._job.members():
                    self._job.kill(member)
            case Strike.TERM_LAUNCHER:
                self._job.kill(self._one(Role.LAUNCHER), signal.SIGTERM)
                assert self._job.wait(_WITHIN_S) in _ASKED, self.said()
            case Strike.TERM_ROOT:
                self._job.kill(self._one(Role.ROOT), signal.SIGTERM)
                assert self._job.wait(_WITHIN_S) in _ASKED, self.said()
            case Strike.TERM_WORKER:
                self._hit(Role.WORKER, signal.SIGTERM)
            case Strike.STOP_ROOT:
                self._stop(Role.ROOT, lambda: not self._job.find(Role.TARGET))
            case Strike.STOP_COORDINATOR:
                self._stop(Role.COORDINATOR, lambda: self._noted("coordinator_lost"))
            case Strike.STOP_WORKER:
                self._stop(Role.WORKER, lambda: self._noted("slot_silent"))
            case Strike.OOM_ROOT:
                self._out_of_memory(Role.ROOT)
            case Strike.OOM_WORKER:
                self._out_of_memory(Role.WORKER)
            case _:
                self._hit(_KILLED[strike], signal.SIGKILL)

    def _one(self, role: Role) -> Member:
        found: list[Member] = []

        def is_there() -> bool:
            found[:] = self._job.find(role)
            return bool(found)

        self._until(f"a {role} is seen", is_there)
        assert found, f"there is no {role}: {self.said()}"
        return self._chance.choice(found)

    def _hit(self, role: Role, signum: int) -> None:
        """Signal one of a role, and see the campaign get on."""
        while not self._job.kill(self._one(role), signum):
            assert self._job.is_running, f"no {role} was met"
        if role is not Role.LAUNCHER:
            self._campaign.wait_for_decision(self._job, _WITHIN_S)

    def _stop(self, role: Role, due: Callable[[], bool]) -> None:
        victim = self._one(role)
        assert self._job.kill(victim, signal.SIGSTOP)
        try:
            self._until(f"the stopped {role} can go on", due)
        finally:
            self._job.kill(victim, signal.SIGCONT)
        self._campaign.wait_for_decision(self._job, _WITHIN_S)

    def _noted(self, event: str) -> bool:
        return event in self._new(self._notes)

    def _out_of_memory(self, role: Role) -> None:
        """Have the kernel find no memory for one process."""
        with MemoryLimit() as limit:
            victim = self._one(role)
            limit.starve(victim.pid)
            self._until("the kernel kills it", lambda: victim not in self._job.find(role))
            assert limit.kills == 1
        self._campaign.wait_for_decision(self._job, _WITHIN_S)

    # ---- the end -------------------------------------------------------------------------------

    def end(self) -> None:
        """End the launch as a power switch would, and see that nothing is left."""
        self._job.members()
        if self._job.is_running:
            for launcher in self._job.find(Role.LAUNCHER):
                self._job.kill(launcher)
        self._job.assert_nothing_left(_WITHIN_S)
