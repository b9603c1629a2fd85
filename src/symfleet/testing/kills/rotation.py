"""Which part of a long list of cases is a change's turn.

A change cannot afford all of them, and chance would make a failure hard to find again. So the
number of the commit decides: the same change is judged by the same cases, the next one by others,
and a few changes cover all. Without the project's history the day decides.
"""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

_T = TypeVar("_T")
_GIT_S: Final = 10


def turn_of(repository: Path, today: datetime.date) -> int:
    """Return a number that the next change has plus one."""
    try:
        done = subprocess.run(
            ["git", "-C", str(repository), "rev-list", "--count", "HEAD"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_S,
            check=True,
        )
        return int(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return today.toordinal()


def window(cases: Sequence[_T], turn: int, size: int) -> list[_T]:
    """Return `size` cases (all, if there are no more): those that follow the ones of the turn
    before."""
    size = min(size, len(cases))
    return [cases[(turn * size + index) % len(cases)] for index in range(size)]
