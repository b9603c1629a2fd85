"""Are the files under a ledger's names still those that its owner has open?

Whoever removes or replaces a file of a running campaign does not reach its owner: that has the old
file open, and everything goes into a file that nobody finds again. The owner looks at the names
with every turn and between turns. When they do not lead to its files it stops, writes into nothing
that it did not make, and keeps what only it still has: the log is folded back, and a ledger that
has no name any more is saved under a free one.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.corpus.durable import io_failure, sync_folder
from symfleet.errors import IntegrityError, SymfleetError
from symfleet.ledger.faults import guarded

RESCUED_SUFFIX: Final = ".rescued"
_UNFINISHED: Final = ".copying"
_GONE: Final = "removed"
_OTHER: Final = "replaced by another file"

_Mark = tuple[int, int]
"""Device and inode."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A name that does not lead to our file any more."""

    path: Path
    is_log: bool
    replaced: bool
    now_at: str
    """Another name that our file has now; empty when it has none."""


class OpenFiles:
    """The database and the log of one owner. The log has no file before the first transaction."""

    def __init__(self, path: Path) -> None:
        """The database was just opened, under the owner's lock."""
        self._path = path
        self._log_path = path.with_name(path.name + "-wal")
        self._main = _mark_of(path)
        self._log: _Mark | None = None

    def look(self) -> Lost | None:
        """Return what was lost; raise IOFailure when that cannot be told."""
        now = _mark_of(self._path)
        if now != self._main:
            assert self._main is not None
            return Lost(self._path, False, now is not None, _name_of(self._main))
        log = _mark_of(self._log_path)
        if self._log is None:
            self._log = log
        elif log != self._log:
            return Lost(self._log_path, True, log is not None, _name_of(self._log))
        return None


def _mark_of(path: Path) -> _Mark | None:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise io_failure(error, "the ledger's folder cannot be read", str(path)) from error
    return status.st_dev, status.st_ino


def _name_of(mark: _Mark) -> str:
    """Return the name of a file that this process has open, "" when it has none any more."""
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            status = entry.stat()
            if (status.st_dev, status.st_ino) == mark:
                name = str(entry.readlink())
                return name if status.st_nlink and not name.endswith(" (deleted)") else ""
    return ""


def keep_what_is_left(connection: sqlite3.Connection, lost: Lost) -> IntegrityError:
    """Fold the log back into our own file, save the file when it has no name; say what happened."""
    path = lost.path
    folded = False
    with contextlib.suppress(SymfleetError), guarded(str(path)):
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        folded = not busy
    how = _OTHER if lost.replaced else _GONE
    away = "put the other file away, then " if lost.replaced else ""
    if lost.is_log:
        what = "the ledger's write-ahead log"
        why = "what it held was folded back into the ledger: nothing is lost"
        if not folded:
            why = "what it held could not be folded back into the ledger"
        hint = f"{away}`symfleet resume {path.parent}` goes on"
    elif lost.now_at and not Path(lost.now_at).exists():
        what, how = "the ledger's file", "unmounted"
        why = f"it is complete, as {lost.now_at} of a file system that is not mounted here any more"
        hint = f"mount it again, then `symfleet resume {path.parent}` goes on"
    elif lost.now_at:
        what, how = "the ledger's file", "moved"
        why = f"it is at {lost.now_at} now, and complete"
        # Commands of hints get this folder's name, which is the wrong one now.
        hint = f"{away}move it back; was the whole folder moved, resume it under its new name"
    else:
        what = "the ledger's file"
        why, hint = _saved(connection, path, away)
    return IntegrityError(
        f"{what} was {how} while the campaign ran", where=str(path), why=why, hint=hint
    )


def _saved(connection: sqlite3.Connection, path: Path, away: str) -> tuple[str, str]:
    """Save a ledger that has lost its name; return what to say of it."""
    try:
        rescued = rescue(connection, path)
    except (OSError, SymfleetError) as error:
        why = f"nothing else has what it held, and that could not be saved: {error}"
        return why, f"restore a backup of the ledger; `symfleet corpus add` takes {path.parent}"
    return (
        f"all that it held was saved as {rescued.name} beside it",
        f"{away}`mv {rescued} {path}` puts it back, then `symfleet resume {path.parent}` goes on",
    )


def never_close(connection: sqlite3.Connection) -> None:
    """Keep a connection open until the process ends: closing it would remove what has the name of
    its log."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def rescue(connection: sqlite3.Connection, path: Path) -> Path:
    """Write a complete copy of an open ledger beside its name, under a free one."""
    number, rescued = 1, path.with_name(path.name + RESCUED_SUFFIX)
    while rescued.exists():
        number += 1
        rescued = path.with_name(f"{path.name}{RESCUED_SUFFIX}-{number}")
    unfinished = path.with_name(rescued.name + _UNFINISHED)
    unfinished.unlink(missing_ok=True)
    with guarded(str(unfinished)), contextlib.closing(sqlite3.connect(unfinished)) as copy:
        # The file is synchronised once, as a whole, before it gets its name.
        copy.execute("PRAGMA synchronous=OFF")
        connection.backup(copy)
    descriptor = os.open(unfinished, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    unfinished.rename(rescued)
    sync_folder(path.parent)
    return rescued
