"""One owner: the lock, takeover, readers beside a live owner, creation that was cut off."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from symfleet.clock import SystemClock
from symfleet.errors import BusyError, ExitCode, UserError
from symfleet.ledger import opener
from symfleet.ledger.owner_lock import Holder, acquire
from symfleet.protocol.answers import Claimed, Decided
from symfleet.protocol.operations import Admit, Claim
from symfleet.testing.kills import ledger_kills
from symfleet.testing.ledgers import (
    ManualClock,
    admission,
    campaign_row,
    decision,
    epoch_request,
)
from symfleet.types import Keep, WorkState

REQUEST = opener.OwnerRequest("here", os.getpid(), lock_wait_s=0.2, reserve_bytes=0)
_DEADLINE_S = 20.0


@contextmanager
def holder(out: Path) -> Iterator[subprocess.Popen[str]]:
    """A live owner in another process; it holds the ledger and one lease."""
    process = subprocess.Popen(
        [sys.executable, "-m", "symfleet.testing.stores.ledger_holder", str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.stdin.close()
        process.stdout.close()
        process.wait(_DEADLINE_S)


def until(condition: Callable[[], bool]) -> None:
    """Poll for a condition."""
    deadline = time.monotonic() + _DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped."""
    return "State:\tT" in Path(f"/proc/{pid}/status").read_text(encoding="ascii")


def finish(process: subprocess.Popen[str]) -> None:
    """Let the holder decide and end."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "decided\n"
    assert process.wait(_DEADLINE_S) == 0


@pytest.mark.guarantee("L8")
def test_a_stopped_owner_keeps_its_ledger(tmp_path: Path) -> None:
    """E15: neither age nor silence breaks a lock; the refusal names holder and age."""
    with holder(tmp_path) as process:
        process.send_signal(signal.SIGSTOP)
        until(lambda: is_stopped(process.pid))
        lock = tmp_path / "owner.lock"
        told = json.loads(lock.read_text(encoding="ascii"))
        lock.write_text(json.dumps(told | {"since": 0.0}), encoding="ascii")
        os.utime(lock, (0, 0))
        text = lock.read_bytes()
        began = time.monotonic()
        with pytest.raises(BusyError) as caught:
            opener.open_owner(tmp_path, REQUEST, SystemClock())
        assert 0.2 <= time.monotonic() - began < 2.0
        assert caught.value.exit_code is ExitCode.BUSY
        assert f"process {process.pid} on here, epoch 1" in caught.value.why
        assert int(caught.value.why.split("for ")[1].split()[0]) > 1_000_000_000
        assert lock.read_bytes() == text
        assert lock.stat().st_mtime == 0
        process.send_signal(signal.SIGCONT)
        finish(process)
    ledger = opener.open_owner(tmp_path, REQUEST, SystemClock())
    assert ledger.status().total.executed == 1
    ledger.close()


@pytest.mark.guarantee("L8")
@pytest.mark.guarantee("C8")
def test_a_killed_owners_ledger_is_free_at_once(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        process.kill()
        process.wait(_DEADLINE_S)
        no_wait = opener.OwnerRequest("here", os.getpid(), lock_wait_s=0.0, reserve_bytes=0)
        ledger = opener.open_owner(tmp_path, no_wait, SystemClock())
        assert ledger.open_epoch(epoch_request(8)).leases_recovered == 1
        assert list(ledger.audit()) == []
        ledger.close()


def test_a_second_owner_in_one_process_is_refused_too(tmp_path: Path) -> None:
    first = opener.create(tmp_path, campaign_row(), REQUEST, ManualClock())
    with pytest.raises(BusyError):
        opener.open_owner(tmp_path, REQUEST, ManualClock())
    with pytest.raises(BusyError):
        opener.create(tmp_path, campaign_row(), REQUEST, ManualClock())
    first.close()
    opener.open_owner(tmp_path, REQUEST, ManualClock()).close()


@pytest.mark.guarantee("L8")
def test_waiting_for_a_lock_ends_by_the_monotonic_clock(tmp_path: Path) -> None:
    class JumpingClock(ManualClock):
        """Its wall clock jumps back by a year with every sleep."""

        def sleep(self, seconds: float) -> None:
            self.now += seconds
            self.now_wall -= 3.15e7

    lock = acquire(tmp_path, Holder("here", 1, 3, 0.0), ManualClock(), 0.0)
    clock = JumpingClock()
    with pytest.raises(BusyError, match="process 1 on here, epoch 3"):
        acquire(tmp_path, Holder("there", 2, 0, 0.0), clock, 5.0)
    assert 5.0 <= clock.now < 5.1
    lock.close()


@pytest.mark.parametrize("text", [b"", b"nonsense", b"{}", b'{"pid": "x"}', b"\xff\xfe"])
def test_a_lock_file_that_tells_nothing_still_locks(tmp_path: Path, text: bytes) -> None:
    lock = acquire(tmp_path, Holder("here", 1, 3, 0.0), ManualClock(), 0.0)
    (tmp_path / "owner.lock").write_bytes(text)
    with pytest.raises(BusyError, match="has not told"):
        acquire(tmp_path, Holder("there", 2, 0, 0.0), ManualClock(), 0.0)
    lock.close()


def test_readers_see_committed_turns_of_a_live_owner(tmp_path: Path) -> None:
    ledger = opener.create(tmp_path, campaign_row(), REQUEST, ManualClock())
    ledger.open_epoch(epoch_request())
    ledger.register_source("seeds", "/s", "here")
    reader = opener.open_reader(tmp_path)
    for amount in (1, 2, 3):
        ledger.run([Admit(1, (admission(b"%d" % amount),))])
        assert reader.status().states[WorkState.PENDING] == amount
    assert list(reader.audit()) == []
    ledger.close()
    assert reader.status().states[WorkState.PENDING] == 3
    reader.close()


def test_readers_see_what_a_killed_owner_committed(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        process.kill()
        process.wait(_DEADLINE_S)
    reader = opener.open_reader(tmp_path)
    assert reader.status().states[WorkState.LEASED] == 1
    reader.close()


def die_early(out: Path, life: int) -> None:
    """Own the ledger in a process that admits a few inputs and ends without a last word, long
    before its log is to be folded back."""
    child = os.fork()
    if child == 0:
        try:
            request = replace(REQUEST, pid=os.getpid(), checkpoint_rows=60)
            ledger = opener.open_owner(out, request, SystemClock())
            ledger.open_epoch(epoch_request(life + 1))
            source = ledger.register_source("seeds", "/s", "here")
            inputs = tuple(admission(bytes([life, number]) * 1500) for number in range(20))
            ledger.run([Admit(source, inputs)])
            ledger.checkpoint()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def test_the_log_does_not_grow_with_every_owner_that_dies_early(tmp_path: Path) -> None:
    opener.create(tmp_path, campaign_row(), REQUEST, SystemClock()).close()
    sizes = []
    for life in range(20):
        die_early(tmp_path, life)
        sizes.append((tmp_path / "ledger.db-wal").stat().st_size)
    reader = opener.open_reader(tmp_path)
    assert reader.status().states[WorkState.PENDING] == 20 * 20
    assert list(reader.audit()) == []
    reader.close()
    assert max(sizes) < 4 * sizes[0], sizes


def test_a_reader_in_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    opener.create(tmp_path, campaign_row(), REQUEST, ManualClock()).close()
    for name in ("ledger.db-wal", "ledger.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    tmp_path.chmod(0o555)
    try:
        reader = opener.open_reader(tmp_path)
        assert reader.status().epoch is None
        reader.close()
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.guarantee("L4")
@pytest.mark.guarantee("L5")
@pytest.mark.parametrize("wall", [4_102_444_800.0, 0.0, -1e9])
def test_leases_are_recovered_whatever_any_clock_says(tmp_path: Path, wall: float) -> None:
    """E5: the old owner's clock may have said anything."""
    ledger = opener.create(tmp_path, campaign_row(), REQUEST, ManualClock(wall))
    ledger.open_epoch(epoch_request())
    ledger.register_source("seeds", "/s", "here")
    _, answer = ledger.run([Admit(1, (admission(b"a"),)), Claim(0, 1)]).answers
    assert isinstance(answer, Claimed)
    (old,) = answer.leases
    ledger.abandon()
    again = opener.open_owner(tmp_path, REQUEST, ManualClock())
    assert again.open_epoch(epoch_request(8)).leases_recovered == 1
    (answer,) = again.run([Claim(0, 1)]).answers
    assert isinstance(answer, Claimed)
    (new,) = answer.leases
    assert new.token > old.token
    assert [a for a in again.run([decision(old)]).answers if isinstance(a, Decided)] == [
        Decided("stale")
    ]
    assert again.status().faults_this_epoch == {"leases_recovered": {"": 1}}
    again.close()


@pytest.mark.guarantee("L4")
@pytest.mark.guarantee("L5")
def test_no_lease_holds_a_time(tmp_path: Path) -> None:
    """E5: a time of 2100, NULL or below zero cannot stand in a lease, as no time can."""
    ledger = opener.create(tmp_path, campaign_row(), REQUEST, ManualClock())
    columns = ledger._connection.execute("PRAGMA table_info(work)").fetchall()
    assert {kind for _, _, kind, *_ in columns} <= {"INTEGER", "TEXT", "BLOB"}
    assert not [name for _, name, *_ in columns if "wall" in name or "time" in name]
    ledger.close()


def test_a_campaign_is_created_once(tmp_path: Path) -> None:
    opener.create(tmp_path, campaign_row(), REQUEST, ManualClock()).close()
    before = (tmp_path / "ledger.db").read_bytes()
    with pytest.raises(UserError, match="has a campaign already"):
        opener.create(tmp_path, campaign_row(Keep.ALL), REQUEST, ManualClock())
    assert (tmp_path / "ledger.db").read_bytes() == before


def test_a_creation_that_was_cut_off_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "ledger.db.creating").write_bytes(b"half a database")
    (tmp_path / "ledger.db.creating-wal").write_bytes(b"half a log")
    (tmp_path / "ledger.db-wal").write_bytes(b"a log without its database")
    assert not opener.has_ledger(tmp_path)
    ledger = opener.create(tmp_path, campaign_row(), REQUEST, ManualClock())
    assert list(ledger.audit()) == []
    ledger.close()
    assert not list(tmp_path.glob("*creating*"))


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C8")
@pytest.mark.guarantee("J9")
def test_an_owner_killed_at_any_instant_loses_nothing_that_it_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "symfleet.testing.kills.ledger_kills", str(tmp_path)]
    done = subprocess.run(
        [*command, "--kills", "25", "--seed", "7"],
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert (report["lost"], report["findings"]) == (0, [])
    assert report["decided"] == report["corpus"] == ledger_kills.ITEMS
    assert report["told"] > 25


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_an_owner_killed_a_thousand_times_loses_nothing(tmp_path: Path) -> None:
    for seed in range(25):
        report = ledger_kills.run(tmp_path / str(seed), 40, seed)
        assert (report.lost, report.findings) == (0, [])
        assert report.decided == ledger_kills.ITEMS
