"""Counts that must fit the rows they count.

Theory of operation. A campaign waits for what is counted: as long as a row is counted as open, or
an artefact as not published, no vote ends it. If such a row is gone, it would wait for ever, and
nobody would be told. So whoever meets what a sound ledger shows seldom doubts the counts: a claim
that finds nothing though rows are counted, a token that holds no row, a takeover, a sink that has
shown all there is though more is counted; and each vote does. At the end of its turn one statement
then reads counts and rows together, and damage ends the turn. In all other turns nothing is asked.

It is no false alarm, ever. Each transaction changes rows and counts alike, and a statement sees all
of a transaction or nothing of it: beside other coordinators, too, whose locked rows are still there
and still counted. What this turn itself has changed is in its rows but not yet in the stored
counts, and is added to them. Rows that no claim may take now (suspects, states with a holder) are
rows all the same.
"""

from __future__ import annotations

from symfleet.errors import IntegrityError
from symfleet.ledger.standing import COUNTED
from symfleet.ledger.turn_rows import Turn


def check_counts(turn: Turn) -> None:
    """Raise IntegrityError unless open rows and artefacts are what is counted (C9)."""
    found = turn.count_rows()
    if found is None:
        raise _damaged("the ledger's counts are missing", "standing", "its row is missing")
    pending, leased, deferred, artefacts, has_pending, leased_rows, has_deferred, last = found
    added = dict(zip(COUNTED, turn.added(), strict=True))
    pending += added["pending"]
    deferred += added["deferred"]
    artefacts += added["corpus"] + added["crashes"] + added["hangs"]
    _require_any("pending", pending, found=bool(has_pending))
    require_rows("leased", leased + added["leased"], leased_rows)
    _require_any("deferred", deferred, found=bool(has_deferred))
    if artefacts != last:
        told = f"{artefacts} counted, {last} found"
        raise _damaged("a counter is wrong", "artefacts", told)


def require_rows(state: str, counted: int, found: int) -> None:
    """Raise IntegrityError unless so many rows of a state were found as are counted."""
    if counted != found:
        raise _wrong_rows(state, f"{counted} counted, {found} found")


def _require_any(state: str, counted: int, *, found: bool) -> None:
    """Rows of a state may be many: that there is one, or none, is enough. As long as one is left,
    the campaign goes on, and what is missing is met when none is."""
    if (counted != 0) != found:
        raise _wrong_rows(state, f"{counted} counted, {'some' if found else 'none'} found")


def _wrong_rows(state: str, why: str) -> IntegrityError:
    return _damaged("a count of work rows is wrong", f"standing {state}", why)


def _damaged(what: str, where: str, why: str) -> IntegrityError:
    """Return the damage; nothing of the turn that met it is kept."""
    return IntegrityError(
        what,
        where=where,
        why=why,
        hint="nothing was changed; run `symfleet verify`, then restore a backup of the ledger",
    )
