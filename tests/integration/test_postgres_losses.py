"""What a writer on PostgreSQL does when its session ends at a bad moment, or its row is not what it
has just read."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from symfleet.clock import SystemClock
from symfleet.ledger import opener, postgres_opener
from symfleet.ledger.postgres import PostgresLedger
from symfleet.ledger.postgres_connection import PostgresConnection, connect
from symfleet.ledger.postgres_faults import ConflictError, ConnectionLostError
from symfleet.ledger.postgres_writer import PostgresWriter
from symfleet.protocol.answers import Blamed, Claimed, Decided, Lease
from symfleet.protocol.operations import Admit, Blame, Claim
from symfleet.testing.ledgers import admission, campaign_row, decision, epoch_request
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.testing.stores.postgres_writers import attached
from symfleet.types import CampaignId, Incarnation, WorkState

REQUEST = opener.OwnerRequest("here", 4711, lock_wait_s=0.1)
_DEADLINE_S = 60
_BLOCKED = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@pytest.fixture
def root(tmp_path: Path, postgres: Cluster) -> Iterator[PostgresLedger]:
    row = replace(campaign_row(), campaign=CampaignId(secrets.token_hex(16)))
    ledger = postgres_opener.create(tmp_path, row, REQUEST, SystemClock(), postgres.url)
    ledger.open_epoch(epoch_request())
    ledger.register_source("seeds", "/s", "here")
    ledger.run([Admit(1, (admission(b"a"), admission(b"b")))])
    yield ledger
    ledger.close()


@pytest.fixture
def admin(postgres: Cluster) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        yield connection


def end(admin: psycopg.Connection[Any], session: PostgresConnection) -> None:
    """End a session; it is gone when this returns."""
    backend = session.raw.info.backend_pid
    admin.execute("SELECT pg_terminate_backend(%s, 20000)", (backend,))


def claim(ledger: PostgresWriter, number: int = 0) -> Lease:
    (answer,) = ledger.run([Claim(number, 1)]).answers
    assert isinstance(answer, Claimed)
    return answer.leases[0]


def test_a_session_whose_pipeline_cannot_be_left_is_a_lost_one(root: PostgresLedger) -> None:
    """So it is when libpq has read the server's farewell and not yet the end of the connection.
    That is a matter of microseconds; a COPY leaves it in the same state at any time."""
    session = connect(root._ownership.address)

    def get_stuck() -> None:
        with session.pipeline():
            session.raw.execute("COPY (SELECT 1) TO STDOUT")

    with pytest.raises(ConnectionLostError):
        get_stuck()
    assert session.is_lost
    with pytest.raises(ConnectionLostError):
        session.script("SELECT 1")


@pytest.mark.guarantee("C7")
@pytest.mark.parametrize("losses", [1, 2])
def test_a_writer_comes_back_again_when_it_loses_the_session_that_it_came_back_with(
    root: PostgresLedger,
    admin: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
    losses: int,
) -> None:
    lease, whole, left = claim(root), root._read_again, [losses]

    def read_again(session: PostgresConnection) -> None:
        if left[0]:
            left[0] -= 1
            end(admin, session)
        whole(session)

    monkeypatch.setattr(root, "_read_again", read_again)
    end(admin, root._ownership.session)
    (answer,) = root.run([decision(lease)]).answers
    assert isinstance(answer, Decided)
    assert (answer.disposition, answer.decision, left) == ("completed", 1, [0])
    assert list(root.audit()) == []


@pytest.mark.guarantee("C7")
def test_a_transaction_that_is_given_up_together_with_its_session_runs_again(
    root: PostgresLedger, admin: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    lease, whole, left = claim(root), root._try, [1]

    def give_up(*arguments: Any) -> None:
        if left[0]:
            left[0] -= 1
            end(admin, root._ownership.session)
            raise ConflictError("given up", where="here")
        whole(*arguments)

    monkeypatch.setattr(root, "_try", give_up)
    (answer,) = root.run([decision(lease)]).answers
    assert isinstance(answer, Decided)
    assert answer.disposition == "completed"


def test_reading_survives_several_lost_sessions(
    root: PostgresLedger, admin: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, whole, left = root.status(), root._come_back, [2]

    def come_back(attempt: Any) -> bool:
        durable = whole(attempt)
        if left[0]:
            left[0] -= 1
            end(admin, root._ownership.session)
        return durable

    monkeypatch.setattr(root, "_come_back", come_back)
    end(admin, root._ownership.session)
    assert root.status() == before
    assert left == [0]


@pytest.mark.guarantee("L2")
def test_of_two_that_act_on_one_lease_at_once_one_is_told_that_it_holds_it_no_more(
    root: PostgresLedger, admin: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have read the row as leased; the second one's write finds it changed."""
    peer = attached(root, 1)
    lease = claim(root)
    told: list[Any] = []
    thread = threading.Thread(
        target=lambda: told.extend(
            peer.run([Blame(lease.work_id, lease.token, Incarnation(2), "peer")]).answers
        )
    )
    whole = root._write_standing

    def write_standing(cursor: Any, before: tuple[int, ...]) -> None:
        whole(cursor, before)
        if not thread.ident:
            root._ownership.session.settle()
            thread.start()
            while not admin.execute(_BLOCKED).fetchone():
                assert thread.is_alive()

    monkeypatch.setattr(root, "_write_standing", write_standing)
    (mine,) = root.run([Blame(lease.work_id, lease.token, Incarnation(1), "root")]).answers
    thread.join(_DEADLINE_S)
    assert mine == Blamed(changed=True, blames=1, poisoned=False)
    assert told == [Blamed(changed=False, blames=0, poisoned=False)]
    assert root.status().states[WorkState.PENDING] == 2
    assert list(root.audit()) == []
    peer.close()
