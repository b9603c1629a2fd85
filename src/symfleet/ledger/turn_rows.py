"""A running turn of a store of rows, and the rows that operations share.

Theory of operation. An operation asks every question that could refuse it before its first write,
so a refused operation has written nothing and needs no savepoint; anything that goes wrong after
the first write is damage or a broken disk and fails the whole turn, which is rolled back. `Turn`
checks the first half of this for every refusal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from symfleet.errors import IntegrityError, InternalError
from symfleet.ledger import plan as planning
from symfleet.ledger.rows import Cursor, Database
from symfleet.ledger.standing import Standing
from symfleet.ledger.statements import load
from symfleet.types import FencingToken, InputId, Outcome, SinkKind, StateId, WorkId

_SQL: Final = load("turn")
_PUT_INPUT: Final = _SQL["put_input"]
_FIND_INPUT: Final = _SQL["find_input"]
_PUT_WORK: Final = _SQL["put_work"]
_HOLDS: Final = _SQL["holds"]
_PUT_ARTEFACT: Final = _SQL["put_artefact"]
_FIND_WORK: Final = _SQL["find_work"]
_HAS_WORK: Final = _SQL["has_work"]
_PUT_DECISION: Final = _SQL["put_decision"]
_PUT_COVERAGE: Final = _SQL["put_coverage"]
_FINISH_WORK: Final = _SQL["finish_work"]
_GIVE_BACK: Final = _SQL["give_back"]
_LEASE: Final = _SQL["lease"]
_HAS_LEFT: Final = _SQL["has_left"]
_TAKE_OVER: Final = _SQL["take_over"]
_COUNT_ROWS: Final = _SQL["count_rows"]


@dataclass(slots=True)
class Turn:
    """One transaction. `cursor` is the only one that writes."""

    connection: Database
    cursor: Cursor
    standing: Standing
    wall: float
    starved: bool
    """The reserve is spent: no new work until there is space again."""
    doubts_counts: bool = field(default=False, init=False)
    """Something was met that counts would explain badly: look before the turn ends (C9)."""
    _before: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._before = self.standing.row

    def added(self) -> tuple[int, ...]:
        """Return what this turn has added to each count."""
        pairs = zip(self.standing.row, self._before, strict=True)
        return tuple(now - then for now, then in pairs)

    def count_rows(self) -> Any:
        """Return the columns of `count_rows`: stored counts, and the rows that are there now."""
        return self.cursor.execute(_COUNT_ROWS).fetchone()

    def find_input(self, input_id: InputId) -> int | None:
        """Return the row of an input, if the ledger has it."""
        row = self.cursor.execute(_FIND_INPUT, (bytes.fromhex(input_id),)).fetchone()
        return None if row is None else int(row[0])

    def store(self, input_id: InputId, data: bytes) -> int:
        """Return the row of an input, written when new."""
        digest = bytes.fromhex(input_id)
        cursor = self.cursor
        if cursor.execute(_PUT_INPUT, (digest, data)).rowcount == 1:
            row = cursor.lastrowid
            assert row is not None
            return row
        return int(cursor.execute(_FIND_INPUT, (digest,)).fetchone()[0])

    def find_work(self, work_id: WorkId) -> Any:
        """Return the columns of `find_work` of a row, None when there is no such work."""
        return self.cursor.execute(_FIND_WORK, (bytes.fromhex(work_id),)).fetchone()

    def has_work(self, work_id: WorkId) -> bool:
        """Whether the work is known."""
        return self.cursor.execute(_HAS_WORK, (bytes.fromhex(work_id),)).fetchone() is not None

    def _insert_work(self, values: tuple[object, ...]) -> bool:
        return self.cursor.execute(_PUT_WORK, values).rowcount == 1

    def _insert_artefact(self, values: tuple[object, ...]) -> bool:
        return self.cursor.execute(_PUT_ARTEFACT, values).rowcount == 1

    def put_decision(self, values: tuple[object, ...]) -> None:
        """Insert a decision."""
        self.cursor.execute(_PUT_DECISION, values)

    def put_coverage(self, decision: int, edges: bytes) -> None:
        """Insert what a decision was the first to show."""
        self.cursor.execute(_PUT_COVERAGE, (decision, edges))

    def finish_work(self, decision: int, work: int, token: FencingToken) -> None:
        """Make a leased row done."""
        self.change_one(_FINISH_WORK, (decision, work, token.epoch, token.fence))

    def give_back(self, work_id: WorkId, token: FencingToken) -> bool:
        """Make a leased row pending; return whether this token held it."""
        key = (bytes.fromhex(work_id), token.epoch, token.fence)
        return self.cursor.execute(_GIVE_BACK, key).rowcount == 1

    def lease(self, rows: Sequence[tuple[int, int, int, str, int]]) -> None:
        """Lease rows, each (epoch, coordinator, work, its state, its fence)."""
        if self.cursor.executemany(_LEASE, rows).rowcount != len(rows):
            raise InternalError(
                "a pending row changed while it was leased",
                where=f"epoch {self.standing.epoch}",
            )

    def has_left(self, coordinator: int) -> bool:
        """Whether a coordinator is lost or has closed, so that nobody would hold what it claims.
        The root's loss ends the epoch, so that it need not be asked for."""
        row = self.cursor.execute(_HAS_LEFT, (self.standing.epoch, coordinator)).fetchone()
        return row is not None

    def take_over(self, coordinator: int) -> int:
        """Make all rows pending that a coordinator leased in this epoch; return how many."""
        return self.cursor.execute(_TAKE_OVER, (self.standing.epoch, coordinator)).rowcount

    def put_work(
        self,
        ids: tuple[WorkId, StateId],
        input_row: int,
        payload: bytes,
        place: int | None,
        cost_us: int,
    ) -> bool:
        """Insert a pending row unless the work is known. `place` None: in order of arrival."""
        standing = self.standing
        row = standing.works + 1
        work_id, state_id = bytes.fromhex(ids[0]), bytes.fromhex(ids[1])
        where = planning.rest_place(row) if place is None else place
        values = (row, work_id, state_id, input_row, where, cost_us, payload)
        if not self._insert_work(values):
            return False
        standing.works = row
        standing.pending += 1
        return True

    def show(
        self, kind: SinkKind, input_row: int, parent: int | None, decision: int, story: Story
    ) -> bool:
        """Put an input into the outbox of a kind unless it is there."""
        standing = self.standing
        number, nth = standing.artefacts + 1, standing.artefacts_of(kind) + 1
        # A plain string: an enumeration member costs the database's driver a search for adapters.
        name, outcome, site = str(kind), str(story.outcome), story.site
        if site >= 2**63:
            site -= 2**64
        place = (number, name, nth, input_row, parent, standing.epoch, decision)
        told = (outcome, story.signal, story.how, site)
        if not self._insert_artefact(place + told):
            return False
        standing.artefacts = number
        match kind:
            case SinkKind.CORPUS:
                standing.corpus = nth
            case SinkKind.CRASHES:
                standing.crashes = nth
            case SinkKind.HANGS:
                standing.hangs = nth
        return True

    def not_held(self, work_id: WorkId, token: FencingToken) -> None:
        """Make sure that nobody holds a row that was not found by its id: it is looked for among
        the leased rows, which are few, in another index, and they are counted at the turn's end.
        Damage must not look like a stale token (C9)."""
        self.doubts_counts = True
        key = (bytes.fromhex(work_id), token.epoch, token.fence)
        if self.cursor.execute(_HOLDS, key).fetchone() is not None:
            raise IntegrityError(
                "an index of the ledger is damaged",
                where=f"work {work_id}",
                why="the row is leased under this token, but its id does not lead to it",
                hint="nothing was changed; run `symfleet verify`",
            )

    def change_one(self, statement: str, values: tuple[object, ...]) -> None:
        """Write exactly one row."""
        if self.cursor.execute(statement, values).rowcount != 1:
            raise InternalError(
                "a row changed between its check and its write",
                where=f"ledger, epoch {self.standing.epoch}",
                why="another writer would have to hold the owner's lock",
                hint="nothing was changed; please report this",
            )


class Story(NamedTuple):
    """How an artefact came to be."""

    outcome: Outcome
    signal: int
    how: str
    site: int
