"""Most of a minute of soak: a random fault every two seconds, and nothing may come of it.

`python -m benchmarks.soak` is the same for as long as one likes."""

from __future__ import annotations

import math
import random
import time
from pathlib import Path

import msgspec
import pytest

from symfleet.testing.soak import Soak, SoakPlan
from symfleet.testing.soak_campaign import SoakCampaign
from symfleet.testing.soak_faults import Pack
from symfleet.testing.soak_graph import Graph, input_of
from symfleet.testing.soak_record import PROGRESS, STORY, FaultRecord, Recorder, SoakRecord, Story
from symfleet.testing.soak_strikes import Striker

PROGRAM = Path(__file__).resolve().parent.parent / "programs" / "graph.sh"
SECONDS = 40.0
EVERY_S = 2.0
FAULTS_MIN = 10
"""On a machine that is busy otherwise, too."""


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C2")
@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("J9")
@pytest.mark.guarantee("L6")
def test_a_fault_every_two_seconds_leaves_no_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = Graph(PROGRAM, nodes=400, pause_s=0.05)
    record = Soak(SoakPlan(seconds=SECONDS, every_s=EVERY_S, seed=1), graph, tmp_path).run()
    with capsys.disabled():
        print(
            f"[{record.faults} faults in {record.epochs} epochs, {record.decided} decided]",
            end=" ",
            flush=True,
        )
    assert record.violations == ()
    assert record.faults >= FAULTS_MIN
    assert record.decided == graph.nodes * len(record.campaigns)
    written = msgspec.json.decode((tmp_path / PROGRESS).read_bytes(), type=SoakRecord)
    assert written == record
    lines = (tmp_path / STORY).read_bytes().splitlines()
    story = [msgspec.json.decode(line, type=FaultRecord) for line in lines]
    assert [fault.number for fault in story] == list(range(1, record.faults + 1))


def test_what_was_lost_repeated_or_damaged_is_told(tmp_path: Path) -> None:
    graph = Graph(PROGRAM, nodes=12, pause_s=0.0)
    expected = graph.undisturbed(tmp_path / "undisturbed", 2)
    campaign = graph.campaign(tmp_path / "campaign", 2)
    striker = Striker(random.Random(1), Pack({}, random.Random(1)))
    story = Story(Recorder(tmp_path), 1, time.monotonic(), 0)
    one = SoakCampaign(campaign, striker, story, every_s=math.inf)
    try:
        one.run(0.0, lambda: None)
        assert one.judge(expected, root_lives=False).wrong == ()

        more = msgspec.structs.replace(expected, corpus=expected.corpus | {input_of(99)})
        assert any(
            what.startswith(f"lost: {input_of(99)}")
            for what in one.judge(more, root_lives=False).wrong
        )

        with campaign.log.open("a") as log:
            log.write("3\n")
        next((campaign.out / "corpus").rglob(input_of(5))).unlink()
        campaign.tamper("UPDATE inputs SET data = x'00' WHERE input = 4")
        wrong = one.judge(expected, root_lives=False).wrong
    finally:
        one.close()
    for told in ("audit: ", f"{input_of(3)} was decided", f"files: {input_of(5)}", "verify 70"):
        assert any(what.startswith(told) for what in wrong), (told, wrong)


def test_a_launcher_that_ends_by_itself_is_told(tmp_path: Path) -> None:
    graph = Graph(PROGRAM, nodes=12, pause_s=0.0)
    campaign = graph.campaign(tmp_path / "campaign", 2)
    campaign.interpreter = ("/nonexistent/sh",)
    striker = Striker(random.Random(1), Pack({}, random.Random(1)))
    story = Story(Recorder(tmp_path), 1, time.monotonic(), 0)
    one = SoakCampaign(campaign, striker, story, every_s=math.inf)
    try:
        one.run(0.0, lambda: None)
    finally:
        one.close()
    assert [what.rpartition(" ")[0] for what in one.wrong] == ["the launcher ended by itself with"]
