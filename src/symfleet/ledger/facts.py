"""Where a ledger is, of which kind and version, how large, and what a folder keeps beside it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from symfleet.ledger.database import LEDGER_NAME, check_file
from symfleet.ledger.moving import is_moving, retired_files
from symfleet.ledger.postgres_address import LedgerAddress, read_address
from symfleet.ledger.postgres_statements import postgres_migrations
from symfleet.ledger.sqlite_tables import open_tables
from symfleet.ledger.statements import migrations
from symfleet.ledger.tables import TableReader


class LedgerFacts(msgspec.Struct, frozen=True):
    """`schema` is the number of the stored schema, `newest_schema` what this program knows.
    `bytes`: files with their log, or tables with their indexes. `retired`: left by moves."""

    kind: str
    where: str
    schema: int
    newest_schema: int
    bytes: int
    rows: dict[str, int]
    moving: bool
    retired: tuple[str, ...]


def facts_of(out: Path) -> LedgerFacts:
    """Look at a campaign's ledger, live or not, also at one of another version.

    Raises DataError, IntegrityError, HostError, IOFailure when it cannot be read.
    """
    stored = read_address(out)
    if stored is not None:
        from symfleet.ledger.postgres_connection import schema_of
        from symfleet.ledger.postgres_tables import open_tables as open_schema

        schema = open_schema(LedgerAddress(stored.url, schema_of(stored.campaign)))
        with contextlib.closing(schema):
            version, newest = schema.version, len(postgres_migrations())
            return _facts(out, "postgresql", schema, schema.size, version, newest)
    ledger = out / LEDGER_NAME
    if not ledger.exists():
        check_file(ledger)
    database = open_tables(ledger)
    with contextlib.closing(database):
        version, newest = database.version, len(migrations())
        return _facts(out, "sqlite", database, database.size, version, newest)


def _facts(
    out: Path, kind: str, store: TableReader, size: int, version: int, newest: int
) -> LedgerFacts:
    with store.snapshot():
        rows = {table.name: store.count(table) for table in store.tables()}
    return LedgerFacts(
        kind=kind,
        where=store.where,
        schema=version,
        newest_schema=newest,
        bytes=size,
        rows=rows,
        moving=is_moving(out),
        retired=tuple(path.name for path in retired_files(out)),
    )
