"""The kill loop in full: `python -m benchmarks.kill_loop [--runs 10] [--kills 10]`.

For each engine (a program that logs each of its runs, and our own) and each number of slots and
coordinators one undisturbed run and `--runs` disturbed ones; every disturbed run is compared with
the first undisturbed one of its engine (see symfleet.testing.kills.loop). Our own engine runs a
target several times for one item, so that only the program's log shows whether a decided item was
run again. The result is a dated file in benchmarks/results; the exit code is 1 when anything
differs.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from symfleet.runtime.stores import open_reader
from symfleet.testing.jobs import Job
from symfleet.testing.kills.loop import Facts, KillLoop, RunReport, collect_facts
from symfleet.testing.own_engine import compile_target, exhaustive_job
from symfleet.testing.programs import ProgramCampaign, well_status

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests" / "programs"
SECONDS_A_SLOT = 0.1
PAUSE_US_A_SLOT = 900


class ProgramEngine:
    """A campaign of some 15 s without disturbance. Its program stands beside it: an edit of the
    original in the middle of all runs would make another generation."""

    name = "program"
    shapes = ((1, 1), (2, 1), (4, 1), (6, 2))
    """Slots and coordinators."""

    def __init__(self, folder: Path) -> None:
        self._program = folder / "tree.py"
        self._program.write_bytes((PROGRAMS / "tree.py").read_bytes())

    def job(self, folder: Path, slots: int, coordinators: int) -> tuple[Job, Path | None]:
        """Return a job and where its engine logs its runs."""
        seconds = SECONDS_A_SLOT * slots
        campaign = ProgramCampaign(
            folder, self._program, {"root": b"0"}, slots=slots, seconds=seconds
        )
        campaign.coordinators = coordinators
        return campaign.job(), campaign.log


class OwnEngine:
    """A target of our own compiler that is slowed down to about as much."""

    name = "own"
    shapes = ((1, 1), (2, 1), (4, 1))

    def __init__(self, folder: Path) -> None:
        self._target = folder / "slow_exhaustible"
        self._seeds = folder / "own-seeds"
        self._seeds.mkdir()
        (self._seeds / "first").write_bytes(b"AAA")
        compile_target(PROGRAMS / "slow_exhaustible.c", self._target)

    def job(self, folder: Path, slots: int, coordinators: int) -> tuple[Job, Path | None]:
        """Return a job; there is no log."""
        assert coordinators == 1
        pause = f"PAUSE_US={PAUSE_US_A_SLOT * slots}"
        return exhaustive_job(folder, self._target, self._seeds, slots=slots, env=[pause]), None


Engine = ProgramEngine | OwnEngine


def undisturbed(engine: Engine, folder: Path, slots: int, coordinators: int) -> Facts:
    """Run once without a kill; any fault is an error of its own."""
    job, log = engine.job(folder, slots, coordinators)
    try:
        code = job.run(300)
    finally:
        job.end()
    assert code == 0
    runs = [] if log is None else log.read_text().split()
    assert len(runs) == len(set(runs))
    well_status(job.out)
    with open_reader(job.out) as reader:
        return collect_facts(reader, job.out)


def disturbed(
    engine: Engine, folder: Path, shape: tuple[int, int], seed: int, kills: int, within_s: float
) -> RunReport:
    """Run once with kills."""
    job, log = engine.job(folder, *shape)
    try:
        return KillLoop(job, log, random.Random(seed), kills=kills, within_s=within_s).run(600)
    finally:
        job.end()


def faults(report: RunReport, expected: Facts, kills: int) -> list[str]:
    """Say what is wrong with a run."""
    checks = {
        f"exit code {report.exit_code}": report.exit_code in (0, 2),
        f"{len(report.kills)} of {kills} kills": len(report.kills) == kills,
        "another corpus": report.facts.corpus == expected.corpus,
        "other files": report.facts.files == expected.files,
        "other manifests": report.facts.manifests == expected.manifests,
        "other counters": report.facts.counters == expected.counters,
        "poisoned items": report.facts.poisoned == 0,
        f"run again: {report.run_again}": not report.run_again,
        f"audit: {report.findings}": not report.findings,
    }
    return [name for name, holds in checks.items() if not holds]


def loops(engine: Engine, folder: Path, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a row for each disturbed run of an engine."""
    reference: Facts | None = None
    for slots, coordinators in engine.shapes:
        place = folder / f"{slots}-{coordinators}"
        place.mkdir(parents=True)
        facts = undisturbed(engine, place / "undisturbed", slots, coordinators)
        reference = reference or facts
        assert facts == reference, f"-j {slots} explores something else"
        for number in range(options.runs):
            seed = options.seed * 10_000 + slots * 100 + number
            shape = (slots, coordinators)
            report = disturbed(
                engine, place / str(number), shape, seed, options.kills, options.within
            )
            yield {
                "engine": engine.name,
                "slots": slots,
                "coordinators": coordinators,
                "seed": seed,
                "killed": dict(Counter(kill.role for kill in report.kills)),
                "epochs": report.epochs,
                "executions": report.runs,
                "decided": report.facts.counters["decided"],
                "wall_s": report.wall_s,
                "wrong": faults(report, reference, options.kills),
            }
        shutil.rmtree(place)


def main() -> int:
    """Run all, write the result, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--within", type=float, default=2.0, help="seconds after a decision")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", default="program,own")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="symfleet-kill-loop-") as name:
        for engine in (ProgramEngine(Path(name)), OwnEngine(Path(name))):
            if engine.name in options.engines.split(","):
                for row in loops(engine, Path(name) / engine.name, options):
                    print(json.dumps(row), flush=True)
                    rows.append(row)
    date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    wrong = sum(bool(row["wrong"]) for row in rows)
    killed = sum((Counter(row["killed"]) for row in rows), Counter[str]())
    result = {
        "date": date,
        "command": "python -m benchmarks.kill_loop",
        "options": vars(options),
        "runs": len(rows),
        "kills": killed.total(),
        "killed": dict(killed),
        "wrong": wrong,
        "rows": rows,
    }
    folder_of_results = ROOT / "benchmarks" / "results"
    folder_of_results.mkdir(exist_ok=True)
    path = folder_of_results / f"kill-loop-{date[:10]}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"{killed.total()} kills in {len(rows)} runs, {wrong} wrong: {path}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
