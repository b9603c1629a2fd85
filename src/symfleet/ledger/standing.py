"""Where a ledger stands: what the owner keeps in memory between turns.

Everything here can be read again from rows, and is after a turn that failed. Work counters and
faults of a turn gather here and are written once, at its end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from symfleet.ledger.edges import Knowledge, unpack_edges
from symfleet.ledger.rows import Database
from symfleet.ledger.statements import load
from symfleet.types import Epoch, Incarnation, SinkKind

_SQL: Final = load("reading")
_STANDING: Final = _SQL["standing"]
_LAST_EPOCH: Final = _SQL["last_epoch"]
_LAST_DECISION: Final = _SQL["last_decision"]
_LAST_ARTEFACT: Final = _SQL["last_artefact"]
_LAST_WORK: Final = _SQL["last_work"]
_LIVE_SINKS: Final = _SQL["live_sinks"]
_LAST_EPOCH_NUMBER: Final = _SQL["last_epoch_number"]
_COVERAGE: Final = _SQL["coverage"]
_NTH_CORPUS: Final = _SQL["nth_corpus"]
_NTH_FAILURE: Final = _SQL["nth_failure"]

COUNTED: Final = (
    *("pending", "leased", "done", "deferred", "poisoned", "suspects", "changes"),
    *("corpus", "crashes", "hangs"),
)
"""The columns of the row `standing`, in the order in which it is read and written."""


@dataclass(slots=True)
class Standing:
    """Maintained counts (the row `standing`), last numbers, the live epoch and its chain."""

    pending: int
    leased: int
    done: int
    deferred: int
    poisoned: int
    suspects: int
    changes: int
    corpus: int
    crashes: int
    hangs: int
    epoch: Epoch
    """0 before the first epoch."""
    incarnation: Incarnation
    quiescent: bool
    closed: str | None
    decisions: int
    chain: bytes
    artefacts: int
    works: int
    published: dict[int, tuple[SinkKind, int]]
    """Live sink -> its kind and how many artefacts of the kind it has published."""
    knowledge: Knowledge
    counters: dict[tuple[int, str], int] = field(default_factory=dict)
    faults: dict[tuple[int, str, str], int] = field(default_factory=dict)

    @property
    def open_work(self) -> int:
        """Return rows that stand between the campaign and quiescence."""
        return self.pending + self.leased + self.deferred

    @property
    def row(self) -> tuple[int, ...]:
        """Return the columns of the row `standing`."""
        return (
            self.pending,
            self.leased,
            self.done,
            self.deferred,
            self.poisoned,
            self.suspects,
            self.changes,
            self.corpus,
            self.crashes,
            self.hangs,
        )

    def artefacts_of(self, kind: SinkKind) -> int:
        """Return how many artefacts of a kind exist."""
        match kind:
            case SinkKind.CORPUS:
                return self.corpus
            case SinkKind.CRASHES:
                return self.crashes
            case SinkKind.HANGS:
                return self.hangs

    @property
    def unpublished(self) -> int:
        """Return how many artefacts the live sinks have still to show."""
        return sum(self.artefacts_of(kind) - nth for kind, nth in self.published.values())

    def count(self, coordinator: int, name: str, amount: int) -> None:
        """Add to a work counter of this epoch."""
        key = (coordinator, name)
        self.counters[key] = self.counters.get(key, 0) + amount

    def fault(self, coordinator: int, name: str, reason: str, amount: int) -> None:
        """Add to a fault counter of this epoch."""
        key = (coordinator, name, reason)
        self.faults[key] = self.faults.get(key, 0) + amount


def published_nth(connection: Database, kind: SinkKind, published_upto: int) -> int:
    """Return how many artefacts of a kind have a number up to a mark."""
    if kind is SinkKind.CORPUS:
        row = connection.execute(_NTH_CORPUS, (published_upto,)).fetchone()
    else:
        row = connection.execute(_NTH_FAILURE, (kind.value, published_upto)).fetchone()
    return 0 if row is None else int(row[0])


def read_knowledge(connection: Database) -> Knowledge:
    """Return the union of all decisions' new edges."""
    knowledge = Knowledge()
    for (edges,) in connection.execute(_COVERAGE):
        knowledge.add(unpack_edges(edges))
    return knowledge


def read_unpublished(connection: Database, counts: dict[SinkKind, int]) -> int:
    """Return how many artefacts the live sinks have still to show."""
    (epoch,) = connection.execute(_LAST_EPOCH_NUMBER).fetchone()
    marks = connection.execute(_LIVE_SINKS, (epoch,)).fetchall()
    return sum(
        counts[SinkKind(kind)] - published_nth(connection, SinkKind(kind), upto)
        for _, kind, upto in marks
    )


def read_standing(connection: Database) -> Standing:
    """Read everything again from rows."""
    execute = connection.execute
    counts = execute(_STANDING).fetchone()
    epoch = execute(_LAST_EPOCH).fetchone()
    decision = execute(_LAST_DECISION).fetchone()
    number, chain = (0, b"") if decision is None else (int(decision[0]), decision[1])
    if epoch is not None and (decision is None or decision[2] != epoch[0]):
        chain = epoch[2]
    number_of_epoch = Epoch(0 if epoch is None else epoch[0])
    marks = execute(_LIVE_SINKS, (number_of_epoch,)).fetchall()
    pending, leased, done, deferred, poisoned, suspects, changes, corpus, crashes, hangs = counts
    return Standing(
        pending=pending,
        leased=leased,
        done=done,
        deferred=deferred,
        poisoned=poisoned,
        suspects=suspects,
        changes=changes,
        corpus=corpus,
        crashes=crashes,
        hangs=hangs,
        epoch=number_of_epoch,
        incarnation=Incarnation(0 if epoch is None else int.from_bytes(epoch[1], "big")),
        quiescent=epoch is not None and bool(epoch[4]),
        closed=None if epoch is None else epoch[6],
        decisions=number,
        chain=chain,
        artefacts=int(execute(_LAST_ARTEFACT).fetchone()[0]),
        works=int(execute(_LAST_WORK).fetchone()[0]),
        published={
            sink: (SinkKind(kind), published_nth(connection, SinkKind(kind), upto))
            for sink, kind, upto in marks
        },
        knowledge=read_knowledge(connection),
    )
