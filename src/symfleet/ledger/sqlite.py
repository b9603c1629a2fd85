"""The ledger on SQLite: the owner's half.

Theory of operation. One process writes; it holds `owner.lock` for as long as this object lives. A
turn is one transaction (architecture §2, step 3). In memory stands only what can be read again
(`Standing`): after a turn that failed it is read again. Transactions of leases alone are
`synchronous=NORMAL`, because the epoch in every fencing token survives their loss; every other is
FULL. Checkpoints are made between turns, never inside one.

When the disk is full, the turn fails as a whole, the reserve file is given back, and the turn runs
once more without admissions and claims. After any other I/O error nothing is retried: the ledger
refuses all further turns and asks the next start to check everything first.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, assert_never

from symfleet.clock import Clock
from symfleet.corpus.durable import write_file
from symfleet.errors import DataError, InternalError, IOFailure, SymfleetError
from symfleet.ledger import opening, turn_decision, turn_ending, turn_frontier, turn_giving_back
from symfleet.ledger.contract import EpochRequest
from symfleet.ledger.faults import DiskFullError, guarded
from symfleet.ledger.highwater import Highwater, write_highwater
from symfleet.ledger.owner_lock import OwnerLock
from symfleet.ledger.reserve import free_reserve, keep_reserve
from symfleet.ledger.sqlite_reading import SqliteReading
from symfleet.ledger.standing import read_standing
from symfleet.ledger.statements import load
from symfleet.ledger.turn_rows import Turn
from symfleet.protocol.operations import (
    Admit,
    Answer,
    AuditLeases,
    Blame,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    CountFaults,
    CountSkips,
    Decide,
    Defer,
    EpochOpening,
    Failed,
    MarkPublished,
    Operation,
    RecordAck,
    Release,
    SetSource,
    SinkRow,
    StoreInputs,
    TurnAnswers,
)
from symfleet.types import SinkKind, WorkId

CHECK_FIRST_NAME: Final = ".check-first"
"""Exists after an I/O error: the next start checks everything before it goes on."""

_SQL: Final = load("turn")
_BEGIN: Final = _SQL["begin"]
_COMMIT: Final = _SQL["commit"]
_ADD_COUNTER: Final = _SQL["add_counter"]
_ADD_FAULT: Final = _SQL["add_fault"]
_SET_STANDING: Final = _SQL["set_standing"]

DEFAULT_CHECKPOINT_ROWS: Final = 8_000
"""About 16 to 30 MiB of log."""

_HIGHWATER_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class OwnerLimits:
    """How much an owner holds back: the reserve file, and changed rows after which the write-ahead
    log is folded back."""

    reserve_bytes: int
    checkpoint_rows: int


class SqliteLedger(SqliteReading):
    """The owner's view of a database. Made by `opener`, which has checked it and holds the lock."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        clock: Clock,
        lock: OwnerLock,
        limits: OwnerLimits,
    ) -> None:
        super().__init__(connection, str(path))
        self._out = path.parent
        self._clock = clock
        self._lock = lock
        self._limits = limits
        self._cursor = connection.cursor()
        with guarded(self._where):
            self._standing = read_standing(connection)
        self._is_full = True  # PRAGMA synchronous as it is now
        self._starved = False
        self._broken: SymfleetError | None = None
        self._checkpointed_at = connection.total_changes
        self._marked_at = clock.monotonic()
        self._marked = -1

    # ---- opening --------------------------------------------------------------------------------

    def open_epoch(self, request: EpochRequest) -> EpochOpening:
        """Void all older leases, re-arm deferred rows, write the new epoch row (L4..L6, J8)."""
        keep_reserve(self._out, self._limits.reserve_bytes)
        self._starved = False
        with self._transaction() as cursor:
            opened = opening.open_epoch(cursor, self._standing, self._campaign.campaign, request)
            recovered, rearmed = opened
        self._lock.tell_epoch(self._standing.epoch)
        self._write_highwater()
        return EpochOpening(
            epoch=self._standing.epoch,
            resumed=self._standing.epoch > 1,
            leases_recovered=recovered,
            deferred_rearmed=rearmed,
            frontier=self._standing.pending,
            decisions=self._standing.decisions,
            knowledge=self._standing.knowledge.packed(),
            sinks=self.sinks(),
        )

    def register_source(self, kind: str, path: str, host: str) -> int:
        """Return the number of the source; it is open."""
        self._require_epoch()
        with self._transaction() as cursor:
            return opening.register_source(cursor, self._standing.epoch, (kind, path, host))

    def register_sink(self, kind: SinkKind, path: str, host: str) -> SinkRow:
        """Return the sink with a fresh incarnation."""
        self._require_epoch()
        with self._transaction() as cursor:
            return opening.register_sink(
                cursor, self._standing, self._campaign.campaign, (kind, path, host)
            )

    def rearm(self, work_ids: Sequence[WorkId]) -> int:
        """Make poisoned rows pending again; none after quiescence (Q3)."""
        if self._standing.quiescent and self._standing.closed is None:
            return 0
        with self._transaction() as cursor:
            return opening.rearm(cursor, self._standing, work_ids)

    def drop_unnamed(self) -> int:
        """Remove inputs that no row names (`verify --gc`); return how many."""
        with self._transaction() as cursor:
            return opening.drop_unnamed(cursor)

    # ---- a turn ---------------------------------------------------------------------------------

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn's operations in one transaction; durable when this returns."""
        self._require_epoch()
        try:
            answers = self._run(operations)
        except DiskFullError:
            if not free_reserve(self._out):
                raise
            self._starved = True
            answers = self._run(operations)
        standing = self._standing
        return TurnAnswers(
            answers=answers,
            open_work=standing.open_work,
            pending=standing.pending,
            changes=standing.changes,
            last_artefact=standing.artefacts,
            unpublished=standing.unpublished,
            deferred=standing.deferred,
            poisoned=standing.poisoned,
        )

    def _run(self, operations: Sequence[Operation]) -> tuple[Answer, ...]:
        lease_only = all(type(operation) is Claim for operation in operations)
        with self._transaction(lease_only=lease_only) as cursor:
            turn = Turn(self._connection, cursor, self._standing, self._clock.wall(), self._starved)
            return tuple([self._answer(turn, operation) for operation in operations])

    def _answer(self, turn: Turn, operation: Operation) -> Answer:
        before = self._connection.total_changes
        try:
            return carry_out(turn, operation)
        except DataError as error:
            if self._connection.total_changes != before:
                raise InternalError(
                    "an operation was refused after it had written",
                    where=type(operation).__name__,
                    why=str(error),
                ) from error
            return Failed(str(error))

    @contextlib.contextmanager
    def _transaction(self, *, lease_only: bool = False) -> Iterator[sqlite3.Cursor]:
        """Run the block in one transaction and write the standing at its end."""
        if self._broken is not None:
            raise self._broken
        cursor, standing = self._cursor, self._standing
        try:
            with guarded(self._where):
                self._set_durability(full=not lease_only)
                cursor.execute(_BEGIN)
                before = standing.row
                yield cursor
                self._write_standing(before)
                cursor.execute(_COMMIT)
        except BaseException as error:
            self._abandon(error)
            raise

    def _write_standing(self, before: tuple[int, ...]) -> None:
        standing = self._standing
        epoch = standing.epoch
        if standing.row != before:
            self._cursor.execute(_SET_STANDING, standing.row)
        if standing.counters:
            self._cursor.executemany(
                _ADD_COUNTER, [(epoch, *key, amount) for key, amount in standing.counters.items()]
            )
            standing.counters.clear()
        if standing.faults:
            self._cursor.executemany(
                _ADD_FAULT, [(epoch, *key, amount) for key, amount in standing.faults.items()]
            )
            standing.faults.clear()

    def _set_durability(self, *, full: bool) -> None:
        if full != self._is_full:
            self._connection.execute(f"PRAGMA synchronous={'FULL' if full else 'NORMAL'}")
            self._is_full = full

    def _abandon(self, error: BaseException) -> None:
        """Take a failed transaction back, and what memory made of it."""
        if isinstance(error, IOFailure) and not isinstance(error, DiskFullError):
            self._broken = error
            with contextlib.suppress(SymfleetError):
                write_file(self._out / CHECK_FIRST_NAME, f"{error}\n".encode())
        with contextlib.suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.rollback()
        if self._broken is None:
            with guarded(self._where):
                self._standing = read_standing(self._connection)

    def _require_epoch(self) -> None:
        if self._standing.epoch == 0:
            raise InternalError("no epoch is open", where=self._where, why="open_epoch comes first")

    # ---- between turns --------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Fold the write-ahead log back when it has grown; write `highwater` when it is time.

        Neither matters enough to stop an owner whose disk is full: the log keeps everything.
        """
        changes = self._connection.total_changes
        if changes - self._checkpointed_at >= self._limits.checkpoint_rows:
            self._checkpointed_at = changes
            self._fold_log_back("PASSIVE")
        due = self._clock.monotonic() - self._marked_at >= _HIGHWATER_S
        if due and self._standing.decisions != self._marked and not self._starved:
            self._write_highwater()

    def _fold_log_back(self, mode: str) -> None:
        with contextlib.suppress(DiskFullError), guarded(self._where):
            self._connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()

    def _write_highwater(self) -> None:
        standing = self._standing
        self._marked_at = self._clock.monotonic()
        self._marked = standing.decisions
        write_highwater(self._out, self.highwater())

    def highwater(self) -> Highwater:
        """Return how far the ledger has come."""
        standing = self._standing
        with guarded(self._where):
            last = self._connection.execute(opening.LAST_DECISION).fetchone()
        return Highwater(
            campaign=self._campaign.campaign,
            ledger_incarnation=self._campaign.ledger_incarnation,
            epoch=standing.epoch,
            decision=standing.decisions,
            chain="" if last is None else last[1].hex(),
        )

    def abandon(self) -> None:
        """Let go without a last word: no `highwater`, no verdict, leases as they are."""
        # SQLite keeps a connection's files open until its last statement is gone.
        self._cursor.close()
        self._connection.close()
        self._lock.close()

    def close(self) -> None:
        """Fold the log back, write `highwater`, release the lock; never hides an earlier error."""
        try:
            if self._broken is None:
                self._fold_log_back("TRUNCATE")
                if self._standing.epoch and not self._starved:
                    self._write_highwater()
        finally:
            self.abandon()


def carry_out(turn: Turn, operation: Operation) -> Answer:  # noqa: C901, PLR0911, PLR0912
    """Run one operation of a turn."""
    match operation:
        case Decide():
            return turn_decision.decide(turn, operation)
        case Claim():
            return turn_frontier.claim(turn, operation)
        case Admit():
            return turn_frontier.admit(turn, operation)
        case StoreInputs():
            return turn_frontier.store_inputs(turn, operation)
        case Release():
            return turn_giving_back.release(turn, operation)
        case Defer():
            return turn_giving_back.defer(turn, operation)
        case Blame():
            return turn_giving_back.blame(turn, operation)
        case MarkPublished():
            return turn_ending.mark_published(turn, operation)
        case CountFaults():
            return turn_ending.count_faults(turn, operation)
        case CountSkips():
            return turn_ending.count_skips(turn, operation)
        case SetSource():
            return turn_ending.set_source(turn, operation)
        case AuditLeases():
            return turn_ending.audit_leases(turn, operation)
        case CommitQuiescence():
            return turn_ending.commit_quiescence(turn, operation)
        case RecordAck():
            return turn_ending.record_ack(turn, operation)
        case CloseEpoch():
            return turn_ending.close_epoch(turn, operation)
        case _:
            assert_never(operation)
