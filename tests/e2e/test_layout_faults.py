"""Faults in layouts of several coordinators: nothing is lost, nothing is counted twice.

Six of the runs that `python -m benchmarks.faults` makes of every layout and fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from symfleet.testing.kills.layout_faults import Exploration, Fault, Layout, Store, disturb, wrong
from symfleet.testing.kills.loop import Facts
from symfleet.testing.stores.postgres_cluster import Cluster

TREE = Path(__file__).resolve().parent.parent / "programs" / "tree.py"
SMALL = Exploration(TREE, nodes=45, wall_s=1.5)
WITHIN_S = 0.6

CHOSEN = (
    Layout(3, Store.SQLITE, Fault.WORKER),
    Layout(4, Store.SQLITE, Fault.COORDINATOR),
    Layout(2, Store.SQLITE, Fault.STOPPED),
    Layout(2, Store.POSTGRES, Fault.SERVER),
    Layout(2, Store.OWN_CONNECTIONS, Fault.ROOT),
    Layout(3, Store.OWN_CONNECTIONS, Fault.SESSION),
)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return SMALL.undisturbed(tmp_path_factory.mktemp("undisturbed") / "campaign")


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C2")
@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("J9")
@pytest.mark.guarantee("L6")
@pytest.mark.parametrize("layout", CHOSEN, ids=str)
def test_a_fault_among_several_coordinators_leaves_no_trace(
    tmp_path: Path, expected: Facts, layout: Layout, request: pytest.FixtureRequest
) -> None:
    cluster: Cluster | None = None
    if layout.store is not Store.SQLITE:
        cluster = request.getfixturevalue("postgres")
    folder = tmp_path / "campaign"
    report, story = disturb(folder, SMALL, layout, 1, within_s=WITHIN_S, cluster=cluster)
    assert wrong(folder / "out", report, expected, layout) == [], f"{report}\n{story}"
