"""The clocks of simulated processes."""

from __future__ import annotations

import random

import pytest

from symfleet.testing.simulation.clock import ProcessClock


def test_a_clock_that_stands_still_goes_on_from_where_it_was() -> None:
    world = [1000.0]
    clock = ProcessClock(lambda: world[0], 5.0)
    clock.stall(10.0)
    assert (clock.now(), clock.world_at(1006.0)) == (1005.0, 1011.0)
    world[0] = 1003.0
    clock.stall(2.0)
    assert (clock.now(), clock.world_at(1006.0)) == (1005.0, 1013.0)
    world[0] = 1012.0
    assert clock.now() == 1005.0
    world[0] = 1013.0
    assert clock.now() == 1006.0


@pytest.mark.guarantee("L4")
def test_a_clock_never_goes_back_by_rounding() -> None:
    draw = random.Random(1)
    world = [1000.0]
    clock = ProcessClock(lambda: world[0], draw.random() * 1e6)
    shown = clock.now()
    for _ in range(2000):
        world[0] += draw.random() * 1e-3
        if draw.random() < 0.1:
            clock.stall(draw.random() * 60)
            world[0] += draw.random() * 61
        assert clock.now() >= shown
        shown = clock.now()
