"""A full disk and a failing one: nothing that was told is lost, and the ledger opens again."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from symfleet.errors import ExitCode, IOFailure
from symfleet.ledger import database, opener
from symfleet.ledger.copies import CHECK_FIRST_NAME
from symfleet.ledger.database import connect_reader
from symfleet.ledger.faults import DiskFailureError
from symfleet.ledger.reserve import RESERVE_NAME, free_reserve, keep_reserve
from symfleet.ledger.sqlite import SqliteLedger
from symfleet.protocol.answers import Claimed, Decided, Failed, Lease
from symfleet.protocol.operations import Admit, Claim, CloseEpoch, Release
from symfleet.testing.ledgers import (
    ManualClock,
    admission,
    campaign_row,
    child,
    decision,
    epoch_request,
)
from symfleet.testing.small_disk import SmallDisk
from symfleet.testing.stores.ledger_damage import unguarded
from symfleet.types import Keep

_KIB = 1024
REQUEST = opener.OwnerRequest("here", os.getpid(), reserve_bytes=512 * _KIB, checkpoint_rows=8)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A file system of 4 MiB."""
    try:
        mounted = SmallDisk(tmp_path / "small", "4m")
    except OSError as error:
        pytest.skip(str(error))
    yield mounted
    mounted.close()


@pytest.fixture
def small_disk(disk: SmallDisk) -> Path:
    """Its folder."""
    return disk.folder


def begin(out: Path, items: int) -> tuple[SqliteLedger, tuple[Lease, ...]]:
    """Own a new ledger with leased items."""
    ledger = opener.create(out, campaign_row(Keep.ALL), REQUEST, ManualClock())
    ledger.open_epoch(epoch_request())
    ledger.register_source("seeds", "/s", "here")
    entries = tuple(admission(b"%d" % n) for n in range(items))
    _, answer = ledger.run([Admit(1, entries), Claim(0, items)]).answers
    assert isinstance(answer, Claimed)
    return ledger, answer.leases


@pytest.mark.guarantee("A2")
def test_a_full_disk_lets_the_owner_decide_what_is_in_flight(
    disk: SmallDisk, small_disk: Path
) -> None:
    ledger, leases = begin(small_disk, 40)
    disk.fill()
    decided: list[Lease] = []
    starved = False
    failed: IOFailure | None = None
    for number, lease in enumerate(leases):
        big = child(b"%d" % number * 16 * _KIB)
        before = ledger.status()
        try:
            answers = ledger.run([decision(lease, [big], keep=Keep.ALL), Claim(0, 1)]).answers
        except IOFailure as error:
            failed = error
            break
        assert isinstance(answers[0], Decided)
        decided.append(lease)
        ledger.checkpoint()
        if isinstance(answers[1], Failed):
            assert answers[1].disk_full
            starved = True
        else:
            assert isinstance(answers[1], Claimed)
            ledger.run([Release(new.work_id, new.token, "given_back") for new in answers[1].leases])
    assert starved, "the reserve was given back and no new work taken"
    assert failed is not None, "the reserve was spent, too"
    assert failed.exit_code is ExitCode.IO
    assert "symfleet resume" in failed.hint
    assert ledger.status() == before
    ledger.checkpoint()
    ledger.close()
    disk.free()
    again = opener.open_owner(small_disk, REQUEST, ManualClock())
    opened = again.open_epoch(epoch_request(8))
    assert opened.decisions == len(decided)
    assert {row.work_id for row in again.decisions()} == {lease.work_id for lease in decided}
    assert list(again.audit()) == []
    (answer,) = again.run([Claim(0, 1)]).answers
    assert isinstance(answer, Claimed)
    assert len(answer.leases) == 1
    again.close()


def test_a_verdict_can_be_written_on_a_full_disk(disk: SmallDisk, small_disk: Path) -> None:
    ledger, leases = begin(small_disk, 3)
    disk.fill()
    ledger.run([Release(lease.work_id, lease.token, "cancelled") for lease in leases])
    ledger.run([CloseEpoch("disk full", 74)])
    (row,) = ledger.epochs()
    assert row.exit_code == 74
    ledger.close()


def test_an_epoch_does_not_open_on_a_full_disk(disk: SmallDisk, small_disk: Path) -> None:
    ledger, _ = begin(small_disk, 3)
    ledger.close()
    free_reserve(small_disk)
    disk.fill()
    with pytest.raises(IOFailure, match="no space"):
        opener.open_owner(small_disk, REQUEST, ManualClock()).open_epoch(epoch_request(8))
    reader = opener.open_reader(small_disk)
    assert reader.status().epochs == 1, "people can look while the disk is full"
    reader.close()
    disk.free()
    again = opener.open_owner(small_disk, REQUEST, ManualClock())
    assert again.open_epoch(epoch_request(8)).epoch == 2
    again.close()


@pytest.fixture
def file_limit() -> Iterator[None]:
    """Put the limit on the size of files back."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.guarantee("A2")
@pytest.mark.usefixtures("file_limit")
def test_after_a_failed_write_nothing_is_retried_and_the_next_start_checks_everything(
    tmp_path: Path,
) -> None:
    ledger, leases = begin(tmp_path, 3)
    ledger.run([decision(leases[0], keep=Keep.ALL)])
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024 * _KIB, hard))
    big = child(b"x" * 2048 * _KIB)
    with pytest.raises(IOFailure) as caught:
        ledger.run([decision(leases[1], [big], keep=Keep.ALL)])
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    with pytest.raises(IOFailure):
        ledger.run([decision(leases[2], keep=Keep.ALL)])
    assert caught.value.exit_code is ExitCode.IO
    assert (tmp_path / CHECK_FIRST_NAME).exists()
    ledger.close()
    again = opener.open_owner(tmp_path, REQUEST, ManualClock())
    assert again.open_epoch(epoch_request(8)).decisions == 1
    assert not (tmp_path / CHECK_FIRST_NAME).exists()
    again.close()


def test_the_check_after_a_failed_write_finds_what_the_start_does_not(tmp_path: Path) -> None:
    ledger, leases = begin(tmp_path, 1)
    ledger.run([decision(leases[0], keep=Keep.ALL)])
    ledger.close()
    with unguarded(tmp_path / "ledger.db") as connection:
        connection.execute("UPDATE inputs SET data = x'00'")
    opener.open_owner(tmp_path, REQUEST, ManualClock()).close()
    (tmp_path / CHECK_FIRST_NAME).touch()
    with pytest.raises(Exception, match="found after an I/O error"):
        opener.open_owner(tmp_path, REQUEST, ManualClock())
    assert (tmp_path / CHECK_FIRST_NAME).exists()


@pytest.mark.guarantee("A2")
def test_a_log_whose_name_cannot_be_made_durable_ends_the_first_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(tmp_path, 1)[0].close()
    ledger = opener.open_owner(tmp_path, REQUEST, ManualClock())
    monkeypatch.setattr(SqliteLedger, "_write_highwater", lambda _: None)

    def refuse(_: Path) -> None:
        raise OSError(errno.EIO, "the disk says no")

    monkeypatch.setattr(database, "sync_folder", refuse)
    ledger.open_epoch(epoch_request(8))
    with pytest.raises(DiskFailureError, match="the disk says no"):
        ledger.run([Claim(0, 1)])
    assert (tmp_path / CHECK_FIRST_NAME).exists()
    ledger.close()


@pytest.mark.guarantee("A2")
@pytest.mark.usefixtures("file_limit")
def test_a_log_that_cannot_be_folded_back_when_its_owner_goes_is_told(tmp_path: Path) -> None:
    ledger, leases = begin(tmp_path, 1)
    big = child(b"x" * 2048 * _KIB)
    ledger.run([decision(leases[0], [big], keep=Keep.ALL)])
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024 * _KIB, hard))
    with pytest.raises(DiskFailureError):
        ledger.abandon()
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert (tmp_path / "ledger.db-wal").stat().st_size > 2048 * _KIB
    assert (tmp_path / CHECK_FIRST_NAME).exists()
    again = opener.open_owner(tmp_path, REQUEST, ManualClock())
    assert again.open_epoch(epoch_request(8)).decisions == 1
    again.close()


def test_a_reader_that_keeps_the_log_is_no_failure(tmp_path: Path) -> None:
    ledger, leases = begin(tmp_path, 1)
    reader = connect_reader(tmp_path / "ledger.db")
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM work").fetchone()
    ledger.run([decision(leases[0], keep=Keep.ALL)])
    ledger.abandon()
    assert not (tmp_path / CHECK_FIRST_NAME).exists()
    assert (tmp_path / "ledger.db-wal").stat().st_size > 0
    reader.close()
    again = opener.open_owner(tmp_path, REQUEST, ManualClock())
    assert again.open_epoch(epoch_request(8)).decisions == 1
    again.close()


def test_a_reserve_that_cannot_be_made_is_no_question_of_space(tmp_path: Path) -> None:
    (tmp_path / RESERVE_NAME).mkdir()
    with pytest.raises(IOFailure, match="the ledger's reserve cannot be made") as caught:
        keep_reserve(tmp_path, 256 * _KIB)
    assert caught.value.why == "Is a directory"


def test_the_reserve_is_real_space(tmp_path: Path) -> None:
    keep_reserve(tmp_path, 256 * _KIB)
    (reserve,) = tmp_path.iterdir()
    assert reserve.stat().st_blocks * 512 >= 256 * _KIB
    assert free_reserve(tmp_path) is True
    assert free_reserve(tmp_path) is False
