"""Measure what the scale study takes for given: `python -m benchmarks.scale_calibration`.

Each cost is measured by running the real code on this machine and fitting a linear model to what
many turns took (`symfleet.testing.scale.costs` names the terms). Where only the processor works,
its time is taken and not the clock's, so that other processes disturb little.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from benchmarks import roundtrip
from benchmarks.scale_stores import measure_postgres, measure_sqlite, measure_turns
from symfleet.corpus import publish
from symfleet.corpus.layout import ProjectedFile
from symfleet.corpus.publish import SYNC_FILES_MAX, Folder, Publisher
from symfleet.protocol.answers import TurnAnswers
from symfleet.protocol.coordinator import Coordinator
from symfleet.protocol.events import CoordinatorAction, CoordinatorEvent, SinkAdvanced
from symfleet.protocol.operations import Operation
from symfleet.runtime.coordinator_loop import CoordinatorLoop
from symfleet.runtime.plan import read_plan
from symfleet.testing.jobs import Role, until
from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.scale.coordinators import (
    ScaleCoordinator,
    begin_vector,
    end_vector,
)
from symfleet.testing.scale.costs import (
    BEGIN_TERMS,
    END_TERMS,
    SAMPLE,
    Assumed,
    Costs,
)
from symfleet.testing.scale.fitting import Fitted, Sample, fitted, quartile, quiet
from symfleet.testing.scale.world import Point, World
from symfleet.transport.contract import Arrivals
from symfleet.transport.mpi import MpiTransport

LOST_SEEN_S: Final = 0.056
"""Longest of forty losses with Open MPI's ULFM on one host; a silent one takes 2 root_silence_s."""
_RESTART_ITEMS: Final = 200
_DEADLINE_S: Final = 60.0


# ---- the machine --------------------------------------------------------------------------------


class TimedMachine:
    """A coordinator's machine that notes what each half of a turn held and took."""

    def __init__(
        self, machine: Coordinator, slots: int, begins: list[Sample], ends: list[Sample]
    ) -> None:
        self._machine = machine
        self._slots = slots
        self._begins, self._ends = begins, ends
        self._asked = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)

    def begin_turn(
        self, now: float, events: Sequence[CoordinatorEvent], *, drained: bool
    ) -> Sequence[Operation]:
        """Time the first half."""
        began = time.thread_time()
        operations = self._machine.begin_turn(now, events, drained=drained)
        took = time.thread_time() - began
        self._begins.append((begin_vector(self._slots, events, operations), took))
        return operations

    def end_turn(self, answers: TurnAnswers | None) -> Sequence[CoordinatorAction]:
        """Time the second half, and the question for the next deadline."""
        began = time.thread_time()
        actions = self._machine.end_turn(answers)
        self._machine.next_deadline()
        took = time.thread_time() - began
        given = answers.answers if answers else ()
        self._ends.append((end_vector(self._slots, given, actions), took))
        return actions


def measure_machine() -> dict[str, Fitted]:
    """Time the real machine in small fleets, with single items and with bundles."""
    begins: list[Sample] = []
    ends: list[Sample] = []
    fleets = [(8, 0.03, 1), (90, 0.2, 1), (90, 0.01, 16), (160, 0.1, 1), (480, 0.4, 1)]
    for slots, length_s, bundle in fleets:
        point = Point(slots, length_s, "sqlite", max(1500, 6 * slots), 1, bundle)
        world = World(point, SAMPLE, Assumed())
        time_machine(world.root, begins, ends)
        gc.collect()
        world.run()
    return {"begin": fitted(begins, BEGIN_TERMS), "end": fitted(ends, END_TERMS)}


def time_machine(coordinator: ScaleCoordinator, begins: list[Sample], ends: list[Sample]) -> None:
    """Have the machine of a coordinator timed from now on."""
    timed = TimedMachine(coordinator.machine, coordinator.slots, begins, ends)
    coordinator.machine = timed  # type: ignore[assignment]


# ---- a real job ---------------------------------------------------------------------------------


@dataclasses.dataclass
class Meter:
    """Processor seconds of a rank, and how often."""

    receive_s: float = 0.0
    received: int = 0
    send_s: float = 0.0
    sent: int = 0
    loop_s: float = 0.0
    turns: int = 0
    publish_s: float = 0.0
    files: int = 0
    syncs: list[float] = dataclasses.field(default_factory=list)
    """Seconds by the clock of each time that files were made durable."""


METER: Final = Meter()


class MeteredTransport(MpiTransport):
    """Notes what frames cost."""

    def send(self, rank: int, frame: bytes) -> None:
        """Time it."""
        began = time.thread_time()
        super().send(rank, frame)
        METER.send_s += time.thread_time() - began
        METER.sent += 1

    def receive(self, frames_max: int, bytes_max: int, *more: Any) -> Arrivals:
        """Time it, when anything came."""
        began = time.thread_time()
        arrivals = super().receive(frames_max, bytes_max, *more)
        if arrivals.events:
            METER.receive_s += time.thread_time() - began
            METER.received += len(arrivals.events)
        return arrivals

    def leave(self) -> NoReturn:
        """Tell what was measured."""
        if self.rank == 0:
            told = {"rows": [*roundtrip.decided.values()], "meter": dataclasses.asdict(METER)}
            print(json.dumps(told), flush=True)
        super().leave()


def metered_rank(plan_path: str) -> NoReturn:
    """Be a rank of the metered job."""
    between = CoordinatorLoop._between_turns  # noqa: SLF001
    step, put = Publisher.step, Folder.put
    sync = publish.sync_filesystem  # type: ignore[attr-defined]

    def timed_between(self: CoordinatorLoop, now: float) -> None:
        began, published = time.thread_time(), METER.publish_s
        between(self, now)
        METER.loop_s += time.thread_time() - began - (METER.publish_s - published)
        METER.turns += 1

    def timed_step(self: Publisher, *args: Any, **more: Any) -> tuple[Any, ...]:
        began = time.thread_time()
        moved: tuple[SinkAdvanced | Any, ...] = step(self, *args, **more)
        METER.publish_s += time.thread_time() - began
        return moved

    def timed_sync(folder: Path) -> None:
        began, cpu = time.perf_counter(), time.thread_time()
        sync(folder)
        METER.syncs.append(time.perf_counter() - began - (time.thread_time() - cpu))

    def counted_put(self: Folder, file: ProjectedFile) -> bool:
        METER.files += 1
        return put(self, file)

    CoordinatorLoop._between_turns = timed_between  # type: ignore[method-assign] # noqa: SLF001
    Publisher.step = timed_step  # type: ignore[method-assign]
    Folder.put = counted_put  # type: ignore[method-assign]
    publish.sync_filesystem = timed_sync  # type: ignore[attr-defined]
    roundtrip.TimedTransport = MeteredTransport  # type: ignore[misc, assignment]
    roundtrip.timed_rank(read_plan(Path(plan_path)))


def measure_job(folder: Path) -> dict[str, float]:
    """Run real jobs over MPI: what a frame, the rest of a turn, a published file and the way from
    one delivery to the next cost."""
    short = real_job(folder / "short", items=1500, seconds=0.0, slots=2)
    long = real_job(folder / "long", items=150, seconds=0.02, slots=1)
    meter = Meter(**short["meter"])
    gap = gap_between(long["rows"])
    pong = json.loads(roundtrip.mpirun(2, folder, "ping-pong"))
    return {
        "receive": meter.receive_s / meter.received,
        "send": meter.send_s / meter.sent,
        "loop": meter.loop_s / meter.turns,
        "publish": meter.publish_s / meter.files + quiet(meter.syncs) / SYNC_FILES_MAX,
        "worker_gap": max(0.0, gap),
        "host_delay": pong["p50_ms"] / 2e3,
    }


def gap_between(rows: Sequence[tuple[float, int]]) -> float:
    """Return what lies between two executions of one slot: rows of (durable at, microseconds in
    the engine) in their order; over tens of rows, because single ones jitter."""
    gaps = []
    for first in range(len(rows) - 10):
        span = rows[first + 10][0] - rows[first][0]
        spent = sum(wall_us for _, wall_us in rows[first + 1 : first + 11]) / 1e6
        gaps.append((span - spent) / 10)
    return max(0.0, quartile(gaps))


def real_job(folder: Path, *, items: int, seconds: float, slots: int) -> dict[str, Any]:
    """Run a campaign with this module's ranks instead of those of the round trip benchmark."""
    told: list[str] = []
    plain = roundtrip.mpirun

    def mpirun(ranks: int, where: Path, argument: str, native: Path | None = None) -> str:
        output = plain(ranks, where, argument, native, module="benchmarks.scale_calibration")
        told.append(output.splitlines()[-1])
        return json.dumps(json.loads(told[-1])["rows"])

    roundtrip.mpirun = mpirun  # type: ignore[assignment]
    try:
        roundtrip.run_job(folder, items=items, seconds=seconds, slots=slots, prefetch=1)
    finally:
        roundtrip.mpirun = plain
    measured: dict[str, Any] = json.loads(told[-1])
    return measured


def measure_restart(folder: Path) -> float:
    """Kill the root of a real job; return the seconds until the next epoch decides."""
    program = roundtrip.ROOT / "tests" / "programs" / "none.py"
    seeds = {str(number): b"%d" % number for number in range(_RESTART_ITEMS)}
    campaign = ProgramCampaign(folder / "restart", program, seeds, seconds=0.2)
    job = campaign.job()
    try:
        job.start()
        until("work begins", lambda: campaign.decisions() >= 4, _DEADLINE_S)
        (root,) = job.find(Role.ROOT)
        began = time.monotonic()
        job.kill(root)

        def goes_on() -> bool:
            with campaign.reader() as reader:
                epoch = reader.status().epoch
                return epoch is not None and epoch.epoch > 1 and epoch.decisions > 0

        until("the next epoch decides", goes_on, _DEADLINE_S)
        return time.monotonic() - began - campaign.seconds
    finally:
        campaign.close()


# ---- all ----------------------------------------------------------------------------------------


def calibrate(folder: Path, *, turns: int = 400) -> tuple[Costs, dict[str, Any]]:
    """Measure everything; return the costs and how good the models are."""
    told: dict[str, Any] = {}
    quality: dict[str, Any] = {}

    def step(name: str, found: dict[str, Any]) -> None:
        for key, value in found.items():
            if isinstance(value, Fitted):
                quality[key] = {"explained": value.explained, "samples": value.samples}
                told[key] = value.costs
            else:
                told[key] = value
        print(f"  measured: {name}", file=sys.stderr)

    step("machine", measure_machine())
    step("SQLite", measure_sqlite(folder, turns))
    step("PostgreSQL", measure_postgres(folder, 2 * turns))
    step("turns through the root", measure_turns(folder))
    step("real jobs", measure_job(folder))
    step("restart", {"restart": measure_restart(folder)})
    # An item of a bundle costs its worker no more than a delivery of its own.
    costs = Costs(**told, worker_item=told["worker_gap"], lost_seen=LOST_SEEN_S)
    return costs, quality


def costs_from(document: dict[str, Any]) -> Costs:
    """Return costs that were written as JSON."""
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in document.items()
    }
    return Costs(**given)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--rank", "ping-pong"]:
            roundtrip.ping_pong()
        case ["--rank", plan_path]:
            metered_rank(plan_path)
        case _:
            with tempfile.TemporaryDirectory(
                prefix="symfleet-scale-", dir=roundtrip.ROOT / "build"
            ) as name:
                costs, quality = calibrate(Path(name))
            print(json.dumps({"costs": dataclasses.asdict(costs), "quality": quality}, indent=1))
