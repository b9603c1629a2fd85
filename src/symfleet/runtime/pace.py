"""How long a loop sleeps when nothing happens.

MPI has no descriptor to wait on, and a blocked receive burns a core: a loop looks, and sleeps
between its looks. The sleep starts short, so that an answer is noticed at once, and grows while
nothing comes, so that an idle process costs next to nothing.
"""

from __future__ import annotations

from typing import Final

SHORTEST_S: Final = 0.00005
LONGEST_S: Final = 0.002
_GROWTH: Final = 1.15


class Pace:
    """The next sleep of a loop."""

    def __init__(self) -> None:
        self._sleep_s = SHORTEST_S

    def busy(self) -> None:
        """Something happened: look again soon."""
        self._sleep_s = SHORTEST_S

    def idle(self, now: float, deadline: float | None) -> float:
        """Return how long to sleep, at most until `deadline` (monotonic seconds)."""
        sleep_s = self._sleep_s
        self._sleep_s = min(LONGEST_S, sleep_s * _GROWTH)
        if deadline is not None:
            sleep_s = min(sleep_s, max(0.0, deadline - now))
        return sleep_s
