"""Damage a ledger on purpose, below all of its rules."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from symfleet.ledger.tally import chain_next


@contextmanager
def unguarded(path: Path, nullable: str = "manifest BLOB") -> Iterator[sqlite3.Connection]:
    """Yield a connection without triggers and constraints; the schema is put back afterwards.

    `nullable`: the one column (with its type) that may be set to NULL. Nobody else may have the
    ledger open. Changes are in the database file when the block ends.
    """
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        execute = connection.execute
        execute("PRAGMA ignore_check_constraints=ON")
        execute("PRAGMA writable_schema=ON")
        rows = execute("SELECT type, name, sql FROM sqlite_schema WHERE sql NOT NULL").fetchall()
        triggers = [(name, sql) for kind, name, sql in rows if kind == "trigger"]
        guard = f"{nullable} NOT NULL"
        table, strict = next((n, sql) for kind, n, sql in rows if kind == "table" and guard in sql)
        for name, _ in triggers:
            execute(f"DROP TRIGGER {name}")
        _set_schema(connection, table, strict.replace(guard, nullable))
        yield connection
        _set_schema(connection, table, strict)
        for _, sql in triggers:
            execute(sql)
        execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.close()


def _set_schema(connection: sqlite3.Connection, table: str, sql: str) -> None:
    connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql, table))
    version = int(connection.execute("PRAGMA schema_version").fetchone()[0])
    connection.execute(f"PRAGMA schema_version={version + 1}")


def tamper(path: Path, statement: str, values: Sequence[object] = ()) -> None:
    """Change a ledger behind its live owner's back: triggers are put aside and set again."""
    with closing(sqlite3.connect(path)) as connection:
        execute = connection.execute
        rows = execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in rows:
            execute(f"DROP TRIGGER {name}")
        execute("PRAGMA ignore_check_constraints = 1")
        changed = execute(statement, tuple(values)).rowcount
        for _, sql in rows:
            execute(sql)
        connection.commit()
        assert changed > 0, "nothing was changed"


def rewrite_manifest(path: Path, decision: int, changes: dict[str, Any]) -> None:
    """Change fields of a stored manifest and hash the chain again, as a forger would."""
    with unguarded(path) as connection:
        (encoded,) = connection.execute(
            "SELECT manifest FROM decisions WHERE decision = ?", (decision,)
        ).fetchone()
        manifest = msgspec.msgpack.decode(encoded) | changes
        replace_manifest(connection, decision, msgspec.msgpack.encode(manifest))


def replace_manifest(connection: sqlite3.Connection, decision: int, manifest: bytes) -> None:
    """Store other manifest bytes with a chain that fits them (for the last decision)."""
    execute = connection.execute
    epoch, record = execute(
        "SELECT epoch, record FROM decisions WHERE decision = ?", (decision,)
    ).fetchone()
    previous = (
        execute(
            "SELECT chain FROM decisions WHERE decision = ? AND epoch = ?", (decision - 1, epoch)
        ).fetchone()
        or execute("SELECT chain_start FROM epochs WHERE epoch = ?", (epoch,)).fetchone()
    )
    edges = execute("SELECT edges FROM coverage WHERE decision = ?", (decision,)).fetchone()
    chain = chain_next(previous[0], decision, manifest, record, edges[0] if edges else b"")
    execute(
        "UPDATE decisions SET manifest = ?, chain = ? WHERE decision = ?",
        (manifest, chain, decision),
    )


def flip_byte(path: Path, offset: int) -> None:
    """Invert one byte of a file."""
    with path.open("r+b") as file:
        file.seek(offset)
        (value,) = file.read(1)
        file.seek(offset)
        file.write(bytes([value ^ 0xFF]))
