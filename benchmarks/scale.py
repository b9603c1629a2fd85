"""The scale study: 1 to 10,000 slots, 1 to 64 coordinators, in virtual time.

    python -m benchmarks.scale [--points quick|standard|full] [--seed N] [--parameters RESULT.json]
                               [--resume RESULT.json] [--json FILE] [--docs docs/explanation]
                               [--show RESULT.json]

Measures the costs on this machine first (`benchmarks/scale_calibration.py`), then simulates each
point with the real coordinators (`symfleet.testing.scale`). With `--parameters` the costs of an
earlier result are taken instead: together with the seed they give the same figures to the last
digit. docs/explanation/scale.md says what this shows and what it does not.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.roundtrip import ROOT
from benchmarks.scale_calibration import calibrate, costs_from
from benchmarks.scale_page import page, rewrite
from benchmarks.scale_plots import draw_all
from symfleet.testing.scale.costs import Assumed, Costs
from symfleet.testing.scale.study import Figures, Loss, run_loss, run_point
from symfleet.testing.scale.world import Point, StoreKind, coordinators_for

STORES: Final[tuple[StoreKind, ...]] = ("sqlite", "postgres")
LOCAL_SLOTS_MAX: Final = 64
"""Larger fleets are on several hosts."""
_SATURATED: Final = 1.5
"""A point whose slots could do this many times what was done is limited by something else."""


@dataclasses.dataclass(frozen=True)
class Extent:
    """How much is simulated: items for each slot of a fleet, and most and fewest of all."""

    a_slot: int
    most: int
    least: int

    def items(self, slots: int, share: float) -> int:
        """Return the items of a fleet. Fewer than 30 a slot, or than twice what fills every place
        of it, would leave no steady window."""
        return round(min(max(self.least, self.a_slot * slots * share), self.most))


EXTENTS: Final = {
    "quick": Extent(20, 6_000, 300),
    "standard": Extent(30, 60_000, 300),
    "full": Extent(30, 100_000, 100_000),
}


def fleet(
    extent: Extent,
    slots: int,
    length_s: float,
    store: StoreKind,
    *,
    coordinators: int | None = None,
    bundle: int = 1,
    share: float = 1.0,
) -> Point:
    """Return a point with the coordinators that `auto` would take, and a share of its items."""
    return Point(
        slots=slots,
        length_s=length_s,
        store=store,
        items=extent.items(slots, share),
        coordinators=coordinators or coordinators_for(slots),
        bundle_items=bundle,
        local=slots <= LOCAL_SLOTS_MAX,
    )


def points_of(kind: str) -> list[Point]:
    """Return the undisturbed points, those that matter most first."""
    extent = EXTENTS[kind]
    if kind == "quick":
        sizes = [(slots, length) for slots in (8, 90, 320) for length in (0.1, 1.0)]
        return [fleet(extent, *size, store) for size in sizes for store in STORES]
    first = [(1000, 1.0), (10_000, 10.0), (1000, 0.1), (10_000, 1.0)]
    small = [(slots, length) for slots in (1, 8, 32, 90, 320) for length in (0.01, 0.1, 1.0, 10.0)]
    last = [(3000, 1.0), (1000, 10.0), (1000, 0.01), (3000, 10.0), (10_000, 0.1), (3000, 0.1)]
    return [
        *(fleet(extent, *size, store) for size in (*first, *small) for store in STORES),
        # How many slots one coordinator serves, and how many coordinators one ledger.
        *(fleet(extent, 320, 0.1, "sqlite", coordinators=n) for n in (1, 2, 8, 16)),
        *(fleet(extent, 1000, 1.0, "sqlite", coordinators=n, share=0.5) for n in (1, 3, 32, 64)),
        # Items of 10 ms in bundles of 100 ms: fewer messages, the same decisions.
        *(fleet(extent, n, 0.01, store, bundle=16, share=10) for n in (8, 32) for store in STORES),
        *(fleet(extent, *size, store) for size in last for store in STORES),
    ]


def losses_of(kind: str) -> list[tuple[Point, int, float]]:
    """Return the points that lose a coordinator: which, and after how many seconds."""
    extent = EXTENTS[kind]
    if kind == "quick":
        return [(fleet(extent, 320, 1.0, "sqlite"), 2, 6.0)]
    thousand = fleet(extent, 1000, 1.0, "sqlite", share=0.5)
    big = fleet(extent, 10_000, 10.0, "sqlite", share=0.75)
    lost = [(thousand, 5, 6.0), (thousand, 0, 6.0), (big, 5, 15.0)]
    return lost if kind == "standard" else [*lost, (big, 0, 15.0)]


def knees(figures: list[Figures]) -> dict[str, float]:
    """Return what each store decides a second when the slots could do far more, through as many
    coordinators as the study has: the most that any such point showed."""
    found: dict[str, float] = {}
    for one in figures:
        if one.demand >= _SATURATED * one.throughput and one.coordinators > 1:
            found[one.store] = max(found.get(one.store, 0.0), one.throughput)
    return found


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Measure, simulate, return the document; it is written after each point."""
    document: dict[str, Any] = {}
    if options.resume or options.parameters:
        document = json.loads((options.resume or options.parameters).read_text())
        costs, quality = costs_from(document["costs"]), document["quality"]
    else:
        with tempfile.TemporaryDirectory(prefix="scale-", dir=ROOT / "build") as name:
            costs, quality = calibrate(Path(name))
    assumed = Assumed()
    date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    result: dict[str, Any] = {
        "date": date,
        "command": f"python -m benchmarks.scale --points {options.points} --seed {options.seed}",
        "complete": False,
        "load_average": os.getloadavg(),
        "costs": dataclasses.asdict(costs),
        "quality": quality,
        "assumed": dataclasses.asdict(assumed),
        "knee": {},
        "points": [],
        "losses": [],
    }
    path = options.json or ROOT / "benchmarks" / "results" / f"scale-{date[:10]}.json"
    figures: list[Figures] = []
    if options.resume:
        if document["command"] != result["command"]:
            raise SystemExit(f"{options.resume}: another study: {document['command']}")
        path, result = options.resume, {**document, "complete": False}
        figures = [Figures(**point) for point in result["points"]]
    for undisturbed, number, at_s in losses_of(options.points)[len(result["losses"]) :]:
        point = dataclasses.replace(undisturbed, seed=options.seed)
        loss: Loss = told(run_loss, point, costs, assumed, number, at_s)
        result["losses"].append(dataclasses.asdict(loss))
        write(result, path)
    for unseeded in points_of(options.points)[len(figures) :]:
        point = dataclasses.replace(unseeded, seed=options.seed)
        figures.append(told(run_point, point, costs, assumed))
        result["points"].append(dataclasses.asdict(figures[-1]))
        result["knee"] = knees(figures)
        write(result, path)
    result["complete"] = True
    write(result, path)
    return result


def told(what: Any, point: Point, costs: Costs, *more: Any) -> Any:
    """Run something and tell how it went."""
    began = time.process_time()
    found = what(point, costs, *more)
    took = time.process_time() - began
    share = getattr(found, "efficiency", None) or getattr(found, "all_s", None)
    print(
        f"  {point.slots} slots, {point.coordinators} coordinators, {point.length_s:g} s,"
        f" {point.store}: {share} ({took:.1f} s of processor time)",
        file=sys.stderr,
        flush=True,
    )
    return found


def write(result: dict[str, Any], path: Path) -> None:
    """Write what there is so far."""
    path.write_text(json.dumps(result, indent=1) + "\n")


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", choices=tuple(EXTENTS), default="quick")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parameters", type=Path, help="take the costs of an earlier result")
    parser.add_argument(
        "--resume", type=Path, metavar="RESULT.json", help="go on where this result of it ended"
    )
    parser.add_argument("--json", type=Path, help="write the result here")
    parser.add_argument(
        "--docs", type=Path, help="draw the plots and write the tables into scale.md of this folder"
    )
    parser.add_argument("--show", type=Path, help="simulate nothing; show an earlier result")
    options = parser.parse_args()
    result = json.loads(options.show.read_text()) if options.show else run(options)
    print(page(result))
    if options.docs:
        draw_all(result, options.docs)
        rewrite(options.docs / "scale.md", page(result))


if __name__ == "__main__":
    main()
