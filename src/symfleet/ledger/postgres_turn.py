"""A turn on PostgreSQL: few round trips, however many operations.

Theory of operation. All rows that the operations name are asked for at once, before the first of
them; nobody else writes while the fence is held, so that the answers stay true until this turn
itself changes them. Inserts and changes of state whose outcome is known by that are gathered and
written with one statement for each table. Whatever is asked of the database in between is asked
through a cursor that writes what is gathered first, so that it sees it. Before COMMIT each
statement must have written exactly as many rows as it was given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from symfleet.errors import InternalError
from symfleet.ledger.postgres_connection import PostgresConnection, PostgresCursor
from symfleet.ledger.postgres_statements import BATCHES
from symfleet.ledger.standing import Standing
from symfleet.ledger.statements import load
from symfleet.ledger.turn_rows import Turn
from symfleet.protocol.operations import (
    Admit,
    Blame,
    Decide,
    Defer,
    Operation,
    Release,
    StoreInputs,
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
class _Named:
    """What the operations of a turn name."""

    work: set[bytes] = field(default_factory=set)
    inputs: set[bytes] = field(default_factory=set)

    def add(self, operation: Operation) -> None:
        match operation:
            case Decide():
                self.work.add(bytes.fromhex(operation.work_id))
                self.inputs.add(bytes.fromhex(operation.input_id))
                self.inputs.update(bytes.fromhex(child.input_id) for child in operation.children)
                self.work.update(
                    bytes.fromhex(child.work_id) for child in operation.children if child.work_id
                )
                if operation.follow_up is not None:
                    self.work.add(bytes.fromhex(operation.follow_up.work_id))
            case Release() | Defer() | Blame():
                self.work.add(bytes.fromhex(operation.work_id))
            case Admit():
                self.work.update(bytes.fromhex(entry.work_id) for entry in operation.entries)
                self.inputs.update(bytes.fromhex(entry.input_id) for entry in operation.entries)
            case StoreInputs():
                self.inputs.update(bytes.fromhex(input_id_of(data)) for data in operation.inputs)
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
    """One transaction; `settle` ends it."""

    def __init__(
        self,
        session: PostgresConnection,
        standing: Standing,
        wall: float,
        operations: Sequence[Operation],
    ) -> None:
        cursor = _SeeingCursor(session, self)
        super().__init__(session, cursor, standing, wall, starved=False)
        self._session = session
        self._gathered: dict[str, list[tuple[object, ...]]] = {name: [] for name in _ORDER}
        self._is_empty = True
        self._expected: list[tuple[str, int, Any]] = []
        self._asked = _Named()
        for operation in operations:
            self._asked.add(operation)
        self._work: dict[bytes, tuple[Any, ...]] = {}
        self._known_work: set[bytes] = set()
        self._inputs: dict[bytes, int] = {}
        self._shown: set[tuple[int, str]] = set()
        self._last_input: int | None = None
        self._ask()

    def _ask(self) -> None:
        """Read what the turn has to know, in one round trip."""
        send = self._session.send
        answers: list[Any] = [None, None, None, None]
        if self._asked.work:
            answers[0] = send(BATCHES["known_work"], (sorted(self._asked.work),))
        if self._asked.inputs:
            digests = sorted(self._asked.inputs)
            answers[1] = send(BATCHES["known_inputs"], (digests,))
            answers[2] = send(BATCHES["known_artefacts"], (digests,))
            answers[3] = send(BATCHES["last_input"], ())
        with self._session.guarded():
            rows = [() if answer is None else answer.fetchall() for answer in answers]
        for work_id, *columns in rows[0]:
            self._work[work_id] = tuple(columns)
            self._known_work.add(work_id)
        self._inputs.update(rows[1])
        self._shown.update(rows[2])
        if rows[3]:
            self._last_input = int(rows[3][0][0])

    # ---- what is known --------------------------------------------------------------------------

    def find_input(self, input_id: InputId) -> int | None:
        """Return the row of an input, if the ledger has it."""
        digest = bytes.fromhex(input_id)
        if digest in self._asked.inputs:
            return self._inputs.get(digest)
        return super().find_input(input_id)

    def find_work(self, work_id: WorkId) -> Any:
        """Return the columns of `find_work`; asked again when this turn has changed the row."""
        return self._work.get(bytes.fromhex(work_id)) or super().find_work(work_id)

    def has_work(self, work_id: WorkId) -> bool:
        """Whether the work is known."""
        key = bytes.fromhex(work_id)
        return key in self._known_work if key in self._asked.work else super().has_work(work_id)

    def _forget(self, work: object) -> None:
        """The row is about to change: what was read of it is no longer true."""
        for work_id, columns in self._work.items():
            if columns[0] == work:
                del self._work[work_id]
                return

    # ---- what is written ------------------------------------------------------------------------

    def _gather(self, name: str, *values: object) -> None:
        self._gathered[name].append(values)
        self._is_empty = False
        self._session.writes += 1

    def store(self, input_id: InputId, data: bytes) -> int:
        """Return the row of an input, written when new."""
        digest = bytes.fromhex(input_id)
        row = self._inputs.get(digest)
        if row is not None:
            return row
        if self._last_input is None or digest not in self._asked.inputs:
            return super().store(input_id, data)
        self._last_input += 1
        self._inputs[digest] = self._last_input
        self._gather("put_inputs", self._last_input, digest, data)
        return self._last_input

    def _insert_work(self, values: tuple[object, ...]) -> bool:
        work_id = values[1]
        assert isinstance(work_id, bytes)
        if work_id not in self._asked.work:
            return super()._insert_work(values)
        if work_id in self._known_work:
            return False
        self._known_work.add(work_id)
        self._gather("put_works", *values)
        return True

    def _insert_artefact(self, values: tuple[object, ...]) -> bool:
        _, kind, _, row, *_ = values
        assert isinstance(kind, str)
        assert isinstance(row, int)
        if (row, kind) in self._shown:
            return False
        self._shown.add((row, kind))
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
        row = self._work.get(bytes.fromhex(work_id))
        if row is None:
            return super().give_back(work_id, token)
        work, state, epoch, fence = row[:4]
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
        """Make all rows of a coordinator pending; what was read of rows before is not true now."""
        self._work.clear()
        return super().take_over(coordinator)

    def change_one(self, statement: str, values: tuple[object, ...]) -> None:
        """Write exactly one row."""
        self.write_gathered()
        if statement in _CHANGES_WORK:
            self._forget(values[-3])
        self._expected.append((statement, 1, self._session.send(statement, values)))

    def write_gathered(self) -> None:
        """Write all gathered rows, one statement for each table."""
        if self._is_empty:
            return
        self._is_empty = True
        for name, rows in self._gathered.items():
            if rows:
                columns = tuple([list(column) for column in zip(*rows, strict=True)])
                sent = self._session.send(BATCHES[name], columns)
                self._expected.append((name, len(rows), sent))
                rows.clear()

    def settle(self) -> None:
        """Write what is gathered; make sure that every statement wrote what it was given."""
        self.write_gathered()
        self._session.settle()
        for statement, amount, sent in self._expected:
            if sent.rowcount != amount:
                raise InternalError(
                    "a row changed between its check and its write",
                    where=f"ledger, epoch {self.standing.epoch}: {statement.splitlines()[0]}",
                    why=f"{sent.rowcount} rows instead of {amount}; another writer would have to "
                    "pass the epoch's fence",
                    hint="nothing was changed; please report this",
                )
