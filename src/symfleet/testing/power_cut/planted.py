"""Faults that a power cut must bring to light, planted into a program that is traced.

They exist to show that the checks see them; nothing but a driver with `--plant` uses them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from symfleet.corpus import durable, publish
from symfleet.ledger import opener
from symfleet.ledger.highwater import write_highwater
from symfleet.ledger.sqlite import SqliteLedger


def _no_sync() -> None:
    """The ledger tells SQLite not to synchronise."""

    def _set(self: SqliteLedger, *, full: bool) -> None:  # noqa: ARG001
        self._writer.execute("PRAGMA synchronous=OFF")

    _replace(SqliteLedger, "_set_durability", _set)


def _normal_sync() -> None:
    """Every transaction is treated as one of leases alone."""

    def _set(self: SqliteLedger, *, full: bool) -> None:  # noqa: ARG001
        self._writer.execute("PRAGMA synchronous=NORMAL")

    _replace(SqliteLedger, "_set_durability", _set)


def _mark_before_files() -> None:
    """The publisher moves its mark without making the files and their names durable."""
    _replace(publish, "sync_filesystem", _ignore)


def _name_before_bytes() -> None:
    """A file is renamed into place without being synchronised."""
    _replace(os, "fsync", _ignore)


def _no_folder_sync() -> None:
    """The names of files are not made durable."""
    for module in (durable, opener):
        _replace(module, "sync_folder", _ignore)


def _early_highwater() -> None:
    """`highwater` tells of a decision before that is committed."""
    honest = SqliteLedger._write_standing  # noqa: SLF001 - a fault is planted inside

    def _write(self: SqliteLedger, cursor: sqlite3.Cursor, before: tuple[int, ...]) -> None:
        honest(self, cursor, before)
        write_highwater(Path(self._out), self.highwater())

    _replace(SqliteLedger, "_write_standing", _write)


def _ignore(*_: object) -> None:
    return


def _replace(where: object, name: str, what: Callable[..., Any]) -> None:
    setattr(where, name, what)


FAULTS: Final[Mapping[str, Callable[[], None]]] = MappingProxyType(
    {
        "no-sync": _no_sync,
        "normal-sync": _normal_sync,
        "mark-before-files": _mark_before_files,
        "name-before-bytes": _name_before_bytes,
        "no-folder-sync": _no_folder_sync,
        "early-highwater": _early_highwater,
    }
)


def plant(name: str) -> None:
    """Put a fault into this process for the rest of its life."""
    FAULTS[name]()
