"""Create a ledger on PostgreSQL, open it as owner, open it as reader.

A campaign has a schema of its own. It is made in one transaction, and OUT/ledger.url is written
afterwards: a kill between the two leaves a schema that nothing names, and no campaign.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from symfleet import crash
from symfleet.clock import Clock
from symfleet.config.ledger_address import check_address
from symfleet.corpus.durable import make_folder
from symfleet.errors import HostError, IntegrityError, UserError
from symfleet.ledger import highwater
from symfleet.ledger.audit import start_check
from symfleet.ledger.contract import CampaignRow
from symfleet.ledger.copies import campaign_values, check_after_failure, is_older_copy
from symfleet.ledger.faults import other_version, reading, retired_ledger, unfinished_copy
from symfleet.ledger.opener import OwnerRequest, refuse_second
from symfleet.ledger.owner_lock import Holder, acquire
from symfleet.ledger.postgres import PostgresLedger
from symfleet.ledger.postgres_address import (
    ADDRESS_NAME,
    LedgerAddress,
    StoredAddress,
    read_address,
    write_address,
)
from symfleet.ledger.postgres_connection import (
    LockKeys,
    PostgresConnection,
    connect,
    lock_keys,
    retired_prefix,
    schema_of,
)
from symfleet.ledger.postgres_faults import no_rights
from symfleet.ledger.postgres_owner import Ownership, take_lock
from symfleet.ledger.postgres_statements import SESSION, postgres_migrations
from symfleet.ledger.row_reading import RowReading, read_campaign
from symfleet.ledger.statements import load

_OPENING: Final = load("opening")
_TURN: Final = load("turn")
_READ: Final = load("reading")
_OLDEST_SERVER: Final = 140_000


def create(
    out: Path, campaign: CampaignRow, request: OwnerRequest, clock: Clock, url: str
) -> PostgresLedger:
    """Make the ledger of a new campaign and own it.

    Raises UserError when the folder has one or the address is bad, BusyError, HostError, IOFailure.
    """
    check_address(url)
    make_folder(out)
    holder = Holder(request.host, request.pid, 0, clock.wall())
    lock = acquire(out, holder, clock, request.lock_wait_s)
    try:
        refuse_second(out)
        address = LedgerAddress(url, schema_of(campaign.campaign))
        session = connect(address)
        try:
            backend = check_server(session, address, creates=True)
            keys = lock_keys(campaign.campaign)
            take_lock(session, address, keys.owner, clock, request.lock_wait_s)
            _make_schema(session, address, campaign)
            crash.point("create.written")
            write_address(out, StoredAddress(url, campaign.campaign))
            crash.point("create.named")
            ownership = _owned(address, keys, session, backend)
            ownership.tell(holder)
            return PostgresLedger(ownership, out, clock, lock)
        except BaseException:
            session.close()
            raise
    except BaseException:
        lock.close()
        raise


def open_owner(out: Path, request: OwnerRequest, clock: Clock, url: str = "") -> PostgresLedger:
    """Own an existing ledger after the start check; `url`: where its server is now, when it moved.

    Raises BusyError when another job owns it, IntegrityError for damage or an older copy,
    DataError for one of another version, HostError, IOFailure. A refused ledger is left as it was.
    """
    stored, address = _address_of(out, url)
    holder = Holder(request.host, request.pid, 0, clock.wall())
    lock = acquire(out, holder, clock, request.lock_wait_s)
    try:
        session = connect(address)
        try:
            backend = check_server(session, address, creates=False)
            keys = lock_keys(stored.campaign)
            take_lock(session, address, keys.owner, clock, request.lock_wait_s)
            older = _check_before_writing(session, address, out, stored, request.accept_older)
            crash.point("epoch.checked")
            if older and request.accept_older is not None:
                session.execute(_OPENING["accept_older"], (request.accept_older,))
                (out / highwater.HIGHWATER_NAME).unlink(missing_ok=True)
            if stored.url != address.url:
                write_address(out, StoredAddress(address.url, stored.campaign))
            ownership = _owned(address, keys, session, backend)
            ownership.tell(holder)
            ledger = PostgresLedger(ownership, out, clock, lock)
            check_after_failure(ledger, out)
        except BaseException:
            session.close()
            raise
    except BaseException:
        lock.close()
        raise
    return ledger


def open_reader(out: Path) -> RowReading:
    """Open a ledger for reading, live or not; raise DataError, IntegrityError, HostError."""
    _, address = _address_of(out, "")
    session = connect(address, read_only=True)
    try:
        check_schema(session, address)
        return RowReading(session, address.shown)
    except BaseException:
        session.close()
        raise


def _owned(
    address: LedgerAddress, keys: LockKeys, session: PostgresConnection, backend: int
) -> Ownership:
    return Ownership(address, keys, secrets.token_bytes(16), session, backend, keys.owner)


def _address_of(out: Path, url: str) -> tuple[StoredAddress, LedgerAddress]:
    stored = read_address(out)
    if stored is None:
        raise UserError(
            "the campaign's ledger is not on PostgreSQL",
            where=str(out),
            why=f"the folder has no {ADDRESS_NAME}",
            hint="leave --ledger out; `symfleet ledger copy OUT --to ...` moves a campaign",
        )
    return stored, LedgerAddress(check_address(url or stored.url), schema_of(stored.campaign))


def check_server(session: PostgresConnection, address: LedgerAddress, *, creates: bool) -> int:
    """Refuse a server that cannot keep a ledger; return the number of our session."""
    version, fsync, full_pages, is_standby, backend, may_create = session.execute(
        SESSION["server"]
    ).fetchone()
    refusals = (
        (version < _OLDEST_SERVER, f"it has version {version // 10_000}", "use PostgreSQL 14+"),
        (fsync != "on", "its setting fsync is off: it loses what it calls durable", "turn it on"),
        (full_pages != "on", "its setting full_page_writes is off", "turn it on"),
        (is_standby, "it is a standby that only reads", "give the primary's address"),
    )
    for refused, why, hint in refusals:
        if refused:
            raise HostError(
                "this PostgreSQL server cannot keep a ledger",
                where=address.shown,
                why=why,
                hint=hint,
            )
    if creates and not may_create:
        why = "the role may not create a schema in this database"
        raise no_rights(address.shown, why)
    return int(backend)


@contextlib.contextmanager
def one_transaction(session: PostgresConnection, begin: str) -> Iterator[None]:
    """Run the block in one transaction."""
    session.execute(begin)
    try:
        yield
        session.execute(_READ["end"])
    except BaseException:
        if session.in_transaction:
            session.roll_back()
        raise


def _make_schema(
    session: PostgresConnection, address: LedgerAddress, campaign: CampaignRow
) -> None:
    if has_schema(session, address):
        raise UserError(
            "the server has this campaign already",
            where=address.shown,
            why="a schema of this name exists",
            hint="a campaign is created once",
        )
    with one_transaction(session, _TURN["begin"]):
        session.script(f'CREATE SCHEMA "{address.schema}"')
        migrate(session, 0)
        session.execute(_OPENING["put_campaign"], campaign_values(campaign))
        session.execute(_OPENING["put_standing"])


def migrate(session: PostgresConnection, version: int) -> None:
    """Bring the schema from a version to the newest, inside the caller's transaction."""
    scripts = postgres_migrations()
    for script in scripts[version:]:
        session.script(script)
    session.execute(SESSION["put_version"], (len(scripts), _digest_of(session)))


def _digest_of(session: PostgresConnection) -> str:
    """Return a digest of everything that the server's catalogue holds about the schema."""
    rows = session.execute(SESSION["catalogue"]).fetchall()
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def has_schema(session: PostgresConnection, address: LedgerAddress) -> bool:
    """Whether the database has a schema of the campaign's name."""
    return bool(session.execute(SESSION["has_schema"], (address.schema,)).fetchone()[0])


def is_marked(session: PostgresConnection) -> bool:
    """Whether the schema is an unfinished copy."""
    return bool(session.execute(SESSION["has_mark"]).fetchone()[0])


def stored_version(session: PostgresConnection, address: LedgerAddress) -> tuple[int, str]:
    """Return the number of the stored schema and the digest of what it was made to be; refuse a
    database that does not have it."""
    if not has_schema(session, address):
        retired = session.execute(SESSION["retired"], (retired_prefix(address),)).fetchone()
        if retired is not None:
            raise retired_ledger(address.shown, f"schema {retired[0]}: {retired[1]}")
        raise IntegrityError(
            "the ledger is not on this server",
            where=address.shown,
            why="the database has no schema of this name",
            hint="correct the address with --ledger, or restore a backup of the database",
        )
    if not session.execute(SESSION["may_use_schema"], (address.schema,)).fetchone()[0]:
        raise no_rights(address.shown, "the role may not use the campaign's schema")
    if not session.execute(SESSION["has_version"]).fetchone()[0]:
        raise IntegrityError(
            "the ledger's schema was changed",
            where=address.shown,
            why="its table schema_version is missing",
            hint="nothing was changed; restore a backup of the database",
        )
    version, digest = session.execute(SESSION["version"]).fetchone()
    return version, digest


def check_schema(session: PostgresConnection, address: LedgerAddress) -> None:
    """Refuse a schema of another version, or one that is not what its migrations made."""
    version, digest = stored_version(session, address)
    if is_marked(session):
        raise unfinished_copy(address.shown)
    newest = len(postgres_migrations())
    if version != newest:
        raise other_version(address.shown, version, newest)
    if digest != _digest_of(session):
        raise IntegrityError(
            "the ledger's schema was changed",
            where=address.shown,
            why="tables, indexes, rules or functions are not those of its version",
            hint="nothing was changed; restore a backup of the database",
        )


def _check_before_writing(
    session: PostgresConnection,
    address: LedgerAddress,
    out: Path,
    stored: StoredAddress,
    accept_older: str | None,
) -> bool:
    """Make the start check; return whether it is an older copy that is to be accepted."""
    version, _ = stored_version(session, address)
    if 0 < version < len(postgres_migrations()):
        with one_transaction(session, _TURN["begin"]):
            migrate(session, version)
    with one_transaction(session, _READ["begin"]), reading(address.shown):
        check_schema(session, address)
        campaign = read_campaign(session, address.shown).campaign
        if campaign != stored.campaign:
            raise IntegrityError(
                "the ledger belongs to another campaign",
                where=address.shown,
                why=f"the folder has campaign {stored.campaign}, the ledger {campaign}",
                hint="files of two campaigns are mixed: put the right ones together",
            )
        older = is_older_copy(session, out, out / ADDRESS_NAME, accept_older)
        start_check(session, campaign, address.shown)
    return older
