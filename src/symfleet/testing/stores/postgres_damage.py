"""Damage a ledger on a PostgreSQL server on purpose, below all of its rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import psycopg
from psycopg import sql

from symfleet.ledger.highwater import read_highwater, write_highwater
from symfleet.ledger.postgres_address import read_address
from symfleet.ledger.postgres_connection import schema_of
from symfleet.ledger.tally import chain_next

Session = psycopg.Connection[Any]


@contextmanager
def unguarded(out: Path, nullable: tuple[str, str] | None = None) -> Iterator[Session]:
    """Yield a superuser's session in the campaign's schema in which no trigger and no reference
    holds. `nullable`: the one column (table, name) that may be set to NULL. All is one transaction;
    the catalogue is as before afterwards."""
    stored = read_address(out)
    assert stored is not None
    with psycopg.connect(stored.url) as session:
        execute = session.execute
        execute("SELECT set_config('search_path', %s, true)", (schema_of(stored.campaign),))
        execute("SET LOCAL session_replication_role = replica")
        if nullable is not None:
            _set_not_null(session, nullable, value=False)
        yield session
        if nullable is not None:
            _set_not_null(session, nullable, value=True)


def _set_not_null(session: Session, column: tuple[str, str], *, value: bool) -> None:
    """Change the catalogue itself: no statement leaves a NULL in a column that has none."""
    done = session.execute(
        "UPDATE pg_attribute SET attnotnull = %s WHERE attrelid = %s::regclass AND attname = %s",
        (value, *column),
    )
    assert done.rowcount == 1


def replace_manifest(out: Path, session: Session, decision: int, manifest: bytes) -> None:
    """Store other manifest bytes, hash the chain of the only epoch again, and have OUT/highwater
    tell of that one."""
    execute = session.execute
    done = execute("UPDATE decisions SET manifest = %s WHERE decision = %s", (manifest, decision))
    assert done.rowcount == 1
    (chain,) = execute("SELECT chain_start FROM epochs").fetchall()[0]
    rows = execute(
        "SELECT decision, manifest, record, coalesce(edges, '') FROM decisions"
        " LEFT JOIN coverage USING (decision) ORDER BY decision"
    ).fetchall()
    for number, stored, record, edges in rows:
        chain = chain_next(chain, number, stored, record, edges)
        execute("UPDATE decisions SET chain = %s WHERE decision = %s", (chain, number))
    mark = read_highwater(out)
    assert mark is not None
    assert mark.decision == len(rows)
    write_highwater(out, msgspec.structs.replace(mark, chain=chain.hex()))


def rows_of(out: Path) -> dict[str, list[str]]:
    """Return every row of every table of a campaign's schema but who writes to it."""
    stored = read_address(out)
    assert stored is not None
    schema = schema_of(stored.campaign)
    with psycopg.connect(stored.url) as session:
        tables = session.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename NOT IN"
            " ('owners', 'coordinators')",
            (schema,),
        ).fetchall()
        return {
            table: [
                row
                for (row,) in session.execute(
                    sql.SQL("SELECT t::text FROM {} t ORDER BY 1").format(
                        sql.Identifier(schema, table)
                    )
                )
            ]
            for (table,) in tables
        }
