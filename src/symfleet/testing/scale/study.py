"""One point of the scale study: simulate a fleet, hold it to what must be true, return figures."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Final

from symfleet.testing.scale.costs import Assumed, Costs
from symfleet.testing.scale.record import Window, quantile
from symfleet.testing.scale.world import Point, World

_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Figures:
    """What a point showed. All but the last group are of the steady window (`record.Window`).

    `demand`: decisions a second that the slots would make if nothing ever waited. `efficiency`: the
    share of slot time in executions. `trip`: what a delivery takes beside its execution, from the
    WORK's departure to its arrival and from the end of the execution to the durable decision.
    `slot_least`: the busy share of the slot that had least of it, against the mean;
    `coordinator_least`, `coordinator_most`: decisions for each slot of a coordinator's group,
    against the mean. `ledger_busy`: of the one place where transactions follow each other;
    `root_busy`: of the root's process, which with SQLite is that place's process.
    """

    slots: int
    coordinators: int
    store: str
    length_ms: float
    bundle_items: int
    items: int
    demand: float
    throughput: float
    efficiency: float
    trip_p50_ms: float
    trip_p99_ms: float
    ledger_busy: float
    root_busy: float
    busiest_coordinator: float
    slot_least: float
    coordinator_least: float
    coordinator_most: float
    window_s: float
    transactions: int
    items_a_transaction: float
    said_again: int
    ledger_mib: float
    virtual_s: float


@dataclass(frozen=True, slots=True)
class Loss:
    """What losing a coordinator cost. `seen_s` is part of `half_s`, in which half of the slots of
    its group run again, and of `all_s`. `slot_seconds`: executions that the group did not make,
    idle and in vain. `repeated`: executions that had ended and were made again, because their
    results came to nobody."""

    slots: int
    coordinators: int
    store: str
    length_ms: float
    lost: str
    group: int
    half_s: float
    all_s: float
    slot_seconds: float
    repeated: int


def simulate(point: Point, costs: Costs, assumed: Assumed, lose: tuple[int, float] | None) -> World:
    """Run a point to its end, `lose` (coordinator, seconds) on the way, and check what holds for
    every campaign: each item decided once, nothing left, nothing counted as a fault."""
    gc.collect()
    world = World(point, costs, assumed)
    if lose is not None:
        world.schedule(world.now + lose[1], world.lose, lose[0])
    world.run()
    ledger = world.ledger
    assert ledger.closed is not None
    assert ledger.closed.reason == "quiescent", ledger.closed
    assert ledger.decisions == len(world.record.decided_at) == point.items, "each item once"
    assert ledger.open_work == 0, "nothing is left"
    if lose is None:
        assert not ledger.faults, ledger.faults
        assert world.record.executed == point.items, "nothing runs twice"
    return world


def run_point(point: Point, costs: Costs, assumed: Assumed) -> Figures:
    """Simulate a fleet that nothing disturbs."""
    world = simulate(point, costs, assumed, None)
    record = world.record
    window = record.window(world.dry_at, point.in_flight)
    assert window.seconds > 0, "a fleet needs more items to come to a steady state"
    busy = record.busy_by_slot(window)
    mean = sum(busy) / len(busy)
    shares = coordinator_shares(world)
    p50, p99 = record.trips_ms()
    decided = record.decisions_in(window)
    each = costs.sqlite_bytes if point.store == "sqlite" else costs.postgres_bytes
    return Figures(
        slots=point.slots,
        coordinators=point.coordinators,
        store=point.store,
        length_ms=point.length_s * 1e3,
        bundle_items=point.bundle_items,
        items=point.items,
        demand=round(point.slots / point.length_s, 1),
        throughput=round(decided / window.seconds, 1),
        efficiency=round(mean, 4),
        trip_p50_ms=round(p50, 3),
        trip_p99_ms=round(p99, 3),
        ledger_busy=round(record.ledger.share(window), 4),
        root_busy=round(world.root.busy.share(window), 4),
        busiest_coordinator=round(max(c.busy.share(window) for c in world.coordinators), 4),
        slot_least=round(min(busy) / mean, 4) if mean else 0.0,
        coordinator_least=round(min(shares), 4),
        coordinator_most=round(max(shares), 4),
        window_s=round(window.seconds, 3),
        transactions=record.turns,
        items_a_transaction=round(point.items / record.turns, 2),
        said_again=record.repeated,
        ledger_mib=round(point.items * each / _MIB, 1),
        virtual_s=round(world.now - world.began_at, 3),
    )


def coordinator_shares(world: World) -> list[float]:
    """Return the decisions for each slot of every coordinator, against the mean of all."""
    mean = world.point.items / world.point.slots
    return [
        world.ledger.decided_by.get(coordinator.setup.number, 0) / coordinator.slots / mean
        for coordinator in world.coordinators
    ]


def run_loss(point: Point, costs: Costs, assumed: Assumed, number: int, at_s: float) -> Loss:
    """Simulate a fleet that loses a coordinator; with number 0 the whole job."""
    world = simulate(point, costs, assumed, (number, at_s))
    group = world.groups[number] if number else range(point.slots)
    lost_at = world.lost_at
    before = Window(world.began_at, lost_at)
    back: list[float] = []
    missing = 0.0
    for ended, begun in world.record.around(lost_at, group):
        back.append(begun - lost_at)
        missing += begun - max(ended, before.begin)
    back.sort()
    return Loss(
        slots=point.slots,
        coordinators=point.coordinators,
        store=point.store,
        length_ms=point.length_s * 1e3,
        lost=f"coordinator {number}" if number else "root",
        group=len(group),
        half_s=round(quantile(back, 0.5), 3),
        all_s=round(back[-1], 3) if back else 0.0,
        slot_seconds=round(missing, 1),
        repeated=world.record.executed - point.items,
    )
