"""A median and the interval that holds it, whatever the distribution."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

LEVEL: Final = 0.95


class Figure(msgspec.Struct, frozen=True):
    """A median and its interval. `confidence`: the probability that such an interval holds the
    median of what the values were drawn from; below 0.95 when there are fewer than six."""

    unit: str
    median: float
    low: float
    high: float
    confidence: float
    values: int

    @classmethod
    def of(cls, unit: str, values: Iterable[float]) -> Figure | None:
        """Return the figure of some values, None when there is none."""
        found = sorted(values)
        if not found:
            return None
        low, high, confidence = median_interval(found)
        middle = statistics.median(found)
        return cls(
            unit=unit,
            median=round(middle, 4),
            low=round(low, 4),
            high=round(high, 4),
            confidence=round(confidence, 4),
            values=len(found),
        )


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return (low, high, confidence) of the median's exact distribution-free interval.

    It reaches from the k-th smallest to the k-th largest value, with the largest k that leaves at
    least 95 %: as many values lie below the median as heads fall in n throws of a coin (Conover,
    Practical Nonparametric Statistics, 3rd edition, 1999, section 3.2). Where no k does, k is 1."""
    ordered, count = sorted(values), len(values)
    confidence = [
        1 - 2 * sum(math.comb(count, heads) for heads in range(k)) / 2**count
        for k in range(1, (count + 1) // 2 + 1)
    ]
    k = max((n for n, one in enumerate(confidence, 1) if one >= LEVEL), default=1)
    return ordered[k - 1], ordered[-k], max(0.0, confidence[k - 1])
