"""Evidence scenarios of the protocol with one coordinator, on real MPI.

Programs: `none` has no child, `same` always the one child CHILD, `two` the children A and B.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from symfleet.config.model import Advanced, Stop
from symfleet.corpus.admission import admission_of
from symfleet.errors import IntegrityError
from symfleet.ledger.contract import EpochRequest, LedgerStatus
from symfleet.protocol.operations import Admission, Admit, Changed, Claim, Claimed, Release
from symfleet.protocol.work import WorkItem, encode_item, state_id_of, work_id_of
from symfleet.runtime.stores import OpenedLedger
from symfleet.testing.jobs import Job, Role, until
from symfleet.testing.programs import ProgramCampaign, faults_of
from symfleet.types import GenerationId, Incarnation, WorkState, input_id_of

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
Make = Callable[..., ProgramCampaign]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[ProgramCampaign] = []

    def campaign(program: str, **seeds: bytes) -> ProgramCampaign:
        made.append(ProgramCampaign(tmp_path, PROGRAMS / f"{program}.py", seeds))
        return made[-1]

    yield campaign
    for one in made:
        one.close()
        assert list(one.tmp.iterdir()) == [], "something is left outside the output folder"
        assert not (one.out / ".run").exists()


def run(job: Job, code: int = 0) -> None:
    assert job.run() == code, job.story.read_text()


def assert_healthy(status: LedgerStatus) -> None:
    assert faults_of(status) == {}
    assert status.states.get(WorkState.POISONED, 0) == 0


def acks(status: LedgerStatus) -> list[tuple[int, int]]:
    return [(one.acknowledged, one.workers) for one in status.coordinators]


@pytest.mark.guarantee("Q4")
def test_a_launch_without_stop_rules_ends_when_nothing_is_left(make: Make) -> None:
    campaign = make("two", one=b"1")
    run(campaign.job(stop=Stop()))
    status = campaign.status()
    assert_healthy(status)
    assert status.epoch is not None
    assert (status.epoch.reason, status.epoch.exit_code) == ("quiescent", 0)
    assert status.total.executed == 3


@pytest.mark.guarantee("Q4")
@pytest.mark.guarantee("C7")
def test_e3_one_shared_child_is_executed_once(make: Make) -> None:
    campaign = make("same", one=b"1", two=b"2")
    run(campaign.job(advanced=Advanced(idle_window_s=1.0)))
    status = campaign.status()
    assert_healthy(status)
    assert (status.corpus, status.total.executed, status.total.generated) == (3, 3, 3)
    assert status.total.unique_children == 1
    assert acks(status) == [(2, 2)]
    assert status.idle_window_s == pytest.approx(1.0, abs=0.05)
    names = {input_id_of(data) for data in (b"1", b"2", b"CHILD")}
    assert set(campaign.corpus_files()) == names
    assert set(campaign.runs()) == names
    assert len(campaign.runs()) == 3


def request() -> EpochRequest:
    return EpochRequest("test", os.getpid(), "", "", Incarnation(1), 0.0, "")


def admit(opened: OpenedLedger, *inputs: bytes) -> list[Admission]:
    """Put work into a ledger as a job does that is then lost."""
    source = opened.ledger.register_source("seeds", "/before", "test")
    entries = [admission_of(data, f"/before/{data!r}", opened.generation) for data in inputs]
    opened.ledger.run([Admit(source, tuple(entries))])
    return entries


@pytest.mark.guarantee("A1")
@pytest.mark.guarantee("C9")
def test_e4_damaged_bytes_in_the_ledger_end_the_job_and_lose_nothing(make: Make) -> None:
    campaign = make("none")
    with campaign.owned() as opened:
        opened.ledger.open_epoch(request())
        (entry,) = admit(opened, b"original")
    campaign.tamper("UPDATE inputs SET data = ?", [b"exchanged"])
    job = campaign.job(stop=Stop(max_time_s=10.0))
    began = time.monotonic()
    assert job.run() == 70
    assert time.monotonic() - began < 9, "the time limit is not what ended it"
    story = job.story.read_text()
    assert entry.input_id in story
    assert input_id_of(b"exchanged") in story
    assert campaign.runs() == []
    with campaign.reader() as reader:
        status = reader.status()
    assert status.total.executed == 0
    assert status.states[WorkState.DONE] == 0
    assert sum(status.states.values()) == 1


@pytest.mark.guarantee("A1")
@pytest.mark.guarantee("Q4")
def test_e4_damage_that_appears_while_a_job_runs_stops_all_workers(make: Make) -> None:
    campaign = make("none", **{f"seed{n:02}": b"%d" % n for n in range(12)})
    campaign.seconds = 0.4
    job = campaign.job(advanced=Advanced(prefetch=0))
    job.start()
    campaign.wait_for_decision(job)
    with campaign.reader() as reader:
        last = list(reader.corpus())[-1]
    campaign.tamper(
        "UPDATE inputs SET data = ? WHERE digest = ?", [b"exchanged", bytes.fromhex(last)]
    )
    assert job.wait() == 70, job.story.read_text()
    assert last in job.story.read_text()
    assert last not in campaign.runs()
    with campaign.reader() as reader:
        status = reader.status()
    assert acks(status) == [(2, 2)]
    assert status.epoch is not None
    assert status.epoch.exit_code == 70


@pytest.mark.guarantee("A1")
def test_e4_a_seed_with_a_false_name_is_refused_and_the_rest_goes_on(make: Make) -> None:
    false_name = input_id_of(b"another")
    campaign = make("none", **{false_name: b"this", "honest": b"that"})
    run(campaign.job())
    status = campaign.status()
    assert status.total.executed == 1
    assert status.total.skipped_inputs == {"misnamed": 1}
    assert campaign.runs() == [input_id_of(b"that")]


@pytest.mark.guarantee("A1")
@pytest.mark.guarantee("C6")
def test_e4_damaged_bytes_in_the_corpus_folder_are_repaired_and_counted(make: Make) -> None:
    campaign = make("two", seed=b"seed")
    # A job that ends leaves nothing unpublished; this one dies before the first mark is moved.
    job = campaign.job(env={"SYMFLEET_CRASH": "coordinator.before_mark:1:kill"})
    job.start()
    until("the root has died", lambda: "the job died" in job.story.read_text(), 30)
    (launcher,) = job.find(Role.LAUNCHER)
    assert job.kill(launcher)
    job.assert_nothing_left()
    name = input_id_of(b"seed")
    (path,) = (campaign.out / "corpus").rglob(name)
    path.write_bytes(b"damaged")
    run(campaign.job(stop=Stop(until_quiescent=True, accept_faults=True)))
    status = campaign.status()
    assert status.faults_total["projection_repaired"] == {"": 1}
    assert campaign.corpus_files() == {input_id_of(data): data for data in (b"seed", b"A", b"B")}
    (set_aside,) = (campaign.out / "lost+found").iterdir()
    assert set_aside.read_bytes() == b"damaged"


@pytest.mark.guarantee("L4")
@pytest.mark.guarantee("L5")
@pytest.mark.guarantee("L6")
def test_e5_a_lease_of_an_older_epoch_is_void_whatever_its_time(make: Make) -> None:
    campaign = make("none")
    with campaign.owned() as opened:
        opened.ledger.open_epoch(request())
        admit(opened, b"leased")
        (claimed,) = opened.ledger.run([Claim(coordinator=0, limit=1)]).answers
        assert isinstance(claimed, Claimed)
        (lease,) = claimed.leases
    campaign.tamper("UPDATE epochs SET opened_wall = 4102444800.0")  # the year 2100
    run(campaign.job())
    status = campaign.status()
    assert_healthy(status)
    assert status.epoch is not None
    assert status.epoch.closed_wall is not None
    assert status.epoch.closed_wall - status.epoch.opened_wall < 5
    assert status.epoch.leases_recovered == 1
    assert status.this_epoch.executed == 1
    with campaign.owned() as opened:
        opened.ledger.open_epoch(request())
        stale = Release(lease.work_id, lease.token, "lost", ran=True)
        assert opened.ledger.run([stale]).answers == (Changed(changed=False),)


BAD_MANIFESTS: dict[str, Callable[[dict[str, object]], object]] = {
    "extra field": lambda m: {**m, "extra": 1},
    "upper case": lambda m: {**m, "input_id": str(m["input_id"]).upper()},
    "boolean generated": lambda m: {**m, "generated": True},
    "negative generated": lambda m: {**m, "generated": -1},
    "unsorted": lambda m: {**m, "children": list(reversed(m["children"]))},  # type: ignore[call-overload]
    "duplicate": lambda m: {**m, "children": [m["children"][0]] * 2},  # type: ignore[index]
    "another work id": lambda m: {**m, "work_id": "0" * 64},
    "another token": lambda m: {**m, "fence": 77},
}


@pytest.mark.guarantee("C3")
@pytest.mark.guarantee("C4")
@pytest.mark.guarantee("C9")
def test_e7_a_manifest_that_was_changed_is_damage(make: Make) -> None:
    campaign = make("two", seed=b"seed")
    run(campaign.job())
    with campaign.reader() as reader:
        first = next(iter(reader.decisions()))
    campaign.tamper("UPDATE sinks SET published_upto = 0")
    runs = campaign.runs()
    for name, change in BAD_MANIFESTS.items():
        bad = msgspec.msgpack.encode(change(msgspec.msgpack.decode(first.manifest)))
        campaign.tamper("UPDATE decisions SET manifest = ? WHERE decision = 1", [bad])
        before = (campaign.out / "ledger.db").read_bytes()
        with pytest.raises(IntegrityError, match="decision 1"), campaign.owned():
            pytest.fail(f"accepted: {name}")
        assert (campaign.out / "ledger.db").read_bytes() == before, name
    job = campaign.job()
    assert job.run() == 70, job.story.read_text()
    assert "decision 1" in job.story.read_text()
    assert "next epoch" not in job.story.read_text(), "damage is not started again"
    assert campaign.runs() == runs
    assert (campaign.out / "ledger.db").read_bytes() == before
    campaign.tamper("UPDATE decisions SET manifest = ? WHERE decision = 1", [first.manifest])
    run(campaign.job())


@pytest.mark.guarantee("A4")
def test_e9_an_exchanged_payload_runs_neither_item(make: Make) -> None:
    campaign = make("none")
    with campaign.owned() as opened:
        opened.ledger.open_epoch(request())
        one, two = admit(opened, b"one", b"two")
    campaign.tamper(
        "UPDATE work SET payload = ? WHERE work_id = ?",
        [two.payload, bytes.fromhex(one.work_id)],
    )
    job = campaign.job()
    assert job.run() == 70, job.story.read_text()
    assert one.work_id in job.story.read_text()
    assert campaign.runs() == []


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
    run(campaign.job())
    assert_healthy(campaign.status())
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
    assert_healthy(status)
    assert status.total.external_inputs == 2
    assert status.total.skipped_inputs == {"unreadable": 1}
    assert sorted(campaign.runs()) == sorted({input_id_of(b"slow"), input_id_of(b"locked")})


@pytest.mark.guarantee("L8")
def test_e15_a_stopped_owner_keeps_its_lock(make: Make) -> None:
    campaign = make("none", **{f"seed{n}": bytes([n + 48]) for n in range(8)})
    campaign.seconds = 0.2
    first = campaign.job()
    first.start()
    campaign.wait_for_decision(first)
    stopped = [*first.find(Role.LAUNCHER), *first.find(Role.ROOT)]
    for member in stopped:
        assert first.kill(member, signal.SIGSTOP)
    lock = campaign.out / "job.lock"
    os.utime(lock, (0, 0))
    before = lock.read_bytes()
    second = campaign.job()
    assert second.run() == 75
    assert f"process {first.pid} on " in second.story.read_text()
    assert lock.read_bytes() == before
    for member in stopped:
        assert first.kill(member, signal.SIGCONT)
    assert first.wait() == 0, first.story.read_text()
    status = campaign.status()
    assert_healthy(status)
    assert status.total.executed == 8
    assert len(campaign.runs()) == 8


@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("L3")
@pytest.mark.guarantee("C2")
def test_e17_what_is_decided_stays_as_it_is(make: Make) -> None:
    campaign = make("two", seed=b"seed")
    run(campaign.job())
    with campaign.reader() as reader:
        decisions = list(reader.decisions())
        totals = reader.status().total
    with campaign.owned() as opened:
        opened.ledger.open_epoch(request())
        for row in decisions:
            token = opened_token(row.manifest)
            for cause in ("lost", "protocol", "given_back"):
                release = Release(row.work_id, token, cause, ran=True)  # type: ignore[arg-type]
                assert opened.ledger.run([release]).answers == (Changed(changed=False),)
        assert opened.ledger.run([Claim(coordinator=0, limit=8)]).answers == (Claimed(()),)
        assert list(opened.ledger.decisions()) == decisions
        assert opened.ledger.status().total == totals


def opened_token(manifest: bytes) -> object:
    from symfleet.ledger.manifest import decode_manifest, token_of

    return token_of(decode_manifest(manifest))


@pytest.mark.guarantee("L1")
def test_e18_two_items_of_one_state_are_never_held_at_once(make: Make) -> None:
    campaign = make("spans")
    with campaign.owned() as opened:
        opened.ledger.open_epoch(request())
        source = opened.ledger.register_source("seeds", "/before", "test")
        data = b"one state"
        entries = [
            strategy_item(opened.generation, data, strategy) for strategy in ("deep", "wide")
        ]
        assert entries[0].state_id == entries[1].state_id
        assert entries[0].work_id != entries[1].work_id
        opened.ledger.run([Admit(source, tuple(entries))])
    campaign.seconds = 0.3
    run(campaign.job())
    assert_healthy(campaign.status())
    began_ended = [float(line) for line in campaign.runs()]
    assert len(began_ended) == 4
    assert began_ended == sorted(began_ended), "the two executions overlap"


def strategy_item(generation: GenerationId, data: bytes, strategy: str) -> Admission:
    item = WorkItem(generation, input_id_of(data), strategy=strategy)
    return Admission(
        input_id_of(data), data, work_id_of(item), state_id_of(item), encode_item(item), strategy
    )
