"""Looking for a mutant in simulated campaigns.

A scene is a shape of campaign with faults that are drawn from the seed, or with none at all. A
campaign judges itself (assertions of the machines, `validate_state`, oracle, audit); here its end
is judged too, and one that goes on for much longer than any sound one has not converged.
"""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.testing.mutants.planting import Mutant
from symfleet.testing.simulation.campaign import Outcome, Simulation, Stuck
from symfleet.testing.simulation.epoch import Shape
from symfleet.testing.simulation.fault_plan import FaultPlan

_EVENTS_MAX: Final = 20_000
_VIRTUAL_S_MAX: Final = 1500.0
"""Sound campaigns of these shapes need less than a fifth of each, calm ones less than a twentieth
of that."""
_CALM_SHARE: Final = 0.2
_WINDOW_S: Final = 1.0
_WINDOW_OFF_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Scene:
    """A kind of campaign. `plan`: what goes wrong in it; None: what its seed says."""

    shape: Shape
    plan: FaultPlan | None = None


SCENES: Final[dict[str, Scene]] = {
    "calm": Scene(Shape(), FaultPlan()),
    "calm many": Scene(Shape(coordinators=3, workers=3, slots=2, size=30), FaultPlan()),
    "noise": Scene(Shape(), FaultPlan(corrupt=0.3, budget=60)),
    "stops": Scene(
        Shape(coordinators=3, workers=6, size=60, slots=1, direct=True),
        FaultPlan(peer_pauses=0.05, budget=20),
    ),
    "losses": Scene(Shape(), FaultPlan(loss=0.2, budget=20)),
    "disorder": Scene(
        Shape(workers=2, slots=3, size=30, prefetch=4), FaultPlan(delay=0.5, budget=60)
    ),
    "deaths": Scene(
        Shape(coordinators=3, workers=6, size=60, slots=1), FaultPlan(peer_dies=0.1, budget=2)
    ),
    "two": Scene(Shape()),
    "deep": Scene(Shape(workers=2, slots=3, size=30, prefetch=4)),
    "peers": Scene(Shape(coordinators=2, workers=4, size=30)),
    "peers direct": Scene(Shape(coordinators=2, workers=4, size=30, direct=True)),
    "late": Scene(Shape(coordinators=2, workers=2, size=24, late=((9, 1.0), (12, 2.2)))),
    "late direct": Scene(
        Shape(coordinators=4, workers=5, size=60, late=((17, 1.2), (19, 35.0)), direct=True)
    ),
}


@dataclass(frozen=True, slots=True)
class Catch:
    """How a mutant was seen. `check`: what noticed; `said`: its words. `seeds`: how many were
    tried; `seed`: the one that showed it."""

    check: str
    said: str
    seed: int
    seeds: int
    seconds: float


def check_campaign(scene: Scene, seed: int) -> Outcome:
    """Run a campaign and judge its end; raise AssertionError or what the machines raise."""
    plan = scene.plan or FaultPlan.from_seed(seed)
    world = Simulation(seed, plan, scene.shape)
    share = _CALM_SHARE if plan.is_calm else 1.0
    until, events_max, happened = world.now + share * _VIRTUAL_S_MAX, share * _EVENTS_MAX, 0

    def watch() -> None:
        nonlocal happened
        happened += 1
        if happened > events_max:
            raise Stuck(f"{events_max:.0f} events, and no end")
        if world.now > until:
            raise Stuck(f"{share * _VIRTUAL_S_MAX:.0f} s, and no end")

    world.watch = watch
    outcome = world.run()
    assert outcome.exit_code in (0, 2), f"the verdict is {outcome.exit_code}"
    if plan.is_calm:
        assert outcome.exit_code == 0, "Q4: nothing went wrong, the verdict says otherwise"
        assert outcome.faults == (), f"D8: faults of a healthy campaign: {outcome.faults}"
        assert outcome.epochs == 1, "a healthy campaign needs one epoch"
        assert outcome.executions == outcome.decisions, "C7: an item was executed twice"
        window_s = outcome.idle_window_s or 0.0
        assert abs(window_s - _WINDOW_S) <= _WINDOW_OFF_S, f"Q2: the idle window was {window_s} s"
    return outcome


def hunt(mutant: Mutant, scene: str, first: int, seeds: int) -> Catch | None:
    """Plant a mutant and try seeds from `first` on until one sees it; None when none does.

    A seed that fails without the mutant, too, raises what it raised: it says nothing of mutants."""
    began = time.perf_counter()
    for seed in range(first, first + seeds):
        try:
            with mutant.planted():
                check_campaign(SCENES[scene], seed)
        except AssertionError as seen:
            check_campaign(SCENES[scene], seed)
            took = time.perf_counter() - began
            return Catch(_noticed_by(seen), _words(seen), seed, seed - first + 1, took)
    return None


def _noticed_by(seen: BaseException) -> str:
    """Name the check that raised."""
    if isinstance(seen, Stuck):
        return "liveness"
    seen = _raised(seen)
    frames = traceback.extract_tb(seen.__traceback__)
    last = Path(frames[-1].filename)
    if any(frame.name == "validate_state" for frame in frames):
        return "validate_state"
    if last.stem.startswith("oracle"):
        return "oracle"
    if last.parent.name == "mutants":
        return "end of the campaign"
    if last.parent.name == "testing":
        return last.stem
    return f"{type(seen).__name__} in {last.parent.name}/{last.name}"


def _raised(seen: BaseException) -> BaseException:
    """Return what a machine or the ledger raised, else the assertion that failed."""
    return seen.__cause__ or seen


def _words(seen: BaseException) -> str:
    seen = _raised(seen)
    lines = str(seen).strip().splitlines()
    return (lines[0] if lines else type(seen).__name__)[:160]
