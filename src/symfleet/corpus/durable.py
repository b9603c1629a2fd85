"""The one way in which symfleet writes a file that people or a later launch read.

A file appears complete or not at all: it is written beside its place and renamed. With `durable`
it also survives a power cut when the call returns. Many files that become valid together are
written without it and followed by one `sync_filesystem`.

A failed write or sync is never reported as success (A2) and never retried: after a failed fsync
the kernel may have dropped the pages, so a second fsync that succeeds proves nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from symfleet import crash
from symfleet.errors import NO_SPACE_ERRNOS, IOFailure, UserError

STAGING_PREFIX: Final = ".staging-"
"""Names of files that are not yet in place; whoever owns the folder may remove old ones."""

_serial = itertools.count()


def io_failure(error: OSError, what: str, where: str) -> IOFailure:
    """Describe an OSError in four parts."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            hint = "free some space, then `symfleet resume` goes on where it stopped"
        case errno.EACCES | errno.EPERM:
            hint = "let this user read and write it, and enter the folders above it"
        case errno.EROFS:
            hint = "the file system is read-only: mount it writable, or use another folder"
        case errno.EMFILE | errno.ENFILE | errno.ENOMEM | errno.EAGAIN | errno.EFBIG:
            hint = "raise the limit (`ulimit -a` shows those of this shell), then try again"
        case errno.EIO:
            hint = "check the disk (dmesg); `symfleet verify` tells whether anything is damaged"
        case _:
            hint = "mend the cause, then `symfleet resume` goes on where it stopped"
    return IOFailure(what, where=where, why=error.strerror or str(error), hint=hint)


@contextlib.contextmanager
def unless_disk_is_full() -> Iterator[None]:
    """Let a write fail that can be made later, when the disk has no space for it; nothing else."""
    try:
        yield
    except IOFailure as error:
        cause = error.__cause__
        if not isinstance(cause, OSError) or cause.errno not in NO_SPACE_ERRNOS:
            raise


def write_file(
    path: Path, data: bytes, *, durable: bool = True, staging: Path | None = None, mode: int = 0o644
) -> None:
    """Put `data` at `path`, replacing what is there, in one visible step.

    `staging`: existing folder of the same file system for the unfinished file (default: beside
    it). Raises IOFailure; then `path` is as before and no unfinished file is left.
    """
    folder = path.parent
    # The process id alone is not enough: two threads, or a forked helper, may publish one name.
    name = f"{STAGING_PREFIX}{os.getpid()}-{next(_serial)}"
    unfinished = (staging or folder) / name
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            crash.point("file.write")
            _write_all(descriptor, data)
            if durable:
                crash.point("file.sync")
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        crash.point("file.rename")
        unfinished.replace(path)
        crash.point("file.renamed")
        if durable:
            sync_folder(folder)
    except OSError as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise io_failure(error, "a file cannot be written", str(path)) from error


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        written = os.write(descriptor, rest)
        if written == 0:
            raise OSError(errno.EIO, "write made no progress")
        rest = rest[written:]


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable; raise OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_filesystem(folder: Path) -> None:
    """Make everything on the file system of `folder` durable (Linux `syncfs`); raise IOFailure."""
    try:
        crash.point("filesystem.sync")
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.syncfs(descriptor) != 0:
                code = ctypes.get_errno()
                raise OSError(code, os.strerror(code))
        finally:
            os.close(descriptor)
    except OSError as error:
        raise io_failure(error, "files cannot be made durable", str(folder)) from error


def remove_file(path: Path) -> None:
    """Remove a file, if it is there; raise IOFailure."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise io_failure(error, "a file cannot be removed", str(path)) from error


def check_folder_place(folder: Path, what: str, hint: str) -> None:
    """Raise UserError, "WHAT is not a folder", when something else has the name of a folder that is
    to be made, or of one above it: a file, or a link that leads nowhere."""
    for path in (folder, *folder.parents):
        if path.is_dir():
            return
        if path.exists() or path.is_symlink():
            why = "a file has this name" if path.exists() else "it is a link that leads nowhere"
            raise UserError(f"{what} is not a folder", where=str(path), why=why, hint=hint)


def make_folder(folder: Path, *, durable: bool = True) -> None:
    """Make a folder and its parents; raise IOFailure.

    With `durable` its name survives a power cut when the call returns, also when somebody else made
    it just before: whatever is synchronised inside it would be lost with the name.
    """
    try:
        missing = list(itertools.takewhile(lambda path: not path.exists(), folder.parents))
        folder.mkdir(parents=True, exist_ok=True)
        if durable:
            for made in (folder, *missing):
                _sync_name(made)
    except OSError as error:
        raise io_failure(error, "a folder cannot be made", str(folder)) from error


def _sync_name(folder: Path) -> None:
    """Make the name of a folder durable; that above it may be one that we cannot read."""
    try:
        sync_folder(folder.parent)
    except PermissionError:
        sync_filesystem(folder)


def clear_staging(folder: Path) -> int:
    """Remove unfinished files of dead processes; return how many. The caller owns the folder."""
    removed = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(STAGING_PREFIX) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(FileNotFoundError):
                    Path(entry.path).unlink()
                    removed += 1
    return removed
