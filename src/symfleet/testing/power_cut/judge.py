"""Open what a power cut has left with the real code, and say what is wrong.

Every distinct folder goes through the checks that read raw bytes and through SQLite's own recovery
of its log. What comes of it is a database image, and must be one that the program had committed,
not older than the last one that it held for durable. What follows depends on that image and on the
other files alone, and is done once for each distinct pair: the start check of an owner, the
comparison of files, an epoch, the publisher's redo. Once for each image, and for some folders by
count, all work that is left is done, too, and audited: the end must equal an undisturbed one's.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from symfleet.corpus.audit import compare, rebuild
from symfleet.corpus.inbox import inputs_folder
from symfleet.errors import DataError, SymfleetError
from symfleet.ledger import database, opener
from symfleet.ledger.audit import audit_all
from symfleet.ledger.contract import LedgerReader
from symfleet.ledger.database import LEDGER_NAME
from symfleet.ledger.owner_lock import LOCK_NAME
from symfleet.ledger.places import read_ledger
from symfleet.ledger.reserve import RESERVE_NAME
from symfleet.ledger.row_reading import read_campaign
from symfleet.ledger.sqlite_tables import open_tables
from symfleet.ledger.statements import load
from symfleet.ledger.tables import TableDigest, digest_of
from symfleet.testing.ledgers import ManualClock
from symfleet.testing.power_cut import campaign, drivers
from symfleet.testing.power_cut.campaign import OUT, REPRODUCTIONS, End
from symfleet.testing.power_cut.crash_states import CrashState
from symfleet.testing.power_cut.disk import Tree
from symfleet.testing.power_cut.drivers import BACKUP, DROPPED, SOURCE, Driver
from symfleet.testing.power_cut.operations import Note, Trace
from symfleet.types import SinkKind, input_id_of

_CAMPAIGN: Final = load("reading")["campaign"]
_LEDGER: Final = str(OUT / LEDGER_NAME)
_DATABASE: Final = frozenset(_LEDGER + suffix for suffix in ("", "-wal", "-shm"))
_UNREAD: Final = (
    str(OUT / LOCK_NAME),
    str(OUT / RESERVE_NAME),
    str(OUT / f"{LEDGER_NAME}.creating"),
    str(OUT / ".staging"),
    str(BACKUP),
)
"""Beginnings of names of files that an owner does not read: they are written anew, removed, or
looked at for themselves."""
_AGAIN: Final = 256
"""One of so many folders that need no second look gets one all the same."""

Image = bytes | None
"""Digest of a database; None: there is no ledger."""


@dataclass(frozen=True, slots=True)
class Violation:
    """What must not be found after a power cut, and where it can be found again."""

    driver: str
    instant: int
    model: str
    variant: str
    what: str


class Folder:
    """A folder that is made into one tree after another; only what differs is written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._there: dict[str, bytes] = {}
        self._folders: frozenset[str] = frozenset()
        path.mkdir(parents=True)

    def become(self, tree: Tree) -> None:
        """Hold exactly this tree."""
        if tree.folders != self._folders:
            shutil.rmtree(self._path)
            self._path.mkdir()
            self._there.clear()
            for name in sorted(tree.folders):
                (self._path / name).mkdir()
            self._folders = tree.folders
        for name in self._there.keys() - tree.files.keys():
            (self._path / name).unlink()
            del self._there[name]
        for name, (data, digest) in tree.files.items():
            if self._there.get(name) != digest:
                (self._path / name).write_bytes(data)
                self._there[name] = digest

    def forget_index(self) -> None:
        """Take away what a reader of a database has left beside it."""
        for suffix in ("-wal", "-shm"):
            name = _LEDGER + suffix
            if name not in self._there or suffix == "-shm":
                (self._path / name).unlink(missing_ok=True)
                self._there.pop(name, None)


@dataclass(slots=True)
class Tally:
    """How much was looked at."""

    states: int = 0
    distinct: int = 0
    opened: int = 0
    """Folders that an owner opened, up to the redo of what was not published."""
    finished: int = 0
    """Folders in which the campaign was carried on to its end."""
    violations: list[Violation] = field(default_factory=list)


class Judge:
    """Judges the states of one program's trace. `scratch` is a new folder, best in memory."""

    def __init__(
        self, label: str, driver: Driver, trace: Trace, end: End, scratch: Path, tally: Tally
    ) -> None:
        self._label = label
        self._driver = driver
        self._end = end
        self._tally = tally
        self._raw = Folder(scratch / "raw")
        self._whole = scratch / "whole"
        self._raw_path = scratch / "raw"
        self._images: dict[tuple[object, ...], tuple[Image, str]] = {}
        self._belonging = set[tuple[bytes, bytes]]()
        self._seen = set[bytes]()
        self._ends: dict[bytes, str] = {}
        self._ended = set[Image]()
        self._keys: dict[bytes, bytes] = {}
        self._beside: dict[bytes, str] = {}
        self._notes = [note.text for note in trace.operations if isinstance(note, Note)]
        self._first: Image = None
        self._following: dict[Image, Image] = {}

    def begin(self, tree: Tree) -> None:
        """Take the folder before the program's first step as its first image."""
        if self._driver.beside == "copy":
            return
        image, problem = self._image_of(tree)
        assert not problem, problem
        words = [note.partition(" ") for note in self._notes]
        images = [bytes.fromhex(digest) for word, _, digest in words if word in ("image", "leases")]
        order = [image, *(after for after in images if after != image)]
        self._first = image
        self._following = dict(zip(order, [*order[1:], None], strict=True))

    def judge(self, state: CrashState) -> None:
        """Look at one state."""
        self._tally.states += 1
        for what in self.problems(state.tree, self._notes[: state.notes]):
            self._tally.violations.append(
                Violation(self._label, state.instant, state.model.value, state.variant, what)
            )

    def problems(self, tree: Tree, notes: list[str]) -> Iterator[str]:
        """Yield what is wrong with a folder when the program had made these notes."""
        yield from self._problems_beside(tree, notes)
        if self._driver.beside == "copy":
            yield from self._problems_of_copy(tree, notes)
            return
        image, problem = self._image_of(tree)
        if problem:
            yield problem
            return
        yield from self._problems_of_image(image, notes)
        problem = self._end_of(tree, image)
        if problem and not (self._driver.beside == "repair" and "repaired" not in notes):
            yield problem

    # ---- the database ---------------------------------------------------------------------------

    def _image_of(self, tree: Tree) -> tuple[Image, str]:
        """Return what database is found, and what is wrong with it."""
        self._count(tree)
        there = tree.files.get(_LEDGER)
        names = frozenset() if there is not None else frozenset(tree.files)
        key = (names, *[tree.files[name][1] for name in sorted(_DATABASE & tree.files.keys())])
        found = self._images.get(key)
        if found is None:
            self._raw.become(tree)
            with working_in(self._raw_path):
                found = self._recovered(there[1] if there else b"")
            self._images[key] = found
            self._raw.forget_index()
        return found

    def _count(self, tree: Tree) -> None:
        """Count a folder that was never seen before."""
        before = len(self._seen)
        self._seen.add(tree.digest)
        self._tally.distinct += len(self._seen) - before

    def _recovered(self, file: bytes) -> tuple[Image, str]:
        """Return what the checks of raw bytes and SQLite make of the working folder. `file`: digest
        of the database file."""
        path = OUT / LEDGER_NAME
        try:
            if not opener.has_ledger(OUT):
                return None, ""
            database.check_file(path)
            with contextlib.closing(database.connect_reader(path)) as connection:
                image = campaign.digest_of_image(connection.serialize())
            # What it says depends on the two databases, with the log and without.
            if (file, image) not in self._belonging:
                database.check_log_belongs(path, _CAMPAIGN)
                self._belonging.add((file, image))
        except SymfleetError as error:
            return None, f"exit code {int(error.exit_code)}: {error}"
        return image, ""

    def _problems_of_image(self, image: Image, notes: list[str]) -> Iterator[str]:
        """The image is the last durable one, or one that was committed after it; the program may
        have been inside of the commit that comes next."""
        order, durable = [self._first], 0
        for word, _, digest in (note.partition(" ") for note in notes):
            if word in ("image", "leases"):
                order.append(bytes.fromhex(digest))
                durable = len(order) - 1 if word == "image" else durable
        following = self._following.get(order[-1])
        if image in order[durable:] or image == following:
            return
        if image in order:
            yield f"commit {order.index(image)} is found, but {durable} was durable"
        elif order[-1] in self._following:
            yield "the database is none that was committed by then"

    # ---- going on -------------------------------------------------------------------------------

    def _end_of(self, tree: Tree, image: Image) -> str:
        """Return what is wrong with the campaign's end when it is carried on from here."""
        key = self._keys.get(tree.digest)
        if key is None:
            key = self._keys[tree.digest] = _what_counts(tree, image)
        again = self._tally.states % _AGAIN == 0
        if key not in self._ends or again:
            to_end = again or image not in self._ended
            self._ended.add(image)
            self._ends[key] = self._carry_on(tree, to_end=to_end)
        return self._ends[key]

    def _carry_on(self, tree: Tree, *, to_end: bool) -> str:
        self._tally.opened += 1
        self._tally.finished += to_end
        shutil.rmtree(self._whole, ignore_errors=True)
        Folder(self._whole).become(tree)
        newer = drivers.newer_symfleet() if self._driver.newer else contextlib.nullcontext()
        with working_in(self._whole), newer:
            try:
                return _carried_on(self._driver, self._end if to_end else None)
            except SymfleetError as error:
                return f"exit code {int(error.exit_code)}: {error}"
            except AssertionError as error:
                return str(error) or "an assertion failed"

    # ---- beside the campaign --------------------------------------------------------------------

    def _problems_of_copy(self, tree: Tree, notes: list[str]) -> Iterator[str]:
        if "done" in notes and _LEDGER not in tree.files:
            yield "the campaign does not live where it moved to"
        self._count(tree)
        key = tree.digest
        if key not in self._ends:
            self._ends[key] = self._carry_on(tree, to_end=True)
        if self._ends[key]:
            yield self._ends[key]

    def _problems_beside(self, tree: Tree, notes: list[str]) -> Iterator[str]:
        match self._driver.beside:
            case "drop":
                place = str(inputs_folder(OUT) / input_id_of(DROPPED))
                found = tree.files.get(place)
                if found is None and "done" in notes:
                    yield "an input that was handed over is lost"
                if found is not None and found[0] != DROPPED:
                    yield "an input that was handed over has other bytes"
            case "backup":
                found = tree.files.get(str(BACKUP))
                if found is None and "done" in notes:
                    yield "a backup is lost"
                if found is not None:
                    yield from self._problems_of_backup(*found)
            case _:
                return

    def _problems_of_backup(self, data: bytes, digest: bytes) -> Iterator[str]:
        if digest not in self._beside:
            place = self._whole.with_name("kept.db")
            place.write_bytes(data)
            try:
                sound = _content_of(place) == _content_of(self._raw_path / OUT / LEDGER_NAME)
            except SymfleetError:
                sound = False
            self._beside[digest] = "" if sound else "a backup has its name, but is not whole"
        if self._beside[digest]:
            yield self._beside[digest]


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Let the folder be the working folder inside the block."""
    before = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    os.chdir(folder)
    try:
        yield
    finally:
        os.fchdir(before)
        os.close(before)


def _what_counts(tree: Tree, image: Image) -> bytes:
    """Return a digest of the image and of all files that an owner reads beside it."""
    hasher = hashlib.blake2b(repr((image, sorted(tree.folders))).encode())
    for name, (_, digest) in sorted(tree.files.items()):
        if name not in _DATABASE:
            read = b"" if name.startswith(_UNREAD) else digest
            hasher.update(name.encode() + b"\0" + read)
    return hasher.digest()


def _carried_on(driver: Driver, end: End | None) -> str:
    """Go on in the working folder, to this end if any; return what is wrong, or nothing."""
    clock = ManualClock()
    if driver.beside == "copy":
        assert SOURCE.exists() or (OUT / LEDGER_NAME).exists(), "the campaign has no ledger at all"
        drivers.copy_here()
    is_new = not opener.has_ledger(OUT)
    owner = campaign.create(clock) if is_new else campaign.own(clock)
    try:
        if driver.beside == "repair":
            rebuild(owner.ledger, OUT, REPRODUCTIONS, _published(owner.ledger))
        _require_files(owner.ledger)
        campaign.end_of(owner.ledger)
        owner.begin(77)
        owner.publish()
        _require_files(owner.ledger)
        if end is None:
            return ""
        _require_sound(owner.ledger)
        owner.finish(driver.seeds)
    finally:
        owner.ledger.close()
    with contextlib.closing(read_ledger(OUT)) as reader:
        _require_sound(reader)
        _require_files(reader)
        found = campaign.end_of(reader)
    for name in ("decisions", "corpus", "files"):
        told, wanted = getattr(found, name), getattr(end, name)
        if not wanted <= told:
            return f"{len(wanted - told)} {name} are lost in the end"
        if told != wanted:
            return f"{len(told - wanted)} {name} are there that nobody made"
    return ""


def _content_of(database_file: Path) -> list[TableDigest]:
    """Return digests of all rows of a sound ledger; raise SymfleetError for any other."""
    with contextlib.closing(open_tables(database_file)) as tables:
        findings = list(audit_all(tables.database, read_campaign(tables.database, "").campaign))
        if findings:
            raise DataError(findings[0].what)
        with tables.snapshot():
            return [digest_of(tables, table) for table in tables.tables()]


def _published(reader: LedgerReader) -> dict[SinkKind, int]:
    return {sink.kind: sink.published_upto for sink in reader.sinks()}


def _require_sound(reader: LedgerReader) -> None:
    for finding in reader.audit():
        raise AssertionError(f"C9: {finding.what}: {finding.row}: {finding.detail}")


def _require_files(reader: LedgerReader) -> None:
    for finding in compare(reader, OUT, REPRODUCTIONS, _published(reader)):
        raise AssertionError(f"C5: a published file is {finding.problem}: {finding.path}")
