"""The kill matrix at process level: death at every crash point leaves no trace.

Every label in every role, one of its occurrences, with one death in the recovery: which ones is the
change's turn. `python -m benchmarks.kill_matrix` has all of them.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from symfleet.testing.kills.lives import die, seen
from symfleet.testing.kills.rotation import turn_of
from symfleet.testing.kills.scenes import PROGRAM, Scene
from symfleet.testing.stores import ledger_damage
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.types import input_id_of

REPOSITORY = Path(__file__).resolve().parents[2]
TURN = turn_of(REPOSITORY, datetime.datetime.now(tz=datetime.UTC).date())
PARTS, SERVER_PARTS = 2, 10


def matrix(*arguments: str) -> dict[str, Any]:
    """Run a part of this change's turn; return its report."""
    done = subprocess.run(
        [sys.executable, "-m", "symfleet.testing.kills.matrix", "--turn", str(TURN), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=170,
        check=False,
    )
    assert done.stdout, done.stderr.decode()
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C2")
@pytest.mark.guarantee("C5")
@pytest.mark.guarantee("C6")
@pytest.mark.guarantee("C8")
@pytest.mark.guarantee("J9")
@pytest.mark.parametrize("part", range(PARTS))
def test_a_process_may_die_at_every_crash_point_and_again_while_it_recovers(
    part: int, record_property: Callable[[str, object], None]
) -> None:
    report = matrix("--part", f"{part}/{PARTS}")
    record_property("deaths at crash points", report["deaths"] + report["deaths_in_recovery"])
    assert report["violations"] == []
    assert report["cases"] == report["deaths"] >= 100 // PARTS
    assert report["deaths_in_recovery"] >= 80 // PARTS


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C8")
@pytest.mark.guarantee("L4")
def test_a_process_may_die_whose_ledger_is_on_a_server(
    postgres: Cluster, record_property: Callable[[str, object], None]
) -> None:
    """One of so many parts of all points."""
    report = matrix("--server", postgres.url, "--part", f"{TURN % SERVER_PARTS}/{SERVER_PARTS}")
    record_property("deaths at crash points", report["deaths"] + report["deaths_in_recovery"])
    assert report["violations"] == []
    assert report["cases"] == report["deaths"] >= 5


# ---- what is planted is seen --------------------------------------------------------------------


def lose_a_decision(scene: Scene) -> None:
    with ledger_damage.unguarded(scene.out / "ledger.db") as connection:
        connection.execute("DELETE FROM decisions WHERE decision = 1")


def lose_the_ledger(scene: Scene) -> None:
    for path in scene.out.glob("ledger.db*"):
        path.unlink()
    (scene.out / "highwater").unlink()


def publish_what_nobody_decided(scene: Scene) -> None:
    data = b"node 77"
    digest = input_id_of(data)
    path = scene.out / "corpus" / digest[:2] / digest
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (lose_a_decision, "decided and lost"),
        (publish_what_nobody_decided, "published, but not decided"),
        (lose_the_ledger, "this folder had a ledger"),
    ],
)
def test_what_is_wrong_after_a_death_is_seen(
    tmp_path: Path, plant: Callable[[Scene], None], said: str
) -> None:
    scene = Scene(tmp_path / "scene")
    scene.make()
    assert die(scene, "decide.committed:3:kill") < 0
    assert seen(scene) == []
    plant(scene)
    wrong = seen(scene)
    assert any(said in one for one in wrong), wrong


def test_what_is_wrong_in_the_end_is_seen(tmp_path: Path) -> None:
    calm, other = Scene(tmp_path / "calm"), Scene(tmp_path / "other")
    for scene in (calm, other):
        scene.make()
        assert die(scene, "") == 2
        assert scene.look() == []
    expected, allowed = calm.result(), dict(calm.result().faults)
    assert other.result().wrong(expected, allowed) == []
    with other.log.open("a") as log:
        log.write(f"{input_id_of(PROGRAM.data(0))}\n")
    next((other.out / "corpus").rglob(input_id_of(PROGRAM.data(1)))).unlink()
    wrong = other.result().wrong(expected, {})
    for words in ("run again", "other facts", "other files", "faults"):
        assert any(one.startswith(words) for one in wrong), (words, wrong)
