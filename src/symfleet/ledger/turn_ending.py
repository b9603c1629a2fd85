"""Sources, sinks, the vote and the end of an epoch in the SQLite store."""

from __future__ import annotations

import json
from typing import Final

from symfleet.ledger import plan as planning
from symfleet.ledger.standing import published_nth
from symfleet.ledger.statements import load
from symfleet.ledger.turn_rows import Turn
from symfleet.protocol.answers import Audited, Counted, Marked, Quiesced
from symfleet.protocol.operations import (
    AuditLeases,
    CloseEpoch,
    CommitQuiescence,
    CountFaults,
    CountSkips,
    MarkPublished,
    RecordAck,
    SetSource,
)
from symfleet.types import Epoch, Fence, FencingToken, Incarnation, SinkKind, WorkId

_SQL: Final = load("turn")
_FIND_SOURCE: Final = _SQL["find_source"]
_SET_SOURCE: Final = _SQL["set_source"]
_OPEN_SOURCES: Final = _SQL["open_sources"]
_FIND_SINK: Final = _SQL["find_sink"]
_SET_MARK: Final = _SQL["set_mark"]
_HELD_LEASES: Final = _SQL["held_leases"]
_SET_QUIESCENT: Final = _SQL["set_quiescent"]
_PUT_ACK: Final = _SQL["put_ack"]
_SET_IDLE_WINDOW: Final = _SQL["set_idle_window"]
_CLOSE_EPOCH: Final = _SQL["close_epoch"]


def count_faults(turn: Turn, faults: CountFaults) -> Counted:
    """Add to fault counters (D8)."""
    for name, reason, amount in faults.faults:
        turn.standing.fault(faults.coordinator, name, reason, amount)
    return Counted()


def count_skips(turn: Turn, skips: CountSkips) -> Counted:
    """Count inputs that were not admitted."""
    for reason, amount in skips.reasons:
        turn.standing.count(0, f"skipped_inputs.{reason}", amount)
    return Counted()


def set_source(turn: Turn, change: SetSource) -> Counted:
    """Open or close a source; an opened one voids a vote."""
    found = turn.cursor.execute(_FIND_SOURCE, (change.source,)).fetchone()
    if found is None:
        raise planning.unknown("source", change.source)
    if bool(found[0]) != change.is_open:
        turn.change_one(_SET_SOURCE, (int(change.is_open), change.source))
        turn.standing.changes += int(change.is_open)
    return Counted()


def mark_published(turn: Turn, mark: MarkPublished) -> Marked:
    """Move a sink's mark by compare-and-set (C6, C7)."""
    found = turn.cursor.execute(_FIND_SINK, (mark.sink,)).fetchone()
    if found is None:
        raise planning.unknown("sink", mark.sink)
    planning.check_mark(mark, turn.standing.artefacts)
    if mark.sink not in turn.standing.published:
        return Marked("stale")  # nobody registered it in this epoch: its publisher is dead
    kind, incarnation, upto = found
    current = Incarnation(int.from_bytes(incarnation, "big"))
    disposition = planning.mark_disposition(mark, current, upto)
    if disposition == "completed":
        turn.change_one(_SET_MARK, (mark.published_upto, mark.sink, incarnation, upto))
        kind = SinkKind(kind)
        nth = published_nth(turn.connection, kind, mark.published_upto)
        turn.standing.published[mark.sink] = (kind, nth)
        if mark.published_upto == turn.standing.artefacts:
            turn.doubts_counts |= turn.standing.artefacts_of(kind) != nth
    return Marked(disposition)


def audit_leases(turn: Turn, audit: AuditLeases) -> Audited:
    """Compare the leased rows of this epoch with a coordinator's claim table."""
    rows = turn.cursor.execute(_HELD_LEASES, (turn.standing.epoch, audit.coordinator))
    leased = {
        (WorkId(work.hex()), FencingToken(Epoch(epoch), Fence(fence)))
        for work, epoch, fence in rows.fetchall()
    }
    held = set(audit.held)
    turn.doubts_counts |= not held <= leased
    return Audited(
        orphaned=tuple(sorted(work_id for work_id, _ in leased - held)),
        unknown=tuple(sorted(work_id for work_id, _ in held - leased)),
    )


def commit_quiescence(turn: Turn, commit: CommitQuiescence) -> Quiesced:
    """Commit the vote if nothing forbids it (C10, Q2, Q3)."""
    standing = turn.standing
    turn.doubts_counts = True
    sources = turn.cursor.execute(_OPEN_SOURCES, (standing.epoch,)).fetchone()[0]
    reason = planning.why_not_quiescent(
        pending=standing.pending,
        leased=standing.leased,
        deferred=standing.deferred,
        unpublished=standing.unpublished,
        open_sources=sources,
        changes=standing.changes,
        voted=commit.changes,
    )
    if reason:
        return Quiesced(committed=False, reason=reason)
    turn.change_one(_SET_QUIESCENT, (commit.members, standing.epoch))
    standing.quiescent = True
    return Quiesced(committed=True)


def record_ack(turn: Turn, ack: RecordAck) -> Counted:
    """Record which slots were acknowledged (Q4). The root measures the idle window."""
    epoch = turn.standing.epoch
    missing = json.dumps(ack.missing)
    turn.cursor.execute(_PUT_ACK, (epoch, ack.coordinator, ack.acknowledged, ack.total, missing))
    if ack.coordinator == 0:
        turn.change_one(_SET_IDLE_WINDOW, (ack.idle_window_s, epoch))
    return Counted()


def close_epoch(turn: Turn, close: CloseEpoch) -> Counted:
    """Write the verdict."""
    standing = turn.standing
    if standing.closed is not None:
        raise planning.closed_before(standing.epoch, standing.closed)
    turn.change_one(_CLOSE_EPOCH, (close.reason, close.exit_code, turn.wall, standing.epoch))
    standing.closed = close.reason
    return Counted()
