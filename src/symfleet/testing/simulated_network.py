"""A transport that loses, duplicates, delays, damages and repeats frames, from one seed.

Without faults it is what MPI is: reliable, and in order between two ranks.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import Final

from symfleet.testing.fault_plan import FaultPlan

_KEPT_FRAMES: Final = 64
_LATENCY_S: Final = 0.001

Deliver = Callable[[int, int, bytes], None]


class SimulatedNetwork:
    """Frames between ranks. `schedule(at, what)` runs something at a virtual time."""

    def __init__(
        self,
        draw: random.Random,
        plan: FaultPlan,
        schedule: Callable[[float, Callable[[], None]], None],
        spend: Callable[[str], bool],
        deliver: Deliver,
        reliable: Callable[[int, int, bytes], bool] = lambda *_: False,
    ) -> None:
        """`reliable(source, target, frame)`: no fault befalls this frame."""
        self._draw = draw
        self._plan = plan
        self._schedule = schedule
        self._spend = spend
        self._deliver = deliver
        self._reliable = reliable
        self._busy_until: dict[tuple[int, int], float] = {}
        self._kept: deque[tuple[int, int, bytes]] = deque(maxlen=_KEPT_FRAMES)
        self.sent = 0

    def send(self, now: float, source: int, target: int, frame: bytes) -> None:
        """Send a frame; it arrives later, once, unless a fault says otherwise."""
        self.sent += 1
        plan, draw = self._plan, self._draw
        if plan.is_calm or self._reliable(source, target, frame):
            self._arrive(self._in_order(now, source, target), source, target, frame)
            return
        self._kept.append((source, target, frame))
        if draw.random() < plan.loss and self._spend("loss"):
            return
        if draw.random() < plan.corrupt and self._spend("corrupt"):
            frame = self._damage(frame)
        at = self._in_order(now, source, target)
        if draw.random() < plan.delay and self._spend("delay"):
            at = now + draw.expovariate(1 / 0.5)
        self._arrive(at, source, target, frame)
        if draw.random() < plan.duplicate and self._spend("duplicate"):
            self._arrive(now + draw.expovariate(1.0), source, target, frame)
        if draw.random() < plan.replay and self._spend("replay"):
            self._arrive(now + draw.random(), *draw.choice(self._kept))

    def _in_order(self, now: float, source: int, target: int) -> float:
        at = now + _LATENCY_S * (0.5 + self._draw.random())
        at = max(at, self._busy_until.get((source, target), 0.0) + 1e-9)
        self._busy_until[source, target] = at
        return at

    def _arrive(self, at: float, source: int, target: int, frame: bytes) -> None:
        self._schedule(at, lambda: self._deliver(source, target, frame))

    def _damage(self, frame: bytes) -> bytes:
        at = self._draw.randrange(len(frame))
        return frame[:at] + bytes([frame[at] ^ (1 << self._draw.randrange(8))]) + frame[at + 1 :]
