"""Decisions of the SQLite store: everything that a result changes, in one transaction (C1..C7)."""

from __future__ import annotations

from typing import Final

from symfleet.errors import DataError, IntegrityError
from symfleet.ledger import plan as planning
from symfleet.ledger.edges import pack_edges
from symfleet.ledger.plan import DecisionPlan
from symfleet.ledger.statements import load
from symfleet.ledger.tally import (
    Effects,
    Shown,
    chain_next,
    decision_counts,
    encode_record,
    record_of,
)
from symfleet.ledger.turn_rows import Story, Turn
from symfleet.protocol.answers import Decided
from symfleet.protocol.operations import Child, Decide
from symfleet.types import Incarnation, InputId, SinkKind

_SQL: Final = load("turn")
_FIND_DECISION: Final = _SQL["find_decision"]


def decide(turn: Turn, decide: Decide) -> Decided:
    """Commit a result, or say that it was committed before, or that its token is stale."""
    standing = turn.standing
    found = turn.find_work(decide.work_id)
    if found is None or (found[2], found[3]) != (decide.token.epoch, decide.token.fence):
        turn.not_held(decide.work_id, decide.token)
        return Decided("stale")
    work, state, epoch, _, coordinator, input_row, suspect, decision, digest = found
    if digest is None:
        raise IntegrityError(
            "an input is missing", where=f"work {decide.work_id}", why="no row holds its bytes"
        )
    if digest.hex() != decide.input_id:
        raise DataError(
            "a result names another input",
            where=f"work {decide.work_id}",
            why=f"{decide.input_id} instead of {digest.hex()}",
            hint="the result is invalid; the item stays as it is",
        )
    if state == "done":
        return _decided_before(turn, decide, decision)
    if state != "leased" or epoch != standing.epoch:
        turn.doubts_counts = True
        return Decided("stale")
    plan = planning.plan_decision(decide, standing.incarnation, standing.knowledge)
    rows = _rows_of_parts(turn, plan)
    # Nothing was written until here; nothing is refused from here on.
    number = standing.decisions + 1
    outbox = _Outbox(turn, decide, number, input_row)
    new_work, unique = _keep_children(turn, decide, plan, rows, outbox)
    crashes, hangs = _show_failures(turn, decide, plan, rows, outbox)
    new_edges, fresh = b"", 0
    if plan.new_edges is not None:
        new_edges = pack_edges(plan.new_edges)
        fresh = len(standing.knowledge.add(plan.new_edges))
    effects = Effects(
        coordinator=coordinator,
        new_work=new_work,
        unique_children=unique,
        crashes=crashes,
        hangs=hangs,
        fresh_edges=fresh,
        shown=outbox.shown,
    )
    record = record_of(decide, plan, effects)
    encoded = encode_record(record)
    chain = chain_next(standing.chain, number, plan.encoded, encoded, new_edges)
    fence = decide.token.fence
    turn.put_decision((number, work, epoch, fence, turn.wall, chain, plan.encoded, encoded))
    if new_edges:
        turn.put_coverage(number, new_edges)
    turn.finish_work(number, work, decide.token)
    standing.leased -= 1
    standing.done += 1
    standing.suspects -= suspect
    standing.changes += 1
    standing.decisions = number
    standing.chain = chain
    counters = standing.counters
    for name, amount in decision_counts(decide.generated, record).items():
        if amount:
            key = (coordinator, name)
            counters[key] = counters.get(key, 0) + amount
    return Decided("completed", number, new_work, plan.kept_ids, record.late, new_edges)


def _decided_before(turn: Turn, decide: Decide, decision: int) -> Decided:
    """C7: the same token and manifest again changes nothing; another manifest is damage."""
    manifest, coordinator = turn.cursor.execute(_FIND_DECISION, (decision,)).fetchone()
    incarnation = Incarnation(int.from_bytes(coordinator, "big"))
    plan = planning.plan_decision(decide, incarnation, turn.standing.knowledge, known_before=True)
    if plan.encoded != manifest:
        raise planning.second_manifest(decide, decision)
    return Decided("already", decision=decision)


def _rows_of_parts(turn: Turn, plan: DecisionPlan) -> list[int | None]:
    """Return rows of children whose bytes came in parts; refuse when bytes that matter lack."""
    rows: list[int | None] = []
    for child, kept in zip(plan.children, plan.kept, strict=True):
        row = None
        if child.data is None and (kept or planning.artefact_kind(child.outcome) is not None):
            row = turn.find_input(child.input_id)
            if row is None:
                raise planning.missing_bytes(child.input_id)
        rows.append(row)
    return rows


def _row_of(turn: Turn, child: Child, rows: list[int | None], index: int) -> int:
    row = rows[index]
    if row is None:
        assert child.data is not None
        row = rows[index] = turn.store(child.input_id, child.data)
    return row


class _Outbox:
    """What one decision shows."""

    def __init__(self, turn: Turn, decide: Decide, number: int, input_row: int) -> None:
        self._turn = turn
        self._decide = decide
        self._number = number
        self.input_row = input_row
        self.shown: list[Shown] = []

    def show_child(self, kind: SinkKind, row: int, child: Child) -> bool:
        """Show a child unless it is shown as this kind."""
        story = Story(child.outcome, child.signal, child.how, child.site)
        return self._show(kind, row, child.input_id, story, is_child=True)

    def show_item(self, kind: SinkKind) -> bool:
        """Show the decided item itself unless it is shown as this kind."""
        story = Story(self._decide.outcome, self._decide.signal, "", 0)
        return self._show(kind, self.input_row, self._decide.input_id, story, is_child=False)

    def _show(
        self, kind: SinkKind, row: int, input_id: InputId, story: Story, *, is_child: bool
    ) -> bool:
        parent = self.input_row if is_child else None
        if not self._turn.show(kind, row, parent, self._number, story):
            return False
        standing = self._turn.standing
        named = self._decide.input_id if is_child else None
        self.shown.append(Shown(standing.artefacts, kind, input_id, named, standing.epoch, *story))
        return True


def _keep_children(
    turn: Turn, decide: Decide, plan: DecisionPlan, rows: list[int | None], outbox: _Outbox
) -> tuple[int, int]:
    """Write kept children and the follow-up; return new work rows and inputs new in the corpus."""
    new_work = unique = 0
    number = turn.standing.decisions + 1
    novel_place = planning.novel_place(number)
    for index, child in enumerate(plan.children):
        if not plan.kept[index]:
            continue
        row = _row_of(turn, child, rows, index)
        unique += outbox.show_child(SinkKind.CORPUS, row, child)
        place = novel_place if plan.novel[index] else None
        ids = (child.work_id, child.state_id)
        new_work += turn.put_work(ids, row, child.payload, place, decide.wall_us)
    if decide.follow_up is not None and not plan.keeps_all:
        rest = decide.follow_up
        ids = (rest.work_id, rest.state_id)
        new_work += turn.put_work(ids, outbox.input_row, rest.payload, None, decide.wall_us)
    return new_work, unique


def _show_failures(
    turn: Turn, decide: Decide, plan: DecisionPlan, rows: list[int | None], outbox: _Outbox
) -> tuple[int, int]:
    """Put the item's own and its children's crashes and hangs into the outbox."""
    before = (turn.standing.crashes, turn.standing.hangs)
    kind = planning.artefact_kind(decide.outcome)
    if kind is not None:
        outbox.show_item(kind)
    for index, child in enumerate(plan.children):
        kind = planning.artefact_kind(child.outcome)
        if kind is not None:
            outbox.show_child(kind, _row_of(turn, child, rows, index), child)
    return turn.standing.crashes - before[0], turn.standing.hangs - before[1]
