"""Three models of what a file system has kept after a power cut.

- ORDERED: one journal, as ext4 with data=ordered. Names and sizes are kept up to some moment, and
  every fsync moves that moment; what was appended is there from its beginning up to some point;
  overwritten sectors are there or not.
- REORDERED: only what was synchronised is certain. Of all else any subset is there, names too, and
  the name of a new file only after fsync of its folder.
- LOSSY: as REORDERED, but names, and cuts of files, that no folder's fsync has covered are lost
  altogether or all there, and what was appended without fsync left zeros, garbage, or a length
  that nobody has written.

A write is torn at sectors of 512 bytes in all of them. A sector that is overwritten holds its old
bytes or its new ones (SQLite relies on that, too).
"""

from __future__ import annotations

import enum
import functools
import hashlib
import posixpath
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from symfleet.testing.power_cut.operations import (
    SHARED_INDEX,
    Before,
    Create,
    DataOperation,
    MakeFolder,
    NameOperation,
    Operation,
    RemoveFolder,
    Rename,
    Resize,
    Sync,
    SyncAll,
    SyncFolder,
    Unlink,
    Write,
)

SECTOR_BYTES: Final = 512
_TREES_MAX: Final = 2_000


class Model(enum.Enum):
    """A file system."""

    ORDERED = "ordered"
    REORDERED = "reordered"
    LOSSY = "lossy"


class Spoil(enum.Enum):
    """What a write left instead of its bytes."""

    ZEROS = "zeros"
    GARBAGE = "garbage"
    LENGTH = "length"


Torn = tuple[bool, ...]
"""Which sectors of a write are there."""
Kept = Mapping[int, Torn | Spoil | None]
"""Operations that are there by their index; None: whole."""


@dataclass(frozen=True)
class Tree:
    """What is found: folders, and names with the bytes of their files and a digest of these."""

    folders: frozenset[str]
    files: dict[str, tuple[bytes, bytes]]

    @functools.cached_property
    def digest(self) -> bytes:
        """Return what tells this tree from all others."""
        hasher = hashlib.blake2b(repr(sorted(self.folders)).encode(), digest_size=16)
        for name in sorted(self.files):
            hasher.update(name.encode() + b"\0" + self.files[name][1])
        return hasher.digest()


class Disk:
    """The operations of one trace, moved forward to each instant at which the power may fail.

    `free` then holds the indices of operations that need not be there."""

    def __init__(self, before: Before, operations: tuple[Operation, ...], model: Model) -> None:
        self._model = model
        self._operations = operations
        self._now = 0
        self._before = before
        self._names = list[tuple[int, NameOperation]]()
        self._certain = set[int]()
        self._settled = {inode: bytearray(data) for inode, data in before.contents.items()}
        self._versions: dict[int, int] = {}
        self._settled_at = 0
        self._trees: dict[tuple[object, ...], Tree] = {}
        self._data: dict[int, list[tuple[int, DataOperation]]] = {}
        self._cache: dict[tuple[object, ...], tuple[bytes, bytes]] = {}

    @property
    def free_data(self) -> list[tuple[int, DataOperation]]:
        """Return changes of files that need not be there, in order."""
        return sorted(
            (change for changes in self._data.values() for change in changes),
            key=lambda change: change[0],
        )

    @property
    def free_names(self) -> list[tuple[int, NameOperation]]:
        """Return changes of names that need not be there, in order."""
        return [change for change in self._names if change[0] not in self._certain]

    def step(self) -> Operation:
        """Let the next operation happen and return it."""
        index, operation = self._now, self._operations[self._now]
        self._now += 1
        match operation:
            case Write() | Resize():
                self._data.setdefault(operation.inode, []).append((index, operation))
            case Create() | MakeFolder() | Rename() | Unlink() | RemoveFolder():
                self._names.append((index, operation))
            case Sync(inode):
                self._settle(inode)
                if self._model is Model.ORDERED:
                    self._commit_names()
            case SyncFolder(path):
                if self._model is Model.ORDERED:
                    self._commit_names()
                else:
                    self._certain |= {i for i, name in self._names if path in _folders_of(name)}
            case SyncAll():
                for inode in list(self._data):
                    self._settle(inode)
                self._commit_names()
            case _:
                pass
        return operation

    def _commit_names(self) -> None:
        """Everything that the journal holds is there: names, and sizes that are no data."""
        self._certain |= {index for index, _ in self._names}

    def _settle(self, inode: int) -> None:
        content = self._settled.setdefault(inode, bytearray())
        for _, operation in self._data.pop(inode, ()):
            _apply(content, operation, None)
        self._versions[inode] = self._settled_at = self._now

    def tree(self, kept: Kept) -> Tree:
        """Return what is found when of the free operations exactly these are there."""
        # The same operations are free at many instants, and the same of them are kept.
        key = (len(self._certain), self._settled_at, frozenset(kept.items()))
        found = self._trees.get(key)
        if found is None:
            if len(self._trees) >= _TREES_MAX:
                self._trees.clear()
            found = self._trees[key] = self._tree(kept)
        return found

    def _tree(self, kept: Kept) -> Tree:
        folders, names = set(self._before.folders) | {""}, dict(self._before.names)
        for index, operation in self._names:
            if index in self._certain or index in kept:
                _rename(folders, names, operation)
        reachable = {folder for folder in folders if _is_reachable(folder, folders)}
        files = {
            name: _INDEX if name.endswith(SHARED_INDEX) else self._content(inode, kept)
            for name, inode in names.items()
            if posixpath.dirname(name) in reachable
        }
        return Tree(frozenset(reachable - {""}), files)

    def _content(self, inode: int, kept: Kept) -> tuple[bytes, bytes]:
        changes = [(i, change, kept[i]) for i, change in self._data.get(inode, ()) if i in kept]
        key = (inode, self._versions.get(inode, 0), tuple((i, how) for i, _, how in changes))
        found = self._cache.get(key)
        if found is None:
            content = bytearray(self._settled.get(inode, b""))
            for _, change, how in changes:
                _apply(content, change, how)
            data = bytes(content)
            found = (data, digest_of(data))
            if len(self._cache) > 64:
                self._cache.clear()
            self._cache[key] = found
        return found


def digest_of(data: bytes) -> bytes:
    """Return a digest of a file's bytes."""
    return hashlib.blake2b(data, digest_size=16).digest()


def sectors_of(write: Write) -> int:
    """Return how many sectors of the disk a write touches."""
    first = write.offset // SECTOR_BYTES
    return (write.offset + len(write.data) - 1) // SECTOR_BYTES - first + 1


def _folders_of(operation: NameOperation) -> Collection[str]:
    match operation:
        case Rename(_, new):
            return (posixpath.dirname(new) or ".",)
        case _:
            return (posixpath.dirname(operation.path) or ".",)


def _is_reachable(folder: str, folders: Collection[str]) -> bool:
    while folder:
        folder = posixpath.dirname(folder)
        if folder not in folders:
            return False
    return True


def _rename(folders: set[str], names: dict[str, int], operation: NameOperation) -> None:
    match operation:
        case Create(path, inode):
            names[path] = inode
        case MakeFolder(path):
            folders.add(path)
        case Rename(old, new, inode):
            if names.get(old) == inode:
                del names[old]
            names[new] = inode
        case Unlink(path):
            names.pop(path, None)
        case RemoveFolder(path):
            folders.discard(path)


def _apply(content: bytearray, operation: DataOperation, how: Torn | Spoil | None) -> None:
    match operation, how:
        case Resize(_, size, grow_only), _:
            if size < len(content) and not grow_only:
                del content[size:]
            elif size > len(content):
                content.extend(bytes(size - len(content)))
        case Write(_, offset, data), None:
            _put(content, offset, data)
        case Write(_, offset, data), Spoil.ZEROS:
            _extend(content, offset, bytes(len(data)))
        case Write(_, offset, data), Spoil.GARBAGE:
            _extend(content, offset, garbage(offset, len(data)))
        case Write(_, offset, data), Spoil.LENGTH:
            # The file grew by a part of it, and that part was never written.
            _extend(content, offset, garbage(offset, max(1, len(data) * 5 // 8)))
        case Write(_, offset, data), torn:
            assert isinstance(torn, tuple)
            for start, end in _kept_pieces(offset, len(data), torn):
                _put(content, offset + start, data[start:end])
        case _:
            raise AssertionError(operation)


def _kept_pieces(offset: int, length: int, torn: Iterable[bool]) -> Iterable[tuple[int, int]]:
    start = 0
    for is_there in torn:
        end = min(length, SECTOR_BYTES - (offset + start) % SECTOR_BYTES + start)
        if is_there:
            yield start, end
        start = end


def _put(content: bytearray, offset: int, data: bytes) -> None:
    if offset > len(content):
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


def _extend(content: bytearray, offset: int, data: bytes) -> None:
    """Put bytes where a file had none: only new blocks may hold what nobody has written. An old
    sector that was to be overwritten holds its old bytes or its new ones."""
    beyond = max(0, len(content) - offset)
    if beyond < len(data):
        _put(content, offset + beyond, data[beyond:])


def garbage(seed: int, length: int) -> bytes:
    """Return bytes that nobody has written, always the same ones."""
    block = hashlib.sha512(b"garbage%d" % seed).digest()
    return (block * (length // len(block) + 1))[:length]


_INDEX: Final = (garbage(0, 32_768), b"index")
"""What is found as SQLite's index of the log."""
