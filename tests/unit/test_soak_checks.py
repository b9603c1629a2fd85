"""Each check of the soak reports what it is there for: a violation is planted, and told."""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from symfleet.ledger.contract import WorkRow
from symfleet.testing import jobs
from symfleet.testing.jobs import Member, Role, until
from symfleet.testing.kills.loop import Facts
from symfleet.testing.soak.faults import Act, Card, Pack, weights
from symfleet.testing.soak.graph import RunLog, input_of
from symfleet.testing.soak.memory import growing, memory_of
from symfleet.testing.soak.oracle import (
    DecidedOnce,
    Harm,
    differences,
    harm_of,
    too_many_losses,
    unexplained_faults,
)
from symfleet.testing.soak.slope import percent_an_hour, slope, weighted_median
from symfleet.testing.soak.strikes import Striker
from symfleet.testing.soak.watch import Life, Sample, Watch
from symfleet.types import WorkId, WorkState


class FakeJob:
    """Its launcher is this process; its members are what the test says."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.pid = os.getpid()
        self.is_running = True
        self.those: list[Member] = []
        self.signals: list[tuple[int, int]] = []

    def kill(self, member: Member, signum: int = signal.SIGKILL) -> bool:
        self.signals.append((member.pid, signum))
        return True

    def members(self) -> list[Member]:
        return self.those


class Hands:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def job(tmp_path: Path) -> FakeJob:
    (tmp_path / "tmp").mkdir()
    return FakeJob(tmp_path / "out")


@pytest.fixture
def hands() -> Hands:
    return Hands()


# ---- the pack -----------------------------------------------------------------------------------


def any_card(_: Card) -> bool:
    return True


def test_every_kind_of_fault_comes_up_in_each_pack() -> None:
    all_of_them = weights(cheap=2, coordinators=True, server=True, root_lives=False)
    pack = Pack(all_of_them, random.Random(1))
    for _ in range(2):
        seen: Counter[Card] = Counter()
        for _ in range(pack.size):
            card = pack.top(any_card)
            assert card is not None
            pack.take(card)
            seen[card] += 1
        assert seen == all_of_them
    assert {card.role for card in all_of_them} == set(Role)
    assert {card.act for card in all_of_them} == set(Act)


def test_a_card_that_met_nobody_comes_again_and_sparing_passes_over_what_loses_items() -> None:
    pack = Pack(
        weights(cheap=1, coordinators=False, server=False, root_lives=True), random.Random(3)
    )
    assert pack.top(any_card) == pack.top(any_card)
    while (card := pack.top(lambda card: not card.loses_items)) is not None:
        assert not card.loses_items
        pack.take(card)
    left = pack.top(any_card)
    assert left is not None
    assert left.loses_items


def test_a_root_that_is_to_grow_old_is_not_ended_by_any_fault() -> None:
    chosen = weights(cheap=1, coordinators=True, server=False, root_lives=True)
    ended = {card for card in chosen if card.act is not Act.STOP}
    assert {card.role for card in ended} == {Role.TARGET, Role.EXECUTOR}


def test_a_fault_waits_for_its_victim_and_lets_others_pass_after_a_while(
    job: FakeJob, hands: Hands
) -> None:
    cards = {Card(Act.KILL, Role.COORDINATOR): 1, Card(Act.STOP, Role.WORKER): 1}
    seed = next(
        seed
        for seed in itertools.count()
        if Pack(cards, random.Random(seed)).top(any_card) == Card(Act.KILL, Role.COORDINATOR)
    )
    striker = Striker(random.Random(1), Pack(cards, random.Random(seed)), clock=hands)
    striker.started(job)
    job.those = [Member(1, Role.WORKER, 1)]
    assert striker.strike(sparing=False) is None
    assert job.signals == []
    hands.now = 6.0
    struck = striker.strike(sparing=False)
    assert struck is not None
    assert job.signals == [(1, signal.SIGSTOP)]
    assert striker.strike(sparing=False) is None, "the first one waits again"
    striker.continue_due(everyone=True)
    assert job.signals[1:] == [(1, signal.SIGCONT)]


# ---- the oracle ---------------------------------------------------------------------------------


def runs_of(path: Path, nodes: Sequence[int]) -> RunLog:
    path.write_text("".join(f"{node}\n" for node in nodes))
    log = RunLog(path)
    log.read()
    return log


def test_a_run_after_its_decision_is_told_and_one_before_is_not(tmp_path: Path) -> None:
    once = DecidedOnce(runs_of(tmp_path / "runs", [1, 2, 1]))
    once.note([input_of(1)])
    assert once.run_again() == []
    with (tmp_path / "runs").open("a") as log:
        log.write("2\n1\n")
    once.note([input_of(2)])
    (told,) = once.run_again()
    assert told.startswith(input_of(1))


def test_a_line_is_read_when_it_is_whole(tmp_path: Path) -> None:
    log = runs_of(tmp_path / "runs", [1])
    with (tmp_path / "runs").open("a") as stream:
        stream.write("2")
    assert log.read() == 1
    with (tmp_path / "runs").open("a") as stream:
        stream.write("3\n")
    assert log.read() == 2
    assert input_of(23) in log.starts


SOUND = Facts(
    corpus=frozenset(input_of(node) for node in range(3)),
    files=frozenset(input_of(node) for node in range(3)),
    manifests=frozenset((f"work {node}", f"digest {node}") for node in range(3)),
    counters={"decided": 3, "generated": 5},
    poisoned=0,
)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, ""),
        ({"corpus": SOUND.corpus - {input_of(2)}}, "lost: "),
        ({"corpus": SOUND.corpus | {input_of(9)}}, "too much: "),
        ({"files": SOUND.files - {input_of(1)}}, "files: "),
        ({"manifests": SOUND.manifests - {("work 0", "digest 0")}}, "other manifests: "),
        ({"counters": {"decided": 4, "generated": 5}}, "counters "),
        ({"poisoned": 1}, "1 poisoned"),
    ],
)
def test_a_difference_from_the_undisturbed_campaign_is_told(
    tmp_path: Path, change: dict[str, object], told: str
) -> None:
    facts = msgspec.structs.replace(SOUND, **change)
    runs = runs_of(tmp_path / "runs", [0, 1, 2])
    found = differences(facts, SOUND, runs, len(facts.manifests))
    assert [what[: len(told)] for what in found] == ([told] if told else [])


def test_a_decision_that_is_there_twice_and_an_item_that_never_ran_are_told(tmp_path: Path) -> None:
    twice = differences(SOUND, SOUND, runs_of(tmp_path / "runs", [0, 1, 2]), 4)
    assert twice == ["4 decisions of 3 items"]
    never = differences(SOUND, SOUND, runs_of(tmp_path / "fewer", [0, 1]), 3)
    assert never == [f"never run: {input_of(2)}"]


def test_harm_is_counted_in_items() -> None:
    assert harm_of(SOUND, SOUND, 3, 0) == Harm(lost=0, counted_twice=0, run_again=0)
    fewer = msgspec.structs.replace(SOUND, manifests=SOUND.manifests - {("work 0", "digest 0")})
    assert harm_of(fewer, SOUND, 2, 1) == Harm(lost=1, counted_twice=1, run_again=1), (
        "its counter says three"
    )
    assert harm_of(SOUND, SOUND, 5, 0).counted_twice == 2


def test_a_fault_counter_beyond_what_was_injected_is_told() -> None:
    counted = {"silence_timeouts": {"": 2}, "blames": {"": 1}}
    found = unexplained_faults(counted, Counter(silence_timeouts=2))
    assert [what.split(":")[0] for what in found] == ["fault counter blames"]


def test_more_losses_than_the_faults_account_for_are_told() -> None:
    rows = [WorkRow(WorkId("w"), input_of(1), WorkState.PENDING, 3, 0, 2, "")] * 2
    chosen = weights(cheap=1, coordinators=True, server=True, root_lives=False)
    at_most = sum(card.losses_max(2) for card in chosen)
    assert at_most == 4, "a target, an executor, a worker of two slots"
    assert too_many_losses(rows, at_most) == []
    assert too_many_losses(rows, at_most - 1) == ["4 losses, of which 3 are accounted for"]


# ---- processes ----------------------------------------------------------------------------------


def member_of(pid: int, role: Role) -> Member:
    status = jobs.status_of(pid)
    assert status is not None
    return Member(pid, role, status[1])


@contextlib.contextmanager
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has come up: one that has just been made may have no memory to measure."""
    program = "print(flush=True); input()"
    child = subprocess.Popen(
        [sys.executable, "-S", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdout.readline()
    try:
        yield child
    finally:
        child.stdin.close()
        child.stdout.close()
        child.kill()
        child.wait()


@pytest.fixture
def watch(job: FakeJob, hands: Hands, tmp_path: Path) -> Watch:
    return Watch(job, tmp_path / "tmp", left_s=10.0, clock=hands)


def test_a_worker_that_outlives_its_mpirun_is_told_once(
    job: FakeJob, hands: Hands, watch: Watch
) -> None:
    with sleeper() as mpirun, sleeper() as worker:
        job.those = [member_of(mpirun.pid, Role.MPIRUN), member_of(worker.pid, Role.WORKER)]
        watch.look(0)
        job.those = []
        mpirun.kill()
        mpirun.wait()
        for now in (1.0, 9.0, 12.0, 30.0):
            hands.now = now
            watch.look(0)
            assert len(watch.violations) == (now > 11.0), now
    assert f"worker (pid {worker.pid}) of a dead epoch" in watch.violations[0]


def test_members_of_a_live_epoch_are_no_leftovers_however_old(
    job: FakeJob, hands: Hands, watch: Watch
) -> None:
    with sleeper() as mpirun, sleeper() as worker:
        job.those = [member_of(mpirun.pid, Role.MPIRUN), member_of(worker.pid, Role.WORKER)]
        for now in (0.0, 1000.0):
            hands.now = now
            watch.look(0)
    assert watch.violations == []
    assert {life.member.role for life in watch.lives} == {Role.MPIRUN, Role.WORKER}
    assert all(one.rss_kib > 0 and one.files > 0 for life in watch.lives for one in life.samples)


def test_a_zombie_that_stays_is_told(job: FakeJob, hands: Hands, watch: Watch) -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", ""])
    try:
        until("it ends", lambda: (jobs.status_of(child.pid) or (0, 0, ""))[2] == "Z", 30)
        watch.look(0)
        assert watch.violations == []
        hands.now = 11.0
        watch.look(0)
    finally:
        child.wait()
    assert any(f"zombie {child.pid}" in what for what in watch.violations)
    assert watch.peaks.zombies >= 1


def test_what_is_left_in_shared_memory_and_temporary_folders_is_told(
    job: FakeJob, watch: Watch, tmp_path: Path
) -> None:
    name = Path("/dev/shm") / f"symfleet-test-{os.getpid()}"
    job.those = [member_of(os.getpid(), Role.ROOT)]
    name.write_bytes(b"x")
    try:
        with name.open("r+b") as stream, mmap.mmap(stream.fileno(), 1):
            watch.look(0)
        (tmp_path / "tmp" / "litter").touch()
        (job.out / ".run").mkdir(parents=True)
        found = watch.finish()
    finally:
        name.unlink()
    assert f"left in shared memory: {name}" in found
    assert "left in TMPDIR: litter" in found
    assert "left: .run" in found


def test_a_log_that_grows_and_grows_is_told(job: FakeJob, watch: Watch) -> None:
    job.out.mkdir()
    with (job.out / "ledger.db-wal").open("wb") as log:
        log.truncate(30 << 20)
        watch.look(0)
        assert watch.finish() == []
        log.truncate(65 << 20)
        watch.look(0)
    assert watch.finish() == ["the ledger's log grew to 66560 KiB"]


# ---- memory -------------------------------------------------------------------------------------


def test_a_slope_is_not_bent_by_odd_samples() -> None:
    samples = [(float(x), 3.0 * x + 7) for x in range(100)]
    samples[10] = (10.0, 1e9)
    samples[90] = (90.0, -1e9)
    found = slope(samples)
    assert found is not None
    assert found.value == pytest.approx(3.0)
    assert found.low <= 3.0 <= found.high
    assert slope([(1.0, 1.0)]) is None
    hourly = percent_an_hour([(0.0, 100.0), (3600.0, 102.0)])
    assert hourly is not None
    assert hourly.value == pytest.approx(2 / 1.01)
    assert weighted_median([(1.0, 1.0), (2.0, 5.0), (9.0, 1.0)]) == 2.0
    assert weighted_median([]) is None


def test_the_interval_of_noise_holds_its_true_slope() -> None:
    chance = random.Random(5)
    misses = 0
    for _ in range(200):
        found = slope([(float(x), 0.1 * x + chance.gauss(0, 20)) for x in range(40)])
        assert found is not None
        misses += not found.low <= 0.1 <= found.high
    assert misses <= 24


def life(role: Role, first_s: float, seconds: int, kib: int, kib_an_hour: float) -> Life:
    made = Life(Member(1, role, 1), 1, first_s)
    for age in range(seconds):
        size = round(kib + kib_an_hour * age / 3600)
        made.samples.append(Sample(first_s + age, float(age), 10 * age, size, 20))
    return made


def test_a_root_that_grows_is_told_and_one_that_does_not_is_not() -> None:
    assert growing(memory_of([life(Role.ROOT, 0, 700, 50_000, 0)])) == []
    (told,) = growing(memory_of([life(Role.ROOT, 0, 700, 50_000, 2500)]))
    assert told.startswith("a root grows by")


def test_files_that_become_more_are_told() -> None:
    one = life(Role.WORKER, 0, 700, 50_000, 0)
    one.samples = [
        replace(sample, files=20 + place // 100) for place, sample in enumerate(one.samples)
    ]
    (told,) = growing(memory_of([one]))
    assert told.startswith("a worker opens")


def test_roots_that_start_larger_and_larger_are_told() -> None:
    lives = [life(Role.ROOT, 10.0 * number, 9, 50_000 + 40 * number, 0) for number in range(60)]
    (told,) = growing(memory_of(lives))
    assert told.startswith("each root starts larger")
    assert growing(memory_of([replace(one, first_s=0.0) for one in lives[:20]])) == []
