"""On which file systems a ledger may be.

SQLite needs locks and a shared memory map that work. On network file systems they do not, or not
always, and the loss shows only after a crash: they are refused.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from symfleet.errors import HostError

_NETWORK: Final = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "gfs2",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "openafs",
        "pvfs2",
        "smb2",
        "smb3",
        "smbfs",
    }
)
_VOLATILE: Final = frozenset({"tmpfs", "ramfs"})
_ESCAPE: Final = re.compile(r"\\([0-7]{3})")


def kind_of(folder: Path, mounts: str) -> str:
    """Return the file-system type of a folder, given the text of /proc/self/mountinfo.

    The innermost mount wins; of several mounts at one place the last one.
    """
    target = os.path.realpath(folder)
    best, kind = -1, "unknown"
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields, tail = left.split(), right.split()
        if len(fields) < 5 or not tail:
            continue
        point = _ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[4])
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:
            best, kind = len(point), tail[0]
    return kind


def judge(folder: Path, kind: str, *, allow_fuse: bool) -> tuple[str, ...]:
    """Return warnings about a file system; raise HostError when a ledger must not be there."""
    is_fuse = kind in ("fuse", "fuseblk") or kind.startswith("fuse.")
    if kind in _NETWORK or (is_fuse and not allow_fuse):
        hint = "put the output folder on a local disk"
        if is_fuse:
            hint += ", or pass --allow-filesystem fuse when you know that its locks work"
        raise HostError(
            "the ledger cannot be on this file system",
            where=str(folder),
            why=f"it is of type {kind}, where locks or syncs may not hold what they promise",
            hint=hint,
        )
    if kind in _VOLATILE:
        return (f"{folder} is on {kind}: the campaign is lost when the machine restarts",)
    return ()


def check_filesystem(folder: Path, *, allow_fuse: bool) -> tuple[str, ...]:
    """Judge the file system that `folder` is on; return warnings."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ("the type of the output folder's file system cannot be told",)
    return judge(folder, kind_of(folder, mounts), allow_fuse=allow_fuse)
