"""Many coordinators on real MPI: on SQLite and on PostgreSQL through the root, and on PostgreSQL
over connections of their own.

Programs: `none` has no child, `same` always the one child CHILD, `tree` a finite graph.
"""

from __future__ import annotations

import dataclasses
import itertools
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import symfleet
from symfleet.config.model import Advanced, Stop
from symfleet.errors import ExitCode
from symfleet.ledger.contract import LedgerStatus
from symfleet.runtime.stores import open_reader
from symfleet.testing.jobs import Job, Role, until
from symfleet.testing.joined import OURS, join
from symfleet.testing.kills.loop import Facts, collect_facts
from symfleet.testing.own_engine import compile_target, exhaustive_job
from symfleet.testing.programs import ProgramCampaign, well_status
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.types import WorkState, input_id_of

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "exhaustible"
TWELVE = {f"seed{n:02}": b"%d" % n for n in range(12)}
Make = Callable[..., ProgramCampaign]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[ProgramCampaign] = []

    def campaign(
        program: str,
        seeds: dict[str, bytes],
        *,
        coordinators: int = 2,
        slots: int = 6,
        seconds: float = 0.1,
        env: tuple[str, ...] = (),
    ) -> ProgramCampaign:
        folder = tmp_path / str(len(made))
        made.append(
            ProgramCampaign(
                folder, PROGRAMS / f"{program}.py", seeds, slots=slots, seconds=seconds, env=env
            )
        )
        made[-1].coordinators = coordinators
        return made[-1]

    yield campaign
    for one in made:
        one.close()
        one.assert_tidy()


@dataclasses.dataclass(frozen=True)
class Store:
    """Where a campaign's ledger is, and how coordinators get there."""

    ledger: str
    own_connections: bool

    def use(self, campaign: ProgramCampaign) -> None:
        campaign.ledger, campaign.own_connections = self.ledger, self.own_connections


@pytest.fixture(params=["sqlite", "postgres", "connections"])
def store(request: pytest.FixtureRequest) -> Store:
    if request.param == "sqlite":
        return Store("", False)
    cluster: Cluster = request.getfixturevalue("postgres")
    return Store(cluster.url, request.param == "connections")


def run(job: Job, code: int = 0, within_s: float = 60.0) -> None:
    assert job.run(within_s) == code, job.story.read_text()


def assert_at_rest(status: LedgerStatus) -> None:
    """Nothing is open, and what the coordinators did adds up."""
    assert {state: n for state, n in status.states.items() if n} == {
        WorkState.DONE: status.decisions
    }
    assert status.unpublished == 0
    assert sum(one.executed for one in status.coordinators) == status.this_epoch.executed


def acks(status: LedgerStatus) -> list[tuple[int, int]]:
    return [(one.acknowledged, one.workers) for one in status.coordinators]


@pytest.mark.guarantee("Q1")
@pytest.mark.guarantee("Q4")
@pytest.mark.guarantee("C7")
def test_e1_two_coordinators_share_twelve_seeds(make: Make, store: Store) -> None:
    # Long enough that whichever group starts first does not end before the other is there.
    campaign = make("none", TWELVE, seconds=0.3)
    store.use(campaign)
    run(campaign.job())
    status = campaign.status()
    assert_at_rest(status)
    assert (status.total.executed, status.corpus) == (12, 12)
    assert all(one.executed >= 3 for one in status.coordinators), status.coordinators
    assert acks(status) == [(3, 3), (3, 3)]
    assert sorted(campaign.runs()) == sorted(input_id_of(data) for data in TWELVE.values())


@pytest.mark.guarantee("L1")
@pytest.mark.guarantee("C7")
def test_e2_a_child_that_all_find_is_executed_once(make: Make, store: Store) -> None:
    campaign = make("same", TWELVE)
    store.use(campaign)
    run(campaign.job())
    status = campaign.status()
    assert_at_rest(status)
    assert (status.total.executed, status.total.generated) == (13, 13)
    assert (status.total.unique_children, status.corpus) == (1, 13)
    assert len(campaign.runs()) == 13
    assert set(campaign.corpus_files()) == set(campaign.runs())


@pytest.mark.guarantee("A1")
@pytest.mark.guarantee("C9")
@pytest.mark.guarantee("Q4")
def test_e4_damage_that_any_coordinator_meets_ends_all_of_them_in_good_order(make: Make) -> None:
    campaign = make("none", {f"seed{n:02}": b"%d" % n for n in range(30)}, seconds=0.3)
    job = campaign.job(advanced=Advanced(prefetch=0))
    started(campaign, job)
    with campaign.reader() as reader:
        last = list(reader.corpus())[-1]
    campaign.tamper(
        "UPDATE inputs SET data = ? WHERE digest = ?", [b"exchanged", bytes.fromhex(last)]
    )
    assert job.wait() == 70, job.story.read_text()
    story = job.story.read_text()
    assert last in story
    assert "next epoch" not in story, "damage is not started again"
    assert last not in campaign.runs()
    with campaign.reader() as reader:
        status = reader.status()
    assert acks(status) == [(3, 3), (3, 3)]
    assert status.epoch is not None
    assert status.epoch.exit_code == 70
    assert status.states[WorkState.DONE] == status.decisions


def facts(campaign: ProgramCampaign) -> tuple[object, ...]:
    """Return what must not depend on who worked: sets, sums and decisions."""
    status = campaign.status()
    assert_at_rest(status)
    with campaign.reader() as reader:
        decided = sorted((row.work_id, row.manifest_digest) for row in reader.decisions())
    total = status.total
    counters = (total.executed, total.generated, total.unique_children, status.corpus)
    return decided, counters, campaign.corpus_files(), sorted(campaign.runs())


@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("Q4")
def test_any_number_of_coordinators_explores_what_one_worker_does(
    make: Make, postgres: Cluster
) -> None:
    seeds, env = {"root": b"0"}, ("NODES=40",)
    alone = make("tree", seeds, coordinators=1, slots=1, seconds=0.0, env=env)
    run(alone.job())
    expected = facts(alone)
    stores = (Store("", False), Store(postgres.url, False), Store(postgres.url, True))
    for coordinators, store in itertools.product((2, 3, 4), stores):
        many = make(
            "tree", seeds, coordinators=coordinators, slots=3 * coordinators, seconds=0.0, env=env
        )
        store.use(many)
        run(many.job())
        assert facts(many) == expected
        assert acks(many.status()) == [(3, 3)] * coordinators


def own_facts(job: Job) -> Facts:
    """Of a campaign of our own engine that must have ended well."""
    try:
        run(job)
    finally:
        job.end()
    status = well_status(job.out)
    assert_at_rest(status)
    assert all(acknowledged == workers > 0 for acknowledged, workers in acks(status))
    job.assert_nothing_left_of_others()
    with open_reader(job.out) as reader:
        return collect_facts(reader, job.out)


@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("Q4")
def test_coordinators_explore_the_exhaustible_example_as_one_worker_does(
    tmp_path: Path, postgres: Cluster
) -> None:
    target = tmp_path / "exhaustible"
    compile_target(EXAMPLE / "exhaustible.c", target)
    seeds = EXAMPLE / "seeds"
    expected = own_facts(exhaustive_job(tmp_path / "alone", target, seeds, slots=1))
    assert len(expected.corpus) >= 125
    cells = ((2, "", False), (3, postgres.url, False), (4, postgres.url, True))
    for coordinators, ledger, own in cells:
        job = exhaustive_job(
            tmp_path / str(coordinators),
            target,
            seeds,
            slots=3 * coordinators,
            coordinators=coordinators,
            ledger=ledger,
            own_connections=own,
        )
        assert own_facts(job) == expected


def started(campaign: ProgramCampaign, job: Job) -> None:
    job.start()
    campaign.wait_for_decision(job)


def assert_once(campaign: ProgramCampaign, seeds: dict[str, bytes]) -> LedgerStatus:
    """Everything was decided, and nothing twice."""
    status = campaign.status()
    assert_at_rest(status)
    assert status.total.executed == len(seeds)
    assert set(campaign.runs()) == {input_id_of(data) for data in seeds.values()}
    assert set(campaign.corpus_files()) == set(campaign.runs())
    return status


MANY = {f"seed{n:02}": b"%d" % n for n in range(48)}


@pytest.mark.guarantee("L6")
@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("Q4")
@pytest.mark.parametrize("store", ["sqlite", "postgres"], indirect=True)
def test_workers_of_a_killed_coordinator_are_adopted_in_the_same_epoch(
    make: Make, store: Store
) -> None:
    campaign = make("none", MANY, seconds=0.15)
    store.use(campaign)
    job = campaign.job()
    started(campaign, job)
    (victim,) = job.find(Role.COORDINATOR)
    assert job.kill(victim)
    assert job.wait() in (0, 2), job.story.read_text()
    status = assert_once(campaign, MANY)
    assert status.epochs == 1
    assert acks(status)[0] == (6, 6), "the root has all workers now"


@pytest.mark.guarantee("A3")
@pytest.mark.guarantee("C10")
def test_seeds_that_a_killed_coordinator_was_to_scan_are_scanned_by_the_root(make: Make) -> None:
    campaign = make("none", {f"own{n}": b"%d" % n for n in range(6)}, seconds=0.1)
    theirs = campaign.folder / "theirs"
    theirs.mkdir()
    for number in range(5000):  # empty ones, which take a while to be passed over
        (theirs / f"a{number}").touch()
    for number in range(100, 120):
        (theirs / f"b{number}").write_bytes(b"%d" % number)
    job = campaign.job()
    target = dataclasses.replace(
        job.config.target, seed_paths=(str(campaign.seeds), str(theirs), str(campaign.seeds))
    )
    job.config = dataclasses.replace(job.config, target=target)
    job.start()
    until("the epoch is open", lambda: campaign.epochs() > 0, 30)
    (victim,) = job.find(Role.COORDINATOR)
    assert job.kill(victim)
    assert job.wait() in (0, 2), job.story.read_text()
    seeds = {str(n): b"%d" % n for n in (*range(6), *range(100, 120))}
    assert assert_once(campaign, seeds).epochs == 1


@pytest.mark.guarantee("J6")
@pytest.mark.guarantee("Q4")
def test_a_killed_worker_of_a_coordinator_loses_nothing(make: Make) -> None:
    campaign = make("none", MANY, slots=8, seconds=0.15)
    job = campaign.job()
    job.config = dataclasses.replace(
        job.config, resources=dataclasses.replace(job.config.resources, slots_per_worker=1)
    )
    started(campaign, job)
    workers = job.find(Role.WORKER)
    assert len(workers) == 8
    assert job.kill(workers[-1])
    assert job.wait() == 2, job.story.read_text()
    status = assert_once(campaign, MANY)
    assert status.epochs == 1
    assert sum(n for n, _ in acks(status)) == 7
    assert sum(n for _, n in acks(status)) == 8
    assert len([name for one in status.coordinators for name in one.missing]) == 1


@pytest.mark.guarantee("L6")
def test_the_launcher_opens_the_next_epoch_when_the_root_is_killed(make: Make) -> None:
    campaign = make("none", MANY, seconds=0.1)
    job = campaign.job()
    started(campaign, job)
    (root,) = job.find(Role.ROOT)
    assert job.kill(root)
    assert job.wait() == 0, job.story.read_text()
    assert assert_once(campaign, MANY).epochs == 2


@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("C7")
def test_a_stopped_coordinator_is_given_up_and_changes_nothing_when_it_comes_back(
    make: Make,
) -> None:
    campaign = make("none", MANY, seconds=0.3)
    job = campaign.job(advanced=Advanced(idle_window_s=0.1, root_silence_s=2))
    started(campaign, job)
    (victim,) = job.find(Role.COORDINATOR)
    assert job.kill(victim, signal.SIGSTOP)
    log = campaign.out / "logs" / "coordinator-0.jsonl"
    until(
        "the root gives it up",
        lambda: "coordinator_lost" in (log.read_text() if log.exists() else ""),
        30,
    )
    assert job.kill(victim, signal.SIGCONT)
    until("it leaves", lambda: not job.find(Role.COORDINATOR), 10)
    assert job.wait() in (0, 2), job.story.read_text()
    assert assert_once(campaign, MANY).epochs == 1


def test_ranks_that_somebody_else_started_find_their_roles(make: Make) -> None:
    campaign = make("same", TWELVE, seconds=0.0)
    verdict = join(campaign, (4, OURS))
    assert (verdict.exit_code, verdict.reason) == (0, "quiescent")
    status = campaign.status()
    assert_at_rest(status)
    assert status.total.executed == 13
    assert acks(status) == [(3, 3), (3, 3)]


def test_e21_a_rank_of_another_version_is_refused_with_both_named(make: Make) -> None:
    campaign = make("same", TWELVE, seconds=0.0)
    theirs = [str(PROGRAMS / "other_version.py"), "9.9"]
    verdict = join(campaign, (3, OURS), (1, theirs))
    assert verdict.exit_code == ExitCode.HOST
    assert verdict.what == "a host has another symfleet"
    assert "rank 3" in verdict.where
    assert f"symfleet 9.9 there, {symfleet.__version__} at the root" in verdict.why
    assert (verdict.workers, verdict.missing) == (3, []), "all others were dismissed and said so"
    assert not (campaign.out / "ledger.db").exists()
    assert campaign.runs() == []


def test_stop_rules_count_what_all_coordinators_decide(make: Make) -> None:
    campaign = make("none", MANY, seconds=0.05)
    run(campaign.job(stop=Stop(max_executions=20)))
    status = campaign.status()
    assert 20 <= status.total.executed < len(MANY)
    assert status.epoch is not None
    assert status.epoch.reason == "max_executions"
    assert [n for n, _ in acks(status)] == [3, 3]
