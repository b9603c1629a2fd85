"""Spoilt frames in full: `python -m benchmarks.frames [--frames 1000000] [--jobs 2]`.

Frames that are damaged after their seal, cut at each byte, or forged before it go to every machine:
the root with the turns of another coordinator (its ledger in memory, and on SQLite against one in
memory), a coordinator that is not the root, and workers. What engines may write goes to a worker.
With `--executor` a native executor gets spoilt streams, too: give one with sanitizers.

The work is cut into shares, a seed each. Reports are kept in `--state`, so that a run that was
interrupted goes on where it was. The result is a dated file in benchmarks/results: frames by kind,
refused ones by reason, handled ones by kind, exceptions, violations with their frames, frames a
second of CPU time. The exit code is 1 when anything was wrong.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from symfleet.testing.frames.coordinators import CoordinatorTarget
from symfleet.testing.frames.executor import garbage_to_executor, garbage_to_worker
from symfleet.testing.frames.fuzz import TARGETS, Storm
from symfleet.testing.frames.target import Report

ROOT: Final = Path(__file__).resolve().parent.parent
RESULTS: Final = ROOT / "benchmarks" / "results"
ON_DISK: Final = "root on disk"
ENGINE: Final = "worker's engine"
SHARE: Final = {"damaged": 20_000, "forged": 4_000, "engine": 5_000, "executor": 100}
MIX: Final = (
    *(("damaged", target) for target in TARGETS),
    *(("forged", target) for target in (*TARGETS, ON_DISK)),
    ("engine", ENGINE),
)
"""What a round is made of, one share each."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the work: a storm with a seed of its own."""

    number: int
    family: str
    target: str
    frames: int
    seed: int

    @property
    def name(self) -> str:
        """Name of the file that keeps its report."""
        target = self.target.replace(" ", "-").replace("'", "")
        return f"{self.seed}-{self.number:07}-{self.family}-{target}-{self.frames}.json"


def shares(seed: int, frames: int, executor: int) -> Iterator[Share]:
    """Yield shares until they hold as many frames as asked for."""
    number, left = 0, frames
    for target in TARGETS:
        yield Share(number, "truncated", target, 0, seed)
        number += 1
    while left > 0:
        for family, target in MIX:
            size = min(SHARE[family], left)
            if size > 0:
                yield Share(number, family, target, size, seed)
            left, number = left - size, number + 1
    for size in [SHARE["executor"]] * (executor // SHARE["executor"]):
        yield Share(number, "executor", "native executor", size, seed)
        number += 1


def run_share(share: Share, executor: str) -> dict[str, Any]:
    """Run one share in this process; return its report with its cost."""
    began, wall = time.process_time(), time.monotonic()
    seed = f"{share.seed} {share.number} {share.family} {share.target}"
    with tempfile.TemporaryDirectory(prefix="symfleet-frames-", dir=memory_folder()) as name:
        report = storm(share, seed, Path(name), executor)
    cpu_s, wall_s = time.process_time() - began, time.monotonic() - wall
    return {**report.as_dict(), "cpu_s": round(cpu_s, 3), "wall_s": round(wall_s, 3)}


def memory_folder() -> str | None:
    """Return where databases cost no disk, if there is such a place."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108


def hand_made_target(folder: Path) -> str:
    """Compile what the executor's own tests run."""
    source, made = ROOT / "tests" / "native" / "fake_target.c", folder / "target"
    include = ROOT / "native" / "include"
    words = ["cc", "-std=gnu11", "-O1", "-I", str(include), str(source), "-o", str(made)]
    subprocess.run(words, check=True)
    return str(made)


def storm(share: Share, seed: str, folder: Path, executor: str) -> Report:
    """Let the storm of a share blow."""
    match share.family:
        case "engine":
            return garbage_to_worker(seed, share.frames)
        case "executor":
            # A sanitizer must end the process by a signal or say so, and not be silent.
            env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
            words = (hand_made_target(folder), "magic", "@@")
            command = (executor, "--serve")
            return garbage_to_executor(command, words, folder, seed, share.frames, env=env)
        case "truncated":
            return Storm(TARGETS[share.target], seed).truncated()
        case "damaged":
            return Storm(TARGETS[share.target], seed).damaged(share.frames)
        case _ if share.target == ON_DISK:
            numbers = iter(range(10**9))

            def on_disk() -> CoordinatorTarget:
                place = folder / str(next(numbers))
                place.mkdir()
                return CoordinatorTarget(0, place)

            return Storm(on_disk, seed, TARGETS["root"]).forged(share.frames)
        case _:
            return Storm(TARGETS[share.target], seed).forged(share.frames)


def run_all(todo: Sequence[Share], state: Path, jobs: int, executor: str) -> None:
    """Run what has no report yet, and keep each report."""
    state.mkdir(parents=True, exist_ok=True)
    missing = [share for share in todo if not (state / share.name).exists()]
    print(f"{len(todo)} shares, {len(missing)} to be run", file=sys.stderr)
    with ProcessPoolExecutor(jobs) as pool:
        asked = {pool.submit(run_share, share, executor): share for share in missing}
        for count, done in enumerate(as_completed(asked), start=1):
            share, report = asked[done], done.result()
            written = state / f".{share.name}"
            written.write_text(json.dumps(report))
            written.rename(state / share.name)
            wrong = f", {report['wrong']} wrong" if report["wrong"] else ""
            if count % 20 == 0 or wrong:
                print(f"{count} of {len(missing)}: {share.name}{wrong}", file=sys.stderr)


def summed(todo: Sequence[Share], state: Path) -> dict[str, Any]:
    """Join the reports of all shares."""
    total = Report()
    by_family: dict[str, dict[str, float]] = {}
    for share in todo:
        kept = json.loads((state / share.name).read_text())
        total.frames += kept["frames"]
        total.campaigns += kept["campaigns"]
        total.exceptions += kept["exceptions"]
        total.wrong += kept["wrong"]
        for violation in kept["violations"]:
            total.violations.append({"share": asdict(share), **violation})
        for name in ("ways", "kinds", "refused", "handled"):
            getattr(total, name).update(kept[name])
        row = by_family.setdefault(f"{share.family}: {share.target}", {"frames": 0, "cpu_s": 0.0})
        row["frames"] += kept["frames"]
        row["cpu_s"] = round(row["cpu_s"] + kept["cpu_s"], 3)
    for row in by_family.values():
        row["frames_a_cpu_second"] = round(row["frames"] / max(row["cpu_s"], 0.001))
    cpu_s = sum(row["cpu_s"] for row in by_family.values())
    return {
        "frames": total.frames,
        "frames_by_kind": dict(total.kinds),
        "frames_by_way": dict(total.ways),
        "refused_by_reason": dict(total.refused),
        "handled_by_kind": dict(total.handled),
        "honest_campaigns_afterwards": total.campaigns,
        "exceptions": total.exceptions,
        "violations": total.violations,
        "violations_counted": total.wrong,
        "cpu_s": round(cpu_s, 1),
        "frames_a_cpu_second": round(total.frames / max(cpu_s, 0.001)),
        "by_family": by_family,
    }


def main() -> int:
    """Run all, write the result, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--executor", default="", help="symfleet-exec, with sanitizers at best")
    parser.add_argument("--streams", type=int, default=1_000, help="spoilt streams to an executor")
    parser.add_argument("--state", type=Path, help="folder of the reports so far")
    parser.add_argument("--json", type=Path, help="where the result goes")
    options = parser.parse_args()
    state = options.state or Path(tempfile.gettempdir()) / f"symfleet-frames-{os.getuid()}"
    streams = options.streams if options.executor else 0
    todo = list(shares(options.seed, options.frames, streams))
    load, began = os.getloadavg(), time.monotonic()
    run_all(todo, state, options.jobs, options.executor)
    result = summed(todo, state)
    date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    words = f"python -m benchmarks.frames --frames {options.frames} --seed {options.seed}"
    words += f" --executor symfleet-exec --streams {streams}" if streams else ""
    wall_s = round(time.monotonic() - began, 1)
    head = {
        "command": words,
        "date": date,
        "seed": options.seed,
        "seconds_of_this_launch": wall_s,
        "machine_load": [round(one, 1) for one in load],
        "cores": os.cpu_count(),
    }
    path = options.json or RESULTS / f"frames-{date[:10]}.json"
    path.write_text(json.dumps({**head, **result}, indent=1) + "\n")
    print(
        f"{result['frames']} frames, {result['exceptions']} exceptions, "
        f"{result['violations_counted']} violations: {path}"
    )
    return 1 if result["violations_counted"] or result["exceptions"] else 0


if __name__ == "__main__":
    sys.exit(main())
