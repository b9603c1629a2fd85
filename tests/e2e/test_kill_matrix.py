"""The kill matrix with real MPI: death at crash points, and by strikes, leaves no trace.

Each change has its turn of twenty points and four strikes; `python -m benchmarks.kill_matrix` has
all. At process level every change has every point: tests/integration/test_kill_matrix.py.
"""

from __future__ import annotations

import datetime
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from symfleet import crash
from symfleet.corpus.admission import admission_of
from symfleet.protocol.answers import Claimed
from symfleet.protocol.operations import Admit, Claim, CountFaults
from symfleet.testing.kills.loop import collect_facts
from symfleet.testing.kills.mpi_cases import (
    Case,
    double_cases,
    point_cases,
    shuffled,
    strike_cases,
)
from symfleet.testing.kills.mpi_kills import Chain, Outcome, run_cases
from symfleet.testing.kills.mpi_points import LAUNCHER, ROOT, Death, Way
from symfleet.testing.kills.rotation import turn_of, window
from symfleet.testing.ledgers import decision, epoch_request
from symfleet.testing.stores import ledger_damage
from symfleet.types import Keep

REPOSITORY = Path(__file__).resolve().parents[2]
TREE = REPOSITORY / "tests" / "programs" / "tree.py"
TURN = turn_of(REPOSITORY, datetime.datetime.now(tz=datetime.UTC).date())
POINTS, STRIKES, DOUBLES = 16, 4, 2
EACH_TIME = (
    Case(1, Death("launcher.restart", LAUNCHER, Way.CRASH)),
    Case(1, Death("root.told", ROOT, Way.DRAIN)),
)
"""What a launcher passes only after a crash, and what a root passes only at its end."""


def told(line: str) -> None:
    print(line, file=sys.stderr)


def jobs(folder: Path) -> Outcome:
    """One turn of the matrix with real MPI."""
    cases = [
        *EACH_TIME,
        *window(shuffled(point_cases()), TURN, POINTS),
        *window(shuffled(strike_cases(long=False)), TURN, STRIKES),
        *window(shuffled(double_cases()), TURN, DOUBLES),
    ]
    beyond = [label for label in crash.LABELS if label.startswith(("launcher.", "root."))]
    return run_cases(folder, TREE, cases, told, note=crash.noting(beyond))


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C2")
@pytest.mark.guarantee("C5")
@pytest.mark.guarantee("C6")
@pytest.mark.guarantee("C8")
@pytest.mark.guarantee("J9")
@pytest.mark.guarantee("L6")
@pytest.mark.timeout(600)
def test_real_jobs_may_die_at_the_points_and_by_the_strikes_of_this_turn(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """And every crash point is passed by the matrix at process level, where there is a case for
    each, or by a real job."""
    done = jobs(tmp_path)
    record_property("deaths of real jobs", len(done.met))
    assert done.wrong == []
    assert len(done.met) == len(EACH_TIME) + POINTS + STRIKES + DOUBLES
    counted = json.loads(
        subprocess.run(
            [sys.executable, "-m", "symfleet.testing.kills.matrix", "--count"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=120,
            check=True,
        ).stdout
    )
    assert counted["passed"] == counted["to_die"]
    assert set(counted["passed"]) | done.noted == set(crash.LABELS)


# ---- what is planted is seen --------------------------------------------------------------------


def test_what_is_wrong_with_a_campaign_of_real_jobs_is_seen(tmp_path: Path) -> None:
    """A campaign that was cut off after its first decision, and then spoilt."""
    outcome = Outcome(told)
    chain = Chain(tmp_path / "campaign", TREE, outcome, random.Random(1), "")
    with chain.campaign.owned() as opened:
        ledger, entry = opened.ledger, admission_of(b"0", "seed", opened.generation)
        ledger.open_epoch(epoch_request())
        ledger.run([Admit(ledger.register_source("seeds", "/s", "here"), (entry,))])
        (claimed,) = ledger.run([Claim(0, 1)]).answers
        assert isinstance(claimed, Claimed)
        ledger.run([decision(claimed.leases[0], keep=Keep.ALL)])
        ledger.run([CountFaults(0, (("quarantined_frames", "", 1),))])
        with chain.campaign.reader() as reader:
            facts = collect_facts(reader, chain.campaign.out)
    assert chain.look() == []
    chain.campaign.log.write_text(f"{entry.input_id}\n")
    wrong = chain.judge(msgspec.structs.replace(facts, poisoned=1))
    for words in ("another corpus", "other decisions", "other facts", "run again", "faults"):
        assert any(one.startswith(words) for one in wrong), (words, wrong)
    assert any("verify 2" in one for one in wrong), "nothing is published"
    with ledger_damage.unguarded(chain.campaign.out / "ledger.db") as connection:
        connection.execute("DELETE FROM decisions WHERE decision = 1")
    assert any("decided and lost" in one for one in chain.look())


def test_a_death_that_does_not_come_is_told(tmp_path: Path) -> None:
    """A launch whose crash point is in the epoch after the last."""
    outcome = Outcome(told)
    chain = Chain(tmp_path / "campaign", TREE, outcome, random.Random(1), "")
    chain.campaign.env = ("NODES=1",)
    try:
        chain.run(Case(1, Death("decide.applied", ROOT, epoch=7)))
    finally:
        chain.campaign.close()
    assert outcome.met == []
    assert len(outcome.wrong) == 1
    assert "nobody was at kill at decide.applied" in outcome.wrong[0]
