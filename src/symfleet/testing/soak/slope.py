"""How fast something grows: slopes that a few odd samples cannot bend.

The median of the slopes between all pairs of samples, and its 95 % interval by ranks: Theil (1950),
Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_SAMPLES_MAX: Final = 300
_Z_95: Final = 1.96


@dataclass(frozen=True, slots=True)
class Slope:
    """An estimate between its 95 % limits."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> Slope:
        """Return it in another unit. `factor`: not negative."""
        return Slope(self.value * factor, self.low * factor, self.high * factor)


def slope(samples: Sequence[tuple[float, float]]) -> Slope | None:
    """Return the robust slope of y over x; None when no two x differ. Of many samples evenly
    spaced ones are used."""
    chosen = samples[:: -(-len(samples) // _SAMPLES_MAX) or 1]
    slopes = sorted(
        (y2 - y1) / (x2 - x1)
        for place, (x1, y1) in enumerate(chosen)
        for x2, y2 in chosen[place + 1 :]
        if x2 != x1
    )
    if not slopes:
        return None
    n = len(chosen)
    width = _Z_95 * math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    low = max(0, math.floor((len(slopes) - width) / 2))
    high = min(len(slopes) - 1, math.ceil((len(slopes) + width) / 2))
    return Slope(statistics.median(slopes), slopes[low], slopes[high])


def percent_an_hour(samples: Sequence[tuple[float, float]]) -> Slope | None:
    """Return the slope of (seconds, amount) in percent of the median amount an hour."""
    found = slope(samples)
    middle = statistics.median(y for _, y in samples) if samples else 0.0
    return None if found is None or middle <= 0 else found.times(3600 / middle * 100)


def weighted_median(values: Sequence[tuple[float, float]]) -> float | None:
    """Return the median of (value, weight); None without weight."""
    total = sum(weight for _, weight in values)
    passed = 0.0
    for value, weight in sorted(values):
        passed += weight
        if passed * 2 >= total > 0:
            return value
    return None
