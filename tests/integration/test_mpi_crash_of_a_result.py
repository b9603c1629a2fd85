"""E19: a coordinator dies at the six instants of a result's life, on real MPI.

While it is received; before it is decided; when it is decided and nothing is published; when half
is published; when all is published and the mark has not moved; when it is done. What follows must
be what the design says, by the counters of `status --json` and the engine's own log.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from symfleet.testing.programs import ProgramCampaign
from symfleet.types import input_id_of

Share = Callable[..., ProgramCampaign]
SECONDS = 0.15
TWELVE = {f"seed{n:02}": b"%d" % n for n in range(12)}
SLOTS = {1: 2, 2: 6}
SHARES = {1: (2,), 2: (3, 3)}


@dataclass(frozen=True, slots=True)
class Instant:
    """When the root dies, and what the launch that it ends with must show: how often the seed was
    executed, and what its last epoch counts."""

    what: str
    spec: str
    epochs: int
    seed_runs: int
    recovered: tuple[int, ...]
    """Where several are possible: each child is leased before or after the files are there."""
    redone: int

    def __str__(self) -> str:
        return self.what


# Children are leased in the transaction that decides their parent. The files of the last two
# instants are those of the epoch that recovers from a death before publication: at its beginning
# all that is to be published is known.
_UNPUBLISHED = "decide.committed:1:kill:0/1"
OF_THE_ROOT = (
    Instant("before the decision", "decide.applied:1:kill:0/1", 2, 2, (1,), 0),
    Instant("decided, not published", _UNPUBLISHED, 2, 1, (2,), 1),
    Instant("half published", "publish.written:2:kill:0/1", 2, 1, (2,), 1),
    Instant("published, not done", f"{_UNPUBLISHED},publish.synced:1:kill:0/2", 3, 1, (0, 1, 2), 1),
    Instant("done", f"{_UNPUBLISHED},mark.committed:1:kill:0/2", 3, 1, (0, 1, 2), 0),
)
RECEIVED = Instant("while receiving", "result.received:1:kill:0/1", 2, 2, (1,), 0)


def status_of(campaign: ProgramCampaign) -> dict[str, Any]:
    """Return what `symfleet status --json` says."""
    done = subprocess.run(
        [sys.executable, "-m", "symfleet.cli.main", "status", "--json", str(campaign.out)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=True,
    )
    shown: dict[str, Any] = json.loads(done.stdout)
    return shown


def die(campaign: ProgramCampaign, spec: str) -> tuple[int, str]:
    """Launch a campaign that dies at crash points and goes on by itself; return the launch's exit
    code, and what its launcher told."""
    campaign.seconds = SECONDS
    job = campaign.job(env={"SYMFLEET_CRASH": spec})
    code = job.run(120)
    said = (campaign.out / "logs" / "mpirun.log").read_text()
    deaths = [part.split(":")[0] for part in spec.split(",")]
    assert [label for label in deaths if f"crash point {label}: kill" in said] == deaths, said
    return code, job.story.read_text()


def amount(counter: dict[str, int] | int) -> int:
    """Return a fault counter's sum over its reasons."""
    return counter if isinstance(counter, int) else sum(counter.values())


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C5")
@pytest.mark.guarantee("C6")
@pytest.mark.guarantee("L4")
@pytest.mark.parametrize(
    ("coordinators", "instant"),
    [(1, RECEIVED), *((number, instant) for number in (1, 2) for instant in OF_THE_ROOT)],
    ids=str,
)
def test_the_root_dies_at_an_instant_of_a_result(
    share: Share, coordinators: int, instant: Instant
) -> None:
    campaign = share("two", {"seed": b"seed"}, coordinators=coordinators, slots=SLOTS[coordinators])
    code, told = die(campaign, instant.spec)
    status = status_of(campaign)
    assert code == 0, told
    assert status["epochs"] == instant.epochs, told
    this, total = status["this_epoch"], status["total"]
    assert amount(this["leases_recovered"]) in instant.recovered
    assert amount(this["redone_decisions"]) == instant.redone
    assert (total["executed"], total["generated"], total["unique_children"]) == (3, 2, 2)
    assert total["external_inputs"] == 1
    runs = Counter(campaign.runs())
    assert runs[input_id_of(b"seed")] == instant.seed_runs, "the parent is run again only undecided"
    assert set(runs) == {input_id_of(data) for data in (b"seed", b"A", b"B")}
    assert campaign.corpus_files() == {input_id_of(data): data for data in (b"seed", b"A", b"B")}
    assert status["acks"] == {str(n): f"{s}/{s}" for n, s in enumerate(SHARES[coordinators])}
    campaign.status(disturbed=["leases_recovered", "redone_decisions"])


@dataclass(frozen=True, slots=True)
class Shared:
    """An instant of a result that one of two coordinators has. `victim`: who dies. `again`: whether
    that result is made again."""

    what: str
    label: str
    victim: int
    again: bool

    def __str__(self) -> str:
        return f"{'root' if self.victim == 0 else 'other'} {self.what}"


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C2")
@pytest.mark.guarantee("L6")
@pytest.mark.parametrize(
    "instant",
    [
        Shared("while receiving", "result.received", 0, again=True),
        Shared("while receiving", "result.received", 1, again=True),
        Shared("before the decision", "result.undecided", 1, again=True),
        Shared("decided, not published", "result.decided", 1, again=False),
    ],
    ids=str,
)
def test_one_of_two_coordinators_dies_at_an_instant_of_a_result(
    share: Share, instant: Shared
) -> None:
    """Twelve inputs: more than one coordinator has places for. The root's death costs the epoch;
    that of the other costs its leases, which the root takes over."""
    campaign = share("none", TWELVE)
    code, told = die(campaign, f"{instant.label}:1:kill:{instant.victim}/1")
    status = status_of(campaign)
    this, total = status["this_epoch"], status["total"]
    # A coordinator that is lost acknowledges nothing: that is told with 2.
    assert (code, status["epochs"]) == ((0, 2) if instant.victim == 0 else (2, 1)), told
    assert (total["executed"], total["external_inputs"], status["corpus"]) == (12, 12, 12)
    runs = Counter(campaign.runs())
    assert set(runs) == {input_id_of(data) for data in TWELVE.values()}
    lost = sum(runs.values()) - len(runs)
    taken = amount(this["leases_recovered"])
    assert 1 <= taken <= 6 * (2 - instant.victim), "what had been handed out"
    assert lost <= taken, "nothing that was decided is run again"
    assert lost >= int(instant.again)
    assert amount(total["redone_decisions"]) == 0, "an input from outside is no decision"
    campaign.status(disturbed=["leases_recovered", "redone_decisions", "slots_reborn"])
