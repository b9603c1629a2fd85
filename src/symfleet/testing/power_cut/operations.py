"""What a traced program did to a folder, in order. Paths are relative to the traced folder; a file
is the number of its inode, so that what is written follows the file and not its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SHARED_INDEX: Final = "-shm"
"""How the name of SQLite's index of the log ends. It is written through a mapping, which no trace
shows, and is made anew by whoever opens a database first: what is in it counts for nothing."""


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes were written at an offset."""

    inode: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Resize:
    """A file was cut off or extended with zeros. `grow_only`: allocation, which never cuts."""

    inode: int
    size: int
    grow_only: bool = False


@dataclass(frozen=True, slots=True)
class Create:
    """A name appeared for a new, empty file."""

    path: str
    inode: int


@dataclass(frozen=True, slots=True)
class MakeFolder:
    """A folder appeared."""

    path: str


@dataclass(frozen=True, slots=True)
class Rename:
    """A file got another name, which replaces what had it."""

    old: str
    new: str
    inode: int


@dataclass(frozen=True, slots=True)
class Unlink:
    """A name went."""

    path: str


@dataclass(frozen=True, slots=True)
class RemoveFolder:
    """An empty folder went."""

    path: str


@dataclass(frozen=True, slots=True)
class Sync:
    """fsync or fdatasync of a file returned."""

    inode: int


@dataclass(frozen=True, slots=True)
class SyncFolder:
    """fsync of a folder returned."""

    path: str


@dataclass(frozen=True, slots=True)
class SyncAll:
    """syncfs returned."""


@dataclass(frozen=True, slots=True)
class Note:
    """The program said something: what it is about to do, or what it holds for durable."""

    text: str


DataOperation = Write | Resize
NameOperation = Create | MakeFolder | Rename | Unlink | RemoveFolder
Operation = DataOperation | NameOperation | Sync | SyncFolder | SyncAll | Note


@dataclass(frozen=True, slots=True)
class Before:
    """What was in the folder, durably, before the program ran."""

    folders: frozenset[str]
    names: dict[str, int]
    contents: dict[int, bytes]


@dataclass(frozen=True, slots=True)
class Trace:
    """One run of a program."""

    before: Before
    operations: tuple[Operation, ...]
