"""Where a campaign's ledger is: a file of its folder, or a schema on a PostgreSQL server.

`ledger` is the setting of that name: empty means "where it is, and for a new campaign the folder".
The folder says where it is: OUT/ledger.url names a server, else it is OUT/ledger.db. While a move
from one to the other has no end (`moving`), OUT/ledger.moving does, and an owner makes the end.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from symfleet.clock import Clock
from symfleet.config.ledger_address import SQLITE, LedgerAccess, is_postgres
from symfleet.errors import IntegrityError, UserError
from symfleet.ledger import opener
from symfleet.ledger.contract import CampaignRow, Ledger, LedgerReader
from symfleet.ledger.database import LEDGER_NAME
from symfleet.ledger.faults import NotReadyError
from symfleet.ledger.moving import finish_move, is_moving, refuse_unfinished
from symfleet.ledger.opener import OwnerRequest
from symfleet.ledger.owner_lock import Holder, acquire
from symfleet.ledger.postgres_address import ADDRESS_NAME, read_address

if TYPE_CHECKING:
    from symfleet.ledger.postgres_attached import AttachedLedger, AttachRequest


def create_ledger(
    out: Path, campaign: CampaignRow, request: OwnerRequest, clock: Clock, ledger: str = ""
) -> Ledger:
    """Make the ledger of a new campaign and own it; errors as of `opener.create`."""
    if is_postgres(ledger):
        from symfleet.ledger import postgres_opener

        return postgres_opener.create(out, campaign, request, clock, ledger)
    return opener.create(out, campaign, request, clock)


def own_ledger(out: Path, request: OwnerRequest, clock: Clock, ledger: str = "") -> Ledger:
    """Own an existing ledger; errors as of `opener.open_owner`. Raises UserError when `ledger`
    asks for another kind than the campaign has."""
    if is_moving(out):
        holder = Holder(request.host, request.pid, 0, clock.wall())
        with contextlib.closing(acquire(out, holder, clock, request.lock_wait_s)):
            finish_move(out)
    if _is_on_a_server(out):
        if ledger == SQLITE:
            raise _other_kind(out)
        from symfleet.ledger import postgres_opener

        return postgres_opener.open_owner(out, request, clock, ledger)
    if is_postgres(ledger) and (out / LEDGER_NAME).exists():
        raise _other_kind(out)
    return opener.open_owner(out, request, clock)


def read_ledger(out: Path) -> LedgerReader:
    """Open a ledger for reading, live or not; errors as of `opener.open_reader`."""
    if _is_on_a_server(out):
        from symfleet.ledger import postgres_opener

        return postgres_opener.open_reader(out)
    return opener.open_reader(out)


def make_ready(out: Path, request: OwnerRequest, clock: Clock, ledger: str = "") -> None:
    """Bring a ledger to where it can be read: finish a move, bring an older schema up to date, note
    the address `ledger` that its server has now. Nothing is done when nothing is due.

    Raises BusyError when a live job owns a ledger for which something is due, UserError when
    `ledger` is of another kind; all other errors are those of `own_ledger` and of readers."""
    stored = read_address(out)
    if ledger and ledger != (SQLITE if stored is None else stored.url):
        own_ledger(out, request, clock, ledger).close()
    try:
        read_ledger(out).close()
    except NotReadyError:
        own_ledger(out, request, clock).close()


def where_is(out: Path) -> str:
    """Return where a campaign's ledger is, for people."""
    stored = read_address(out)
    if stored is None:
        return str((out / LEDGER_NAME).absolute())
    return f"{stored.url} schema symfleet_{stored.campaign}"


def attach_ledger(access: LedgerAccess, request: AttachRequest, clock: Clock) -> AttachedLedger:
    """Write to a campaign's ledger beside its owner, over an own connection; errors as of
    `postgres_attached.attach`. The owner tells `access` (`Ledger.access`)."""
    from symfleet.ledger import postgres_attached

    return postgres_attached.attach(access, request, clock)


def _is_on_a_server(out: Path) -> bool:
    refuse_unfinished(out)
    if not (out / ADDRESS_NAME).exists():
        return False
    if (out / LEDGER_NAME).exists():
        raise IntegrityError(
            "the campaign's folder has two ledgers",
            where=str(out),
            why=f"{LEDGER_NAME} and {ADDRESS_NAME} are both there; the latter says {where_is(out)}",
            hint="put away the one that does not belong here: that of another campaign, or the one"
            " that this campaign has left",
        )
    return True


def _other_kind(out: Path) -> UserError:
    return UserError(
        "the campaign has a ledger of another kind",
        where=str(out),
        why=f"it lives in {where_is(out)}",
        hint="leave --ledger out; `symfleet ledger copy OUT --to ...` moves a campaign",
    )
