"""Whom a worker serves, and how long it waits for the root to say so when its coordinator is lost.

    SERVING ──lost, or silent──> ORPHANED ──Adopt from the root──> SERVING (another)
       ^                            │ └─ waited too long ──> OVER
       └──────── it speaks again ───┘

Who serves the root has nobody to wait for: its loss ends the job. A coordinator that only is silent
may come back until the root gives it up; the wait is as long as the root may take for that.
"""

from __future__ import annotations

from typing import Final

_SILENCES_UNTIL_GIVEN_UP: Final = 3
"""Root silences that a worker waits for the root to give a silent coordinator up."""


class Adoption:
    """One worker's coordinator. Times are on the worker's timeline, in seconds."""

    __slots__ = ("_gone", "_lost", "_over", "_root", "_silence_s", "coordinator", "until")

    def __init__(self, coordinator: int, root: int, root_silence_s: float) -> None:
        self.coordinator = coordinator
        self.until: float | None = None
        """When the wait for an adoption is over; None while the coordinator lives."""
        self._root = root
        self._silence_s = root_silence_s
        self._gone: set[int] = set()
        self._lost = False
        self._over = False

    def rank_lost(self, now: float, rank: int) -> bool:
        """A rank is dead; return whether nothing is left to wait for."""
        self._gone.add(rank)
        if rank == self._root:
            return True
        if rank == self.coordinator:
            self._orphan(now)
        return False

    def _orphan(self, now: float) -> None:
        self._lost = True
        self.until = now + self._silence_s

    def silent(self, now: float) -> None:
        """The coordinator has been silent for too long."""
        if self.coordinator == self._root:
            self._over = True
        elif self.until is None:
            self.until = now + _SILENCES_UNTIL_GIVEN_UP * self._silence_s

    def heard(self) -> None:
        """The coordinator spoke."""
        if not self._lost:
            self.until = None

    def adopt(self, now: float, coordinator: int) -> bool:
        """Serve another coordinator; return whether that is news and possible."""
        if self.coordinator in (coordinator, self._root):
            return False
        self.coordinator = coordinator
        self.until, self._lost = None, False
        if coordinator in self._gone:
            self._orphan(now)
        return True

    def is_over(self, now: float) -> bool:
        """Whether nobody came."""
        return self._over or (self.until is not None and now >= self.until)
