"""Ledger operations. Their answers are in `answers.py`.

The machines ask for operations; the loop runs all operations of a turn in ONE ledger transaction,
a savepoint each, and gives the answers back in the same order within the same turn. An operation
whose savepoint failed is answered by `Failed` and has changed nothing.

Every change of a work row names its id, its state and its fencing token (L2). What an operation
means is written here once; `symfleet.ledger` keeps it for every store. Those of other coordinators
arrive as bytes (`turns.py`); the types say what may be in them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec

from symfleet.protocol.item_results import Flips
from symfleet.protocol.ranges import (
    Amount,
    Count,
    ExitStatus,
    InputName,
    Life,
    RankNumber,
    Signal,
    StateName,
    Text,
    Word64,
    WorkName,
    require_amounts,
)
from symfleet.types import (
    FencingToken,
    Keep,
    Outcome,
)


@dataclass(frozen=True, slots=True)
class Admission:
    """One input with the work that it becomes. `origin` is shown to people (a path)."""

    input_id: InputName
    data: bytes
    work_id: WorkName
    state_id: StateName
    payload: bytes
    origin: Text


@dataclass(frozen=True, slots=True)
class Admit:
    """Let inputs from outside into the frontier. The store hashes the bytes again (A1) and
    recomputes the work id. Known work is left as it is. Counts `external_inputs` for new ones.
    Answer: Admitted."""

    source: Count
    entries: tuple[Admission, ...]


@dataclass(frozen=True, slots=True)
class CountSkips:
    """Count inputs of a source that were not admitted, by reason: unreadable, vanished, growing,
    empty, too_large, special, misnamed, campaign. Answer: Counted."""

    source: Count
    reasons: tuple[tuple[Text, Amount], ...]


@dataclass(frozen=True, slots=True)
class SetSource:
    """Say that a source is open (may still bring work) or closed. Answer: Counted."""

    source: Count
    is_open: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """Lease up to `limit` pending rows in frontier order, each with a new fence (L1).

    A row whose state id is leased already is passed over and unchanged (L3). Ids are recomputed
    from the payload and the input's bytes are hashed again (A1, A4): damage raises IntegrityError
    and ends the turn. `with_deferred` also takes rows that were deferred in this epoch and not yet
    retried (once). `suspects_only` takes rows marked suspect, which no other claim takes. Nothing
    is found only when there is nothing: rows that are counted and not there are damage (C9).
    Answer: Claimed."""

    coordinator: RankNumber
    limit: RankNumber
    with_deferred: bool = False
    suspects_only: bool = False


@dataclass(frozen=True, slots=True)
class Child:
    """A child as the decision records it. `data` is None when its bytes were stored by a
    StoreInputs before or are dropped by the reporter."""

    input_id: InputName
    data: bytes | None
    work_id: WorkName
    state_id: StateName
    payload: bytes
    how: Text
    site: Word64
    direction: Signal
    outcome: Outcome
    signal: Signal
    edges: bytes


@dataclass(frozen=True, slots=True)
class FollowUp:
    """The rest of a truncated execution: the same input with `bound`."""

    work_id: WorkName
    state_id: StateName
    payload: bytes


@dataclass(frozen=True, slots=True)
class Decide:
    """Commit a result: fence check, manifest, child objects, child work rows, coverage, counters,
    artefacts for the sinks, in one savepoint (C1..C4, C7).

    Which children are kept: with Keep.ALL every distinct child; with Keep.NOVEL those with a stable
    edge that is new in this transaction, in manifest order, and the rest count as `late`. A child
    that crashes or hangs is an artefact of its kind whether or not it is kept. The item's own
    crash or hang is an artefact too. Answer: Decided."""

    work_id: WorkName
    token: FencingToken
    input_id: InputName
    keep: Keep
    outcome: Outcome
    exit_code: ExitStatus
    signal: Signal
    edges: bytes
    unstable: Amount
    generated: Amount
    dropped: Amount
    children: tuple[Child, ...]
    flips: Flips
    solved: dict[Text, Amount]
    executions: Amount
    solver_us: Amount
    wall_us: Amount
    cpu_us: Amount
    degraded: tuple[Text, ...]
    reason: Text | None
    follow_up: FollowUp | None = None
    cut_off: tuple[Text, ...] = ()
    """Which limits have left something untried that nothing will try again; sorted."""
    left_out: dict[Text, Amount] = field(default_factory=dict)
    """Children that are known to be lost to them, by reason."""

    @property
    def not_exhaustive(self) -> bool:
        """Whether a limit has left something untried."""
        return bool(self.cut_off)

    def __post_init__(self) -> None:
        flips = self.flips
        require_amounts(flips.sat, flips.unsat, flips.timeout, flips.unknown, flips.skipped)


ReleaseCause = Literal[
    "given_back",  # claimed, never delivered
    "send_failed",  # delivered to nobody
    "prefetched",  # lost with a slot, but never ran
    "lost",  # it ran when its slot, worker or host was lost
    "silence",  # rolled back by the progress rule
    "reborn",  # its slot came back as a new incarnation
    "protocol",  # READY and RESULT could not be joined; counts protocol_requeued
    "invalid",  # the result was not valid
    "stalled",
    "killed",
    "cancelled",
]


@dataclass(frozen=True, slots=True)
class Release:
    """Give a lease back: leased -> pending, unblamed, with the token's fence kept (J6, J9).

    `ran` says whether the item was running; three unblamed losses in a row while running make the
    row a suspect, two more poison it. `at_head` puts it before all other pending rows.
    Answer: Changed."""

    work_id: WorkName
    token: FencingToken
    cause: ReleaseCause
    ran: bool = False
    at_head: bool = False


@dataclass(frozen=True, slots=True)
class Defer:
    """Spend the last retry: leased -> deferred (J8); a second deferral of the row poisons it.
    Counts protocol_deferred. Answer: Changed."""

    work_id: WorkName
    token: FencingToken
    reason: Text


@dataclass(frozen=True, slots=True)
class Blame:
    """Record that an executor died while running the item and release it; the third blame from a
    third executor incarnation poisons the row. Counts blames. Answer: Blamed."""

    work_id: WorkName
    token: FencingToken
    executor: Life
    detail: Text


@dataclass(frozen=True, slots=True)
class StoreInputs:
    """Store bytes of Part frames as objects that no row names yet. Answer: Counted."""

    inputs: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class CountFaults:
    """Add to a coordinator's fault counters: (name, reason, amount). Answer: Counted."""

    coordinator: RankNumber
    faults: tuple[tuple[Text, Text, Amount], ...]


@dataclass(frozen=True, slots=True)
class MarkPublished:
    """Move a sink's mark by compare-and-set (C7); stale unless the sink was registered in this
    epoch. Answer: Marked."""

    sink: Count
    incarnation: Life
    published_from: Count
    published_upto: Count


@dataclass(frozen=True, slots=True)
class AuditLeases:
    """Check that the leased rows of this epoch and coordinator are exactly these.
    Answer: Audited."""

    coordinator: RankNumber
    held: tuple[tuple[WorkName, FencingToken], ...]


@dataclass(frozen=True, slots=True)
class TakeOver:
    """Take every lease of this epoch from a coordinator that is lost: leased -> pending, unblamed
    and at once, tokens void (L2). From then on the epoch refuses its claims, so that one that
    only seemed lost leases nothing any more. Counts leases_recovered{takeover} for it.
    Answer: TakenOver."""

    coordinator: RankNumber


@dataclass(frozen=True, slots=True)
class CommitQuiescence:
    """Commit the vote: conditional on no open row (pending, leased; deferred rows that are due),
    every live sink at the last artefact, all sources closed, and the same change counter (C10, Q3).
    Answer: Quiesced."""

    members: Text
    changes: Count


@dataclass(frozen=True, slots=True)
class RecordAck:
    """Record how many slots of a coordinator were acknowledged at the end, and the names of the
    workers that were not (Q4). The epoch's idle window is the longest one recorded: the root
    measures it. Answer: Counted."""

    coordinator: RankNumber
    acknowledged: Count
    total: Count
    missing: tuple[Text, ...]
    idle_window_s: Annotated[float, msgspec.Meta(ge=0, le=1e9)]


@dataclass(frozen=True, slots=True)
class CloseEpoch:
    """Write the verdict into the epoch row: the root's last transaction. Answer: Counted."""

    reason: Text
    exit_code: ExitStatus


Operation = (
    Admit
    | CountSkips
    | SetSource
    | Claim
    | Decide
    | Release
    | Defer
    | Blame
    | StoreInputs
    | CountFaults
    | MarkPublished
    | AuditLeases
    | TakeOver
    | CommitQuiescence
    | RecordAck
    | CloseEpoch
)
