"""Death at every named crash point of a real job, one after the other, leaves no trace."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from symfleet import crash
from symfleet.errors import UserError
from symfleet.testing.jobs import Job, Role, until
from symfleet.testing.kill_loop import collect_facts, decided_inputs
from symfleet.testing.programs import ProgramCampaign
from symfleet.types import input_id_of

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "tests" / "programs" / "tree.py"
NODES = 100
LATEST = 5
"""The coordinator passes its points in each turn: it dies at one of the first."""


def labels_in_source() -> Iterator[str]:
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "crash.point":
                (label,) = node.args
                assert isinstance(label, ast.Constant), f"{path}: {ast.unparse(node)}"
                yield str(label.value)


def test_every_crash_point_is_listed() -> None:
    assert set(labels_in_source()) == set(crash.LABELS)


def test_a_label_that_does_not_exist_cannot_be_armed() -> None:
    with pytest.raises(UserError, match="not a crash point"):
        crash.CrashPlan("coordinator.nowhere:1:kill")


def die_at(campaign: ProgramCampaign, label: str, occurrence: int) -> None:
    """Launch a job that dies at a crash point; end its launcher before it starts another."""
    job = campaign.job(env={"SYMFLEET_CRASH": f"{label}:{occurrence}:kill"})
    job.start()
    until(f"{label} is passed", lambda: not job.is_running or "next epoch" in told(job), 60)
    for launcher in job.find(Role.LAUNCHER):
        job.kill(launcher)
    job.assert_nothing_left()
    logs = campaign.out / "logs" / "mpirun.log"
    said = told(job) + (logs.read_text("utf-8", "replace") if logs.exists() else "")
    assert f"crash point {label}: kill" in said, said


def look(campaign: ProgramCampaign, label: str) -> tuple[frozenset[str], int]:
    """Return what is decided, and how many runs there were until now."""
    if not (campaign.out / "ledger.db").exists():
        return frozenset(), 0
    with campaign.reader() as reader:
        assert list(reader.audit()) == [], label
        decided = decided_inputs(reader)
    assert len(decided) < NODES, f"nothing is left to be disturbed after {label}"
    return decided, len(campaign.runs())


def told(job: Job) -> str:
    return job.story.read_text()


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C5")
@pytest.mark.guarantee("C6")
@pytest.mark.guarantee("C8")
@pytest.mark.guarantee("J9")
def test_a_job_may_die_at_every_crash_point(tmp_path: Path) -> None:
    chance = random.Random(3)
    campaign = ProgramCampaign(tmp_path, TREE, {"root": b"0"}, seconds=0.05, env=[f"NODES={NODES}"])
    marks: list[tuple[frozenset[str], int]] = []
    # A ledger that is copied dies in tests/integration/test_ledger_copy.py.
    labels = sorted(label for label in crash.LABELS if not label.startswith(("copy.", "move.")))
    try:
        for label in chance.sample(labels, len(labels)):
            die_at(campaign, label, chance.randint(1, LATEST) if "coordinator" in label else 1)
            marks.append(look(campaign, label))
        job = campaign.job()
        assert job.run() == 0, told(job)
        assert campaign.status().total.executed == NODES
        with campaign.reader() as reader:
            facts = collect_facts(reader, campaign.out)
        assert facts.corpus == facts.files == {input_id_of(b"%d" % n) for n in range(NODES)}
        assert len(facts.manifests) == facts.counters["decided"] == NODES
        runs = campaign.runs()
        assert [decided & set(runs[upto:]) for decided, upto in marks] == [set()] * len(marks)
        campaign.assert_tidy()
    finally:
        campaign.close()
