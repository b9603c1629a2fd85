"""What goes wrong in a simulated campaign, drawn from one seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """Chances are per frame or per execution; counts are for the whole campaign.

    After `until_s` of virtual time, or when `budget` faults happened, nothing goes wrong any more
    (the safety phase ends, the liveness phase begins)."""

    loss: float = 0.0
    duplicate: float = 0.0
    delay: float = 0.0
    """Chance that a frame overtakes or is overtaken."""
    corrupt: float = 0.0
    replay: float = 0.0
    """Chance that an old frame is sent once more."""
    executor_dies: float = 0.0
    execution_hangs: float = 0.0
    worker_dies: float = 0.0
    worker_pauses: float = 0.0
    coordinator_pauses: float = 0.0
    coordinator_dies: float = 0.0
    """Chance per turn, at one of its crash points."""
    power_cut: float = 0.0
    """Chance that a coordinator's death is a power cut."""
    peer_dies: float = 0.0
    """Chance per turn of a coordinator that is not the root, at one of its crash points."""
    peer_pauses: float = 0.0
    """Chance per turn that such a one stops, for longer than it takes to be given up or not."""
    partial_intake: float = 0.0
    """Chance that a turn leaves frames in the transport."""
    until_s: float = 120.0
    budget: int = 0

    @property
    def is_calm(self) -> bool:
        """Whether nothing goes wrong at all."""
        return self.budget == 0

    @staticmethod
    def from_seed(seed: int) -> FaultPlan:
        """Draw a plan: each kind of fault is on with even chance."""
        draw = random.Random(f"fault plan {seed}")

        def chance(most: float) -> float:
            return draw.random() * most if draw.random() < 0.5 else 0.0

        return FaultPlan(
            loss=chance(0.1),
            duplicate=chance(0.1),
            delay=chance(0.3),
            corrupt=chance(0.05),
            replay=chance(0.05),
            executor_dies=chance(0.05),
            execution_hangs=chance(0.03),
            worker_dies=chance(0.01),
            worker_pauses=chance(0.01),
            coordinator_pauses=chance(0.01),
            coordinator_dies=chance(0.02),
            power_cut=draw.random(),
            partial_intake=chance(0.3),
            until_s=120.0,
            budget=draw.randrange(1, 25),
            peer_dies=chance(0.02),
            peer_pauses=chance(0.02),
        )

    def without_restarts(self) -> FaultPlan:
        """Return the same plan with a coordinator that lives."""
        return replace(self, coordinator_dies=0.0)
