"""Create a ledger, open it as owner, open it as reader.

A ledger is made under another name and renamed when it is complete, so that after a kill in the
middle there is none, or a whole one. All checks that can refuse a ledger run before anything is
written to it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet import crash
from symfleet.clock import Clock
from symfleet.corpus.durable import io_failure, make_folder, remove_file, sync_folder
from symfleet.errors import UserError
from symfleet.ledger import highwater
from symfleet.ledger.audit import start_check
from symfleet.ledger.contract import CampaignRow
from symfleet.ledger.copies import campaign_values, check_after_failure, is_older_copy
from symfleet.ledger.database import (
    APPLICATION_ID,
    LEDGER_NAME,
    PAGE_BYTES,
    begin_log,
    check_file,
    check_log_belongs,
    check_schema,
    close_folded,
    close_unfolded,
    connect_reader,
    connect_writer,
    is_older_schema,
    keep_name_of_log,
    migrate,
    renew_log,
)
from symfleet.ledger.faults import DiskFullError, guarded, had_ledger, reading
from symfleet.ledger.filesystem import check_filesystem
from symfleet.ledger.owner_lock import Holder, acquire
from symfleet.ledger.postgres_address import ADDRESS_NAME
from symfleet.ledger.reserve import DEFAULT_RESERVE_BYTES
from symfleet.ledger.row_reading import RowReading, read_campaign
from symfleet.ledger.sqlite import (
    DEFAULT_CHECKPOINT_ROWS,
    OwnerLimits,
    SqliteLedger,
)
from symfleet.ledger.statements import load

_CREATING_NAME: Final = LEDGER_NAME + ".creating"
_OPENING: Final = load("opening")
_READ: Final = load("reading")
_LOG_BYTES_A_ROW: Final = 2048
"""At least, of a row that a turn changes."""
_LOG_SUFFIXES: Final = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class OwnerRequest:
    """Who wants to own a ledger, and how.

    `lock_wait_s`: how long to wait for another owner. `accept_older`: go on from an older copy
    under this new ledger incarnation (16 hex digits).
    """

    host: str
    pid: int
    lock_wait_s: float = 2.0
    allow_fuse: bool = False
    accept_older: str | None = None
    reserve_bytes: int = DEFAULT_RESERVE_BYTES
    checkpoint_rows: int = DEFAULT_CHECKPOINT_ROWS

    @property
    def limits(self) -> OwnerLimits:
        """Return what the owner holds back."""
        return OwnerLimits(self.reserve_bytes, self.checkpoint_rows)


def has_ledger(out: Path) -> bool:
    """Whether the folder has, or had, a ledger."""
    names = (LEDGER_NAME, ADDRESS_NAME)
    return any((out / name).exists() for name in names) or had_ledger(out)


def filesystem_warnings(out: Path, *, allow_fuse: bool = False) -> tuple[str, ...]:
    """Return warnings about the file system of an existing folder; raise HostError when it is
    refused."""
    return check_filesystem(out, allow_fuse=allow_fuse)


def create(out: Path, campaign: CampaignRow, request: OwnerRequest, clock: Clock) -> SqliteLedger:
    """Make the ledger of a new campaign and own it.

    Raises UserError when the folder has one, BusyError, HostError, IOFailure.
    """
    make_folder(out)
    check_filesystem(out, allow_fuse=request.allow_fuse)
    holder = Holder(request.host, request.pid, 0, clock.wall())
    lock = acquire(out, holder, clock, request.lock_wait_s)
    try:
        refuse_second(out)
        _make_database(out, campaign)
        path = out / LEDGER_NAME
        connection = connect_writer(path)
        return SqliteLedger(connection, path, clock, lock, request.limits)
    except BaseException:
        lock.close()
        raise


def refuse_second(out: Path) -> None:
    """Raise UserError when the folder has a campaign."""
    if has_ledger(out):
        raise UserError(
            "the output folder has a campaign already",
            where=str(out),
            why="a campaign is created once",
            hint="resume it, or choose another output folder",
        )


def _make_database(out: Path, campaign: CampaignRow) -> None:
    unfinished, path = out / _CREATING_NAME, out / LEDGER_NAME
    for suffix in _LOG_SUFFIXES:
        remove_file(unfinished.with_name(unfinished.name + suffix))
        # A log without its database would be taken for the log of the one that we make.
        remove_file(path.with_name(path.name + suffix))
    with guarded(str(unfinished)):
        connection = sqlite3.connect(unfinished, isolation_level=None)
        try:
            # The file is synchronised once, as a whole, before it gets its name.
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            begin_log(connection)
            migrate(connection, str(unfinished))
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_OPENING["put_campaign"], campaign_values(campaign))
            connection.execute(_OPENING["put_standing"])
            connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.close()
    try:
        descriptor = os.open(unfinished, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        crash.point("create.written")
        unfinished.rename(path)
        sync_folder(out)
        crash.point("create.named")
    except OSError as error:
        raise io_failure(error, "the ledger cannot be made", str(path)) from error


def open_owner(out: Path, request: OwnerRequest, clock: Clock) -> SqliteLedger:
    """Own an existing ledger after the start check.

    Raises BusyError when another job owns it, IntegrityError for damage or an older copy,
    DataError when there is none, HostError, IOFailure. A refused ledger is left as it was.
    """
    path = out / LEDGER_NAME
    if not path.exists():
        check_file(path)
    check_filesystem(out, allow_fuse=request.allow_fuse)
    holder = Holder(request.host, request.pid, 0, clock.wall())
    lock = acquire(out, holder, clock, request.lock_wait_s)
    try:
        older = _check_before_writing(out, request.accept_older)
        crash.point("epoch.checked")
        renew_log(path)
        connection = connect_writer(path)
    except BaseException:
        lock.close()
        raise
    try:
        if older and request.accept_older is not None:
            _go_on_from_older(connection, out, request.accept_older)
        ledger = SqliteLedger(connection, path, clock, lock, request.limits)
        check_after_failure(ledger, out)
        _fold_old_log_back(connection, path, request.checkpoint_rows)
    except BaseException:
        close_unfolded(connection, path)
        lock.close()
        raise
    return ledger


def _fold_old_log_back(connection: sqlite3.Connection, path: Path, checkpoint_rows: int) -> None:
    """Fold back what owners that were killed have left in the log. Each one folds it back after
    `checkpoint_rows` rows of its own: where none lives so long the log would grow for ever."""
    log = path.with_name(path.name + "-wal")
    with contextlib.suppress(DiskFullError), guarded(str(path)):
        if log.exists() and log.stat().st_size >= checkpoint_rows * _LOG_BYTES_A_ROW:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def _check_before_writing(out: Path, accept_older: str | None) -> bool:
    """Make the start check on a connection that cannot write, so that a refused ledger keeps every
    byte; return whether it is an older copy that is to be accepted."""
    path = out / LEDGER_NAME
    check_file(path)
    check_log_belongs(path, _READ["campaign_as_made"])
    if is_older_schema(path):
        _bring_up_to_date(path)
    connection = connect_reader(path)
    try:
        check_schema(connection, str(path))
        with reading(str(path)):
            older = is_older_copy(connection, out, path, accept_older)
            start_check(connection, read_campaign(connection, str(path)).campaign, str(path))
    finally:
        connection.close()
    return older


def _bring_up_to_date(path: Path) -> None:
    renew_log(path)
    writer = connect_writer(path)
    try:
        migrate(writer, str(path))
        keep_name_of_log(path)
        close_folded(writer, path)
    except BaseException:
        close_unfolded(writer, path)
        raise


def _go_on_from_older(connection: sqlite3.Connection, out: Path, incarnation: str) -> None:
    """Make the copy another ledger: what was made after it was taken is lost, and known to be."""
    path = out / LEDGER_NAME
    with guarded(str(path)):
        connection.execute(_OPENING["accept_older"], (incarnation,))
    keep_name_of_log(path)
    remove_file(out / highwater.HIGHWATER_NAME)


def check_at_rest(out: Path) -> None:
    """Refuse files that are no ledger, cut off, or do not belong together, before SQLite looks.
    Nobody owns the ledger, and this process has it not open (see `database`)."""
    path = out / LEDGER_NAME
    if path.exists():
        check_file(path)
        check_log_belongs(path, _READ["campaign_as_made"])


def open_reader(out: Path) -> RowReading:
    """Open a ledger for reading, live or not.

    Raises DataError when there is none, IntegrityError for damage, IOFailure.
    """
    path = out / LEDGER_NAME
    if not path.exists():
        check_file(path)
    connection = connect_reader(path)
    try:
        check_schema(connection, str(path))
        return RowReading(connection, str(path))
    except BaseException:
        connection.close()
        raise
