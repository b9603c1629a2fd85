"""Epochs, sources, sinks and re-arming in the SQLite store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from symfleet import crash
from symfleet.ledger.contract import EpochRequest
from symfleet.ledger.plan import sink_incarnation
from symfleet.ledger.rows import Cursor
from symfleet.ledger.standing import Standing, published_nth
from symfleet.ledger.statements import load
from symfleet.ledger.tally import chain_start
from symfleet.ledger.turn_counts import require_rows
from symfleet.protocol.answers import SinkRow
from symfleet.types import CampaignId, Epoch, SinkKind, WorkId

_SQL: Final = load("opening")
LAST_DECISION: Final = load("reading")["last_decision"]


def open_epoch(
    cursor: Cursor, standing: Standing, campaign: CampaignId, request: EpochRequest
) -> tuple[int, int]:
    """Write the next epoch row; return how many leases were void and how many rows re-armed.

    The lock proves that the older leases' owners are dead; no time is compared (L4, L5).
    """
    recovered = cursor.execute(_SQL["void_leases"]).rowcount
    rearmed = cursor.execute(_SQL["rearm_deferred"]).rowcount
    require_rows("leased", standing.leased, recovered)
    require_rows("deferred", standing.deferred, rearmed)
    (redone,) = cursor.execute(_SQL["unpublished_decisions"]).fetchone()
    last = cursor.execute(LAST_DECISION).fetchone()
    epoch = Epoch(standing.epoch + 1)
    start = chain_start(
        campaign, epoch, request.coordinator, standing.decisions, last[1] if last else b""
    )
    cursor.execute(
        _SQL["put_epoch"],
        (
            epoch,
            request.coordinator.to_bytes(8, "big"),
            request.now_wall,
            request.host,
            request.pid,
            request.command_line,
            request.version,
            request.config_toml,
            recovered,
            standing.decisions,
            start,
        ),
    )
    standing.epoch = epoch
    standing.incarnation = request.coordinator
    standing.quiescent, standing.closed = False, None
    standing.chain = start
    standing.published = {}
    standing.pending += recovered + rearmed
    standing.leased -= recovered
    standing.deferred -= rearmed
    standing.changes += 1
    if recovered:
        standing.fault(0, "leases_recovered", "", recovered)
    if redone:
        # Their files are not all known to be durable: this epoch publishes them again (C5).
        standing.fault(0, "redone_decisions", "", redone)
    crash.point("epoch.applied")
    return recovered, rearmed


def register_source(cursor: Cursor, epoch: Epoch, key: tuple[str, str, str]) -> int:
    """Open a source (kind, path, host) in this epoch; return its number."""
    cursor.execute(_SQL["put_source"], (*key, epoch))
    return int(cursor.execute(_SQL["find_source"], key).fetchone()[0])


def register_sink(
    cursor: Cursor,
    standing: Standing,
    campaign: CampaignId,
    key: tuple[SinkKind, str, str],
) -> SinkRow:
    """Open a sink (kind, path, host) in this epoch under an incarnation that it never had."""
    kind, path, host = key
    found = cursor.execute(_SQL["find_sink"], (kind.value, path, host)).fetchone()
    if found is None:
        found = (int(cursor.execute(_SQL["last_sink"]).fetchone()[0]) + 1, 0, 0)
    sink, registrations, upto = found
    incarnation = sink_incarnation(campaign, standing.epoch, sink, registrations + 1)
    values = (standing.epoch, registrations + 1, incarnation.to_bytes(8, "big"))
    cursor.execute(_SQL["put_sink"], (sink, kind.value, path, host, *values))
    standing.published[sink] = (kind, published_nth(cursor.connection, kind, upto))
    return SinkRow(sink, kind, host, path, incarnation, upto)


def rearm(cursor: Cursor, standing: Standing, work_ids: Sequence[WorkId]) -> int:
    """Make poisoned rows pending again with their history forgotten; return how many."""
    rearmed = 0
    for work_id in work_ids:
        found = cursor.execute(_SQL["find_poisoned"], (bytes.fromhex(work_id),)).fetchone()
        if found is None:
            continue
        work, suspect = found
        cursor.execute(_SQL["forget_blames"], (work,))
        rearmed += cursor.execute(_SQL["rearm_work"], (work,)).rowcount
        standing.suspects -= suspect
    standing.poisoned -= rearmed
    standing.pending += rearmed
    standing.changes += rearmed
    return rearmed


def drop_unnamed(cursor: Cursor) -> int:
    """Remove inputs that no artefact names; return how many."""
    return cursor.execute(_SQL["drop_unnamed"]).rowcount
