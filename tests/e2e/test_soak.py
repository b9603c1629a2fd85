"""A minute of soak: a random fault every two seconds, and nothing may come of it.

`python -m benchmarks.soak` is the same for as long as one likes."""

from __future__ import annotations

from pathlib import Path

import pytest

from symfleet.testing.soak import Soak, SoakPlan
from symfleet.testing.soak_graph import Graph

PROGRAM = Path(__file__).resolve().parent.parent / "programs" / "graph.sh"
SECONDS = 45.0
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
