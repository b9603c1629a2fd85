"""How fast it goes now: amounts over a sliding window."""

from __future__ import annotations

from collections import deque
from typing import Final

WINDOW_S: Final = 10.0
SAMPLES_MAX: Final = 128


class Rate:
    """Growth per second of a counter over the last seconds."""

    def __init__(self, window_s: float = WINDOW_S) -> None:
        self._window_s = window_s
        self._samples: deque[tuple[float, int]] = deque(maxlen=SAMPLES_MAX)

    def sample(self, now: float, amount: int) -> float:
        """Take a sample (monotonic seconds, counter) and return the rate."""
        while len(self._samples) > 1 and self._samples[0][0] < now - self._window_s:
            self._samples.popleft()
        self._samples.append((now, amount))
        first_time, first_amount = self._samples[0]
        elapsed = now - first_time
        return max(0.0, (amount - first_amount) / elapsed) if elapsed > 0 else 0.0
