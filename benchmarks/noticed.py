"""How soon the death of a worker is noticed: `python -m benchmarks.noticed [--launches 10]`.

In each launch eleven of twelve workers of one slot are killed with SIGKILL, one after the other,
each while it executes something that takes long. The time is that from the signal to the commit in
which the coordinator has given the worker's deliveries back. A bare MPI ping-pong of 1 KiB is
measured in the same run. Promised: p99 at most 100 ms, or at most five times the p99 of the
ping-pong. The result is a dated file in benchmarks/results.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

from benchmarks.roundtrip import mpirun, quantiles
from symfleet.clock import Clock, SystemClock
from symfleet.config.environment import inherited_environment
from symfleet.config.model import CampaignConfig, Output, Resources, Target
from symfleet.ledger.contract import GenerationKey, Ledger
from symfleet.protocol.answers import Changed, TurnAnswers
from symfleet.protocol.operations import Operation, Release
from symfleet.runtime import rank as rank_module
from symfleet.runtime import root as root_module
from symfleet.runtime import stores as stores_module
from symfleet.runtime.mpirun import find_mpirun, mpirun_command
from symfleet.runtime.plan import EpochPlan, read_plan, write_plan
from symfleet.runtime.stores import OpenedLedger
from symfleet.testing.jobs import descendants, status_of, until

ROOT = Path(__file__).resolve().parent.parent
WORKERS = 12
SEEDS = 64
PROMISED_MS = 100.0
PROMISED_RATIO = 5.0
DEADLINE_S = 60.0
LOG = "given-back"


class NotingLedger:
    """Notes when leases of lost workers are durably given back."""

    def __init__(self, ledger: Ledger, log: Path) -> None:
        self._ledger = ledger
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run, and note what was given back."""
        told = self._ledger.run(operations)
        now = time.perf_counter()
        for operation, answer in zip(operations, told.answers, strict=True):
            if isinstance(operation, Release) and operation.cause == "lost":
                assert answer == Changed(changed=True)
                os.write(self._log, f"{now:.6f}\n".encode())
        return told


def noting_rank(plan: EpochPlan) -> NoReturn:
    """Be a rank of a job whose root notes these times."""
    open_ledger = stores_module.open_ledger

    def noting(
        config: CampaignConfig, key: GenerationKey, clock: Clock, *, may_make: bool = True
    ) -> OpenedLedger:
        opened = open_ledger(config, key, clock, may_make=may_make)
        noted = NotingLedger(opened.ledger, Path(plan.run_dir) / LOG)
        return OpenedLedger(cast("Ledger", noted), opened.campaign, opened.generation)

    root_module.open_ledger = noting  # type: ignore[attr-defined]
    rank_module.run_rank(lambda: plan, None, SystemClock())


def launch(folder: Path) -> list[float]:
    """Run one job, kill its workers; return seconds until each death was noticed."""
    seeds, run_dir = folder / "seeds", folder / "run"
    for made in (seeds, run_dir, folder / "out", folder / "work"):
        made.mkdir(parents=True)
    for number in range(SEEDS):
        (seeds / str(number)).write_bytes(b"%d" % number)
    started = folder / "started"
    engine = folder / "long"
    engine.write_text(f"#!/bin/sh\necho >>'{started}'\nexec sleep 600\n")
    engine.chmod(0o755)
    config = CampaignConfig(
        target=Target(
            argv=("/bin/true",),
            seed_paths=(str(seeds),),
            keep="all",
            engine="command",
            engine_command=(str(engine), "@@", "@out"),
        ),
        resources=Resources(jobs=WORKERS, slots_per_worker=1),
        output=Output(out_dir=str(folder / "out"), screen="none"),
    )
    plan = EpochPlan(config, "/bin/true", str(run_dir), 0, "", 0.0, 0)
    command = mpirun_command(
        find_mpirun(os.defpath), config.resources.ranks, folder, Path("unused")
    )
    words = [*command[: command.index(sys.executable)], sys.executable, "-m", "benchmarks.noticed"]
    job = subprocess.Popen(
        [*words, "--rank", str(write_plan(plan))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        cwd=ROOT,
        env=inherited_environment(),
        start_new_session=True,
    )
    try:
        until("all workers execute", lambda: _lines(started) >= WORKERS, DEADLINE_S)
        workers = _workers(job.pid)
        return [_kill(pid, run_dir / LOG) for pid in workers[:-1]]
    finally:
        below = list(descendants(job.pid))
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        until("nothing of the job is left", lambda: not any(map(_lives, below)), DEADLINE_S)


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _workers(mpirun_pid: int) -> list[int]:
    """Return process ids of the workers: ranks but the root."""
    found = []
    for pid in descendants(mpirun_pid):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"benchmarks.noticed" in words and b"OMPI_COMM_WORLD_RANK=0" not in environ:
            found.append(pid)
    assert len(found) == WORKERS, found
    return found


def _lives(pid: int) -> bool:
    status = status_of(pid)
    return status is not None and status[2] != "Z"


def _kill(pid: int, log: Path) -> float:
    before = _lines(log)
    began = time.perf_counter()
    os.kill(pid, signal.SIGKILL)
    until("the death is noticed", lambda: _lines(log) > before, DEADLINE_S)
    return float(log.read_text().split()[before]) - began


def main() -> int:
    """Measure, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=10)
    options = parser.parse_args()
    (ROOT / "build").mkdir(exist_ok=True)
    seconds: list[float] = []
    with tempfile.TemporaryDirectory(prefix="symfleet-noticed-", dir=ROOT / "build") as name:
        folder = Path(name)
        bare = json.loads(mpirun(2, folder, "ping-pong"))
        for number in range(options.launches):
            seconds += launch(folder / str(number))
            print(f"launch {number + 1}: {quantiles(seconds)}", file=sys.stderr)
    noticed = quantiles(seconds)
    p99 = noticed["p99_ms"]
    is_kept = p99 <= PROMISED_MS or p99 <= PROMISED_RATIO * bare["p99_ms"]
    date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    result = {
        "date": date,
        "command": f"python -m benchmarks.noticed --launches {options.launches}",
        "deaths": len(seconds),
        "noticed": noticed,
        "worst_ms": round(max(seconds) * 1e3, 2),
        "bare_mpi_ping_pong": bare,
        "cores": os.cpu_count(),
        "load_average": os.getloadavg(),
        "violations": [] if is_kept else [f"p99 is {p99} ms"],
    }
    print(json.dumps(result, indent=1))
    path = ROOT / "benchmarks" / "results" / f"noticed-{date[:10]}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    return int(not is_kept)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--rank", path]:
            noting_rank(read_plan(Path(path)))
        case _:
            raise SystemExit(main())
