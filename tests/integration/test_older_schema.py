"""A ledger that an older symfleet made, with rows of every kind, is brought up to date and loses
nothing: each older number of the schema, on both stores."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from symfleet.clock import SystemClock
from symfleet.errors import DataError
from symfleet.ledger import opener, postgres_opener
from symfleet.ledger.contract import Ledger, LedgerReader, NewGeneration
from symfleet.ledger.database import APPLICATION_ID, PAGE_BYTES
from symfleet.ledger.postgres_address import LedgerAddress, read_address
from symfleet.ledger.postgres_connection import connect, schema_of
from symfleet.ledger.postgres_statements import SESSION
from symfleet.ledger.statements import migrations
from symfleet.protocol.operations import Admit
from symfleet.testing.ledgers import admission, campaign_row, child, decision, epoch_request
from symfleet.testing.resting import claim, make_resting
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.types import CampaignId, GenerationId, Keep, WorkState

PROGRAM = Path(__file__).parents[1] / "programs" / "none.py"
REQUEST = opener.OwnerRequest("here", os.getpid(), reserve_bytes=0)
NEW = NewGeneration(GenerationId("ef" * 32), campaign_row().key, "", 1.0)

OF_POSTGRES: Final = {
    2: """
        DROP TABLE generations;
        DROP TRIGGER work_superseded_is_final ON work;
        ALTER TABLE work DROP CONSTRAINT work_state_check;
        ALTER TABLE work ADD CONSTRAINT work_state_check
            CHECK (state IN ('pending', 'leased', 'done', 'deferred', 'poisoned'));
    """,
}
"""Number of a schema -> what takes the one after it back."""


def everything(reader: LedgerReader) -> tuple[object, ...]:
    return (
        reader.status(),
        list(reader.corpus()),
        list(reader.decisions()),
        reader.crashes(),
        [reader.work_rows(state, 99) for state in WorkState],
        reader.knowledge(),
        reader.epochs(),
    )


def make_older_file(path: Path, version: int) -> None:
    """Give a ledger the schema that it had at an older number; all rows stay."""
    older = path.with_name("older.db")
    with contextlib.closing(sqlite3.connect(older, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode=WAL")
        for script in migrations()[:version]:
            connection.executescript(script)
        connection.execute(f"PRAGMA user_version={version}")
        connection.execute("ATTACH ? AS newer", (str(path),))
        tables = "SELECT name FROM sqlite_schema WHERE type = 'table'"
        for (table,) in connection.execute(tables).fetchall():
            connection.execute(f"INSERT INTO {table} SELECT * FROM newer.{table}")  # noqa: S608
        connection.execute("DETACH newer")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    older.replace(path)


def assert_goes_on(ledger: Ledger, before: tuple[object, ...]) -> None:
    assert everything(ledger) == before
    assert list(ledger.audit()) == []
    ledger.open_epoch(epoch_request(9))
    corpus = len(list(ledger.corpus()))
    ledger.run([decision(claim(ledger), [child(b"later", 800)], keep=Keep.ALL)])
    assert ledger.begin_generation(NEW) == corpus + 1
    assert list(ledger.audit()) == []


@pytest.mark.guarantee("C8")
@pytest.mark.parametrize("version", range(1, len(migrations())))
def test_an_older_file_goes_on(tmp_path: Path, version: int) -> None:
    campaign = make_resting(tmp_path, PROGRAM)
    with campaign.reader() as reader:
        before = everything(reader)
    make_older_file(campaign.out / "ledger.db", version)
    with pytest.raises(DataError, match="older version"):
        opener.open_reader(campaign.out)
    ledger = opener.open_owner(campaign.out, REQUEST, SystemClock())
    with contextlib.closing(ledger):
        assert_goes_on(ledger, before)


@pytest.mark.guarantee("C8")
@pytest.mark.parametrize("version", OF_POSTGRES)
def test_an_older_schema_on_a_server_goes_on(
    tmp_path: Path, postgres: Cluster, version: int
) -> None:
    row = replace(campaign_row(Keep.ALL), campaign=CampaignId(secrets.token_hex(16)))
    ledger = postgres_opener.create(tmp_path, row, REQUEST, SystemClock(), postgres.url)
    with contextlib.closing(ledger):
        ledger.open_epoch(epoch_request())
        source = ledger.register_source("seeds", "/s", "here")
        ledger.run([Admit(source, tuple(admission(b"%d" % n) for n in range(3)))])
        ledger.run([decision(claim(ledger), [child(b"kid", 8)], keep=Keep.ALL)])
        before = everything(ledger)
    stored = read_address(tmp_path)
    assert stored is not None
    with contextlib.closing(connect(LedgerAddress(stored.url, schema_of(row.campaign)))) as session:
        for number in sorted(OF_POSTGRES, reverse=True):
            if number >= version:
                session.script(OF_POSTGRES[number])
        digest = postgres_opener._digest_of(session)
        session.execute(SESSION["put_version"], (version, digest))
    with pytest.raises(DataError, match="older version"):
        postgres_opener.open_reader(tmp_path)
    again = postgres_opener.open_owner(tmp_path, REQUEST, SystemClock())
    with contextlib.closing(again):
        assert_goes_on(again, before)
