"""OUT/job.lock: one live job for a campaign.

The lock is a `flock`, so the kernel drops it with its holder, however that died; its text only
tells people who holds it. A lock is never broken by age (L8): the wait ends at a monotonic
deadline and names the holder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from pathlib import Path
from typing import Final

import msgspec

from symfleet.clock import Clock
from symfleet.corpus.durable import io_failure
from symfleet.corpus.plain_files import open_plain
from symfleet.errors import BusyError
from symfleet.ledger.owner_lock import wait_until_free

LOCK_NAME: Final = "job.lock"
_POLL_S: Final = 0.02
_TEXT_BYTES_MAX: Final = 4096


class Holder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who holds the lock; `since` is wall-clock seconds, for people only."""

    host: str
    pid: int
    since: float


class CampaignLock:
    """Held from `acquire` until `release` or the end of the process."""

    def __init__(self, out: Path, clock: Clock) -> None:
        self._path = out / LOCK_NAME
        self._clock = clock
        self._fd: int | None = None

    def acquire(self, wait_s: float) -> None:
        """Take the lock; raise BusyError when a live job still has it after `wait_s`.

        That of the ledger's owner has to be free as well: somebody may have removed the file of
        this lock under a live job, whose files the next one would clear away."""
        try:
            fd = open_plain(self._path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise io_failure(error, "the campaign cannot be locked", str(self._path)) from error
        deadline = self._clock.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if self._clock.monotonic() >= deadline:
                    text = os.pread(fd, _TEXT_BYTES_MAX, 0)
                    os.close(fd)
                    raise self._busy(text) from None
                self._clock.sleep(_POLL_S)
        try:
            wait_until_free(self._path.parent, self._clock, wait_s)
        except BaseException:
            os.close(fd)
            raise
        holder = Holder(socket.gethostname(), os.getpid(), self._clock.wall())
        # A full disk must not keep anybody from the campaign: the text is for people only.
        with contextlib.suppress(OSError):
            os.ftruncate(fd, 0)
            os.pwrite(fd, msgspec.json.encode(holder), 0)
        self._fd = fd

    def release(self) -> None:
        """Give the lock back. The file stays: removing it would let two jobs hold two files."""
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None

    def _busy(self, text: bytes) -> BusyError:
        try:
            holder = msgspec.json.decode(text, type=Holder)
        except msgspec.DecodeError:
            why = "its holder has not said who it is yet"
        else:
            age_s = self._clock.wall() - holder.since
            why = f"process {holder.pid} on {holder.host} has held it for {age_s:.0f} s"
        return BusyError(
            "the campaign is owned by a live job",
            where=str(self._path),
            why=why,
            hint="wait for it, stop it with Ctrl-C or SIGTERM, or look with `symfleet top`",
        )
