"""Opening files whose names others can reach, without waiting for what stands there.

Opening a pipe waits for its other end, and a device may be read without end. Whoever has put one
under a name of ours gets an error that says so.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

_NO_FILE: Final = "it is no regular file"
_READ_BYTES: Final = 1 << 20


def require_plain(path: Path) -> None:
    """Raise OSError when what has this name, if anything has, is no regular file."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, _NO_FILE, str(path))


def open_plain(path: Path, flags: int = os.O_RDONLY, mode: int = 0o644) -> int:
    """Return a descriptor of a regular file; raise OSError, also for anything else."""
    require_plain(path)  # a pipe or a device is not even opened: that alone may have effects
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, mode)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, _NO_FILE, str(path))
    return descriptor


def read_plain(path: Path, bytes_max: int) -> bytes:
    """Return what a regular file holds; raise OSError, also for a larger one."""
    descriptor = open_plain(path)
    try:
        data = read_up_to(descriptor, bytes_max + 1)
    finally:
        os.close(descriptor)
    if len(data) > bytes_max:
        raise OSError(errno.EFBIG, f"it has more than {bytes_max} bytes", str(path))
    return data


def read_up_to(descriptor: int, size: int) -> bytes:
    """Return at most so many bytes; raise OSError."""
    parts: list[bytes] = []
    while size > 0 and (part := os.read(descriptor, min(size, _READ_BYTES))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
