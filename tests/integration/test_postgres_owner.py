"""The owner of a ledger on PostgreSQL: its lock, its fence, and what it does when its session ends
in the middle of anything."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from symfleet.clock import SystemClock
from symfleet.errors import BusyError, IntegrityError, InternalError
from symfleet.ledger import opener, postgres_opener
from symfleet.ledger.postgres import ATTEMPTS, PostgresLedger
from symfleet.ledger.postgres_connection import lock_keys
from symfleet.ledger.postgres_faults import ConflictError
from symfleet.protocol.answers import Claimed, Decided, Lease
from symfleet.protocol.operations import Admit, Claim
from symfleet.testing.ledgers import (
    ManualClock,
    admission,
    campaign_row,
    child,
    decision,
    epoch_request,
)
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.testing.stores.postgres_proxy import Proxy
from symfleet.types import CampaignId, WorkState

REQUEST = opener.OwnerRequest("here", 4711, lock_wait_s=0.1)
_SOCKET = ".s.PGSQL.5432"


@contextmanager
def campaign(out: Path, url: str) -> Iterator[tuple[PostgresLedger, Lease]]:
    """A ledger with a leased item."""
    row = replace(campaign_row(), campaign=CampaignId(secrets.token_hex(16)))
    ledger = postgres_opener.create(out, row, REQUEST, SystemClock(), url)
    ledger.open_epoch(epoch_request())
    ledger.register_source("seeds", "/s", "here")
    _, answer = ledger.run([Admit(1, (admission(b"a"), admission(b"b"))), Claim(0, 1)]).answers
    assert isinstance(answer, Claimed)
    try:
        yield ledger, answer.leases[0]
    finally:
        ledger.abandon()


@pytest.fixture
def admin(postgres: Cluster) -> Iterator[psycopg.Connection[Any]]:
    """Another session of the server."""
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        yield connection


def end_session(admin: psycopg.Connection[Any], ledger: PostgresLedger) -> None:
    """Kill the owner's backend; it is gone when this returns."""
    backend = ledger._ownership.backend
    admin.execute("SELECT pg_terminate_backend(%s, 20000)", (backend,))


def before_commit(
    monkeypatch: pytest.MonkeyPatch, ledger: PostgresLedger, times: int, strike: Callable[[], None]
) -> list[int]:
    """Strike inside the next transactions, after all their work and before COMMIT; return where
    the number of transactions that came so far is kept."""
    whole = ledger._write_standing
    seen = [0]

    def write_standing(cursor: Any, before: tuple[int, ...]) -> None:
        whole(cursor, before)
        seen[0] += 1
        if seen[0] <= times:
            ledger._ownership.session.settle()
            strike()

    monkeypatch.setattr(ledger, "_write_standing", write_standing)
    return seen


def decide_and_check(ledger: PostgresLedger, lease: Lease) -> None:
    """Decide an item: it counts once, whatever happened on the way."""
    (answer,) = ledger.run([decision(lease, [child(b"kid", 8)])]).answers
    assert isinstance(answer, Decided)
    assert (answer.disposition, answer.decision, answer.new_work) == ("completed", 1, 1)
    status = ledger.status()
    assert (status.total.executed, status.decisions) == (1, 1)
    assert status.states[WorkState.DONE] == 1
    (answer,) = ledger.run([decision(lease, [child(b"kid", 8)])]).answers
    assert answer == Decided("already", decision=1)
    assert list(ledger.audit()) == []


# ---- the session ends -------------------------------------------------------------------------


@pytest.mark.guarantee("C7")
def test_a_turn_whose_backend_is_killed_before_commit_runs_again(
    tmp_path: Path,
    postgres: Cluster,
    admin: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with campaign(tmp_path, postgres.url) as (ledger, lease):
        seen = before_commit(monkeypatch, ledger, 2, lambda: end_session(admin, ledger))
        decide_and_check(ledger, lease)
        assert seen[0] >= 3


@pytest.mark.guarantee("C7")
def test_a_server_that_crashes_inside_a_turn_is_waited_for(
    tmp_path: Path, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash() -> None:
        postgres.halt("immediate")
        postgres.start()

    with campaign(tmp_path, postgres.url) as (ledger, lease):
        seen = before_commit(monkeypatch, ledger, 1, crash)
        decide_and_check(ledger, lease)
        assert seen[0] >= 2


@pytest.fixture
def cutter(postgres: Cluster) -> Iterator[Proxy]:
    folder = postgres.folder / f"cut-{secrets.token_hex(4)}"
    folder.mkdir()
    cutter = Proxy(folder, postgres)
    yield cutter
    cutter.close()
    shutil.rmtree(folder)


@pytest.mark.guarantee("C7")
def test_a_commit_whose_answer_is_lost_counts_once(
    tmp_path: Path, cutter: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    with campaign(tmp_path, cutter.url) as (ledger, lease):
        seen = before_commit(monkeypatch, ledger, 0, lambda: None)
        cutter.swallows_commit = True
        (answer,) = ledger.run([decision(lease, [child(b"kid", 8)])]).answers
        assert isinstance(answer, Decided)
        assert (answer.disposition, answer.decision) == ("completed", 1)
        assert (cutter.cuts, seen[0]) == (1, 1), "the turn ran once, its answer was never seen"
        assert ledger.status().total.executed == 1
        (answer,) = ledger.run([decision(lease, [child(b"kid", 8)])]).answers
        assert answer == Decided("already", decision=1)
        assert list(ledger.audit()) == []


@pytest.mark.guarantee("L6")
def test_an_epoch_whose_commit_is_never_answered_is_opened_once(
    tmp_path: Path, cutter: Proxy
) -> None:
    with campaign(tmp_path, cutter.url) as (ledger, _):
        ledger.abandon()
        again = postgres_opener.open_owner(tmp_path, REQUEST, SystemClock())
        cutter.swallows_commit = True
        opened = again.open_epoch(epoch_request(8))
        assert (opened.epoch, opened.leases_recovered, cutter.cuts) == (2, 1, 1)
        assert [row.epoch for row in again.epochs()] == [1, 2]
        assert again.status().faults_this_epoch == {"leases_recovered": {"": 1}}
        again.close()


def test_reading_between_turns_comes_back_after_a_lost_session(
    tmp_path: Path, postgres: Cluster, admin: psycopg.Connection[Any]
) -> None:
    with campaign(tmp_path, postgres.url) as (ledger, _):
        before = ledger.status()
        end_session(admin, ledger)
        assert len(list(ledger.corpus())) == 2
        end_session(admin, ledger)
        assert ledger.status() == before


@pytest.mark.guarantee("C9")
def test_a_server_that_lost_durable_turns_is_not_gone_on_with(
    tmp_path: Path, postgres: Cluster, admin: psycopg.Connection[Any]
) -> None:
    """A standby that lagged behind has taken over, or a backup was restored."""
    with campaign(tmp_path, postgres.url) as (ledger, _):
        schema = ledger._ownership.address.schema
        admin.execute(f'UPDATE "{schema}".coordinators SET turn = turn - 1'.encode())  # noqa: S608
        end_session(admin, ledger)
        for _ in range(2):
            with pytest.raises(IntegrityError, match="lost transactions"):
                ledger.run([Claim(0, 1)])


def test_a_transaction_that_the_server_gives_up_is_tried_again_and_not_for_ever(
    tmp_path: Path, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with campaign(tmp_path, postgres.url) as (ledger, lease):

        def give_up() -> None:
            ledger._ownership.session.script(
                "DO $$ BEGIN RAISE EXCEPTION 'gone' USING ERRCODE = '40001'; END $$"
            )
            ledger._ownership.session.settle()

        with monkeypatch.context() as patch:
            seen = before_commit(patch, ledger, ATTEMPTS, give_up)
            with pytest.raises(ConflictError):
                ledger.run([decision(lease)])
            assert seen[0] == ATTEMPTS
        before_commit(monkeypatch, ledger, ATTEMPTS - 1, give_up)
        decide_and_check(ledger, lease)


def test_what_a_rule_of_the_database_refuses_fails_the_whole_turn(
    tmp_path: Path, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with campaign(tmp_path, postgres.url) as (ledger, lease):
        before = ledger.status()

        def break_a_rule() -> None:
            ledger._ownership.session.script("UPDATE decisions SET fence = 9")
            ledger._ownership.session.settle()

        before_commit(monkeypatch, ledger, 1, break_a_rule)
        with pytest.raises(InternalError, match="breaks one of its rules"):
            ledger.run([Admit(1, (admission(b"new"),)), decision(lease)])
        assert ledger.status() == before
        decide_and_check(ledger, lease)


# ---- who owns ---------------------------------------------------------------------------------


def elsewhere(out: Path, tmp_path: Path) -> Path:
    """Copy what a second host would have of the campaign's folder."""
    other = tmp_path / "elsewhere"
    other.mkdir()
    for name in ("ledger.url", "highwater"):
        shutil.copy(out / name, other / name)
    return other


@pytest.mark.guarantee("L8")
def test_a_second_owner_is_refused_with_holder_and_age(tmp_path: Path, postgres: Cluster) -> None:
    """E15: from the same folder, and from a host that shares nothing but the server."""
    with campaign(tmp_path, postgres.url):
        other = elsewhere(tmp_path, tmp_path)
        for out in (tmp_path, other):
            with pytest.raises(BusyError, match=r"process 4711 on here, epoch 1, holds it for"):
                postgres_opener.open_owner(out, REQUEST, SystemClock())
    postgres_opener.open_owner(other, REQUEST, SystemClock()).close()


@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("L6")
@pytest.mark.parametrize("is_closed", [False, True])
def test_an_owner_that_lost_its_lock_with_its_session_writes_nothing_any_more(
    tmp_path: Path, postgres: Cluster, admin: psycopg.Connection[Any], is_closed: bool
) -> None:
    with campaign(tmp_path, postgres.url) as (ledger, lease):
        ledger._clock = ManualClock()
        end_session(admin, ledger)
        other = postgres_opener.open_owner(elsewhere(tmp_path, tmp_path), REQUEST, SystemClock())
        assert other.open_epoch(epoch_request(8)).leases_recovered == 1
        before = other.status()
        if is_closed:
            other.close()
        for _ in range(2):
            with pytest.raises(BusyError):
                ledger.run([decision(lease)])
        if not is_closed:
            assert other.status() == before
            other.close()


@pytest.mark.guarantee("L6")
def test_the_fence_stops_an_owner_that_believes_in_its_lock(
    tmp_path: Path, postgres: Cluster
) -> None:
    """Its session lives on; only the lock is gone, as behind a pooler."""
    with campaign(tmp_path, postgres.url) as (ledger, lease):
        ledger._ownership.session._raw.execute("SELECT pg_advisory_unlock_all()")
        other = postgres_opener.open_owner(elsewhere(tmp_path, tmp_path), REQUEST, SystemClock())
        other.open_epoch(epoch_request(8))
        before = other.status()
        with pytest.raises(BusyError, match="another job has taken the campaign over"):
            ledger.run([Admit(1, (admission(b"x"),)), decision(lease)])
        assert other.status() == before
        other.close()


@pytest.mark.guarantee("L6")
def test_no_epoch_opens_while_a_transaction_of_the_older_one_may_commit(
    tmp_path: Path,
    postgres: Cluster,
    admin: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with campaign(tmp_path, postgres.url) as (ledger, lease):
        fence = lock_keys(ledger.status().campaign.campaign).fence
        free: list[bool] = []

        def try_fence() -> None:
            row = admin.execute("SELECT pg_try_advisory_xact_lock(%s)", (fence,)).fetchone()
            assert row is not None
            free.append(row[0])

        before_commit(monkeypatch, ledger, 1, try_fence)
        decide_and_check(ledger, lease)
        try_fence()
        assert free == [False, True]
