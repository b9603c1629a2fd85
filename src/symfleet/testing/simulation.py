"""A whole campaign in one process and in virtual time, replayable from one seed.

The real Coordinator and Worker machines run over a simulated transport, simulated executors with a
synthetic finite program, and the memory ledger. Faults come from a FaultPlan. A run has two phases:
faults happen until the plan's budget or time is spent (safety: the oracle and `validate_state` hold
after every step), then nothing goes wrong any more and the campaign must end quiescent with
exactly the inputs that an undisturbed one ends with (liveness).
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from symfleet.ledger.contract import CampaignRow, EpochRequest, GenerationKey
from symfleet.ledger.memory import MemoryLedger
from symfleet.protocol.events import Finish, FrameReceived, Leave, RankLost
from symfleet.protocol.messages import EngineSetup
from symfleet.protocol.operations import Admission
from symfleet.protocol.setup import CoordinatorSetup, Knobs, SourceSetup, WorkerSetup
from symfleet.protocol.work import WorkItem, encode_item, state_id_of, work_id_of
from symfleet.testing.fake_clock import FakeClock
from symfleet.testing.fault_plan import FaultPlan
from symfleet.testing.oracle import Oracle
from symfleet.testing.simulated_coordinator import SimulatedCoordinator
from symfleet.testing.simulated_network import SimulatedNetwork
from symfleet.testing.simulated_worker import SimulatedWorker
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.types import (
    CampaignId,
    GenerationId,
    Incarnation,
    InputId,
    Keep,
    SinkKind,
    WorkId,
    WorkState,
    input_id_of,
)

CAMPAIGN: Final = CampaignId("c0" * 16)
GENERATION: Final = GenerationId("9e" * 32)
ENGINE: Final = EngineSetup(("synthetic",), ("t",), "file", "all", {}, 0, {})
_EVENTS_MAX: Final = 400_000
_EPOCHS_MAX: Final = 60
_RESTART_S: Final = 1.5
_LOST_SEEN_S: Final = 0.05


class Stuck(AssertionError):
    """The campaign did not end although nothing goes wrong any more."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Size of a simulated campaign."""

    workers: int = 2
    slots: int = 2
    size: int = 24
    seeds: tuple[int, ...] = (0, 5)
    prefetch: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run showed."""

    exit_code: int
    epochs: int
    decisions: int
    executions: int
    virtual_s: float
    steps: int
    faults: tuple[tuple[str, str, int], ...]
    """Of the last epoch, as its coordinator counted them."""
    injected: tuple[tuple[str, int], ...]
    idle_window_s: float | None
    trace: str
    """Digest of everything that happened, for bit-identical replay."""


class Simulation:
    """One campaign. `run` returns its outcome or raises AssertionError."""

    def __init__(
        self, seed: int, plan: FaultPlan, shape: Shape | None = None, knobs: Knobs | None = None
    ) -> None:
        self.shape = shape or Shape()
        self.plan = plan
        self.draw = random.Random(f"simulation {seed}")
        self.knobs = knobs or Knobs(
            prefetch=self.shape.prefetch, hard_limit_s=20.0, shutdown_grace_s=20.0
        )
        self.clock = FakeClock()
        self.program = SyntheticProgram(self.shape.size, seed)
        self.oracle = Oracle()
        self.executions = 0
        self.confirmed: set[str] = set()
        self.injected: dict[str, int] = {}
        self.published: set[InputId] = set()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._sequence = 0
        self._steps = 0
        self._epochs = 0
        self._done: Finish | None = None
        self._rearm: tuple[WorkId, ...] = ()
        self._workers: dict[int, SimulatedWorker] = {}
        self._root: SimulatedCoordinator | None = None
        key = GenerationKey("00" * 32, ("t",), "file", "0", ())
        row = CampaignRow(CAMPAIGN, "00" * 8, 0.0, Keep.ALL, GENERATION, key, "")
        self.ledger = MemoryLedger(row, self.clock)
        self.network = self._new_network()

    @property
    def now(self) -> float:
        """Virtual monotonic seconds."""
        return self.clock.monotonic_s

    def run(self) -> Outcome:
        """Run to the end."""
        started = self.now
        self._open_epoch()
        while self._done is None:
            if not self._events:
                raise Stuck("nothing is left to happen")
            at, _, what = heapq.heappop(self._events)
            self.clock.advance_to(at)
            self._steps += 1
            if self._steps > _EVENTS_MAX:
                raise Stuck(f"{_EVENTS_MAX} events at {self.now - started:.0f} s")
            what()
        root = self._root
        assert root is not None
        expected = self.program.reachable(self.shape.seeds, self.oracle.cut_off)
        self.oracle.final(self.ledger, expected, self.published)
        view = root.machine.view()
        return Outcome(
            exit_code=self._done.exit_code,
            epochs=self._epochs,
            decisions=len(self.oracle.decided),
            executions=self.executions,
            virtual_s=self.now - started,
            steps=self._steps,
            faults=view.faults,
            injected=tuple(sorted(self.injected.items())),
            idle_window_s=view.idle_window_s,
            trace=f"{self._steps}:{self.network.sent}:{self.now!r}:{self.draw.random()!r}",
        )

    # ---- what processes ask of the world --------------------------------------------------------

    def schedule(self, at: float, what: Callable[[], None]) -> None:
        """Run something at a virtual time."""
        self._sequence += 1
        heapq.heappush(self._events, (at, self._sequence, what))

    def spend(self, fault: str) -> bool:
        """Take one fault from the budget; False when the liveness phase has begun."""
        if self.now > 1000.0 + self.plan.until_s or sum(self.injected.values()) >= self.plan.budget:
            return False
        self.injected[fault] = self.injected.get(fault, 0) + 1
        return True

    def reachable(self, rank: int) -> bool:
        """Whether a rank still exists."""
        worker = self._workers.get(rank)
        return worker is not None and worker.alive

    def unseen_seeds(self) -> tuple[Admission, ...]:
        """Return the seeds that no scan has had confirmed."""
        found = []
        for node in self.shape.seeds:
            if f"seed {node}" in self.confirmed:
                continue
            data = self.program.data(node)
            item = WorkItem(GENERATION, input_id_of(data))
            found.append(
                Admission(
                    item.input,
                    data,
                    work_id_of(item),
                    state_id_of(item),
                    encode_item(item),
                    f"seed {node}",
                )
            )
        return tuple(found)

    def publish(self, after: int, upto: int) -> None:
        """Write the files of the corpus sink."""
        for artefact in self.ledger.artefacts(SinkKind.CORPUS, after, 10**6, 10**9):
            if artefact.number <= upto:
                self.published.add(artefact.input_id)

    # ---- lives and deaths ------------------------------------------------------------------------

    def worker_died(self, worker: SimulatedWorker) -> None:
        """A worker rank is killed; its coordinator hears of it soon."""
        worker.die()
        self._tell_lost(worker.rank)

    def worker_left(self, worker: SimulatedWorker) -> None:
        """A worker rank ended by itself."""
        worker.die()
        assert isinstance(worker.left, Leave)
        if worker.left.exit_code != 0:
            self._tell_lost(worker.rank)

    def give_up(self, rank: int) -> None:
        """The coordinator has a rank ended."""
        worker = self._workers.get(rank)
        if worker is not None and worker.alive:
            self.worker_died(worker)

    def _tell_lost(self, rank: int) -> None:
        root = self._root

        def told() -> None:
            if root is not None and root is self._root and root.alive:
                root.deliver(RankLost(rank))

        self.schedule(self.now + _LOST_SEEN_S, told)

    def job_died(self) -> None:
        """The root died: everything below dies, and the launcher opens the next epoch."""
        self._end_job()
        if self.draw.random() < self.plan.power_cut:
            self.ledger.power_cut()
        self.schedule(self.now + _RESTART_S, self._open_epoch)

    def job_finished(self, finish: Finish) -> None:
        """The epoch ended in order: quiescent, or to be opened again."""
        if finish.reason == "quiescent":
            poisoned = self.ledger.work_rows(WorkState.POISONED, 1000)
            if not poisoned:
                self._done = finish
                return
            # Enough bad messages set an item aside; somebody looks at it and takes it in again.
            self._rearm = tuple(row.work_id for row in poisoned)
        self._end_job()
        self.schedule(self.now + _RESTART_S, self._open_epoch)

    def _end_job(self) -> None:
        for worker in self._workers.values():
            worker.die()
        if self._root is not None:
            self._root.alive = False

    def _deliver(self, source: int, target: int, frame: bytes) -> None:
        if target == 0:
            if self._root is not None:
                self._root.receive(source, frame)
        elif target in self._workers:
            self._workers[target].deliver(FrameReceived(source, frame))

    def _new_network(self) -> SimulatedNetwork:
        return SimulatedNetwork(
            random.Random(self.draw.random()), self.plan, self.schedule, self.spend, self._deliver
        )

    def _open_epoch(self) -> None:
        self._epochs += 1
        if self._epochs > _EPOCHS_MAX:
            raise Stuck(f"{_EPOCHS_MAX} epochs")
        life = Incarnation(self.draw.getrandbits(64) or 1)
        opening = self.ledger.open_epoch(
            EpochRequest("host", 1, "sim", "0", life, self.clock.wall(), "")
        )
        self.ledger.rearm(self._rearm)
        self._rearm = ()
        self.oracle.recount(self.ledger)
        source = self.ledger.register_source("seeds", "/seeds", "host")
        sink = self.ledger.register_sink(SinkKind.CORPUS, "/corpus", "host")
        ranks = tuple(range(1, self.shape.workers + 1))
        setup = CoordinatorSetup(
            campaign=CAMPAIGN,
            epoch=opening.epoch,
            number=0,
            rank=0,
            incarnation=life,
            secret=self.draw.randbytes(32),
            version="0",
            workers=ranks,
            engine=ENGINE,
            generation=GENERATION,
            keep=Keep.ALL,
            sources=(SourceSetup(source),),
            opening=opening,
            until_quiescent=True,
            knobs=self.knobs,
        )
        self.network = self._new_network()
        self._root = SimulatedCoordinator(self, setup, sink)
        self._workers = {}
        for rank in ranks:
            self._workers[rank] = SimulatedWorker(self, rank, self._worker_setup(rank, setup))

    def _worker_setup(self, rank: int, setup: CoordinatorSetup) -> WorkerSetup:
        return WorkerSetup(
            campaign=CAMPAIGN,
            epoch=setup.epoch,
            rank=rank,
            coordinator=0,
            incarnation=Incarnation(self.draw.getrandbits(64) or 1),
            slots=self.shape.slots,
            version="0",
            host=f"host {rank}",
            pid=100 + rank,
            python="3",
            random=random.Random(self.draw.random()),
            knobs=self.knobs,
        )


def simulate(seed: int, plan: FaultPlan | None = None, shape: Shape | None = None) -> Outcome:
    """Run the campaign of a seed; its plan is drawn from the seed unless one is given."""
    return Simulation(seed, plan or FaultPlan.from_seed(seed), shape).run()
