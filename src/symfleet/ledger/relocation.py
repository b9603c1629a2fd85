"""Move a campaign's truth from SQLite to a PostgreSQL server, or back: copy, prove, switch."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from symfleet.clock import Clock
from symfleet.config.ledger_address import SQLITE, check_address, is_postgres
from symfleet.errors import UserError
from symfleet.ledger.copying import Tell, copy_store, failing
from symfleet.ledger.database import LEDGER_NAME
from symfleet.ledger.filesystem import check_filesystem
from symfleet.ledger.moving import COPY_NAME, Move, is_moving, move, retired_files
from symfleet.ledger.opener import OwnerRequest
from symfleet.ledger.owner_lock import Holder, acquire
from symfleet.ledger.places import own_ledger, where_is
from symfleet.ledger.postgres_address import LedgerAddress, read_address
from symfleet.ledger.sqlite_tables import SqliteCopy, open_tables
from symfleet.ledger.tables import CopyTarget, TableDigest, TableReader
from symfleet.types import CampaignId


class Relocated(msgspec.Struct, frozen=True):
    """How a campaign moved: where it lives now, and what it has left. `tables` is empty when only
    the end of an earlier call was to be done."""

    now: str
    left: str
    tables: tuple[TableDigest, ...]


def relocate(out: Path, to: str, request: OwnerRequest, clock: Clock, tell: Tell) -> Relocated:
    """Copy the ledger of a campaign that rests to `to` (`sqlite` or the address of a server), prove
    that both are equal, and let the campaign live there.

    Killed at any instant, the same call goes on where it was, and until its end the campaign is as
    it was. Raises UserError when `to` is no place to go, BusyError when the campaign is live,
    HostError, IOFailure, and IntegrityError when either store is damaged.
    """
    _check_place(to)
    moving, retired = is_moving(out), retired_files(out)
    # The start check of every owner: it finishes a noted move, and brings the schema up to date.
    with contextlib.closing(own_ledger(out, request, clock)) as ledger:
        campaign = ledger.status().campaign.campaign
    stored = read_address(out)
    if (stored is not None) == is_postgres(to):
        if moving and (stored is None or stored.url == to):
            new = [str(path.absolute()) for path in retired_files(out) if path not in retired]
            return Relocated(where_is(out), ", ".join(new or map(str, retired)), ())
        raise _there_already(out, to)
    with contextlib.ExitStack() as held:
        holder = Holder(request.host, request.pid, 0, clock.wall())
        held.callback(acquire(out, holder, clock, request.lock_wait_s).close)
        source = _open_source(out, campaign, request, clock)
        # Until the end: on a server it keeps others from writing to what the campaign leaves.
        held.callback(source.close)
        with contextlib.closing(_open_target(out, to, campaign, request, clock)) as target:
            tables = copy_store(source, target, out, tell)
        with failing(source.where):
            source.tables()  # A session that has ended meanwhile has kept nobody away.
        tell("moving the campaign")
        left = move(out, Move(to, campaign))
    return Relocated(where_is(out), left, tables)


def _check_place(to: str) -> None:
    if is_postgres(to):
        check_address(to)
    elif to != SQLITE:
        raise UserError(
            "a ledger cannot be copied there",
            where="--to",
            why="it must be `sqlite` or the address of a PostgreSQL database",
            hint="for example --to postgresql://user@host:5432/database",
        )


def _there_already(out: Path, to: str) -> UserError:
    hint = "nothing is to be done; `symfleet ledger backup` makes a copy beside it"
    if is_postgres(to):
        hint = (
            "when the server has moved, `symfleet resume OUT --ledger URL` goes on there; to"
            " another server, copy to sqlite first"
        )
    return UserError(
        "the campaign's ledger is of this kind already",
        where=str(out),
        why=where_is(out),
        hint=hint,
    )


def _open_source(
    out: Path, campaign: CampaignId, request: OwnerRequest, clock: Clock
) -> TableReader:
    stored = read_address(out)
    if stored is None:
        return open_tables(out / LEDGER_NAME)
    from symfleet.ledger.postgres_connection import schema_of
    from symfleet.ledger.postgres_tables import own_tables

    address = LedgerAddress(stored.url, schema_of(campaign))
    return own_tables(address, campaign, request.lock_wait_s, clock)


def _open_target(
    out: Path, to: str, campaign: CampaignId, request: OwnerRequest, clock: Clock
) -> CopyTarget:
    if not is_postgres(to):
        check_filesystem(out, allow_fuse=request.allow_fuse)
        return SqliteCopy(out / COPY_NAME)
    from symfleet.ledger.postgres_connection import schema_of
    from symfleet.ledger.postgres_tables import open_copy

    return open_copy(LedgerAddress(to, schema_of(campaign)), campaign, request.lock_wait_s, clock)
