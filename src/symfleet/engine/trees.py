"""Files that were in the hands of a program which may do with them what it likes.

It may have removed its folders, put links or files in their place, closed them to everybody, or
nested them deeper than a path may be long and a recursion may go. Whoever cleans up behind it takes
nothing for granted: links are removed and never followed, and a tree is taken apart from its top.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_USABLE: Final = stat.S_IRWXU


def own_folder(folder: Path) -> None:
    """Make `folder` exist, be a folder and no link, and be open to this user. Raises OSError."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        folder.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    _open_up(folder)


def empty_folder(folder: Path) -> None:
    """Make `folder` exist and be empty (`own_folder`). Raises OSError."""
    own_folder(folder)
    serial = itertools.count()
    while entries := _entries(folder):
        for entry in entries:
            if _is_folder(entry):
                _raise_folders(entry, folder, serial)
                entry.rmdir()
            else:
                entry.unlink()


def remove(path: Path) -> None:
    """Remove whatever is at `path`, if anything is. Raises OSError."""
    if _is_folder(path):
        empty_folder(path)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def remove_if_possible(path: Path) -> None:
    """Remove whatever is at `path`; what cannot be removed stays, and what is beside it does not.

    Somebody else may be removing the same."""
    import shutil  # an executor, which starts often, has no use for it

    with contextlib.suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        remove(path)


def fresh_file(path: Path, data: bytes) -> None:
    """Put a new file with `data` in the place of whatever is at `path`. Raises OSError."""
    remove(path)
    with path.open("xb") as file:
        file.write(data)


def names_in(folder: Path) -> list[str] | None:
    """Return the sorted names in a folder; None when it is none (any more), or is closed to us."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not os.access(".", os.X_OK, dir_fd=descriptor):
            return None
        return sorted(os.listdir(descriptor))  # noqa: PTH208 (of a descriptor)
    finally:
        os.close(descriptor)


def _raise_folders(folder: Path, top: Path, serial: Iterator[int]) -> None:
    """Remove what is in `folder`, its folders aside: they come to stand in `top`, so that what has
    to be named is never more than two levels below it."""
    _open_up(folder)
    for entry in _entries(folder):
        if not _is_folder(entry):
            entry.unlink()
            continue
        _open_up(entry)  # a folder that moves is written to: its `..` changes
        free = (top / str(number) for number in serial)
        entry.rename(next(place for place in free if not os.path.lexists(place)))


def _entries(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _open_up(folder: Path) -> None:
    if folder.stat().st_mode & _USABLE != _USABLE:
        folder.chmod(folder.stat().st_mode | _USABLE)
