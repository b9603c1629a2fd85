"""Linear cost models from measured samples."""

from __future__ import annotations

import random

import pytest

from symfleet.testing.scale.fitting import explained, fit, quartile, quiet


def test_costs_are_found_again_under_noise_and_a_few_disturbed_samples() -> None:
    draw = random.Random(3)
    true = (2e-4, 0.0, 5e-6)
    samples = []
    for number in range(800):
        amounts = (1.0, float(draw.randrange(50)), float(draw.randrange(200)))
        seconds = sum(cost * amount for cost, amount in zip(true, amounts, strict=True))
        seconds *= draw.uniform(0.95, 1.05)
        samples.append((amounts, 0.5 if number % 200 == 7 else seconds))
    found = fit(samples, 3)
    assert found[0] == pytest.approx(true[0], rel=0.1)
    assert found[1] == pytest.approx(0.0, abs=1e-6)
    assert found[2] == pytest.approx(true[2], rel=0.1)
    undisturbed = [sample for sample in samples if sample[1] < 0.1]
    assert explained(undisturbed, found) > 0.95


def test_no_cost_is_negative() -> None:
    samples = [((1.0, float(n)), 1.0 - 0.01 * n) for n in range(50)]
    assert min(fit(samples, 2)) >= 0.0


def test_the_quiet_part_of_what_was_measured_is_its_smallest() -> None:
    values = [1.0] * 10 + [9.0] * 190
    assert quiet(values) == 1.0
    assert quartile([4.0, 1.0, 3.0, 2.0]) == 2.0
