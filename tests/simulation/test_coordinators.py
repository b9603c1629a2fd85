"""Whole campaigns of several coordinators in virtual time: killed, stopped and given up, they end
with the work of undisturbed ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from symfleet.protocol.quiescence import VotePhase
from symfleet.testing.simulation.campaign import Outcome, Simulation, simulate
from symfleet.testing.simulation.epoch import Shape
from symfleet.testing.simulation.fault_plan import FaultPlan
from symfleet.testing.simulation.shapes import SHAPES as ALL_SHAPES
from symfleet.types import input_id_of

SHAPES = [shape for shape in ALL_SHAPES if shape.coordinators > 1]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [1, 2])
def test_healthy_coordinators_count_no_fault_and_run_each_item_once(
    shape: Shape, seed: int
) -> None:
    outcome = simulate(seed, FaultPlan(), shape)
    assert outcome.faults == ()
    assert outcome.exit_code == 0
    assert outcome.executions == outcome.decisions
    assert outcome.idle_window_s == pytest.approx(1.0, abs=0.05)


@pytest.mark.guarantee("L2")
def test_a_coordinator_that_was_given_up_decides_nothing_when_it_comes_back() -> None:
    """It was stopped between asking for a decision and the ledger, on a connection of its own."""
    shape = Shape(coordinators=4, workers=5, size=60, late=((17, 1.2), (19, 35.0)), direct=True)
    plan = FaultPlan(peer_pauses=0.02, budget=5)
    for seed in range(100):
        world = Simulation(seed, plan, shape)
        assert world.run().exit_code in (0, 2)
        if world.oracle.rows.stale:
            return
    raise AssertionError("no decision came too late")


def test_work_that_one_coordinator_finds_reaches_the_others_at_once() -> None:
    """One seed in the root's source; nobody waits for the slow look into the ledger."""
    shape = Shape(coordinators=3, workers=3, slots=2, size=60, seeds=(0,))
    world = Simulation(4, FaultPlan(), shape)
    outcome = world.run()
    executed = [part.executed for part in world.ledger.status().coordinators]
    assert sum(executed) == outcome.decisions == 60
    assert min(executed) >= 10
    assert outcome.virtual_s < 3.0


# ---- E10: a seed appears at the end -----------------------------------------------------------


LEAVES = (22, 23)
"""Nodes that do not lead to all others."""


def dropped(owner: int, when: Callable[[Simulation], bool]) -> tuple[Simulation, Outcome]:
    """Run a campaign in which a seed appears in a coordinator's source at a moment."""
    world = Simulation(24, FaultPlan(), Shape(coordinators=2, workers=2, size=40, seeds=LEAVES))
    known = world.program.reachable(world.shape.seeds)
    node = next(n for n in range(40) if input_id_of(world.program.data(n)) not in known)

    def watch() -> None:
        if when(world):
            world.watch = lambda: None
            world.seeds.drop(node, owner, world.now)

    world.watch = watch
    return world, world.run()


def phase_of(world: Simulation, number: int) -> VotePhase:
    return world.coordinator(number).machine._vote.phase


def is_idle(world: Simulation) -> bool:
    """Whether the root has seen for half of the window that nothing is left."""
    since = world.coordinator(0).machine._vote.idle_since
    return since is not None and world.coordinator(0).now >= since + 0.5


@pytest.mark.guarantee("Q2")
@pytest.mark.parametrize("owner", [0, 1])
def test_a_seed_between_idle_and_prepare_vetoes_and_is_executed(owner: int) -> None:
    world, outcome = dropped(owner, is_idle)
    assert (outcome.epochs, outcome.exit_code) == (1, 0)
    assert world.seeds.unconfirmed == []
    notes = [note.event for note in world.coordinator(0).notes]
    assert notes == ["vote_void"]


@pytest.mark.guarantee("Q3")
@pytest.mark.parametrize("owner", [0, 1])
def test_a_seed_after_the_freeze_is_the_first_work_of_the_next_epoch(owner: int) -> None:
    world, outcome = dropped(owner, lambda w: phase_of(w, 0) is VotePhase.COMMITTED)
    assert (outcome.epochs, outcome.exit_code) == (2, 0)
    assert world.seeds.unconfirmed == []
