"""Evidence scenarios of damage, on real MPI: nothing is executed, nothing is changed, all is named.

A ledger that is damaged where the start reads is refused before any worker is told of an epoch; the
workers are dismissed and acknowledge all the same.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from symfleet.config.model import Advanced, Stop
from symfleet.corpus.admission import admission_of
from symfleet.ledger.contract import DecisionRow, LedgerStatus
from symfleet.protocol.operations import Admission, Admit
from symfleet.runtime.stores import OpenedLedger
from symfleet.testing.jobs import Job, Role, until
from symfleet.testing.ledgers import epoch_request
from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.stores.ledger_damage import replace_manifest, unguarded
from symfleet.types import WorkState, input_id_of

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
Make = Callable[..., ProgramCampaign]


def run(job: Job, code: int = 0) -> None:
    assert job.run() == code, job.story.read_text()


def acks(status: LedgerStatus) -> list[tuple[int, int]]:
    return [(one.acknowledged, one.workers) for one in status.coordinators]


def admit(opened: OpenedLedger, *inputs: bytes) -> list[Admission]:
    """Put work into a ledger as a job does that is then lost."""
    source = opened.ledger.register_source("seeds", "/before", "test")
    entries = [admission_of(data, f"/before/{data!r}", opened.generation) for data in inputs]
    opened.ledger.run([Admit(source, tuple(entries))])
    return entries


def assert_refused(job: Job, *named: str, others: int = 2) -> None:
    """The story of one launch: it names what is damaged, ended all other processes, and was the
    last."""
    story = job.story.read_text()
    for name in named:
        assert name in story, story
    assert story.count(f"{others}/{others} processes acknowledged the end") == 1, story
    assert "next epoch" not in story, "damage is not started again"


@pytest.mark.guarantee("A1")
@pytest.mark.guarantee("C9")
@pytest.mark.guarantee("Q4")
def test_e4_damaged_bytes_in_the_ledger_end_the_job_and_lose_nothing(make: Make) -> None:
    campaign = make("none")
    with campaign.owned() as opened:
        opened.ledger.open_epoch(epoch_request())
        (entry,) = admit(opened, b"original")
    campaign.tamper("UPDATE inputs SET data = ?", [b"exchanged"])
    job = campaign.job(stop=Stop(max_time_s=10.0))
    began = time.monotonic()
    assert job.run() == 70
    assert time.monotonic() - began < 9, "the time limit is not what ended it"
    assert_refused(job, entry.input_id, input_id_of(b"exchanged"))
    assert campaign.runs() == []
    with campaign.reader() as reader:
        status = reader.status()
    assert status.total.executed == 0
    assert status.states[WorkState.PENDING] == sum(status.states.values()) == 1


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
    assert "slots 2/2 acknowledged\n" in job.story.read_text()
    assert last not in campaign.runs()
    with campaign.reader() as reader:
        status = reader.status()
    assert acks(status) == [(2, 2)]
    assert status.epoch is not None
    assert status.epoch.exit_code == 70


@pytest.mark.guarantee("C9")
@pytest.mark.guarantee("Q4")
def test_damage_that_leaves_no_place_for_the_verdict_is_told_with_who_acknowledged(
    make: Make,
) -> None:
    campaign = make("none", **{f"seed{n:02}": b"%d" % n for n in range(48)})
    campaign.seconds, campaign.slots, campaign.coordinators = 0.2, 6, 2
    job = campaign.job()
    job.start()
    campaign.wait_for_decision(job)
    with contextlib.closing(sqlite3.connect(campaign.out / "ledger.db", timeout=20)) as connection:
        connection.execute("DROP TABLE decisions")
    assert job.wait() == 70, job.story.read_text()
    told = job.story.read_text()
    assert "slots 3/3, 3/3 acknowledged\nthe ledger is damaged" in told, told
    assert f"`symfleet verify {campaign.out}`" in told


@pytest.mark.guarantee("A1")
def test_e4_a_seed_with_a_false_name_is_refused_and_the_rest_goes_on(make: Make) -> None:
    false_name = input_id_of(b"another")
    campaign = make("none", **{false_name: b"this", "honest": b"that"})
    run(campaign.job())
    status = campaign.status()
    assert status.total.executed == 1
    assert status.total.skipped_inputs == {"misnamed": 1}
    assert campaign.runs() == [input_id_of(b"that")]


@pytest.mark.guarantee("C9")
@pytest.mark.guarantee("Q4")
def test_work_that_vanishes_under_a_job_is_damage_and_nobody_waits_for_it(make: Make) -> None:
    campaign = make("none", **{f"seed{n:02}": b"%d" % n for n in range(12)})
    campaign.seconds = 0.4
    job = campaign.job(advanced=Advanced(prefetch=0), stop=Stop(max_time_s=20.0))
    job.start()
    campaign.wait_for_decision(job)
    campaign.tamper("DELETE FROM work WHERE state = 'pending'")
    assert job.wait() == 70, job.story.read_text()
    told = job.story.read_text()
    assert "a count of work rows is wrong" in told, told
    assert "standing pending" in told
    assert "counted, none found" in told
    assert "symfleet verify" in told
    assert "next epoch" not in told, "damage is not started again"
    with campaign.reader() as reader:
        status = reader.status()
        assert status.states[WorkState.PENDING] > 0, "nothing is put right silently"
        assert "standing pending" in {finding.row for finding in reader.audit()}
    assert acks(status) == [(2, 2)]
    assert status.epoch is not None
    assert status.epoch.exit_code == 70


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
    run(campaign.job())
    status = campaign.status(disturbed=["projection_repaired"])
    assert status.faults_total["projection_repaired"] == {"": 1}
    assert campaign.corpus_files() == {input_id_of(data): data for data in (b"seed", b"A", b"B")}
    (set_aside,) = (campaign.out / "lost+found").iterdir()
    assert set_aside.read_bytes() == b"damaged"


BAD_MANIFESTS: dict[str, Callable[[dict[str, object]], object]] = {
    "extra field": lambda m: {**m, "extra": 1},
    "unsorted": lambda m: {**m, "children": list(reversed(m["children"]))},  # type: ignore[call-overload]
    "duplicate": lambda m: {**m, "children": [m["children"][0]] * 2},  # type: ignore[index]
    "upper case": lambda m: {**m, "input_id": str(m["input_id"]).upper()},
    "boolean generated": lambda m: {**m, "generated": True},
    "negative generated": lambda m: {**m, "generated": -1},
    "another work id": lambda m: {**m, "work_id": "0" * 64},
    "another fence": lambda m: {**m, "fence": 77},
    "another epoch": lambda m: {**m, "epoch": 2},
}


@pytest.fixture(scope="module")
def unpublished(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[ProgramCampaign, DecisionRow]]:
    """A campaign that has decided everything and published nothing, and its last decision with
    children."""
    folder = tmp_path_factory.mktemp("unpublished")
    campaign = ProgramCampaign(folder, PROGRAMS / "two.py", {"seed": b"seed"}, slots=1)
    try:
        run(campaign.job(stop=Stop(max_executions=1)))
        campaign.tamper("UPDATE sinks SET published_upto = 0")
        campaign.slots = 2
        with campaign.reader() as reader:
            first = next(iter(reader.decisions()))
        yield campaign, first
        campaign.assert_tidy()
    finally:
        campaign.close()


@pytest.mark.guarantee("C3")
@pytest.mark.guarantee("C4")
@pytest.mark.guarantee("C9")
@pytest.mark.guarantee("Q4")
@pytest.mark.parametrize(
    ("name", "coordinators"),
    [
        *((name, 1) for name in ("NULL", "missing object row", *BAD_MANIFESTS)),
        ("NULL", 2),
        ("another fence", 2),
    ],
)
def test_e7_an_unpublished_decision_with_a_bad_manifest_ends_the_job(
    unpublished: tuple[ProgramCampaign, DecisionRow], name: str, coordinators: int
) -> None:
    """The forger hashes the chain again, so that nothing but the manifest itself tells."""
    campaign, first = unpublished
    path = campaign.out / "ledger.db"
    whole, runs = path.read_bytes(), campaign.runs()
    try:
        with unguarded(path) as connection:
            if name == "NULL":
                connection.execute("UPDATE decisions SET manifest = NULL WHERE decision = 1")
            elif name == "missing object row":
                digest = bytes.fromhex(input_id_of(b"A"))
                connection.execute("DELETE FROM inputs WHERE digest = ?", (digest,))
            else:
                bad = BAD_MANIFESTS[name](msgspec.msgpack.decode(first.manifest))
                replace_manifest(connection, 1, msgspec.msgpack.encode(bad))
        before = path.read_bytes()
        campaign.coordinators, campaign.slots = coordinators, 2 if coordinators == 1 else 6
        job = campaign.job()
        run(job, 70)
        assert_refused(job, "decision 1", others=1 + coordinators)
        if name == "missing object row":
            assert input_id_of(b"A") in job.story.read_text()
        assert campaign.runs() == runs, "nothing was executed"
        assert path.read_bytes() == before, "the ledger keeps every byte"
    finally:
        path.write_bytes(whole)


@pytest.mark.guarantee("A4")
@pytest.mark.guarantee("C9")
@pytest.mark.guarantee("Q4")
def test_e9_an_exchanged_payload_runs_neither_item(make: Make) -> None:
    campaign = make("none")
    with campaign.owned() as opened:
        opened.ledger.open_epoch(epoch_request())
        one, two = admit(opened, b"one", b"two")
    campaign.tamper(
        "UPDATE work SET payload = ? WHERE work_id = ?",
        [two.payload, bytes.fromhex(one.work_id)],
    )
    before = (campaign.out / "ledger.db").read_bytes()
    job = campaign.job()
    run(job, 70)
    assert_refused(job, one.work_id)
    assert campaign.runs() == []
    assert (campaign.out / "ledger.db").read_bytes() == before
