"""What a copy of a ledger is planned from: tables, keys, digests, and the note of a move."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from symfleet.errors import IntegrityError, InternalError
from symfleet.ledger.database import migrate
from symfleet.ledger.faults import NotReadyError
from symfleet.ledger.moving import MOVE_NAME, finish_move, refuse_unfinished, retired_files
from symfleet.ledger.sqlite_tables import SqliteTables
from symfleet.ledger.tables import Table, digest_of, fingerprint, plan_copy, quoted

WORK = Table("work", ("input", "state", "work"), ("work",))
FAULTS = Table("faults", ("amount", "epoch", "name"), ("epoch", "name"))


def test_tables_are_copied_by_name() -> None:
    assert plan_copy((WORK, FAULTS), (FAULTS, WORK)) == (FAULTS, WORK)


@pytest.mark.parametrize(
    "target",
    [
        (WORK,),
        (WORK, FAULTS, replace(FAULTS, name="news")),
        (WORK, replace(FAULTS, columns=("epoch", "name"))),
        (WORK, replace(FAULTS, key=("name", "epoch"))),
    ],
)
def test_stores_that_do_not_fit_each_other_are_never_copied(target: tuple[Table, ...]) -> None:
    with pytest.raises(InternalError, match="do not fit"):
        plan_copy((WORK, FAULTS), target)


def test_a_table_without_a_key_is_never_copied() -> None:
    keyless = replace(WORK, key=())
    with pytest.raises(InternalError, match="do not fit"):
        plan_copy((keyless,), (keyless,))


@pytest.fixture
def store() -> Iterator[SqliteTables]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, ":memory:")
    yield SqliteTables(connection, Path("memory"))
    connection.close()


def fault(store: SqliteTables, name: str, amount: int = 1, reason: str = "") -> None:
    values = (1, 0, name, reason, amount)
    store.database.execute("INSERT INTO faults VALUES (?, ?, ?, ?, ?)", values)


def faults_of(store: SqliteTables) -> Table:
    (table,) = (table for table in store.tables() if table.name == "faults")
    return table


def test_the_plan_of_a_ledger_comes_from_its_schema(store: SqliteTables) -> None:
    tables = store.tables()
    assert plan_copy(tables, tables) == tables
    assert {"campaign", "work", "inputs", "decisions", "standing"} <= {t.name for t in tables}
    assert faults_of(store).key == ("epoch", "coordinator", "name", "reason")
    assert all(table.columns == tuple(sorted(table.columns)) for table in tables)


def test_rows_come_in_the_order_of_their_key_from_any_place_on(store: SqliteTables) -> None:
    for name in ("b", "_", "B", "\u00e9", "a"):
        fault(store, name)
    table = faults_of(store)
    place = table.columns.index("name")
    names = [row[place] for row in store.rows(table)]
    assert names == ["B", "_", "a", "b", "\u00e9"], "by bytes, as no collation sorts them"
    rest = [row[place] for row in store.rows(table, (1, 0, "a", ""))]
    assert rest == ["b", "\u00e9"]


def test_a_digest_tells_every_value_and_row(store: SqliteTables) -> None:
    seen = set()
    table = faults_of(store)
    for name, amount in (("a", 1), ("b", 1), ("c", 2)):
        seen.add(digest_of(store, table).digest)
        fault(store, name, amount)
    seen.add(digest_of(store, table).digest)
    store.database.execute("UPDATE faults SET amount = 3 WHERE name = 'c'")
    told = digest_of(store, table)
    seen.add(told.digest)
    assert len(seen) == 5
    assert told.rows == 3
    assert fingerprint([told], "1") != fingerprint([told], "2")


def test_texts_are_compared_as_both_stores_can_hold_them(store: SqliteTables) -> None:
    table = faults_of(store)
    fault(store, "a", reason="zero \0 byte")
    told = digest_of(store, table)
    store.database.execute("DELETE FROM faults")
    fault(store, "a", reason="zero \ufffd byte")
    assert digest_of(store, table) == told


def test_a_name_that_is_no_plain_word_never_gets_into_a_statement() -> None:
    assert quoted("work_frontier") == '"work_frontier"'
    for name in ('a"; DROP TABLE work', "", "a b", "\u00e9"):
        with pytest.raises(InternalError):
            quoted(name)


@pytest.mark.parametrize(
    "text", [b"", b"{", b'{"to":"elsewhere","campaign":"c"}', b'{"to":"sqlite"}']
)
def test_a_damaged_note_of_a_move_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / MOVE_NAME).write_bytes(text)
    with pytest.raises(IntegrityError, match="note of a move is damaged"):
        finish_move(tmp_path)
    with pytest.raises(NotReadyError):
        refuse_unfinished(tmp_path)
    assert (tmp_path / MOVE_NAME).read_bytes() == text


def test_what_moves_have_left_is_listed_without_logs(tmp_path: Path) -> None:
    for name in (
        "ledger.db",
        "ledger.db.retired-1",
        "ledger.db.retired-1-wal",
        "ledger.url.retired-2",
    ):
        (tmp_path / name).touch()
    assert [path.name for path in retired_files(tmp_path)] == [
        "ledger.db.retired-1",
        "ledger.url.retired-2",
    ]
