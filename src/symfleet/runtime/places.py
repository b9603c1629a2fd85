"""Where a rank keeps its files: beside the campaign on the root's host, else in a private folder.

A rank that is not the root needs no file of the output folder. On the root's own host its logs and
its executors' folders are there all the same, because that is where people look; on another host
they are in a temporary folder, which goes away with the rank.
"""

from __future__ import annotations

import contextlib
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from symfleet.engine.trees import remove_if_possible

_PREFIX: Final = "symfleet-rank-"


class Folders(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The campaign's folders, and the host on which they are."""

    host: str
    out: str
    run_dir: str


@dataclass(frozen=True, slots=True)
class RankPlaces:
    """Folders of one rank."""

    out: Path
    """Whose `logs` folder this rank writes to."""
    work: Path
    """Private folder of its executors."""


@contextlib.contextmanager
def rank_places(folders: Folders) -> Iterator[RankPlaces]:
    """Give a rank its folders; those of a host without the campaign are removed at the end."""
    out, run_dir = Path(folders.out), Path(folders.run_dir)
    if folders.host == socket.gethostname() and run_dir.is_dir():
        yield RankPlaces(out, run_dir / "work")
        return
    private = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        yield RankPlaces(private, private / "work")
    finally:
        remove_if_possible(private)
