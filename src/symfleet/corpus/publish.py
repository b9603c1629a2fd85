"""Publisher: writes the files of one sink, in decision order, beside dispatch.

Theory of operation. The ledger's outbox is the truth; a sink is a mark in the ledger ("published up
to n") and a folder. A publisher writes the files of artefacts behind the mark, makes them durable
together (every 64 files or after a second), and only then asks for the mark to move. It may die
anywhere: redo from the mark writes the same bytes under the same names (C5, C6). A file that is
there with the right bytes is done; one with other bytes is moved to lost+found, the ledger's bytes
take its place and the repair is counted. Nothing is ever read back as truth.

`step` does a bounded piece and never waits for anything but the disk.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from symfleet import crash
from symfleet.corpus.durable import (
    clear_staging,
    io_failure,
    make_folder,
    sync_filesystem,
    write_file,
)
from symfleet.corpus.layout import LOST_AND_FOUND, STAGING, ProjectedFile, Reproduction, project
from symfleet.errors import IntegrityError, SymfleetError
from symfleet.protocol.answers import Artefact, SinkRow
from symfleet.protocol.events import PublishFailed, SinkAdvanced
from symfleet.types import SinkKind

STEP_ARTEFACTS_MAX: Final = 32
STEP_BYTES_MAX: Final = 4 << 20
SYNC_FILES_MAX: Final = 64
SYNC_DELAY_S: Final = 1.0


class ArtefactReader(Protocol):
    """The part of a ledger that a publisher reads."""

    def artefacts(
        self, kind: SinkKind, after: int, limit: int, bytes_max: int
    ) -> Sequence[Artefact]:
        """Return artefacts of a kind with number > `after`, in order; at least one when any."""
        ...


class Folder:
    """A sink's files: puts each in place, and counts what was wrong there.

    A folder that is on another disk than the campaign's has a place for unfinished and for wrong
    files of its own: a file cannot be renamed from disk to disk."""

    def __init__(self, out: Path, folder: Path) -> None:
        self.folder = folder
        self._staging = out / STAGING
        self._lost = out / LOST_AND_FOUND
        self._made: set[Path] = set()
        self.repaired = 0

    def prepare(self) -> None:
        """Make the folders and remove unfinished files of dead owners; the caller is the owner.

        None of them need be durable before the file system is synchronised as a whole. A file in
        the folder's place is set aside; a link that leads nowhere stays: its disk is not mounted.
        """
        if self.folder.exists() and not self.folder.is_dir():
            self._set_aside(self.folder)
        make_folder(self.folder, durable=False)
        make_folder(self._staging, durable=False)
        clear_staging(self._staging)
        if self.folder.stat().st_dev != self._staging.stat().st_dev:
            self._staging = self.folder / STAGING
            self._lost = self.folder / LOST_AND_FOUND
            make_folder(self._staging, durable=False)
            clear_staging(self._staging)

    def put(self, file: ProjectedFile) -> bool:
        """Put one file in place unless it is there; return whether anything was written."""
        path = self.folder / file.path
        if path.parent not in self._made:
            self._make_place(path.parent)
            self._made.add(path.parent)
        if self._holds(path, file):
            return False
        write_file(path, file.data, durable=False, staging=self._staging, mode=file.mode)
        return True

    def _make_place(self, folder: Path) -> None:
        """Make the folder of a file; what has its name but is no folder of ours is set aside, so
        that nothing is written through a link to elsewhere."""
        try:
            is_folder = stat.S_ISDIR(folder.lstat().st_mode)
        except FileNotFoundError:
            is_folder = True
        except OSError as error:
            raise io_failure(error, "a sink's folder cannot be read", str(folder)) from error
        if not is_folder:
            self._set_aside(folder)
        make_folder(folder, durable=False)

    def _holds(self, path: Path, file: ProjectedFile) -> bool:
        try:
            status = path.lstat()
            size = len(file.data)
            if (
                stat.S_ISREG(status.st_mode)
                and status.st_size == size
                and path.read_bytes() == file.data
            ):
                return True
        except FileNotFoundError:
            return False
        except OSError as error:
            raise io_failure(error, "a published file cannot be read", str(path)) from error
        if file.named_by_content or not stat.S_ISREG(status.st_mode):
            self._set_aside(path)
        return False

    def _set_aside(self, path: Path) -> None:
        """Move what is wrong to lost+found, and count it; somebody else may have taken it away."""
        if set_aside(path, self.folder.parent, self._lost):
            self.repaired += 1
            crash.point("publish.set_aside")


def set_aside(path: Path, base: Path, lost: Path) -> bool:
    """Move what is wrong to `lost`, under a name that tells where it was below `base`; False when
    somebody else has taken it away."""
    make_folder(lost, durable=False)
    name = str(path.relative_to(base)).replace("/", "-")
    for serial in range(1, 1_000_000):
        aside = lost / f"{name}.{serial}"
        if not aside.exists():
            break
    try:
        path.rename(aside)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise io_failure(error, "a wrong file cannot be set aside", str(path)) from error
    return True


def check_artefact(artefact: Artefact) -> None:
    """Raise IntegrityError unless the ledger's bytes have the digest that names them (A1)."""
    digest = hashlib.sha256(artefact.data).hexdigest()
    if digest != artefact.input_id:
        raise IntegrityError(
            "the ledger's bytes of an input do not have its digest",
            where=f"artefact {artefact.number}, input {artefact.input_id}",
            why=f"the bytes have the digest {digest}",
            hint="`symfleet verify` names all damaged rows; restore the ledger from a backup",
        )


class Publisher:
    """Publishes one sink. `step` is called in every turn; it does nothing when nothing is due."""

    def __init__(
        self, sink: SinkRow, out: Path, reader: ArtefactReader, reproduction: Reproduction
    ) -> None:
        self.sink = sink
        self._reader = reader
        self._reproduction = reproduction
        self._folder = Folder(out, Path(sink.path))
        self._marked = sink.published_upto
        self._written = sink.published_upto
        self._unsynced = 0
        self._unsynced_since = 0.0
        self._told_repaired = 0
        self._failed = False
        self._prepared = False

    @property
    def published_upto(self) -> int:
        """Number of the last artefact whose files are durable."""
        return self._marked

    def step(
        self, upto: int, now: float, *, flush: bool = False
    ) -> tuple[SinkAdvanced | PublishFailed, ...]:
        """Write some files of artefacts up to `upto`, and move the mark when it is time.

        `now` is monotonic seconds. `flush`: the mark moves as soon as everything is written. After
        a failure it does nothing any more.
        """
        if self._failed or (self._marked >= upto):
            return ()
        try:
            if not self._prepared:
                self._folder.prepare()
                self._prepared = True
            if self._written < upto:
                self._write_some(upto, now)
            return self._advance(upto, now, flush=flush)
        except SymfleetError as error:
            self._failed = True
            return (PublishFailed(int(error.exit_code), str(error)),)
        except OSError as error:
            self._failed = True
            failure = io_failure(error, "artefacts cannot be published", self.sink.path)
            return (PublishFailed(int(failure.exit_code), str(failure)),)

    def _write_some(self, upto: int, now: float) -> None:
        artefacts = self._reader.artefacts(
            self.sink.kind, self._written, STEP_ARTEFACTS_MAX, STEP_BYTES_MAX
        )
        if self._written == self._marked:
            self._unsynced_since = now
        for artefact in artefacts:
            check_artefact(artefact)
            for file in project(artefact, self._reproduction):
                # A file that is there may be there without being durable: it counts as well.
                self._folder.put(file)
                self._unsynced += 1
                crash.point("publish.file")
            self._written = artefact.number
            crash.point("publish.written")
        if not artefacts or self._written >= upto:
            # Numbers in between belong to other kinds.
            self._written = max(self._written, upto)

    def _advance(self, upto: int, now: float, *, flush: bool) -> tuple[SinkAdvanced, ...]:
        if self._written == self._marked:
            return ()
        due = (
            self._unsynced >= SYNC_FILES_MAX
            or now - self._unsynced_since >= SYNC_DELAY_S
            or (flush and self._written >= upto)
        )
        if not due:
            return ()
        if self._unsynced:
            sync_filesystem(self._folder.folder)
            self._unsynced = 0
        crash.point("publish.synced")
        moved = SinkAdvanced(
            sink=self.sink.sink,
            incarnation=self.sink.incarnation,
            published_from=self._marked,
            published_upto=self._written,
            repaired=self._folder.repaired - self._told_repaired,
        )
        self._told_repaired = self._folder.repaired
        self._marked = self._written
        return (moved,)
