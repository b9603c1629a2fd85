"""A file that holds some space: on a full disk the owner can still decide what is in flight."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from symfleet.corpus.durable import io_failure
from symfleet.errors import NO_SPACE_ERRNOS

RESERVE_NAME: Final = ".reserve"
DEFAULT_RESERVE_BYTES: Final = 16 * 2**20


def keep_reserve(out: Path, size: int) -> None:
    """Make the reserve file `size` bytes long; raise IOFailure when that fails."""
    path = out / RESERVE_NAME
    if size == 0:
        return
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.posix_fallocate(descriptor, 0, size)
        finally:
            os.close(descriptor)
    except OSError as error:
        free_reserve(out)
        is_full = error.errno in NO_SPACE_ERRNOS
        what = "there is no space for the ledger's reserve"
        what = what if is_full else "the ledger's reserve cannot be made"
        raise io_failure(error, what, str(path)) from error


def free_reserve(out: Path) -> bool:
    """Give the space back to the file system; return whether there was any."""
    with contextlib.suppress(OSError):
        (out / RESERVE_NAME).unlink()
        return True
    return False
