"""Evidence scenarios of the protocol with two coordinators, on real MPI and on both stores.

Programs: `none` has no child, `same` always the one child CHILD, `two` the children A and B. Those
that a single coordinator shows are in test_mpi_campaigns.py and test_mpi_damage.py, others with
two in test_mpi_coordinators.py.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import symfleet
from symfleet.config.environment import inherited_environment
from symfleet.config.model import Advanced, Stop
from symfleet.corpus.admission import admission_of
from symfleet.errors import ExitCode
from symfleet.ledger.contract import DecisionRow, LedgerStatus
from symfleet.ledger.manifest import decode_manifest, token_of
from symfleet.protocol.answers import Claimed, Decided, Lease
from symfleet.protocol.codec import PROTOCOL_VERSION
from symfleet.protocol.operations import Admit, Claim
from symfleet.runtime.mpirun import find_mpirun, mpirun_command
from symfleet.testing.jobs import Job, Role, until
from symfleet.testing.joined import OURS, join
from symfleet.testing.ledgers import decision, epoch_request
from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.stores import ledger_damage, postgres_damage
from symfleet.types import Keep, WorkState, input_id_of

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
TWELVE = {f"seed{n:02}": b"%d" % n for n in range(12)}
Share = Callable[..., ProgramCampaign]


def run(job: Job, code: int = 0) -> None:
    assert job.run(90) == code, job.story.read_text()


def acks(status: LedgerStatus) -> list[tuple[int, int]]:
    return [(one.acknowledged, one.workers) for one in status.coordinators]


def assert_at_rest(status: LedgerStatus) -> None:
    """Nothing is open, and what the coordinators did adds up."""
    assert {state: n for state, n in status.states.items() if n} == {
        WorkState.DONE: status.decisions
    }
    assert status.unpublished == 0
    assert sum(one.executed for one in status.coordinators) == status.this_epoch.executed


def rows_of(campaign: ProgramCampaign) -> object:
    """Return all that a ledger holds."""
    if campaign.ledger:
        return postgres_damage.rows_of(campaign.out)
    with contextlib.closing(sqlite3.connect(campaign.out / "ledger.db")) as connection:
        return list(connection.iterdump())


def tamper(campaign: ProgramCampaign, statement: str, *values: object) -> None:
    """Change rows behind the ledger's back; `%s` stands for a value."""
    if not campaign.ledger:
        campaign.tamper(statement.replace("%s", "?"), values)
        return
    with postgres_damage.unguarded(campaign.out) as session:
        assert session.execute(statement.encode(), values).rowcount > 0


def lease_one(campaign: ProgramCampaign, data: bytes) -> Lease:
    """Let an epoch admit an input, lease it, and be lost."""
    with campaign.owned() as opened:
        opened.ledger.open_epoch(epoch_request())
        source = opened.ledger.register_source("seeds", "/before", "test")
        entry = admission_of(data, "/before/x", opened.generation)
        opened.ledger.run([Admit(source, (entry,))])
        (claimed,) = opened.ledger.run([Claim(coordinator=0, limit=1)]).answers
        assert isinstance(claimed, Claimed)
        (lease,) = claimed.leases
        return lease


# ---- E3, E4 -------------------------------------------------------------------------------------


@pytest.mark.alone
@pytest.mark.guarantee("Q4")
def test_two_coordinators_measure_one_idle_window(share: Share, anywhere: str) -> None:
    """E3."""
    campaign = share("same", {"one": b"1", "two": b"2"})
    campaign.ledger = anywhere
    run(campaign.job(advanced=Advanced(idle_window_s=1.0)))
    status = campaign.status()
    assert_at_rest(status)
    assert (status.corpus, status.total.executed, status.total.generated) == (3, 3, 3)
    assert status.total.unique_children == 1
    assert acks(status) == [(3, 3), (3, 3)]
    assert status.idle_window_s == pytest.approx(1.0, abs=0.05)


@pytest.mark.guarantee("A1")
@pytest.mark.guarantee("C9")
@pytest.mark.guarantee("Q4")
def test_damaged_bytes_end_the_job_before_anybody_executes_them(
    share: Share, anywhere: str
) -> None:
    """E4, in the ledger: wrong bytes under a valid digest."""
    campaign = share("none", {})
    campaign.ledger = anywhere
    lease = lease_one(campaign, b"original")
    tamper(campaign, "UPDATE inputs SET data = %s", b"exchanged")
    before = rows_of(campaign)
    job = campaign.job(stop=Stop(max_time_s=10.0))
    run(job, 70)  # and not the time limit, which would be 0
    story = job.story.read_text()
    assert input_id_of(lease.data) in story
    assert input_id_of(b"exchanged") in story
    assert story.count("3/3 processes acknowledged the end") == 1, story
    assert "next epoch" not in story
    assert campaign.runs() == []
    with campaign.reader() as reader:
        status = reader.status()
    assert status.total.executed == 0
    assert status.states[WorkState.LEASED] == sum(status.states.values()) == 1
    assert rows_of(campaign) == before


@pytest.mark.guarantee("A1")
@pytest.mark.guarantee("C6")
def test_damaged_files_are_repaired_and_misnamed_seeds_refused(share: Share, anywhere: str) -> None:
    """E4, in `corpus/` and under a false digest name."""
    false_name = input_id_of(b"another")
    campaign = share("two", {"seed": b"seed", false_name: b"this"})
    campaign.ledger = anywhere
    job = campaign.job(env={"SYMFLEET_CRASH": "coordinator.before_mark:1:kill"})
    job.start()
    until("the root has died", lambda: "the job died" in job.story.read_text(), 60)
    (launcher,) = job.find(Role.LAUNCHER)
    assert job.kill(launcher)
    job.assert_nothing_left()
    (path,) = (campaign.out / "corpus").rglob(input_id_of(b"seed"))
    path.write_bytes(b"damaged")
    run(campaign.job())
    status = campaign.status(disturbed=["projection_repaired"])
    assert_at_rest(status)
    assert status.faults_total["projection_repaired"] == {"": 1}
    assert campaign.corpus_files() == {input_id_of(data): data for data in (b"seed", b"A", b"B")}
    (set_aside,) = (campaign.out / "lost+found").iterdir()
    assert set_aside.read_bytes() == b"damaged"
    assert input_id_of(b"this") not in campaign.runs()
    # Each epoch names it once: the first one died before or after it was counted.
    assert status.total.skipped_inputs.get("misnamed", 0) in (1, 2)


# ---- E5 -----------------------------------------------------------------------------------------


def set_time(campaign: ProgramCampaign, value: float | None, epoch: int = 1) -> None:
    """Let an epoch have been opened at some time or other."""
    if campaign.ledger:
        with postgres_damage.unguarded(campaign.out, ("epochs", "opened_wall")) as session:
            done = session.execute(
                "UPDATE epochs SET opened_wall = %s WHERE epoch = %s", (value, epoch)
            )
            assert done.rowcount == 1
        return
    path = campaign.out / "ledger.db"
    with ledger_damage.unguarded(path, nullable="opened_wall REAL") as connection:
        changed = connection.execute(
            "UPDATE epochs SET opened_wall = ? WHERE epoch = ?", (value, epoch)
        )
        assert changed.rowcount == 1


@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("L4")
@pytest.mark.guarantee("L5")
@pytest.mark.guarantee("L6")
@pytest.mark.parametrize("opened", [4102444800.0, -1.0, None], ids=["2100", "negative", "NULL"])
def test_a_lease_of_an_older_epoch_is_taken_over_at_once_whatever_its_time(
    share: Share, anywhere: str, opened: float | None
) -> None:
    """E5: neither waited for nor believed."""
    campaign = share("none", {})
    campaign.ledger = anywhere
    lease = lease_one(campaign, b"leased")
    set_time(campaign, opened)
    run(campaign.job())
    if opened is None:  # no launch stores that: the audit says so, and nothing depended on it
        with campaign.reader() as reader:
            found = [finding.detail for finding in reader.audit()]
        # A server stores none where its catalogue forbids it, which this test has forged.
        assert any("opened_wall" in detail for detail in found) is not bool(anywhere)
        set_time(campaign, 0.0)
    status = campaign.status()
    assert_at_rest(status)
    assert status.epoch is not None
    assert status.epoch.closed_wall is not None
    assert status.epoch.closed_wall - status.epoch.opened_wall < 5
    assert (status.epoch.reason, status.epoch.leases_recovered) == ("quiescent", 1)
    assert status.this_epoch.executed == 1
    assert acks(status) == [(3, 3), (3, 3)]
    assert campaign.runs() == [input_id_of(b"leased")]
    with campaign.owned() as again:
        again.ledger.open_epoch(epoch_request())
        (row,) = again.ledger.decisions()
        assert token_of(decode_manifest(row.manifest)).fence > lease.token.fence
        before = rows_of(campaign)
        late = decision(lease, keep=Keep.ALL)
        assert again.ledger.run([late]).answers == (Decided("stale"),)
        assert rows_of(campaign) == before


# ---- E6 -----------------------------------------------------------------------------------------


@pytest.mark.guarantee("C5")
@pytest.mark.guarantee("C6")
@pytest.mark.guarantee("C7")
def test_half_a_publication_is_finished_by_two_coordinators(share: Share, anywhere: str) -> None:
    """E6: killed after the decision and the first of two published files."""
    campaign = share("two", {"seed": b"seed"}, coordinators=1, slots=2)
    campaign.ledger = anywhere
    campaign.seconds = 0.5
    job = campaign.job(env={"SYMFLEET_CRASH": "publish.written:2:stop"})
    job.start()
    until("two files are there", lambda: len(campaign.corpus_files()) == 2, 60)
    (launcher,) = job.find(Role.LAUNCHER)
    assert job.kill(launcher)
    job.assert_nothing_left()
    assert set(campaign.corpus_files().values()) == {b"seed", b"A"}
    assert campaign.decisions() == 1
    campaign.coordinators, campaign.slots = 2, 6
    run(campaign.job())
    status = campaign.status()
    assert_at_rest(status)
    assert (status.this_epoch.executed, status.total.executed) == (2, 3)
    assert status.total.generated == 2
    assert status.faults_this_epoch["redone_decisions"] == {"": 1}
    assert campaign.runs().count(input_id_of(b"seed")) == 1, "the parent is not run again"
    assert campaign.corpus_files() == {input_id_of(data): data for data in (b"seed", b"A", b"B")}
    assert acks(status) == [(3, 3), (3, 3)]


# ---- E7 -----------------------------------------------------------------------------------------


def forge(campaign: ProgramCampaign, row: DecisionRow, kind: str) -> None:
    """Damage a decision on a server; whoever forges a manifest hashes the chain again."""
    nullable = ("decisions", "manifest") if kind == "NULL" else None
    with postgres_damage.unguarded(campaign.out, nullable) as session:
        match kind:
            case "NULL":
                done = session.execute(
                    "UPDATE decisions SET manifest = NULL WHERE decision = %s", (row.number,)
                )
                assert done.rowcount == 1
            case "missing object row":
                digest = bytes.fromhex(input_id_of(b"A"))
                done = session.execute("DELETE FROM inputs WHERE digest = %s", (digest,))
                assert done.rowcount == 1
            case _:
                value = -1 if kind == "generated" else 77
                changed = {**msgspec.msgpack.decode(row.manifest), kind: value}
                postgres_damage.replace_manifest(
                    campaign.out, session, row.number, msgspec.msgpack.encode(changed)
                )


@pytest.mark.guarantee("C3")
@pytest.mark.guarantee("C4")
@pytest.mark.guarantee("C9")
@pytest.mark.guarantee("Q4")
@pytest.mark.parametrize("kind", ["NULL", "missing object row", "fence", "extra", "generated"])
def test_a_bad_manifest_on_a_server_ends_the_job_and_is_never_read_as_no_work(
    share: Share, postgres: Any, kind: str
) -> None:
    """E7, with PostgreSQL and two coordinators: all has been decided, nothing is published."""
    campaign = share("two", {"seed": b"seed"}, coordinators=1, slots=1)
    campaign.ledger = postgres.url
    run(campaign.job(stop=Stop(max_executions=1)))
    runs = campaign.runs()
    tamper(campaign, "UPDATE sinks SET published_upto = 0")
    with campaign.reader() as reader:
        row = next(iter(reader.decisions()))
    forge(campaign, row, kind)
    before = rows_of(campaign)
    campaign.coordinators, campaign.slots = 2, 6
    job = campaign.job()
    run(job, 70)
    story = job.story.read_text()
    assert "decision 1" in story, story
    assert kind != "missing object row" or input_id_of(b"A") in story, story
    assert story.count("3/3 processes acknowledged the end") == 1, story
    assert "next epoch" not in story, "damage is not started again"
    assert campaign.runs() == runs, "nothing was executed"
    assert rows_of(campaign) == before, "the ledger keeps every row"


# ---- E8 -----------------------------------------------------------------------------------------

ROUNDS, WRITERS = 100, 4


@pytest.mark.guarantee("C2")
@pytest.mark.guarantee("C5")
@pytest.mark.guarantee("C6")
@pytest.mark.guarantee("L2")
def test_of_many_that_decide_and_publish_the_same_at_once_exactly_one_is_counted(
    tmp_path: Path, anywhere: str
) -> None:
    """E8, and several redoers of one decision: see tests/programs/redo.py."""
    command = mpirun_command(find_mpirun(os.defpath), WRITERS, tmp_path, Path("unused"))
    launch = command[: command.index(sys.executable)]
    done = subprocess.run(
        [*launch, sys.executable, str(PROGRAMS / "redo.py"), str(tmp_path), str(ROUNDS), anywhere],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
        env=inherited_environment(),
    )
    assert done.returncode == 0, done.stderr.decode()
    told = json.loads(done.stdout)
    assert told["decided"] == {"completed": ROUNDS, "already": ROUNDS * (WRITERS - 1)}
    assert told["each_once"], "one number a round, the same for all, without a gap"
    assert told["marked"] == {"completed": ROUNDS, "already": ROUNDS * (WRITERS - 1)}
    assert told["wrong_files"] == []
    assert told["repaired"] >= ROUNDS // 4, "files that were gone or wrong were put right"
    assert (told["executed"], told["generated"]) == (ROUNDS, ROUNDS)
    assert told["findings"] == []


# ---- E10 ----------------------------------------------------------------------------------------

_IN_CLOSE_NOWRITE = 0x10


class Reads:
    """Tells when anybody has read a file to its end: inotify, which the standard library lacks."""

    def __init__(self, path: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._fd = libc.inotify_init1(os.O_CLOEXEC)
        assert self._fd >= 0
        watch = libc.inotify_add_watch(self._fd, os.fsencode(path), _IN_CLOSE_NOWRITE)
        assert watch >= 0, os.strerror(ctypes.get_errno())

    def wait(self, within_s: float = 30.0) -> None:
        ready, _, _ = select.select([self._fd], [], [], within_s)
        assert ready, "nobody has read it"

    def close(self) -> None:
        os.close(self._fd)


@pytest.fixture
def sources(
    share: Share, anywhere: str
) -> tuple[ProgramCampaign, Callable[..., Job], dict[str, Path]]:
    """A campaign whose root and whose other coordinator have a source each."""
    campaign = share("none", {"early": b"early"})
    campaign.ledger = anywhere
    folders = {"root": campaign.seeds, "peer": campaign.folder / "theirs"}
    folders["peer"].mkdir()
    (folders["peer"] / "early too").write_bytes(b"early too")

    def job(**settings: Any) -> Job:
        made = campaign.job(advanced=Advanced(**settings))
        target = dataclasses.replace(
            made.config.target, seed_paths=tuple(str(folder) for folder in folders.values())
        )
        made.config = dataclasses.replace(made.config, target=target)
        return made

    return campaign, job, folders


LATE = b"late"
OWNERS = ["root", "peer"]


def drop(campaign: ProgramCampaign, folder: Path) -> None:
    """Put a seed into a source, whole from its first instant."""
    outside = campaign.folder / "outside"
    outside.write_bytes(LATE)
    outside.rename(folder / "late")


def notes(campaign: ProgramCampaign, number: int = 0) -> list[dict[str, Any]]:
    path = campaign.out / "logs" / f"coordinator-{number}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def is_idle(campaign: ProgramCampaign) -> bool:
    with campaign.reader() as reader:
        return reader.status().total.executed == 2


@pytest.mark.guarantee("Q1")
@pytest.mark.guarantee("Q2")
@pytest.mark.parametrize("owner", OWNERS)
def test_a_seed_that_comes_within_the_idle_window_vetoes_the_end(
    sources: tuple[ProgramCampaign, Callable[..., Job], dict[str, Path]], owner: str
) -> None:
    """E10, between the root's idle and PREPARE: nothing but PREPARE itself looks again in time."""
    campaign, make_job, folders = sources
    window_s = 2.0
    job = make_job(idle_window_s=window_s, rescan_s=3600.0)
    job.start()
    until("the first epoch is open", lambda: campaign.epochs() == 1, 60)
    until("all is decided", lambda: is_idle(campaign), 60)
    dropped_at = time.time()
    drop(campaign, folders[owner])
    assert job.wait() == 0, job.story.read_text()
    status = campaign.status()
    assert_at_rest(status)
    assert status.total.executed == 3
    assert input_id_of(LATE) in campaign.runs()
    voids = [note["why"] for note in notes(campaign) if note["event"] == "vote_void"]
    assert len(voids) == 1, voids
    assert status.epoch is not None
    assert status.epoch.closed_wall is not None
    assert status.epoch.closed_wall - dropped_at > window_s, "the window began anew"
    assert status.idle_window_s == pytest.approx(window_s, abs=0.3)
    assert (status.epoch.reason, status.epochs) == ("quiescent", 1)
    assert acks(status) == [(3, 3), (3, 3)]


@pytest.mark.guarantee("Q3")
@pytest.mark.guarantee("A3")
@pytest.mark.parametrize("owner", OWNERS)
def test_a_seed_that_comes_after_the_freeze_is_the_next_epochs_first_work(
    sources: tuple[ProgramCampaign, Callable[..., Job], dict[str, Path]], owner: str
) -> None:
    """E10, after the freeze: a worker that does not acknowledge yet keeps its coordinator scanning
    when the ledger has already committed quiescence."""
    campaign, make_job, folders = sources
    job = make_job(idle_window_s=2.0, rescan_s=0.1)
    job.start()
    until("the first epoch is open", lambda: campaign.epochs() == 1, 60)
    until("all is decided", lambda: is_idle(campaign), 60)
    workers = job.find(Role.WORKER)
    assert len(workers) == 2
    for worker in workers:
        assert job.kill(worker, signal.SIGSTOP)
    until("quiescence is committed", lambda: is_frozen(campaign), 60)
    outside = campaign.folder / "outside"
    outside.write_bytes(LATE)
    reads = Reads(outside)
    outside.rename(folders[owner] / "late")
    reads.wait()
    reads.close()
    for worker in workers:
        assert job.kill(worker, signal.SIGCONT)
    assert job.wait() == 0, job.story.read_text()
    status = campaign.status()
    assert_at_rest(status)
    assert (status.total.executed, status.corpus) == (2, 2)
    assert status.epoch is not None
    assert status.epoch.reason == "quiescent"
    assert acks(status) == [(3, 3), (3, 3)]
    assert input_id_of(LATE) not in campaign.runs()
    run(make_job(idle_window_s=0.1))
    status = campaign.status()
    assert_at_rest(status)
    assert (status.epochs, status.this_epoch.executed, status.total.executed) == (2, 1, 3)
    assert campaign.runs()[2:] == [input_id_of(LATE)]


def is_frozen(campaign: ProgramCampaign) -> bool:
    """Whether the ledger takes no new work in this epoch."""
    if campaign.ledger:
        with postgres_damage.unguarded(campaign.out) as session:
            return session.execute("SELECT quiescent FROM epochs").fetchall() == [(1,)]
    with contextlib.closing(sqlite3.connect(campaign.out / "ledger.db")) as connection:
        return connection.execute("SELECT quiescent FROM epochs").fetchall() == [(1,)]


# ---- E21 ----------------------------------------------------------------------------------------

OTHER = str(PROTOCOL_VERSION + 1)


@pytest.mark.parametrize(
    ("what", "value", "said"),
    [
        ("protocol", OTHER, f"version {OTHER} does not belong to version {PROTOCOL_VERSION}"),
        ("symfleet", "9.9", f"symfleet 9.9 does not belong to symfleet {symfleet.__version__}"),
    ],
)
@pytest.mark.guarantee("D8")
def test_a_worker_that_speaks_another_version_is_refused_at_hello_and_nobody_else_minds(
    share: Share, anywhere: str, what: str, value: str, said: str
) -> None:
    """E21, late: after the roll call, when the epoch is open."""
    campaign = share("same", TWELVE)
    campaign.ledger = anywhere
    stranger: Sequence[str] = (str(PROGRAMS / "late_version.py"), what, value)
    verdict = join(campaign, (3, OURS), (1, stranger), options=["--shutdown-grace", "2s"])
    assert verdict.exit_code == ExitCode.FINISHED_WITH_FAULTS
    status = campaign.status(disturbed=["quarantined_frames"])
    assert_at_rest(status)
    assert (status.total.executed, status.total.unique_children, status.corpus) == (13, 1, 13)
    assert len(campaign.runs()) == 13
    refused = [
        note["why"]
        for number in (0, 1)
        for note in notes(campaign, number)
        if note["event"] == "worker_refused"
    ]
    assert refused
    assert set(refused) == {said}
    assert set(status.faults_total["quarantined_frames"]) == {"version"}
    assert acks(status)[0] == (3, 3)
