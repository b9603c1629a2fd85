"""Tables of an SQLite ledger: read from a ledger or a backup, written as an unfinished copy.

An unfinished copy is OUT/ledger.db.copying: the whole schema and the table `copying`, which no
ledger has. Rows arrive in the order of their keys, so what is there tells where to go on.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from symfleet.corpus.durable import io_failure, sync_folder
from symfleet.ledger.database import (
    APPLICATION_ID,
    PAGE_BYTES,
    begin_log,
    check_schema,
    close_unfolded,
    connect_reader,
    keep_name_of_log,
    migrate,
    renew_log,
)
from symfleet.ledger.faults import guarded, reading
from symfleet.ledger.statements import load
from symfleet.ledger.tables import MARK_TABLE, Row, Table, quoted

SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")
_SYNCHRONOUS: Final = "PRAGMA synchronous=NORMAL"
"""The file is synchronised as a whole before it counts; until then it may be begun again."""

_SQL: Final = load("copying")
_READ: Final = load("reading")
_TURN: Final = load("turn")


class SqliteTables:
    """A database that is read."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path

    @property
    def where(self) -> str:
        """Return its name for people."""
        return str(self.path)

    @property
    def database(self) -> sqlite3.Connection:
        """Return the connection, as the audit wants it."""
        return self._connection

    @property
    def version(self) -> int:
        """Return the number of its schema."""
        with reading(self.where):
            return int(self._connection.execute(_SQL["version"]).fetchone()[0])

    @property
    def size(self) -> int:
        """Return how many bytes its files have."""
        files = [self.path.with_name(self.path.name + suffix) for suffix in SIDE_FILES]
        return sum(file.stat().st_size for file in files if file.exists())

    def tables(self) -> tuple[Table, ...]:
        """Return all tables that belong to the campaign, by name."""
        with reading(self.where):
            names = [name for (name,) in self._connection.execute(_SQL["tables"])]
            return tuple(self._table(name) for name in names if name != MARK_TABLE)

    def _table(self, name: str) -> Table:
        columns = self._connection.execute(_SQL["columns"], (name,)).fetchall()
        key = sorted((place, column) for column, place in columns if place)
        return Table(name, tuple(column for column, _ in columns), tuple(name for _, name in key))

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything inside the block as of one moment."""
        with guarded(self.where):
            self._connection.execute(_READ["begin"])
        try:
            yield
        finally:
            with guarded(self.where):
                self._connection.execute(_READ["end"])

    def rows(self, table: Table, after: Row | None = None) -> Iterator[Row]:
        """Yield rows in the order of the key, those behind `after` only."""
        statement = _filled("all_rows" if after is None else "rows_after", table)
        with reading(self.where):
            yield from self._connection.execute(statement, after or ())

    def count(self, table: Table) -> int:
        """Return how many rows there are."""
        with reading(self.where):
            return int(self._connection.execute(_filled("count", table)).fetchone()[0])

    def close(self) -> None:
        """Release the database."""
        self._connection.close()


class SqliteCopy(SqliteTables):
    """A database that a copy is written to."""

    def __init__(self, path: Path) -> None:
        with guarded(str(path)):
            try:
                connection = _connect(path)
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode not in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                    raise
                remove_database(path)  # a power cut has left nothing that could be used
                connection = _connect(path)
            super().__init__(connection, path)

    def prepare(self, source: str) -> bool:
        """Go on with the copy of this source, or begin one."""
        again = self._marked_source() == source
        if not again:
            self.discard()
            self._begin(source)
        # Its log is there now; what is folded back below relies on it.
        keep_name_of_log(self.path)
        return again

    def _begin(self, source: str) -> None:
        with guarded(self.where):
            self._connection = _connect(self.path)
            execute = self._connection.execute
            # Before there is a log, SQLite tries a failed sync of the file once more. Nothing
            # counts yet: without the log, which holds the first page again, this is no copy.
            execute("PRAGMA synchronous=OFF")
            execute(f"PRAGMA page_size={PAGE_BYTES}")
            execute(f"PRAGMA application_id={APPLICATION_ID}")
            begin_log(self._connection)
            execute(_SYNCHRONOUS)
            migrate(self._connection, self.where)
            with self._transaction():
                execute(_SQL["make_mark"])
                execute(_SQL["put_mark"], (source,))

    def _marked_source(self) -> str | None:
        """Return what is being copied here; None when a kill left nothing that could be used."""
        try:
            if not is_marked(self._connection):
                return None
            row = self._connection.execute(_SQL["mark"]).fetchone()
        except sqlite3.Error:
            return None
        return None if row is None else str(row[0])

    def last_key(self, table: Table) -> Row | None:
        """Return the last key that has arrived."""
        with reading(self.where):
            row: Row | None = self._connection.execute(_filled("last_key", table)).fetchone()
        return row

    def close(self) -> None:
        """Release the database; what is in its log stays there (`complete` has folded it back)."""
        close_unfolded(self._connection, self.path)

    def put(self, table: Table, rows: Sequence[Row]) -> None:
        """Add rows in one transaction."""
        with guarded(self.where), self._transaction():
            self._connection.executemany(_filled("put", table), rows)

    def complete(self) -> None:
        """Check the schema but for the mark, and let the file hold everything. References between
        tables are checked by the audit."""
        self._connection.execute(_TURN["begin"])
        try:
            self._connection.execute(_SQL["drop_mark"])
            check_schema(self._connection, self.where)
        finally:
            self._connection.rollback()
        with guarded(self.where):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        _sync(self.path)

    def unmark(self) -> None:
        """Make a complete copy a ledger, and let its file hold everything."""
        with guarded(self.where):
            self._connection.execute(_SQL["drop_mark"])
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def discard(self) -> None:
        """Remove the unfinished copy."""
        self.close()
        remove_database(self.path)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute(_TURN["begin"])
        try:
            yield
            self._connection.execute(_TURN["commit"])
        except BaseException:
            # A full disk may have ended the transaction already.
            with contextlib.suppress(sqlite3.Error):
                self._connection.rollback()
            raise


def open_tables(path: Path) -> SqliteTables:
    """Open a database for reading, beside its owner or without one."""
    return SqliteTables(connect_reader(path), path)


def remove_database(path: Path) -> None:
    """Remove a database with its side files, if there is any."""
    try:
        for suffix in SIDE_FILES:
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    except OSError as error:
        raise io_failure(error, "an unfinished copy cannot be removed", str(path)) from error


def is_marked(connection: sqlite3.Connection) -> bool:
    """Whether a database is an unfinished copy."""
    return bool(connection.execute(_SQL["has_mark"]).fetchone()[0])


def finish_copy(path: Path, name: Path) -> None:
    """Take the mark away from a complete copy, and give it its name; nothing that is done already
    is done again."""
    if not path.exists():
        return
    with guarded(str(path)):
        connection = _connect(path)
        try:
            if is_marked(connection):
                connection.execute(_SQL["drop_mark"])
            check_schema(connection, str(path))
            keep_name_of_log(path)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            close_unfolded(connection, path)
    name_database(path, name)


def name_database(path: Path, name: Path) -> None:
    """Make a database durable that nobody writes any more, then give it its name."""
    _sync(path)
    try:
        for suffix in SIDE_FILES[1:]:  # empty ones, which readers have left
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.rename(name)
        sync_folder(name.parent)
    except OSError as error:
        raise io_failure(error, "the copy cannot be given its name", str(name)) from error


def _connect(path: Path) -> sqlite3.Connection:
    renew_log(path)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(_SYNCHRONOUS)
    except BaseException:
        connection.close()
        raise
    return connection


def _sync(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync_folder(path.parent)
    except OSError as error:
        raise io_failure(error, "the copy cannot be made durable", str(path)) from error


def _filled(block: str, table: Table) -> str:
    key = [quoted(name) for name in table.key]
    values: dict[str, Any] = {
        "table": quoted(table.name),
        "columns": ", ".join(quoted(name) for name in table.columns),
        "values": ", ".join("?" for _ in table.columns),
        "key": ", ".join(key),
        "key_values": ", ".join("?" for _ in key),
        "backwards": ", ".join(f"{name} DESC" for name in key),
    }
    return _SQL[block].format(**values)
