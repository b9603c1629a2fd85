"""When a launcher opens the next epoch by itself (protocol.md, Restarts).

After a crash only: at once when the epoch made a decision, else after 1, 2, 4, 8, 16 s; five epochs
without a decision in a row are a campaign that cannot run here, and the story is printed.
"""

from __future__ import annotations

from typing import Final

from symfleet.runtime.plan import OPENING

EPOCHS_WITHOUT_DECISION_MAX: Final = 5
SILENCE_S: Final = 60.0
"""Without a beat of the root for this long the launcher ends the job."""
OPENING_S: Final = 3600.0
"""How long the root may take to open a ledger; it cannot beat meanwhile."""


class RestartPolicy:
    """Counts epochs that came to nothing."""

    def __init__(self) -> None:
        self._fruitless = 0

    def delay_after_crash(self, *, decided: bool) -> float | None:
        """Return the seconds to wait before the next epoch; None: give up."""
        if decided:
            self._fruitless = 0
            return 0.0
        self._fruitless += 1
        if self._fruitless >= EPOCHS_WITHOUT_DECISION_MAX:
            return None
        return float(2 ** (self._fruitless - 1))


class BeatWatch:
    """Notices that the root has stopped beating. Beats are compared, never their times."""

    def __init__(self, now: float) -> None:
        self._beat = b""
        self._changed_at = now

    def is_silent(self, beat: bytes, now: float) -> bool:
        """Take the newest beat; tell whether it has been the newest for too long."""
        if beat != self._beat:
            self._beat = beat
            self._changed_at = now
        limit_s = OPENING_S if beat == OPENING else SILENCE_S
        return now - self._changed_at >= limit_s

    @property
    def heard(self) -> bool:
        """Whether there was a beat at all."""
        return bool(self._beat)
