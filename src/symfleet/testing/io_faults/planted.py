"""Wrong ways to treat a failed call, planted to show that the checks see them."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from symfleet.corpus import durable, publish
from symfleet.errors import SymfleetError
from symfleet.ledger import database, opener, sqlite
from symfleet.ledger.sqlite import SqliteLedger
from symfleet.protocol.operations import Operation


def _sync_again() -> None:
    """A failed fsync is tried once more."""
    honest = os.fsync

    def _stubborn(descriptor: int) -> None:
        try:
            honest(descriptor)
        except OSError:
            honest(descriptor)

    _replace(os, "fsync", _stubborn)


def _ignore_sync() -> None:
    """A failed sync of the published files is taken for a good one."""
    honest = durable.sync_filesystem

    def _careless(folder: Path) -> None:
        with contextlib.suppress(SymfleetError):
            honest(folder)

    _replace(publish, "sync_filesystem", _careless)


def _ignore_folder() -> None:
    """A failed sync of a folder is taken for a good one."""
    honest = durable.sync_folder

    def _careless(folder: Path) -> None:
        with contextlib.suppress(OSError):
            honest(folder)

    for module in (durable, database):
        _replace(module, "sync_folder", _careless)


def _close_by_itself() -> None:
    """SQLite folds the log back when it is closed, and tells nobody what failed."""

    def _careless(connection: sqlite3.Connection, _: Path) -> None:
        connection.close()

    for module in (sqlite, opener):
        _replace(module, "close_folded", _careless)
    _replace(opener, "close_unfolded", _careless)


def _run_again() -> None:
    """A turn that failed is run again on the same connection."""
    honest = SqliteLedger.run

    def _careless(self: SqliteLedger, operations: list[Operation]) -> Any:
        try:
            return honest(self, operations)
        except SymfleetError:
            self._broken = None
            return honest(self, operations)

    _replace(SqliteLedger, "run", _careless)


def _replace(where: object, name: str, what: Callable[..., Any]) -> None:
    setattr(where, name, what)


PLANTS: Final[Mapping[str, Callable[[], None]]] = MappingProxyType(
    {
        "sync-again": _sync_again,
        "ignore-sync": _ignore_sync,
        "ignore-folder": _ignore_folder,
        "close-by-itself": _close_by_itself,
        "run-again": _run_again,
    }
)
