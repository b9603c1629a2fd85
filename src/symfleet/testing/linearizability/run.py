"""Make histories of concurrent coordinators and check them.

    python -m symfleet.testing.linearizability.run --store sqlite --operations 50000 --seed 1

A history is a campaign of some ten thousand operations (`segment`); each is made, checked and
thrown away before the next one. Prints one line of JSON; exits with 1 when a history has no order.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from symfleet.ledger import places
from symfleet.ledger.contract import Ledger
from symfleet.testing.linearizability.check import judge
from symfleet.testing.linearizability.history import gather, seen_at_the_end
from symfleet.testing.linearizability.participants import Site
from symfleet.testing.linearizability.planted import PLANTS
from symfleet.testing.linearizability.segment import Segment, StuckError
from symfleet.testing.linearizability.workload import Board
from symfleet.testing.stores.postgres_cluster import Cluster, programs
from symfleet.types import CampaignId

SEGMENT_OPERATIONS: Final = 20_000
STORES: Final = ("sqlite", "postgres")


@dataclass(slots=True)
class Report:
    """What some histories came to. `unanswered`: operations whose answer was lost."""

    histories: int = 0
    operations: int = 0
    unanswered: int = 0
    objects: int = 0
    decisions: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    making_s: float = 0.0
    checking_s: float = 0.0

    def add(self, other: Report) -> None:
        """Add what others came to."""
        for name in ("histories", "operations", "unanswered", "objects", "decisions"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.making_s += other.making_s
        self.checking_s += other.checking_s
        self.faults += other.faults
        self.violations += other.violations

    @classmethod
    def of(cls, noted: dict[str, Any]) -> Report:
        """Return what `as_json` wrote."""
        return cls(**{**noted, "faults": Counter(noted["faults"])})

    def as_json(self) -> dict[str, Any]:
        """Return it for a file."""
        return {
            name: round(value, 2) if isinstance(value, float) else value
            for name, value in ((name, getattr(self, name)) for name in Report.__slots__)
        }


def history(
    folder: Path,
    seed: int,
    operations: int,
    cluster: Cluster | None,
    spoil: Callable[[Ledger], Ledger] | None = None,
) -> Report:
    """Make one history below `folder`, on a server or else on SQLite, and check it. What it leaves
    stays there when it has a violation. `spoil`: see `Site`."""
    home = Path(tempfile.mkdtemp(prefix=f"history-{seed}-", dir=folder))
    notes = home / "notes"
    notes.mkdir()
    campaign = CampaignId(f"{random.Random(seed).getrandbits(128):032x}")
    url = "" if cluster is None else cluster.url
    site = Site(home / "out", notes, campaign, url, Board(), spoil)
    began = time.monotonic()
    segment = Segment(site, seed, operations, cluster)
    report = Report(histories=1)
    try:
        segment.run()
    except StuckError as error:
        report.violations.append(f"seed {seed}: stuck: {error}")
    made = time.monotonic()
    report.violations += [
        f"seed {seed}: {path.name}: {path.read_text()}" for path in notes.glob("*.error")
    ]
    reader = places.read_ledger(site.out)
    report.violations += [f"seed {seed}: audit: {finding}" for finding in reader.audit()]
    seen = seen_at_the_end(reader)
    reader.close()
    verdict = judge(gather(notes), seen)
    report.violations += [f"seed {seed}: {violation}" for violation in verdict.violations]
    report.faults = segment.faults
    report.operations = verdict.operations
    report.unanswered = verdict.operations - verdict.answered
    report.objects = verdict.objects
    report.decisions = sum(status == "done" for status, _, _ in seen.rows.values())
    report.making_s, report.checking_s = made - began, time.monotonic() - made
    if not report.violations:
        shutil.rmtree(home)
    return report


def main() -> int:
    """Run, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=STORES, default="sqlite")
    parser.add_argument("--operations", type=int, default=SEGMENT_OPERATIONS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--plant", choices=sorted(PLANTS), help="let the ledger break a promise")
    options = parser.parse_args()
    cluster = None
    if options.store == "postgres":
        found = programs()
        assert found is not None, "no PostgreSQL server is installed"
        cluster = Cluster(found)
    report, seed = Report(), options.seed
    try:
        while report.operations < options.operations and not report.violations:
            left = min(SEGMENT_OPERATIONS, options.operations - report.operations)
            plant = PLANTS.get(options.plant)
            report.add(history(options.folder, seed, left, cluster, plant))
            seed += 1
    finally:
        if cluster is not None:
            cluster.stop()
    sys.stdout.write(json.dumps(report.as_json()) + "\n")
    return int(bool(report.violations))


if __name__ == "__main__":
    raise SystemExit(main())
