"""What a program has left in its output folder: each regular file is a child."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from symfleet.engine.trees import names_in

_DEFAULT_CHILDREN: Final = 4096
_DEFAULT_INPUT_BYTES: Final = 1 << 20
_DEFAULT_RESULT_MIB: Final = 64


@dataclass(slots=True)
class Left:
    """Distinct children, and what is missing among them."""

    children: list[bytes] = field(default_factory=list)
    truncated: int | None = None
    """Number of the first file that was left out for a counted limit."""
    degraded: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    """Files that a limit has cut off, by limit (`protocol.decision.cut_off`)."""
    no_folder: bool = False
    """The program has removed, replaced or closed its output folder: there are no children."""


def read_children(folder: Path, limits: Mapping[str, int], bound: int) -> Left:
    """Return the children from number `bound` on; they are numbered in the order of their names."""
    names = names_in(folder)
    if names is None:
        return Left(no_folder=True)
    children_max = limits.get("children") or _DEFAULT_CHILDREN
    bytes_left = (limits.get("result_mib") or _DEFAULT_RESULT_MIB) << 20
    input_max = limits.get("input_bytes") or _DEFAULT_INPUT_BYTES
    found: dict[bytes, None] = {}
    left = Left()
    for number, name in enumerate(names[bound:], start=bound):
        data = _read_regular(folder / name, input_max)
        if data is None or data in found:
            continue
        if len(data) > input_max:
            left.left_out["child_size"] = left.left_out.get("child_size", 0) + 1
            continue
        if len(found) >= children_max or len(data) > bytes_left:
            left.truncated = number
            limit = "children" if len(found) >= children_max else "bytes"
            left.left_out[limit] = sum(_is_regular(folder / rest) for rest in names[number:])
            break
        found[data] = None
        bytes_left -= len(data)
    left.children = list(found)
    return left


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _read_regular(path: Path, input_max: int) -> bytes | None:
    """Return at most `input_max` + 1 bytes of a regular file; None for anything else."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read(input_max + 1)
