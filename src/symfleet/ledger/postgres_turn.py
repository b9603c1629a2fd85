"""A turn on PostgreSQL: few round trips, however many operations.

Theory of operation. All rows that the operations name are asked for at once, with the beginning of
the transaction. The answers stay true until this turn itself changes them: rows are numbered and
made only by one ordered transaction at a time (`postgres_scope`), a leased row is changed only by
its holder, and a token that does not hold a row never will. Inserts and changes of state whose
outcome is known by that are gathered and written with one statement for each table. Whatever is
asked of the database in between is asked through a cursor that writes what is gathered first, so
that it sees it. Before COMMIT each statement must have written exactly as many rows as it was
given.

No transaction waits for another one in a circle: the ordered ones wait for each other before they
have locked anything; claims pass over rows that are locked; all else that is locked belongs to one
coordinator, or is locked last and in the order of its keys (counters).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from symfleet.ledger.postgres_arrays import Blobs, columns_of
from symfleet.ledger.postgres_connection import PostgresConnection, PostgresCursor
from symfleet.ledger.postgres_statements import BATCHES, SESSION
from symfleet.ledger.standing import Standing
from symfleet.ledger.statements import load
from symfleet.ledger.turn_giving_back import is_plain
from symfleet.ledger.turn_rows import Turn
from symfleet.protocol.operations import (
    Admit,
    Decide,
    Operation,
    RecordAck,
    Release,
    StoreInputs,
    TakeOver,
)
from symfleet.types import FencingToken, InputId, WorkId, input_id_of

# Parents before children, as the foreign keys ask for.
_ORDER: Final = (
    "put_inputs",
    "put_works",
    "put_artefacts",
    "put_decisions",
    "put_coverages",
    "finish_works",
    "give_back_works",
    "lease_works",
)
_TURN: Final = load("turn")
_CHANGES_WORK: Final = frozenset((_TURN["release_work"], _TURN["blame_work"]))
"""They end with work, epoch, fence."""


@dataclass(slots=True)
class Known:
    """What the operations of a turn name, and what the ledger has of it."""

    asked_work: set[bytes] = field(default_factory=set)
    asked_inputs: set[bytes] = field(default_factory=set)
    asked_leases: set[bytes] = field(default_factory=set)
    leases: dict[bytes, tuple[Any, ...]] = field(default_factory=dict)
    """Number, state, epoch and fence by work id."""
    releases: tuple[Release, ...] = ()
    """All operations of a turn that only gives back: it needs not ask who holds what, but writes
    with its questions, and is told what it held."""
    returned: set[tuple[bytes, int, int]] = field(default_factory=set)
    work: dict[bytes, tuple[Any, ...]] = field(default_factory=dict)
    """Columns of `find_work` by work id."""
    work_ids: set[bytes] = field(default_factory=set)
    ids_of_rows: dict[int, bytes] = field(default_factory=dict)
    inputs: dict[bytes, int] = field(default_factory=dict)
    shown: set[tuple[int, str]] = field(default_factory=set)
    last_input: int | None = None
    """The number of the newest input; None in a transaction that makes none."""
    left: frozenset[int] = frozenset()
    """Coordinators that have left the epoch, when this turn lets none go."""
    lets_go: bool = False
    _answers: list[Any] = field(default_factory=list)

    @classmethod
    def asked_by(cls, operations: Sequence[Operation]) -> Known:
        """Return what operations ask about, unanswered."""
        known = cls()
        releases = [op for op in operations if isinstance(op, Release) and is_plain(op)]
        if releases and len(releases) == len(operations):
            known.releases = tuple(releases)
            return known
        for operation in operations:
            known._add(operation)
        return known

    def send(self, session: PostgresConnection) -> None:
        """Send the questions."""
        self._answers = [(), (), (), (), ()]
        if self.releases:
            rows = [
                (bytes.fromhex(each.work_id), each.token.epoch, each.token.fence)
                for each in self.releases
            ]
            self._answers[4] = session.send(SESSION["give_back_held"], columns_of(rows))
        if self.asked_work:
            self._answers[0] = session.send(
                BATCHES["known_work"], (Blobs(sorted(self.asked_work)),)
            )
        if self.asked_inputs:
            digests = Blobs(sorted(self.asked_inputs))
            self._answers[1] = session.send(BATCHES["known_inputs"], (digests,))
            self._answers[2] = session.send(BATCHES["known_artefacts"], (digests,))

        if self.asked_leases:
            leases = Blobs(sorted(self.asked_leases))
            self._answers[3] = session.send(BATCHES["known_leases"], (leases,))

    def read(self) -> None:
        """Read the answers."""
        work, inputs, shown, leases, returned = self._answers
        self.returned.update(returned)
        for work_id, *columns in leases:
            self.leases[work_id] = tuple(columns)
            self.ids_of_rows[columns[0]] = work_id
        for work_id, *columns in work:
            self.work[work_id] = tuple(columns)
            self.work_ids.add(work_id)
            self.ids_of_rows[columns[0]] = work_id
        self.inputs.update(inputs)
        self.shown.update(shown)

    def _add(self, operation: Operation) -> None:
        match operation:
            case Decide():
                self.asked_work.add(bytes.fromhex(operation.work_id))
                self.asked_inputs.add(bytes.fromhex(operation.input_id))
                self.asked_inputs.update(
                    bytes.fromhex(child.input_id) for child in operation.children
                )
                self.asked_work.update(
                    bytes.fromhex(child.work_id) for child in operation.children if child.work_id
                )
                if operation.follow_up is not None:
                    self.asked_work.add(bytes.fromhex(operation.follow_up.work_id))
            case Release():
                self.asked_leases.add(bytes.fromhex(operation.work_id))
            case Admit():
                self.asked_work.update(bytes.fromhex(entry.work_id) for entry in operation.entries)
                self.asked_inputs.update(
                    bytes.fromhex(entry.input_id) for entry in operation.entries
                )
            case StoreInputs():
                self.asked_inputs.update(
                    bytes.fromhex(input_id_of(data)) for data in operation.inputs
                )
            case TakeOver() | RecordAck():
                self.lets_go = True
            case _:
                pass


class _SeeingCursor(PostgresCursor):
    """Writes what is gathered before it asks or writes anything."""

    def __init__(self, connection: PostgresConnection, turn: PostgresTurn) -> None:
        super().__init__(connection)
        self._turn = turn

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> PostgresCursor:
        self._turn.write_gathered()
        return super().execute(statement, values)

    def executemany(self, statement: str, values: Iterable[Sequence[Any]], /) -> PostgresCursor:
        self._turn.write_gathered()
        return super().executemany(statement, values)


class PostgresTurn(Turn):
    """One transaction; `write_gathered` ends it."""

    def __init__(
        self, session: PostgresConnection, standing: Standing, wall: float, known: Known
    ) -> None:
        cursor = _SeeingCursor(session, self)
        super().__init__(session, cursor, standing, wall, starved=False)
        self._session = session
        self._gathered: dict[str, list[tuple[object, ...]]] = {name: [] for name in _ORDER}
        self._is_empty = True
        self._known = known

    # ---- what is known --------------------------------------------------------------------------

    def find_input(self, input_id: InputId) -> int | None:
        """Return the row of an input, if the ledger has it."""
        digest = bytes.fromhex(input_id)
        if digest in self._known.asked_inputs:
            return self._known.inputs.get(digest)
        return super().find_input(input_id)

    def find_work(self, work_id: WorkId) -> Any:
        """Return the columns of `find_work`; asked again when this turn has changed the row."""
        return self._known.work.get(bytes.fromhex(work_id)) or super().find_work(work_id)

    def has_work(self, work_id: WorkId) -> bool:
        """Whether the work is known."""
        key = bytes.fromhex(work_id)
        known = self._known
        return key in known.work_ids if key in known.asked_work else super().has_work(work_id)

    def has_left(self, coordinator: int) -> bool:
        """Whether a coordinator has left the epoch."""
        if self._known.lets_go:
            return super().has_left(coordinator)
        return coordinator in self._known.left

    def _forget(self, work: object) -> None:
        """The row is about to change: what was read of it is no longer true."""
        work_id = self._known.ids_of_rows.get(work)  # type: ignore[call-overload]
        self._known.work.pop(work_id, None)
        self._known.leases.pop(work_id, None)

    # ---- what is written ------------------------------------------------------------------------

    def _gather(self, name: str, *values: object) -> None:
        self._gathered[name].append(values)
        self._is_empty = False
        self._session.writes += 1

    def store(self, input_id: InputId, data: bytes) -> int:
        """Return the row of an input, written when new."""
        digest = bytes.fromhex(input_id)
        known = self._known
        row = known.inputs.get(digest)
        if row is not None:
            return row
        if known.last_input is None or digest not in known.asked_inputs:
            return super().store(input_id, data)
        known.last_input += 1
        known.inputs[digest] = known.last_input
        self._gather("put_inputs", known.last_input, digest, data)
        return known.last_input

    def _insert_work(self, values: tuple[object, ...]) -> bool:
        work_id = values[1]
        assert isinstance(work_id, bytes)
        if work_id not in self._known.asked_work:
            return super()._insert_work(values)
        if work_id in self._known.work_ids:
            return False
        self._known.work_ids.add(work_id)
        self._gather("put_works", *values)
        return True

    def _insert_artefact(self, values: tuple[object, ...]) -> bool:
        _, kind, _, row, *_ = values
        assert isinstance(kind, str)
        assert isinstance(row, int)
        if (row, kind) in self._known.shown:
            return False
        self._known.shown.add((row, kind))
        self._gather("put_artefacts", *values)
        return True

    def put_decision(self, values: tuple[object, ...]) -> None:
        """Insert a decision."""
        self._gather("put_decisions", *values)

    def put_coverage(self, decision: int, edges: bytes) -> None:
        """Insert what a decision was the first to show."""
        self._gather("put_coverages", decision, edges)

    def finish_work(self, decision: int, work: int, token: FencingToken) -> None:
        """Make a leased row done."""
        self._forget(work)
        self._gather("finish_works", decision, work, token.epoch, token.fence)

    def give_back(self, work_id: WorkId, token: FencingToken) -> bool:
        """Make a leased row pending; return whether this token held it."""
        if self._known.releases:
            held = (bytes.fromhex(work_id), token.epoch, token.fence)
            if held not in self._known.returned:
                return False
            self._known.returned.remove(held)
            return True
        row = self._known.leases.get(bytes.fromhex(work_id))
        if row is None:
            return super().give_back(work_id, token)
        work, state, epoch, fence = row
        if state != "leased" or (epoch, fence) != (token.epoch, token.fence):
            return False
        self._forget(work)
        self._gather("give_back_works", work, epoch, fence)
        return True

    def lease(self, rows: Sequence[tuple[int, int, int, str, int]]) -> None:
        """Lease rows, each (epoch, coordinator, work, its state, its fence)."""
        for row in rows:
            self._forget(row[2])
            self._gather("lease_works", *row)

    def take_over(self, coordinator: int) -> int:
        """Make all rows pending that a coordinator leased: what was read of them is not true."""
        self._known.work.clear()
        self._known.leases.clear()
        return super().take_over(coordinator)

    def change_one(self, statement: str, values: tuple[object, ...]) -> None:
        """Write exactly one row."""
        self.write_gathered()
        if statement in _CHANGES_WORK:
            self._forget(values[-3])
        self._session.send_for(1, statement, values)

    def count_rows(self) -> Any:
        """Return counts and rows, once it is certain that this turn has written what it believes:
        a row that another one has changed meanwhile is no damage, and the turn runs again."""
        self.write_gathered()
        self._session.verify()
        return super().count_rows()

    def write_gathered(self) -> None:
        """Write all gathered rows, one statement for each table."""
        if self._is_empty:
            return
        self._is_empty = True
        for name, rows in self._gathered.items():
            if rows:
                self._session.send_for(len(rows), BATCHES[name], columns_of(rows))
                rows.clear()
