"""What must be true of a campaign that a soak disturbed, and how it is told.

*Decided never runs again.* The set of decided inputs is read first and the length of the engine's
own log afterwards: a later run of an input of the set is a second run of a decided item.

*Nothing lost, nothing counted twice.* Corpus, published files, (work id, manifest digest) and
counters equal those of a campaign that nobody disturbed, the engine has run each input, and the
ledger holds one decision for each item.

*Losses.* An item that is killed under is lost unblamed: the third time in a row makes it a suspect,
the fifth poisons it. The soak spares suspects once nothing else is open, and before that nobody
runs them, so that nothing may be poisoned. A death of a target or an executor loses one item, that
of a worker one for each of its slots, and nothing else loses any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from symfleet.ledger.contract import LedgerReader, LedgerStatus, WorkRow
from symfleet.ledger.manifest import decode_manifest
from symfleet.testing.kills.loop import Facts
from symfleet.testing.soak.graph import RunLog
from symfleet.types import InputId, WorkState

_NAMED_MAX: Final = 5
_ROWS_MAX: Final = 1000


class Standing(msgspec.Struct, frozen=True):
    """How far a campaign is, as one look at its ledger tells."""

    decided: int
    open: int
    suspects: int
    reason: str | None
    """Why its newest epoch ended; None while it runs, and when it crashed."""
    epochs: int

    @property
    def only_suspects(self) -> bool:
        """Whether nothing but suspects is left to run, so that they run now."""
        return 0 < self.open <= self.suspects

    @property
    def complete(self) -> bool:
        """Whether it has ended for good."""
        return self.reason == "quiescent" and self.open == 0


def standing_of(status: LedgerStatus) -> Standing:
    """Return the standing in a snapshot."""
    states = (WorkState.PENDING, WorkState.LEASED, WorkState.DEFERRED)
    return Standing(
        decided=status.decisions,
        open=sum(status.states.get(state, 0) for state in states),
        suspects=status.suspects,
        reason=None if status.epoch is None else status.epoch.reason,
        epochs=status.epochs,
    )


@dataclass(slots=True)
class DecidedOnce:
    """Tells which inputs were run after they had been decided."""

    runs: RunLog
    _known: dict[InputId, int] = field(default_factory=dict)
    """Decided input -> a length of the log by which it was decided."""
    _decision: int = 0

    def mark(self, reader: LedgerReader) -> None:
        """Look at the decisions, then at the log."""
        fresh: list[InputId] = []
        for row in reader.decisions():
            if row.number > self._decision:
                fresh.append(decode_manifest(row.manifest).input_id)
                self._decision = row.number
        self.note(fresh)

    def note(self, decided: Iterable[InputId]) -> None:
        """These were decided before the log is read now."""
        fresh = list(decided)
        length = self.runs.read()
        for name in fresh:
            self._known.setdefault(name, length)

    def run_again(self) -> list[str]:
        """Name the inputs that ran again, and when."""
        return [
            f"{name} was decided before run {length} and ran again as run {place}"
            for name, length in self._known.items()
            for place in self.runs.starts.get(name, ())
            if place >= length
        ]


def too_many_losses(rows: Iterable[WorkRow], at_most: int) -> list[str]:
    """Tell when open items were lost more often than the faults can account for."""
    losses = sum(row.losses for row in rows)
    return [f"{losses} losses, of which {at_most} are accounted for"] if losses > at_most else []


def rows_at_risk(reader: LedgerReader) -> list[WorkRow]:
    """Return the first open rows, and those that are set aside."""
    states = (WorkState.PENDING, WorkState.LEASED, WorkState.DEFERRED, WorkState.POISONED)
    return [row for state in states for row in reader.work_rows(state, _ROWS_MAX)]


class Harm(msgspec.Struct, frozen=True):
    """What a campaign must have none of, in items."""

    lost: int
    counted_twice: int
    run_again: int


def harm_of(facts: Facts, expected: Facts, decisions: int, run_again: int) -> Harm:
    """Count it. Whatever is decided or counted beyond one decision for each item counts twice."""
    decided = {work for work, _ in facts.manifests}
    twice = decisions - len(decided)
    return Harm(
        lost=len({work for work, _ in expected.manifests} - decided),
        counted_twice=max(twice, facts.counters["decided"] - len(decided)),
        run_again=run_again,
    )


def differences(facts: Facts, expected: Facts, runs: RunLog, decisions: int) -> list[str]:
    """Name what was lost and what was counted twice."""
    lost, more = expected.corpus - facts.corpus, facts.corpus - expected.corpus
    checks = {
        f"lost: {_some(lost)}": not lost,
        f"too much: {_some(more)}": not more,
        f"files: {_some(facts.files ^ expected.files)}": facts.files == expected.files,
        "other manifests: "
        + _some(work for work, _ in facts.manifests ^ expected.manifests): facts.manifests
        == expected.manifests,
        f"counters {facts.counters}, not {expected.counters}": facts.counters == expected.counters,
        f"{facts.poisoned} poisoned": facts.poisoned == 0,
        f"{decisions} decisions of {len(facts.manifests)} items": decisions == len(facts.manifests),
        f"never run: {_some(expected.corpus - set(runs.starts))}": expected.corpus
        <= set(runs.starts),
    }
    return [name for name, holds in checks.items() if not holds]


def unexplained_faults(faults: dict[str, dict[str, int]], allowed: Counter[str]) -> list[str]:
    """Name fault counters above what the injected faults account for."""
    return [
        f"fault counter {name}: {amounts}, of which {allowed[name]} are accounted for"
        for name, amounts in faults.items()
        if sum(amounts.values()) > allowed[name]
    ]


def _some(names: Iterable[str]) -> str:
    found = sorted(names)
    more = f" and {len(found) - _NAMED_MAX} more" if len(found) > _NAMED_MAX else ""
    return ", ".join(found[:_NAMED_MAX]) + more
