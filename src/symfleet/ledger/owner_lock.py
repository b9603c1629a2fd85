"""One writing owner: flock on OUT/owner.lock.

The kernel releases the lock when its holder dies, so nobody ever breaks it: not by age, not by a
missing process, not by what the file says (L8). The file's text only tells people who holds it.
A stopped holder still holds it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from symfleet.clock import Clock
from symfleet.corpus.durable import io_failure
from symfleet.corpus.plain_files import open_plain
from symfleet.errors import BusyError, IOFailure

LOCK_NAME: Final = "owner.lock"
_POLL_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the lock, for people. `epoch` is 0 until one is open; `since_wall` in seconds."""

    host: str
    pid: int
    epoch: int
    since_wall: float


class OwnerLock:
    """The held lock. Close it to let others in."""

    def __init__(self, descriptor: int, holder: Holder, path: Path) -> None:
        self._descriptor = descriptor
        self._holder = holder
        self._path = path
        self.tell_epoch(holder.epoch)

    def tell_epoch(self, epoch: int) -> None:
        """Write down which epoch the holder has opened."""
        holder = self._holder = replace(self._holder, epoch=epoch)
        text = json.dumps(
            {"host": holder.host, "pid": holder.pid, "epoch": epoch, "since": holder.since_wall}
        )
        # A full disk must not keep the owner from its campaign: the text is for people only.
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, text.encode() + b"\n", 0)

    def keep(self) -> None:
        """See that the lock's name still leads to the lock, and lock the name anew when somebody
        has removed it: else the next job would find it free.

        Raises BusyError when another job has taken the name meanwhile."""
        held = os.fstat(self._descriptor)
        with contextlib.suppress(OSError):
            named = self._path.stat()
            if (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino):
                return
        try:
            descriptor = _open(self._path)
        except IOFailure:
            return  # nobody can take it either
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            told = os.pread(descriptor, 4096, 0)
            os.close(descriptor)
            raise _busy(self._path, told, self._holder.since_wall) from None
        os.close(self._descriptor)
        self._descriptor = descriptor
        self.tell_epoch(self._holder.epoch)

    def close(self) -> None:
        """Release the lock; the file stays."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def acquire(out: Path, holder: Holder, clock: Clock, wait_s: float) -> OwnerLock:
    """Take the lock of an output folder; wait at most `wait_s` by the monotonic clock.

    Raises BusyError naming holder and age when somebody else has it then.
    """
    path = out / LOCK_NAME
    descriptor = _open(path)
    deadline = clock.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if clock.monotonic() >= deadline:
                told = os.pread(descriptor, 4096, 0)
                os.close(descriptor)
                raise _busy(path, told, clock.wall()) from None
        except OSError as error:
            os.close(descriptor)
            raise io_failure(error, "the owner's lock cannot be taken", str(path)) from error
        else:
            return OwnerLock(descriptor, holder, path)
        clock.sleep(_POLL_S)


def wait_until_free(out: Path, clock: Clock, wait_s: float) -> None:
    """Return when nobody holds the lock of an output folder; it is looked at, not taken.

    Raises BusyError naming holder and age when somebody still has it after `wait_s`."""
    path = out / LOCK_NAME
    try:
        descriptor = open_plain(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise io_failure(error, "the owner's lock cannot be opened", str(path)) from error
    deadline = clock.monotonic() + wait_s
    try:
        while True:
            try:
                # Shared, for an instant: who takes it just now waits longer than that.
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                if clock.monotonic() >= deadline:
                    raise _busy(path, os.pread(descriptor, 4096, 0), clock.wall()) from None
            except OSError as error:
                raise io_failure(error, "the owner's lock cannot be taken", str(path)) from error
            else:
                return
            clock.sleep(_POLL_S)
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        return open_plain(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise io_failure(error, "the owner's lock cannot be opened", str(path)) from error


def _busy(path: Path, told: bytes, now_wall: float) -> BusyError:
    try:
        holder = json.loads(told)
        age = max(0.0, now_wall - float(holder["since"]))
        who = f"process {int(holder['pid'])} on {holder['host']}, epoch {int(holder['epoch'])}"
        why = f"{who}, holds it for {age:.0f} s"
    except (ValueError, KeyError, TypeError):
        why = "its holder has not told who it is"
    return BusyError(
        "the campaign is owned by a live job",
        where=str(path),
        why=why,
        hint="wait for it, stop it, or look at it with `symfleet status`",
    )
