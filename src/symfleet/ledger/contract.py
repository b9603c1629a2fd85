"""What every ledger store keeps: the only truth of a campaign.

One owner opens, writes and closes; it holds `owner.lock` for as long as it lives. On a server
other coordinators may write beside it, each over its own connection (`AttachedLedger`). Readers
open the store read-only, live or not. `run` is the one way to change work: all operations of a turn
in one transaction, a savepoint each. The meaning of each operation stands in
`symfleet.protocol.operations`; one behaviour suite (`tests/integration/ledger_behaviour.py`) runs
against every store. Nobody waits for what is counted and not there: a store that keeps counts apart
from its rows looks whether they fit (`turn_counts`); the one in memory counts the rows themselves.

Errors: IntegrityError for damage (the row is named, nothing is changed), IOFailure for disk full
and I/O errors, BusyError when another owner lives, DataError for a store that is not ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from symfleet.config.ledger_address import LedgerAccess
from symfleet.protocol.answers import Artefact, EpochOpening, SinkRow, TurnAnswers
from symfleet.protocol.operations import Operation
from symfleet.types import (
    CampaignId,
    Epoch,
    GenerationId,
    Incarnation,
    InputId,
    Keep,
    SinkKind,
    WorkId,
    WorkState,
)


@dataclass(frozen=True, slots=True)
class GenerationKey:
    """Everything that changes what an execution yields. A difference is refused with both values
    unless a new coverage generation is asked for."""

    target_digest: str
    arguments: tuple[str, ...]
    input_mode: str
    engine_build: str
    limits: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """Identity of a campaign, written once at creation, and what it explores now."""

    campaign: CampaignId
    ledger_incarnation: str
    """16 hex digits, new for each database file that is created or accepted as older copy."""
    created_wall: float
    keep: Keep
    generation: GenerationId
    key: GenerationKey
    config_toml: str
    generation_number: int = 1
    """How many generations the campaign has had; `generation`, `key` and `config_toml` are those of
    the newest."""


@dataclass(frozen=True, slots=True)
class NewGeneration:
    """A program that a campaign goes on with: its results are not mixed with earlier ones."""

    generation: GenerationId
    key: GenerationKey
    config_toml: str
    now_wall: float


@dataclass(frozen=True, slots=True)
class EpochRequest:
    """Who opens an epoch."""

    host: str
    pid: int
    command_line: str
    version: str
    coordinator: Incarnation
    now_wall: float
    config_toml: str


@dataclass(frozen=True, slots=True)
class CoordinatorTotals:
    """What one coordinator did in an epoch."""

    coordinator: int
    executed: int
    acknowledged: int
    """Slots that were acknowledged at the end, of `workers` in all."""
    workers: int
    missing: tuple[str, ...]
    """Names of workers, or of the coordinator itself when it was lost (Q4)."""
    faults: int = 0
    """Sum of the fault counters that this coordinator wrote."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over decisions and counts of rows; of one epoch or of the whole campaign."""

    executed: int = 0
    generated: int = 0
    unique_children: int = 0
    kept: int = 0
    late_children: int = 0
    unstable_edges: int = 0
    external_inputs: int = 0
    crashes: int = 0
    hangs: int = 0
    target_runs: int = 0
    solver_us: int = 0
    wall_us: int = 0
    edges: int = 0
    flips: dict[str, int] = field(default_factory=dict)
    solved: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    skipped_inputs: dict[str, int] = field(default_factory=dict)
    not_exhaustive: int = 0
    """Executions of the generation in which a limit cut something off for good."""
    cut_off: dict[str, int] = field(default_factory=dict)
    """They by limit."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Children of theirs that are known to be lost, by limit."""


@dataclass(frozen=True, slots=True)
class EpochRow:
    """One epoch: a launch has one, and one more for each time that it began again by itself."""

    epoch: Epoch
    opened_wall: float
    closed_wall: float | None
    host: str
    pid: int
    reason: str | None
    """None: it crashed or still runs."""
    exit_code: int | None
    leases_recovered: int
    decisions: int
    command_line: str = ""
    version: str = ""
    """Of the symfleet that opened it."""
    config_toml: str = ""
    """Its effective configuration: what may change between launches stands here for each."""


@dataclass(frozen=True, slots=True)
class LedgerStatus:
    """One consistent snapshot for status, screens and verdicts."""

    campaign: CampaignRow
    epoch: EpochRow | None
    epochs: int
    states: dict[WorkState, int]
    suspects: int
    pending_first: int | None
    """Pending rows that the frontier has before the later turns of executed inputs, counted up to
    `plan.PENDING_COUNTED_MAX`; None when there are no turns (keep=all)."""
    unpublished: int
    corpus: int
    this_epoch: Totals
    total: Totals
    faults_this_epoch: dict[str, dict[str, int]]
    """Counter name -> reason -> amount (reason "" when a counter has none)."""
    faults_total: dict[str, dict[str, int]]
    coordinators: tuple[CoordinatorTotals, ...]
    """Of the newest epoch."""
    executed_by: dict[int, int]
    """Decisions of each coordinator number over all epochs."""
    idle_window_s: float | None
    decisions: int
    last_new_edge_wall: float | None
    """`total.edges`, and this, are those of the newest generation."""


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """One decision as stored."""

    number: int
    work_id: WorkId
    manifest: bytes
    manifest_digest: str
    """SHA-256 over the part of the manifest that does not depend on who decided it when (all but
    epoch, fence and incarnation): equal between runs that explore the same thing."""
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class CrashRow:
    """A crash or hang with what reproduces it."""

    kind: SinkKind
    input_id: InputId
    parent: InputId | None
    signal: int
    epoch: Epoch
    decision: int
    found_wall: float
    size: int


@dataclass(frozen=True, slots=True)
class WorkRow:
    """A work row as people look at it (poisoned, deferred, suspect ones)."""

    work_id: WorkId
    input_id: InputId
    state: WorkState
    deliveries: int
    blames: int
    losses: int
    detail: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that an audit found wrong."""

    what: str
    row: str
    detail: str


class LedgerReader(Protocol):
    """Read-only view; safe beside a live owner."""

    def status(self) -> LedgerStatus:
        """Return one consistent snapshot."""
        ...

    def epochs(self) -> Sequence[EpochRow]:
        """Return all epochs, oldest first."""
        ...

    def input_bytes(self, input_id: InputId) -> bytes:
        """Return the bytes, hashed again; raise IntegrityError when they do not match."""
        ...

    def corpus(self) -> Iterator[InputId]:
        """Yield the corpus in admission order."""
        ...

    def decisions(self) -> Iterator[DecisionRow]:
        """Yield all decisions in order."""
        ...

    def crashes(self) -> Sequence[CrashRow]:
        """Return crashes and hangs, oldest first."""
        ...

    def work_rows(self, state: WorkState, limit: int) -> Sequence[WorkRow]:
        """Return rows of a state for people; pending and deferred ones in frontier order."""
        ...

    def artefacts(
        self, kind: SinkKind, after: int, limit: int, bytes_max: int
    ) -> Sequence[Artefact]:
        """Return artefacts of a kind with number > `after`, in order; at least one when any."""
        ...

    def sinks(self) -> Sequence[SinkRow]:
        """Return all sinks."""
        ...

    def knowledge(self) -> bytes:
        """Return all edges, packed."""
        ...

    def chain_at(self, decision: int) -> str | None:
        """Return the hash of a decision, 64 hex digits; None when there is no such decision."""
        ...

    def audit(self) -> Iterator[Finding]:
        """Check everything: pages, digests, ids, chains, sums, states; yield what is wrong."""
        ...

    def close(self) -> None:
        """Release the store."""
        ...


class TurnLedger(Protocol):
    """What a coordinator's turn needs of a ledger, wherever it is."""

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn's operations in one durable transaction (leases alone may be NORMAL)."""
        ...

    def checkpoint(self) -> None:
        """Between turns: fold the write-ahead log back when it has grown, write `highwater`."""
        ...


class Ledger(LedgerReader, TurnLedger, Protocol):
    """The owner's view."""

    def open_epoch(self, request: EpochRequest) -> EpochOpening:
        """Check the store (bounded), write the new epoch row, void all older leases whatever their
        time says (L4..L6), re-arm deferred rows (J8), return what was found."""
        ...

    def begin_generation(self, new: NewGeneration) -> int:
        """Begin a coverage generation, before an epoch is opened: all work that is not decided is
        superseded, every input of the corpus becomes work, coverage and edges count anew; all in
        one durable transaction. Return how much work that is."""
        ...

    def register_source(self, kind: str, path: str, host: str) -> int:
        """Return the number of the source, made when new; it is open."""
        ...

    def register_sink(self, kind: SinkKind, path: str, host: str) -> SinkRow:
        """Return the sink of this host and path with a fresh incarnation for this epoch."""
        ...

    def access(self) -> LedgerAccess | None:
        """Return what another coordinator needs to write to the open epoch over an own connection
        (`places.attach_ledger`); None when only the owner writes."""
        ...

    def rearm(self, work_ids: Sequence[WorkId]) -> int:
        """Make poisoned rows pending again with their blames forgotten; return how many."""
        ...

    def drop_unnamed(self) -> int:
        """Remove inputs that no row names; return how many."""
        ...
