"""How long a delivery takes, and what coordination costs: `python -m benchmarks.roundtrip`.

Three measurements in one run, repeated, because the state of the machine matters most:

* a bare MPI ping-pong of 1 KiB and a bare 4 KiB write with fsync, for comparison;
* the delivery round trip, from the WORK frame being sent to its RESULT being durable, with an
  engine that does nothing, one slot, one item a delivery and no prefetch;
* coordination's share of the wall time with items of 100 ms on two slots: what is left of
  slots * time when the time in the engine is taken off.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

import msgspec

from symfleet.clock import Clock, SystemClock
from symfleet.config.environment import inherited_environment
from symfleet.config.model import Advanced, CampaignConfig, Output, Resources, Stop, Target
from symfleet.ledger.contract import GenerationKey, Ledger
from symfleet.protocol.answers import TurnAnswers
from symfleet.protocol.codec import HEADER_BYTES, KINDS
from symfleet.protocol.messages import Work
from symfleet.protocol.operations import Decide, Operation
from symfleet.protocol.setup import Knobs
from symfleet.runtime import rank as rank_module
from symfleet.runtime import root as root_module
from symfleet.runtime import stores as stores_module
from symfleet.runtime.engines import knobs_of
from symfleet.runtime.mpirun import find_mpirun, mpirun_command
from symfleet.runtime.plan import EpochPlan, read_plan, write_plan
from symfleet.runtime.stores import OpenedLedger
from symfleet.transport.mpi import MpiTransport

ROOT = Path(__file__).resolve().parent.parent
ITEMS = 400
LONG_ITEMS = 100
LONG_S = 0.1
PING_PONGS = 1000
SYNCS = 200
_WORK = KINDS.index(Work)
_KIND_AT = 6


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return p50 and p99 in milliseconds."""
    ordered = sorted(seconds)
    return {
        "p50_ms": round(ordered[len(ordered) // 2] * 1e3, 4),
        "p99_ms": round(ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)] * 1e3, 4),
    }


# ---- bare figures -------------------------------------------------------------------------------


def ping_pong() -> NoReturn:
    """Be one of two ranks; rank 0 prints its figures."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    data = bytearray(1024)
    times = []
    for _ in range(PING_PONGS):
        began = time.perf_counter()
        if comm.Get_rank() == 0:
            comm.Send([data, MPI.BYTE], 1)
            comm.Recv([data, MPI.BYTE], 1)
        else:
            comm.Recv([data, MPI.BYTE], 0)
            comm.Send([data, MPI.BYTE], 0)
        times.append(time.perf_counter() - began)
    if comm.Get_rank() == 0:
        print(json.dumps(quantiles(times)), flush=True)
    sys.exit(0)


def bare_sync(folder: Path) -> dict[str, float]:
    """Append 4 KiB to a file and make it durable, again and again."""
    times = []
    descriptor = os.open(folder / "sync", os.O_WRONLY | os.O_CREAT)
    for _ in range(SYNCS):
        began = time.perf_counter()
        os.write(descriptor, bytes(4096))
        os.fsync(descriptor)
        times.append(time.perf_counter() - began)
    os.close(descriptor)
    return quantiles(times)


# ---- a job that keeps times ---------------------------------------------------------------------

sent_at: dict[str, float] = {}
decided: dict[str, tuple[float, int]] = {}


class TimedTransport(MpiTransport):
    """Notes when each item leaves; tells everything at the end."""

    def send(self, rank: int, frame: bytes) -> None:
        """Send, and note the items of a WORK."""
        now = time.perf_counter()
        super().send(rank, frame)
        if len(frame) > HEADER_BYTES and frame[:4] == b"SYFL" and frame[_KIND_AT] == _WORK:
            for entry in msgspec.msgpack.decode(frame[HEADER_BYTES:], type=Work).items:
                sent_at[entry.work_id] = now

    def leave(self) -> NoReturn:
        """Print the times before the process ends."""
        if self.rank == 0:
            rows = [(sent_at[item], *decided[item]) for item in decided]
            print(json.dumps(rows), flush=True)
        super().leave()


class TimedLedger:
    """Notes when each decision is durable."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run, and note the decisions."""
        answers = self._ledger.run(operations)
        now = time.perf_counter()
        for operation in operations:
            if isinstance(operation, Decide):
                decided[operation.work_id] = (now, operation.wall_us)
        return answers


def single_item(config: CampaignConfig) -> Knobs:
    """Return the knobs of the configuration without bundles."""
    return dataclasses.replace(knobs_of(config), bundle_items=1)


def timed_rank(plan: EpochPlan) -> NoReturn:
    """Be a rank of a job whose root keeps times."""
    open_ledger = stores_module.open_ledger

    def timed(
        config: CampaignConfig, key: GenerationKey, clock: Clock, *, may_make: bool = True
    ) -> OpenedLedger:
        opened = open_ledger(config, key, clock, may_make=may_make)
        return OpenedLedger(
            cast("Ledger", TimedLedger(opened.ledger)), opened.campaign, opened.generation
        )

    root_module.open_ledger = timed  # type: ignore[attr-defined]
    # One item a delivery: a bundle would be timed as a whole.
    root_module.knobs_of = single_item  # type: ignore[attr-defined]
    rank_module.MpiTransport = TimedTransport  # type: ignore[attr-defined]
    rank_module.run_rank(lambda: plan, None, SystemClock())


def run_job(folder: Path, *, items: int, seconds: float, slots: int, prefetch: int) -> list[Any]:
    """Run a campaign of `items` seeds; return (sent, durable, time in the engine) of each."""
    seeds, native = folder / "seeds", folder / "native" / "bin"
    for made in (seeds, native, folder / "run"):
        made.mkdir(parents=True)
    for number in range(items):
        (seeds / str(number)).write_bytes(b"%d" % number)
    script = native / "symfleet-exec"
    engine = Path(__file__).resolve().parent / "empty_engine.py"
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{engine}' {seconds} \"$@\"\n")
    script.chmod(0o755)
    config = CampaignConfig(
        target=Target(argv=("/bin/true",), seed_paths=(str(seeds),), keep="all"),
        resources=Resources(jobs=slots),
        stop=Stop(until_quiescent=True),
        output=Output(out_dir=str(folder / "out")),
        advanced=Advanced(prefetch=prefetch, idle_window_s=0.1),
    )
    plan = EpochPlan(config, "/bin/true", str(folder / "run"), 0, "", 0.0, 0)
    (folder / "out").mkdir()
    ranks = config.resources.ranks
    output = mpirun(ranks, folder, str(write_plan(plan)), native.parent)
    rows: list[Any] = json.loads(output.splitlines()[-1])
    assert len(rows) == items
    return rows


def mpirun(
    ranks: int,
    folder: Path,
    argument: str,
    native: Path | None = None,
    module: str = "benchmarks.roundtrip",
) -> str:
    """Run a module, this one unless another is named, as ranks; return what they print."""
    command = mpirun_command(find_mpirun(os.defpath), ranks, folder, Path("unused"))
    launch = command[: command.index(sys.executable)]
    done = subprocess.run(
        [*launch, sys.executable, "-m", module, "--rank", argument],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=True,
        cwd=ROOT,
        env={**inherited_environment(), "SYMFLEET_NATIVE_DIR": str(native or folder)},
    )
    return done.stdout.decode()


def measured(folder: Path) -> dict[str, float]:
    """Measure everything once; the two bare figures are of the same minute."""
    bare = json.loads(mpirun(2, folder, "ping-pong"))
    sync = bare_sync(folder)
    rows = run_job(folder / "empty", items=ITEMS, seconds=0.0, slots=1, prefetch=0)
    trips = quantiles([durable - sent for sent, durable, _ in rows])
    long = run_job(folder / "long", items=LONG_ITEMS, seconds=LONG_S, slots=2, prefetch=1)
    span = max(durable for _, durable, _ in long) - min(sent for sent, _, _ in long)
    return {
        "ping_pong_p50_ms": bare["p50_ms"],
        "ping_pong_p99_ms": bare["p99_ms"],
        "fsync_p50_ms": sync["p50_ms"],
        "fsync_p99_ms": sync["p99_ms"],
        "delivery_p50_ms": trips["p50_ms"],
        "delivery_p99_ms": trips["p99_ms"],
        "ratio_p50": trips["p50_ms"] / (bare["p50_ms"] + sync["p50_ms"]),
        "coordination_share_100ms_items": 1
        - sum(wall_us for _, _, wall_us in long) / 1e6 / (2 * span),
    }


def main() -> None:
    """Measure all several times, print and write median and spread."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    runs: list[dict[str, float]] = []
    for _ in range(options.repetitions):
        with tempfile.TemporaryDirectory(prefix="symfleet-roundtrip-", dir=ROOT / "build") as name:
            runs.append(measured(Path(name)))
        print(json.dumps({name: round(value, 4) for name, value in runs[-1].items()}), flush=True)
    date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    result: dict[str, Any] = {
        "date": date,
        "command": f"python -m benchmarks.roundtrip --repetitions {len(runs)}",
        "load_average": os.getloadavg(),
    }
    for name in runs[0]:
        values = [run[name] for run in runs]
        figures = {"median": statistics.median(values), "low": min(values), "high": max(values)}
        result[name] = {key: round(value, 4) for key, value in figures.items()}
    print(json.dumps(result, indent=1))
    path = ROOT / "benchmarks" / "results" / f"roundtrip-{date[:10]}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--rank", "ping-pong"]:
            ping_pong()
        case ["--rank", plan_path]:
            timed_rank(read_plan(Path(plan_path)))
        case _:
            main()
