"""The behaviour suite, run against every store."""

from __future__ import annotations

import importlib.util
import os
import random
import secrets
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from symfleet.clock import SystemClock
from symfleet.ledger import opener, postgres_opener
from symfleet.ledger.contract import Ledger
from symfleet.ledger.memory import MemoryLedger
from symfleet.ledger.postgres import PostgresLedger
from symfleet.ledger.sqlite import SqliteLedger
from symfleet.testing.ledgers import ManualClock, campaign_row
from symfleet.testing.stores import ledger_damage, postgres_damage
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.testing.stores.postgres_writers import SeveralWriters
from symfleet.types import CampaignId, Keep

if TYPE_CHECKING:
    from tests.integration.ledger_behaviour import (
        CountingLedgerBehaviour,
        CountingStore,
        LedgerBehaviour,
        Store,
    )
else:
    # Test modules are imported one by one, without a package around them.
    _SPEC = importlib.util.spec_from_file_location(
        "ledger_behaviour", Path(__file__).with_name("ledger_behaviour.py")
    )
    _MODULE = importlib.util.module_from_spec(_SPEC)
    sys.modules["ledger_behaviour"] = _MODULE
    _SPEC.loader.exec_module(_MODULE)
    LedgerBehaviour, Store = _MODULE.LedgerBehaviour, _MODULE.Store
    CountingLedgerBehaviour = _MODULE.CountingLedgerBehaviour
    CountingStore = _MODULE.CountingStore


class MemoryStore(Store):
    """The store in memory: its owner may die, its tables stay."""

    def __init__(self) -> None:
        self._ledger: MemoryLedger | None = None

    def create(self, keep: Keep) -> Ledger:
        self._ledger = MemoryLedger(campaign_row(keep), ManualClock())
        return self._ledger

    def crash_and_open(self) -> Ledger:
        assert self._ledger is not None
        return self._ledger


class SqliteStore(CountingStore):
    """The store on disk: the owner is left as a killed process leaves it, and opened again."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._ledger: SqliteLedger | None = None
        self._request = opener.OwnerRequest("here", os.getpid(), reserve_bytes=0)

    def create(self, keep: Keep) -> Ledger:
        self._ledger = opener.create(self._out, campaign_row(keep), self._request, ManualClock())
        return self._ledger

    def crash_and_open(self) -> Ledger:
        assert self._ledger is not None
        self._ledger.abandon()
        self._ledger = opener.open_owner(self._out, self._request, ManualClock())
        return self._ledger

    def tamper(self, statement: str) -> None:
        ledger_damage.tamper(self._out / "ledger.db", statement)

    def literal(self, digest: str) -> str:
        return f"x'{digest}'"

    def end(self) -> None:
        """Close what is open."""
        if self._ledger is not None:
            self._ledger.close()


class PostgresStore(CountingStore):
    """The store on a server: the owner's session ends as a killed process ends it."""

    def __init__(self, out: Path, url: str) -> None:
        self._out, self._url = out, url
        self._ledger: PostgresLedger | None = None
        self._request = opener.OwnerRequest("here", os.getpid())

    def create(self, keep: Keep) -> Ledger:
        row = replace(campaign_row(keep), campaign=CampaignId(secrets.token_hex(16)))
        self._ledger = postgres_opener.create(
            self._out, row, self._request, ManualClock(), self._url
        )
        return self._ledger

    def crash_and_open(self) -> Ledger:
        assert self._ledger is not None
        self._ledger.abandon()
        self._ledger = postgres_opener.open_owner(self._out, self._request, SystemClock())
        return self._ledger

    def tamper(self, statement: str) -> None:
        with postgres_damage.unguarded(self._out) as session:
            assert session.execute(statement.encode()).rowcount > 0, "nothing was changed"

    def literal(self, digest: str) -> str:
        return rf"'\x{digest}'"

    def end(self) -> None:
        """Close what is open."""
        if self._ledger is not None:
            self._ledger.close()


class SeveralStore(CountingStore):
    """The store on a server, each turn over one of two connections."""

    def __init__(self, out: Path, url: str) -> None:
        self._postgres = PostgresStore(out, url)
        self._writers: SeveralWriters | None = None

    def create(self, keep: Keep) -> Ledger:
        return self._several(self._postgres.create(keep))

    def crash_and_open(self) -> Ledger:
        assert self._writers is not None
        self._writers.close_peers()
        return self._several(self._postgres.crash_and_open())

    def tamper(self, statement: str) -> None:
        self._postgres.tamper(statement)

    def literal(self, digest: str) -> str:
        return self._postgres.literal(digest)

    def _several(self, root: Ledger) -> Ledger:
        assert isinstance(root, PostgresLedger)
        self._writers = SeveralWriters(root, 1, random.Random(11))
        return self._writers

    def end(self) -> None:
        """Close what is open."""
        if self._writers is not None:
            self._writers.close()


class TestMemoryLedger(LedgerBehaviour):
    """The suite in memory."""

    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore()


class TestSqliteLedger(CountingLedgerBehaviour):
    """The suite on disk."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[SqliteStore]:
        store = SqliteStore(tmp_path)
        yield store
        store.end()


class TestPostgresLedger(CountingLedgerBehaviour):
    """The suite on a server."""

    @pytest.fixture
    def store(self, tmp_path: Path, postgres: Cluster) -> Iterator[PostgresStore]:
        store = PostgresStore(tmp_path, postgres.url)
        yield store
        store.end()


class TestSeveralWritersLedger(CountingLedgerBehaviour):
    """The suite on a server that several coordinators write to, each over its own connection."""

    @pytest.fixture
    def store(self, tmp_path: Path, postgres: Cluster) -> Iterator[SeveralStore]:
        store = SeveralStore(tmp_path, postgres.url)
        yield store
        store.end()
