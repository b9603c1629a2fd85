"""The recipes of docs/howto/cluster.md for Slurm, on a private cluster of Debian's packages: a head
and two nodes. The campaign's folder is on a disk that all of them have.

Only what makes a campaign short is changed in a recipe: see `Site.submit`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from symfleet.ledger.contract import LedgerStatus
from symfleet.runtime.stores import open_reader
from symfleet.testing.documents import code_blocks
from symfleet.testing.hosts.namespaces import Hosts
from symfleet.testing.hosts.slurm import CPUS, Slurm, why_no_slurm
from symfleet.testing.jobs import until
from symfleet.testing.kills.loop import Facts, collect_facts
from symfleet.testing.own_engine import compile_target, exhaustive_job
from symfleet.testing.programs import well_status

pytestmark = [
    pytest.mark.skipif(why_no_slurm() is not None, reason=why_no_slurm() or ""),
    pytest.mark.long,
    pytest.mark.timeout(600),
]

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "howto" / "cluster.md"
SOURCE = ROOT / "tests" / "programs" / "slow_pair.c"
SEEDS = ROOT / "examples" / "exhaustible" / "seeds"
PAUSE_US = 500_000
PATHS = 16
PATIENCE_S = 200.0


def recipe(words: str) -> str:
    """Return the one script of the page that has these words."""
    found = [block.text for block in code_blocks(PAGE) if words in block.text]
    assert len(found) == 1, found
    return found[0]


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{old} in {text}"
    return text.replace(old, new)


def without_settings(facts: Facts) -> Facts:
    """Leave out what depends on the target's environment, too."""
    return msgspec.structs.replace(facts, manifests=frozenset())


class Site:
    """A cluster, and one campaign on the disk of its hosts."""

    def __init__(self, hosts: Hosts, slurm: Slurm, disk: Path) -> None:
        self.head, *self.nodes = hosts.all
        self.slurm = slurm
        self.disk = disk
        self.out = disk / "out"
        for host in hosts.all:
            wrapper = host.path("root/bin/on-node")
            wrapper.parent.mkdir(exist_ok=True)
            wrapper.write_text(recipe("--nodelist="))
            wrapper.chmod(0o755)

    def submit(self, words: str, *options: str, max_time: str) -> str:
        """Give the recipe with these words to Slurm, for a campaign of this test's target that ends
        by itself; return the job's number."""
        text = recipe(words)
        text = changed(text, "--max-time 470m", f"--max-time {max_time}")
        slow = f"--keep all --wall-time 20s --env PAUSE_US={PAUSE_US}"
        text = changed(text, " -- ./target", f" {slow} -- ./target")
        script = self.disk / "job.sh"
        script.write_text(text)
        sizes = ["--nodes=2", f"--cpus-per-task={CPUS}", "--time=5", "--output=job.log"]
        return self.slurm.submit(script, *sizes, *options)

    def said(self) -> str:
        """What the job has printed so far."""
        log = self.disk / "job.log"
        return log.read_text() if log.exists() else ""

    def assert_complete(self, job: str, expected: Facts, *disturbed: str) -> LedgerStatus:
        """Wait for the job's good end, which must have lost nothing and counted nothing twice."""
        assert self.slurm.wait(job, PATIENCE_S) == "COMPLETED", self.said()
        status = self.assert_well(expected, *disturbed)
        self.assert_nothing_left()
        return status

    def assert_well(self, expected: Facts, *disturbed: str) -> LedgerStatus:
        verified = self.head.run("symfleet", "verify", str(self.out))
        assert verified.returncode == 0, verified.stdout
        status = well_status(self.out, disturbed)
        assert status.epoch is not None
        assert status.epoch.reason == "quiescent"
        with open_reader(self.out) as reader:
            assert without_settings(collect_facts(reader, self.out)) == expected
        return status

    def assert_nothing_left(self) -> None:
        for node in self.nodes:
            until(f"nothing runs on {node.name}", lambda n=node: not n.ranks(), 20)  # type: ignore[misc]
            assert not list(node.path("tmp").glob("*")), node.name


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("target") / "target"
    compile_target(SOURCE, target)
    return target


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, target: Path) -> Facts:
    """Of one slot, without Slurm, undisturbed."""
    calm = exhaustive_job(tmp_path_factory.mktemp("calm") / "folder", target, SEEDS, slots=1)
    try:
        assert calm.run(120) == 0, calm.story.read_text()
    finally:
        calm.end()
    with open_reader(calm.out) as reader:
        facts = collect_facts(reader, calm.out)
    assert facts.counters["decided"] == len(facts.corpus) == len(facts.files) >= PATHS
    return without_settings(facts)


@pytest.fixture
def site(tmp_path: Path, target: Path) -> Iterator[Site]:
    disk = tmp_path / "disk"
    disk.mkdir()
    shutil.copytree(SEEDS, disk / "seeds")
    shutil.copy(target, disk / "target")
    with Hosts(tmp_path / "hosts", ("head", "node1", "node2"), everywhere=[disk]) as hosts:
        yield Site(hosts, Slurm(hosts), disk)


def until_all_take_part(site: Site) -> None:
    for node in site.nodes:
        until(f"{node.name} takes part", lambda n=node: n.ranks() != [], PATIENCE_S)  # type: ignore[misc]


def test_a_job_script_is_requeued_until_nothing_is_left(site: Site, expected: Facts) -> None:
    job = site.submit("scontrol requeue", max_time="8s")
    until_all_take_part(site)
    status = site.assert_complete(job, expected)
    assert status.epochs == site.slurm.restarts(job) + 1 >= 2
    assert "4/4 acknowledged" in site.said()


def test_srun_starts_a_job_that_symfleet_joins(site: Site, expected: Facts) -> None:
    words = recipe("srun --mpi=pmix").strip()
    words = changed(words, "-j 127", "-j 3 --keep all")
    words = changed(words, "srun ", f"srun --nodes=2 --ntasks={2 * CPUS} ")
    site.slurm.call("sh", "-c", f"cd {site.disk} && {words}")
    site.assert_well(expected)
    assert '"reason":"quiescent"' in (site.out / "verdict.json").read_text()
    site.assert_nothing_left()


def test_srun_without_pmix_is_refused_before_anything_is_made(site: Site) -> None:
    words = recipe("srun --mpi=pmix").strip().replace("--mpi=pmix", "--mpi=pmi2 --nodes=2")
    said = site.slurm.call("sh", "-c", f"cd {site.disk} && ! {words} 2>&1")
    assert "Open MPI 5 knows PMIx only" in said
    assert not site.out.exists()
