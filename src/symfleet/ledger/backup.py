"""A copy of the ledger beside it: one file, of one moment, verified; the campaign may be live.

A file is copied page by page, so that one of an older schema can be kept before it is brought up to
date; of such a one only the database itself is checked, because the audit knows the newest schema.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Final

import msgspec

from symfleet import crash
from symfleet.errors import IntegrityError, UserError
from symfleet.ledger.audit import audit_all, audit_pages
from symfleet.ledger.copying import Tell, copy_store
from symfleet.ledger.database import LEDGER_NAME, check_file, check_schema, connect_reader
from symfleet.ledger.faults import NotReadyError, guarded
from symfleet.ledger.moving import refuse_unfinished
from symfleet.ledger.postgres_address import LedgerAddress, StoredAddress, read_address
from symfleet.ledger.row_reading import read_campaign
from symfleet.ledger.sqlite_tables import (
    SqliteCopy,
    name_database,
    open_tables,
    remove_database,
)

_UNFINISHED: Final = ".copying"


class Backup(msgspec.Struct, frozen=True):
    """A backup that was made: its file, how far the ledger had come, rows of each table."""

    file: str
    bytes: int
    decisions: int
    rows: dict[str, int]


def back_up(out: Path, file: Path, tell: Tell) -> Backup:
    """Write a copy of the ledger as it is at one moment to `file`, an SQLite database.

    Raises UserError when the file exists, IntegrityError when the ledger is damaged, HostError,
    IOFailure; then there is no file.
    """
    if file.exists() or not file.absolute().parent.is_dir():
        raise UserError(
            "the backup cannot be made there",
            where=str(file),
            why="it exists already" if file.exists() else "its folder does not exist",
            hint="name a new file in a folder that exists",
        )
    refuse_unfinished(out)
    unfinished = file.with_name(file.name + _UNFINISHED)
    stored = read_address(out)
    if stored is not None:
        _from_server(stored, unfinished, tell)
    else:
        _from_file(out / LEDGER_NAME, unfinished, tell)
    with contextlib.closing(open_tables(unfinished)) as tables, tables.snapshot():
        rows = {table.name: tables.count(table) for table in tables.tables()}
    name_database(unfinished, file)
    crash.point("backup.named")
    return Backup(str(file.absolute()), file.stat().st_size, rows.get("decisions", 0), rows)


def _from_file(ledger: Path, unfinished: Path, tell: Tell) -> None:
    if not ledger.exists():
        check_file(ledger)
    remove_database(unfinished)
    try:
        tell(f"copying {ledger}")
        with contextlib.closing(connect_reader(ledger)) as source:
            with contextlib.suppress(NotReadyError):
                check_schema(source, str(ledger))
            with (
                guarded(str(unfinished)),
                contextlib.closing(sqlite3.connect(unfinished)) as target,
            ):
                # The file is synchronised once, as a whole, before it gets its name.
                target.execute("PRAGMA synchronous=OFF")
                # In one step: page by page it would begin again whenever the owner has written.
                source.backup(target)
        crash.point("backup.written")
        tell("checking the copy")
        _verify(unfinished)
    except BaseException:
        remove_database(unfinished)
        raise


def _verify(unfinished: Path) -> None:
    with contextlib.closing(connect_reader(unfinished)) as copy:
        try:
            check_schema(copy, str(unfinished))
        except NotReadyError:
            findings = audit_pages(copy)
        else:
            findings = audit_all(copy, read_campaign(copy, str(unfinished)).campaign)
        for finding in findings:
            raise IntegrityError(
                finding.what,
                where=finding.row,
                why=finding.detail,
                hint="no backup was made; look at the ledger itself with `symfleet verify`",
            )


def _from_server(stored: StoredAddress, unfinished: Path, tell: Tell) -> None:
    from symfleet.ledger.postgres_connection import schema_of
    from symfleet.ledger.postgres_tables import open_tables as open_schema

    address = LedgerAddress(stored.url, schema_of(stored.campaign))
    with contextlib.closing(open_schema(address)) as source:
        source.require_ledger()
        with contextlib.closing(SqliteCopy(unfinished)) as target:
            copy_store(source, target, None, tell)
            target.unmark()
