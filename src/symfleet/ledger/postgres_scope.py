"""What a transaction on PostgreSQL holds from its beginning, and what it learns there."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from symfleet.errors import IntegrityError
from symfleet.ledger.standing import Standing
from symfleet.protocol.operations import (
    AuditLeases,
    Blame,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    CountFaults,
    CountSkips,
    Defer,
    MarkPublished,
    Operation,
    Release,
)


class Scope(enum.Enum):
    """What a transaction holds from its beginning."""

    SHARED = "turn_start"
    ORDERED = "begin_ordered"
    ALONE = "begin_alone"


def scope_of(operations: Sequence[Operation]) -> Scope:
    """Return what the transaction of a turn must hold."""
    if any(isinstance(operation, CommitQuiescence | CloseEpoch) for operation in operations):
        return Scope.ALONE
    return Scope.ORDERED if any(map(needs_order, operations)) else Scope.SHARED


def needs_order(operation: Operation) -> bool:
    """Whether an operation numbers rows or asks what all coordinators did, so that its transaction
    must come before or after every other such one."""
    match operation:
        case Claim() | Defer() | Blame() | CountFaults() | CountSkips():
            return False
        case MarkPublished() | AuditLeases():
            return False
        case Release():
            return operation.at_head
        case _:
            return True


def learn(standing: Standing, where: Sequence[Any]) -> None:
    """Take over what others have changed: the columns of `turn_start` after the time."""
    quiescent, closed, artefacts, _, _, *counts = where
    standing.quiescent, standing.closed = bool(quiescent), closed
    standing.artefacts = artefacts
    if min(counts) < 0:
        raise _wrong_counts(f"they cannot be {counts}")
    (
        standing.pending,
        standing.leased,
        standing.done,
        standing.deferred,
        standing.poisoned,
        standing.suspects,
        standing.changes,
        standing.corpus,
        standing.crashes,
        standing.hangs,
    ) = counts


def the_row(row: Any) -> Any:
    """Return the one row that tells where the ledger stands."""
    if row is None:
        raise _wrong_counts("their row is missing")
    return row


def _wrong_counts(why: str) -> IntegrityError:
    return IntegrityError(
        "the ledger's counts are damaged",
        where="standing",
        why=why,
        hint="nothing was changed; run `symfleet verify`, then restore a backup of the ledger",
    )
