"""Owning a store of rows: what the SQLite and the PostgreSQL ledger do alike.

A turn is one transaction (architecture §2, step 3). In memory stands only what can be read again
(`Standing`): after a transaction that failed it is read again. How a transaction begins, commits
and fails is each store's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final, TypeVar, assert_never

from symfleet import crash
from symfleet.clock import Clock
from symfleet.config.ledger_address import LedgerAccess
from symfleet.errors import DataError, InternalError
from symfleet.ledger import (
    generations,
    opening,
    turn_counts,
    turn_decision,
    turn_ending,
    turn_frontier,
    turn_giving_back,
)
from symfleet.ledger.audit_background import BackgroundAudit, Bounds, Slices, row_slices
from symfleet.ledger.contract import EpochRequest, NewGeneration
from symfleet.ledger.crash_points import pass_applied
from symfleet.ledger.highwater import Highwater
from symfleet.ledger.row_reading import RowReading, read_campaign
from symfleet.ledger.rows import Cursor, Database
from symfleet.ledger.standing import read_standing
from symfleet.ledger.statements import load
from symfleet.ledger.turn_rows import Turn
from symfleet.protocol.answers import Answer, EpochOpening, Failed, Quiesced, SinkRow, TurnAnswers
from symfleet.protocol.operations import (
    Admit,
    AuditLeases,
    Blame,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    CountFaults,
    CountSkips,
    Decide,
    Defer,
    MarkPublished,
    Operation,
    RecordAck,
    Release,
    SetSource,
    StoreInputs,
    TakeOver,
)
from symfleet.types import Epoch, SinkKind, WorkId

_T = TypeVar("_T")

_SQL: Final = load("turn")
_LAST_INPUT: Final = load("audit")["last_input"]
_ADD_COUNTER: Final = _SQL["add_counter"]
_ADD_FAULT: Final = _SQL["add_fault"]
_SET_STANDING: Final = _SQL["set_standing"]


class RowLedger(RowReading, ABC):
    """The owner's view of a store of rows."""

    _clock: Clock

    def __init__(self, connection: Database, where: str) -> None:
        super().__init__(connection, where)
        self._standing = read_standing(connection)
        self._audit: BackgroundAudit | None = None

    @abstractmethod
    def _in_transaction(self, work: Callable[[Cursor], _T], *, opens_epoch: bool = False) -> _T:
        """Run `work` in one durable transaction with the standing at its end."""

    @abstractmethod
    def _changes(self) -> int:
        """Return how many rows this connection has written."""

    def _open_epoch(self, request: EpochRequest) -> EpochOpening:
        self._audit = self._audit_of_before()
        recovered, rearmed = self._in_transaction(
            lambda cursor: opening.open_epoch(
                cursor, self._standing, self._campaign.campaign, request
            ),
            opens_epoch=True,
        )
        crash.point("epoch.committed")
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

    def begin_generation(self, new: NewGeneration) -> int:
        """Begin a coverage generation; return how many inputs are work again."""
        number = self._campaign.generation_number + 1
        again = self._in_transaction(
            lambda cursor: generations.begin(cursor, self._standing, number, new)
        )
        crash.point("generation.committed")
        self._campaign = read_campaign(self._connection, self._where)
        return again

    # ---- the audit after an end that was none ---------------------------------------------------

    def _audit_of_before(self) -> BackgroundAudit | None:
        """Return the audit of what a launch without an end has left; None when it had one."""
        standing = self._standing
        if not standing.epoch or standing.closed is not None:
            return None
        bounds = Bounds(
            inputs=int(self._connection.execute(_LAST_INPUT).fetchone()[0]),
            works=standing.works,
            decisions=standing.decisions,
            artefacts=standing.artefacts,
            epoch=Epoch(standing.epoch + 1),
        )

        def slices() -> Slices:
            yield from self._page_slices(bounds.works)
            yield from row_slices(self._connection, self._campaign.campaign, bounds)

        return BackgroundAudit(slices(), bounds.works, self._clock.monotonic)

    def _page_slices(self, rows: int) -> Slices:  # noqa: ARG002
        """Check the store's own structure; a server checks its pages when it reads them."""
        yield ()

    def _audit_before(self, operations: Sequence[Operation]) -> None:
        """A vote waits for the audit; where little is left of it, not in vain."""
        votes = any(isinstance(operation, CommitQuiescence) for operation in operations)
        if self._audit is not None and votes:
            self._audit.step(self._where, hurry=True)

    def _step_audit(self) -> None:
        """Go on with the audit, between turns. Raises IntegrityError once."""
        if self._audit is not None:
            self._audit.step(self._where, hurry=self._standing.open_work == 0)

    def register_source(self, kind: str, path: str, host: str) -> int:
        """Return the number of the source; it is open."""
        self._require_epoch()
        return self._in_transaction(
            lambda cursor: opening.register_source(cursor, self._standing.epoch, (kind, path, host))
        )

    def register_sink(self, kind: SinkKind, path: str, host: str) -> SinkRow:
        """Return the sink with a fresh incarnation."""
        self._require_epoch()
        return self._in_transaction(
            lambda cursor: opening.register_sink(
                cursor, self._standing, self._campaign.campaign, (kind, path, host)
            )
        )

    def access(self) -> LedgerAccess | None:
        """Return None: the owner alone writes."""
        return None

    def rearm(self, work_ids: Sequence[WorkId]) -> int:
        """Make poisoned rows pending again; none after quiescence (Q3)."""
        if self._standing.quiescent and self._standing.closed is None:
            return 0
        return self._in_transaction(lambda cursor: opening.rearm(cursor, self._standing, work_ids))

    def drop_unnamed(self) -> int:
        """Remove inputs that no row names (`verify --gc`); return how many."""
        return self._in_transaction(opening.drop_unnamed)

    def highwater(self) -> Highwater:
        """Return how far the ledger has come."""
        standing = self._standing
        last = self._connection.execute(opening.LAST_DECISION).fetchone()
        return Highwater(
            campaign=self._campaign.campaign,
            ledger_incarnation=self._campaign.ledger_incarnation,
            epoch=standing.epoch,
            # Not `standing.decisions`: others may have decided since our last turn.
            decision=0 if last is None else last[0],
            chain="" if last is None else last[1].hex(),
        )

    # ---- parts of a turn ------------------------------------------------------------------------

    def _answers(self, turn: Turn, operations: Sequence[Operation]) -> tuple[Answer, ...]:
        answers = tuple([self._answer(turn, operation) for operation in operations])
        if turn.doubts_counts:
            turn_counts.check_counts(turn)
        return answers

    def _answer(self, turn: Turn, operation: Operation) -> Answer:
        if isinstance(operation, CommitQuiescence) and self._audit and not self._audit.finished:
            return Quiesced(committed=False, reason="the audit of the ledger is not over")
        before = self._changes()
        try:
            answer = carry_out(turn, operation)
        except DataError as error:
            if self._changes() != before:
                raise InternalError(
                    "an operation was refused after it had written",
                    where=type(operation).__name__,
                    why=str(error),
                ) from error
            return Failed(str(error))
        if crash.is_armed():
            pass_applied(operation)
        return answer

    def _told(self, answers: tuple[Answer, ...]) -> TurnAnswers:
        standing = self._standing
        # Beside other writers a turn may have claimed rows that were not there yet when it looked
        # at the counts: to the counts of its beginning they are less than none.
        pending, leased, deferred = (
            max(0, count) for count in (standing.pending, standing.leased, standing.deferred)
        )
        return TurnAnswers(
            answers=answers,
            open_work=pending + leased + deferred,
            pending=pending,
            leased=leased,
            changes=standing.changes,
            last_artefact=standing.artefacts,
            unpublished=standing.unpublished,
            deferred=deferred,
            poisoned=standing.poisoned,
        )

    def _write_standing(self, cursor: Cursor, before: tuple[int, ...]) -> None:
        standing = self._standing
        epoch = standing.epoch
        if standing.row != before:
            cursor.execute(_SET_STANDING, standing.row)
        if standing.counters:
            cursor.executemany(
                _ADD_COUNTER, [(epoch, *key, amount) for key, amount in standing.counters.items()]
            )
            standing.counters.clear()
        if standing.faults:
            cursor.executemany(
                _ADD_FAULT, [(epoch, *key, amount) for key, amount in standing.faults.items()]
            )
            standing.faults.clear()

    def _require_epoch(self) -> None:
        if self._standing.epoch == 0:
            raise InternalError("no epoch is open", where=self._where, why="open_epoch comes first")


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
        case TakeOver():
            return turn_giving_back.take_over(turn, operation)
        case CommitQuiescence():
            return turn_ending.commit_quiescence(turn, operation)
        case RecordAck():
            return turn_ending.record_ack(turn, operation)
        case CloseEpoch():
            return turn_ending.close_epoch(turn, operation)
        case _:
            assert_never(operation)
