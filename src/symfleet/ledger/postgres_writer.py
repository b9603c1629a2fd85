"""Writing to a ledger on PostgreSQL, as one of several coordinators.

Theory of operation. A turn is one transaction with a number, written in it. Each transaction takes
the campaign's fence, an advisory lock, shared, and then looks at the newest epoch; who opens an
epoch takes the fence alone. Once an epoch is open, no transaction of an older one can commit. Who
commits quiescence takes it alone, too: nothing is under way that its conditions do not see.

Transactions that number rows (decisions, admissions) hold a second lock, the order, from their
beginning to the end of their commit. So there is one order of decisions and one chain over it,
their numbers and those of artefacts have no gaps, a sink that has shown all it can see has passed
over nothing, and "new in this transaction" is exact. What others decided meanwhile is read after
the lock. Claims and releases do not take it; they meet nobody: each coordinator counts in a row of
its own, and the counts are the sums. (In one row for all, each commit would wait for the fsync of
the one before it.) What such a transaction has read is not locked: a row that another one has
changed meanwhile is not written, and the turn is run again from what stands there now.

When the connection ends inside of a transaction, the writer comes back (`Ownership.come_back`) and
reads the number of its last turn. It is there: the turn is durable and its answers stand. It is the
one before: the turn never happened and runs again. It is an older one: the server has lost durable
transactions, and nothing goes on from it.

All transactions are durable, those of leases alone, too: after the server's own power cut the
writers go on in the same epoch, and a lost lease would be handed out twice under one token.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from symfleet import crash
from symfleet.clock import Clock
from symfleet.errors import BusyError, HostError, IntegrityError, IOFailure, SymfleetError
from symfleet.ledger.contract import LedgerStatus
from symfleet.ledger.crash_points import pass_committed
from symfleet.ledger.edges import unpack_edges
from symfleet.ledger.faults import DiskFullError, reading
from symfleet.ledger.postgres_arrays import columns_of
from symfleet.ledger.postgres_connection import PostgresConnection
from symfleet.ledger.postgres_faults import (
    ConflictError,
    ConnectionLostError,
    RowChangedError,
)
from symfleet.ledger.postgres_owner import RECONNECT_S, Ownership, lost_to_another
from symfleet.ledger.postgres_scope import Scope, learn, scope_of, the_row
from symfleet.ledger.postgres_statements import BATCHES
from symfleet.ledger.postgres_turn import Known, PostgresTurn
from symfleet.ledger.row_ledger import RowLedger
from symfleet.ledger.rows import Answer, Cursor
from symfleet.ledger.standing import published_nth, read_standing
from symfleet.ledger.statements import load
from symfleet.protocol.answers import Marked, TurnAnswers
from symfleet.protocol.operations import MarkPublished, Operation
from symfleet.types import Epoch, SinkKind

_T = TypeVar("_T")

_TURN: Final = load("turn")
_BEGIN: Final = _TURN["begin"]
_COMMIT: Final = _TURN["commit"]
_READ: Final = load("reading")
_SNAPSHOT: Final = _READ["begin"]
_SNAPSHOT_END: Final = _READ["end"]
_LIVE_SINKS: Final = _READ["live_sinks"]

ATTEMPTS: Final = 5
"""How often one transaction is tried when the server gives it up or goes away."""

_CONFLICT_PAUSE_S: Final = 0.002


@dataclass(slots=True)
class Attempt(Generic[_T]):
    """One try of a transaction. `answer` and `epoch` are set before COMMIT is sent."""

    turn: int
    scope: Scope
    answer: _T | None = None
    epoch: Epoch | None = None


class _WritersView:
    """A writer's connection as its readers see it: they come back after a lost one."""

    def __init__(self, ownership: Ownership) -> None:
        self._ownership = ownership
        self._in_snapshot = False
        self.come_back: Callable[[], bool] | None = None

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Answer:
        """Run one statement; a snapshot cannot be continued on another session."""
        if statement in {_SNAPSHOT, _SNAPSHOT_END}:
            self._in_snapshot = statement == _SNAPSHOT
        for left in reversed(range(ATTEMPTS)):
            try:
                return self._ownership.session.execute(statement, values)
            except ConnectionLostError:
                inside = self._in_snapshot and statement != _SNAPSHOT
                if self.come_back is None or inside or not left:
                    self._in_snapshot = False
                    raise
                self.come_back()
        raise AssertionError

    def close(self) -> None:
        """End the session."""
        self._ownership.session.close()


class PostgresWriter(RowLedger):
    """One coordinator's own connection to the schema of a campaign."""

    def __init__(self, ownership: Ownership, clock: Clock) -> None:
        view = _WritersView(ownership)
        super().__init__(view, ownership.address.shown)
        self._ownership = ownership
        self._view = view
        self._clock = clock
        self._epoch = self._standing.epoch
        self._turn = 0
        self._wall = 0.0
        self._last_input = 0
        self._marks: dict[int, int] = {}
        self._left: frozenset[int] = frozenset()
        self._broken: SymfleetError | None = None
        view.come_back = lambda: self._come_back(None)

    @abstractmethod
    def _note_failure(self, error: IOFailure) -> None:
        """Remember a failure of the server's disk for the next opening."""

    # ---- a turn ---------------------------------------------------------------------------------

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn's operations in one transaction; durable when this returns."""
        self._require_epoch()
        known: Known

        def ask(session: PostgresConnection) -> None:
            nonlocal known
            known = Known.asked_by(operations)
            known.send(session)

        def work(_cursor: Cursor) -> TurnAnswers:
            known.read()
            known.last_input, known.left = self._last_input, self._left
            turn = PostgresTurn(self._ownership.session, self._standing, self._wall, known)
            answers = self._answers(turn, operations)
            turn.write_gathered()
            return self._told(answers)

        told = self._in_transaction(work, scope=scope_of(operations), ask=ask)
        if crash.is_armed():
            pass_committed(operations)
        for operation, answer in zip(operations, told.answers, strict=True):
            if isinstance(operation, MarkPublished) and answer == Marked("completed"):
                self._marks[operation.sink] = operation.published_upto
        return told

    def _changes(self) -> int:
        return self._ownership.session.writes

    def _in_transaction(
        self,
        work: Callable[[Cursor], _T],
        *,
        opens_epoch: bool = False,
        scope: Scope = Scope.ORDERED,
        ask: Callable[[PostgresConnection], None] | None = None,
    ) -> _T:
        """Run `work` in a transaction until it is durable, or has failed for good."""
        if self._broken is not None:
            raise self._broken
        if opens_epoch:
            scope = Scope.ALONE
        attempt: Attempt[_T]
        for left in reversed(range(ATTEMPTS)):
            attempt = Attempt(self._turn + 1, scope)
            try:
                self._try(work, attempt, ask)
            except ConnectionLostError:
                if self._come_back(attempt):
                    break
                if not left:
                    raise
            except (ConflictError, RowChangedError):
                self._take_back_given_up()
                if not left:
                    raise
                self._clock.sleep(_CONFLICT_PAUSE_S)
            except BaseException as error:
                self._abandon_transaction(error)
                raise
            else:
                self._turn = attempt.turn
                break
        assert attempt.epoch is not None
        self._epoch = attempt.epoch
        return attempt.answer  # type: ignore[return-value]

    def _try(
        self,
        work: Callable[[Cursor], _T],
        attempt: Attempt[_T],
        ask: Callable[[PostgresConnection], None] | None,
    ) -> None:
        session, standing = self._ownership.session, self._standing
        cursor = session.cursor()
        with session.pipeline():
            self._begin(session, attempt, ask)
            before = standing.row
            attempt.answer = work(cursor)
            attempt.epoch = standing.epoch
            self._write_standing(cursor, before)
            self._take_turn(session, attempt, before)
            session.verify()
            crash.point("commit.before")
            cursor.execute(_COMMIT)
            session.settle()
            crash.point("commit.after")

    def _begin(
        self,
        session: PostgresConnection,
        attempt: Attempt[Any],
        ask: Callable[[PostgresConnection], None] | None,
    ) -> None:
        """Begin a transaction and learn where the ledger stands, in one round trip."""
        ownership, keys = self._ownership, self._ownership.keys
        is_ordered = attempt.scope is not Scope.SHARED
        session.send(_BEGIN, ())
        if is_ordered:
            session.send(BATCHES[attempt.scope.value], (keys.fence, keys.order))
        # Without the order it may look before it has the fence: that the epoch is still this one is
        # looked at again when the turn is numbered.
        start = session.send(BATCHES["turn_start"], (keys.fence,))
        if is_ordered:
            heads = session.send(BATCHES["turn_heads"], ())
            coverage = session.send(BATCHES["coverage_after"], (self._standing.decisions,))
        if ask is not None:
            ask(session)
        session.settle()
        epoch, backend, self._wall, *where = the_row(start.fetchone())[1:]
        if epoch != self._epoch:
            raise lost_to_another(ownership, epoch)
        if backend != ownership.backend:
            raise _pooled(ownership)
        learn(self._standing, where)
        if is_ordered:
            decisions, chain, self._standing.works, self._last_input = the_row(heads.fetchone())
            self._standing.decisions = decisions
            self._standing.chain = chain or b""
            for (edges,) in coverage:
                self._standing.knowledge.add(unpack_edges(edges))
        self._left = frozenset(where[3] or ())
        self._learn_marks(where[4])

    def _learn_marks(self, told: str | None) -> None:
        """Learn how far sinks are published. A mark is looked up only when another coordinator has
        moved it."""
        pairs = (pair.split(":") for pair in told.split(",")) if told else ()
        marks = {int(sink): int(upto) for sink, upto in pairs}
        if marks == self._marks:
            return
        connection = self._ownership.session
        rows = connection.execute(_LIVE_SINKS, (self._epoch,)).fetchall()
        self._standing.published = {
            sink: (SinkKind(kind), published_nth(connection, SinkKind(kind), upto))
            for sink, kind, upto in rows
        }
        self._marks = {sink: upto for sink, _, upto in rows}

    def _write_standing(self, _cursor: Cursor, _before: tuple[int, ...]) -> None:
        """Add to counters. Their rows are locked last, in the order of their keys."""
        standing, session = self._standing, self._ownership.session
        epoch = standing.epoch
        if standing.counters:
            keys = sorted(standing.counters)
            rows = [(epoch, *key, standing.counters[key]) for key in keys]
            session.send_for(len(rows), BATCHES["add_counters"], columns_of(rows))
            standing.counters.clear()
        if standing.faults:
            fault_keys = sorted(standing.faults)
            faults = [(epoch, *key, standing.faults[key]) for key in fault_keys]
            session.send_for(len(faults), BATCHES["add_faults"], columns_of(faults))
            standing.faults.clear()

    @abstractmethod
    def _take_turn(
        self, session: PostgresConnection, attempt: Attempt[Any], before: tuple[int, ...]
    ) -> None:
        """Write this turn's number, and what it added to the counts."""

    def _added(self, before: tuple[int, ...]) -> list[int]:
        return [now - then for now, then in zip(self._standing.row, before, strict=True)]

    # ---- what goes wrong ------------------------------------------------------------------------

    def _take_back(self) -> None:
        """Forget a transaction that failed, and what memory made of it."""
        session = self._ownership.session
        if session.in_transaction:
            session.roll_back()
        self._read_again(session)
        if self._standing.epoch != self._epoch:
            raise lost_to_another(self._ownership, self._standing.epoch)

    def _take_back_given_up(self) -> None:
        """Forget a transaction that the server gave up; the session may have ended with it."""
        try:
            self._take_back()
        except ConnectionLostError:
            self._come_back(None)

    def _read_again(self, session: PostgresConnection) -> None:
        with reading(self._where):
            self._standing = read_standing(session)
        self._marks = {}

    def _abandon_transaction(self, error: BaseException) -> None:
        if isinstance(error, IOFailure) and not isinstance(error, DiskFullError):
            self._broken = error
            self._note_failure(error)
        if isinstance(error, BusyError):
            self._broken = error
        try:
            self._take_back()
        except ConnectionLostError:
            self._come_back(None)
        except BusyError as lost:
            self._broken = lost
            raise lost from error

    def _come_back(self, attempt: Attempt[Any] | None) -> bool:
        """Write through a new session; return whether the attempt is durable after all."""
        if self._broken is not None:
            raise self._broken
        deadline = self._clock.monotonic() + RECONNECT_S
        while True:
            try:
                return self._come_back_once(attempt, deadline)
            except ConnectionLostError as error:
                # The new session has ended, too.
                if self._clock.monotonic() >= deadline:
                    self._broken = error
                    raise
            except (BusyError, HostError, IntegrityError, IOFailure) as error:
                self._broken = error
                raise

    def _come_back_once(self, attempt: Attempt[Any] | None, deadline: float) -> bool:
        turn = self._ownership.come_back(self._clock, deadline)
        self._read_again(self._ownership.session)
        durable = attempt is not None and turn == attempt.turn
        if not durable and turn != self._turn:
            raise _older_server(self._ownership, turn, self._turn)
        if durable:
            assert attempt is not None
            assert attempt.epoch is not None
            self._turn, self._epoch = turn, attempt.epoch
        if self._standing.epoch != self._epoch:
            raise lost_to_another(self._ownership, self._standing.epoch)
        return durable

    def status(self) -> LedgerStatus:
        """Return one consistent snapshot."""
        for left in reversed(range(ATTEMPTS)):
            try:
                return super().status()
            except ConnectionLostError:
                if not left:
                    raise
                self._come_back(None)
        raise AssertionError


def _older_server(ownership: Ownership, found: int, expected: int) -> IntegrityError:
    return IntegrityError(
        "PostgreSQL has lost transactions that it had called durable",
        where=ownership.address.shown,
        why=f"this writer's last turn is {found} there, but turn {expected} was committed: the "
        "server was restored from a backup, or a standby that lagged behind took over",
        hint="put the newest state of the server back; replication must be synchronous",
    )


def _pooled(ownership: Ownership) -> HostError:
    return HostError(
        "PostgreSQL's sessions are shared by a pooler",
        where=ownership.address.shown,
        why="a transaction ran in another session than the one that holds the writer's lock",
        hint="connect to the server itself, or to a pooler in session mode",
    )
