"""The database file: what stands in it before SQLite looks, connections, schema.

Attention: closing any descriptor of a database file drops this process's POSIX locks on it. The
checks here that open the file by hand run before SQLite does, never beside a live connection.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sqlite3
import struct
from pathlib import Path
from typing import Final

from symfleet import crash
from symfleet.corpus.durable import io_failure, sync_folder
from symfleet.corpus.plain_files import require_plain
from symfleet.errors import BusyError, IntegrityError, IOFailure, SymfleetError
from symfleet.ledger.faults import (
    RESTORE,
    DiskFailureError,
    DiskFullError,
    guarded,
    other_version,
    reading,
    refused_file,
    unfinished_copy,
)
from symfleet.ledger.statements import load, migrations
from symfleet.ledger.tables import MARK_TABLE

LEDGER_NAME: Final = "ledger.db"
APPLICATION_ID: Final = 0x53594D46  # "SYMF"
PAGE_BYTES: Final = 4096
_HEADER_BYTES: Final = 100
_MAGIC: Final = b"SQLite format 3\0"
_WAL_HEADER_BYTES: Final = 32
_FRAME_HEADER_BYTES: Final = 24
_RENEWED_BYTES: Final = 1 << 20
_BUSY_S: Final = 2.0
_CACHE_KIB: Final = 128 * 1024
_SCHEMA: Final = load("audit")["schema"]


def check_file(path: Path) -> None:
    """Refuse a file that is no ledger, is damaged in its header, or is cut off.

    Raises DataError for a file that never was ours, IntegrityError when the folder had a ledger.
    """
    _require_plain(path)
    try:
        with path.open("rb", buffering=0) as file:
            header = file.read(_HEADER_BYTES)
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        raise refused_file(path, "there is no ledger", "the file is missing") from None
    except OSError as error:
        raise io_failure(error, "the ledger cannot be read", str(path)) from error
    if len(header) < _HEADER_BYTES:
        raise refused_file(path, "the ledger is cut off", f"it has {size} bytes")
    if not header.startswith(_MAGIC):
        raise refused_file(path, "not a ledger", "it is no SQLite database")
    page_bytes, write_version, read_version = struct.unpack_from(">HBB", header, 16)
    (pages,) = struct.unpack_from(">I", header, 28)
    (application_id,) = struct.unpack_from(">I", header, 68)
    if application_id != APPLICATION_ID:
        raise refused_file(path, "not a ledger", f"its application id is {application_id:#010x}")
    if (page_bytes, write_version, read_version) != (PAGE_BYTES, 2, 2):
        raise IntegrityError(
            "the ledger's header is damaged",
            where=str(path),
            why=f"pages of {page_bytes} bytes, format {write_version}/{read_version}",
            hint=RESTORE,
        )
    if size % PAGE_BYTES or size < pages * PAGE_BYTES:
        lacking = set(range(size // PAGE_BYTES + 1, pages + 1))
        if not lacking <= _pages_of_wal(path.with_name(path.name + "-wal")):
            raise IntegrityError(
                "the ledger is cut off",
                where=str(path),
                why=f"it has {size} bytes instead of {pages * PAGE_BYTES}",
                hint=RESTORE,
            )


def _require_plain(path: Path) -> None:
    """Raise IOFailure when a file of a database, where there is one, is a pipe or the like: SQLite
    would wait for it. Only names are looked at: closing such a file would drop SQLite's locks."""
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        part = path.with_name(name)
        try:
            require_plain(part)
        except OSError as error:
            raise io_failure(error, "the ledger cannot be read", str(part)) from error


def _pages_of_wal(path: Path) -> set[int]:
    """Return the pages that a write-ahead log holds: a kill inside a checkpoint leaves a short
    database whose missing pages are still there."""
    pages: set[int] = set()
    try:
        with path.open("rb") as file:
            header = file.read(_WAL_HEADER_BYTES)
            if len(header) < _WAL_HEADER_BYTES:
                return pages
            salts = header[16:24]
            while len(frame := file.read(_FRAME_HEADER_BYTES)) == _FRAME_HEADER_BYTES:
                if frame[8:16] != salts:
                    break
                pages.add(struct.unpack_from(">I", frame)[0])
                file.seek(PAGE_BYTES, os.SEEK_CUR)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise io_failure(error, "the ledger cannot be read", str(path)) from error
    return pages


def renew_log(path: Path) -> None:
    """Write what the log of a database holds over itself, and synchronise it, before an owner
    relies on it. Raises IOFailure.

    An owner may have met a failed fsync and have died before it could say so. What it had written
    can be read, and may be on no disk: the kernel forgets such pages once it has told of them, and
    no later fsync brings them back (A2). Written again, they count again. So does its name.
    """
    log = path.with_name(path.name + "-wal")
    if not log.exists() or log.stat().st_size <= _WAL_HEADER_BYTES:
        return
    try:
        with log.open("r+b", buffering=0) as file:
            offset = 0
            while data := os.pread(file.fileno(), _RENEWED_BYTES, offset):
                offset += os.pwrite(file.fileno(), data, offset)
            os.fsync(file.fileno())
    except OSError as error:
        raise io_failure(error, "the ledger's log cannot be made durable", str(log)) from error
    keep_name_of_log(path)


def keep_name_of_log(path: Path) -> None:
    """Make the name of a new log durable, before what it holds is relied on or folded back.

    SQLite synchronises the folder with the first transaction that it writes into a log, and tells
    nobody when that fails. Raises DiskFailureError.
    """
    try:
        sync_folder(path.parent)
    except OSError as error:
        raise DiskFailureError(
            "the name of the ledger's log cannot be made durable",
            where=str(path.parent),
            why=error.strerror or str(error),
            hint="check the disk (dmesg), then `symfleet resume` goes on",
        ) from error


def close_folded(connection: sqlite3.Connection, path: Path) -> None:
    """Fold the log back, then close a connection that has written.

    SQLite does both when the last connection closes, and tells nobody what failed. Raises
    IOFailure or IntegrityError; then it is still open, to be closed unfolded. That a reader needs
    the log, or the disk is full, is no failure: the log stays, and whoever is next goes on with it.
    """
    is_folded = False
    with contextlib.suppress(DiskFullError, BusyError), guarded(str(path)):
        busy, pages, folded = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        is_folded = not busy and pages == folded
    if is_folded:
        connection.close()
    else:
        close_unfolded(connection, path)


def close_unfolded(connection: sqlite3.Connection, path: Path) -> None:
    """Close a connection and leave the log as it is: after an I/O error, and in a ledger that is
    refused.

    SQLite folds the log back when the last connection closes: it would synchronise once more what
    could not be synchronised, and take that for done (A2). A reader beside it keeps it from that,
    and changes nothing when it closes itself.
    """
    reader: sqlite3.Connection | None = None
    try:
        reader = connect_reader(path)
    except IOFailure:
        # Then it stays open until the process ends, which is soon.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        return
    except SymfleetError:
        pass  # it is no database any more, and has no log
    connection.close()
    if reader is not None:
        reader.close()


def begin_log(connection: sqlite3.Connection) -> None:
    """Give a new database its write-ahead log. SQLite does not say that it could not: it tells the
    mode that it has left as it was."""
    (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
    if mode != "wal":
        raise DiskFailureError(
            "the ledger cannot be read or written",
            why=f"its write-ahead log cannot be begun, the mode stays {mode}",
            hint="check the disk (dmesg) and the folder's permissions, then `symfleet resume`"
            " goes on",
        )


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open for writing: WAL, FULL, checkpoints by hand. The caller holds the owner's lock."""
    with guarded(str(path)):
        _require_plain(path)
        connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA wal_autocheckpoint=0")
            connection.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
            connection.execute("PRAGMA temp_store=MEMORY")
            connection.execute("PRAGMA cell_size_check=ON")
        except BaseException:
            connection.close()
            raise
        return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open read-only, beside a live owner or without one.

    Where SQLite cannot make its index of the log (a full disk, a folder that cannot be written),
    a file without a log is opened as immutable: no owner lives, it would have that index.
    """
    with guarded(str(path)):
        _require_plain(path)
        connection = _open_uri(path, "mode=ro")
        try:
            connection.execute("PRAGMA schema_version").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            log = path.with_name(path.name + "-wal")
            if log.exists() and log.stat().st_size > 0:
                raise
            connection = _open_uri(path, "mode=ro&immutable=1")
        except BaseException:
            connection.close()
            raise
        return connection


def _open_uri(path: Path, query: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{query}"
    connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)
    try:
        connection.execute("PRAGMA cell_size_check=ON")
        connection.execute("PRAGMA query_only=ON")
    except BaseException:
        connection.close()
        raise
    return connection


def check_log_belongs(path: Path, campaign_statement: str) -> None:
    """Refuse a write-ahead log of another database before anything writes.

    The campaign's row is written and folded back when a ledger is made, so the file alone and the
    file with its log must tell the same. A file that alone cannot be read was left inside a
    checkpoint (by a kill, or a full disk); only with its log it can be judged, by the start check.
    """
    log = path.with_name(path.name + "-wal")
    if not log.exists() or log.stat().st_size <= _WAL_HEADER_BYTES:
        return
    try:
        alone = _stored_campaign(path, "mode=ro&immutable=1", campaign_statement)
    except (sqlite3.Error, ValueError):
        return
    why = "with it the campaign is another one than without it"
    cause: IntegrityError | None = None
    try:
        if alone == _campaign_of(path, "mode=ro", campaign_statement):
            return
    except IntegrityError as error:
        why, cause = "without it the campaign can be read, with it not", error
    raise IntegrityError(
        "the write-ahead log beside the ledger belongs to another database",
        where=str(log),
        why=why,
        hint="nothing was changed; put the log away (and keep it) when it does not belong to this"
        " ledger",
    ) from cause


def _campaign_of(path: Path, query: str, statement: str) -> tuple[object, ...] | None:
    """Return the campaign's row without what accepting an older copy may change."""
    with reading(str(path)):
        return _stored_campaign(path, query, statement)


def _stored_campaign(path: Path, query: str, statement: str) -> tuple[object, ...] | None:
    connection = _open_uri(path, query)
    try:
        row = connection.execute(statement).fetchone()
    finally:
        connection.close()
    return None if row is None else (row[0], *row[2:])


def migrate(connection: sqlite3.Connection, where: str) -> None:
    """Bring the schema to the newest version, one transaction a step."""
    _run_migrations(connection, where, migrations())


def _run_migrations(connection: sqlite3.Connection, where: str, scripts: tuple[str, ...]) -> None:
    with guarded(where):
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        for number in range(version + 1, len(scripts) + 1):
            crash.point("migrate.before")
            try:
                connection.executescript(
                    f"BEGIN IMMEDIATE;\n{scripts[number - 1]}\n"
                    f"PRAGMA user_version={number};\nCOMMIT;"
                )
            except sqlite3.Error:
                if connection.in_transaction:
                    connection.rollback()
                raise
            crash.point("migrate.step")


def is_older_schema(path: Path) -> bool:
    """Whether migrations are due."""
    connection = connect_reader(path)
    try:
        with guarded(str(path)):
            return int(connection.execute("PRAGMA user_version").fetchone()[0]) < len(migrations())
    finally:
        connection.close()


def check_schema(connection: sqlite3.Connection, where: str) -> None:
    """Refuse a schema that is newer than this program or is not what its migrations make."""
    with reading(where):
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        found = connection.execute(_SCHEMA).fetchall()
    newest = len(migrations())
    if version == 0:  # a ledger gets its name when its schema is complete
        raise refused_file(Path(where), "not a ledger", "it has no schema of symfleet")
    if version != newest:
        raise other_version(where, version, newest)
    if any(name == MARK_TABLE for _, name, _, _ in found):
        raise unfinished_copy(where)
    if found != list(_expected_schema(migrations())):
        raise IntegrityError(
            "the ledger's schema was changed",
            where=where,
            why="tables, indexes or triggers are not those of its version",
            hint=RESTORE,
        )


@functools.cache
def _expected_schema(scripts: tuple[str, ...]) -> tuple[tuple[str, str, str, str], ...]:
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    try:
        _run_migrations(fresh, ":memory:", scripts)
        return tuple(fresh.execute(_SCHEMA).fetchall())
    finally:
        fresh.close()
