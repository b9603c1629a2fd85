"""Linear cost models from measured samples: non-negative least squares, with outliers set aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Sample = tuple[tuple[float, ...], float]
_ROUNDS = 2000


def fit(samples: Sequence[Sample], terms: int) -> tuple[float, ...]:
    """Return non-negative costs of the terms that explain the samples best (coordinate descent on
    the normal equations). Samples far above the first fit, a hundredth of all at most, are set
    aside: something else ran in between."""
    costs = _descend(samples, terms)
    ranked = sorted(samples, key=lambda sample: sample[1] - _predict(costs, sample[0]))
    return _descend(ranked[: len(ranked) - len(ranked) // 100], terms)


def explained(samples: Sequence[Sample], costs: Sequence[float]) -> float:
    """Return the share of the samples' variance that a model explains (R squared)."""
    mean = sum(seconds for _, seconds in samples) / len(samples)
    spread = sum((seconds - mean) ** 2 for _, seconds in samples)
    left = sum((seconds - _predict(costs, amounts)) ** 2 for amounts, seconds in samples)
    return 1 - left / spread if spread else 1.0


def _predict(costs: Sequence[float], amounts: Sequence[float]) -> float:
    return sum(cost * amount for cost, amount in zip(costs, amounts, strict=True))


def _descend(samples: Sequence[Sample], terms: int) -> tuple[float, ...]:
    squares = [[0.0] * terms for _ in range(terms)]
    products = [0.0] * terms
    for amounts, seconds in samples:
        for row, amount in enumerate(amounts):
            if amount:
                products[row] += amount * seconds
                line = squares[row]
                for column, other in enumerate(amounts):
                    line[column] += amount * other
    costs = [0.0] * terms
    for _ in range(_ROUNDS):
        for term in range(terms):
            square = squares[term][term]
            if square:
                rest = products[term] - sum(
                    squares[term][other] * costs[other] for other in range(terms) if other != term
                )
                costs[term] = max(0.0, rest / square)
    return tuple(costs)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model and how much of its samples' variance it explains."""

    costs: tuple[float, ...]
    explained: float
    samples: int


def quiet(seconds: Sequence[float]) -> float:
    """Return what something takes by the clock when nothing else runs: others use this disk and
    these cores, too, and the fiftieth part of the values met none of them."""
    return sorted(seconds)[len(seconds) // 50]


def quartile(seconds: Sequence[float]) -> float:
    """Return the lower quartile."""
    return sorted(seconds)[len(seconds) // 4]


def fitted(samples: Sequence[Sample], terms: Sequence[str]) -> Fitted:
    """Fit a model."""
    costs = fit(samples, len(terms))
    return Fitted(costs, round(explained(samples, costs), 4), len(samples))
