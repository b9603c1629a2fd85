"""How fast something grows: slopes that a few odd samples cannot bend.

Theil and Sen's estimate: the median of the slopes between all pairs of samples (Sen, 1968).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Final

_SAMPLES_MAX: Final = 300


def slope(samples: Sequence[tuple[float, float]]) -> float | None:
    """Return the robust slope of y over x; None when no two x differ. Of many samples evenly
    spaced ones are used."""
    step = max(1, len(samples) // _SAMPLES_MAX)
    chosen = samples[::step]
    slopes = [
        (y2 - y1) / (x2 - x1)
        for place, (x1, y1) in enumerate(chosen)
        for x2, y2 in chosen[place + 1 :]
        if x2 != x1
    ]
    return statistics.median(slopes) if slopes else None


def percent_an_hour(samples: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope of (seconds, amount) in percent of the median amount an hour."""
    found = slope(samples)
    middle = statistics.median(y for _, y in samples) if samples else 0.0
    return None if found is None or middle == 0 else found * 3600 / middle * 100


def weighted_median(values: Sequence[tuple[float, float]]) -> float | None:
    """Return the median of (value, weight); None without weight."""
    total = sum(weight for _, weight in values)
    passed = 0.0
    for value, weight in sorted(values):
        passed += weight
        if passed * 2 >= total > 0:
            return value
    return None
