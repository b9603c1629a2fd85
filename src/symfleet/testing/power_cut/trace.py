"""Run a program under strace(1) and read what it did to a folder.

Every system call that can change a file is traced. One that touches the folder and that the model
of the disk does not know is an error, not a gap: otherwise a new way of writing would go unseen.
Notes are lines that the program appends to a file beside the folder.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from symfleet.testing.power_cut.operations import (
    SHARED_INDEX,
    Before,
    Create,
    MakeFolder,
    Note,
    Operation,
    RemoveFolder,
    Rename,
    Resize,
    Sync,
    SyncAll,
    SyncFolder,
    Trace,
    Unlink,
    Write,
)

_KNOWN: Final = (
    *("open", "openat", "creat", "close", "dup", "dup2", "dup3", "fcntl", "lseek", "mmap"),
    *("write", "pwrite64", "writev", "pwritev", "ftruncate", "truncate", "fallocate"),
    *("fsync", "fdatasync", "syncfs", "sync", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat"),
    *("rename", "renameat", "renameat2"),
)
_UNKNOWN: Final = (
    *("openat2", "pwritev2", "sync_file_range", "link", "linkat", "symlink", "symlinkat", "mknod"),
    *("mknodat", "copy_file_range", "sendfile", "splice", "io_uring_setup", "msync"),
)
"""Those that can change a file and are not in the model."""

_LINE: Final = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+|\?)(.*)")
_STRING: Final = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')
_DESCRIPTOR: Final = re.compile(r"(\d+|AT_FDCWD)(?:<((?:\\x[0-9a-f]{2})*)>)?")
_STRING_MAX: Final = 16 << 20


class TraceError(Exception):
    """The program cannot be traced, or did what the model of the disk does not know."""


def can_trace() -> str:
    """Return why programs cannot be traced here; empty when they can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    ended = subprocess.run(["strace", "-qq", "true"], capture_output=True, check=False)
    return "" if ended.returncode == 0 else ended.stderr.decode(errors="replace").strip()


def record(
    command: Sequence[str],
    folder: Path,
    notes: Path,
    log: Path,
    *,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 120.0,
) -> Trace:
    """Run `command` in `folder`, whose content counts as durable, to its good end; return what it
    did there. It appends its notes to `notes`, which is elsewhere.

    Raises TraceError when the program fails or does something unknown."""
    before = look(folder)
    calls = ",".join([*_KNOWN, *_UNKNOWN])
    strace = ["strace", "-f", "-qq", "--seccomp-bpf", "-y", "-xx", "-s", str(_STRING_MAX)]
    strace += ["-e", f"trace={calls}", "-e", "signal=none", "-o", str(log)]
    ended = subprocess.run(
        [*strace, *command],
        capture_output=True,
        cwd=folder,
        env={**os.environ, **(env or {})},
        timeout=timeout_s,
        check=False,
    )
    if ended.returncode != 0:
        raise TraceError(f"the program ended with {ended.returncode}: {ended.stderr.decode()}")
    reader = _Reader(folder, notes, before)
    with log.open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            reader.read(line.rstrip("\n"))
    return Trace(before, tuple(reader.operations))


def look(folder: Path) -> Before:
    """Return what is in a folder."""
    folders, names, contents = set[str](), dict[str, int](), dict[int, bytes]()
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_dir():
            folders.add(name)
        else:
            names[name] = len(contents) + 1
            contents[names[name]] = path.read_bytes()
    return Before(frozenset(folders), names, contents)


class _Descriptor:
    """An open file or folder below the traced folder."""

    def __init__(self, inode: int, path: str, *, is_folder: bool, appends: bool) -> None:
        self.inode = inode
        self.path = path
        self.is_folder = is_folder
        self.appends = appends
        self.offset = 0


class _Reader:
    """Follows the lines of a log."""

    def __init__(self, folder: Path, notes: Path, before: Before) -> None:
        self.operations: list[Operation] = []
        self._root = os.path.realpath(folder)
        self._notes = os.path.realpath(notes)
        self._folders = set(before.folders) | {"."}
        self._names = dict(before.names)
        self._sizes = {inode: len(data) for inode, data in before.contents.items()}
        self._open: dict[int, _Descriptor] = {}
        self._pid = ""
        self._handlers: dict[str, Callable[[str, int], None]] = {
            **dict.fromkeys(("open", "openat", "creat"), self._opened),
            "close": self._closed,
            **dict.fromkeys(("dup", "dup2", "dup3", "fcntl"), self._duplicated),
            "lseek": self._sought,
            **dict.fromkeys(("write", "pwrite64", "writev", "pwritev"), self._wrote),
            **dict.fromkeys(("ftruncate", "truncate", "fallocate"), self._resized),
            **dict.fromkeys(("fsync", "fdatasync", "syncfs", "sync"), self._synced),
            **dict.fromkeys(("rename", "renameat", "renameat2"), self._renamed),
            **dict.fromkeys(("unlink", "unlinkat", "rmdir"), self._unlinked),
            **dict.fromkeys(("mkdir", "mkdirat"), self._made),
            "mmap": self._mapped,
        }

    def read(self, line: str) -> None:
        """Take one line."""
        match = _LINE.match(line)
        if match is None:
            if "unfinished" in line or "resumed" in line:
                raise TraceError("the program has threads or children, whose order is not known")
            return
        self._pid = self._pid or match[1]
        if match[1] != self._pid:
            raise TraceError("the program has children, whose order is not known")
        name, arguments, result = match[2], match[3], match[4]
        if result == "?" or result.startswith("-"):
            return
        handler = self._handlers.get(name)
        if handler is not None:
            handler(f"{name} {arguments}", int(result, 0))
        elif self._touches(arguments):
            raise TraceError(f"the model of the disk does not know {name}")

    # ---- names and descriptors ------------------------------------------------------------------

    def _relative(self, path: str) -> str | None:
        """Return a path below the folder, None for any other."""
        path = os.path.normpath(path)
        if path == self._root:
            return "."
        return path[len(self._root) + 1 :] if path.startswith(self._root + "/") else None

    def _paths(self, arguments: str) -> list[str]:
        """Return the paths among the arguments, absolute; each belongs to the descriptor before."""
        base, found = self._root, []
        for part in re.finditer(rf"{_DESCRIPTOR.pattern}|{_STRING.pattern}", arguments):
            if part[3] is not None:
                found.append(os.path.join(base, _text(part[3])))  # noqa: PTH118
            elif part[2] is not None:
                base = _text(part[2])
        return found

    def _touches(self, arguments: str) -> bool:
        descriptors = (_text(part[2]) for part in _DESCRIPTOR.finditer(arguments) if part[2])
        paths = (*self._paths(arguments), *descriptors)
        return any(self._relative(path) is not None for path in paths)

    def _opened(self, arguments: str, result: int) -> None:
        path = self._relative(self._paths(arguments)[0])
        if path is None:
            self._open.pop(result, None)
            return
        is_folder = path in self._folders
        inode = self._names.get(path, 0)
        if not is_folder and not inode:
            if "O_CREAT" not in arguments and not arguments.startswith("creat"):
                raise TraceError(f"{path} was opened, but nobody has made it")
            inode = len(self._sizes) + 1
            self._names[path], self._sizes[inode] = inode, 0
            self.operations.append(Create(path, inode))
        elif "O_TRUNC" in arguments or arguments.startswith("creat"):
            self._resize(Resize(inode, 0), path)
        appends = "O_APPEND" in arguments
        self._open[result] = _Descriptor(inode, path, is_folder=is_folder, appends=appends)

    def _closed(self, arguments: str, result: int) -> None:  # noqa: ARG002
        self._open.pop(_number(arguments), None)

    def _duplicated(self, arguments: str, result: int) -> None:
        if "F_DUPFD" in arguments or arguments.startswith("dup"):
            held = self._open.get(_number(arguments))
            if held is not None:
                self._open[result] = held

    def _sought(self, arguments: str, result: int) -> None:
        held = self._open.get(_number(arguments))
        if held is not None:
            held.offset = result

    # ---- changes --------------------------------------------------------------------------------

    def _wrote(self, arguments: str, result: int) -> None:
        number = _DESCRIPTOR.search(arguments.partition(" ")[2])
        assert number is not None
        strings = list(_STRING.finditer(arguments))
        held = self._open.get(int(number[1]))
        is_note = number[2] is not None and _text(number[2]) == self._notes
        if held is None and not is_note:
            return
        if any(string[2] for string in strings):
            raise TraceError("a write is longer than what is traced")
        data = b"".join(_bytes(string[1]) for string in strings)[:result]
        if is_note or held is None:
            self.operations += [Note(line) for line in data.decode().splitlines()]
            return
        size = self._sizes[held.inode]
        if arguments.startswith("p"):
            offset = int(arguments.rpartition(",")[2], 0)
        else:
            offset = size if held.appends else held.offset
            held.offset = offset + result
        self._sizes[held.inode] = max(size, offset + result)
        if not held.path.endswith(SHARED_INDEX):
            self.operations.append(Write(held.inode, offset, data))

    def _resize(self, change: Resize, path: str) -> None:
        size = self._sizes[change.inode]
        self._sizes[change.inode] = max(size, change.size) if change.grow_only else change.size
        if not path.endswith(SHARED_INDEX):
            self.operations.append(change)

    def _resized(self, arguments: str, result: int) -> None:  # noqa: ARG002
        name, _, rest = arguments.partition(" ")
        if name == "truncate":
            path = self._relative(self._paths(rest)[0])
            if path is not None:
                size = int(rest.rpartition(",")[2], 0)
                self._resize(Resize(self._names[path], size), path)
            return
        held = self._open.get(_number(arguments))
        if held is None:
            return
        if name == "ftruncate":
            self._resize(Resize(held.inode, int(rest.rpartition(",")[2], 0)), held.path)
            return
        _, mode, offset, length = rest.split(", ")
        if mode != "0":
            raise TraceError(f"the model of the disk does not know fallocate with mode {mode}")
        size = int(offset, 0) + int(length, 0)
        self._resize(Resize(held.inode, size, grow_only=True), held.path)

    def _synced(self, arguments: str, result: int) -> None:  # noqa: ARG002
        name = arguments.partition(" ")[0]
        held = None if name == "sync" else self._open.get(_number(arguments))
        if name == "sync" or (name == "syncfs" and held is not None):
            self.operations.append(SyncAll())
        elif held is not None:
            done = SyncFolder(held.path) if held.is_folder else Sync(held.inode)
            self.operations.append(done)

    def _renamed(self, arguments: str, result: int) -> None:  # noqa: ARG002
        old, new = map(self._relative, self._paths(arguments.partition(" ")[2]))
        if old is None and new is None:
            return
        if old is None or new is None or old in self._folders or "RENAME_EXCHANGE" in arguments:
            raise TraceError(f"the model of the disk does not know this rename: {old} to {new}")
        inode = self._names[new] = self._names.pop(old)
        self.operations.append(Rename(old, new, inode))

    def _unlinked(self, arguments: str, result: int) -> None:  # noqa: ARG002
        path = self._relative(self._paths(arguments.partition(" ")[2])[0])
        if path is None:
            return
        if path in self._folders:
            self._folders.remove(path)
            self.operations.append(RemoveFolder(path))
        else:
            del self._names[path]
            self.operations.append(Unlink(path))

    def _made(self, arguments: str, result: int) -> None:  # noqa: ARG002
        path = self._relative(self._paths(arguments.partition(" ")[2])[0])
        if path is not None:
            self._folders.add(path)
            self.operations.append(MakeFolder(path))

    def _mapped(self, arguments: str, result: int) -> None:  # noqa: ARG002
        if "MAP_SHARED" not in arguments or "PROT_WRITE" not in arguments:
            return
        for part in _DESCRIPTOR.finditer(arguments):
            path = None if part[2] is None else self._relative(_text(part[2]))
            if path is not None and not path.endswith(SHARED_INDEX):
                raise TraceError(f"{path} is written through a mapping, which is not traced")


def _bytes(hexadecimal: str) -> bytes:
    return bytes.fromhex(hexadecimal.replace("\\x", ""))


def _text(hexadecimal: str) -> str:
    return os.fsdecode(_bytes(hexadecimal))


def _number(arguments: str) -> int:
    """Return the descriptor that a call begins with."""
    match = _DESCRIPTOR.match(arguments.partition(" ")[2])
    assert match is not None
    return int(match[1])
