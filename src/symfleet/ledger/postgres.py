"""The ledger on PostgreSQL: the owner's half.

Theory of operation. One session owns a campaign: it holds an advisory lock, which the server
releases when the session ends. A session can end without its process, so the lock alone fences
nothing. Each transaction therefore takes a second advisory lock, shared, and then looks at the
newest epoch; who opens an epoch takes that lock alone. Once an epoch is open, no transaction of an
older one can commit, whatever its owner believes.

A turn is one transaction with a number, written in it. When the connection ends inside of one, the
owner comes back: it waits for its lock, which its old session holds for as long as it may still
commit, and reads the number. It is there: the turn is durable and its answers stand. It is the one
before: the turn never happened and runs again. It is an older one: the server has lost durable
transactions, and nothing goes on from it.

All transactions are durable, those of leases alone, too: after the server's own power cut the owner
goes on in the same epoch, and a lost lease would be handed out a second time under one token.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from symfleet.clock import Clock
from symfleet.corpus.durable import write_file
from symfleet.errors import (
    BusyError,
    HostError,
    IntegrityError,
    IOFailure,
    SymfleetError,
)
from symfleet.ledger.contract import EpochRequest, LedgerStatus
from symfleet.ledger.copies import CHECK_FIRST_NAME
from symfleet.ledger.faults import DiskFullError
from symfleet.ledger.highwater import write_highwater
from symfleet.ledger.owner_lock import OwnerLock
from symfleet.ledger.postgres_faults import ConflictError, ConnectionLostError
from symfleet.ledger.postgres_owner import Ownership, lost_to_another
from symfleet.ledger.postgres_statements import SESSION
from symfleet.ledger.postgres_turn import PostgresTurn
from symfleet.ledger.row_ledger import RowLedger
from symfleet.ledger.rows import Answer, Cursor
from symfleet.ledger.standing import read_standing
from symfleet.ledger.statements import load
from symfleet.protocol.operations import EpochOpening, Operation, TurnAnswers
from symfleet.types import Epoch

_T = TypeVar("_T")

_TURN: Final = load("turn")
_BEGIN: Final = _TURN["begin"]
_COMMIT: Final = _TURN["commit"]
_SNAPSHOT: Final = load("reading")["begin"]
_SNAPSHOT_END: Final = load("reading")["end"]
_FENCE_SHARED: Final = SESSION["fence_shared"]
_FENCE_ALONE: Final = SESSION["fence_alone"]
_FENCE_EPOCH: Final = SESSION["fence_epoch"]
_TAKE_TURN: Final = SESSION["take_turn"]

ATTEMPTS: Final = 5
"""How often one transaction is tried when the server gives it up or goes away."""

_HIGHWATER_S: Final = 10.0


@dataclass(slots=True)
class _Attempt(Generic[_T]):
    """One try of a transaction. `answer` and `epoch` are set before COMMIT is sent."""

    turn: int
    answer: _T | None = None
    epoch: Epoch | None = None


class _OwnersView:
    """The owner's connection as its readers see it: they come back after a lost one."""

    def __init__(self, ownership: Ownership) -> None:
        self._ownership = ownership
        self._in_snapshot = False
        self.come_back: Callable[[], bool] | None = None

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Answer:
        """Run one statement; a snapshot cannot be continued on another session."""
        if statement in {_SNAPSHOT, _SNAPSHOT_END}:
            self._in_snapshot = statement == _SNAPSHOT
        try:
            return self._ownership.session.execute(statement, values)
        except ConnectionLostError:
            if self.come_back is None or (self._in_snapshot and statement != _SNAPSHOT):
                self._in_snapshot = False
                raise
            self.come_back()
            return self._ownership.session.execute(statement, values)

    def close(self) -> None:
        """End the session."""
        self._ownership.session.close()


class PostgresLedger(RowLedger):
    """The owner's view of a schema. Made by `postgres_opener`, which has checked it."""

    def __init__(self, ownership: Ownership, out: Path, clock: Clock, lock: OwnerLock) -> None:
        view = _OwnersView(ownership)
        super().__init__(view, ownership.address.shown)
        self._ownership = ownership
        self._view = view
        self._out = out
        self._clock = clock
        self._lock = lock
        self._epoch = self._standing.epoch
        self._turn = 0
        self._wall = 0.0
        self._broken: SymfleetError | None = None
        self._marked_at = clock.monotonic()
        self._marked = -1
        view.come_back = lambda: self._come_back(None)

    # ---- opening --------------------------------------------------------------------------------

    def open_epoch(self, request: EpochRequest) -> EpochOpening:
        """Void all older leases, re-arm deferred rows, write the new epoch row (L4..L6, J8)."""
        (now,) = self._view.execute(SESSION["server_time"]).fetchone()
        opened = self._open_epoch(replace(request, now_wall=now))
        self._lock.tell_epoch(self._standing.epoch)
        self._write_highwater()
        return opened

    # ---- a turn ---------------------------------------------------------------------------------

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn's operations in one transaction; durable when this returns."""
        self._require_epoch()

        def work(_cursor: Cursor) -> TurnAnswers:
            turn = PostgresTurn(self._ownership.session, self._standing, self._wall, operations)
            answers = tuple([self._answer(turn, operation) for operation in operations])
            turn.settle()
            return self._told(answers)

        return self._in_transaction(work)

    def _changes(self) -> int:
        return self._ownership.session.writes

    def _in_transaction(self, work: Callable[[Cursor], _T], *, opens_epoch: bool = False) -> _T:
        """Run `work` in a transaction until it is durable, or has failed for good."""
        if self._broken is not None:
            raise self._broken
        attempt: _Attempt[_T]
        for left in reversed(range(ATTEMPTS)):
            attempt = _Attempt(self._turn + 1)
            try:
                self._try(work, attempt, _FENCE_ALONE if opens_epoch else _FENCE_SHARED)
            except ConnectionLostError:
                if self._come_back(attempt):
                    break
                if not left:
                    raise
            except ConflictError:
                self._take_back()
                if not left:
                    raise
            except BaseException as error:
                self._abandon_transaction(error)
                raise
            else:
                self._turn = attempt.turn
                break
        assert attempt.epoch is not None
        self._epoch = attempt.epoch
        return attempt.answer  # type: ignore[return-value]

    def _try(self, work: Callable[[Cursor], _T], attempt: _Attempt[_T], fence: str) -> None:
        ownership, standing = self._ownership, self._standing
        session = ownership.session
        cursor = session.cursor()
        with session.pipeline():
            cursor.execute(_BEGIN)
            cursor.execute(fence, (ownership.keys.fence,))
            epoch, backend, self._wall = cursor.execute(_FENCE_EPOCH).fetchone()
            if epoch != self._epoch:
                raise lost_to_another(ownership, epoch)
            if backend != ownership.backend:
                raise _pooled(ownership)
            before = standing.row
            attempt.answer = work(cursor)
            self._write_standing(cursor, before)
            attempt.epoch = standing.epoch
            taken = session.send(_TAKE_TURN, (attempt.turn, standing.epoch, ownership.nonce))
            session.settle()
            if taken.rowcount != 1:
                raise lost_to_another(ownership, epoch)
            cursor.execute(_COMMIT)
            session.settle()

    def _take_back(self) -> None:
        """Forget a transaction that failed, and what memory made of it."""
        session = self._ownership.session
        if session.in_transaction:
            session.roll_back()
        self._standing = read_standing(session)
        if self._standing.epoch != self._epoch:
            raise lost_to_another(self._ownership, self._standing.epoch)

    def _abandon_transaction(self, error: BaseException) -> None:
        if isinstance(error, IOFailure) and not isinstance(error, DiskFullError):
            self._broken = error
            with contextlib.suppress(SymfleetError):
                write_file(self._out / CHECK_FIRST_NAME, f"{error}\n".encode())
        if isinstance(error, BusyError):
            self._broken = error
        try:
            self._take_back()
        except ConnectionLostError:
            self._come_back(None)
        except BusyError as lost:
            self._broken = lost

    def _come_back(self, attempt: _Attempt[Any] | None) -> bool:
        """Own the campaign on a new session; return whether the attempt is durable after all."""
        if self._broken is not None:
            raise self._broken
        try:
            turn = self._ownership.come_back(self._clock)
            self._standing = read_standing(self._ownership.session)
            durable = attempt is not None and turn == attempt.turn
            if not durable and turn != self._turn:
                raise _older_server(self._ownership, turn, self._turn)
            if durable:
                assert attempt is not None
                assert attempt.epoch is not None
                self._turn, self._epoch = turn, attempt.epoch
            if self._standing.epoch != self._epoch:
                raise lost_to_another(self._ownership, self._standing.epoch)
        except (BusyError, HostError, IntegrityError, IOFailure) as error:
            self._broken = error
            raise
        return durable

    # ---- between turns --------------------------------------------------------------------------

    def status(self) -> LedgerStatus:
        """Return one consistent snapshot."""
        try:
            return super().status()
        except ConnectionLostError:
            self._come_back(None)
            return super().status()

    def checkpoint(self) -> None:
        """Write `highwater` when it is time; the server folds its own log."""
        due = self._clock.monotonic() - self._marked_at >= _HIGHWATER_S
        if due and self._standing.decisions != self._marked:
            self._write_highwater()

    def _write_highwater(self) -> None:
        self._marked_at = self._clock.monotonic()
        self._marked = self._standing.decisions
        write_highwater(self._out, self.highwater())

    def abandon(self) -> None:
        """Let go without a last word: no `highwater`, no verdict, leases as they are."""
        self._ownership.session.close()
        self._lock.close()

    def close(self) -> None:
        """Write `highwater`, release the lock; never hides an earlier error."""
        try:
            if self._broken is None and self._standing.epoch:
                self._write_highwater()
        finally:
            self.abandon()


def _older_server(ownership: Ownership, found: int, expected: int) -> IntegrityError:
    return IntegrityError(
        "PostgreSQL has lost transactions that it had called durable",
        where=ownership.address.shown,
        why=f"this owner's last turn is {found} there, but turn {expected} was committed: the "
        "server was restored from a backup, or a standby that lagged behind took over",
        hint="put the newest state of the server back; replication must be synchronous",
    )


def _pooled(ownership: Ownership) -> HostError:
    return HostError(
        "PostgreSQL's sessions are shared by a pooler",
        where=ownership.address.shown,
        why="a transaction ran in another session than the one that holds the owner's lock",
        hint="connect to the server itself, or to a pooler in session mode",
    )
