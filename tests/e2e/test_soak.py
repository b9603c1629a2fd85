"""Most of a minute of soak: a random fault every two seconds, and nothing may come of it.

`python -m benchmarks.soak` is the same for as long as one likes."""

from __future__ import annotations

import math
import random
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from symfleet.testing.jobs import descendants, status_of, until
from symfleet.testing.soak.campaign import SoakCampaign
from symfleet.testing.soak.faults import Pack
from symfleet.testing.soak.graph import Graph, RunLog, input_of
from symfleet.testing.soak.oracle import Harm
from symfleet.testing.soak.record import Recorder, Story
from symfleet.testing.soak.session import Soak, SoakPlan
from symfleet.testing.soak.strikes import Striker

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "programs" / "graph.sh"
SECONDS = 36.0
EVERY_S = 2.0
NODES = 400
PAUSE_S = 0.05
FAULTS_MIN = 8
"""On a machine that is busy otherwise, too."""


def cut_off(folder: Path) -> None:
    """Begin the soak in a process of its own and end that, as the loss of its machine would."""
    words = ["--minutes", str(SECONDS / 60), "--every", str(EVERY_S), "--nodes", str(NODES)]
    words += ["--pause", str(PAUSE_S), "--steady", "0", "--folder", str(folder)]
    words += ["--json", str(folder.with_suffix(".json"))]
    soak = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.soak", *words],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(
            "faults have struck",
            lambda: len(Recorder(folder).story()) >= 4 or soak.poll() is not None,
            300,
        )
        assert soak.poll() is None, "it is to be killed"
        below = {pid: status_of(pid) for pid in descendants(soak.pid)}
    finally:
        soak.kill()
        soak.wait()

    def is_gone(pid: int) -> bool:
        now, then = status_of(pid), below[pid]
        return now is None or then is None or now[1] != then[1]

    until("all below it end", lambda: all(map(is_gone, below)), 10)


@pytest.mark.timeout(600)
@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C2")
@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("J9")
@pytest.mark.guarantee("L6")
def test_a_fault_every_two_seconds_leaves_no_trace_nor_does_the_end_of_the_soak_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "soak"
    cut_off(folder)
    plan = SoakPlan(seconds=SECONDS, every_s=EVERY_S, seed=1)
    record = Soak(plan, Graph(folder / PROGRAM.name, NODES, PAUSE_S), folder).run()
    with capsys.disabled():
        print(
            f"[{record.faults} faults in {record.epochs} epochs, {record.decided} decided]",
            end=" ",
            flush=True,
        )
    assert record.violations == ()
    assert record.faults >= FAULTS_MIN
    assert record.decided == NODES * len(record.campaigns)
    written = Recorder(folder)
    assert written.read_progress() == record
    assert [one.number for one in written.story()] == list(range(1, record.faults + 1))


def test_what_was_lost_repeated_or_damaged_is_told(tmp_path: Path) -> None:
    graph = Graph(PROGRAM, nodes=12, pause_s=0.0)
    expected = graph.expected(graph.undisturbed(tmp_path / "undisturbed", 2))
    campaign = graph.campaign(tmp_path / "campaign", 2)
    striker = Striker(random.Random(1), Pack({}, random.Random(1)))
    story = Story(Recorder(tmp_path), 1, time.monotonic)
    one = SoakCampaign(campaign, RunLog(campaign.log), striker, story, every_s=math.inf)
    try:
        one.run(0.0, lambda: None)
        calm = one.judge(expected, root_lives=False)
        assert calm.wrong == ()
        assert calm.harm == Harm(lost=0, counted_twice=0, run_again=0)

        more = msgspec.structs.replace(expected, corpus=expected.corpus | {input_of(99)})
        assert any(
            what.startswith(f"lost: {input_of(99)}")
            for what in one.judge(more, root_lives=False).wrong
        )

        with campaign.log.open("a") as log:
            log.write("3\n")
        next((campaign.out / "corpus").rglob(input_of(5))).unlink()
        campaign.tamper("UPDATE inputs SET data = x'00' WHERE input = 4")
        spoilt = one.judge(expected, root_lives=False)
    finally:
        one.close()
    assert spoilt.harm.run_again == 1
    for told in ("audit: ", f"{input_of(3)} was decided", f"files: {input_of(5)}", "verify 70"):
        assert any(what.startswith(told) for what in spoilt.wrong), (told, spoilt.wrong)


def test_a_launcher_that_ends_by_itself_is_told(tmp_path: Path) -> None:
    graph = Graph(PROGRAM, nodes=12, pause_s=0.0)
    campaign = graph.campaign(tmp_path / "campaign", 2)
    campaign.interpreter = ("/nonexistent/sh",)
    striker = Striker(random.Random(1), Pack({}, random.Random(1)))
    story = Story(Recorder(tmp_path), 1, time.monotonic)
    one = SoakCampaign(campaign, RunLog(campaign.log), striker, story, every_s=math.inf)
    try:
        one.run(0.0, lambda: None)
    finally:
        one.close()
    assert [what.rpartition(" ")[0] for what in one.wrong] == ["the launcher ended by itself with"]
