"""What goes wrong in a simulated campaign, drawn from one seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """Each `float` but `until_s` is a chance; `simulated_faults.py` says what each fault is.

    After `until_s` of virtual time, or when `budget` faults were drawn, nothing goes wrong any more
    (the safety phase ends, the liveness phase begins). `skip` names faults, by the order in which
    they are drawn (from 1), that do not happen after all: so a failing run is made shorter without
    changing what comes before."""

    # Frames between a coordinator and a worker, per frame.
    loss: float = 0.0
    duplicate: float = 0.0
    delay: float = 0.0
    """Between coordinators a delayed frame keeps its place."""
    corrupt: float = 0.0
    truncate: float = 0.0
    replay: float = 0.0
    """Chance that an old frame is sent once more."""
    partition: float = 0.0
    """Chance that, from this frame on, some ranks do not reach the others for a time."""
    send_fails: float = 0.0
    """Chance that a delivery cannot be sent although its reader lives."""
    loss_seen_late: float = 0.0
    """Chance, per process that is to hear of a death, that it hears of it much later."""
    # Executors, per execution or start.
    executor_dies: float = 0.0
    """Killed by somebody unknown: nobody is blamed."""
    executor_crashes: float = 0.0
    """Of its own fault: the item is blamed."""
    executor_garbage: float = 0.0
    """An answer that makes no sense, at any time."""
    executor_fails: float = 0.0
    """It cannot start, or fails its self-test."""
    execution_hangs: float = 0.0
    result_misfits: float = 0.0
    """A result that contradicts itself or names something else."""
    # Processes, per step.
    worker_dies: float = 0.0
    worker_pauses: float = 0.0
    coordinator_pauses: float = 0.0
    coordinator_dies: float = 0.0
    """Chance per turn of the root, at one of its crash points."""
    power_cut: float = 0.0
    """Chance that the root's death is a power cut."""
    peer_dies: float = 0.0
    """Chance per turn of a coordinator that is not the root, at one of its crash points."""
    peer_pauses: float = 0.0
    """Chance per turn that such a one stops, for longer than it takes to be given up or not."""
    dies_again: float = 0.0
    """Chance that a death is followed by another one within a few steps."""
    opening_dies: float = 0.0
    """Chance, at each step of opening an epoch, that the launch ends there."""
    stops: float = 0.0
    """Chance per turn of the root that somebody asks for the end of the epoch."""
    ledger_fails: float = 0.0
    """Chance per turn that the ledger answers with an I/O error, whether or not the turn is
    durable, and then refuses everything."""
    publication_fails: float = 0.0
    """Chance per publication that files cannot be written."""
    partial_intake: float = 0.0
    """Chance that a turn leaves frames in the transport."""
    clock_stalls: float = 0.0
    """Chance per step that the process's monotonic clock stands still for a time."""
    wall_jumps: float = 0.0
    """Chance per turn of the root that its wall clock jumps a year, forth or back."""
    until_s: float = 120.0
    budget: int = 0
    skip: tuple[int, ...] = ()

    @property
    def is_calm(self) -> bool:
        """Whether nothing goes wrong at all."""
        return self.budget == 0

    @staticmethod
    def from_seed(seed: int) -> FaultPlan:
        """Draw a plan: some kinds of faults are on, each as often as its own chance says. Those of
        frames are on less often, since they would spend the budget of all others. One plan of ten
        is a long misfortune."""
        draw = random.Random(f"fault plan {seed}")
        long = draw.random() < 0.1
        rarely = 8 if long else 1

        def frames(most: float) -> float:
            return draw.random() * most / rarely if draw.random() < 0.35 else 0.0

        def chance(most: float) -> float:
            return draw.random() * most if draw.random() < 0.5 else 0.0

        return FaultPlan(
            loss=frames(0.08),
            duplicate=frames(0.08),
            delay=frames(0.2),
            corrupt=frames(0.04),
            truncate=frames(0.04),
            replay=frames(0.04),
            partition=chance(0.005),
            executor_dies=chance(0.1),
            executor_crashes=chance(0.1),
            executor_garbage=chance(0.08),
            executor_fails=chance(0.06),
            execution_hangs=chance(0.05),
            result_misfits=chance(0.1),
            worker_dies=chance(0.015),
            worker_pauses=chance(0.015),
            coordinator_pauses=chance(0.015),
            coordinator_dies=chance(0.03),
            power_cut=draw.random(),
            peer_dies=chance(0.03),
            peer_pauses=chance(0.03),
            dies_again=chance(0.8),
            opening_dies=chance(0.3),
            stops=chance(0.01),
            ledger_fails=chance(0.02),
            publication_fails=chance(0.04),
            partial_intake=frames(0.3),
            clock_stalls=chance(0.01),
            wall_jumps=chance(0.02),
            until_s=400.0 if long else 120.0,
            budget=draw.randrange(25, 120) if long else draw.randrange(1, 25),
            send_fails=chance(0.03),
            loss_seen_late=chance(0.3),
        )

    def without_restarts(self) -> FaultPlan:
        """Return the same plan with a root that lives."""
        return replace(self, coordinator_dies=0.0, opening_dies=0.0)

    def without(self, chance: str) -> FaultPlan:
        """Return the same plan with a chance of zero."""
        off: dict[str, Any] = {chance: 0.0}
        return replace(self, **off)

    @property
    def chances(self) -> tuple[str, ...]:
        """Names of the chances that are not zero."""
        return tuple(name for name in self.names() if getattr(self, name))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of all chances."""
        names = (one.name for one in fields(cls) if one.type == "float")
        return tuple(name for name in names if name != "until_s")
