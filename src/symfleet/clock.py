"""Time as an argument."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Two clocks: one for intervals, one for people. They are never compared with each other."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start of this boot; never goes back."""
        ...

    def wall(self) -> float:
        """Return seconds since 1970 for display; may jump."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait; raises nothing."""
        ...


class SystemClock:
    """The clocks of this machine."""

    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
