"""Evidence scenarios E11, E12 and E16 on real MPI: workers and executors that lie.

All that they say is counted, nothing that they spoil is lost, and nobody is blamed for it. Ranks
that lie are programs in tests/programs: liar, spoiler, garbage_engine, failing_deferral.
"""

from __future__ import annotations

import datetime
import itertools
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from symfleet.errors import ExitCode
from symfleet.ledger.contract import LedgerStatus
from symfleet.ledger.manifest import decode_manifest
from symfleet.testing.joined import OURS, join
from symfleet.testing.programs import ProgramCampaign
from symfleet.types import WorkState, input_id_of

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
Share = Callable[..., ProgramCampaign]
LONG = pytest.mark.long

# ---- E11 ----------------------------------------------------------------------------------------

NODES = 90
EXPECTED = {input_id_of(b"%d" % node) for node in range(NODES)}
QUARANTINES = ("quarantined_results", "quarantined_ready", "quarantined_frames")
TRICKS = 24


def ranks(coordinators: int) -> tuple[int, int]:
    """Return slots in all, and how many worker ranks these take."""
    return (2, 1) if coordinators == 1 else (6, 2)


def told_by(path: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(path.read_text())
    return told


def counted(status: LedgerStatus) -> dict[str, int]:
    return {
        f"{name}/{reason}": amount
        for name in QUARANTINES
        for reason, amount in status.faults_total.get(name, {}).items()
        if amount
    }


@pytest.mark.guarantee("A6")
@pytest.mark.guarantee("D4")
@pytest.mark.guarantee("D5")
@pytest.mark.guarantee("D6")
@pytest.mark.guarantee("D8")
@pytest.mark.guarantee("J2")
@pytest.mark.guarantee("J3")
@pytest.mark.guarantee("J7")
@pytest.mark.guarantee("J10")
@pytest.mark.parametrize(
    ("coordinators", "prefetch", "order", "accept"),
    [
        (1, 1, "result", False),
        (2, 2, "ready", True),
        pytest.param(1, 1, "ready", True, marks=LONG),
        pytest.param(1, 2, "result", True, marks=LONG),
        pytest.param(1, 2, "ready", False, marks=LONG),
        pytest.param(2, 1, "result", True, marks=LONG),
        pytest.param(2, 1, "ready", False, marks=LONG),
        pytest.param(2, 2, "result", False, marks=LONG),
    ],
)
def test_lies_about_deliveries_are_counted_and_cost_nothing_but_time(
    share: Share, coordinators: int, prefetch: int, order: str, accept: bool
) -> None:
    """E11."""
    campaign = share(
        "tree", {"root": b"0"}, coordinators=coordinators, slots=2 if coordinators == 1 else 6
    )
    campaign.env = (f"NODES={NODES}",)
    campaign.seconds = 0.02
    noted = campaign.folder / "liar.json"
    liar = (str(PROGRAMS / "liar.py"), str(noted), order)
    options = ["--prefetch", str(prefetch), *["--accept-faults"] * accept]
    verdict = join(
        campaign, (2 * coordinators - 1, OURS), (1, liar), options=options, timeout_s=150.0
    )
    assert verdict.exit_code == (0 if accept else ExitCode.FINISHED_WITH_FAULTS)
    told = told_by(noted)
    assert len(told["played"]) == TRICKS, "every trick was played"
    disturbed = {*QUARANTINES, "protocol_requeued"}
    status = campaign.status(disturbed=disturbed)
    assert counted(status) == told["counts"]
    assert status.faults_total["protocol_requeued"] == {"": told["recovered"]}
    assert status.states[WorkState.DONE] == sum(status.states.values()) == NODES
    assert set(campaign.corpus_files()) == EXPECTED
    again = Counter(Counter(campaign.runs()).values())
    assert again.keys() <= {1, 2}, "each was recovered once"
    assert again[2] >= told["recovered"]
    assert [one.acknowledged for one in status.coordinators] == [
        2 if coordinators == 1 else 3
    ] * coordinators


# ---- E12 ----------------------------------------------------------------------------------------

BAD = b"bad"
BUDGET = 1
"""Retries of an item in one coordinator."""


def others(coordinators: int) -> int:
    """Return how many other seeds there are: half of them take longer than the bad one's tries."""
    return 20 if coordinators == 1 else 96


def with_bad(share: Share, coordinators: int) -> ProgramCampaign:
    """Return a campaign whose first seed is the bad one."""
    seeds = {"0bad": BAD, **{f"seed{n:02}": b"%d" % n for n in range(others(coordinators))}}
    campaign = share("none", seeds, coordinators=coordinators, slots=ranks(coordinators)[0])
    campaign.seconds = 0.12
    return campaign


def spoiler(times: int) -> tuple[str, ...]:
    return (str(PROGRAMS / "spoiler.py"), BAD.decode(), str(times))


def work_of(campaign: ProgramCampaign, data: bytes) -> set[str]:
    """Return the ids of the work that an input became."""
    with campaign.reader() as reader:
        decided = [decode_manifest(row.manifest) for row in reader.decisions()]
        ids = {one.work_id for one in decided if one.input_id == input_id_of(data)}
        for state in (WorkState.PENDING, WorkState.LEASED, WorkState.DEFERRED):
            rows = reader.work_rows(state, 100)
            ids |= {row.work_id for row in rows if row.input_id == input_id_of(data)}
    return set(map(str, ids))


def go_on(campaign: ProgramCampaign, coordinators: int) -> LedgerStatus:
    """Let honest ranks finish the campaign, whose sources are gone; return its status."""
    for seed in campaign.seeds.iterdir():
        seed.unlink()
    everybody = coordinators + ranks(coordinators)[1]
    verdict = join(campaign, (everybody, OURS), timeout_s=150.0)
    assert verdict.exit_code == 0, verdict
    with campaign.reader() as reader:
        return reader.status()


@pytest.mark.guarantee("A6")
@pytest.mark.guarantee("J7")
@pytest.mark.guarantee("J8")
@pytest.mark.guarantee("J10")
@pytest.mark.parametrize("coordinators", [pytest.param(1, marks=LONG), 2])
def test_an_item_beyond_its_budget_is_set_aside_and_comes_back_in_the_next_epoch(
    share: Share, coordinators: int
) -> None:
    """E12: deferred once, named at the end; armed again before any source is read."""
    campaign = with_bad(share, coordinators)
    groups = ((coordinators, OURS), (ranks(coordinators)[1], spoiler(100)))
    verdict = join(
        campaign,
        *groups,
        options=["--max-executions", str(others(coordinators) // 2)],
        timeout_s=150.0,
    )
    assert verdict.exit_code == ExitCode.FINISHED_WITH_FAULTS
    with campaign.reader() as reader:
        status = reader.status()
        (row,) = reader.work_rows(WorkState.DEFERRED, 10)
    faults = status.faults_total
    assert faults["protocol_deferred"] == {"": 1}
    retried = faults["protocol_requeued"][""]
    assert BUDGET <= retried <= BUDGET * coordinators
    assert faults["quarantined_results"] == {"malformed": retried + 1}
    assert row.input_id == input_id_of(BAD)
    assert (row.blames, status.states.get(WorkState.POISONED, 0)) == (0, 0)
    assert work_of(campaign, BAD) == {row.work_id}
    assert status.decisions < others(coordinators), "there was other work when the epoch ended"
    before = campaign.runs()
    assert before.count(input_id_of(BAD)) == retried + 1

    status = go_on(campaign, coordinators)
    again = campaign.runs()[len(before) :]
    assert input_id_of(BAD) in again[: campaign.slots], "it comes first, as it did before"
    assert again.count(input_id_of(BAD)) == 1
    assert work_of(campaign, BAD) == {row.work_id}, "J7: the same work"
    assert status.states[WorkState.DONE] == sum(status.states.values()) == 1 + others(coordinators)
    assert status.faults_this_epoch.get("protocol_deferred", {}) == {}


@pytest.mark.guarantee("J8")
@pytest.mark.parametrize("coordinators", [1, pytest.param(2, marks=LONG)])
def test_an_item_whose_deferral_is_refused_is_kept_and_done(
    share: Share, coordinators: int
) -> None:
    """E12: what cannot be set aside durably stays in memory, and counts."""
    campaign = with_bad(share, coordinators)
    failing = (str(PROGRAMS / "failing_deferral.py"), "refused")
    ours = ((coordinators - 1, OURS),) if coordinators > 1 else ()
    groups = ((1, failing), *ours, (ranks(coordinators)[1], spoiler(1)))
    verdict = join(campaign, *groups, options=["--protocol-retries", "0"], timeout_s=150.0)
    assert verdict.exit_code == ExitCode.FINISHED_WITH_FAULTS
    disturbed = {"quarantined_results", "deferral_failed", "protocol_requeued"}
    status = campaign.status(disturbed=disturbed)
    assert status.faults_total["deferral_failed"] == {"": 1}
    assert "protocol_deferred" not in status.faults_total
    assert status.faults_total["quarantined_results"] == {"malformed": 1}
    assert status.states[WorkState.DONE] == sum(status.states.values()) == 1 + others(coordinators)
    assert campaign.runs().count(input_id_of(BAD)) == 2
    assert status.epochs == 1


@pytest.mark.guarantee("A2")
@pytest.mark.guarantee("J8")
@pytest.mark.guarantee("L5")
@pytest.mark.parametrize("coordinators", [1, pytest.param(2, marks=LONG)])
def test_an_item_whose_deferral_meets_a_broken_disk_is_the_next_epochs(
    share: Share, coordinators: int
) -> None:
    """E12: the job ends with 74 and nothing of that turn has happened."""
    campaign = with_bad(share, coordinators)
    failing = (str(PROGRAMS / "failing_deferral.py"), "eio")
    ours = ((coordinators - 1, OURS),) if coordinators > 1 else ()
    groups = ((1, failing), *ours, (ranks(coordinators)[1], spoiler(1)))
    verdict = join(campaign, *groups, options=["--protocol-retries", "0"], timeout_s=150.0)
    assert verdict.exit_code == ExitCode.IO
    with campaign.reader() as reader:
        status = reader.status()
        held = reader.work_rows(WorkState.LEASED, 100)
    assert status.states.get(WorkState.DEFERRED, 0) == 0
    (work_id,) = {row.work_id for row in held if row.input_id == input_id_of(BAD)}
    before = campaign.runs()
    status = go_on(campaign, coordinators)
    assert work_of(campaign, BAD) == {work_id}, "J7: the same work"
    assert campaign.runs()[len(before) :].count(input_id_of(BAD)) == 1
    assert status.states[WorkState.DONE] == sum(status.states.values()) == 1 + others(coordinators)


# ---- E16 ----------------------------------------------------------------------------------------

GRACE_S = 30.0
GARBAGE = ("noise", "deep", "twice", "late", "failure", "lies")
"""See tests/programs/garbage_engine.py."""


def pauses(campaign: ProgramCampaign, coordinator: int) -> list[float]:
    """Return when a coordinator has paused hosts (wall time)."""
    path = campaign.out / "logs" / f"coordinator-{coordinator}.jsonl"
    notes = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        datetime.datetime.fromisoformat(note["timestamp"]).timestamp()
        for note in notes
        if note["event"] == "host_paused"
    ]


@pytest.mark.guarantee("A6")
@pytest.mark.guarantee("Q4")
@pytest.mark.parametrize(
    ("coordinators", "garbage"),
    [
        (1, "deep"),
        (2, "lies"),
        *(
            pytest.param(coordinators, garbage, marks=LONG)
            for coordinators, garbage in itertools.product((1, 2), GARBAGE)
            if (coordinators, garbage) not in ((1, "deep"), (2, "lies"))
        ),
    ],
)
def test_engines_that_answer_garbage_end_the_job_and_cost_no_item(
    share: Share, coordinators: int, garbage: str
) -> None:
    """E16: the breaker pauses the host; no item is blamed or lost, every worker acknowledges."""
    seeds = {f"seed{n:02}": b"%d" % n for n in range(24)}
    slots, workers = ranks(coordinators)
    campaign = share("none", seeds, coordinators=coordinators, slots=slots)
    engines = (str(PROGRAMS / "garbage_engine.py"), garbage)
    groups = ((coordinators, OURS), (workers, engines))
    options = ["--shutdown-grace", f"{GRACE_S:g}s"]
    verdict = join(campaign, *groups, options=options, timeout_s=150.0)
    assert verdict.exit_code in (ExitCode.HOST, ExitCode.INTEGRITY)
    assert verdict.missing == []
    with campaign.reader() as reader:
        assert list(reader.audit()) == []
        status = reader.status()
    assert status.epoch is not None
    assert status.epoch.closed_wall is not None
    assert status.epoch.exit_code == verdict.exit_code
    paused_at = [min(pauses(campaign, number)) for number in range(coordinators)]
    assert status.epoch.closed_wall - max(paused_at) <= GRACE_S
    assert campaign.runs() == []
    assert status.total.executed == 0
    kept = {state: n for state, n in status.states.items() if n}
    assert kept.keys() <= {WorkState.PENDING, WorkState.DEFERRED}
    assert sum(kept.values()) == len(seeds), "every item is kept"
    assert "blames" not in status.faults_total
    assert [one.missing for one in status.coordinators] == [()] * coordinators
    assert sum(one.acknowledged for one in status.coordinators) == slots
