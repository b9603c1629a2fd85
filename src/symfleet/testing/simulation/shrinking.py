"""Makes a failing campaign shorter until a person can read it.

Two things are done in turn. First the campaign becomes smaller (fewer coordinators, workers, slots,
nodes; nothing prefetched, nothing late, shorter phases of faults); a smaller campaign is another
run altogether, so a few seeds are tried for each. Then its faults are taken away: as many of the
last ones as possible, then any that are not needed, by delta debugging over the order in which they
are drawn; then fewer faults are tried with other seeds; chances that have become useless are set to
zero. What counts as the same failure is the
rule that is broken, by the name at the head of its message.

Delta debugging: Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from symfleet.testing.simulation.campaign import Simulation
from symfleet.testing.simulation.epoch import Shape
from symfleet.testing.simulation.fault_plan import FaultPlan

RUNS_MAX: Final = 600
_SEEDS_TRIED: Final = 12
_SEEDS_ELSEWHERE: Final = 60


@dataclass(frozen=True, slots=True)
class Case:
    """One campaign."""

    seed: int
    plan: FaultPlan
    shape: Shape


@dataclass(frozen=True, slots=True)
class Failure:
    """How a campaign failed."""

    rule: str
    what: str
    drawn: int
    """How many faults had been drawn by then."""
    steps: int


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The shortest failing campaign that was found."""

    case: Case
    what: str
    runs: int


def failure_of(case: Case) -> Failure | None:
    """Run a campaign; return how it fails, None when all rules are kept."""
    world = Simulation(case.seed, case.plan, case.shape)
    try:
        world.run()
    except AssertionError as broken:
        what = f"{type(broken).__name__}: {broken}"
        rule = f"{type(broken).__name__}: {str(broken).partition(':')[0][:60]}"
        return Failure(rule, what, world.faults.drawn, world.steps)
    return None


class _Shrinker:
    def __init__(self, case: Case, first: Failure, told: Callable[[str], None]) -> None:
        self.case = case
        self.failure = first
        self.runs = 1
        self._told = told

    def try_out(self, case: Case) -> bool:
        """Go on from a case if it breaks the same rule."""
        if self.runs >= RUNS_MAX:
            return False
        self.runs += 1
        failure = failure_of(case)
        if failure is None or failure.rule != self.failure.rule:
            return False
        self.case, self.failure = case, failure
        return True

    def make_smaller(self) -> None:
        """Try each smaller shape with a few seeds, until none of them fails."""
        shrinks = True
        while shrinks:
            shrinks = any(self._fits(shape) for shape in _smaller(self.case.shape))

    def _fits(self, shape: Shape) -> bool:
        case = self.case
        seeds = [case.seed, *range(_SEEDS_TRIED)]
        found = any(self.try_out(replace(case, seed=seed, shape=shape)) for seed in seeds)
        if found:
            self._told(f"{self.runs} runs: {self.case.shape.name}")
        return found

    def drop_faults(self) -> None:
        """Leave out every fault that is not needed."""
        plan = self.case.plan
        self.try_out(self._with(replace(plan, budget=self.failure.drawn)))
        self._drop_last()
        self._drop_any()
        self._look_elsewhere()
        for name in self.case.plan.chances:
            self.try_out(self._with(self.case.plan.without(name)))
        self._told(f"{self.runs} runs: {self.case.plan.budget - len(self.case.plan.skip)} faults")

    def _look_elsewhere(self) -> None:
        """Fewer faults may be enough with another seed."""
        plan = self.case.plan
        for budget in range(1, plan.budget - len(plan.skip)):
            for seed in range(_SEEDS_ELSEWHERE):
                fewer = replace(plan, budget=budget, skip=())
                if self.try_out(replace(self.case, seed=seed, plan=fewer)):
                    return

    def _with(self, plan: FaultPlan) -> Case:
        return replace(self.case, plan=plan)

    def _drop_last(self) -> None:
        """Halve the budget as long as that works, then take single faults off its end."""
        step = self.case.plan.budget
        while step > 0:
            budget = self.case.plan.budget - step
            if budget < 0 or not self.try_out(self._with(replace(self.case.plan, budget=budget))):
                step //= 2

    def _drop_any(self) -> None:
        """Delta debugging over the faults that are left, oldest first."""
        plan = self.case.plan
        left = [number for number in range(1, plan.budget + 1) if number not in plan.skip]
        size = max(1, len(left) // 2)
        while left:
            dropped = False
            for first in range(0, len(left), size):
                rest = left[:first] + left[first + size :]
                skip = tuple(n for n in range(1, plan.budget + 1) if n not in rest)
                if self.try_out(self._with(replace(self.case.plan, skip=skip))):
                    left, dropped = rest, True
                    break
            if not dropped:
                if size == 1:
                    return
                size = max(1, size // 2)


def _smaller(shape: Shape) -> Iterator[Shape]:
    """Yield shapes that are a step smaller, the boldest first."""
    if shape.coordinators > 1:
        fewer = shape.coordinators - 1
        yield replace(shape, coordinators=1)
        yield replace(shape, coordinators=fewer)
    for size in (3, 6, shape.size // 2, shape.size - 2):
        if 2 <= size < shape.size and all(node < size for node, _ in shape.late):
            kept = tuple(node for node in shape.seeds if node < size)
            yield replace(shape, size=size, seeds=kept or (0,))
    if shape.late:
        yield replace(shape, late=())
    if shape.workers > shape.coordinators:
        yield replace(shape, workers=shape.coordinators)
        yield replace(shape, workers=shape.workers - 1)
    if shape.slots > 1:
        yield replace(shape, slots=1)
    if shape.prefetch > 0:
        yield replace(shape, prefetch=0)
    if len(shape.seeds) > 1:
        yield replace(shape, seeds=shape.seeds[:1])
    if shape.direct:
        yield replace(shape, direct=False)


def shrink(case: Case, told: Callable[[str], None] = lambda _: None) -> Shrunk | None:
    """Return a shorter campaign that breaks the same rule; None when this one breaks none.
    `told`: hears how it goes. At most RUNS_MAX campaigns are run."""
    first = failure_of(case)
    if first is None:
        return None
    shrinker = _Shrinker(case, first, told)
    told(f"fails: {first.what}")
    shrinker.make_smaller()
    shrinker.drop_faults()
    return Shrunk(shrinker.case, shrinker.failure.what, shrinker.runs)
