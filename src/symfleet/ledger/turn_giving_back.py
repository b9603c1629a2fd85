"""Releases, deferrals, blame and takeover of a store of rows. Only holders change a row (L2)."""

from __future__ import annotations

import json
from typing import Final

from symfleet.ledger import plan as planning
from symfleet.ledger.statements import load
from symfleet.ledger.turn_rows import Turn
from symfleet.protocol.answers import Blamed, Changed, TakenOver
from symfleet.protocol.operations import Blame, Defer, Release, TakeOver
from symfleet.types import FencingToken, WorkId

_SQL: Final = load("turn")
_HELD_WORK: Final = _SQL["held_work"]
_RELEASE_WORK: Final = _SQL["release_work"]
_PUT_BLAME: Final = _SQL["put_blame"]
_COUNT_BLAMES: Final = _SQL["count_blames"]
_BLAME_WORK: Final = _SQL["blame_work"]

_PUT_ACK: Final = _SQL["put_ack"]

_Held = tuple[int, int, int, int, int, int, str]


def _held(turn: Turn, work_id: WorkId, token: FencingToken) -> _Held | None:
    """Return (work, coordinator, losses, suspect, deferrals, place, detail) to the holder only."""
    if token.epoch != turn.standing.epoch:
        return None
    key = (bytes.fromhex(work_id), token.epoch, token.fence)
    found: _Held | None = turn.cursor.execute(_HELD_WORK, key).fetchone()
    if found is None:
        turn.not_held(work_id, token)
    return found


def _left(turn: Turn, *, poisoned: bool) -> str:
    """Count a lease that ends undecided; return the row's next state."""
    standing = turn.standing
    standing.leased -= 1
    standing.changes += 1
    if poisoned:
        standing.poisoned += 1
        return "poisoned"
    standing.pending += 1
    return "pending"


def is_plain(release: Release) -> bool:
    """Whether a release changes the state of its row only."""
    lost = release.ran and release.cause in planning.LOSS_CAUSES
    return not lost and not release.at_head and release.cause != "protocol"


def release(turn: Turn, release: Release) -> Changed:
    """Give a lease back, unblamed."""
    if is_plain(release):
        return _give_back(turn, release)
    held = _held(turn, release.work_id, release.token)
    if held is None:
        return Changed(changed=False)
    work, coordinator, losses, suspect, deferrals, place, detail = held
    after = planning.after_release(losses, release, suspect=bool(suspect))
    if release.at_head:
        place = planning.head_place(turn.standing.changes)
    if release.cause == "protocol":
        turn.standing.fault(coordinator, "protocol_requeued", "", 1)
    state = _left(turn, poisoned=after.poisoned)
    turn.standing.suspects += after.suspect - suspect
    history = (after.losses, int(after.suspect), deferrals, place, after.detail or detail)
    token = (release.token.epoch, release.token.fence)
    turn.change_one(_RELEASE_WORK, (state, *history, work, *token))
    return Changed(changed=True, poisoned=after.poisoned)


def _give_back(turn: Turn, release: Release) -> Changed:
    """The common case: only the state changes."""
    token = release.token
    if token.epoch != turn.standing.epoch:
        return Changed(changed=False)
    if not turn.give_back(release.work_id, token):
        turn.not_held(release.work_id, token)
        return Changed(changed=False)
    _left(turn, poisoned=False)
    return Changed(changed=True)


def defer(turn: Turn, defer: Defer) -> Changed:
    """Spend the last retry of this epoch (J8)."""
    held = _held(turn, defer.work_id, defer.token)
    if held is None:
        return Changed(changed=False)
    work, coordinator, losses, suspect, deferrals, place, _ = held
    deferrals += 1
    poisoned = deferrals >= planning.DEFERRALS_TO_POISON
    state = _left(turn, poisoned=poisoned)
    if not poisoned:
        state = "deferred"
        turn.standing.pending -= 1
        turn.standing.deferred += 1
    turn.standing.fault(coordinator, "protocol_deferred", "", 1)
    history = (losses, suspect, deferrals, place, defer.reason)
    token = (defer.token.epoch, defer.token.fence)
    turn.change_one(_RELEASE_WORK, (state, *history, work, *token))
    return Changed(changed=True, poisoned=poisoned)


def blame(turn: Turn, blame: Blame) -> Blamed:
    """Record that an executor died while it ran the item; three executors poison it."""
    held = _held(turn, blame.work_id, blame.token)
    if held is None:
        return Blamed(changed=False, blames=0, poisoned=False)
    work, coordinator = held[:2]
    executor = blame.executor.to_bytes(8, "big")
    turn.cursor.execute(_PUT_BLAME, (work, executor, blame.token.epoch, blame.detail))
    blames = int(turn.cursor.execute(_COUNT_BLAMES, (work,)).fetchone()[0])
    poisoned = blames >= planning.BLAMES_TO_POISON
    state = _left(turn, poisoned=poisoned)
    turn.standing.fault(coordinator, "blames", "", 1)
    token = (blame.token.epoch, blame.token.fence)
    turn.change_one(_BLAME_WORK, (state, blames, blame.detail, work, *token))
    return Blamed(changed=True, blames=blames, poisoned=poisoned)


def take_over(turn: Turn, take: TakeOver) -> TakenOver:
    """Take the leases of a lost coordinator, whose claims are refused from now on (L2)."""
    standing, coordinator = turn.standing, take.coordinator
    missing = json.dumps((planning.coordinator_name(coordinator),))
    turn.cursor.execute(_PUT_ACK, (standing.epoch, coordinator, 0, 0, missing))
    taken = turn.take_over(coordinator)
    turn.doubts_counts = True  # a lease that is gone has no holder any more who would miss it
    if taken:
        standing.leased -= taken
        standing.pending += taken
        standing.changes += taken
        standing.fault(coordinator, "leases_recovered", "takeover", taken)
    return TakenOver(taken)
