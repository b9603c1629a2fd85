"""A whole campaign in one process and in virtual time, replayable from one seed.

The real Coordinator and Worker machines run over a simulated transport, simulated executors with a
synthetic finite program, and the memory ledger. With several coordinators each has workers and a
source of seeds; frames between coordinators are what MPI makes them: in order, and lost only with
their reader. Faults come from a FaultPlan. A run has two phases:
faults happen until the plan's budget or time is spent (safety: the oracle and `validate_state` hold
after every step), then nothing goes wrong any more and the campaign must end quiescent with
exactly the inputs that an undisturbed one ends with (liveness).
"""

from __future__ import annotations

import functools
import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from symfleet.ledger.contract import CampaignRow, EpochRequest, GenerationKey
from symfleet.ledger.memory import MemoryLedger
from symfleet.protocol.codec import kind_of
from symfleet.protocol.events import Finish, FrameReceived, Leave, RankLost
from symfleet.protocol.messages import Adopt
from symfleet.protocol.operations import Admission, Operation, TurnAnswers
from symfleet.protocol.setup import Knobs
from symfleet.testing.fake_clock import FakeClock
from symfleet.testing.fault_plan import FaultPlan
from symfleet.testing.oracle import Oracle
from symfleet.testing.simulated_coordinator import SimulatedCoordinator
from symfleet.testing.simulated_epoch import CAMPAIGN, GENERATION, EpochPlan, Shape
from symfleet.testing.simulated_network import SimulatedNetwork
from symfleet.testing.simulated_seeds import SimulatedSeeds
from symfleet.testing.simulated_turns import SimulatedTurns
from symfleet.testing.simulated_worker import SimulatedWorker
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.types import (
    Incarnation,
    InputId,
    Keep,
    SinkKind,
    WorkId,
    WorkState,
)

_EVENTS_MAX: Final = 400_000
_EPOCHS_MAX: Final = 60
_RESTART_S: Final = 1.5
_LOST_SEEN_S: Final = 0.05


class Stuck(AssertionError):
    """The campaign did not end although nothing goes wrong any more."""


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
        self.injected: dict[str, int] = {}
        self.published: set[InputId] = set()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._sequence = 0
        self._steps = 0
        self._epochs = 0
        self._done: Finish | None = None
        self._rearm: tuple[WorkId, ...] = ()
        self._workers: dict[int, SimulatedWorker] = {}
        self._coordinators: dict[int, SimulatedCoordinator] = {}
        self.seeds = SimulatedSeeds(self.program)
        self.watch: Callable[[], None] = lambda: None
        """Called after everything that happens."""
        self._sources: list[int] = []
        """Number of each coordinator's source in the ledger."""
        self.dismissed: set[int] = set()
        """Ranks of coordinators whose turns the owner takes no more."""
        turns = random.Random(f"turns {seed}")
        self.turns = SimulatedTurns(self, turns, direct=self.shape.direct)
        key = GenerationKey("00" * 32, ("t",), "file", "0", ())
        row = CampaignRow(CAMPAIGN, "00" * 8, 0.0, Keep.ALL, GENERATION, key, "")
        self.ledger = MemoryLedger(row, self.clock)
        self.network = self._new_network()

    @property
    def now(self) -> float:
        """Virtual monotonic seconds."""
        return self.clock.monotonic_s

    @property
    def root(self) -> SimulatedCoordinator:
        """The owner of the ledger in this epoch."""
        return self._coordinators[0]

    def coordinator(self, number: int) -> SimulatedCoordinator:
        """Return a coordinator of this epoch."""
        return self._coordinators[number]

    def run(self) -> Outcome:
        """Run to the end."""
        started = self.now
        shape = self.shape
        for number, node in enumerate(shape.seeds):
            self.seeds.drop(node, number % shape.coordinators, self.now)
        for number, (node, after_s) in enumerate(shape.late):
            owner = number % shape.coordinators
            drop = functools.partial(self.seeds.drop, node, owner, self.now + after_s)
            self.schedule(self.now + after_s, drop)
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
            self.watch()
        root = self.root
        expected = self.program.reachable(self.seeds.nodes, self.oracle.cut_off)
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
        process = self._workers.get(rank) or self._coordinators.get(rank)
        return process is not None and process.alive

    def commit(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn in the ledger."""
        answers = self.ledger.run(operations)
        self.oracle.after_turn(operations, answers)
        return answers

    def scan(self, source: int) -> tuple[Admission, ...]:
        """Scan a source; return what is not known to be admitted."""
        return self.seeds.scan(self._sources.index(source), self.now)

    def publish(self, after: int, upto: int) -> None:
        """Write the files of the corpus sink."""
        for artefact in self.ledger.artefacts(SinkKind.CORPUS, after, 10**6, 10**9):
            if artefact.number <= upto:
                self.published.add(artefact.input_id)

    # ---- lives and deaths ------------------------------------------------------------------------

    def worker_died(self, worker: SimulatedWorker) -> None:
        """A worker rank is killed; all coordinators hear of it soon."""
        worker.die()
        self._tell_lost(worker.rank)

    def worker_left(self, worker: SimulatedWorker) -> None:
        """A worker rank ended by itself."""
        worker.die()
        assert isinstance(worker.left, Leave)
        if worker.left.exit_code != 0:
            self._tell_lost(worker.rank)

    def give_up(self, rank: int) -> None:
        """A coordinator has a rank ended: a worker is, while another coordinator that is stopped
        stays as it is and may come back."""
        self.dismissed.add(rank)
        worker = self._workers.get(rank)
        if worker is not None and worker.alive:
            self.worker_died(worker)

    def _tell_lost(self, rank: int) -> None:
        hearing: list[SimulatedCoordinator | SimulatedWorker] = [*self._coordinators.values()]
        if rank in self._coordinators:
            hearing += self._workers.values()

        def tell(process: SimulatedCoordinator | SimulatedWorker) -> None:
            process.deliver(RankLost(rank))  # a dead one hears nothing

        for process in hearing:
            after_s = (
                _LOST_SEEN_S * (0.5 + self.draw.random()) if len(hearing) > 1 else _LOST_SEEN_S
            )
            self.schedule(self.now + after_s, functools.partial(tell, process))

    def coordinator_died(self, coordinator: SimulatedCoordinator) -> None:
        """A coordinator's process is killed. With the root the job ends; another is taken over."""
        coordinator.alive = False
        if coordinator.is_root:
            self.job_died()
        else:
            self._tell_lost(coordinator.setup.rank)

    def coordinator_left(self, coordinator: SimulatedCoordinator) -> None:
        """A coordinator that was given up finds out, and ends."""
        if coordinator.alive and self._coordinators.get(coordinator.setup.rank) is coordinator:
            self.coordinator_died(coordinator)

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
            self.seeds.check_quiescent()
            if not poisoned and not self.seeds.unconfirmed:
                self._done = finish
                return
            # Enough bad messages set an item aside; somebody looks at it and takes it in again.
            self._rearm = tuple(row.work_id for row in poisoned)
        self._end_job()
        self.schedule(self.now + _RESTART_S, self._open_epoch)

    def _end_job(self) -> None:
        for worker in self._workers.values():
            worker.die()
        for coordinator in self._coordinators.values():
            coordinator.alive = False

    def _is_reliable(self, source: int, target: int, frame: bytes) -> bool:
        ranks = self._coordinators
        return (source in ranks and target in ranks) or kind_of(frame) is Adopt

    def _deliver(self, source: int, target: int, frame: bytes) -> None:
        if target in self._coordinators:
            self._coordinators[target].receive(source, frame)
        elif target in self._workers:
            self._workers[target].deliver(FrameReceived(source, frame))

    def _new_network(self) -> SimulatedNetwork:
        return SimulatedNetwork(
            random.Random(self.draw.random()),
            self.plan,
            self.schedule,
            self.spend,
            self._deliver,
            self._is_reliable,
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
        self._sources = [
            self.ledger.register_source("seeds", f"/seeds{number or ''}", "host")
            for number in range(self.shape.coordinators)
        ]
        sink = self.ledger.register_sink(SinkKind.CORPUS, "/corpus", "host")
        self.network = self._new_network()
        self.dismissed = set()
        plan = EpochPlan(self.shape, self.knobs, opening, life, self._sources)
        self._coordinators = {
            number: SimulatedCoordinator(
                self,
                plan.coordinator(number, self.draw.randbytes(32)),
                sink if number == 0 else None,
            )
            for number in range(self.shape.coordinators)
        }
        self._workers = {
            rank: SimulatedWorker(self, rank, plan.worker(rank, number, self.draw))
            for number, group in enumerate(self.shape.groups)
            for rank in group
        }


def simulate(seed: int, plan: FaultPlan | None = None, shape: Shape | None = None) -> Outcome:
    """Run the campaign of a seed; its plan is drawn from the seed unless one is given."""
    return Simulation(seed, plan or FaultPlan.from_seed(seed), shape).run()
