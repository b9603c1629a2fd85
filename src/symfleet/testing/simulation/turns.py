"""How the turns of coordinators that are not the root get to the ledger in a simulation."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from symfleet.errors import IOFailure
from symfleet.protocol.answers import TurnAnswers
from symfleet.protocol.operations import Operation
from symfleet.testing.simulation.coordinator import SimulatedCoordinator

if TYPE_CHECKING:
    from symfleet.testing.simulation.campaign import Simulation

_WAY_S: Final = 0.001
STALL_S: Final = 90.0
"""Longer than the silence after which a coordinator is given up, in two of three stalls."""


class SimulatedTurns:
    """Carries turns to the owner and answers back.

    Through the root a turn waits while the root is stopped, is lost with it, and is not taken from
    a coordinator that was given up. On a connection of its own (`direct`) a coordinator reaches
    the ledger whoever thinks it dead, and only the ledger's own rules hold it off."""

    def __init__(self, world: Simulation, draw: random.Random, *, direct: bool) -> None:
        self._world = world
        self._draw = draw
        self._direct = direct

    def submit(self, coordinator: SimulatedCoordinator, operations: Sequence[Operation]) -> None:
        """Send a turn. It may arrive although its sender has died meanwhile; it may leave late,
        when its sender is stopped between asking and sending."""
        world, stall_s = self._world, 0.0
        if world.happens(self._draw, world.plan.peer_pauses, "turn stalls"):
            stall_s = self._draw.random() * STALL_S
            coordinator.paused_until = world.now + stall_s
        world.schedule(world.now + stall_s, lambda: self._send(coordinator, operations))

    def _send(self, coordinator: SimulatedCoordinator, operations: Sequence[Operation]) -> None:
        if coordinator.alive:
            self._later(coordinator, lambda: self._arrive(coordinator, operations))

    def _later(self, coordinator: SimulatedCoordinator, what: Callable[[], None]) -> None:
        """Carry something from a coordinator to the owner, or back."""
        world, now = self._world, self._world.now
        rank = coordinator.setup.rank
        starts = now if self._direct else world.network.passes_at(rank, world.root.setup.rank)
        world.schedule(starts + _WAY_S * (0.5 + self._draw.random()), what)

    def _arrive(self, coordinator: SimulatedCoordinator, operations: Sequence[Operation]) -> None:
        world = self._world
        root = world.root
        if not root.alive or root.setup.epoch != coordinator.setup.epoch:
            return
        if not coordinator.alive and self._draw.random() < 0.5:
            return  # its last words are lost with it
        if not self._direct:
            if world.now < root.paused_until:
                world.schedule(root.paused_until, lambda: self._arrive(coordinator, operations))
                return
            if coordinator.setup.rank in world.dismissed:
                self._later(coordinator, lambda: world.coordinator_left(coordinator))
                return
        answers: TurnAnswers | IOFailure
        try:
            answers = world.commit(coordinator.name, operations)
        except IOFailure as error:
            answers = error
        self._later(coordinator, lambda: coordinator.answered(answers))
