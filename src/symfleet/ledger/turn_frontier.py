"""Admission and claims of the SQLite store."""

from __future__ import annotations

from typing import Final

from symfleet.errors import DataError
from symfleet.ledger import plan as planning
from symfleet.ledger.statements import load
from symfleet.ledger.turn_rows import Story, Turn
from symfleet.protocol.answers import Admitted, Claimed, Counted, Failed, Lease
from symfleet.protocol.operations import Admission, Admit, Claim, StoreInputs
from symfleet.types import (
    Fence,
    FencingToken,
    InputId,
    Outcome,
    SinkKind,
    StateId,
    WorkId,
    input_id_of,
)

_SQL: Final = load("turn")
_FRONTIER: Final = _SQL["frontier"]
_SUSPECTS: Final = _SQL["suspects"]
_DEFERRED: Final = _SQL["deferred"]
_BEFORE_ALL: Final = -(2**63)

_Row = tuple[int, bytes, bytes, bytes, int, int, int, int, int, int, bytes | None, bytes | None]


def starved() -> Failed:
    """Refuse new work while the disk is full: what is in flight is decided first."""
    return Failed("the disk is full: nothing new is taken", disk_full=True)


def admit(turn: Turn, admit: Admit) -> Admitted | Failed:
    """Let inputs from outside into the frontier (A1, A4, Q3)."""
    if turn.starved:
        return starved()
    standing = turn.standing
    if standing.quiescent:
        raise planning.after_quiescence(standing.epoch)
    for entry in admit.entries:
        planning.check_name(entry.input_id, entry.data)
        planning.check_item(entry.payload, entry.work_id, entry.state_id, entry.input_id)
    new = tuple([_admit_entry(turn, entry) for entry in admit.entries])
    admitted = sum(new)
    if admitted:
        standing.count(0, "external_inputs", admitted)
        standing.changes += admitted
    return Admitted(new)


def _admit_entry(turn: Turn, entry: Admission) -> bool:
    if turn.has_work(entry.work_id):
        return False
    row = turn.store(entry.input_id, entry.data)
    turn.show(SinkKind.CORPUS, row, None, 0, Story(Outcome.OK, 0, entry.origin, 0))
    place = planning.outside_place(turn.standing.works + 1)
    return turn.put_work((entry.work_id, entry.state_id), row, entry.payload, place, 0)


def store_inputs(turn: Turn, store: StoreInputs) -> Counted | Failed:
    """Store bytes that no row names yet."""
    for data in store.inputs:
        turn.store(input_id_of(data), data)
    return Counted()


def claim(turn: Turn, claim: Claim) -> Claimed | Failed:
    """Lease rows in frontier order (L1, L3)."""
    if turn.starved:
        return starved()
    if claim.coordinator and turn.has_left(claim.coordinator):
        raise planning.coordinator_left(turn.standing.epoch, claim.coordinator)
    taken: set[bytes] = set()
    statement = _SUSPECTS if claim.suspects_only else _FRONTIER
    leases = _lease_rows(turn, claim, statement, (), "pending", taken)
    standing = turn.standing
    standing.pending -= len(leases)
    standing.leased += len(leases)
    if claim.with_deferred and len(leases) < claim.limit and standing.deferred:
        suspect = (int(claim.suspects_only),)
        late = _lease_rows(turn, claim, _DEFERRED, suspect, "deferred", taken)
        standing.deferred -= len(late)
        standing.leased += len(late)
        leases += late
    waits = standing.pending or (claim.with_deferred and standing.deferred)
    if waits and not leases:
        turn.doubts_counts = True
    return Claimed(tuple(leases))


def _lease_rows(
    turn: Turn,
    claim: Claim,
    statement: str,
    first: tuple[int, ...],
    state: str,
    taken: set[bytes],
) -> list[Lease]:
    """Lease up to the limit in pages; rows of a state that is leased already stay as they are."""
    leases: list[Lease] = []
    changes: list[tuple[int, int, int, str, int]] = []
    epoch = turn.standing.epoch
    place, last = _BEFORE_ALL, 0
    room = claim.limit - len(taken)
    while room > 0:
        rows = turn.cursor.execute(statement, (*first, place, last, room)).fetchall()
        for row in rows:
            if row[2] not in taken:
                taken.add(row[2])
                leases.append(_lease_of(turn, row))
                changes.append((epoch, claim.coordinator, row[0], state, row[4]))
        if len(rows) < room:
            break
        place, last = rows[-1][9], rows[-1][0]
        room = claim.limit - len(taken)
    if changes:
        turn.lease(changes)
    return leases


def _lease_of(turn: Turn, row: _Row) -> Lease:
    """Return the lease of a row whose ids and bytes were checked against it (A1, A4)."""
    _, work, state, payload, fence, deliveries, blames, suspect, cost_us, _, digest, data = row
    work_id = WorkId(work.hex())
    state_id = StateId(work_id if state == work else state.hex())
    try:
        verify_row(work_id, state_id, payload, digest, data)
    except DataError as error:
        raise planning.damaged(error, f"work {work_id}") from error
    assert data is not None
    return Lease(
        work_id=work_id,
        state_id=state_id,
        token=FencingToken(turn.standing.epoch, Fence(fence + 1)),
        payload=payload,
        data=data,
        deliveries=deliveries + 1,
        blames=blames,
        suspect=bool(suspect),
        cost_us=cost_us,
    )


def verify_row(
    work_id: WorkId, state_id: StateId, payload: bytes, digest: bytes | None, data: bytes | None
) -> None:
    """Check a stored row against its own ids and its input's bytes; raise DataError."""
    if digest is None or data is None:
        raise DataError("its input is missing", why="no row holds its bytes")
    input_id = InputId(digest.hex())
    planning.check_item(payload, work_id, state_id, input_id)
    planning.check_name(input_id, data)
