"""The one place where a simulation decides whether something goes wrong now.

A fault is drawn from its chance and paid from the plan's budget. Faults are numbered in the order
in which they are drawn; those that the plan skips are drawn and paid, but do not happen.

What may befall a frame depends on who speaks. MPI loses, repeats and reorders nothing between two
living ranks of one communicator, as long as one tag is used (which is so), and a frame arrives
whole or not at all. Between coordinators the simulation therefore allows only: any delay of one
pair of ranks while others are quick, so that frames of *different* pairs overtake each other; a
partition, in which frames wait for its end; and the death of the sender, which may take with it the
end of what it has said to each reader. The same holds for the root's Adopt to a worker. Frames
between a coordinator and its workers are treated worse than MPI would treat them: they may be lost,
repeated, damaged, cut short and reordered, because the machines promise to survive that, too.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Final

from symfleet.testing.simulation.fault_plan import FaultPlan

_AGAIN_STEPS_MAX: Final = 12
_SILENCING: Final = (
    *("root", "peer", "turn stalls", "partition", "clock stalls", "launch"),
    *("ledger", "publication"),
)


class SimulatedFaults:
    """Draws faults. `now()`: seconds since the campaign began; `told(fault)`: one happens."""

    def __init__(
        self,
        plan: FaultPlan,
        draw: random.Random,
        now: Callable[[], float],
        told: Callable[[str], None],
    ) -> None:
        self.plan = plan
        self.injected: Counter[str] = Counter()
        self.drawn = 0
        self.last_at = 0.0
        """When the newest one happened."""
        self._draw = draw
        self._now = now
        self._told = told
        self._skip = frozenset(plan.skip)
        self._again: dict[str, int] = {}

    @property
    def has_silenced(self) -> bool:
        """Whether a coordinator may have been kept from counting what it had taken."""
        return any(word in fault for fault in self.injected for word in _SILENCING)

    def spend(self, fault: str) -> bool:
        """Take one fault from the budget; False when it does not happen."""
        if self.drawn >= self.plan.budget or self._now() > self.plan.until_s:
            return False
        self.drawn += 1
        if self.drawn in self._skip:
            return False
        self.injected[fault] += 1
        self.last_at = self._now()
        self._told(f"{fault} ({self.drawn})")
        return True

    def happens(self, draw: random.Random, chance: float, fault: str) -> bool:
        """Draw a fault. A chance of zero is drawn, too: it changes nothing of the rest."""
        return draw.random() < chance and self.spend(fault)

    def died(self, kind: str) -> None:
        """A process of a kind has died: another one may follow soon."""
        if self.plan.dies_again and self._draw.random() < self.plan.dies_again:
            self._again[kind] = self._draw.randrange(1, _AGAIN_STEPS_MAX)

    def dies_again(self, kind: str) -> bool:
        """Whether a process of a kind dies at this step because one died a few steps ago."""
        left = self._again.get(kind)
        if left is None:
            return False
        if left > 1:
            self._again[kind] = left - 1
            return False
        del self._again[kind]
        return self.spend(f"{kind} dies again")
