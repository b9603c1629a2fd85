"""The monotonic clock of one simulated process.

No two processes have the same zero, so that a time which travels from one to another is nonsense
there (L4). A clock may stand still for a while, as it does in a virtual machine that is held: then
it goes on from where it was.
"""

from __future__ import annotations

from collections.abc import Callable


class ProcessClock:
    """Reads the world's time `offset` seconds later. `world()`: the world's time."""

    def __init__(self, world: Callable[[], float], offset: float) -> None:
        self._world = world
        self._offset = offset
        self._still_from = self._still_until = 0.0
        self._shown = 0.0

    def now(self) -> float:
        """Return monotonic seconds of this process: never less than before, nor by rounding."""
        world = self._world()
        if world < self._still_until:
            world = self._still_from
        self._shown = max(self._shown, world + self._offset)
        return self._shown

    def stall(self, seconds: float) -> None:
        """Stand still for so long; a clock that stands still already stands still longer."""
        world = self._world()
        if world < self._still_until:
            self._offset -= seconds
            self._still_until += seconds
            self._still_from += seconds
            return
        self._still_from, self._still_until = world, world + seconds
        self._offset -= seconds
        self._still_from += seconds

    def world_at(self, at: float) -> float:
        """Return the world's time at which this clock will show `at`."""
        return at - self._offset
