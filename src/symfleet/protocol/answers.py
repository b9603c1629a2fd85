"""What the ledger answers to the operations of a turn, and the rows that it shows the machines.

An answer stands at its operation's place (`operations.py`). Those for other coordinators travel as
bytes (`turns.py`); the types say what may be in them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from symfleet.types import (
    Epoch,
    FencingToken,
    Incarnation,
    InputId,
    Outcome,
    SinkKind,
    StateId,
    WorkId,
)


@dataclass(frozen=True, slots=True)
class Admitted:
    """Per entry, whether it was new."""

    new: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """Done; nothing to tell."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A leased row: everything that a delivery needs."""

    work_id: WorkId
    state_id: StateId
    token: FencingToken
    payload: bytes
    data: bytes
    deliveries: int
    blames: int
    suspect: bool
    cost_us: int
    """Measured cost of the parent's execution, 0 when unknown."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """Leased rows in frontier order; fewer than the limit when nothing else is pending."""

    leases: tuple[Lease, ...]


@dataclass(frozen=True, slots=True)
class Decided:
    """`disposition`: completed (this call accounts), already (same token and manifest), stale."""

    disposition: Literal["completed", "already", "stale"]
    decision: int = 0
    new_work: int = 0
    kept: tuple[InputId, ...] = ()
    late: int = 0
    new_edges: bytes = b""


@dataclass(frozen=True, slots=True)
class Changed:
    """Whether the row was changed (False: the token does not hold it any more)."""

    changed: bool
    poisoned: bool = False


@dataclass(frozen=True, slots=True)
class Blamed:
    """Answer to Blame."""

    changed: bool
    blames: int
    poisoned: bool


@dataclass(frozen=True, slots=True)
class Marked:
    """Answer to MarkPublished."""

    disposition: Literal["completed", "already", "stale"]


@dataclass(frozen=True, slots=True)
class Audited:
    """Rows that are leased but held by nobody, and held but not leased."""

    orphaned: tuple[WorkId, ...] = ()
    unknown: tuple[WorkId, ...] = ()


@dataclass(frozen=True, slots=True)
class TakenOver:
    """How many leases were taken over."""

    amount: int


@dataclass(frozen=True, slots=True)
class Quiesced:
    """Whether the campaign is quiescent for ever in this epoch; else why not."""

    committed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """The operation was refused and changed nothing. `disk_full`: the disk is full, the ledger has
    given its reserve back to decide what is in flight, and answers Admit and Claim so until the
    next epoch: drain and stop with 74."""

    message: str
    disk_full: bool = False


Answer = (
    Admitted
    | Counted
    | Claimed
    | Decided
    | Changed
    | Blamed
    | Marked
    | Audited
    | TakenOver
    | Quiesced
    | Failed
)


@dataclass(frozen=True, slots=True)
class TurnAnswers:
    """Answers of one turn, in the order of its operations, and the state after its commit."""

    answers: tuple[Answer, ...]
    open_work: int = 0
    """Pending + leased rows + deferred rows that are due."""
    pending: int = 0
    leased: int = 0
    """Leased rows of all coordinators."""
    changes: int = 0
    """Change counter: grows with every admission, decision and release."""
    last_artefact: int = 0
    unpublished: int = 0
    deferred: int = 0
    """Rows that are deferred now, due or not."""
    poisoned: int = 0


@dataclass(frozen=True, slots=True)
class Artefact:
    """One line of the outbox: what a sink has to show. `number` grows by one, without gaps, in
    decision order."""

    number: int
    kind: SinkKind
    input_id: InputId
    parent: InputId | None
    outcome: Outcome
    signal: int
    epoch: Epoch
    decision: int
    data: bytes
    how: str = ""
    site: int = 0


@dataclass(frozen=True, slots=True)
class SinkRow:
    """A sink as the ledger has it."""

    sink: int
    kind: SinkKind
    host: str
    path: str
    incarnation: Incarnation
    published_upto: int


@dataclass(frozen=True, slots=True)
class EpochOpening:
    """What opening an epoch found and did (before any work is dispatched)."""

    epoch: Epoch
    resumed: bool
    leases_recovered: int
    deferred_rearmed: int
    frontier: int
    decisions: int
    knowledge: bytes
    """All edges that the campaign has, packed like Executed.edges."""
    sinks: tuple[SinkRow, ...] = field(default=())
