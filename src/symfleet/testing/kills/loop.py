"""The kill loop: a random process of a job is killed again and again, and nothing may come of it.

One *disturbed run* explores a finite program to exhaustion. After each first decision since the
last kill, within a bound, one random process (worker, executor, target, root, another coordinator
if there is one, mpirun, or the launcher, which is then started again) gets SIGKILL. Roles are drawn
as from a pack of cards, so that as many kills as there are roles meet all of them. In the end
everything must be as in a run that nobody disturbed: the same corpus, the same (work id, manifest
digest), the same decision counters, nothing poisoned, a clean audit, and no decided item executed
again.

That last point is checked from outside the ledger: the engine program logs each of its runs by
itself. At a kill the set of decided inputs is read first and the length of the log afterwards: a
line beyond that length for an input in the set is a second run of a decided item.
"""

from __future__ import annotations

import hashlib
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from symfleet.errors import SymfleetError
from symfleet.ledger.contract import LedgerReader
from symfleet.ledger.manifest import decode_manifest
from symfleet.runtime.stores import open_reader
from symfleet.testing.jobs import Job, Member, Role, until
from symfleet.types import WorkState

_DECISION_S: Final = 90.0
_MEMBER_S: Final = 20.0
"""How long a role that lives now and then (a target) may take to be seen."""
_POLL_S: Final = 0.02


class Facts(msgspec.Struct, frozen=True):
    """What two runs of one campaign must have in common."""

    corpus: frozenset[str]
    files: frozenset[str]
    manifests: frozenset[tuple[str, str]]
    counters: dict[str, int]
    poisoned: int


class Kill(msgspec.Struct, frozen=True):
    """One kill: who, and how much was decided by then."""

    role: str
    decided: int
    delay_s: float


class RunReport(msgspec.Struct, frozen=True):
    """What a disturbed run came to."""

    exit_code: int
    kills: tuple[Kill, ...]
    epochs: int
    runs: int
    """Lines in the engine's log: decided items plus runs that were lost with their process."""
    run_again: tuple[str, ...]
    """Inputs that were executed after they had been decided: must be empty."""
    findings: tuple[str, ...]
    faults: dict[str, dict[str, int]]
    wall_s: float
    facts: Facts


@dataclass(slots=True)
class Watch:
    """What was decided at each kill, and where the engine's log ended then. An engine that runs
    each input several times by design has no log: `log` is None and nothing is concluded."""

    log: Path | None
    marks: list[tuple[frozenset[str], int]] = field(default_factory=list)

    def mark(self, decided: frozenset[str]) -> None:
        """Remember where the log ends now, and what had been decided just before."""
        self.marks.append((decided, len(self.lines())))

    def lines(self) -> bytes:
        """Return the log as it is."""
        return self.log.read_bytes() if self.log is not None and self.log.exists() else b""

    def run_again(self) -> tuple[str, ...]:
        """Return the inputs that were run after they had been decided."""
        data = self.lines()
        found: set[str] = set()
        for decided, offset in self.marks:
            found |= decided & set(data[offset:].decode().split())
        return tuple(sorted(found))


def collect_facts(reader: LedgerReader, out: Path) -> Facts:
    """Read what must not depend on kills."""
    status = reader.status()
    total = status.total
    folder = out / "corpus"
    return Facts(
        corpus=frozenset(reader.corpus()),
        files=frozenset(
            _digest_of(path) for path in folder.rglob("*") if path.is_file() and folder.is_dir()
        ),
        manifests=frozenset((row.work_id, row.manifest_digest) for row in reader.decisions()),
        counters={
            "decided": total.executed,
            "generated": total.generated,
            "unique_children": total.unique_children,
            "kept": total.kept,
            "crashes": total.crashes,
            "hangs": total.hangs,
        },
        poisoned=status.states.get(WorkState.POISONED, 0),
    )


def _digest_of(path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return digest if digest == path.name else f"{path.name} holds {digest}"


def decided_inputs(reader: LedgerReader) -> frozenset[str]:
    """Return the inputs of all decided items."""
    return frozenset(decode_manifest(row.manifest).input_id for row in reader.decisions())


def decisions_so_far(out: Path) -> int:
    """Return how many decisions a campaign has made; 0 while it cannot be read."""
    try:
        with open_reader(out) as reader:
            return reader.status().decisions
    except (SymfleetError, FileNotFoundError):  # not made yet
        return 0


def conclude(
    job: Job, watch: Watch, kills: tuple[Kill, ...], exit_code: int, began: float
) -> RunReport:
    """Say what a run that has ended came to. `began`: monotonic seconds."""
    with open_reader(job.out) as reader:
        watch.mark(decided_inputs(reader))
        return RunReport(
            exit_code=exit_code,
            kills=kills,
            epochs=reader.status().epochs,
            runs=len(watch.lines().split()),
            run_again=watch.run_again(),
            findings=tuple(f"{found.what}: {found.row} {found.detail}" for found in reader.audit()),
            faults=reader.status().faults_total,
            wall_s=round(time.monotonic() - began, 3),
            facts=collect_facts(reader, job.out),
        )


class KillLoop:
    """Disturbs one run of a job."""

    def __init__(
        self, job: Job, log: Path | None, chance: random.Random, *, kills: int, within_s: float
    ) -> None:
        """`log`: where the engine program writes its runs, if it does."""
        self._job = job
        self._watch = Watch(log)
        self._chance = chance
        self._kills_max = kills
        self._within_s = within_s
        self._pack: list[Role] = []
        self._done: list[Kill] = []

    def run(self, end_within_s: float = 300.0) -> RunReport:
        """Run to the end; the report says what happened, and judges nothing."""
        began = time.monotonic()
        self._job.start()
        decided = 0
        while len(self._done) < self._kills_max:
            if not self._wait_for_decision(decided):
                break
            decided = self._kill()
        code = self._job.wait(end_within_s)
        return conclude(self._job, self._watch, tuple(self._done), code, began)

    def _wait_for_decision(self, before: int) -> bool:
        """Wait for a decision after `before`; False when the launcher ended first."""

        def happened() -> bool:
            return not self._job.is_running or decisions_so_far(self._job.out) > before

        until("a decision is made", happened, _DECISION_S)
        return self._job.is_running

    def _kill(self) -> int:
        """Kill one random process within the bound; return how much was decided before."""
        delay_s = self._chance.uniform(0.0, self._within_s)
        deadline = time.monotonic() + delay_s
        while time.monotonic() < deadline and self._job.is_running:
            time.sleep(_POLL_S)
        if not self._pack:
            self._pack = self._chance.sample(self._job.roles, len(self._job.roles))
        role = self._pack[-1]
        found: list[Member] = []

        def is_there() -> bool:
            found[:] = self._job.find(role)
            return bool(found) or not self._job.is_running

        until(f"the {role} is seen", is_there, _MEMBER_S)
        if not found:
            return 0
        member = self._chance.choice(found)
        with open_reader(self._job.out) as reader:
            decided = decided_inputs(reader)
        self._watch.mark(decided)
        if self._job.kill(member):
            self._pack.pop()
            self._done.append(Kill(role.value, len(decided), round(delay_s, 3)))
            if role is Role.LAUNCHER:
                self._resume()
        # What was on its way may still have been decided: it is no sign of life of what comes.
        return decisions_so_far(self._job.out)

    def _resume(self) -> None:
        """Start the launcher again at once, as a person would, while the dead one's processes may
        still be dying."""
        self._job.start()
        self._job.assert_nothing_left_of_others()
