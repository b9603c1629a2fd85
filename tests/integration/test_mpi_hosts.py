"""Campaigns over several hosts: namespaces with networks, file trees, names and processes of their
own. The output folder is on the first one only."""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import msgspec
import pytest

from symfleet.config.model import Advanced, CampaignConfig, Resources
from symfleet.ledger.contract import LedgerStatus
from symfleet.runtime.mpirun import find_mpirun
from symfleet.testing.hosts.namespaces import SSH, Host, Hosts, why_not
from symfleet.testing.jobs import Job, until
from symfleet.testing.kills.loop import Facts, collect_facts
from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.types import input_id_of

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
REACH = (*SSH, "-o", "ConnectTimeout=1")
SEEDS = {f"seed{n:02}": b"%d" % n for n in range(40)}
PATIENCE_S = 90.0


class Site:
    """Hosts, and one campaign whose output folder the first of them has."""

    def __init__(self, folder: Path, names: tuple[str, ...], server: Path | None = None) -> None:
        """`server`: the folder of a PostgreSQL server's socket, which all hosts reach."""
        self.campaign = ProgramCampaign(folder / "campaign", PROGRAMS / "none.py", SEEDS)
        shared = self.campaign.folder
        every = [shared] if server is None else [shared, server]
        self.hosts = Hosts(folder / "hosts", names, shared=every, read_only=[PROGRAMS])
        self.target = shared / "target"
        self.target.write_text("#!/bin/sh\n")
        self.target.chmod(0o755)

    def __enter__(self) -> Self:
        self.hosts.__enter__()
        for host in self.others:
            # What each host must have: the target. The log is this test's own.
            host.path(self.campaign.folder).mkdir(parents=True)
            host.own(self.campaign.folder)
            shutil.copy(self.target, host.path(self.target))
        return self

    def __exit__(self, *_: object) -> None:
        self.campaign.close()
        self.hosts.close()

    @property
    def here(self) -> Host:
        return self.hosts.all[0]

    @property
    def others(self) -> list[Host]:
        return self.hosts.all[1:]

    def job(
        self, program: str = "none", seconds: float = 0.0, advanced: Advanced | None = None
    ) -> Job:
        self.campaign.program = PROGRAMS / f"{program}.py"
        launcher = (*self.here.enter(), sys.executable, "-m", "symfleet.testing.launch")
        job = self.campaign.job(seconds=seconds, advanced=advanced, launcher=launcher)
        job.config = with_target(job.config, self.target)
        return job

    def use(self, *slots: int, coordinators: int | None = None, host_retry_s: float = 15) -> None:
        """Name the hosts, with their slots, in a hostfile."""
        hostfile = self.campaign.folder / "hostfile"
        lines = [f"{host.name} slots={n}" for host, n in zip(self.hosts.all, slots, strict=True)]
        hostfile.write_text("\n".join(lines))
        self.campaign.resources = Resources(
            hostfile=str(hostfile),
            ssh=REACH,
            coordinators=coordinators,
            host_retry_s=float(host_retry_s),
        )

    def runs(self, host: Host) -> list[str]:
        """Return the inputs that a host has executed, in order."""
        log = self.campaign.log if host is self.here else host.path(self.campaign.log)
        return log.read_text().split() if log.exists() else []

    def assert_nothing_left(self) -> None:
        """No process and no file stays behind on any host, whoever was killed."""
        for host in self.hosts.all:
            until(f"nothing runs on {host.name}", lambda h=host: h.processes() == [], 20)  # type: ignore[misc]
            assert host.files() == [], host.name
        self.campaign.assert_tidy()

    def facts(self) -> Facts:
        with self.campaign.reader() as reader:
            return collect_facts(reader, self.campaign.out)


def with_target(config: CampaignConfig, target: Path) -> CampaignConfig:
    return dataclasses.replace(
        config, target=dataclasses.replace(config.target, argv=(str(target),))
    )


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Callable[..., Site]]:
    made: list[Site] = []

    def make(*names: str, server: Path | None = None) -> Site:
        made.append(Site(tmp_path, names, server).__enter__())
        return made[-1]

    yield make
    for one in made:
        one.__exit__()


def assert_all_decided(site: Site, *disturbed: str) -> LedgerStatus:
    status = site.campaign.status(disturbed=disturbed)
    assert status.total.executed == len(SEEDS)
    ran = {run for host in site.hosts.all for run in site.runs(host)}
    assert ran == {input_id_of(data) for data in SEEDS.values()}
    return status


@pytest.mark.guarantee("Q4")
@pytest.mark.parametrize(
    ("hosts", "slots", "coordinators", "store"),
    [
        (2, 3, 2, "sqlite"),
        (2, 3, 2, "postgres"),
        *(
            pytest.param(*layout, marks=pytest.mark.long)
            for layout in (
                (2, 2, 1, "sqlite"),
                (2, 3, 2, "connections"),
                *(
                    (hosts, 12 // hosts, n, store)
                    for hosts in (2, 3)
                    for n in (3, 4)
                    for store in ("sqlite", "postgres", "connections")
                ),
            )
        ),
    ],
)
def test_hosts_find_together_what_one_worker_finds(
    site: Callable[..., Site],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    hosts: int,
    slots: int,
    coordinators: int,
    store: str,
) -> None:
    """`slots`: of each host."""
    server: Cluster | None = None
    if store != "sqlite":
        server = request.getfixturevalue("postgres")
    small = ["NODES=60"]
    tree = PROGRAMS / "tree.py"
    alone = ProgramCampaign(tmp_path / "alone", tree, {"seed": b"0"}, slots=1, env=small)
    names = ("alpha", "beta", "gamma")[:hosts]
    several = site(*names, server=None if server is None else server.folder)
    job = alone.job()
    job.config = with_target(job.config, several.target)
    assert job.run() == 0, job.story.read_text()
    with alone.reader() as reader:
        expected = collect_facts(reader, alone.out)

    for path in several.campaign.seeds.iterdir():
        path.unlink()
    (several.campaign.seeds / "seed").write_bytes(b"0")
    several.use(*[slots] * hosts, coordinators=coordinators)
    several.campaign.ledger = "" if server is None else server.url
    several.campaign.own_connections = store == "connections"
    several.campaign.env = tuple(small)
    job = several.job("tree", seconds=0.1)
    assert job.run(PATIENCE_S) == 0, job.story.read_text()
    assert several.facts() == expected
    status = several.campaign.status()
    assert status.epochs == 1
    assert [c.coordinator for c in status.coordinators] == list(range(coordinators))
    assert all(c.acknowledged == c.workers for c in status.coordinators)
    assert sum(c.workers for c in status.coordinators) == slots * hosts
    runs = [several.runs(host) for host in several.hosts.all]
    assert all(runs), "each host has executed something"
    assert sum(map(len, runs)) == expected.counters["decided"], "nothing was run twice"
    several.assert_nothing_left()


@pytest.mark.guarantee("L6")
def test_a_host_that_dies_is_done_without_and_comes_back(site: Callable[..., Site]) -> None:
    both = site("alpha", "beta")
    both.use(2, 2, host_retry_s=1)
    beta = both.others[0]
    job = both.job(seconds=0.5)
    job.start()
    until("beta has executed something", lambda: both.runs(beta) != [], PATIENCE_S)
    beta.shut_down()
    until(
        "the others go on without it",
        lambda: "going on without it" in job.story.read_text(),
        PATIENCE_S,
    )
    before = len(both.runs(beta))
    beta.boot()
    assert job.wait(PATIENCE_S) == 0, job.story.read_text()
    assert "beta: it is back" in job.story.read_text()
    assert len(both.runs(beta)) > before
    assert assert_all_decided(both, "leases_recovered").epochs >= 3


def cut_off_for(both: Site, job: Job, seconds: float) -> None:
    """Cut beta off the network, and put it back when that time is over and its ranks have ended,
    which hear nothing from their root."""
    beta = both.others[0]
    until("beta has executed something", lambda: both.runs(beta) != [], PATIENCE_S)
    beta.cut()
    until("its ranks end", lambda: beta.ranks() == [], seconds)
    assert job.is_running
    beta.mend()


@pytest.mark.guarantee("J6")
def test_a_host_that_was_cut_off_counts_as_lost_and_comes_back(site: Callable[..., Site]) -> None:
    both = site("alpha", "beta")
    both.use(2, 2)
    patient = Advanced(idle_window_s=0.1, root_silence_s=2, delivery_silence_s=20)
    job = both.job(seconds=0.6, advanced=patient)
    job.start()
    cut_off_for(both, job, 10)
    assert job.wait(PATIENCE_S) == 0, job.story.read_text()
    status = assert_all_decided(both, "silence_timeouts", "slots_recovered")
    assert status.epochs == 2
    both.assert_nothing_left()


@pytest.mark.long
def test_a_partition_of_twenty_seconds_with_the_usual_patience(site: Callable[..., Site]) -> None:
    both = site("alpha", "beta")
    both.use(2, 2)
    job = both.job(seconds=2.5)
    job.start()
    cut_off_for(both, job, 20)
    assert job.wait(2 * PATIENCE_S) == 0, job.story.read_text()
    assert assert_all_decided(both, "silence_timeouts", "slots_recovered").epochs == 2
    both.assert_nothing_left()


@pytest.mark.long
def test_a_host_that_loses_power_does_not_hold_up_the_others(site: Callable[..., Site]) -> None:
    both = site("alpha", "beta")
    both.use(6, 2)
    patient = Advanced(idle_window_s=0.1, root_silence_s=2, delivery_silence_s=20)
    job = both.job(seconds=0.5, advanced=patient)
    job.start()
    until("beta has executed something", lambda: both.runs(both.others[0]) != [], PATIENCE_S)
    both.others[0].power_off()
    assert job.wait(PATIENCE_S) == 2, job.story.read_text()
    (acks,) = assert_all_decided(both, "silence_timeouts").coordinators
    assert [name.split(",")[0] for name in acks.missing] == ["worker 2 on beta"]


@pytest.mark.long
def test_a_coordinator_whose_host_loses_power_is_done_without(site: Callable[..., Site]) -> None:
    both = site("alpha", "beta")
    both.use(3, 3, coordinators=2)
    patient = Advanced(idle_window_s=0.1, root_silence_s=2, delivery_silence_s=20)
    job = both.job(seconds=0.5, advanced=patient)
    job.start()
    until("beta has executed something", lambda: both.runs(both.others[0]) != [], PATIENCE_S)
    both.others[0].power_off()
    assert job.wait(2 * PATIENCE_S) == 2, job.story.read_text()
    root, _ = assert_all_decided(both, "leases_recovered").coordinators
    assert root.missing == ("worker 3",)


@pytest.mark.parametrize(
    "victim",
    [
        "launcher",
        pytest.param("prterun", marks=pytest.mark.long),
        pytest.param("prted", marks=pytest.mark.long),
        pytest.param("guard", marks=pytest.mark.long),
    ],
)
def test_nothing_is_left_on_any_host_whoever_is_killed(
    site: Callable[..., Site], victim: str
) -> None:
    both = site("alpha", "beta")
    both.use(2, 2)
    beta = both.others[0]
    job = both.job(seconds=0.3)
    job.start()
    until("beta has executed something", lambda: both.runs(beta) != [], PATIENCE_S)
    host = both.here if victim in ("launcher", "prterun") else beta
    module = {"launcher": "symfleet.testing.launch", "guard": "symfleet.runtime.host_guard"}
    found = [
        process
        for process in host.processes()
        if process.is_program(victim) or module.get(victim) in process.words
    ]
    assert host.kill(found[0])
    if victim == "launcher":
        assert job.wait(PATIENCE_S) != 0
        until("nothing runs on beta", lambda: beta.processes() == [], 20)
        assert beta.files() == []
        job.start()
    assert job.wait(PATIENCE_S) == 0, job.story.read_text()
    assert assert_all_decided(both, "leases_recovered").epochs == 2
    both.assert_nothing_left()


def test_a_host_that_cannot_take_part_is_refused_by_name(site: Callable[..., Site]) -> None:
    both = site("alpha", "beta")
    both.use(2, 2)
    beta = both.others[0]
    theirs = beta.path(both.target)
    hosts = ("--hosts", "alpha:2,beta:2", "--ssh", shlex.join(REACH))
    doctor = (sys.executable, "-m", "symfleet.cli.main", "doctor", *hosts)
    assert b"ok       host beta      symfleet" in both.here.run(*doctor).stdout

    def refused() -> str:
        job = both.job()
        assert job.run(PATIENCE_S) == 69, job.story.read_text()
        assert not (both.campaign.out / "ledger.db").exists()
        return job.story.read_text()

    theirs.write_text("#!/bin/sh\nexit 1\n")
    said = refused()
    assert "a host has another target; where: rank 2, process" in said
    assert "on beta; why: digest" in said
    theirs.unlink()
    assert "a host does not have the target; where: rank 2, process" in refused()
    shutil.copy(both.target, theirs)

    beta.cut()
    said = refused()
    assert "a host cannot be reached; where: beta; why: ssh: connect to host beta" in said
    assert b"PROBLEM  host beta      a host cannot be reached" in both.here.run(*doctor).stdout
    beta.mend()

    package = Path(sys.modules["symfleet"].__file__ or "").parent
    beta.own(Path("/run/mount"))
    other = beta.path("/srv/other.py")
    other.write_text('__version__ = "9.9.9"\n')
    beta.run("mount", "--bind", "/srv/other.py", str(package / "__init__.py"))
    assert "a host has another symfleet; where: rank 2, process" in (said := refused())
    assert "symfleet 9.9.9 there" in said
    beta.run("mount", "-t", "tmpfs", "none", str(package.parent))
    said = refused()
    assert "symfleet is missing on a host; where: beta; why: ModuleNotFoundError" in said
    both.assert_nothing_left()


@pytest.mark.long
def test_a_job_that_somebody_else_started_over_several_hosts(site: Callable[..., Site]) -> None:
    both = site("alpha", "beta")
    config = both.job().config
    engine = " ".join(config.target.engine_command)
    words = ["--keep", "all", "--engine", "command", "--engine-command", engine, "-j", "3"]
    words += ["--env", f"RUNS={both.campaign.log}", "--env", "SECONDS=0.1", "--until-quiescent"]
    folders = ["-i", str(both.campaign.seeds), "-o", str(both.campaign.out)]
    start = [find_mpirun(os.defpath), "--host", "alpha:2,beta:2", "-n", "4", "--with-ft", "ulfm"]
    start += ["--map-by", "slot", "--bind-to", "none", "--oversubscribe", "--allow-run-as-root"]
    start += ["--prtemca", "plm_ssh_agent", " ".join(SSH), "--mca", "btl", "self,sm,tcp"]
    joined = [sys.executable, "-m", "symfleet.cli.main", "explore", *folders, *words]
    ended = both.here.run("env", "HOME=/root", *start, *joined, "--", str(both.target))
    assert ended.returncode == 0, ended.stderr.decode()
    verdict = msgspec.json.decode((both.campaign.out / "verdict.json").read_bytes())
    assert (verdict["exit_code"], verdict["reason"]) == (0, "quiescent")
    assert_all_decided(both)
    assert both.runs(both.others[0]) != []
    both.assert_nothing_left()
