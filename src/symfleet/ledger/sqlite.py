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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from symfleet import crash
from symfleet.clock import Clock
from symfleet.corpus.durable import unless_disk_is_full, write_file
from symfleet.errors import IOFailure, SymfleetError
from symfleet.ledger.audit_background import Slices, page_slices
from symfleet.ledger.contract import EpochRequest, LedgerStatus
from symfleet.ledger.copies import CHECK_FIRST_NAME
from symfleet.ledger.crash_points import pass_committed
from symfleet.ledger.database import close_folded, close_unfolded, keep_name_of_log
from symfleet.ledger.faults import DiskFullError, guarded
from symfleet.ledger.highwater import Highwater, write_highwater
from symfleet.ledger.open_files import OpenFiles, keep_what_is_left, never_close
from symfleet.ledger.owner_lock import OwnerLock
from symfleet.ledger.reserve import free_reserve, keep_reserve
from symfleet.ledger.row_ledger import RowLedger
from symfleet.ledger.rows import Cursor
from symfleet.ledger.standing import read_standing
from symfleet.ledger.statements import load
from symfleet.ledger.turn_rows import Turn
from symfleet.protocol.answers import Artefact, EpochOpening, TurnAnswers
from symfleet.protocol.operations import Claim, Operation
from symfleet.types import SinkKind

_T = TypeVar("_T")

_SQL: Final = load("turn")
_BEGIN: Final = _SQL["begin"]
_COMMIT: Final = _SQL["commit"]

DEFAULT_CHECKPOINT_ROWS: Final = 8_000
"""About 16 to 30 MiB of log."""

_HIGHWATER_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class OwnerLimits:
    """How much an owner holds back: the reserve file, and changed rows after which the write-ahead
    log is folded back."""

    reserve_bytes: int
    checkpoint_rows: int


class SqliteLedger(RowLedger):
    """The owner's view of a database. Made by `opener`, which has checked it and holds the lock."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        clock: Clock,
        lock: OwnerLock,
        limits: OwnerLimits,
    ) -> None:
        with guarded(str(path)):
            super().__init__(connection, str(path))
        self._writer = connection
        self._out = path.parent
        self._clock = clock
        self._lock = lock
        self._limits = limits
        self._cursor = connection.cursor()
        self._is_full = True  # PRAGMA synchronous as it is now
        self._log_has_name = False
        self._starved = False
        self._broken: SymfleetError | None = None
        self._files = OpenFiles(path)
        self._lost: SymfleetError | None = None
        self._keeps_open = False
        self._checkpointed_at = connection.total_changes
        self._marked_at = clock.monotonic()
        self._marked = -1

    # ---- opening --------------------------------------------------------------------------------

    def open_epoch(self, request: EpochRequest) -> EpochOpening:
        """Void all older leases, re-arm deferred rows, write the new epoch row (L4..L6, J8)."""
        keep_reserve(self._out, self._limits.reserve_bytes)
        self._starved = False
        crash.point("epoch.reserved")
        opened = self._open_epoch(request)
        self._lock.tell_epoch(self._standing.epoch)
        self._write_highwater()
        return opened

    # ---- a turn ---------------------------------------------------------------------------------

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn's operations in one transaction; durable when this returns."""
        self._require_epoch()
        self._audit_before(operations)
        try:
            return self._run(operations)
        except DiskFullError:
            if not free_reserve(self._out):
                raise
            self._starved = True
            return self._run(operations)

    def _run(self, operations: Sequence[Operation]) -> TurnAnswers:
        lease_only = all(type(operation) is Claim for operation in operations)
        with self._transaction(lease_only=lease_only) as cursor:
            turn = Turn(self._connection, cursor, self._standing, self._clock.wall(), self._starved)
            answers = self._answers(turn, operations)
        if crash.is_armed():
            pass_committed(operations)
        return self._told(answers)

    def _changes(self) -> int:
        return self._writer.total_changes

    def _in_transaction(
        self,
        work: Callable[[Cursor], _T],
        *,
        opens_epoch: bool = False,
    ) -> _T:
        with self._transaction(opens_epoch=opens_epoch) as cursor:
            return work(cursor)

    @contextlib.contextmanager
    def _transaction(
        self, *, lease_only: bool = False, opens_epoch: bool = False
    ) -> Iterator[sqlite3.Cursor]:
        """Run the block in one transaction and write the standing at its end."""
        if self._broken is not None:
            raise self._broken
        self._require_files()
        cursor, standing = self._cursor, self._standing
        try:
            with guarded(self._where):
                self._set_durability(full=not lease_only)
                cursor.execute(_BEGIN)
                before = standing.row
                yield cursor
                self._write_standing(cursor, before)
                crash.point("commit.before")
                cursor.execute(_COMMIT)
                if not opens_epoch:  # `highwater` follows at once, and its folder is synchronised
                    self._keep_name_of_log()
                crash.point("commit.after")
        except BaseException as error:
            self._abandon(error)
            raise

    def _require_files(self) -> None:
        """Raise when the ledger's names do not lead to our files: what is written finds nobody."""
        if self._lost is None and (lost := self._files.look()) is not None:
            # Closing would remove what has the name of our log.
            self._keeps_open = lost.is_log and lost.replaced
            self._broken = self._lost = keep_what_is_left(self._writer, lost)
        if self._lost is not None:
            raise self._lost

    def _set_durability(self, *, full: bool) -> None:
        if full != self._is_full:
            self._writer.execute(f"PRAGMA synchronous={'FULL' if full else 'NORMAL'}")
            self._is_full = full

    def _keep_name_of_log(self) -> None:
        """Once, after the first transaction of this opening: it made the log, if there was none."""
        if not self._log_has_name and self._changes():
            keep_name_of_log(Path(self._where))
            self._log_has_name = True

    def _abandon(self, error: BaseException) -> None:
        """Take a failed transaction back, and what memory made of it."""
        if isinstance(error, IOFailure) and not isinstance(error, DiskFullError):
            self._break(error)
        with contextlib.suppress(sqlite3.Error):
            if self._writer.in_transaction:
                self._writer.rollback()
        if self._broken is None:
            with guarded(self._where):
                self._standing = read_standing(self._connection)

    def _break(self, error: SymfleetError) -> None:
        """Refuse all further turns, and ask the next start to check everything first."""
        self._broken = error
        with contextlib.suppress(SymfleetError):
            write_file(self._out / CHECK_FIRST_NAME, f"{error}\n".encode())

    # ---- between turns --------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Fold the write-ahead log back when it has grown; write `highwater` when it is time.

        Neither matters enough to stop an owner whose disk is full: the log keeps everything. Raises
        IntegrityError once when the ledger's files were taken away.
        """
        if self._broken is not None:
            return
        self._require_files()
        self._lock.keep()
        self._step_audit()
        changes = self._changes()
        if changes - self._checkpointed_at >= self._limits.checkpoint_rows:
            self._checkpointed_at = changes
            self._fold_log_back("PASSIVE")
        due = self._clock.monotonic() - self._marked_at >= _HIGHWATER_S
        if due and self._standing.decisions != self._marked and not self._starved:
            with unless_disk_is_full():
                self._write_highwater()

    def _page_slices(self, rows: int) -> Slices:
        return page_slices(Path(self._where), self._connection, rows)

    def _fold_log_back(self, mode: str) -> None:
        try:
            with contextlib.suppress(DiskFullError), guarded(self._where):
                self._keep_name_of_log()
                crash.point("checkpoint.before")
                self._writer.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()
                crash.point("checkpoint.after")
        except IOFailure as error:
            self._break(error)
            raise

    def highwater(self) -> Highwater:
        """Return how far the ledger has come."""
        with guarded(self._where):
            return super().highwater()

    def _write_highwater(self) -> None:
        standing = self._standing
        self._marked_at = self._clock.monotonic()
        self._marked = standing.decisions
        write_highwater(self._out, self.highwater())
        self._log_has_name = True  # they are in one folder

    # ---- reading --------------------------------------------------------------------------------

    def status(self) -> LedgerStatus:
        """Return one snapshot. Who shows it writes into the folder, which must be ours."""
        self._require_files()
        return super().status()

    def artefacts(
        self, kind: SinkKind, after: int, limit: int, bytes_max: int
    ) -> Sequence[Artefact]:
        """Return what is to be published. Who does writes into the folder, which must be ours."""
        self._require_files()
        return super().artefacts(kind, after, limit, bytes_max)

    # ---- the end --------------------------------------------------------------------------------

    def abandon(self) -> None:
        """Let go without a last word: no `highwater`, no verdict, leases as they are. Raises
        IOFailure when the log cannot be folded back."""
        # SQLite keeps a connection's files open until its last statement is gone.
        if self._audit is not None:
            self._audit.close()
        self._cursor.close()
        try:
            self._close_writer()
        finally:
            self._lock.close()

    def _close_writer(self) -> None:
        if self._keeps_open:
            never_close(self._writer)
        elif self._lost is not None:
            self._writer.close()
        elif self._broken is not None:
            close_unfolded(self._writer, Path(self._where))
        else:
            try:
                self._keep_name_of_log()
                close_folded(self._writer, Path(self._where))
            except SymfleetError as error:
                self._break(error)
                close_unfolded(self._writer, Path(self._where))
                raise

    def close(self) -> None:
        """Fold the log back, write `highwater`, release the lock; never hides an earlier error."""
        try:
            with contextlib.suppress(SymfleetError):
                self._require_files()
            if self._broken is None:
                self._fold_log_back("TRUNCATE")
                if self._standing.epoch and not self._starved:
                    self._write_highwater()
                crash.point("ledger.closed")
        finally:
            self.abandon()
