"""Simulated campaigns by the hundred thousand: `python -m benchmarks.simulation --seeds 200000`.

Seeds go on where the last run stopped, whichever day that was, so that many runs add up; each seed
has its own shape and faults (see symfleet.testing.simulation.campaign). Progress is written to
standard error, and into the day's file in benchmarks/results as it goes: a run that is stopped
(Ctrl-C, or `--seconds`) or killed has counted what it has done, and the next one goes on from
there. Broken rules are listed with the command that replays them; the exit code is 1 when there are
any. `--again` simulates the seeds that once broke a rule with the code as it is: those that keep
all rules now are told apart as mended.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from symfleet.testing.simulate import told
from symfleet.testing.simulation.runs import Finding, Summary, run_many, run_seeds

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
FIRST_SEED: Final = 1_000_000
"""Smaller ones belong to the tests."""
_SAVE_S: Final = 20.0


def now() -> str:
    """Return the date and time for people."""
    return datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")


def commit() -> str:
    """Return what was simulated."""
    asked = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def earlier() -> list[dict[str, Any]]:
    """Return all runs that were written down, oldest first."""
    runs: list[dict[str, Any]] = []
    for path in sorted(RESULTS.glob("simulation-*.json")):
        runs += json.loads(path.read_text())["runs"]
    return runs


def write(path: Path, runs: list[dict[str, Any]]) -> None:
    """Write a day's file anew."""
    content = {
        "campaigns": sum(one["campaigns"] for one in runs),
        "faults": sum(one["faults"] for one in runs),
        "violations": [one for run in runs for one in run["violations"]],
        "mended": [one for run in runs for one in run.get("mended", [])],
        "runs": runs,
    }
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(content, indent=1) + "\n")
    fresh.replace(path)


def again() -> int:
    """Simulate what broke a rule once more; return how many still do."""
    left, version = 0, commit()
    for path in sorted(RESULTS.glob("simulation-*.json")):
        runs = json.loads(path.read_text())["runs"]
        for run in runs:
            still = {one.seed for v in run["violations"] for one in findings(v["seed"])}
            mended = [v for v in run["violations"] if v["seed"] not in still]
            run["violations"] = [v for v in run["violations"] if v["seed"] in still]
            run.setdefault("mended", []).extend({**v, "commit": version} for v in mended)
            left += len(still)
            for one in mended:
                print(f"seed {one['seed']} keeps all rules now: {one['what']}")
        write(path, runs)
    return left


def findings(seed: int) -> list[Finding]:
    """Return what one seed breaks."""
    return run_seeds(range(seed, seed + 1)).findings


@dataclass
class Run:
    """One run: what it has done without a gap, and where that is written down."""

    path: Path
    first: int
    options: dict[str, Any]
    stop_at: float
    wanted: int
    began: float = field(default_factory=time.monotonic)
    began_at: str = field(default_factory=now)
    load: float = field(default_factory=lambda: os.getloadavg()[0])
    version: str = field(default_factory=commit)
    total: Summary = field(default_factory=Summary)
    stopped: bool = False
    _saved_at: float = 0.0
    _early: dict[int, tuple[range, Summary]] = field(default_factory=dict)

    @property
    def upto(self) -> int:
        """The first seed that was not simulated."""
        return self.first + self.total.campaigns

    def told(self, piece: range, summary: Summary) -> bool:
        """Take a piece that is done; pieces count once those before them do."""
        self._early[piece.start] = piece, summary
        while self.upto in self._early:
            self.total.merge(self._early.pop(self.upto)[1])
        moment = time.monotonic()
        if moment >= self._saved_at + _SAVE_S:
            self._saved_at = moment
            self.save()
            rate = self.total.campaigns / max(1e-9, moment - self.began)
            print(
                f"{self.total.campaigns} of {self.wanted}, {rate:.1f}/s, "
                f"{len(self.total.findings)} broke a rule",
                file=sys.stderr,
                flush=True,
            )
        return not self.stopped and moment < self.stop_at

    def as_json(self) -> dict[str, Any]:
        """Return the run for the file."""
        seconds = time.monotonic() - self.began
        return {
            "date": self.began_at,
            "command": "python -m benchmarks.simulation",
            "options": self.options,
            "commit": self.version,
            "first_seed": self.first,
            "upto_seed": self.upto,
            "seconds": round(seconds, 1),
            "campaigns_per_s": round(self.total.campaigns / max(1e-9, seconds), 1),
            "load_before": round(self.load, 1),
            "load_after": round(os.getloadavg()[0], 1),
            **self.total.as_json(),
        }

    def save(self) -> None:
        """Write the day's file anew, with this run in the place of its older state."""
        before = json.loads(self.path.read_text())["runs"] if self.path.exists() else []
        write(
            self.path,
            [one for one in before if one["first_seed"] != self.first] + [self.as_json()],
        )


def main() -> int:
    """Run, write the result, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200_000, help="how many campaigns")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--first", type=int, help="first seed instead of the next one")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--json", type=Path, help="where the result goes")
    parser.add_argument("--again", action="store_true", help="only what once broke a rule")
    options = parser.parse_args()
    if options.again:
        return min(1, again())
    before = earlier()
    first = options.first
    if first is None:
        first = max((run["upto_seed"] for run in before), default=FIRST_SEED)
    path = options.json or RESULTS / f"simulation-{now()[:10]}.json"
    shown = {"seeds": options.seeds, "jobs": options.jobs}
    run = Run(path, first, shown, time.monotonic() + options.seconds, options.seeds)

    def stop(*_: object) -> None:
        run.stopped = True

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    run_many(range(first, first + options.seeds), options.jobs, run.told)
    run.save()
    seconds = time.monotonic() - run.began
    print(told(run.total, seconds))
    in_all = sum(one["campaigns"] for one in before) + run.total.campaigns
    print(f"seeds {first} to {run.upto - 1}, {in_all} campaigns in all runs: {path}")
    return 1 if run.total.findings else 0


if __name__ == "__main__":
    sys.exit(main())
