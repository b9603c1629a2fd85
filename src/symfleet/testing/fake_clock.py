"""A clock that moves when it is told to."""

from __future__ import annotations


class FakeClock:
    """Both clocks of the Clock protocol; sleeping moves them."""

    def __init__(self, monotonic_s: float = 1000.0, wall_s: float = 1.7e9) -> None:
        self.monotonic_s = monotonic_s
        self.wall_s = wall_s

    def monotonic(self) -> float:
        """Return the fake monotonic time."""
        return self.monotonic_s

    def wall(self) -> float:
        """Return the fake wall time."""
        return self.wall_s

    def sleep(self, seconds: float) -> None:
        """Move both clocks."""
        self.advance_to(self.monotonic_s + seconds)

    def advance_to(self, monotonic_s: float) -> None:
        """Move both clocks to a later moment; never back."""
        step = max(0.0, monotonic_s - self.monotonic_s)
        self.monotonic_s += step
        self.wall_s += step
