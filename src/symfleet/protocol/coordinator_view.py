"""What status and screens see of a coordinator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from symfleet.protocol.core import Core
from symfleet.protocol.fleet import WorkerPhase
from symfleet.types import SlotAddress


@dataclass(frozen=True, slots=True)
class SlotView:
    """One slot as status shows it."""

    place: SlotAddress
    host: str
    state: str
    deliveries: int
    items: int
    running_s: float
    """Seconds since the last sign of progress of the delivery that runs; 0 when idle."""


@dataclass(frozen=True, slots=True)
class CoordinatorView:
    """One snapshot for status and screens."""

    phase: str
    slots: tuple[SlotView, ...]
    workers: int
    workers_joined: int
    acknowledged: int
    unacknowledged: tuple[str, ...]
    in_flight_items: int
    claimed_items: int
    hosts_paused: tuple[str, ...]
    idle_window_s: float | None
    faults: tuple[tuple[str, str, int], ...]


def view_of(core: Core, phase: str, idle_window_s: float | None) -> CoordinatorView:
    """Take a snapshot."""
    workers = list(core.fleet.workers.values())
    slots = tuple(
        SlotView(
            place=slot.place,
            host=worker.host,
            state=slot.phase.value,
            deliveries=len(slot.deliveries),
            items=sum(len(delivery.open_items) for delivery in slot.deliveries),
            running_s=max(0.0, core.now - slot.evidence_at) if slot.deliveries else 0.0,
        )
        for worker in workers
        for slot in worker.slots
    )
    stopped = [worker for worker in workers if worker.phase is WorkerPhase.STOPPED]
    return CoordinatorView(
        phase=phase,
        slots=slots,
        workers=len(workers),
        workers_joined=sum(bool(worker.slots) for worker in workers),
        acknowledged=len(stopped),
        unacknowledged=tuple(
            worker.name for worker in workers if worker.phase is not WorkerPhase.STOPPED
        ),
        in_flight_items=core.in_flight.items,
        claimed_items=len(core.frontier.claimed),
        hosts_paused=tuple(sorted(core.breaker.paused)),
        idle_window_s=idle_window_s,
        faults=tuple((n, why, count) for (n, why), count in sorted(core.outbox.totals.items())),
    )


def joined_view(root: CoordinatorView, others: Sequence[CoordinatorView]) -> CoordinatorView:
    """Return one view of all coordinators; phase, window and faults are the root's."""
    if not others:
        return root
    views = (root, *others)
    return replace(
        root,
        slots=tuple(slot for view in views for slot in view.slots),
        workers=sum(view.workers for view in views),
        workers_joined=sum(view.workers_joined for view in views),
        acknowledged=sum(view.acknowledged for view in views),
        unacknowledged=tuple(name for view in views for name in view.unacknowledged),
        in_flight_items=sum(view.in_flight_items for view in views),
        claimed_items=sum(view.claimed_items for view in views),
        hosts_paused=tuple(sorted({host for view in views for host in view.hosts_paused})),
    )
