"""Whole campaigns in virtual time: disturbed in every way, they end with the same work decided."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from symfleet.testing.simulation.campaign import simulate
from symfleet.testing.simulation.epoch import Shape
from symfleet.testing.simulation.fault_plan import FaultPlan
from symfleet.testing.simulation.runs import run_seeds
from symfleet.testing.simulation.shapes import SHAPES, shape_of
from symfleet.types import Keep

CAMPAIGNS = 3000
CHUNK = 25
"""Small, so that a chunk ends in time on a machine that is busy with other things."""
FAULTS = {
    "clock stalls",
    "corrupt",
    "delay",
    "duplicate",
    "execution hangs",
    "executor crashes",
    "executor dies",
    "executor fails",
    "executor garbage",
    "launch dies after the epoch",
    "launch dies before the epoch",
    "launch dies before the introductions",
    "ledger fails",
    "loss",
    "loss seen late",
    "partial intake",
    "partition",
    "peer delay",
    "peer dies",
    "peer pauses",
    "publication fails",
    "replay",
    "result misfits",
    "root dies",
    "root dies again",
    "root dies while it publishes",
    "root pauses",
    "send fails",
    "stop requested",
    "truncate",
    "wall clock jumps",
    "worker dies",
    "worker dies again",
    "worker pauses",
}


@pytest.mark.guarantee("A6")
@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C2")
@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("C8")
@pytest.mark.guarantee("D1")
@pytest.mark.guarantee("D5")
@pytest.mark.guarantee("J6")
@pytest.mark.guarantee("L1")
@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("L6")
@pytest.mark.guarantee("Q1")
@pytest.mark.guarantee("Q2")
@pytest.mark.parametrize("chunk", range(CAMPAIGNS // CHUNK))
def test_disturbed_campaigns_end_with_the_work_of_undisturbed_ones(
    chunk: int, record_property: Callable[[str, object], None]
) -> None:
    summary = run_seeds(range(chunk * CHUNK, (chunk + 1) * CHUNK))
    assert not summary.findings, "\n".join(f"{one.command}: {one.what}" for one in summary.findings)
    assert summary.exit_codes.keys() <= {0, 2}
    assert summary.faults > CHUNK
    record_property("simulated campaigns", summary.campaigns)
    record_property("faults injected", summary.faults)


KEPT = [
    # A result comes with the word to leave: nothing of it is decided, and the tables say so.
    (
        49,
        FaultPlan(peer_pauses=0.02, partial_intake=0.2, budget=8),
        Shape(coordinators=3, workers=3, size=18, slots=1, direct=True, late=((17, 20.0),)),
    ),
    # The ledger fails in the turn of a decision, then the worker dies that made it.
    (
        4,
        FaultPlan(
            worker_dies=0.0097,
            coordinator_dies=0.0219,
            stops=0.0026144264560556884,
            ledger_fails=0.01491,
            until_s=400.0,
            budget=4,
        ),
        Shape(workers=2, slots=1, size=6),
    ),
    # The root takes a stopped coordinator's leases over and does not hear that it has; then that
    # coordinator goes on.
    (1_040_518, FaultPlan.from_seed(1_040_518), shape_of(1_040_518)),
    # A coordinator is lost while a quiescent epoch ends; its source has got a seed since.
    (1_063_043, FaultPlan.from_seed(1_063_043), shape_of(1_063_043)),
]


@pytest.mark.parametrize(("seed", "plan", "shape"), KEPT)
def test_campaigns_that_once_broke_a_rule(seed: int, plan: FaultPlan, shape: Shape) -> None:
    assert simulate(seed, plan, shape).exit_code in (0, 2)


def test_a_few_hundred_seeds_meet_every_kind_of_fault_and_every_shape() -> None:
    plans = [FaultPlan.from_seed(seed) for seed in range(200)]
    assert {name for plan in plans for name in plan.chances} == set(FaultPlan.names())
    summary = run_seeds(range(10_000, 10_170))
    assert summary.injected.keys() >= FAULTS
    assert len(summary.shapes) == len(SHAPES)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.coordinators == 1])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_healthy_campaign_counts_no_fault_and_runs_each_item_once(
    shape: Shape, seed: int
) -> None:
    outcome = simulate(seed, FaultPlan(), shape)
    assert outcome.faults == ()
    assert (outcome.exit_code, outcome.epochs) == (0, 1)
    assert outcome.executions == outcome.decisions
    assert outcome.idle_window_s == pytest.approx(1.0, abs=0.05)


def test_shapes_have_one_to_four_coordinators_and_keep_all_or_what_is_novel() -> None:
    assert {shape.coordinators for shape in SHAPES} == {1, 2, 3, 4}
    assert {shape.keep for shape in SHAPES} == set(Keep)


@pytest.mark.parametrize("seed", [5, 12, 13, 23])
def test_a_seed_replays_bit_by_bit_also_in_another_process(seed: int) -> None:
    """Python hashes strings differently in each process; nothing may depend on it."""
    here = simulate(seed, shape=shape_of(seed))
    assert here == simulate(seed, shape=shape_of(seed))
    for salt in ("1", "2"):
        told = subprocess.run(
            [sys.executable, "-m", "symfleet.testing.simulate", "--seed", str(seed), "--digest"],
            env={**os.environ, "PYTHONHASHSEED": salt},
            check=True,
            capture_output=True,
            text=True,
        )
        assert told.stdout.strip() == here.trace


@pytest.mark.long
@pytest.mark.parametrize("hundred", range(100))
def test_ten_thousand_disturbed_campaigns(
    hundred: int, record_property: Callable[[str, object], None]
) -> None:
    summary = run_seeds(range(10_000 + hundred * 100, 10_000 + (hundred + 1) * 100))
    assert not summary.findings, "\n".join(f"{one.command}: {one.what}" for one in summary.findings)
    record_property("simulated campaigns", summary.campaigns)
