"""Files of a ledger are taken away from its live owner: noticed at once, 70, nothing is written
into a stranger's file, and nothing is lost."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from symfleet.errors import BusyError, ExitCode, IntegrityError, IOFailure, naming_folder
from symfleet.ledger import opener
from symfleet.ledger.owner_lock import Holder, acquire
from symfleet.ledger.sqlite import SqliteLedger
from symfleet.protocol.operations import Admit, StoreInputs
from symfleet.testing.jobs import until
from symfleet.testing.ledgers import (
    ManualClock,
    admission,
    campaign_row,
    child,
    decision,
    epoch_request,
)
from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.resting import claim
from symfleet.types import Keep, SinkKind

REQUEST = opener.OwnerRequest("here", os.getpid(), reserve_bytes=0)
PROGRAM = Path(__file__).parents[1] / "programs" / "two.py"
STRANGER = b"a stranger's file, which must stay as it is"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqliteLedger]:
    """An owner with one decision and two open rows, nothing of it folded back yet."""
    made = opener.create(tmp_path / "out", campaign_row(Keep.ALL), REQUEST, ManualClock())
    made.open_epoch(epoch_request())
    source = made.register_source("seeds", "/s", "here")
    made.run([Admit(source, tuple(admission(data) for data in (b"a", b"b")))])
    made.run([decision(claim(made), [child(b"kid", 8)], keep=Keep.ALL)])
    yield made
    with contextlib.suppress(sqlite3.ProgrammingError):  # tests close it, too
        made.close()


def refusals(ledger: SqliteLedger) -> list[IntegrityError]:
    """Whatever is asked of the owner, it refuses; return how."""
    asked: list[Callable[[], object]] = [
        ledger.checkpoint,
        lambda: ledger.run([]),
        ledger.status,
        lambda: ledger.artefacts(SinkKind.CORPUS, 0, 9, 9),
    ]
    caught = []
    for ask in asked:
        with pytest.raises(IntegrityError) as error:
            ask()
        caught.append(error.value)
        if ask is asked[0]:
            ledger.checkpoint()  # what was told is not told again
    return caught


def assert_whole(out: Path) -> None:
    """The folder can be gone on with, and has what its owner had told."""
    again = opener.open_owner(out, REQUEST, ManualClock())
    try:
        assert again.status().decisions == 1
        assert len(list(again.corpus())) == 3
        assert list(again.audit()) == []
        assert again.open_epoch(epoch_request(8)).frontier == 2
    finally:
        again.close()


@pytest.mark.guarantee("C9")
def test_a_ledger_that_is_removed_is_saved_under_another_name(
    ledger: SqliteLedger, tmp_path: Path
) -> None:
    path = tmp_path / "out" / "ledger.db"
    path.unlink()
    errors = refusals(ledger)
    assert {error.exit_code for error in errors} == {ExitCode.INTEGRITY}
    assert errors[0].what == "the ledger's file was removed while the campaign ran"
    assert "saved as ledger.db.rescued" in errors[0].why
    assert f"`mv {path}.rescued {path}`" in errors[0].hint
    ledger.close()
    assert not path.exists(), "people decide what has this name"
    path.with_name("ledger.db.rescued").rename(path)
    assert_whole(path.parent)


@pytest.mark.guarantee("C9")
def test_a_ledger_that_is_replaced_is_saved_and_the_other_file_stays(
    ledger: SqliteLedger, tmp_path: Path
) -> None:
    path = tmp_path / "out" / "ledger.db"
    other = tmp_path / "other"
    other.write_bytes(STRANGER)
    other.rename(path)
    mark = (path.parent / "highwater").read_bytes()
    assert "replaced by another file" in refusals(ledger)[0].what
    ledger.close()
    assert path.read_bytes() == STRANGER
    assert (path.parent / "highwater").read_bytes() == mark
    path.with_name("ledger.db.rescued").replace(path)
    assert_whole(path.parent)


@pytest.mark.guarantee("C9")
def test_another_campaign_in_its_place_keeps_every_byte(
    ledger: SqliteLedger, tmp_path: Path
) -> None:
    """A whole folder is exchanged: log and database of the stranger stay, ours is complete."""
    out, moved, other = tmp_path / "out", tmp_path / "moved", tmp_path / "other"
    stranger = opener.create(other, campaign_row(campaign="d2" * 16), REQUEST, ManualClock())
    stranger.open_epoch(epoch_request())
    stranger.abandon()
    shutil.copytree(other, tmp_path / "copy")
    out.rename(moved)
    other.rename(out)
    (error, *_) = refusals(ledger)
    assert error.what == "the ledger's file was moved while the campaign ran"
    assert f"it is at {moved / 'ledger.db'} now" in error.why
    assert str(out) not in naming_folder(error.hint, str(out)), "the campaign is not there any more"
    ledger.close()
    for path in (tmp_path / "copy").iterdir():
        if path.name != "owner.lock":
            assert (out / path.name).read_bytes() == path.read_bytes()
    assert {path.name for path in out.iterdir()} == {p.name for p in (tmp_path / "copy").iterdir()}
    assert_whole(moved)


@pytest.mark.guarantee("C9")
def test_a_disk_that_is_unmounted_under_its_owner_is_named(tmp_path: Path) -> None:
    """The file is where it was, on a disk that is out of sight: nothing is copied elsewhere."""
    out = tmp_path / "out"
    out.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(out)]
    done = subprocess.run(mounted, capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.decode().strip()}")
    try:
        owner = opener.create(out, campaign_row(Keep.ALL), REQUEST, ManualClock())
        owner.open_epoch(epoch_request())
    finally:
        subprocess.run(["umount", "-l", str(out)], check=True)
    (error, *_) = refusals(owner)
    assert error.what == "the ledger's file was unmounted while the campaign ran"
    assert "it is complete" in error.why
    assert "mount it again" in error.hint
    owner.close()
    assert not list(out.iterdir())


@pytest.mark.guarantee("C9")
@pytest.mark.parametrize("replaced", [False, True])
def test_a_log_that_is_taken_away_is_folded_back(
    ledger: SqliteLedger, tmp_path: Path, replaced: bool
) -> None:
    log = tmp_path / "out" / "ledger.db-wal"
    assert log.stat().st_size > 0
    log.unlink()
    if replaced:
        log.write_bytes(STRANGER)
    (error, *_) = refusals(ledger)
    assert "write-ahead log was " in error.what
    assert "nothing is lost" in error.why
    ledger.close()
    if replaced:
        assert log.read_bytes() == STRANGER
        log.unlink()
    assert_whole(log.parent)


@pytest.mark.guarantee("L8")
def test_a_lock_that_is_removed_is_locked_anew(ledger: SqliteLedger, tmp_path: Path) -> None:
    """People remove lock files. The campaign has one owner all the same."""
    lock = tmp_path / "out" / "owner.lock"
    told = lock.read_text()
    lock.unlink()
    ledger.checkpoint()
    assert lock.read_text() == told
    with pytest.raises(BusyError, match="owned by a live job"):
        opener.open_owner(lock.parent, REQUEST, ManualClock())
    ledger.close()
    opener.open_owner(lock.parent, REQUEST, ManualClock()).close()


@pytest.mark.guarantee("L8")
def test_an_owner_whose_lock_was_taken_by_another_goes(
    ledger: SqliteLedger, tmp_path: Path
) -> None:
    lock = tmp_path / "out" / "owner.lock"
    lock.unlink()
    other = acquire(lock.parent, Holder("elsewhere", 77, 0, 1.0), ManualClock(), 0.0)
    with pytest.raises(BusyError, match="process 77 on elsewhere"):
        ledger.checkpoint()
    other.close()


# ---- what a lost log takes along ----------------------------------------------------------------


def lose_log(ledger: SqliteLedger, out: Path) -> None:
    """Let the owner die, and everything that was not folded back yet be lost with its log."""
    alone = (out / "ledger.db").read_bytes()
    ledger.abandon()
    (out / "ledger.db").write_bytes(alone)
    for suffix in ("-wal", "-shm"):
        (out / f"ledger.db{suffix}").unlink(missing_ok=True)


@pytest.mark.guarantee("C9")
def test_a_lost_log_is_noticed_by_the_mark_beside_the_ledger(tmp_path: Path) -> None:
    clock = ManualClock()
    ledger = opener.create(tmp_path, campaign_row(Keep.ALL), REQUEST, clock)
    ledger.open_epoch(epoch_request())
    source = ledger.register_source("seeds", "/s", "here")
    ledger.run([Admit(source, (admission(b"a"), admission(b"b")))])
    ledger.run([decision(claim(ledger), keep=Keep.ALL)])
    clock.now += 11
    ledger.checkpoint()
    lose_log(ledger, tmp_path)
    before = (tmp_path / "ledger.db").read_bytes()
    with pytest.raises(IntegrityError, match="1 decisions are missing") as caught:
        opener.open_owner(tmp_path, REQUEST, ManualClock())
    assert "--accept-older-ledger" in caught.value.hint
    assert (tmp_path / "ledger.db").read_bytes() == before
    accepting = replace(REQUEST, accept_older="fedcba9876543210")
    again = opener.open_owner(tmp_path, accepting, ManualClock())
    assert list(again.audit()) == []
    again.close()


@pytest.mark.guarantee("C9")
def test_a_file_that_is_cut_off_to_an_older_length_is_refused(
    ledger: SqliteLedger, tmp_path: Path
) -> None:
    path = tmp_path / "out" / "ledger.db"
    length = path.stat().st_size
    ledger.run([StoreInputs((bytes(100_000),))])
    ledger.close()
    assert path.stat().st_size > length
    os.truncate(path, length)
    with pytest.raises(IntegrityError, match="cut off"):
        opener.open_owner(path.parent, REQUEST, ManualClock())
    assert path.stat().st_size == length


def test_a_rescued_copy_never_replaces_an_earlier_one(ledger: SqliteLedger, tmp_path: Path) -> None:
    path = tmp_path / "out" / "ledger.db"
    path.with_name("ledger.db.rescued").write_bytes(STRANGER)
    path.unlink()
    assert "saved as ledger.db.rescued-2" in refusals(ledger)[0].why
    assert path.with_name("ledger.db.rescued").read_bytes() == STRANGER


def test_a_folder_that_cannot_be_looked_into_is_not_called_gone(
    ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: Path) -> os.stat_result:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "stat", refused)
        with pytest.raises(IOFailure, match="cannot be read"):
            ledger.run([])
    assert ledger.status().decisions == 1


@pytest.mark.guarantee("C9")
@pytest.mark.guarantee("Q4")
def test_a_running_job_whose_ledger_is_removed_ends_with_70_and_loses_nothing(
    tmp_path: Path,
) -> None:
    campaign = ProgramCampaign(tmp_path, PROGRAM, {"one": b"1"}, seconds=0.3)
    try:
        job = campaign.job()
        job.start()
        campaign.wait_for_decision(job)
        ledger = campaign.out / "ledger.db"
        ledger.unlink()
        until("the launcher ends", lambda: not job.is_running, 30)
        assert job.wait() == ExitCode.INTEGRITY
        story = job.story.read_text()
        assert "was removed while the campaign ran" in story, story
        assert "next epoch" not in story, story
        ledger.with_name("ledger.db.rescued").rename(ledger)
        with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as connection:
            (before,) = connection.execute("SELECT count(*) FROM decisions").fetchone()
        connection.close()
        assert before >= 1
        again = campaign.job()
        assert again.run() == ExitCode.DONE, again.story.read_text()
        status = campaign.status()
        assert status.total.executed == 3
        assert status.this_epoch.executed == 3 - before, "nothing decided is done again"
        assert set(campaign.corpus_files().values()) == {b"1", b"A", b"B"}
    finally:
        campaign.close()
