"""Room on the disk of the output folder: asked for before a start, held while ranks live.

Open MPI makes a shared-memory file of 16 MiB for each rank, sparse, and gives up in words that name
no disk when one does not fit. Later it is worse: a rank that touches a page of such a file for
which there is no space is killed by SIGBUS. So the launcher takes and gives back what a start needs
before each one, which finds a quota and a limit on the size of files as well as a full disk, and
the root fills the holes before anything is decided.

The sizes were measured with 1 to 48 slots: MPI and PMIx take 0.2 MiB beside the segments, a young
ledger takes 1 MiB beside its reserve.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import resource
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.corpus.durable import io_failure
from symfleet.errors import IOFailure

_SEGMENT_BYTES: Final = 16 << 20
_SMALL_BYTES: Final = 2 << 20
"""Everything that is no segment and no reserve, with some to spare."""
_FILES: Final = 48
_FILES_EACH: Final = 2
"""Files and folders of a start, and how many more each rank and each slot has."""
_PROBE: Final = "room"
_RESUME: Final = "`symfleet resume`"
_LACKS: Final = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "a limit keeps files too small",
}
_WORDS: Final = re.compile(
    rb"[^\n]*(?:not enough space|No space left on device|Disk quota exceeded|File too large)[^\n]*"
)
"""What Open MPI, PMIx and the system say about it."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a start needs: this many files, some of which are as large as told."""

    files: int
    sizes: tuple[int, ...]

    @property
    def total(self) -> int:
        """Return the bytes of all."""
        return sum(self.sizes)


def room_of_start(ranks: int, slots: int, reserve_bytes: int) -> Room:
    """Return what `ranks` ranks with `slots` slots and a ledger need; `reserve_bytes`: what the
    ledger's reserve still lacks."""
    sizes = (*[_SEGMENT_BYTES] * ranks, _SMALL_BYTES, *[reserve_bytes] * (reserve_bytes > 0))
    return Room(_FILES + _FILES_EACH * (ranks + slots), sizes)


def require_room(out: Path, folder: Path, room: Room, what: str = "the job cannot start") -> None:
    """Take `room` in `folder`, on the file system of `out`, and give it back; raise IOFailure,
    which says `what`, when it is not there. The caller owns the folder."""
    probe = folder / _PROBE
    try:
        try:
            probe.mkdir(parents=True, exist_ok=True)
            _take(probe, room)
        finally:
            shutil.rmtree(probe, ignore_errors=True)
    except OSError as error:
        raise lack_of_room(error, out, room, what) from error


def require_file_limit(out: Path, largest: int) -> None:
    """Raise IOFailure when the limit on the size of files (`ulimit -f`) forbids one of `largest`
    bytes: whoever makes it would be killed by SIGXFSZ."""
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit != resource.RLIM_INFINITY and limit < largest:
        raise IOFailure(
            f"the job cannot start: {_LACKS[errno.EFBIG]}",
            where=str(out),
            why=f"a file may have {limit / (1 << 20):.1f} MiB, and an executor's table has"
            f" {-(-largest >> 20)} MiB: it is in memory, and counts as a file",
            hint="raise the limit (`ulimit -f`), or lower --rows and --events, then give the same"
            " command again: nothing is lost",
        )


def _take(probe: Path, room: Room) -> None:
    for number in range(room.files):
        descriptor = os.open(probe / str(number), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if number < len(room.sizes):
                os.posix_fallocate(descriptor, 0, room.sizes[number])
        finally:
            os.close(descriptor)


def hold_shared_memory(run_dir: Path, out: Path) -> None:
    """Fill the holes of all files in the run folder; raise IOFailure when the disk has no room.

    From here on nobody is killed for touching memory that a full disk cannot back. Bytes that are
    there stay as they are. A file that has gone, or that MPI lets nobody write, needs nothing."""
    for path in run_dir.rglob("*"):
        try:
            state = path.lstat()
            if stat.S_ISREG(state.st_mode) and state.st_blocks * 512 < state.st_size:
                with path.open("r+b") as file:
                    os.posix_fallocate(file.fileno(), 0, state.st_size)
        except OSError as error:
            if error.errno in _LACKS:
                raise lack_of_room(error, out) from error


def lack_of_room(
    error: OSError, out: Path, room: Room | None = None, what: str = "the job cannot start"
) -> IOFailure:
    """Describe what came of a lack of space: what was refused, and how much is missing."""
    lack = _LACKS.get(error.errno or 0)
    if lack is None:
        return io_failure(error, "a launch cannot be prepared", str(error.filename or out))
    why = os.strerror(error.errno or 0)
    remedy = "free some space"
    needs = "" if room is None else f"a start needs {-(-room.total >> 20)} MiB"
    if error.errno == errno.EFBIG:
        remedy = "raise the limit (`ulimit -f`)"
    if error.errno == errno.ENOSPC:
        disk = os.statvfs(out)
        free, files = disk.f_bavail * disk.f_frsize, disk.f_favail
        if disk.f_files and files < (1 if room is None else room.files):
            lack, remedy = "the disk takes no more files", "remove some files"
            why += f": it takes {files} more files"
            needs = "" if room is None else f"a start needs {room.files}"
        elif room is not None and free < room.total:
            why += f": {free / (1 << 20):.1f} MiB are free"
    elif room is not None:
        needs += f", {max(room.sizes) >> 20} of them in one file"
    why += f", {needs}" if needs else ""
    hint = f"{remedy}, then give the same command again: nothing is lost"
    return IOFailure(f"{what}: {lack}", where=str(out), why=why, hint=hint)


@contextlib.contextmanager
def naming_the_disk(out: Path) -> Iterator[None]:
    """Tell what the disk refuses to the block in the words of a start.

    `symfleet resume`, which other hints name, needs a campaign that has been written down."""
    try:
        yield
    except IOFailure as error:
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno in _LACKS:
            raise lack_of_room(cause, out) from cause
        if _RESUME in error.hint:
            hint = "mend the cause, or choose another folder after -o, and give the command again"
            raise IOFailure(error.what, where=error.where, why=error.why, hint=hint) from cause
        raise


def words_of_lack(said: bytes) -> str:
    """Return the first line in which a program complains about space, empty when none does."""
    found = _WORDS.search(said)
    return found.group().decode("utf-8", "replace").strip() if found else ""


def died_for_space(words: str, out: Path) -> IOFailure:
    """Describe the end of a job that complained about space, though there is some now."""
    return IOFailure(
        "the job died: there was no space",
        where=str(out),
        why=words,
        hint="free some space, then give the same command again: nothing is lost",
    )
