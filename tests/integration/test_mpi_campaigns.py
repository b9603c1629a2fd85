"""Evidence scenarios of the protocol with one coordinator, on real MPI.

Programs: `none` has no child, `same` always the one child CHILD, `two` the children A and B.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from typing import get_args

import pytest

from symfleet.config.model import Advanced, Stop
from symfleet.corpus.admission import admission_of
from symfleet.ledger.contract import LedgerStatus
from symfleet.ledger.manifest import decode_manifest, token_of
from symfleet.protocol.answers import Blamed, Changed, Claimed, Decided
from symfleet.protocol.operations import (
    Admission,
    Admit,
    Blame,
    Claim,
    Defer,
    Release,
    ReleaseCause,
)
from symfleet.protocol.work import WorkItem, encode_item, state_id_of, work_id_of
from symfleet.runtime.stores import OpenedLedger
from symfleet.testing.jobs import Job, Role
from symfleet.testing.ledgers import decision, epoch_request
from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.stores.ledger_damage import unguarded
from symfleet.types import Epoch, Fence, FencingToken, GenerationId, Incarnation, Keep, input_id_of

Make = Callable[..., ProgramCampaign]


def run(job: Job, code: int = 0) -> None:
    assert job.run() == code, job.story.read_text()


def acks(status: LedgerStatus) -> list[tuple[int, int]]:
    return [(one.acknowledged, one.workers) for one in status.coordinators]


@pytest.mark.guarantee("Q4")
def test_a_launch_without_stop_rules_ends_when_nothing_is_left(make: Make) -> None:
    campaign = make("two", one=b"1")
    run(campaign.job(stop=Stop()))
    status = campaign.status()
    assert status.epoch is not None
    assert (status.epoch.reason, status.epoch.exit_code) == ("quiescent", 0)
    assert status.total.executed == 3


@pytest.mark.alone
@pytest.mark.guarantee("Q4")
@pytest.mark.guarantee("C7")
def test_e3_one_shared_child_is_executed_once(make: Make) -> None:
    campaign = make("same", one=b"1", two=b"2")
    run(campaign.job(advanced=Advanced(idle_window_s=1.0)))
    status = campaign.status()
    assert (status.corpus, status.total.executed, status.total.generated) == (3, 3, 3)
    assert status.total.unique_children == 1
    assert acks(status) == [(2, 2)]
    assert status.idle_window_s == pytest.approx(1.0, abs=0.05)
    names = {input_id_of(data) for data in (b"1", b"2", b"CHILD")}
    assert set(campaign.corpus_files()) == names
    assert set(campaign.runs()) == names
    assert len(campaign.runs()) == 3


def register(opened: OpenedLedger) -> int:
    return opened.ledger.register_source("seeds", "/before", "test")


def admitted(opened: OpenedLedger, data: bytes) -> Admission:
    return admission_of(data, f"/before/{data!r}", opened.generation)


def admit(opened: OpenedLedger, *inputs: bytes) -> None:
    """Put work into a ledger as a job does that is then lost."""
    opened.ledger.run([Admit(register(opened), tuple(admitted(opened, data) for data in inputs))])


@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("L4")
@pytest.mark.guarantee("L5")
@pytest.mark.guarantee("L6")
@pytest.mark.parametrize("time", ["4102444800.0", "-1.0", "NULL"], ids=["2100", "negative", "NULL"])
def test_e5_a_lease_of_an_older_epoch_is_void_whatever_its_time(make: Make, time: str) -> None:
    campaign = make("none")
    with campaign.owned() as opened:
        opened.ledger.open_epoch(epoch_request())
        admit(opened, b"leased")
        (claimed,) = opened.ledger.run([Claim(coordinator=0, limit=1)]).answers
        assert isinstance(claimed, Claimed)
        (lease,) = claimed.leases
    set_time_of_the_only_epoch(campaign, time)
    run(campaign.job())
    if time == "NULL":  # no launch stores that: the audit says so, and nothing depended on it
        with campaign.reader() as reader:
            (finding,) = reader.audit()
        assert "opened_wall" in finding.detail
        set_time_of_the_only_epoch(campaign, "0.0", epoch=1)
    status = campaign.status()
    assert status.epoch is not None
    assert status.epoch.closed_wall is not None
    assert status.epoch.closed_wall - status.epoch.opened_wall < 5
    assert status.epoch.reason == "quiescent"
    assert status.epoch.leases_recovered == 1
    assert status.this_epoch.executed == 1
    assert campaign.runs() == [input_id_of(b"leased")]
    with campaign.owned() as opened:
        opened.ledger.open_epoch(epoch_request())
        (row,) = opened.ledger.decisions()
        assert token_of(decode_manifest(row.manifest)).fence > lease.token.fence
        late = decision(lease, keep=Keep.ALL)
        before = rows_of(campaign)
        assert opened.ledger.run([late]).answers == (Decided("stale"),)
        assert rows_of(campaign) == before


def set_time_of_the_only_epoch(campaign: ProgramCampaign, time: str, epoch: int = 1) -> None:
    with unguarded(campaign.out / "ledger.db", nullable="opened_wall REAL") as connection:
        changed = connection.execute(
            f"UPDATE epochs SET opened_wall = {time} WHERE epoch = ?",  # noqa: S608
            (epoch,),
        )
        assert changed.rowcount == 1


def rows_of(campaign: ProgramCampaign) -> list[object]:
    """Return every row of every table."""
    with contextlib.closing(sqlite3.connect(campaign.out / "ledger.db")) as connection:
        return list(connection.iterdump())


def test_e13_seeds_may_vanish_between_kill_and_resume(make: Make) -> None:
    campaign = make("two", one=b"1", two=b"2", three=b"3")
    campaign.seconds = 0.1
    job = campaign.job()
    job.start()
    campaign.wait_for_decision(job)
    (launcher,) = job.find(Role.LAUNCHER)
    assert job.kill(launcher)
    job.assert_nothing_left()
    for seed in campaign.seeds.iterdir():
        seed.unlink()
    assert 0 < campaign.decisions() < 5, "it was killed on the way"
    run(campaign.job())
    campaign.status()
    inputs = {input_id_of(data) for data in (b"1", b"2", b"3", b"A", b"B")}
    assert set(campaign.corpus_files()) == inputs
    with campaign.reader() as reader:
        assert set(reader.corpus()) == inputs


@pytest.mark.guarantee("A3")
def test_e14_an_unreadable_seed_is_admitted_once_it_can_be_read(make: Make) -> None:
    campaign = make("none", locked=b"locked", slow=b"slow")
    locked = campaign.seeds / "locked"
    locked.chmod(0)
    launcher: tuple[str, ...] = (sys.executable, "-m", "symfleet.testing.launch")
    if os.geteuid() == 0:  # root reads everything unless it gives that up
        drop = "--bounding-set=-dac_override,-dac_read_search"
        launcher = ("setpriv", drop, *launcher)
    advanced = Advanced(rescan_s=0.2, idle_window_s=0.2)
    job = campaign.job(
        stop=Stop(max_executions=2, watch=True), advanced=advanced, launcher=launcher
    )
    job.start()
    campaign.wait_for_decision(job)
    assert campaign.runs() == [input_id_of(b"slow")]
    locked.chmod(0o644)
    assert job.wait() == 0, job.story.read_text()
    status = campaign.status()
    assert status.total.external_inputs == 2
    assert status.total.skipped_inputs == {"unreadable": 1}
    assert sorted(campaign.runs()) == sorted({input_id_of(b"slow"), input_id_of(b"locked")})


@pytest.mark.alone
@pytest.mark.guarantee("L8")
def test_e15_a_stopped_owner_keeps_its_lock(make: Make) -> None:
    campaign = make("none", **{f"seed{n}": bytes([n + 48]) for n in range(8)})
    campaign.seconds = 0.2
    first = campaign.job()
    first.start()
    campaign.wait_for_decision(first)
    stopped = [*first.find(Role.LAUNCHER), *first.find(Role.ROOT)]
    assert len(stopped) == 2
    for member in stopped:
        assert first.kill(member, signal.SIGSTOP)
    since = time.monotonic()
    lock = campaign.out / "job.lock"
    os.utime(lock, (0, 0))
    before = (lock.read_bytes(), lock.stat().st_mtime)
    second = campaign.job(advanced=Advanced(lock_wait_s=8.0))
    assert second.run() == 75
    assert 8.0 <= time.monotonic() - since < 10.0, "it is refused at its deadline"
    said = re.search(r"process (\d+) on \S+ has held it for (\d+) s", second.story.read_text())
    assert said is not None, second.story.read_text()
    assert int(said[1]) == first.pid
    assert 8 <= int(said[2]) < 60, "the age is that of the holding, whatever the file's date"
    assert (lock.read_bytes(), lock.stat().st_mtime) == before
    for member in stopped:
        assert first.kill(member, signal.SIGCONT)
    assert first.wait() == 0, first.story.read_text()
    status = campaign.status()
    assert status.total.executed == 8
    assert status.epochs == 1
    assert len(campaign.runs()) == 8


@pytest.mark.guarantee("L1")
@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("L3")
@pytest.mark.guarantee("C2")
@pytest.mark.guarantee("C7")
def test_e17_only_the_holder_decides_and_only_once(make: Make) -> None:
    """A job has decided some items; another owner decides one and holds two. Whatever anybody
    without the token asks then leaves every row as it is."""
    campaign = make("two", seed=b"seed")
    run(campaign.job())
    with campaign.owned() as opened:
        opened.ledger.open_epoch(epoch_request())
        decided = {row.work_id: row.manifest for row in opened.ledger.decisions()}
        assert len(decided) == 3
        data = b"one state"
        twins = [strategy_item(opened.generation, data, name) for name in ("deep", "wide")]
        opened.ledger.run([Admit(register(opened), (*twins, admitted(opened, b"other")))])
        (claimed,) = opened.ledger.run([Claim(coordinator=0, limit=8)]).answers
        assert isinstance(claimed, Claimed)
        held = {lease.data: lease for lease in claimed.leases}
        assert set(held) == {data, b"other"}, "one of two items of one state is leased"
        done = decision(held[b"other"], keep=Keep.ALL)
        (first,) = opened.ledger.run([done]).answers
        assert isinstance(first, Decided)
        assert first.disposition == "completed"

        before = rows_of(campaign)
        assert opened.ledger.run([done]).answers == (Decided("already", first.decision),)
        lease = held[data]
        theirs = FencingToken(lease.token.epoch, Fence(lease.token.fence + 1))
        foreign = [(lease.work_id, theirs), (lease.work_id, FencingToken(Epoch(1), Fence(1)))]
        foreign += [(w, token_of(decode_manifest(m))) for w, m in decided.items()]
        for work_id, token in foreign:
            wrong = dataclasses.replace(lease, work_id=work_id, token=token)
            if work_id == lease.work_id:
                completing = decision(wrong, keep=Keep.ALL)
                assert opened.ledger.run([completing]).answers == (Decided("stale"),)
            for cause in get_args(ReleaseCause):
                abandoning = Release(work_id, token, cause, ran=True)
                assert opened.ledger.run([abandoning]).answers == (Changed(changed=False),)
            discarding = Defer(work_id, token, "not ours")
            assert opened.ledger.run([discarding]).answers == (Changed(changed=False),)
            blaming = Blame(work_id, token, Incarnation(1), "not ours")
            (blamed,) = opened.ledger.run([blaming]).answers
            assert blamed == Blamed(changed=False, blames=0, poisoned=False)
        # The twin of the leased state is refused, and so is everything that is decided.
        assert opened.ledger.run([Claim(coordinator=0, limit=8)]).answers == (Claimed(()),)
        assert rows_of(campaign) == before
    run(campaign.job())
    status = campaign.status()
    assert (status.total.executed, status.epoch and status.epoch.leases_recovered) == (6, 1)


@pytest.mark.guarantee("L1")
def test_e18_two_items_of_one_state_are_never_held_at_once(make: Make) -> None:
    campaign = make("spans")
    with campaign.owned() as opened:
        opened.ledger.open_epoch(epoch_request())
        data = b"one state"
        entries = [
            strategy_item(opened.generation, data, strategy) for strategy in ("deep", "wide")
        ]
        assert entries[0].state_id == entries[1].state_id
        assert entries[0].work_id != entries[1].work_id
        opened.ledger.run([Admit(register(opened), tuple(entries))])
    campaign.seconds = 0.3
    run(campaign.job())
    campaign.status()
    began_ended = [float(line) for line in campaign.runs()]
    assert len(began_ended) == 4
    assert began_ended == sorted(began_ended), "the two executions overlap"


def strategy_item(generation: GenerationId, data: bytes, strategy: str) -> Admission:
    item = WorkItem(generation, input_id_of(data), strategy=strategy)
    return Admission(
        input_id_of(data), data, work_id_of(item), state_id_of(item), encode_item(item), strategy
    )
