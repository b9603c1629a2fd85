"""The shapes of the campaigns that are simulated: many small ones, and some of every layout."""

from __future__ import annotations

from typing import Final

from symfleet.testing.simulation.epoch import Shape
from symfleet.types import Keep

SHAPES: Final[tuple[Shape, ...]] = (
    # One coordinator.
    Shape(),
    Shape(workers=1, slots=1, size=12, prefetch=0),
    Shape(workers=3, slots=2, size=30, prefetch=2),
    Shape(workers=2, slots=3, size=30, prefetch=4),
    Shape(workers=2, slots=1, size=10, seeds=(0,), late=((9, 1.5),)),
    Shape(workers=2, slots=2, size=30, keep=Keep.NOVEL),
    Shape(workers=2, slots=2, size=40, prefetch=2, wall_us_max=9_000),
    Shape(workers=2, slots=1, size=5, seeds=(0, 3), bulk=700_000),
    # Two to four.
    Shape(coordinators=2, workers=4, size=30),
    Shape(coordinators=2, workers=2, size=24, late=((9, 1.0), (12, 2.2))),
    Shape(coordinators=2, workers=4, size=30, direct=True),
    Shape(coordinators=2, workers=3, slots=1, size=30, keep=Keep.NOVEL),
    Shape(coordinators=2, workers=3, slots=2, size=40, wall_us_max=5_000, keep=Keep.NOVEL),
    Shape(coordinators=3, workers=6, size=28, slots=1, prefetch=0),
    Shape(coordinators=3, workers=3, size=18, slots=1, direct=True, late=((17, 20.0),)),
    Shape(coordinators=4, workers=8, size=32, slots=2, prefetch=2),
    Shape(coordinators=4, workers=5, size=32, late=((17, 1.2), (19, 35.0)), direct=True),
)


def shape_of(seed: int) -> Shape:
    """Return the shape that a seed is simulated in unless another one is given."""
    return SHAPES[seed % len(SHAPES)]
