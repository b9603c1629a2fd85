"""Damage is refused with the row named, and never read as "no work" (C9)."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from symfleet.errors import DataError, ExitCode, IntegrityError, SymfleetError
from symfleet.ledger import opener
from symfleet.ledger.highwater import Highwater, read_highwater
from symfleet.ledger.sqlite import SqliteLedger
from symfleet.protocol.answers import Claimed, Decided
from symfleet.protocol.operations import Admit, Claim
from symfleet.testing.ledgers import (
    ManualClock,
    admission,
    campaign_row,
    child,
    decision,
    epoch_request,
)
from symfleet.testing.stores.ledger_damage import (
    flip_byte,
    replace_manifest,
    rewrite_manifest,
    unguarded,
)
from symfleet.types import SinkKind, WorkState, input_id_of

REQUEST = opener.OwnerRequest("here", os.getpid(), lock_wait_s=0.1, reserve_bytes=0)
OPEN_INPUT = b"an open input that is easy to find in the file"
DONE_INPUT = b"a decided input that is easy to find in the file"


def create(out: Path, campaign: str = "c1" * 16) -> SqliteLedger:
    """Make a campaign with an epoch, a source and an unpublished sink."""
    ledger = opener.create(out, campaign_row(campaign=campaign), REQUEST, ManualClock())
    ledger.open_epoch(epoch_request())
    ledger.register_source("seeds", "/s", "here")
    ledger.register_sink(SinkKind.CORPUS, "/c", "here")
    return ledger


def reopen(out: Path) -> SqliteLedger:
    """Own the ledger again."""
    return opener.open_owner(out, REQUEST, ManualClock())


def decide_next(ledger: SqliteLedger, *children: bytes) -> None:
    """Claim the first row and decide it with these children."""
    (answer,) = ledger.run([Claim(0, 1)]).answers
    assert isinstance(answer, Claimed)
    kids = [child(data, 8 * (n + 1)) for n, data in enumerate(children)]
    (decided,) = ledger.run([decision(answer.leases[0], kids)]).answers
    assert isinstance(decided, Decided)
    assert decided.disposition == "completed"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A campaign that was closed: one decision with two kept children, two open rows more."""
    ledger = create(tmp_path)
    ledger.run([Admit(1, (admission(DONE_INPUT), admission(OPEN_INPUT), admission(b"third")))])
    decide_next(ledger, b"first child", b"second child")
    ledger.close()
    return tmp_path


def refusal(out: Path) -> SymfleetError:
    """Open a ledger that must be refused with 70; it must keep every byte."""
    before = (out / "ledger.db").read_bytes()
    with pytest.raises(IntegrityError) as caught:
        reopen(out)
    assert (out / "ledger.db").read_bytes() == before
    assert caught.value.exit_code is ExitCode.INTEGRITY
    assert caught.value.hint
    return caught.value


def findings(out: Path) -> str:
    """Return what `verify` says."""
    reader = opener.open_reader(out)
    try:
        return "\n".join(str(finding) for finding in reader.audit())
    finally:
        reader.close()


# ---- files ------------------------------------------------------------------------------------


@pytest.mark.guarantee("C9")
@pytest.mark.parametrize("keep", [0.0, 0.0005, 0.3, 0.5, 0.9999])
def test_a_truncated_ledger_is_refused(out: Path, keep: float) -> None:
    path = out / "ledger.db"
    os.truncate(path, int(path.stat().st_size * keep))
    assert "cut off" in str(refusal(out))


@pytest.mark.guarantee("C9")
def test_a_ledger_that_is_gone_is_no_new_campaign(out: Path) -> None:
    (out / "ledger.db").unlink()
    with pytest.raises(IntegrityError, match="had a ledger"):
        reopen(out)
    with pytest.raises(SymfleetError):
        opener.create(out, campaign_row(), REQUEST, ManualClock())


@pytest.mark.parametrize("content", [b"", b"hello\n", b"x" * 5000])
def test_a_file_that_never_was_ours_is_no_ledger(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ledger.db").write_bytes(content)
    for ask in (reopen, opener.open_reader):
        with pytest.raises(DataError):
            ask(tmp_path)
    assert (tmp_path / "ledger.db").read_bytes() == content


def test_another_programs_database_is_no_ledger(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.execute("CREATE TABLE work (id)")
    connection.commit()
    connection.close()
    with pytest.raises(DataError, match="not a ledger"):
        reopen(tmp_path)
    with pytest.raises(DataError):
        opener.open_reader(tmp_path)


def test_a_folder_without_a_ledger_says_so(tmp_path: Path) -> None:
    for ask in (reopen, opener.open_reader):
        with pytest.raises(DataError, match="there is no ledger"):
            ask(tmp_path)


@pytest.mark.guarantee("C9")
@pytest.mark.parametrize("offset", [0, 5, 16, 18, 19, 30, 69])
def test_a_flipped_byte_in_the_header_is_refused(out: Path, offset: int) -> None:
    flip_byte(out / "ledger.db", offset)
    refusal(out)


@pytest.mark.guarantee("C9")
@pytest.mark.guarantee("A1")
def test_a_flipped_byte_of_an_open_input_is_refused_at_start(out: Path) -> None:
    """E4: wrong bytes under a valid digest."""
    path = out / "ledger.db"
    flip_byte(path, path.read_bytes().index(OPEN_INPUT) + 3)
    error = refusal(out)
    assert admission(OPEN_INPUT).work_id in error.where
    assert input_id_of(OPEN_INPUT) in error.why
    assert admission(OPEN_INPUT).work_id in findings(out) or input_id_of(OPEN_INPUT) in findings(
        out
    )


@pytest.mark.guarantee("A4")
@pytest.mark.guarantee("C9")
def test_an_id_that_does_not_lead_to_its_open_row_is_refused(out: Path) -> None:
    """Ids stand in rows and in indexes; damage in either must not look like unknown work."""
    path = out / "ledger.db"
    whole = path.read_bytes()
    name = bytes.fromhex(admission(OPEN_INPUT).work_id)
    places = [n for n in range(len(whole)) if whole.startswith(name, n)]
    assert len(places) >= 3
    for place in places:
        flip_byte(path, place + 5)
        refusal(out)
        path.write_bytes(whole)


@pytest.mark.guarantee("C9")
def test_a_flipped_byte_elsewhere_is_seen_when_the_row_is_read(out: Path) -> None:
    path = out / "ledger.db"
    flip_byte(path, path.read_bytes().index(DONE_INPUT) + 3)
    ledger = reopen(out)
    ledger.open_epoch(epoch_request(8))
    with pytest.raises(IntegrityError, match="damaged") as caught:
        ledger.input_bytes(input_id_of(DONE_INPUT))
    assert input_id_of(DONE_INPUT) in caught.value.where
    with pytest.raises(IntegrityError):
        ledger.artefacts(SinkKind.CORPUS, 0, 10, 2**20)
    ledger.close()
    assert input_id_of(DONE_INPUT) in findings(out)


@pytest.mark.guarantee("C9")
def test_no_flipped_byte_goes_unseen_and_unnamed(out: Path) -> None:
    """Anywhere in the file: the start, or `verify`, tells; or nothing that is read has changed."""
    path = out / "ledger.db"
    whole = path.read_bytes()
    reader = opener.open_reader(out)
    true_seen = _everything(reader)
    reader.close()
    dice = random.Random(11)
    used = [n for n in range(len(whole)) if whole[n]]
    seen = 0
    for offset in dice.sample(used, 60):
        flip_byte(path, offset)
        try:
            reader = opener.open_reader(out)
        except SymfleetError:
            seen += 1
        else:
            try:
                clean = not list(reader.audit())
                assert not clean or _everything(reader) == true_seen, f"byte {offset}"
                seen += not clean
            except SymfleetError:
                seen += 1
            finally:
                reader.close()
        path.write_bytes(whole)
    assert seen > 30


def _everything(reader: Any) -> tuple[object, ...]:
    return (
        list(reader.corpus()),
        list(reader.decisions()),
        [reader.work_rows(state, 99) for state in WorkState],
        reader.artefacts(SinkKind.CORPUS, 0, 99, 2**20),
        reader.knowledge(),
    )


# ---- rows -------------------------------------------------------------------------------------


@pytest.mark.guarantee("A4")
def test_exchanged_payloads_are_refused_at_start(out: Path) -> None:
    """E9: neither row runs."""
    with unguarded(out / "ledger.db") as connection:
        _exchange_payloads(connection)
    assert "not what its ids say" in refusal(out).what
    assert admission(OPEN_INPUT).work_id in findings(out)
    assert admission(b"third").work_id in findings(out)


def _exchange_payloads(connection: sqlite3.Connection) -> None:
    rows = connection.execute(
        "SELECT work, payload FROM work WHERE state = 'pending' ORDER BY work LIMIT 2"
    ).fetchall()
    (first, one), (second, two) = rows
    for work, payload in ((first, two), (second, one)):
        connection.execute("UPDATE work SET payload = ? WHERE work = ?", (payload, work))


@pytest.mark.guarantee("A4")
@pytest.mark.guarantee("C9")
def test_exchanged_payloads_are_refused_when_they_are_leased(out: Path) -> None:
    ledger = reopen(out)
    ledger.open_epoch(epoch_request(8))
    with unguarded(out / "ledger.db") as connection:
        _exchange_payloads(connection)
    before = ledger.status()
    with pytest.raises(IntegrityError, match="damaged"):
        ledger.run([Admit(1, (admission(b"new"),)), Claim(0, 9)])
    assert ledger.status() == before
    ledger.abandon()


_FORGERIES: dict[str, tuple[dict[str, Any], str]] = {
    "extra field": ({"extra": 1}, "unknown field"),
    "unsorted": ({"children": ["b" * 64, "a" * 64]}, "sorted"),
    "duplicate": ({"children": ["a" * 64, "a" * 64]}, "sorted and unique"),
    "upper case": ({"children": ["A" * 64, "B" * 64]}, "lower-case"),
    "boolean": ({"generated": True}, "bool"),
    "negative": ({"generated": -1}, ">= 0"),
    "too few generated": ({"generated": 1}, "more children"),
    "other work id": ({"work_id": "0" * 64}, "work id"),
    "other input": ({"input_id": "0" * 64}, "input"),
    "other epoch": ({"epoch": 2}, "epoch"),
    "other fence": ({"fence": 2}, "fence"),
    "no verdict": ({"outcome": "stalled"}, "verdict"),
    "other schema": ({"schema": 2}, "2"),
}


@pytest.mark.guarantee("C3")
@pytest.mark.guarantee("C4")
@pytest.mark.parametrize("name", _FORGERIES)
def test_a_forged_manifest_is_refused(out: Path, name: str) -> None:
    """E7, with a chain that fits the forgery and without the file that would tell of it."""
    (out / "highwater").unlink()
    changes, reason = _FORGERIES[name]
    rewrite_manifest(out / "ledger.db", 1, changes)
    error = refusal(out)
    assert "decision 1" in error.where
    assert reason in f"{error.what} {error.why}"
    assert "decision 1" in findings(out)


@pytest.mark.guarantee("C4")
def test_a_manifest_in_other_byte_order_is_refused(out: Path) -> None:
    with unguarded(out / "ledger.db") as connection:
        (encoded,) = connection.execute("SELECT manifest FROM decisions").fetchone()
        fields = msgspec.msgpack.decode(encoded)
        turned = dict(reversed(list(fields.items())))
        replace_manifest(connection, 1, msgspec.msgpack.encode(turned))
    (out / "highwater").unlink()
    assert "other bytes" in refusal(out).why


@pytest.mark.guarantee("C4")
@pytest.mark.guarantee("C9")
@pytest.mark.parametrize("value", [None, b"", b"\xc1"])
def test_a_manifest_that_cannot_be_read_is_refused(out: Path, value: bytes | None) -> None:
    with unguarded(out / "ledger.db") as connection:
        connection.execute("UPDATE decisions SET manifest = ?", (value,))
    assert "decision 1" in refusal(out).where


@pytest.mark.guarantee("C5")
def test_a_missing_object_of_an_unpublished_decision_is_refused(out: Path) -> None:
    digest = hashlib.sha256(b"first child").digest()
    with unguarded(out / "ledger.db") as connection:
        connection.execute("DELETE FROM inputs WHERE digest = ?", (digest,))
    refusal(out)
    assert "missing" in findings(out)


@pytest.mark.guarantee("C7")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE decisions SET record = x'00'",
        "UPDATE decisions SET chain = zeroblob(32)",
        "DELETE FROM decisions",
        "UPDATE standing SET pending = pending - 1",
        "UPDATE standing SET done = 7",
        "UPDATE standing SET corpus = 1",
        "UPDATE counters SET amount = 2 WHERE name = 'executed'",
        "UPDATE work SET state = 'poisoned' WHERE state = 'pending'",
        "UPDATE work SET input = 999 WHERE state = 'pending'",
        "UPDATE work SET input = 1 WHERE state = 'pending'",
        "DELETE FROM standing",
        "DELETE FROM epochs",
        "UPDATE epochs SET chain_start = zeroblob(32)",
        "DELETE FROM artefacts WHERE artefact = 4",
    ],
)
def test_rows_that_contradict_each_other_are_refused(out: Path, statement: str) -> None:
    with unguarded(out / "ledger.db") as connection:
        connection.execute(statement)
    refusal(out)
    assert findings(out)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE counters SET amount = amount + 1 WHERE name = 'generated'",
        "INSERT INTO counters VALUES (1, 0, 'crashes', 3)",
        "UPDATE work SET blames = 2 WHERE state = 'done'",
        "UPDATE standing SET suspects = 1",
        "UPDATE work SET payload = x'90' WHERE state = 'done'",
    ],
)
def test_sums_that_are_wrong_are_found_by_the_audit(out: Path, statement: str) -> None:
    assert findings(out) == ""
    with unguarded(out / "ledger.db") as connection:
        connection.execute(statement)
    assert findings(out)


@pytest.mark.guarantee("C5")
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE artefacts SET how = 'guess' WHERE decision = 1 AND nth = 4",
        "UPDATE artefacts SET site = site + 1 WHERE decision = 1 AND nth = 4",
        "UPDATE artefacts SET signal = 9 WHERE decision = 1 AND nth = 4",
        "UPDATE artefacts SET outcome = 'hang' WHERE decision = 1 AND nth = 4",
        "UPDATE artefacts SET parent = NULL WHERE decision = 1 AND nth = 4",
        "UPDATE artefacts SET epoch = 2 WHERE decision = 1 AND nth = 4",
        "UPDATE artefacts SET decision = 0 WHERE decision = 1 AND nth = 4",
        "UPDATE artefacts SET kind = 'hangs' WHERE decision = 1 AND nth = 4",
    ],
)
def test_what_is_told_of_an_artefact_is_proved_as_the_decision_is(out: Path, change: str) -> None:
    with unguarded(out / "ledger.db") as connection:
        assert connection.execute(change).rowcount == 1
    found = findings(out)
    assert "an artefact is not what its decision shows" in found
    assert "decision 1, artefacts 4 to 5" in found
    assert "decision 1" in refusal(out).where


@pytest.mark.guarantee("C5")
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE artefacts SET signal = 9 WHERE artefact = 1",
        "UPDATE artefacts SET site = 3 WHERE artefact = 1",
        "UPDATE artefacts SET parent = 2 WHERE artefact = 1",
        "UPDATE artefacts SET outcome = 'crash' WHERE artefact = 1",
        "UPDATE artefacts SET decision = 1 WHERE artefact = 1",
    ],
)
def test_an_input_from_outside_has_no_story(out: Path, change: str) -> None:
    with unguarded(out / "ledger.db") as connection:
        assert connection.execute(change).rowcount == 1
    assert "artefact" in findings(out)


def test_a_schema_without_its_rules_is_refused(out: Path) -> None:
    connection = sqlite3.connect(out / "ledger.db")
    connection.execute("DROP TRIGGER work_done_is_final")
    connection.close()
    assert "schema" in refusal(out).what
    with pytest.raises(IntegrityError, match="schema"):
        opener.open_reader(out)


def test_a_ledger_of_a_newer_version_is_left_alone(out: Path) -> None:
    connection = sqlite3.connect(out / "ledger.db")
    connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(DataError, match="newer version than this symfleet"):
        reopen(out)


# ---- copies -----------------------------------------------------------------------------------


@pytest.fixture
def older_copy(out: Path) -> Path:
    """A folder whose ledger was put back to a copy taken two decisions ago."""
    shutil.copy(out / "ledger.db", out / "copy")
    ledger = reopen(out)
    ledger.open_epoch(epoch_request(8))
    decide_next(ledger)
    decide_next(ledger)
    ledger.close()
    shutil.move(out / "copy", out / "ledger.db")
    return out


@pytest.mark.guarantee("C9")
def test_an_older_copy_is_refused_with_what_is_missing(older_copy: Path) -> None:
    error = refusal(older_copy)
    assert "2 decisions are missing" in error.why
    assert "--accept-older-ledger" in error.hint


def test_an_older_copy_can_be_accepted_as_another_ledger(older_copy: Path) -> None:
    request = opener.OwnerRequest("here", 1, accept_older="fedcba9876543210", reserve_bytes=0)
    ledger = opener.open_owner(older_copy, request, ManualClock())
    ledger.open_epoch(epoch_request(9))
    assert ledger.status().campaign.ledger_incarnation == "fedcba9876543210"
    decide_next(ledger)
    assert list(ledger.audit()) == []
    ledger.close()
    reopen(older_copy).close()


@pytest.mark.guarantee("C9")
def test_a_copy_with_the_same_number_of_other_decisions_is_refused(out: Path) -> None:
    shutil.copy(out / "ledger.db", out / "copy")
    tell = (out / "highwater").read_bytes()
    for base in (b"one", b"two"):
        ledger = reopen(out)
        ledger.open_epoch(epoch_request(8))
        decide_next(ledger, base)
        ledger.close()
        if base == b"one":
            first = (out / "highwater").read_bytes()
            shutil.copy(out / "copy", out / "ledger.db")
            (out / "highwater").write_bytes(tell)
    (out / "highwater").write_bytes(first)
    assert "has the hash" in refusal(out).why


def test_a_damaged_highwater_file_is_refused(out: Path) -> None:
    (out / "highwater").write_bytes(b"{}")
    assert "highwater" in str(refusal(out))


def test_highwater_tells_the_last_decision(out: Path) -> None:
    mark = read_highwater(out)
    assert isinstance(mark, Highwater)
    assert (mark.epoch, mark.decision, len(mark.chain)) == (1, 1, 64)


@pytest.mark.guarantee("C9")
def test_a_ledger_of_another_campaign_is_refused(out: Path, tmp_path_factory: Any) -> None:
    other = tmp_path_factory.mktemp("other")
    create(other, campaign="d2" * 16).close()
    shutil.copy(other / "ledger.db", out / "ledger.db")
    assert "campaign" in refusal(out).why


@pytest.mark.guarantee("C9")
@pytest.mark.parametrize("decides", [False, True])
def test_the_log_of_another_ledger_is_refused(
    tmp_path: Path, tmp_path_factory: Any, decides: bool
) -> None:
    create(tmp_path).close()
    other = tmp_path_factory.mktemp("other")
    stranger = create(other, campaign="d2" * 16)
    stranger.run([Admit(1, (admission(b"x"),))])
    if decides:
        decide_next(stranger)
    shutil.copy(other / "ledger.db-wal", tmp_path / "ledger.db-wal")
    (tmp_path / "ledger.db-shm").unlink(missing_ok=True)
    refusal(tmp_path)
    stranger.close()


# ---- the bounded start check ------------------------------------------------------------------


def test_an_undamaged_ledger_opens_again_and_again(out: Path) -> None:
    for life in range(3):
        ledger = reopen(out)
        assert ledger.open_epoch(epoch_request(life + 2)).epoch == life + 2
        ledger.close()
    assert findings(out) == ""


def test_unpublished_decisions_are_checked_however_old(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("symfleet.ledger.audit.CHAIN_CHECKED_AT_START", 1)
    ledger = reopen(out)
    ledger.open_epoch(epoch_request(8))
    ledger.register_sink(SinkKind.CORPUS, "/c", "here")
    for _ in range(3):
        decide_next(ledger)
    ledger.close()
    with unguarded(out / "ledger.db") as connection:
        connection.execute("UPDATE decisions SET manifest = x'90' WHERE decision = 1")
    assert "decision 1" in refusal(out).where
