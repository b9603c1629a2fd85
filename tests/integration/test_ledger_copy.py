"""A campaign moves between SQLite and PostgreSQL: nothing is lost, whatever dies or fails."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import shutil
import signal
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from symfleet import crash
from symfleet.clock import SystemClock
from symfleet.errors import (
    BusyError,
    DataError,
    HostError,
    IntegrityError,
    IOFailure,
    SymfleetError,
    UserError,
)
from symfleet.ledger import copying, opener, places, postgres_opener
from symfleet.ledger.backup import back_up
from symfleet.ledger.contract import NewGeneration
from symfleet.ledger.copying import copy_store
from symfleet.ledger.facts import facts_of
from symfleet.ledger.faults import NotReadyError
from symfleet.ledger.moving import MOVE_NAME
from symfleet.ledger.postgres_address import (
    LedgerAddress,
    StoredAddress,
    read_address,
    write_address,
)
from symfleet.ledger.postgres_connection import schema_of
from symfleet.ledger.postgres_tables import open_tables as open_schema
from symfleet.ledger.postgres_tables import own_tables
from symfleet.ledger.relocation import Relocated, relocate
from symfleet.ledger.sqlite_tables import SqliteCopy, open_tables
from symfleet.ledger.tables import TableDigest, digest_of
from symfleet.protocol.answers import Claimed
from symfleet.protocol.operations import (
    Admit,
    Blame,
    Claim,
    CountFaults,
    Defer,
    Operation,
    RecordAck,
    StoreInputs,
)
from symfleet.testing.kills import ledger_kills
from symfleet.testing.ledgers import (
    admission,
    campaign_row,
    child,
    decision,
    epoch_request,
)
from symfleet.testing.small_disk import SmallDisk
from symfleet.testing.stores import ledger_moves
from symfleet.testing.stores.postgres_cluster import USER, Cluster
from symfleet.testing.stores.postgres_writers import attached
from symfleet.types import CampaignId, GenerationId, Incarnation, WorkState

REQUEST = opener.OwnerRequest("here", os.getpid(), lock_wait_s=0.1, reserve_bytes=0)
CAMPAIGN = CampaignId("c1" * 16)
BATCH = 15
LENGTH = 7


@pytest.fixture(scope="module", autouse=True)
def small() -> Iterator[None]:
    """Let a small campaign travel in many transactions."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(copying, "ROWS_MAX", BATCH)
        patched.setattr(ledger_kills, "LENGTH", LENGTH)
        patched.setattr(ledger_kills, "ITEMS", 2**LENGTH - 1)
        yield


@pytest.fixture(scope="module")
def half_done(tmp_path_factory: pytest.TempPathFactory, small: None) -> Path:
    """A killed campaign: rows of all states, every table filled, names that collations sort in
    another way than bytes."""
    out = tmp_path_factory.mktemp("half") / "out"
    for seed in itertools.count():
        ledger_kills.kill_one(out, random.Random(seed))
        if opener.has_ledger(out):
            with contextlib.closing(places.read_ledger(out)) as reader:
                if reader.status().decisions > 40:
                    break
    ledger = ledger_kills.own(out)
    ledger.open_epoch(epoch_request(99))
    source = ledger.register_source("seeds", "/s\u00e9", "here")
    assert source
    _, answer = ledger.run([RecordAck(0, 1, 2, ("w\u00f6rker",), 0.125), Claim(0, 6)]).answers
    assert isinstance(answer, Claimed)
    first, second, *_ = answer.leases
    names = ("blames", "B", "_", "\u00e9", "a b")
    ledger.run(
        [
            Blame(first.work_id, first.token, Incarnation(5), "died \u2014 of \0 it"),
            Defer(second.work_id, second.token, "twice"),
            CountFaults(0, tuple((name, f"{name}'s reason", 2) for name in names)),
            StoreInputs((b"named by nobody", b"", bytes(range(256)) * 9)),
        ]
    )
    ledger.abandon()  # type: ignore[attr-defined]
    return out


@pytest.fixture
def out(half_done: Path, tmp_path: Path) -> Path:
    """A campaign of this test's own."""
    shutil.copytree(half_done, tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def admin(postgres: Cluster) -> Iterator[psycopg.Connection[Any]]:
    """Another session of the server."""
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def url(postgres: Cluster, admin: psycopg.Connection[Any]) -> Iterator[str]:
    """An empty database that sorts texts in its own way."""
    sorting = " LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'"
    knows_icu = admin.info.server_version >= 150_000
    statement = f"CREATE DATABASE copies TEMPLATE template0{sorting if knows_icu else ''}"
    admin.execute(statement.encode())
    yield postgres.url_of(USER, "copies")
    admin.execute("DROP DATABASE copies WITH (FORCE)")


def silent(_: str) -> None:
    """Hear how it goes, and say nothing."""


def go(out: Path, to: str, lines: list[str] | None = None) -> Relocated:
    """Move the campaign."""
    tell = silent if lines is None else lines.append
    return relocate(out, to, REQUEST, SystemClock(), tell)


def digests(out: Path) -> list[TableDigest]:
    """Return what a ledger holds, wherever it is."""
    stored = read_address(out)
    if stored is None:
        tables: Any = open_tables(out / "ledger.db")
    else:
        tables = open_schema(LedgerAddress(stored.url, schema_of(CAMPAIGN)))
    with contextlib.closing(tables), tables.snapshot():
        return [digest_of(tables, table) for table in tables.tables()]


def sound(out: Path) -> set[str]:
    """Audit the ledger; return what is decided."""
    with contextlib.closing(places.read_ledger(out)) as reader:
        assert list(reader.audit()) == []
        return {row.manifest_digest for row in reader.decisions()}


def finish(out: Path) -> None:
    """Explore what is left; everything is decided exactly once."""
    with Path(os.devnull).open("wb") as nowhere:
        ledger_kills.live(out, nowhere.fileno(), random.Random(1))
    report = ledger_kills.Report()
    ledger_kills.look(out, set(), report)
    assert (report.findings, report.decided) == ([], ledger_kills.ITEMS)


# ---- there and back -----------------------------------------------------------------------------


@pytest.mark.guarantee("C8")
@pytest.mark.guarantee("C7")
def test_a_campaign_goes_to_a_server_and_back_and_is_the_same(out: Path, url: str) -> None:
    before = digests(out)
    empty = {one.table for one in before if not one.rows}
    assert empty == {"generations"}, "every other table has rows to lose"
    decided = sound(out)
    original = (out / "ledger.db").read_bytes()

    there = go(out, url)
    assert list(there.tables) == before == digests(out)
    assert sound(out) == decided
    assert not (out / "ledger.db").exists()
    assert there.left == str(out / "ledger.db.retired-1")
    assert open_retired(out) == before
    assert len((out / "ledger.db.retired-1").read_bytes()) >= len(original)

    back = go(out, "sqlite")
    assert list(back.tables) == before == digests(out)
    assert sound(out) == decided
    assert back.left.endswith("_retired_1")
    assert back.now == str(out / "ledger.db")
    assert not (out / "ledger.url").exists()

    assert go(out, url).left.endswith("ledger.db.retired-2"), "and there again"
    finish(out)
    go(out, "sqlite")
    finish(out)
    assert sound(out) > decided


@pytest.mark.guarantee("C8")
def test_the_generations_of_a_campaign_move_with_it(out: Path, url: str) -> None:
    key = replace(campaign_row().key, target_digest="n" * 64)
    with contextlib.closing(ledger_kills.own(out)) as ledger:
        ledger.begin_generation(NewGeneration(GenerationId("ef" * 32), key, "", 1.0))
    before = digests(out)
    assert all(table.rows for table in before)
    assert list(go(out, url).tables) == before == digests(out)
    assert list(go(out, "sqlite").tables) == before == digests(out)


def open_retired(out: Path) -> list[TableDigest]:
    """Return what the ledger holds that was left behind."""
    with contextlib.closing(open_tables(out / "ledger.db.retired-1")) as tables, tables.snapshot():
        return [digest_of(tables, table) for table in tables.tables()]


@pytest.mark.guarantee("C7")
def test_counts_that_several_coordinators_keep_arrive_as_sums(tmp_path: Path, url: str) -> None:
    """They crash: nobody has added up what each has counted for itself."""
    out = tmp_path / "out"
    root = postgres_opener.create(out, campaign_row(), REQUEST, SystemClock(), url)
    root.open_epoch(epoch_request())
    source = root.register_source("seeds", "/s", "here")
    peers = [attached(root, number, lock_wait_s=0.1) for number in (1, 2)]
    root.run([Admit(source, tuple(admission(b"%d" % n) for n in range(12)))])
    for number, peer in enumerate(peers, start=1):
        (answer,) = peer.run([Claim(number, 4)]).answers
        assert isinstance(answer, Claimed)
        peer.run([decision(lease, [child(lease.data + b"x", 8)]) for lease in answer.leases[:3]])
    for peer in peers:
        peer.close()
    root.abandon()
    before = digests(out)
    with contextlib.closing(places.read_ledger(out)) as reader:
        status = reader.status()
    assert (status.states[WorkState.DONE], status.states[WorkState.LEASED]) == (6, 2)
    go(out, "sqlite")
    assert digests(out) == before
    assert sound(out)
    with contextlib.closing(places.read_ledger(out)) as reader:
        assert reader.status() == status
    go(out, url)
    assert digests(out) == before
    assert sound(out)


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C8")
def test_a_coordinator_that_has_outlived_its_root_writes_nothing_to_what_is_left(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    root = postgres_opener.create(out, campaign_row(), REQUEST, SystemClock(), url)
    root.open_epoch(epoch_request())
    source = root.register_source("seeds", "/s", "here")
    root.run([Admit(source, (admission(b"a"), admission(b"b")))])
    ends: list[object] = []
    with contextlib.closing(attached(root, 1, lock_wait_s=0.1)) as peer:
        (answer,) = peer.run([Claim(1, 2)]).answers
        assert isinstance(answer, Claimed)
        root.abandon()

        def decide() -> None:
            try:
                ends.append(peer.run([decision(lease) for lease in answer.leases]))
            except SymfleetError as error:
                ends.append(error)

        late = threading.Thread(target=decide)

        def start(label: str) -> None:
            if label == "copy.copied":
                late.start()

        with monkeypatch.context() as patched:
            patched.setattr(crash, "point", start)
            go(out, "sqlite")
        late.join(60)
    (end,) = ends
    assert isinstance(end, SymfleetError), "what it was told is true: nothing is decided"
    assert sound(out) == set()


# ---- death --------------------------------------------------------------------------------------


def die_at(label: str, occurrence: int, out: Path, to: str) -> None:
    """Move the campaign in a process that kills itself at a crash point."""
    child = os.fork()
    if child == 0:
        try:
            crash.arm(f"{label}:{occurrence}:kill")
            go(out, to)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL


POINTS = [
    ("copy.batch", 1),
    ("copy.batch", 9),
    ("copy.copied", 1),
    ("copy.verified", 1),
    ("move.noted", 1),
    ("move.arrived", 1),
    ("move.retired", 1),
]


@pytest.mark.guarantee("C8")
@pytest.mark.guarantee("C9")
@pytest.mark.parametrize("to", ["server", "sqlite"])
def test_a_move_may_be_killed_anywhere_and_is_given_again(out: Path, url: str, to: str) -> None:
    before = digests(out)
    decided = sound(out)
    place = url
    if to == "sqlite":
        go(out, url)
        place = "sqlite"
    for label, occurrence in POINTS:
        die_at(label, occurrence, out, place)
        if label.startswith("copy."):
            assert sound(out) == decided, "the campaign is where it was"
            assert (read_address(out) is None) == (to == "server")
        else:
            with pytest.raises(NotReadyError, match="just moving"):
                places.read_ledger(out)
    done = go(out, place)
    assert (done.now, done.tables) == (places.where_is(out), ())
    assert "retired-1" in done.left
    assert digests(out) == before
    assert sound(out) == decided
    assert not (out / MOVE_NAME).exists()


@pytest.mark.guarantee("C9")
def test_whoever_owns_the_campaign_next_ends_its_move(out: Path, url: str) -> None:
    before = digests(out)
    for place in (url, "sqlite"):
        die_at("move.noted", 1, out, place)
        places.make_ready(out, REQUEST, SystemClock())
        assert not (out / MOVE_NAME).exists()
        assert (read_address(out) is None) == (place == "sqlite")
        assert digests(out) == before
        assert sound(out)


@pytest.mark.long
@pytest.mark.guarantee("C8")
@pytest.mark.guarantee("C9")
def test_moves_that_are_killed_at_any_instant(tmp_path: Path, url: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ledger_kills, "LENGTH", 9)
        patched.setattr(ledger_kills, "ITEMS", 2**9 - 1)
        report = ledger_moves.run(tmp_path / "out", url, 10, seed=1)
    assert report.findings == []
    assert report.kills >= report.moves // 2


def test_what_was_copied_before_the_kill_is_not_copied_again(
    out: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    die_at("copy.batch", 9, out, url)
    batches: list[str] = []
    monkeypatch.setattr(crash, "point", batches.append)
    lines: list[str] = []
    done = go(out, url, lines)
    assert any(line.startswith("going on with") for line in lines)
    all_batches = sum(-(-table.rows // BATCH) for table in done.tables)
    assert batches.count("copy.batch") == all_batches - 9


@pytest.mark.guarantee("C9")
def test_a_copy_of_what_has_changed_since_begins_again(out: Path, url: str) -> None:
    for place in (url, "sqlite"):
        die_at("copy.batch", 9, out, place)
        with contextlib.closing(ledger_kills.own(out)) as ledger:
            ledger.open_epoch(epoch_request(7))
            (answer,) = ledger.run([Claim(0, 5)]).answers
            assert isinstance(answer, Claimed)
            ledger.run([decision(lease) for lease in answer.leases])
        after = digests(out)
        lines: list[str] = []
        done = go(out, place, lines)
        assert any(line.startswith("copying to") for line in lines)
        assert list(done.tables) == digests(out) == after


def test_a_server_that_goes_away_in_the_middle(
    out: Path, url: str, admin: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digests(out)
    batches = itertools.count(1)

    def cut(label: str) -> None:
        if label == "copy.batch" and next(batches) == 5:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'copies'"
            )

    for place in (url, "sqlite"):
        batches = itertools.count(1)
        with monkeypatch.context() as patched:
            patched.setattr(crash, "point", cut)
            with pytest.raises(IOFailure) as caught:
                go(out, place)
        assert "give the same command again" in caught.value.hint
        assert sound(out)
        lines: list[str] = []
        go(out, place, lines)
        assert any(line.startswith("going on with") for line in lines)
        assert digests(out) == before


@pytest.mark.guarantee("C1")
def test_a_source_that_went_away_before_the_switch_is_not_left(
    out: Path, url: str, admin: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever it kept away may have written since."""
    go(out, url)

    def cut(label: str) -> None:
        if label == "copy.verified":
            admin.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = 'copies'"
            )

    with monkeypatch.context() as patched:
        patched.setattr(crash, "point", cut)
        with pytest.raises(IOFailure) as caught:
            go(out, "sqlite")
    assert "give the same command again" in caught.value.hint
    assert read_address(out) is not None
    assert not (out / MOVE_NAME).exists()
    go(out, "sqlite")
    assert sound(out)


def test_a_server_that_bounds_idle_sessions_bounds_no_copy(
    out: Path, url: str, admin: psycopg.Connection[Any]
) -> None:
    bounds = ("idle_in_transaction_session_timeout", "idle_session_timeout", "statement_timeout")
    go(out, url)
    for bound in bounds:
        admin.execute(f"ALTER DATABASE copies SET {bound} = '10s'".encode())
    address = LedgerAddress(url, schema_of(CAMPAIGN))
    with contextlib.closing(own_tables(address, CAMPAIGN, 0.1, SystemClock())) as tables:
        for bound in bounds:
            told = tables.database.raw.execute(f"SHOW {bound}".encode()).fetchone()
            assert told == ("0",)


# ---- space --------------------------------------------------------------------------------------


@contextlib.contextmanager
def disk(folder: Path, size: str) -> Iterator[SmallDisk]:
    """Mount a small file system for a block, where that is possible."""
    try:
        mounted = SmallDisk(folder, size)
    except OSError as error:
        pytest.skip(str(error))
    try:
        yield mounted
    finally:
        mounted.close()


@pytest.mark.guarantee("A2")
def test_a_disk_that_is_full_in_the_middle_of_a_copy_to_a_file(
    out: Path, url: str, tmp_path: Path
) -> None:
    go(out, url)
    before = digests(out)
    with disk(tmp_path / "small", "400k") as small:
        there = tmp_path / "small" / "out"
        shutil.copytree(out, there, ignore=lambda _, names: {n for n in names if "retired" in n})
        with pytest.raises(IOFailure, match="no space is left") as caught:
            go(there, "sqlite")
        assert "give the same command again" in caught.value.hint
        assert read_address(there) is not None
        small.resize("32m")
        lines: list[str] = []
        go(there, "sqlite", lines)
        assert any(line.startswith("going on with") for line in lines)
        assert digests(there) == before
        assert sound(there)


@pytest.mark.guarantee("A2")
def test_a_disk_that_is_full_in_the_middle_of_a_copy_to_a_server(
    out: Path, postgres: Cluster
) -> None:
    before = digests(out)
    with disk(postgres.folder / "small", "64m") as small, small_database(postgres, small) as place:
        small.fill(leave=1200 * 1024)
        with pytest.raises(IOFailure, match="no space is left") as caught:
            go(out, place)
        assert "give the same command again" in caught.value.hint
        assert read_address(out) is None
        assert digests(out) == before
        small.free()
        lines: list[str] = []
        go(out, place, lines)
        assert any(line.startswith("going on with") for line in lines)
        assert digests(out) == before
        assert sound(out)


@contextlib.contextmanager
def small_database(postgres: Cluster, disk: SmallDisk) -> Iterator[str]:
    """Make a database on a small disk; its log is elsewhere."""
    owner = postgres.folder.stat()
    os.chown(disk.folder, owner.st_uid, owner.st_gid)
    with psycopg.connect(postgres.url, autocommit=True) as admin:
        admin.execute(f"CREATE TABLESPACE small LOCATION '{disk.folder}'".encode())
        admin.execute("CREATE DATABASE small TEMPLATE template0 TABLESPACE small")
        try:
            yield postgres.url_of(USER, "small")
        finally:
            admin.execute("DROP DATABASE small WITH (FORCE)")
            admin.execute("DROP TABLESPACE small")


@pytest.mark.guarantee("A2")
@pytest.mark.guarantee("C7")
def test_a_server_whose_disk_is_full_fails_a_turn_as_a_whole(
    tmp_path: Path, postgres: Cluster
) -> None:
    out = tmp_path / "full"
    with disk(postgres.folder / "small", "64m") as small, small_database(postgres, small) as place:
        ledger = postgres_opener.create(out, campaign_row(), REQUEST, SystemClock(), place)
        with contextlib.closing(ledger):
            ledger.open_epoch(epoch_request())
            source = ledger.register_source("seeds", "/s", "here")
            ledger.run([Admit(source, (admission(b"first"),))])
            (answer,) = ledger.run([Claim(0, 1)]).answers
            assert isinstance(answer, Claimed)
            small.fill(leave=300 * 1024)
            before = ledger.status()
            dice = random.Random(1)
            turn: list[Operation] = [
                decision(answer.leases[0], [child(b"kid", 8)]),
                Admit(source, tuple(admission(dice.randbytes(50_000)) for _ in range(40))),
            ]
            with pytest.raises(IOFailure, match="no space is left") as caught:
                ledger.run(turn)
            assert "symfleet resume" in caught.value.hint
            assert ledger.status() == before
            small.free()
            ledger.run(turn)
            assert ledger.status().decisions == 1
        assert sound(out)


# ---- refusals -----------------------------------------------------------------------------------


def refused(out: Path, to: str) -> SymfleetError:
    """Return the error of a move; it has four parts, and the campaign is as it was."""
    before = digests(out)
    with pytest.raises(SymfleetError) as caught:
        go(out, to)
    error = caught.value
    for part in (error.what, error.where, error.why, error.hint):
        assert part
    assert digests(out) == before
    assert not (out / MOVE_NAME).exists()
    return error


def test_a_live_campaign_is_not_moved(out: Path, url: str) -> None:
    with contextlib.closing(ledger_kills.own(out)):
        error = refused(out, url)
    assert isinstance(error, BusyError)
    assert "process" in error.why
    go(out, url)
    with contextlib.closing(ledger_kills.own(out)):
        assert isinstance(refused(out, "sqlite"), BusyError)


def test_places_where_nothing_can_go(out: Path, url: str, tmp_path: Path) -> None:
    assert isinstance(refused(out, f"postgresql://u@/db?host={tmp_path}"), HostError)
    assert isinstance(refused(out, url.replace("/copies", "/nowhere")), HostError)
    assert isinstance(refused(out, "mysql://u@h/db"), UserError)
    assert isinstance(refused(out, "sqlite"), UserError), "it is there already"
    secret = refused(out, "postgresql://u:s3cret@h/db")
    assert isinstance(secret, UserError)
    assert "s3cret" not in str(secret)


def test_a_role_without_rights(out: Path, url: str, admin: psycopg.Connection[Any]) -> None:
    admin.execute("DROP ROLE IF EXISTS visitor")
    admin.execute("CREATE ROLE visitor LOGIN")
    error = refused(out, url.replace(f"{USER}@", "visitor@"))
    assert error.what == "PostgreSQL refuses the ledger its rights"
    admin.execute("DROP ROLE visitor")


def test_a_place_that_is_not_empty(out: Path, url: str, tmp_path: Path) -> None:
    """The same campaign is there already: it was moved from another copy of its folder."""
    twin = tmp_path / "twin"
    shutil.copytree(out, twin)
    go(twin, url)
    there = digests(twin)
    error = refused(out, url)
    assert isinstance(error, UserError)
    assert "not empty" in error.what
    assert "DROP SCHEMA" in error.hint
    assert digests(twin) == there


@pytest.mark.guarantee("C9")
def test_an_unfinished_copy_is_no_campaign(out: Path, url: str, tmp_path: Path) -> None:
    die_at("copy.verified", 1, out, url)
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    write_address(stranger, StoredAddress(url, CAMPAIGN))
    go(out, url)
    assert sound(stranger), "complete, and moved"
    die_at("copy.verified", 1, out, "sqlite")
    (stranger / "ledger.url").unlink()
    shutil.copy(out / "ledger.db.copying", stranger / "ledger.db")
    for ask in (places.read_ledger, own):
        with pytest.raises(DataError, match="unfinished copy"):
            ask(stranger)


def test_an_unfinished_copy_on_a_server_is_no_campaign(out: Path, url: str, tmp_path: Path) -> None:
    die_at("copy.verified", 1, out, url)
    write_address(tmp_path, StoredAddress(url, CAMPAIGN))
    for ask in (places.read_ledger, own):
        with pytest.raises(DataError, match="unfinished copy"):
            ask(tmp_path)


def own(out: Path) -> None:
    """Own whatever the folder has, for a moment."""
    places.own_ledger(out, REQUEST, SystemClock()).close()


@pytest.mark.guarantee("C9")
def test_what_a_campaign_has_left_is_not_resumed_by_accident(out: Path, url: str) -> None:
    go(out, url)
    shutil.copy(out / "ledger.db.retired-1", out / "ledger.db")
    for ask in (places.read_ledger, own):
        with pytest.raises(IntegrityError, match="two ledgers") as caught:
            ask(out)
        assert url in caught.value.why
    (out / "ledger.db").unlink()
    go(out, "sqlite")
    aside = out / "ledger.db.aside"
    (out / "ledger.db").rename(aside)
    shutil.copy(out / "ledger.url.retired-1", out / "ledger.url")
    for ask in (places.read_ledger, own):
        with pytest.raises(UserError, match="does not live here any more") as moved:
            ask(out)
        assert str(out / "ledger.db") in moved.value.why
    (out / "ledger.url").unlink()
    aside.rename(out / "ledger.db")
    with pytest.raises(UserError, match="another kind") as caught_kind:
        places.own_ledger(out, REQUEST, SystemClock(), url)
    assert str(out / "ledger.db") in caught_kind.value.why


@pytest.mark.guarantee("C9")
def test_damage_does_not_travel(out: Path, url: str) -> None:
    """A start checks what is open; the copy is audited as a whole."""
    connection = sqlite3.connect(out / "ledger.db")
    (trigger,) = connection.execute(
        "SELECT sql FROM sqlite_schema WHERE name = 'inputs_are_final'"
    ).fetchone()
    connection.execute("DROP TRIGGER inputs_are_final")
    connection.execute(
        "UPDATE inputs SET data = x'00' WHERE input = (SELECT input FROM work WHERE state = 'done')"
    )
    connection.execute(trigger)
    connection.commit()
    connection.close()
    error = refused(out, url)
    assert isinstance(error, IntegrityError)
    assert "does not match its name" in error.why
    assert isinstance(refused(out, url), IntegrityError), "and nothing of it stayed there"


def test_a_target_that_was_changed_meanwhile_is_noticed(out: Path, url: str) -> None:
    die_at("copy.copied", 1, out, url)
    with psycopg.connect(url, autocommit=True) as session:
        session.execute("SELECT set_config('search_path', %s, false)", (schema_of(CAMPAIGN),))
        session.execute("UPDATE work SET cost_us = 77")
    error = refused(out, url)
    assert "table work" in error.why
    go(out, url)


# ---- backup, show -------------------------------------------------------------------------------


def test_a_live_campaign_is_backed_up_and_gone_on_with(out: Path, url: str, tmp_path: Path) -> None:
    for place, name in (("sqlite", "one.db"), (url, "two.db")):
        if place == url:
            go(out, url)
        with contextlib.closing(ledger_kills.own(out)) as ledger:
            ledger.open_epoch(epoch_request(5))
            (answer,) = ledger.run([Claim(0, 3)]).answers
            assert isinstance(answer, Claimed)
            made = back_up(out, tmp_path / name, silent)
            assert made.decisions == ledger.status().decisions
            live = digests(out)
        restored = tmp_path / f"restored-{name}"
        restored.mkdir()
        shutil.copy(tmp_path / name, restored / "ledger.db")
        assert digests(restored) == live
        assert made.rows == {table.table: table.rows for table in live}
        finish(restored)
    assert not list(tmp_path.glob("*.copying*"))


@pytest.mark.guarantee("C9")
def test_a_backup_is_gone_back_to_knowingly(out: Path, tmp_path: Path) -> None:
    decided = sound(out)
    back_up(out, tmp_path / "backup.db", silent)
    finish(out)
    for file in out.glob("ledger.*"):
        file.unlink()
    shutil.copy(tmp_path / "backup.db", out / "ledger.db")
    with pytest.raises(IntegrityError, match="older or another copy"):
        own(out)
    accepting = replace(REQUEST, accept_older="fedcba9876543210")
    places.own_ledger(out, accepting, SystemClock()).close()
    assert sound(out) == decided
    finish(out)


def test_a_backup_takes_no_place_that_is_taken(out: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken.db"
    taken.write_bytes(b"mine")
    for file in (taken, tmp_path / "no" / "folder.db"):
        with pytest.raises(UserError, match="backup cannot be made there"):
            back_up(out, file, print)
    assert taken.read_bytes() == b"mine"


@pytest.mark.guarantee("A2")
def test_a_backup_for_which_there_is_no_space_leaves_nothing(out: Path, tmp_path: Path) -> None:
    with disk(tmp_path / "small", "100k"):
        with pytest.raises(IOFailure, match="no space is left"):
            back_up(out, tmp_path / "small" / "backup.db", silent)
        assert list((tmp_path / "small").iterdir()) == []


def test_facts_of_a_ledger(out: Path, url: str) -> None:
    file = facts_of(out)
    assert (file.kind, file.where) == ("sqlite", str(out / "ledger.db"))
    assert file.bytes >= (out / "ledger.db").stat().st_size
    go(out, url)
    server = facts_of(out)
    assert server.kind == "postgresql"
    assert server.where.startswith(url)
    assert server.rows == file.rows
    assert server.bytes > 0
    assert server.schema == server.newest_schema
    assert server.retired == ("ledger.db.retired-1",)


def test_a_snapshot_can_be_copied_into_any_folder(out: Path, tmp_path: Path) -> None:
    """The parts are usable alone: SQLite to SQLite, as a migration of a store might need."""
    with (
        contextlib.closing(open_tables(out / "ledger.db")) as source,
        contextlib.closing(SqliteCopy(tmp_path / "copy.db")) as target,
    ):
        held = copy_store(source, target, None, silent)
    assert list(held) == digests(out)
