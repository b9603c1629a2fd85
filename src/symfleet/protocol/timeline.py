"""Time as a machine counts it: late turns move all deadlines.

A process that was stopped, or a turn that took long, must not read its own absence as the silence
of others. A turn that begins more than `late_s` after the machine asked to be called moves every
deadline by its lateness, and does no sweep (protocol.md, Delivery). All deadlines are kept on this
timeline, so moving it moves them at once.
"""

from __future__ import annotations

from typing import Final

TICK_S: Final = 1.0
"""A machine asks to be called at least this often, so that lateness can be seen."""


class Timeline:
    """Monotonic seconds minus the lateness of all turns so far."""

    __slots__ = ("_expected", "_late_s", "_shift", "late")

    def __init__(self, now: float, late_s: float) -> None:
        self._shift = 0.0
        self._late_s = late_s
        self._expected = now + TICK_S
        self.late = False
        """Whether the turn that runs now began late."""

    def begin(self, now: float) -> float:
        """Begin a turn; return the time on this timeline."""
        lateness = now - self._expected
        self.late = lateness > self._late_s
        if self.late:
            self._shift += lateness
        self._expected = now + TICK_S
        return now - self._shift

    def expect(self, now_t: float, deadline_t: float | None) -> float:
        """Note when the next turn is due, both on this timeline; return it in monotonic seconds.

        A deadline that has passed is due now and not before: a sweep may wait for as long as the
        transport is never seen empty, and time must not stand still until then."""
        due = now_t + TICK_S if deadline_t is None else min(now_t + TICK_S, max(now_t, deadline_t))
        self._expected = due + self._shift
        return self._expected
