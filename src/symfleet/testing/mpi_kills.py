"""Real jobs die at crash points and by signals, one after the other, in one campaign.

Theory of operation. A campaign of a finite program is launched again and again. Each launch meets
one *case*: a crash point of one rank or of the launcher, two of them (the second while the first is
recovered from), or a *strike* from outside. It is waited for by what it does, never by time. Then
the launch is over, too, nothing of it may be left, and the ledger is looked at: audit, nothing that
was decided is lost. The next launch is the recovery. In the end one launch is left alone, and
everything must be as in a run of one worker that nobody disturbed, with no decided item run again.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import random
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from symfleet.config.model import Advanced
from symfleet.testing.jobs import Job, Member, Role, until
from symfleet.testing.kill_loop import Facts, Watch, collect_facts, decided_inputs
from symfleet.testing.layout_faults import verify
from symfleet.testing.memory_limit import MemoryLimit
from symfleet.testing.mpi_points import Death, Way
from symfleet.testing.programs import ProgramCampaign, faults_of

SLOTS: Final = {1: 2, 2: 6}
"""Slots by coordinators: two workers in both."""
SILENCE_S: Final = 2.0
_WITHIN_S: Final = 90.0
_END_S: Final = 180.0
_BY_DEATH: Final = frozenset({"leases_recovered", "redone_decisions", "slots_recovered"})
_BY_LOSS: Final = frozenset({"slots_reborn", "silence_timeouts"})
"""Fault counters that deaths explain."""


class Strike(enum.StrEnum):
    """What hits a job from outside."""

    LAUNCHER = "launcher killed"
    MPIRUN = "mpirun killed"
    ROOT = "root killed"
    COORDINATOR = "coordinator killed"
    WORKER = "worker killed"
    EXECUTOR = "executor killed"
    TARGET = "target killed"
    SESSION = "everything killed at once"
    TERM_LAUNCHER = "SIGTERM to the launcher"
    TERM_ROOT = "SIGTERM to the root"
    TERM_WORKER = "SIGTERM to a worker"
    STOP_ROOT = "root stopped until all executions are through, then continued"
    STOP_COORDINATOR = "coordinator stopped past its deadline, then continued"
    STOP_WORKER = "worker stopped past its deadline, then continued"
    OOM_ROOT = "root killed for memory"
    OOM_WORKER = "worker killed for memory"

    @property
    def coordinators(self) -> tuple[int, ...]:
        """In which layouts it can happen."""
        return (2,) if self in (Strike.COORDINATOR, Strike.STOP_COORDINATOR) else (1, 2)

    @property
    def is_long(self) -> bool:
        """Whether it takes as long as a deadline that cannot be set lower."""
        return self is Strike.STOP_WORKER


_KILLED: Final = {
    Strike.LAUNCHER: Role.LAUNCHER,
    Strike.MPIRUN: Role.MPIRUN,
    Strike.ROOT: Role.ROOT,
    Strike.COORDINATOR: Role.COORDINATOR,
    Strike.WORKER: Role.WORKER,
    Strike.EXECUTOR: Role.EXECUTOR,
    Strike.TARGET: Role.TARGET,
}


@dataclass(frozen=True, slots=True)
class Case:
    """What one launch meets. `then`: where the next epoch dies, too."""

    coordinators: int
    what: Death | Strike
    then: Death | None = None

    def __str__(self) -> str:
        then = "" if self.then is None else f", then {self.then}"
        return f"{self.coordinators} coordinator{'s' * (self.coordinators > 1)}: {self.what}{then}"


def shuffled(cases: Sequence[Case]) -> list[Case]:
    """Return the cases in an order that is the same every time and has no pattern."""
    return sorted(cases, key=lambda case: hashlib.sha256(str(case).encode()).digest())


@dataclass(slots=True)
class Chain:
    """One campaign and all launches that die on it."""

    campaign: ProgramCampaign
    chance: random.Random
    tell: Callable[[str], None]
    wrong: list[str] = field(default_factory=list)
    met: list[str] = field(default_factory=list)
    """Cases that happened."""
    _decided: frozenset[str] = frozenset()
    _watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        self._watch = Watch(self.campaign.log)

    @property
    def _out(self) -> Path:
        return self.campaign.out

    def run(self, case: Case) -> None:
        """Let one launch meet its case."""
        self.campaign.coordinators = case.coordinators
        self.campaign.slots = SLOTS[case.coordinators]
        spec = case.what.spec if isinstance(case.what, Death) else ""
        if case.then is not None:
            spec += f",{case.then.in_epoch(2).spec}"
        advanced = Advanced(idle_window_s=0.1, root_silence_s=SILENCE_S)
        if case.what is Strike.STOP_WORKER:
            advanced = Advanced(idle_window_s=0.1, delivery_silence_s=20, progress_s=0.5)
        job = self.campaign.job(advanced=advanced, env={"SYMFLEET_CRASH": spec} if spec else {})
        launch = Launch(self.campaign, job, self.chance)
        try:
            if isinstance(case.what, Death):
                launch.die(case.what, case.then)
            else:
                launch.strike(case.what)
            launch.end()
            self.met.append(str(case))
        except AssertionError as error:
            self._note(case, f"{type(error).__name__}: {error}: {launch.said()[-3000:]}")
            job.end()
        for one in self.look():
            self._note(case, one)

    def _note(self, case: Case | str, one: str) -> None:
        self.wrong.append(f"{case}: {one}")
        self.tell(self.wrong[-1])

    def look(self) -> list[str]:
        """Return what is wrong while nothing runs."""
        if not (self._out / "ledger.db").exists():
            return ["the ledger is gone"] if self._decided else []
        with self.campaign.reader() as reader:
            wrong = [f"{found.what}: {found.row}: {found.detail}" for found in reader.audit()]
            decided = decided_inputs(reader)
        if self._decided - decided:
            wrong.append(f"decided and lost: {sorted(self._decided - decided)}")
        self._decided = decided
        self._watch.mark(decided)
        return wrong

    @property
    def decided(self) -> int:
        """How much is decided."""
        return len(self._decided)

    def finish(self, expected: Facts) -> None:
        """Let the last launch be, and judge everything."""
        job = self.campaign.job()
        code = job.run(_END_S)
        wrong = self.look()
        with self.campaign.reader() as reader:
            facts, faults = collect_facts(reader, self._out), faults_of(reader.status())
        checks = {
            f"exit code {code}: {job.story.read_text()}": code == 0,
            f"other facts: {facts} instead of {expected}": facts == expected,
            f"run again: {self._watch.run_again()}": not self._watch.run_again(),
            f"faults {faults}": faults.keys() <= _BY_DEATH | _BY_LOSS,
            (found := verify(self._out)): not found,
        }
        for one in [*wrong, *(name for name, holds in checks.items() if not holds)]:
            self._note("in the end", one)
        self.campaign.assert_tidy()


class Launch:
    """One launch and what it meets."""

    def __init__(self, campaign: ProgramCampaign, job: Job, chance: random.Random) -> None:
        """Start it."""
        self._campaign = campaign
        self._job = job
        self._chance = chance
        self._log = campaign.out / "logs" / "mpirun.log"
        self._offset = self._log.stat().st_size if self._log.exists() else 0
        job.start()

    def said(self) -> str:
        """Return what launcher and ranks have said since the start."""
        text = self._job.story.read_text("utf-8", "replace")
        with contextlib.suppress(FileNotFoundError), self._log.open("rb") as log:
            log.seek(self._offset)
            text += log.read().decode("utf-8", "replace")
        return text

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
                assert self._job.wait(_WITHIN_S) == 0, self.said()
            case Strike.TERM_ROOT:
                self._job.kill(self._one(Role.ROOT), signal.SIGTERM)
                assert self._job.wait(_WITHIN_S) == 0, self.said()
            case Strike.TERM_WORKER:
                self._hit(Role.WORKER, signal.SIGTERM)
            case Strike.STOP_ROOT:
                self._stop(Role.ROOT, lambda: not self._job.find(Role.TARGET))
            case Strike.STOP_COORDINATOR:
                self._stop(Role.COORDINATOR, lambda: self._noted("coordinator_lost"))
            case Strike.STOP_WORKER:
                self._stop(Role.WORKER, lambda: self._noted("delivery_silence"))
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
        log = self._campaign.out / "logs" / "coordinator-0.jsonl"
        return log.exists() and event in log.read_text()

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
