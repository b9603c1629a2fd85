"""Streaming scan of a seed folder or file.

Theory of operation. A scan walks the tree and reads what it has not admitted yet, in batches of
bounded size, so that a folder of any size needs little memory and never holds up a turn. A file
counts as seen only after its admission is durable (`confirm`); until then the next scan reads it
again, which is harmless because admission knows inputs by their digest. What cannot be admitted has
one of a closed list of reasons, is counted once for as long as it stays the same, and is tried
again by every scan (A3). Nothing that a folder holds ends the campaign.

The folder of a campaign, this one or another, is never a seed: what a campaign writes below a seed
folder would come back as its inputs for ever. It is known by the files that only a campaign has.

A file is known by path, size, times and inode: when one of them changes it is read again. The times
are compared for equality only, never with a clock.

`judge` decides without touching anything; `FolderScanner` does the reading.
"""

# A million Path objects would cost more than the system calls.
# ruff: noqa: PTH108, PTH112, PTH114, PTH116, PTH118, PTH119, PTH120

from __future__ import annotations

import contextlib
import enum
import errno
import hashlib
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from symfleet import crash
from symfleet.corpus.admission import is_misnamed, printable_path
from symfleet.corpus.layout import CAMPAIGN_MARKS
from symfleet.corpus.plain_files import read_up_to
from symfleet.protocol.events import ScanFinished, SourceBatch
from symfleet.protocol.operations import Admission
from symfleet.types import input_id_of

BATCH_ENTRIES_MAX: Final = 64
BATCH_BYTES_MAX: Final = 8 << 20
STEP_FILES_MAX: Final = 256
"""Files that one step looks at, admitted or not."""
SORTED_NAMES_MAX: Final = 65_536
"""Names of a folder are taken in order, this many at a time."""
DEPTH_MAX: Final = 64


class Skip(enum.StrEnum):
    """Why a file is not admitted now."""

    UNREADABLE = "unreadable"
    VANISHED = "vanished"
    GROWING = "growing"
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    SPECIAL = "special"
    MISNAMED = "misnamed"
    CAMPAIGN = "campaign"
    """A campaign's folder, with all that is in it; a link to a file that lies in one."""


@dataclass(frozen=True, slots=True)
class FileMark:
    """What tells one state of a file from another."""

    size: int
    modified_ns: int
    changed_ns: int
    inode: int
    device: int
    regular: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading one file gave: marks before and after, and the bytes (at most one more than the
    largest input has); or the error number that ended it."""

    before: FileMark | None
    after: FileMark | None
    data: bytes
    error: int = 0


_GONE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ESTALE})
_NOT_A_FILE: Final = frozenset({errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EISDIR})


def judge(name: str, reading: Reading, input_bytes_max: int) -> Skip | None:  # noqa: PLR0911
    """Decide on one file: None admits it."""
    if reading.error in _NOT_A_FILE:
        return Skip.SPECIAL
    if reading.error in _GONE:
        return Skip.VANISHED
    if reading.error or reading.before is None:
        return Skip.UNREADABLE
    if not reading.before.regular:
        return Skip.SPECIAL
    if reading.before.size > input_bytes_max:
        return Skip.TOO_LARGE
    if reading.before != reading.after or len(reading.data) != reading.before.size:
        return Skip.GROWING
    if not reading.data:
        return Skip.EMPTY
    if is_misnamed(name, input_id_of(reading.data)):
        return Skip.MISNAMED
    return None


def mark_of(status: os.stat_result) -> FileMark:
    """Take the mark of a file from its stat."""
    return FileMark(
        size=status.st_size,
        modified_ns=status.st_mtime_ns,
        changed_ns=status.st_ctime_ns,
        inode=status.st_ino,
        device=status.st_dev,
        regular=stat.S_ISREG(status.st_mode),
    )


def read_input(path: str, input_bytes_max: int) -> Reading:
    """Read a file that may be anything: never blocks on a pipe, never reads more than needed."""
    try:
        # A pipe or a device is never opened: opening alone may have effects.
        before = mark_of(os.stat(path))
        if not before.regular or before.size > input_bytes_max:
            return Reading(before, before, b"")
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            before = mark_of(os.fstat(descriptor))
            data = read_up_to(descriptor, input_bytes_max + 1) if before.regular else b""
            return Reading(before, mark_of(os.fstat(descriptor)), data)
        finally:
            os.close(descriptor)
    except OSError as error:
        dangling = error.errno == errno.ENOENT and os.path.islink(path)
        code = errno.ELOOP if dangling else error.errno or errno.EIO
        return Reading(None, None, b"", code)


@dataclass(slots=True)
class _Batch:
    entries: list[Admission] = field(default_factory=list)
    skips: Counter[str] = field(default_factory=Counter)
    bytes: int = 0

    @property
    def full(self) -> bool:
        return len(self.entries) >= BATCH_ENTRIES_MAX or self.bytes >= BATCH_BYTES_MAX


@dataclass(frozen=True, slots=True)
class _Offer:
    path: str
    key: bytes


class FolderScanner:
    """Scans one source again and again.

    `start` begins a scan, `step` does a bounded piece of it and returns what the machine must hear,
    `confirm` tells which origins are durable. `consume`: the folder is ours (an inbox), admitted
    files are removed from it. Memory: one batch, one folder's names per level, and
    16 bytes of knowledge for each file that was seen.
    """

    def __init__(
        self,
        source: int,
        root: Path,
        admit: Callable[[bytes, str], Admission],
        input_bytes_max: int,
        read: Callable[[str, int], Reading] = read_input,
        consume: bool = False,
    ) -> None:
        self.source = source
        self.root = root
        self._admit = admit
        self._input_bytes_max = input_bytes_max
        self._read = read
        self._consume = consume
        self._seen: set[bytes] = set()
        self._told: set[bytes] = set()
        self._told_again: set[bytes] = set()
        self._offered: dict[str, _Offer] = {}
        self._paths: Iterator[tuple[str, Skip | None]] | None = None
        self._round = 0

    @property
    def active(self) -> bool:
        """Whether a scan is going on."""
        return self._paths is not None

    def start(self, round: int = 0) -> None:  # noqa: A002 (the contract's word)
        """Begin a scan; one that is going on is given up. `round` comes back in ScanFinished."""
        self._round = round
        self._offered.clear()
        self._told_again = set()
        self._paths = walk(str(self.root))

    def step(self) -> tuple[SourceBatch | ScanFinished, ...]:
        """Do a bounded piece of the scan: at most one batch, and the end when it was reached."""
        if self._paths is None:
            return ()
        batch = _Batch()
        looked_at = 0
        ended = False
        while not batch.full and looked_at < STEP_FILES_MAX:
            found = next(self._paths, None)
            if found is None:
                ended = True
                break
            looked_at += 1
            path, reason = found
            if reason is not None:
                self._skip(batch, path, reason, None)
            else:
                self._take(batch, path)
        answers: list[SourceBatch | ScanFinished] = []
        if batch.entries or batch.skips:
            skips = tuple(sorted(batch.skips.items()))
            answers.append(SourceBatch(self.source, tuple(batch.entries), skips))
        if ended:
            self._paths = None
            self._told = self._told_again
            answers.append(ScanFinished(self.source, self._round))
        return tuple(answers)

    def confirm(self, origins: Iterable[str]) -> None:
        """Mark files as seen: their admission is durable. A consuming scanner removes them."""
        for origin in origins:
            offer = self._offered.pop(origin, None)
            if offer is None:
                continue
            self._seen.add(offer.key)
            if self._consume and self._key_now(offer.path) == offer.key:
                crash.point("inbox.taken")
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(offer.path)

    def _take(self, batch: _Batch, path: str) -> None:
        key = self._key_now(path)
        if key is not None and key in self._seen:
            return
        reading = self._read(path, self._input_bytes_max)
        reason = judge(os.path.basename(path), reading, self._input_bytes_max)
        if reason is not None or reading.before is None:
            self._skip(batch, path, reason or Skip.UNREADABLE, reading.before)
            return
        origin = printable_path(path)
        self._offered[origin] = _Offer(path, _key(path, reading.before))
        batch.entries.append(self._admit(reading.data, origin))
        batch.bytes += len(reading.data)

    def _skip(self, batch: _Batch, path: str, reason: Skip, mark: FileMark | None) -> None:
        key = _key(f"{reason}\0{path}", mark if reason is not Skip.GROWING else None)
        self._told_again.add(key)
        if key not in self._told:
            batch.skips[reason.value] += 1

    @staticmethod
    def _key_now(path: str) -> bytes | None:
        try:
            return _key(path, mark_of(os.stat(path)))
        except OSError:
            return None


def _key(path: str, mark: FileMark | None) -> bytes:
    text = f"{path}\0{mark}".encode("utf-8", "surrogateescape")
    return hashlib.blake2b(text, digest_size=16).digest()


def is_campaign_folder(path: str) -> bool:
    """Whether a folder is that of a campaign, live or at rest or only just begun."""
    return any(os.path.lexists(os.path.join(path, name)) for name in CAMPAIGN_MARKS)


def walk(path: str, depth: int = 0) -> Iterator[tuple[str, Skip | None]]:
    """Yield all entries below a folder that are not folders, or the path itself if it is none.

    A folder that is not entered comes with its reason. Links to folders are followed at the top
    only, so a cycle cannot trap the scan.
    """
    if depth == 0 and not os.path.isdir(path):
        yield path, _reason_of_link(path)
        return
    if depth > DEPTH_MAX:
        yield path, Skip.SPECIAL
        return
    if is_campaign_folder(path):
        yield path, Skip.CAMPAIGN
        return
    try:
        entries = os.scandir(path)
    except OSError as error:
        yield path, Skip.VANISHED if error.errno in _GONE else Skip.UNREADABLE
        return
    with entries:
        while True:
            try:
                chunk = sorted(islice(entries, SORTED_NAMES_MAX), key=lambda entry: entry.name)
            except OSError:
                yield path, Skip.UNREADABLE
                return
            if not chunk:
                return
            for entry in chunk:
                if _is_folder(entry):
                    yield from walk(entry.path, depth + 1)
                else:
                    yield entry.path, _reason_of_link(entry.path) if entry.is_symlink() else None


def _reason_of_link(path: str) -> Skip | None:
    """Refuse the files that a campaign writes for itself, under whatever name; those of its corpus
    and its crashes lie deeper and may be linked."""
    return Skip.CAMPAIGN if is_campaign_folder(os.path.dirname(os.path.realpath(path))) else None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
