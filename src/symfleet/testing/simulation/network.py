"""A transport that loses, duplicates, delays, damages and repeats frames, from one seed.

Without faults it is what MPI is: reliable, and in order between two ranks. `simulated_faults.py`
says which faults may befall whose frames, and why.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from symfleet.testing.simulation.fault_plan import FaultPlan

_KEPT_FRAMES: Final = 64
_LATENCY_S: Final = 0.001
_PARTITION_S: Final = 60.0
_CALM: Final = "arrives"

Deliver = Callable[[int, int, bytes], None]


class Surroundings(Protocol):
    """What the network needs of the world."""

    @property
    def now(self) -> float:
        """Virtual seconds."""
        ...

    @property
    def plan(self) -> FaultPlan:
        """What goes wrong."""
        ...

    def schedule(self, at: float, what: Callable[[], None]) -> None:
        """Run something at a virtual time."""
        ...

    def happens(self, draw: random.Random, chance: float, fault: str) -> bool:
        """Draw a fault."""
        ...

    def sent(self, source: int, target: int, frame: bytes, fate: str) -> None:
        """A frame leaves."""
        ...


@dataclass(slots=True)
class _Partition:
    """Until `until`, ranks in `inside` and all others do not reach each other."""

    inside: frozenset[int]
    until: float

    def cuts(self, now: float, source: int, target: int) -> bool:
        return now < self.until and (source in self.inside) != (target in self.inside)


class SimulatedNetwork:
    """Frames between `ranks` ranks."""

    def __init__(
        self,
        draw: random.Random,
        world: Surroundings,
        ranks: int,
        deliver: Deliver,
        reliable: Callable[[int, int, bytes], bool],
    ) -> None:
        """`reliable(source, target, frame)`: this frame meets only what MPI allows."""
        self._draw = draw
        self._world = world
        self._ranks = ranks
        self._deliver = deliver
        self._reliable = reliable
        self._busy_until: dict[tuple[int, int], float] = {}
        self._kept: deque[tuple[int, int, bytes]] = deque(maxlen=_KEPT_FRAMES)
        self._partition = _Partition(frozenset(), 0.0)
        self._last_words: dict[int, dict[int, float]] = {}
        """Dead rank -> reader -> what was to arrive later than this is lost with the sender."""
        self.damaged: set[bytes] = set()
        """Every frame that was spoilt on its way."""

    def send(self, source: int, target: int, frame: bytes) -> None:
        """Send a frame; it arrives later, once, unless a fault says otherwise."""
        world, now = self._world, self._world.now
        if world.plan.is_calm:
            self._arrive(self._in_order(now, source, target), source, target, frame)
            world.sent(source, target, frame, _CALM)
            return
        if world.happens(self._draw, world.plan.partition, "partition"):
            self._divide(now)
        if self._reliable(source, target, frame):
            fate = self._carry(now, source, target, frame)
        else:
            fate = self._carry_badly(now, source, target, frame)
        world.sent(source, target, frame, fate)

    def died(self, rank: int) -> None:
        """A rank is dead: the end of what it has said may never arrive."""
        now = self._world.now
        self._last_words[rank] = {
            target: now + self._draw.random() * 2 * _LATENCY_S for target in range(self._ranks)
        }

    def passes_at(self, source: int, target: int) -> float:
        """Return when something that leaves now could reach the other side of a partition."""
        now = self._world.now
        return self._partition.until if self._partition.cuts(now, source, target) else now

    # ---- one frame ------------------------------------------------------------------------------

    def _carry(self, now: float, source: int, target: int, frame: bytes) -> str:
        """MPI's own rules: late, but in order, once, whole."""
        world, fate = self._world, _CALM
        late_s = self.passes_at(source, target) - now
        if late_s > 0:
            fate = "waits for the partition's end"
        elif world.happens(self._draw, world.plan.delay, "peer delay"):
            fate, late_s = "late", self._draw.expovariate(1 / 0.5)
        self._arrive(self._in_order(now + late_s, source, target), source, target, frame)
        return fate

    def _carry_badly(self, now: float, source: int, target: int, frame: bytes) -> str:
        world, plan, draw = self._world, self._world.plan, self._draw
        if self._partition.cuts(now, source, target):
            return "lost in the partition"
        self._kept.append((source, target, frame))
        if world.happens(draw, plan.loss, "loss"):
            return "lost"
        fates = []
        if world.happens(draw, plan.corrupt, "corrupt"):
            frame = self._damage(frame)
            fates.append("damaged")
        if world.happens(draw, plan.truncate, "truncate"):
            frame = frame[: draw.randrange(len(frame))]
            self.damaged.add(frame)
            fates.append("cut short")
        at = self._in_order(now, source, target)
        if world.happens(draw, plan.delay, "delay"):
            at = now + draw.expovariate(1 / 0.5)
            fates.append(f"late at {at:.4f}")
        self._arrive(at, source, target, frame)
        if world.happens(draw, plan.duplicate, "duplicate"):
            self._arrive(now + draw.expovariate(1.0), source, target, frame)
            fates.append("twice")
        if world.happens(draw, plan.replay, "replay"):
            self._arrive(now + draw.random(), *draw.choice(self._kept))
            fates.append("and an old one with it")
        return ", ".join(fates) or _CALM

    def _divide(self, now: float) -> None:
        inside = [rank for rank in range(self._ranks) if self._draw.random() < 0.5]
        self._partition = _Partition(frozenset(inside), now + self._draw.random() * _PARTITION_S)

    def _in_order(self, now: float, source: int, target: int) -> float:
        at = now + _LATENCY_S * (0.5 + self._draw.random())
        at = max(at, self._busy_until.get((source, target), 0.0) + 1e-9)
        self._busy_until[source, target] = at
        return at

    def _arrive(self, at: float, source: int, target: int, frame: bytes) -> None:
        def arrive() -> None:
            until = self._last_words.get(source)
            if until is None or at <= until[target]:
                self._deliver(source, target, frame)

        self._world.schedule(at, arrive)

    def _damage(self, frame: bytes) -> bytes:
        at = self._draw.randrange(len(frame))
        spoilt = frame[:at] + bytes([frame[at] ^ (1 << self._draw.randrange(8))]) + frame[at + 1 :]
        self.damaged.add(spoilt)
        return spoilt
