"""Which calls may fail, and how: what `shim.c` is armed with."""

from __future__ import annotations

import contextlib
import ctypes
import enum
import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.errors import HostError

SOURCE: Final = Path(__file__).with_name("shim.c")


class Kind(enum.IntFlag):
    """Kinds of calls; numbers as in `shim.c`."""

    OPEN = 1
    WRITE = 2
    SYNC = 4
    RENAME = 8
    RESIZE = 16
    MAP = 32
    UNLINK = 64
    FOLDER = 128
    READ = 256


CHANGES: Final = (
    Kind.OPEN
    | Kind.WRITE
    | Kind.SYNC
    | Kind.RENAME
    | Kind.RESIZE
    | Kind.MAP
    | Kind.UNLINK
    | Kind.FOLDER
)
SPACE: Final = Kind.OPEN | Kind.WRITE | Kind.RENAME | Kind.RESIZE | Kind.FOLDER
"""Calls that a full disk can refuse."""


class Mode(enum.IntEnum):
    """How the call fails; numbers as in `shim.c`."""

    ONCE = 0
    FOR_EVER = 1
    SHORT = 2


@dataclass(frozen=True, slots=True)
class Fault:
    """The `nth` call of these kinds fails with `code`, and with FOR_EVER all later ones do."""

    name: str
    kinds: Kind
    code: int
    mode: Mode = Mode.ONCE


FAULTS: Final = (
    Fault("EIO", CHANGES, errno.EIO),
    Fault("EIO while reading", Kind.READ, errno.EIO),
    Fault("ENOSPC", SPACE, errno.ENOSPC),
    Fault("short write", Kind.WRITE, errno.EIO, Mode.SHORT),
    Fault("disk full from then on", SPACE, errno.ENOSPC, Mode.FOR_EVER),
    Fault("disk gone from then on", CHANGES | Kind.READ, errno.EIO, Mode.FOR_EVER),
)
EACH_SYNC: Final = Fault("EIO in a sync", Kind.SYNC, errno.EIO)
"""A part of the first one, so small that each change can be tried with all of it."""


def variable(folder: Path, fault: Fault, nth: int, who: str) -> dict[str, str]:
    """Return the variable that arms a process of a launch: the rank `who`, or the program."""
    parts = (folder, int(fault.kinds), nth, fault.code, int(fault.mode), who)
    return {"SYMFLEET_IO_FAULT": "|".join(map(str, parts))}


def build(folder: Path) -> Path:
    """Compile the shim with the machine's compiler; return the library.

    Raises HostError when there is no compiler."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        raise HostError(
            "the library that lets calls fail cannot be made",
            where=str(SOURCE),
            why="there is no C compiler",
            hint="install one, for example with ./symfleet.sh setup",
        )
    library = folder / "symfleet-io-faults.so"
    command = [compiler, "-O1", "-fPIC", "-shared", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return library


class Shim:
    """The shim inside this process."""

    def __init__(self) -> None:
        """Find it; raises AttributeError in a process that it was not preloaded into."""
        library = ctypes.CDLL(None)
        self._arm = library.io_faults_arm
        self._arm.argtypes = [
            *(ctypes.c_char_p, ctypes.c_uint, ctypes.c_long, ctypes.c_int, ctypes.c_int)
        ]
        self._pause = library.io_faults_pause
        self._fired, self._retried = library.io_faults_fired, library.io_faults_retried
        self._unsettled = library.io_faults_unsettled
        for counter in (self._fired, self._retried, self._unsettled):
            counter.restype = ctypes.c_long

    def arm(self, folder: Path, fault: Fault, nth: int) -> None:
        """Let the nth call from now on fail."""
        self._arm(os.fsencode(folder), int(fault.kinds), nth, fault.code, int(fault.mode))

    def disarm(self) -> None:
        """Let all calls through."""
        self._arm(b"", 0, 0, 0, 0)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Let all calls inside the block through, uncounted."""
        self._pause(1)
        try:
            yield
        finally:
            self._pause(0)

    @property
    def fired(self) -> int:
        """How many calls have failed."""
        return int(self._fired())

    @property
    def retried(self) -> int:
        """How often a file was synchronised again after that had failed."""
        return int(self._retried())

    @property
    def unsettled(self) -> int:
        """How many syncs have failed, but for one of a folder that a later one of the same folder
        has made up for."""
        return int(self._unsettled())
