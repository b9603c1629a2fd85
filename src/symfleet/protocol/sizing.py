"""How many items make a delivery: about `bundle_ms` of work, from measured cost.

One item when it costs more than that, when it was blamed, or when it is a suspect. An item's cost
is that of its parent's execution when known, else a running mean; before anything was measured a
delivery has one item.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final

from symfleet.protocol.answers import Lease
from symfleet.protocol.setup import Knobs
from symfleet.types import WorkId

_WEIGHT: Final = 0.125
_ENTRY_OVERHEAD: Final = 256


@dataclass(slots=True)
class Costs:
    """Running mean of what an execution takes, in microseconds."""

    mean_us: float | None = None

    def learn(self, wall_us: int) -> None:
        """Take one measured execution."""
        cost = float(max(1, wall_us))
        if self.mean_us is None:
            self.mean_us = cost
        else:
            self.mean_us += _WEIGHT * (cost - self.mean_us)

    def of(self, lease: Lease) -> float | None:
        """Return the expected cost of an item, None when nothing is known."""
        return float(lease.cost_us) if lease.cost_us > 0 else self.mean_us

    def typical_items(self, knobs: Knobs) -> int:
        """Return how many items fit into a delivery at the mean cost."""
        if self.mean_us is None:
            return 1
        return max(1, min(knobs.bundle_items, int(knobs.bundle_ms * 1000 / self.mean_us)))


def bundle(
    waiting: Sequence[Lease], share: int, costs: Costs, knobs: Knobs, solo: Container[WorkId] = ()
) -> int:
    """Return how many of the `waiting` leases, from the first, make the next delivery.

    `solo` items go alone. At least 1, at most `share` and `bundle_items`; the frame that carries
    them stays within its limit. One item always fits: Knobs checks input_mib against frame_mib."""
    limit = min(share, knobs.bundle_items, len(waiting))
    budget_us, room = knobs.bundle_ms * 1000, knobs.frame_bytes // 2
    taken = 0
    for lease in waiting[:limit]:
        cost = costs.of(lease)
        size = len(lease.data) + len(lease.payload) + _ENTRY_OVERHEAD
        alone = cost is None or lease.blames > 0 or lease.suspect or lease.work_id in solo
        if taken and (alone or cost is None or cost > budget_us or size > room):
            break
        taken += 1
        if alone or cost is None:
            break
        budget_us -= cost
        room -= size
        if budget_us <= 0 or room <= 0:
            break
    return max(1, taken)
