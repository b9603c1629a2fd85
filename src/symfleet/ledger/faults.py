"""What SQLite's errors mean for a campaign."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from symfleet.errors import (
    BusyError,
    DataError,
    IntegrityError,
    InternalError,
    IOFailure,
    SymfleetError,
    UserError,
)
from symfleet.ledger.highwater import HIGHWATER_NAME


class DiskFullError(IOFailure):
    """No space is left for the ledger. The turn failed as a whole and changed nothing."""


class DiskFailureError(IOFailure):
    """Reading or writing the ledger failed; nothing may be retried on this opening."""


class NotReadyError(DataError):
    """The ledger is sound, and cannot be read before an owner has done something to it: brought its
    schema up to date, or finished a move."""


def other_version(where: str, version: int, newest: int) -> DataError:
    """Return the refusal of a schema that this program does not know."""
    if version > newest:
        return DataError(
            "the ledger is of a newer version than this symfleet",
            where=where,
            why=f"its schema has number {version}, this symfleet knows {newest}",
            hint="use the symfleet that wrote it",
        )
    return NotReadyError(
        "the ledger is of an older version than this symfleet",
        where=where,
        why=f"its schema has number {version}, this symfleet knows {newest}",
        hint="`symfleet resume` brings it up to date",
    )


def unfinished_copy(where: str) -> DataError:
    """Return the refusal of what `symfleet ledger copy` has not finished."""
    return DataError(
        "this is the unfinished copy of a ledger",
        where=where,
        why="`symfleet ledger copy` was interrupted before all was there and verified",
        hint="give that command again: it goes on where it was; until then the campaign stays where"
        " it is",
    )


def retired_ledger(where: str, why: str) -> UserError:
    """Return the refusal of a place that a campaign has left."""
    return UserError(
        "the campaign does not live here any more",
        where=where,
        why=why,
        hint="resume the folder that it lives in; this place keeps what it was when it was left",
    )


RESTORE: Final = "nothing was changed; restore a backup of the ledger"


def had_ledger(out: Path) -> bool:
    """Whether a folder shows that it had a ledger once: by its mark, or by published inputs.

    A folder whose ledger was deleted must not be taken for one that never had any (C9)."""
    if (out / HIGHWATER_NAME).exists():
        return True
    published = (out / "corpus").glob("[0-9a-f][0-9a-f]/" + "[0-9a-f]" * 64)
    return next(published, None) is not None


def refused_file(path: Path, what: str, why: str) -> DataError | IntegrityError:
    """Say that a file is not ours, or that ours is lost when the folder had one: to readers and to
    owners alike."""
    if had_ledger(path.parent):
        return IntegrityError(
            what, where=str(path), why=f"{why}, but this folder had a ledger", hint=RESTORE
        )
    return DataError(
        what, where=str(path), why=why, hint="give the output folder of a symfleet campaign"
    )


_PRIMARY: Final = 0xFF
_READ_BYTES: Final = 1 << 20
_VERIFY: Final = "run `symfleet verify`, then restore a backup of the ledger"


def translated(error: sqlite3.Error, where: str) -> SymfleetError:  # noqa: PLR0911
    """Return the error family of an SQLite error."""
    extended = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    # The index of the write-ahead log could not be made: there is no space for it.
    code = sqlite3.SQLITE_FULL if extended == sqlite3.SQLITE_IOERR_SHMSIZE else extended & _PRIMARY
    name = getattr(error, "sqlite_errorname", "")
    why = f"{error} ({name})" if name else str(error)
    match code:
        case sqlite3.SQLITE_FULL:
            return DiskFullError(
                "no space is left for the ledger",
                where=where,
                why=why,
                hint="free some space, then `symfleet resume` goes on where it stopped",
            )
        # SQLite calls a read that the disk refused damage, too.
        case sqlite3.SQLITE_CORRUPT if refused := refused_read(where):
            return unreadable(where, refused)
        # Our statements fit our schema: a plain error means that the stored one is not ours.
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_FORMAT | sqlite3.SQLITE_ERROR:
            return IntegrityError("the ledger is damaged", where=where, why=why, hint=_VERIFY)
        case sqlite3.SQLITE_NOTADB:
            return refused_file(Path(where), "not a ledger", why)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return BusyError(
                "another program holds the ledger's database",
                where=where,
                why=why,
                hint="end the other program; copies are made by `symfleet ledger backup`",
            )
        case (
            sqlite3.SQLITE_IOERR
            | sqlite3.SQLITE_READONLY
            | sqlite3.SQLITE_CANTOPEN
            | sqlite3.SQLITE_PERM
            | sqlite3.SQLITE_NOLFS
            | sqlite3.SQLITE_NOMEM
        ):
            return DiskFailureError(
                "the ledger cannot be read or written",
                where=where,
                why=why,
                hint="check the disk (dmesg) and the folder's permissions, then"
                " `symfleet resume` goes on",
            )
        case _:
            return InternalError(
                "the ledger refused a change that breaks one of its rules",
                where=where,
                why=why,
                hint="nothing was changed; please report this",
            )


def unreadable(where: str, why: str) -> DiskFailureError:
    """Return what a read that the disk refused ends with."""
    return DiskFailureError(
        "the ledger cannot be read",
        where=where,
        why=why,
        hint="check the disk (dmesg); nothing is known to be damaged, and the next start"
        " checks everything",
    )


def refused_read(where: str) -> str:
    """Return why a database cannot be read, or could not be a moment ago; empty when it can, and is
    damaged. Whoever has met damage relies on no lock of this process any more."""
    path = Path(where)
    if not path.is_file():
        return ""
    try:
        for file in (path, path.with_name(path.name + "-wal")):
            if file.exists():
                with file.open("rb", buffering=0) as stream:
                    while stream.read(_READ_BYTES):
                        pass
    except OSError as error:
        return error.strerror or str(error)
    try:
        with contextlib.closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        ) as again:
            sound = again.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
    except sqlite3.Error:
        return ""
    return "a read failed, and the same bytes are sound now" if sound else ""


@contextmanager
def guarded(where: str) -> Iterator[None]:
    """Translate SQLite's errors inside the block."""
    try:
        yield
    except sqlite3.Error as error:
        raise translated(error, where) from error


@contextmanager
def reading(where: str) -> Iterator[None]:
    """Translate SQLite's errors, and stored values that do not have the form they must have.

    The code in the block only takes stored values apart, so that a value which cannot be taken
    apart is damage (C9).
    """
    try:
        yield
    except sqlite3.Error as error:
        raise translated(error, where) from error
    except (ValueError, TypeError, AttributeError, msgspec.MsgspecError) as error:
        raise IntegrityError(
            "the ledger is damaged",
            where=where,
            why=f"a stored value does not have the form that it must have: {error}",
            hint=_VERIFY,
        ) from error
