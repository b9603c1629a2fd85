"""Rows of the in-memory store, and the journal that takes changes back.

Every change goes through the journal. Taking back to a mark is a savepoint's rollback; taking back
all entries of lease-only turns is what a power cut does to leases that were not yet durable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from symfleet.ledger.tally import DecisionRecord, Shown
from symfleet.protocol.answers import Artefact, SinkRow
from symfleet.types import (
    Epoch,
    Fence,
    Incarnation,
    InputId,
    StateId,
    WorkId,
    WorkState,
)

K = TypeVar("K")
V = TypeVar("V")


class Journal:
    """Inverse steps, newest last."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def mark(self) -> int:
        """Return a mark to go back to."""
        return len(self._undo)

    def back_to(self, mark: int) -> None:
        """Take back every change since the mark, newest first."""
        while len(self._undo) > mark:
            self._undo.pop()()

    def forget(self) -> None:
        """Everything until now is durable."""
        self._undo.clear()

    def record(self, undo: Callable[[], object]) -> None:
        """Remember how to take back a change that is being made."""
        self._undo.append(undo)

    def set(self, row: object, /, **values: object) -> None:
        """Set attributes of a row."""
        old = {name: getattr(row, name) for name in values}
        for name, value in values.items():
            setattr(row, name, value)

        def undo() -> None:
            for name, value in old.items():
                setattr(row, name, value)

        self._undo.append(undo)

    def put(self, table: dict[K, V], key: K, value: V) -> None:
        """Insert or replace an entry."""
        if key in table:
            old = table[key]
            self._undo.append(lambda: table.__setitem__(key, old))
        else:
            self._undo.append(lambda: table.pop(key))
        table[key] = value

    def add(self, table: dict[K, int], key: K, amount: int) -> None:
        """Add to a counter."""
        if amount:
            self.put(table, key, table.get(key, 0) + amount)

    def append(self, rows: list[V], row: V) -> None:
        """Append a row."""
        rows.append(row)
        self._undo.append(rows.pop)


@dataclass(slots=True)
class Work:
    """A work row. It holds no time: nothing of a lease can be compared with a clock (L4, L5)."""

    row: int
    work_id: WorkId
    state_id: StateId
    input_id: InputId
    payload: bytes
    place: int
    cost_us: int
    fence: Fence
    epoch: Epoch
    state: WorkState = WorkState.PENDING
    coordinator: int = 0
    deliveries: int = 0
    blamed_by: tuple[Incarnation, ...] = ()
    losses: int = 0
    suspect: bool = False
    deferrals: int = 0
    decision: int = 0
    detail: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the row stands between the campaign and quiescence."""
        return self.state in (WorkState.PENDING, WorkState.LEASED, WorkState.DEFERRED)


@dataclass(slots=True)
class Decision:
    """A decision row."""

    number: int
    work_id: WorkId
    epoch: Epoch
    fence: Fence
    manifest: bytes
    record: DecisionRecord
    record_bytes: bytes
    new_edges: bytes
    chain: bytes
    wall: float


@dataclass(slots=True)
class EpochState:
    """An epoch row."""

    epoch: Epoch
    coordinator: Incarnation
    opened_wall: float
    host: str
    pid: int
    leases_recovered: int
    chain: bytes
    """Hash of the last decision of this epoch's coordinator, or where its chain starts."""
    command_line: str = ""
    version: str = ""
    config_toml: str = ""
    decisions: int = 0
    closed_wall: float | None = None
    reason: str | None = None
    exit_code: int | None = None
    quiescent: bool = False
    idle_window_s: float | None = None


@dataclass(frozen=True, slots=True)
class GenerationState:
    """A generation row: where it began, and how many work rows it has ended."""

    first_epoch: int
    decisions_before: int
    superseded: int


@dataclass(slots=True)
class Source:
    """A source row."""

    number: int
    kind: str
    path: str
    host: str
    epoch: Epoch
    is_open: bool


@dataclass(slots=True)
class Sink:
    """A sink row and the epoch in which somebody last registered it (a live sink)."""

    row: SinkRow
    epoch: Epoch
    registrations: int


@dataclass(slots=True)
class Ack:
    """Acknowledged workers of one coordinator in one epoch."""

    acknowledged: int
    total: int
    missing: tuple[str, ...]


@dataclass(slots=True)
class Tables:
    """All rows."""

    inputs: dict[InputId, bytes] = field(default_factory=dict)
    corpus: dict[InputId, int] = field(default_factory=dict)
    work: dict[WorkId, Work] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    epochs: list[EpochState] = field(default_factory=list)
    generations: list[GenerationState] = field(default_factory=list)
    """Those after the first."""
    sources: list[Source] = field(default_factory=list)
    sinks: list[Sink] = field(default_factory=list)
    artefacts: list[Artefact] = field(default_factory=list)
    shown: dict[tuple[str, InputId], int] = field(default_factory=dict)
    """(kind, input) of every artefact -> its number."""
    counters: dict[tuple[Epoch, int, str], int] = field(default_factory=dict)
    faults: dict[tuple[Epoch, int, str, str], int] = field(default_factory=dict)
    acks: dict[tuple[Epoch, int], Ack] = field(default_factory=dict)

    @property
    def generation(self) -> GenerationState:
        """Where the newest generation began."""
        return self.generations[-1] if self.generations else GenerationState(0, 0, 0)


def shown_of(artefact: Artefact) -> Shown:
    """Return what a decision's digest says of an artefact."""
    return Shown(
        number=artefact.number,
        kind=artefact.kind,
        input_id=artefact.input_id,
        parent=artefact.parent,
        epoch=artefact.epoch,
        outcome=artefact.outcome,
        signal=artefact.signal,
        how=artefact.how,
        site=artefact.site,
    )
