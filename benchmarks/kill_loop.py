"""The kill loop in full: `python -m benchmarks.kill_loop [--runs 10] [--kills 10]`.

For each number of slots and coordinators one undisturbed run and `--runs` disturbed ones; every
disturbed run is compared with the undisturbed one (see symfleet.testing.kill_loop). The result is a
dated file in benchmarks/results; the exit code is 1 when anything differs.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from symfleet.testing.kill_loop import Facts, KillLoop, RunReport, collect_facts
from symfleet.testing.programs import ProgramCampaign

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / "tests" / "programs" / "tree.py"
SECONDS_A_SLOT = 0.1
SHAPES = ((1, 1), (2, 1), (4, 1), (6, 2))
"""Slots and coordinators."""


def tree(folder: Path, slots: int, coordinators: int) -> ProgramCampaign:
    """Return a campaign that takes some 15 s without disturbance. Its program stands beside it: an
    edit of the original in the middle of all runs would make another generation."""
    seconds = SECONDS_A_SLOT * slots
    campaign = ProgramCampaign(
        folder, folder.parent / TREE.name, {"root": b"0"}, slots=slots, seconds=seconds
    )
    campaign.coordinators = coordinators
    return campaign


def undisturbed(folder: Path, slots: int, coordinators: int) -> Facts:
    """Run once without a kill; any fault is an error of its own."""
    campaign = tree(folder, slots, coordinators)
    try:
        code = campaign.job().run(300)
    finally:
        campaign.close()
    assert code == 0
    assert len(campaign.runs()) == len(set(campaign.runs()))
    campaign.status()
    with campaign.reader() as reader:
        return collect_facts(reader, campaign.out)


def disturbed(
    folder: Path, shape: tuple[int, int], seed: int, kills: int, within_s: float
) -> RunReport:
    """Run once with kills."""
    campaign = tree(folder, *shape)
    try:
        loop = KillLoop(
            campaign.job(), campaign.log, random.Random(seed), kills=kills, within_s=within_s
        )
        return loop.run(600)
    finally:
        campaign.close()


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


def main() -> int:
    """Run all, write the result, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--within", type=float, default=2.0, help="seconds after a decision")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    reference: Facts | None = None
    program = TREE.read_bytes()
    for slots, coordinators in SHAPES:
        with tempfile.TemporaryDirectory(prefix="symfleet-kill-loop-") as folder:
            (Path(folder) / TREE.name).write_bytes(program)
            facts = undisturbed(Path(folder) / "undisturbed", slots, coordinators)
            reference = reference or facts
            assert facts == reference, f"-j {slots} explores something else"
            for number in range(options.runs):
                seed = options.seed * 10_000 + slots * 100 + number
                shape = (slots, coordinators)
                report = disturbed(
                    Path(folder) / str(number), shape, seed, options.kills, options.within
                )
                rows.append(
                    {
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
                )
                print(json.dumps(rows[-1]), flush=True)
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
