"""Whole campaigns in virtual time: disturbed in every way, they end with the same work decided."""

from __future__ import annotations

import pytest

from symfleet.testing.fault_plan import FaultPlan
from symfleet.testing.simulated_epoch import Shape
from symfleet.testing.simulation import Outcome, simulate

SEEDS = 300
BATCHES = 10
SHAPES = (
    Shape(),
    Shape(workers=1, slots=1, size=12, prefetch=0),
    Shape(workers=3, slots=2, size=30, prefetch=2),
    Shape(workers=2, slots=3, size=30, prefetch=4),
)


def disturbed(seed: int) -> Outcome:
    try:
        return simulate(seed, shape=SHAPES[seed % len(SHAPES)])
    except AssertionError as failure:
        raise AssertionError(f"seed {seed}: {failure}") from failure


@pytest.mark.guarantee("A6")
@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C2")
@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("C8")
@pytest.mark.guarantee("D1")
@pytest.mark.guarantee("J6")
@pytest.mark.guarantee("L1")
@pytest.mark.parametrize("batch", range(BATCHES))
def test_disturbed_campaigns_end_with_the_work_of_undisturbed_ones(batch: int) -> None:
    share = SEEDS // BATCHES
    outcomes = [disturbed(seed) for seed in range(batch * share, (batch + 1) * share)]
    assert {outcome.exit_code for outcome in outcomes} <= {0, 2}
    assert any(outcome.injected for outcome in outcomes)


def test_the_faults_of_a_batch_cover_every_kind() -> None:
    kinds = {kind for seed in range(40) for kind, _ in disturbed(seed).injected}
    assert kinds >= {
        "loss",
        "duplicate",
        "delay",
        "corrupt",
        "replay",
        "executor dies",
        "execution hangs",
        "worker dies",
        "worker pauses",
        "root pauses",
        "root dies",
        "partial intake",
    }


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_healthy_campaign_counts_no_fault_and_runs_each_item_once(
    shape: Shape, seed: int
) -> None:
    outcome = simulate(seed, FaultPlan(), shape)
    assert outcome.faults == ()
    assert (outcome.exit_code, outcome.epochs) == (0, 1)
    assert outcome.executions == outcome.decisions
    assert outcome.idle_window_s == pytest.approx(1.0, abs=0.05)


def test_a_seed_replays_bit_by_bit() -> None:
    assert simulate(17) == simulate(17)


@pytest.mark.long
@pytest.mark.parametrize("thousand", range(10))
def test_ten_thousand_disturbed_campaigns(thousand: int) -> None:
    for seed in range(10_000 + thousand * 1000, 10_000 + (thousand + 1) * 1000):
        disturbed(seed)
