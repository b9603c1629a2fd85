"""Small fleets of the scale study: what must be true of each, whatever the machine is.

`simulate` itself asserts that each item is decided once, none runs twice, nothing is left and no
fault is counted. Costs are those of a machine that never was, so every figure repeats exactly.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from symfleet.testing.scale import study
from symfleet.testing.scale.coordinators import Submitted
from symfleet.testing.scale.costs import SAMPLE, Assumed, next_look
from symfleet.testing.scale.record import Window
from symfleet.testing.scale.study import run_loss, run_point
from symfleet.testing.scale.world import Point, StoreKind, World, coordinators_for, groups_of

STORES: tuple[StoreKind, ...] = ("sqlite", "postgres")
ASSUMED = Assumed()


@pytest.mark.parametrize("store", STORES)
def test_slots_are_busy_while_the_ledger_has_capacity(store: StoreKind) -> None:
    found = run_point(Point(72, 0.3, store, 720, 3), SAMPLE, ASSUMED)
    assert found.efficiency >= 0.98
    assert found.slot_least >= 0.9
    assert 0.8 <= found.coordinator_least <= found.coordinator_most <= 1.2
    assert found.throughput == pytest.approx(found.demand, rel=0.05)
    assert found.said_again == 0


@pytest.mark.parametrize("store", STORES)
def test_beyond_the_knee_all_that_is_lost_is_capacity_and_every_slot_gets_its_part(
    store: StoreKind,
) -> None:
    found = run_point(Point(120, 0.012, store, 1500, 3), SAMPLE, ASSUMED)
    more = run_point(Point(120, 0.006, store, 1500, 3), SAMPLE, ASSUMED)
    assert found.root_busy > 0.95 if store == "sqlite" else found.ledger_busy > 0.95
    # Twice the demand, the same capacity: half the efficiency.
    assert more.throughput == pytest.approx(found.throughput, rel=0.15)
    assert more.efficiency == pytest.approx(found.efficiency / 2, rel=0.2)
    for one in (found, more):
        assert one.slot_least >= 0.5
        assert 0.8 <= one.coordinator_least <= one.coordinator_most <= 1.25


def test_a_bundle_costs_fewer_transactions_for_the_same_decisions() -> None:
    alone = run_point(Point(16, 0.01, "sqlite", 800, 1, local=True), SAMPLE, ASSUMED)
    bundled = run_point(
        Point(16, 0.01, "sqlite", 800, 1, bundle_items=16, local=True), SAMPLE, ASSUMED
    )
    assert bundled.items_a_transaction > 2 * alone.items_a_transaction
    assert bundled.efficiency >= alone.efficiency


def test_a_run_repeats_to_the_last_digit_and_another_seed_is_another_run() -> None:
    point = Point(24, 0.1, "sqlite", 200, 2)
    first = run_point(point, SAMPLE, ASSUMED)
    assert run_point(point, SAMPLE, ASSUMED) == first
    assert run_point(dataclasses.replace(point, seed=2), SAMPLE, ASSUMED) != first


@pytest.mark.guarantee("L2")
@pytest.mark.parametrize("store", STORES)
def test_a_lost_coordinators_slots_run_again_elsewhere(store: StoreKind) -> None:
    found = run_loss(Point(48, 0.2, store, 500, 3), SAMPLE, ASSUMED, 1, 0.8)
    assert found.group == 16
    assert SAMPLE.lost_seen < found.half_s <= found.all_s < 1.0
    assert found.repeated <= 2 * found.group


@pytest.mark.guarantee("L6")
def test_a_lost_root_costs_the_restart_and_no_decided_item() -> None:
    found = run_loss(Point(32, 0.2, "sqlite", 400, 2), SAMPLE, ASSUMED, 0, 0.8)
    assert SAMPLE.restart < found.half_s <= found.all_s < SAMPLE.restart + 1.0
    assert found.repeated <= 2 * found.group


@pytest.mark.guarantee("L6")
def test_turns_that_waited_for_a_lost_root_never_run(monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[float] = []

    class Losing(World):
        def __init__(self, *point: Any) -> None:
            super().__init__(*point)
            take = self.store.take

            def take_and_lose(turn: Submitted) -> None:
                take(turn)
                if not lost and self.now > self.began_at + 0.5:
                    lost.append(self.now)
                    self.schedule(self.now, self.lose, 0)

            monkeypatch.setattr(self.store, "take", take_and_lose)

    monkeypatch.setattr(study, "World", Losing)
    study.simulate(Point(32, 0.2, "sqlite", 400, 2), SAMPLE, ASSUMED, (1, 1e6))
    assert lost


def test_slots_that_have_nothing_to_do_for_minutes_are_not_taken_for_dead() -> None:
    world = study.simulate(Point(16, 300.0, "sqlite", 48, 1), SAMPLE, ASSUMED, None)
    end = Window(world.dry_at, world.now)
    silence_s = world.knobs.delivery_silence_s + world.knobs.root_silence_s
    assert min(world.record.busy_by_slot(end)) * end.seconds < end.seconds - silence_s
    assert "worker_lost" not in {note.event for note in world.root.notes}


def test_slots_are_dealt_in_whole_workers() -> None:
    for slots, coordinators in ((1, 1), (90, 1), (1000, 11), (10_000, 64)):
        groups = groups_of(slots, coordinators)
        assert [slot for group in groups for slot in group] == [*range(slots)]
        assert max(map(len, groups)) - min(map(len, groups)) <= 8 + slots % 8
    assert [coordinators_for(slots) for slots in (1, 90, 1000, 10_000)] == [1, 1, 11, 64]


def test_an_idle_loop_sees_what_arrives_at_its_next_look() -> None:
    assert next_look(5.0, 5.0) == 5.0
    seen = next_look(5.0, 5.0001)
    assert 5.0001 <= seen <= 5.0003
    late = next_look(5.0, 9.0)
    assert 9.0 <= late <= 9.0021
