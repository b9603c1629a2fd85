"""Rules that the database itself keeps, whatever code writes to it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from symfleet.errors import InternalError
from symfleet.ledger import opener
from symfleet.ledger.sqlite import SqliteLedger
from symfleet.ledger.statements import load
from symfleet.protocol.answers import Claimed
from symfleet.protocol.operations import (
    Admit,
    Blame,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    StoreInputs,
)
from symfleet.testing.ledgers import (
    ManualClock,
    admission,
    campaign_row,
    child,
    decision,
    epoch_request,
)
from symfleet.types import Incarnation, SinkKind, input_id_of

REQUEST = opener.OwnerRequest("here", os.getpid(), reserve_bytes=0)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqliteLedger]:
    """One decided, one leased, one blamed and pending row; a sink, a source."""
    ledger = opener.create(tmp_path, campaign_row(), REQUEST, ManualClock())
    ledger.open_epoch(epoch_request())
    ledger.register_source("seeds", "/s", "here")
    ledger.register_sink(SinkKind.CORPUS, "/c", "here")
    entries = (admission(b"a"), admission(b"b"), admission(b"c"))
    _, answer = ledger.run([Admit(1, entries), Claim(0, 3)]).answers
    assert isinstance(answer, Claimed)
    first, _, third = answer.leases
    blame = Blame(third.work_id, third.token, Incarnation(5), "died")
    ledger.run([decision(first, [child(b"kid", 8)]), blame])
    yield ledger
    ledger.close()


_SECOND_DECISION = (
    "INSERT INTO decisions SELECT 9, work, 1, 1, 0.0, chain, manifest, record FROM decisions"
)
_SECOND_CAMPAIGN = (
    "INSERT INTO campaign SELECT 2, campaign, ledger_incarnation, 0.0, keep, generation, "
    "generation_key, '' FROM campaign"
)


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        pytest.param(
            "UPDATE work SET state = 'pending', decision = NULL WHERE state = 'done'",
            "C2",
            marks=pytest.mark.guarantee("C2"),
        ),
        pytest.param(
            "UPDATE work SET state = 'leased' WHERE state = 'done'",
            "C2",
            marks=pytest.mark.guarantee("C2"),
        ),
        ("UPDATE work SET fence = fence - 1 WHERE state = 'leased'", "L2"),
        ("UPDATE work SET payload = x'00'", "A4"),
        ("UPDATE work SET work_id = zeroblob(32) WHERE work = 1", "A4"),
        ("UPDATE work SET input = 2 WHERE work = 1", "A4"),
        ("DELETE FROM work", "C8"),
        ("UPDATE inputs SET data = x'00'", "A1"),
        ("DELETE FROM inputs", "C5"),
        ("UPDATE decisions SET manifest = x'00'", "C7"),
        ("UPDATE decisions SET fence = 9", "C7"),
        ("DELETE FROM decisions", "C7"),
        ("UPDATE coverage SET edges = zeroblob(4)", "C7"),
        ("DELETE FROM coverage", "C7"),
        ("UPDATE artefacts SET kind = 'crashes'", "C5"),
        ("DELETE FROM artefacts", "C5"),
        ("DELETE FROM epochs", "L6"),
        ("UPDATE counters SET amount = 0", "C7"),
        ("UPDATE sinks SET published_upto = -1", "C6"),
        ("UPDATE work SET state = 'asleep' WHERE work = 2", "CHECK"),
        ("UPDATE work SET state = 'done' WHERE work = 2", "CHECK"),
        ("UPDATE work SET epoch = 0 WHERE state = 'leased'", "CHECK"),
        ("UPDATE standing SET pending = -1", "CHECK"),
        ("UPDATE epochs SET reason = 'x'", "CHECK"),
        ("UPDATE work SET fence = 'x'", "cannot store TEXT"),
        ("UPDATE work SET place = NULL", "NOT NULL"),
        ("INSERT INTO inputs (digest, data) VALUES (zeroblob(31), x'00')", "CHECK"),
        ("INSERT INTO inputs (digest, data) SELECT digest, data FROM inputs", "UNIQUE"),
        (_SECOND_DECISION, "UNIQUE"),
        (_SECOND_CAMPAIGN, "CHECK"),
    ],
)  # fmt: skip
def test_the_database_refuses(ledger: SqliteLedger, statement: str, rule: str) -> None:
    with pytest.raises(sqlite3.Error, match=rule):
        ledger._connection.execute(statement)
    assert list(ledger.audit()) == []


@pytest.mark.guarantee("L1")
def test_two_leased_rows_of_one_state_cannot_be_stored(ledger: SqliteLedger) -> None:
    entries = (admission(b"s", strategy="deep"), admission(b"s", strategy="wide"))
    ledger.run([Admit(1, entries)])
    statement = (
        "UPDATE work SET state = 'leased', epoch = 1, fence = 1 WHERE state_id = "
        "(SELECT state_id FROM work GROUP BY state_id HAVING count(*) = 2)"
    )
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        ledger._connection.execute(statement)


def test_only_inputs_that_no_row_names_are_dropped(ledger: SqliteLedger) -> None:
    ledger.run([StoreInputs((b"part of a result that never came", b"kid"))])
    assert ledger.drop_unnamed() == 1
    assert ledger.drop_unnamed() == 0
    assert ledger.input_bytes(input_id_of(b"kid")) == b"kid"
    assert list(ledger.audit()) == []


def test_a_verdict_and_a_quiescence_are_final(tmp_path: Path) -> None:
    ledger = opener.create(tmp_path, campaign_row(), REQUEST, ManualClock())
    ledger.open_epoch(epoch_request())
    changes = ledger.run([]).changes
    ledger.run([CommitQuiescence("m", changes), CloseEpoch("quiescent", 0)])
    for statement, rule in (
        ("UPDATE epochs SET reason = 'other'", "L6"),
        ("UPDATE epochs SET exit_code = 1", "L6"),
        ("UPDATE epochs SET quiescent = 0", "Q3"),
    ):
        with pytest.raises(sqlite3.IntegrityError, match=rule):
            ledger._connection.execute(statement)
    ledger.close()


def test_a_broken_rule_fails_the_whole_turn(ledger: SqliteLedger) -> None:
    """What a rule of the database refuses is our own fault: nothing of the turn stays."""
    before = ledger.status()
    ledger._connection.execute(
        "CREATE TEMP TRIGGER refuse BEFORE INSERT ON main.decisions "
        "BEGIN SELECT RAISE (ABORT, 'refused by the test'); END"
    )
    (answer,) = ledger.run([Claim(0, 1)]).answers
    assert isinstance(answer, Claimed)
    leased = ledger.status()
    with pytest.raises(InternalError, match="refused by the test"):
        ledger.run([Admit(1, (admission(b"new"),)), decision(answer.leases[0])])
    assert ledger.status() == leased != before
    ledger._connection.execute("DROP TRIGGER temp.refuse")
    assert list(ledger.audit()) == []
    ledger.run([decision(answer.leases[0], [child(b"kid2", 16)])])
    assert list(ledger.audit()) == []


_FREE_OF_SCANS = ("turn", "reading", "opening")
_MAY_SCAN = {
    # few rows by nature, or the whole is asked for
    "campaign", "standing", "epochs", "counters", "faults", "acks", "coverage",
    "sinks", "unpublished_decisions", "drop_unnamed", "open_sources", "live_sinks",
    "accept_older", "put_standing", "campaign_as_made", "generation_start", "supersede",
    "rows_done", "rows_superseded", "corpus", "corpus_inputs", "decisions", "set_standing",
    # the last row of a table in the order in which it is stored
    "last_epoch", "last_decision",
    # counts what a search by index with a bound has found (`test_statement_plans` looks inside)
    "pending_before",
}  # fmt: skip


@pytest.mark.parametrize("file", _FREE_OF_SCANS)
def test_no_statement_of_a_turn_or_a_status_reads_a_whole_table(
    ledger: SqliteLedger, file: str
) -> None:
    for name, statement in load(file).items():
        if name in _MAY_SCAN or not statement.startswith(("SELECT", "UPDATE", "INSERT", "DELETE")):
            continue
        plan = ledger._connection.execute(
            f"EXPLAIN QUERY PLAN {statement}", (None,) * statement.count("?")
        ).fetchall()
        for *_, step in plan:
            if step == "SCAN standing":
                continue  # it has one row
            assert not step.startswith("SCAN") or " USING " in step, f"{file}.{name}: {step}"
