"""What a ledger on PostgreSQL refuses: wrong servers and schemas, missing rights, changed rows."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from symfleet.clock import SystemClock
from symfleet.config.model import Output
from symfleet.errors import (
    DataError,
    HostError,
    IntegrityError,
    SymfleetError,
    UserError,
)
from symfleet.ledger import opener, places, postgres_opener
from symfleet.ledger.contract import Ledger
from symfleet.ledger.copies import CHECK_FIRST_NAME
from symfleet.ledger.postgres import PostgresLedger
from symfleet.ledger.postgres_faults import refused_connection
from symfleet.protocol.answers import Claimed
from symfleet.protocol.operations import (
    Admit,
    Blame,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    SetSource,
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
from symfleet.testing.stores.postgres_cluster import USER, Cluster
from symfleet.types import CampaignId, Incarnation, SinkKind, input_id_of

REQUEST = opener.OwnerRequest("here", 4711, lock_wait_s=0.1)


def create(out: Path, url: str) -> PostgresLedger:
    """Make a campaign of its own."""
    row = replace(campaign_row(), campaign=CampaignId(secrets.token_hex(16)))
    return postgres_opener.create(out, row, REQUEST, ManualClock(), url)


def own(out: Path) -> PostgresLedger:
    """Own it again."""
    return postgres_opener.open_owner(out, REQUEST, SystemClock())


def schema_of(ledger: PostgresLedger) -> str:
    """Return the name of its schema."""
    return ledger._ownership.address.schema


@contextmanager
def used_ledger(out: Path, url: str) -> Iterator[PostgresLedger]:
    """One decided, one leased, one blamed and pending row; a sink, a source."""
    ledger = create(out, url)
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


@pytest.fixture
def ledger(tmp_path: Path, postgres: Cluster) -> Iterator[PostgresLedger]:
    """A ledger for this test."""
    with used_ledger(tmp_path, postgres.url) as ledger:
        yield ledger


@pytest.fixture(scope="module")
def ruled(tmp_path_factory: pytest.TempPathFactory, postgres: Cluster) -> Iterator[PostgresLedger]:
    """A ledger for all tests whose changes are refused."""
    with used_ledger(tmp_path_factory.mktemp("ruled"), postgres.url) as ledger:
        yield ledger
        assert list(ledger.audit()) == []


@pytest.fixture
def admin(postgres: Cluster) -> Iterator[psycopg.Connection[Any]]:
    """Another session of the server."""
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        yield connection


def within(ledger: PostgresLedger, admin: psycopg.Connection[Any], statement: str) -> None:
    """Run a statement in the campaign's schema, as somebody with a prompt would."""
    admin.execute("SELECT set_config('search_path', %s, false)", (schema_of(ledger),))
    admin.execute(statement.encode())


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
        ("UPDATE work SET state = 'leased' WHERE state = 'done'", "check constraint"),
        ("UPDATE work SET state = 'leased', decision = NULL WHERE state = 'done'", "C2"),
        ("UPDATE work SET fence = fence - 1 WHERE state = 'done'", "L2"),
        ("UPDATE coordinators SET lost = 1; UPDATE coordinators SET lost = 0", "L2"),
        ("DELETE FROM coordinators", "L2"),
        (r"UPDATE work SET payload = '\x00'", "A4"),
        ("UPDATE work SET work_id = sha256('') WHERE work = 1", "A4"),
        ("UPDATE work SET input = 2 WHERE work = 1", "A4"),
        ("DELETE FROM work", "C8"),
        ("TRUNCATE work CASCADE", "C8|C7"),
        (r"UPDATE inputs SET data = '\x00'", "A1"),
        ("DELETE FROM inputs", "C5"),
        (r"UPDATE decisions SET manifest = '\x00'", "C7"),
        ("DELETE FROM decisions", "C7"),
        (r"UPDATE coverage SET edges = '\x00000000'", "C7"),
        ("DELETE FROM coverage", "C7"),
        ("UPDATE artefacts SET kind = 'crashes'", "C5"),
        ("DELETE FROM artefacts", "C5"),
        ("DELETE FROM epochs", "L6"),
        ("UPDATE counters SET amount = 0", "C7"),
        ("UPDATE sinks SET published_upto = -1", "C6"),
        ("UPDATE work SET state = 'asleep' WHERE work = 2", "check constraint"),
        ("UPDATE work SET state = 'done' WHERE work = 2", "check constraint"),
        ("UPDATE work SET epoch = 0 WHERE state = 'leased'", "check constraint"),
        ("UPDATE standing SET changes = -1", "check constraint"),
        ("UPDATE epochs SET reason = 'x'", "check constraint"),
        ("UPDATE work SET fence = 'x'", "invalid input syntax"),
        ("UPDATE work SET place = NULL", "not-null"),
        (r"INSERT INTO inputs VALUES (99, '\x00', '')", "check constraint"),
        ("INSERT INTO inputs SELECT input + 99, digest, data FROM inputs", "unique"),
        (_SECOND_DECISION, "unique"),
        (_SECOND_CAMPAIGN, "check constraint"),
        ("UPDATE work SET decision = 7 WHERE state = 'leased'", "check|foreign key"),
    ],
)
def test_the_database_refuses(
    ruled: PostgresLedger, admin: psycopg.Connection[Any], statement: str, rule: str
) -> None:
    with pytest.raises(psycopg.Error, match=rule):
        within(ruled, admin, statement)


@pytest.mark.guarantee("L1")
def test_two_leased_rows_of_one_state_cannot_be_stored(
    ledger: PostgresLedger, admin: psycopg.Connection[Any]
) -> None:
    entries = (admission(b"s", strategy="deep"), admission(b"s", strategy="wide"))
    ledger.run([Admit(1, entries)])
    statement = (
        "UPDATE work SET state = 'leased', epoch = 1, fence = 1 WHERE state_id = "
        "(SELECT state_id FROM work GROUP BY state_id HAVING count(*) = 2)"
    )
    with pytest.raises(psycopg.errors.UniqueViolation):
        within(ledger, admin, statement)


def test_a_verdict_and_a_quiescence_are_final(
    tmp_path: Path, postgres: Cluster, admin: psycopg.Connection[Any]
) -> None:
    ledger = create(tmp_path, postgres.url)
    ledger.open_epoch(epoch_request())
    ledger.run([CommitQuiescence("m", ledger.run([]).changes), CloseEpoch("quiescent", 0)])
    for statement, rule in (
        ("UPDATE epochs SET reason = 'other'", "L6"),
        ("UPDATE epochs SET exit_code = 1", "L6"),
        ("UPDATE epochs SET quiescent = 0", "Q3"),
    ):
        with pytest.raises(psycopg.Error, match=rule):
            within(ledger, admin, statement)
    ledger.close()


def test_only_inputs_that_no_row_names_are_dropped(ledger: PostgresLedger) -> None:
    ledger.run([StoreInputs((b"part of a result that never came", b"kid"))])
    assert ledger.drop_unnamed() == 1
    assert ledger.drop_unnamed() == 0
    assert ledger.input_bytes(input_id_of(b"kid")) == b"kid"
    assert list(ledger.audit()) == []


# ---- the schema -------------------------------------------------------------------------------


def test_a_reader_beside_a_live_owner_reads_and_cannot_write(
    ledger: PostgresLedger, tmp_path: Path
) -> None:
    reader = places.read_ledger(tmp_path)
    assert reader.status() == ledger.status()
    assert list(reader.audit()) == []
    with pytest.raises(HostError):
        reader._connection.execute(postgres_opener._OPENING["drop_unnamed"])  # type: ignore[attr-defined]
    reader.close()


@pytest.mark.guarantee("C9")
@pytest.mark.parametrize(
    "change",
    [
        "DROP TRIGGER work_stays ON work",
        "ALTER TABLE work DISABLE TRIGGER work_stays",
        "DROP INDEX work_frontier",
        "ALTER TABLE artefacts DROP CONSTRAINT artefacts_input_fkey",
        "ALTER TABLE work ADD COLUMN mine text",
        "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'",
    ],
)
def test_a_changed_schema_is_refused(
    tmp_path: Path, postgres: Cluster, admin: psycopg.Connection[Any], change: str
) -> None:
    ledger = create(tmp_path, postgres.url)
    ledger.close()
    within(ledger, admin, change)
    for ask in (own, places.read_ledger):
        with pytest.raises(IntegrityError, match="schema was changed"):
            ask(tmp_path)


@pytest.mark.parametrize(("version", "word"), [(0, "older"), (99, "newer")])
def test_a_schema_of_another_version_is_refused_with_both_numbers(
    tmp_path: Path, postgres: Cluster, admin: psycopg.Connection[Any], version: int, word: str
) -> None:
    ledger = create(tmp_path, postgres.url)
    ledger.close()
    within(ledger, admin, f"UPDATE schema_version SET version = {version}")  # noqa: S608
    with pytest.raises(DataError, match=rf"{word} version.*number {version}, this symfleet knows"):
        places.read_ledger(tmp_path)


@pytest.mark.guarantee("C9")
def test_a_missing_schema_is_never_an_empty_campaign(
    tmp_path: Path, postgres: Cluster, admin: psycopg.Connection[Any]
) -> None:
    ledger = create(tmp_path, postgres.url)
    ledger.close()
    admin.execute(f'DROP SCHEMA "{schema_of(ledger)}" CASCADE'.encode())
    for ask in (own, places.read_ledger):
        with pytest.raises(IntegrityError, match="not on this server"):
            ask(tmp_path)


@pytest.mark.guarantee("C9")
def test_an_older_copy_is_refused_and_keeps_every_row(
    tmp_path: Path, postgres: Cluster, admin: psycopg.Connection[Any]
) -> None:
    """A backup of the database was restored behind the folder's back."""
    ledger = create(tmp_path, postgres.url)
    ledger.open_epoch(epoch_request())
    before = (tmp_path / "highwater").read_bytes()
    ledger.close()
    (tmp_path / "highwater").write_bytes(before.replace(b'"epoch":1', b'"epoch":5'))
    with pytest.raises(IntegrityError, match="older or another copy"):
        own(tmp_path)
    request = replace(REQUEST, accept_older="fedcba9876543210")
    again = postgres_opener.open_owner(tmp_path, request, SystemClock())
    assert again.status().campaign.ledger_incarnation == "fedcba9876543210"
    again.close()


@pytest.mark.guarantee("A1")
@pytest.mark.guarantee("C9")
def test_damaged_bytes_are_refused_with_both_digests(
    ledger: PostgresLedger, tmp_path: Path, admin: psycopg.Connection[Any]
) -> None:
    ledger.close()
    within(ledger, admin, "ALTER TABLE inputs DISABLE TRIGGER inputs_are_final")
    within(ledger, admin, r"UPDATE inputs SET data = '\x62' WHERE data = '\x61'")
    within(ledger, admin, r"UPDATE inputs SET data = '\x78' WHERE data = '\x63'")
    within(ledger, admin, "ALTER TABLE inputs ENABLE TRIGGER inputs_are_final")
    with pytest.raises(IntegrityError) as caught:
        own(tmp_path)
    assert input_id_of(b"c") in str(caught.value)
    assert input_id_of(b"x") in str(caught.value)
    reader = places.read_ledger(tmp_path)
    assert {finding.row for finding in reader.audit()} >= {input_id_of(b"a"), input_id_of(b"c")}
    reader.close()


def test_after_a_failure_the_next_start_checks_everything(
    tmp_path: Path, postgres: Cluster
) -> None:
    ledger = create(tmp_path, postgres.url)
    ledger.open_epoch(epoch_request())
    ledger.close()
    (tmp_path / CHECK_FIRST_NAME).write_text("x")
    own(tmp_path).close()
    assert not (tmp_path / CHECK_FIRST_NAME).exists()


# ---- the server -------------------------------------------------------------------------------


def refusal(out: Path, url: str) -> SymfleetError:
    """Return the error of a campaign that cannot be made; it has four parts and leaves none."""
    with pytest.raises(SymfleetError) as caught:
        create(out, url)
    error = caught.value
    assert error.what
    assert error.where
    assert error.why
    assert error.hint
    assert not opener.has_ledger(out)
    return error


def test_an_unreachable_server(tmp_path: Path) -> None:
    error = refusal(tmp_path, f"postgresql://u@/db?host={tmp_path}")
    assert isinstance(error, HostError)
    assert error.what == "PostgreSQL cannot be reached"


@pytest.mark.parametrize("host", ["database", "role", "SSL"])
def test_a_host_whose_name_is_a_word_of_another_cause(host: str) -> None:
    told = f'failed to resolve host "{host}": Name or service not known'
    error = refused_connection(psycopg.OperationalError(told), "ledger")
    assert error.what == "PostgreSQL cannot be reached"


def test_a_missing_database(tmp_path: Path, postgres: Cluster) -> None:
    error = refusal(tmp_path, postgres.url_of(USER, "nowhere"))
    assert isinstance(error, HostError)
    assert error.what == "there is no such database"
    assert '"nowhere"' in error.why


def test_an_unknown_role(tmp_path: Path, postgres: Cluster) -> None:
    error = refusal(tmp_path, postgres.url_of("stranger", "postgres"))
    assert isinstance(error, HostError)
    assert error.what == "PostgreSQL refuses the login"


def test_a_role_without_rights(
    tmp_path: Path, postgres: Cluster, admin: psycopg.Connection[Any]
) -> None:
    admin.execute("DROP ROLE IF EXISTS guest")
    admin.execute("CREATE ROLE guest LOGIN")
    url = postgres.url_of("guest", "postgres")
    error = refusal(tmp_path, url)
    assert isinstance(error, HostError)
    assert error.what == "PostgreSQL refuses the ledger its rights"
    create(tmp_path, postgres.url).close()
    with pytest.raises(HostError, match="refuses the ledger its rights"):
        postgres_opener.open_owner(tmp_path, REQUEST, SystemClock(), url)


def test_the_owner_of_the_database_needs_no_other_right(
    tmp_path: Path, postgres: Cluster, admin: psycopg.Connection[Any]
) -> None:
    admin.execute("CREATE ROLE modest LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE")
    admin.execute("CREATE DATABASE campaigns OWNER modest")
    ledger = create(tmp_path, postgres.url_of("modest", "campaigns"))
    ledger.open_epoch(epoch_request())
    ledger.register_source("seeds", "/s", "here")
    ledger.run([Admit(1, (admission(b"a"),)), SetSource(1, is_open=False)])
    ledger.close()
    own(tmp_path).close()


def test_a_server_without_tls(tmp_path: Path) -> None:
    """The answer of such a server to a request for TLS is one letter."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            client, _ = server.accept()
            with client:
                client.recv(64)
                client.sendall(b"N")
                client.recv(64)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        port = server.getsockname()[1]
        error = refusal(
            tmp_path, f"postgresql://u@127.0.0.1:{port}/db?sslmode=require&gssencmode=disable"
        )
        thread.join(10)
    assert isinstance(error, HostError)
    assert error.what == "the TLS connection to PostgreSQL failed"


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_does_not_keep_what_it_calls_durable(
    tmp_path: Path, postgres: Cluster, admin: psycopg.Connection[Any], setting: str
) -> None:
    admin.execute(f"ALTER SYSTEM SET {setting} = off".encode())
    try:
        postgres.reload()
        error = refusal(tmp_path, postgres.url)
        assert isinstance(error, HostError)
        assert setting in error.why
    finally:
        admin.execute(f"ALTER SYSTEM RESET {setting}".encode())
        postgres.reload()


# ---- addresses --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@host/db",
        "postgres://host/db?user=me&password=s3cret",
        "postgresql://host/db?sslpassword=s3cret",
        "mysql://me:s3cret@host/db",
    ],
)
def test_an_address_with_a_password_is_refused_and_never_shown(url: str) -> None:
    with pytest.raises(UserError) as caught:
        Output(ledger=url)
    assert "s3cret" not in str(caught.value)


def test_a_campaign_stays_in_the_kind_of_ledger_that_it_has(
    tmp_path: Path, postgres: Cluster
) -> None:
    here, there = tmp_path / "file", tmp_path / "server"
    opener.create(here, campaign_row(), REQUEST, ManualClock()).close()
    create(there, postgres.url).close()
    for out, ledger in ((here, postgres.url), (there, "sqlite")):
        with pytest.raises(UserError, match="ledger of another kind"):
            places.own_ledger(out, REQUEST, SystemClock(), ledger)
    for out in (here, there):
        places.own_ledger(out, REQUEST, SystemClock()).close()
        with pytest.raises(UserError, match="has a campaign already"):
            create(out, postgres.url)
    (there / "ledger.db").write_bytes((here / "ledger.db").read_bytes())
    for ask in (places.read_ledger, own_anywhere):
        with pytest.raises(IntegrityError, match="two ledgers"):
            ask(there)


def own_anywhere(out: Path) -> Ledger:
    """Own whatever the folder has."""
    return places.own_ledger(out, REQUEST, SystemClock())


def test_a_campaign_follows_its_server(tmp_path: Path, postgres: Cluster) -> None:
    create(tmp_path, postgres.url).close()
    moved = postgres.url + "&application_name=moved"
    places.own_ledger(tmp_path, REQUEST, SystemClock(), moved).close()
    assert moved in (tmp_path / "ledger.url").read_text()
    places.read_ledger(tmp_path).close()


def test_a_damaged_address_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ledger.url").write_text('{"url":"postgresql://h/d"}')
    with pytest.raises(IntegrityError, match="address is damaged"):
        places.read_ledger(tmp_path)
