"""A whole campaign in one process and in virtual time, replayable from one seed.

The real Coordinator and Worker machines run over a simulated transport, simulated executors with a
synthetic finite program, and the memory ledger. With several coordinators each has workers and a
source of seeds; frames between coordinators are what MPI makes them (`simulated_faults.py`). Faults
come from a FaultPlan. A run has two phases: faults happen until the plan's budget or time is spent
(safety: the oracle and `validate_state` hold after every step), then nothing goes wrong any more
and the campaign must end quiescent, in bounded time, with exactly the inputs that an undisturbed
one ends with (liveness).

Every random choice comes from the seed, every time from one queue, and everything that happens goes
into one digest (`simulated_history.py`).
"""

from __future__ import annotations

import functools
import heapq
import random
from collections.abc import Callable, Sequence
from typing import Final

from symfleet.errors import IOFailure
from symfleet.ledger.contract import CampaignRow, EpochRequest, GenerationKey
from symfleet.protocol.answers import TurnAnswers
from symfleet.protocol.codec import kind_of
from symfleet.protocol.events import Finish, FrameReceived, Leave, Note, RankLost, RunItem
from symfleet.protocol.messages import Adopt
from symfleet.protocol.operations import Admission, Operation
from symfleet.protocol.setup import Knobs
from symfleet.testing.fake_clock import FakeClock
from symfleet.testing.simulation.coordinator import SimulatedCoordinator
from symfleet.testing.simulation.epoch import CAMPAIGN, GENERATION, EpochPlan, Shape
from symfleet.testing.simulation.fault_plan import FaultPlan
from symfleet.testing.simulation.faults import SimulatedFaults
from symfleet.testing.simulation.history import History, short
from symfleet.testing.simulation.ledger import SimulatedLedger
from symfleet.testing.simulation.network import SimulatedNetwork
from symfleet.testing.simulation.oracle import Oracle
from symfleet.testing.simulation.outcome import Broken, Outcome, Stuck
from symfleet.testing.simulation.seeds import SimulatedSeeds
from symfleet.testing.simulation.turns import SimulatedTurns
from symfleet.testing.simulation.worker import SimulatedWorker
from symfleet.types import DispatchToken, Incarnation, InputId, SinkKind, WorkId, WorkState

__all__ = ["Broken", "Outcome", "Simulation", "Stuck", "simulate"]

_EVENTS_MAX: Final = 400_000
_EPOCHS_MAX: Final = 40
"""So many more than there may be faults."""
_CALM_S_MAX: Final = 1200.0
"""Virtual seconds from the last fault to the end."""
_RESTART_S: Final = 1.5
_LOST_SEEN_S: Final = 0.05
_LATE_SEEN_S: Final = 40.0


class Simulation:
    """One campaign. `run` returns its outcome or raises AssertionError. `tell`: see History."""

    def __init__(
        self,
        seed: int,
        plan: FaultPlan,
        shape: Shape | None = None,
        knobs: Knobs | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.shape = shape or Shape()
        self.plan = plan
        self.draw = random.Random(f"simulation {seed}")
        self.knobs = knobs or Knobs(
            prefetch=self.shape.prefetch, hard_limit_s=20.0, shutdown_grace_s=20.0, frame_mib=2
        )
        self.clock = FakeClock()
        self.program = self.shape.program(seed)
        self.oracle = Oracle(self.program, self.shape.keep)
        self.history = History(tell)
        self.published: set[InputId] = set()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._sequence = self._steps = self._epochs = 0
        self._started = self.now
        self._late_s = max((after_s for _, after_s in self.shape.late), default=0.0)
        """When the last seed appears."""
        self._done: Finish | None = None
        self._rearm: tuple[WorkId, ...] = ()
        self._workers: dict[int, SimulatedWorker] = {}
        self._coordinators: dict[int, SimulatedCoordinator] = {}
        self.seeds = SimulatedSeeds(self.program)
        self.watch: Callable[[], None] = lambda: None
        """Called after everything that happens."""
        self._broken = False
        """Whether the ledger refuses everything until it is opened again."""
        self._sources: list[int] = []
        """Number of each coordinator's source in the ledger."""
        self.dismissed: set[int] = set()
        """Ranks of coordinators whose turns the owner takes no more."""
        self.faults = SimulatedFaults(
            plan,
            random.Random(f"faults {seed}"),
            lambda: self.now - self._started,
            lambda what: self.history.note(self.now, "FAULT", what),
        )
        self.happens = self.faults.happens
        turns = random.Random(f"turns {seed}")
        self.turns = SimulatedTurns(self, turns, direct=self.shape.direct)
        key = GenerationKey("00" * 32, ("t",), "file", "0", ())
        row = CampaignRow(CAMPAIGN, "00" * 8, 0.0, self.shape.keep, GENERATION, key, "")
        self.ledger = SimulatedLedger(row, self.clock)
        self.network = self._new_network()

    @property
    def now(self) -> float:
        """The world's virtual seconds; each process has a clock of its own."""
        return self.clock.monotonic_s

    @property
    def steps(self) -> int:
        """How many things have happened."""
        return self._steps

    @property
    def root(self) -> SimulatedCoordinator:
        """The owner of the ledger in this epoch."""
        return self._coordinators[0]

    def coordinator(self, number: int) -> SimulatedCoordinator:
        """Return a coordinator of this epoch."""
        return self._coordinators[number]

    def run(self) -> Outcome:
        """Run to the end."""
        shape = self.shape
        for number, node in enumerate(shape.seeds):
            self.seeds.drop(node, number % shape.coordinators, self.now)
        for number, (node, after_s) in enumerate(shape.late):
            owner = number % shape.coordinators
            drop = functools.partial(self.seeds.drop, node, owner, self.now + after_s)
            self.schedule(self.now + after_s, drop)
        try:
            self._open_epoch()
            while self._done is None:
                self._step()
        except AssertionError:
            raise
        except Exception as error:  # the border of every simulated process
            raise Broken(f"{type(error).__name__}: {error}") from error
        self.oracle.final(self.ledger, self.seeds.nodes, self.published)
        self._check_damaged()
        view = self.root.machine.view()
        faults = self.faults
        return Outcome(
            exit_code=self._done.exit_code,
            epochs=self._epochs,
            decisions=len(self.oracle.decided),
            executions=len(self.oracle.ran),
            virtual_s=self.now - self._started,
            calm_s=self.now - self._started - faults.last_at,
            steps=self._steps,
            faults=view.faults,
            injected=tuple(sorted(faults.injected.items())),
            drawn=faults.drawn,
            idle_window_s=view.idle_window_s,
            trace=self.history.digest,
        )

    def _check_damaged(self) -> None:
        """D8: each damaged frame that a coordinator took is counted, if its counts came through."""
        if self._epochs > 1 or self.faults.has_silenced:
            return
        taken = sum(coordinator.damaged_seen for coordinator in self._coordinators.values())
        counted = self.oracle.rows.damaged_frames
        assert taken == counted, f"D8: {taken} damaged frames were taken, {counted} were counted"

    def _step(self) -> None:
        """Let the next thing happen."""
        if not self._events:
            raise Stuck("nothing is left to happen")
        at, number, what = heapq.heappop(self._events)
        self.clock.advance_to(at)
        self._steps += 1
        elapsed_s = self.now - self._started
        if self._steps > _EVENTS_MAX:
            raise Stuck(f"{_EVENTS_MAX} events at {elapsed_s:.0f} s")
        if elapsed_s - max(self.faults.last_at, self._late_s) > _CALM_S_MAX:
            raise Stuck(f"nothing went wrong for {_CALM_S_MAX:.0f} s, and it goes on")
        self.history.step(at, number)
        what()
        self.watch()

    # ---- what processes ask of the world --------------------------------------------------------

    def schedule(self, at: float, what: Callable[[], None]) -> None:
        """Run something at a virtual time."""
        self._sequence += 1
        heapq.heappush(self._events, (at, self._sequence, what))

    def sent(self, source: int, target: int, frame: bytes, fate: str) -> None:
        """A frame leaves."""
        self.history.frame(self.now, source, target, frame, fate)

    def noted(self, who: str, note: Note) -> None:
        """A machine writes a log line."""
        self.history.note(self.now, who, f"notes {note.event} {note.detail}")

    def ran_item(self, rank: int, token: DispatchToken, item: RunItem) -> None:
        """A worker begins an item."""
        self.oracle.ran_item(rank, token, item.work_id, item.data)
        what = f"slot {item.slot} runs {short(item.work_id)} of {short(token)}"
        self.history.note(self.now, f"worker {rank}", what)

    def reachable(self, rank: int) -> bool:
        """Whether a rank still exists."""
        process = self._workers.get(rank) or self._coordinators.get(rank)
        return process is not None and process.alive

    def commit(self, who: str, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn in the ledger. Raises IOFailure; then it may have happened, or not."""
        fails = not self._broken and self.happens(self.draw, self.plan.ledger_fails, "ledger fails")
        if self._broken or (fails and self.draw.random() < 0.5):
            self._broken = True
            raise IOFailure("the ledger cannot be written", where="ledger", why="drawn")
        self._broken = fails
        answers = self.ledger.run(operations)
        self.history.turn(self.now, who, operations, answers)
        self.oracle.after_turn(operations, answers, self._is_published)
        if fails:
            raise IOFailure("the ledger gave no answer", where="ledger", why="drawn")
        return answers

    def _is_published(self) -> bool:
        """Whether each input of the corpus has its file."""
        return self.published.issuperset(self.ledger.corpus())

    def scan(self, source: int, rank: int) -> tuple[Admission, ...]:
        """A coordinator scans a source; return what is not known to be admitted."""
        lost = rank in self.dismissed
        return self.seeds.scan(self._sources.index(source), self.now, lost=lost)

    def publish(self, after: int, upto: int) -> None:
        """Write the files of the corpus sink."""
        for artefact in self.ledger.artefacts(SinkKind.CORPUS, after, 10**6, 10**9):
            if artefact.number <= upto:
                self.published.add(artefact.input_id)

    # ---- lives and deaths ------------------------------------------------------------------------

    def worker_died(self, worker: SimulatedWorker) -> None:
        """A worker rank is killed; all coordinators hear of it soon."""
        self.history.note(self.now, f"worker {worker.rank}", "dies")
        worker.die()
        self.network.died(worker.rank)
        self._tell_lost(worker.rank)

    def worker_left(self, worker: SimulatedWorker) -> None:
        """A worker rank ended by itself."""
        assert isinstance(worker.left, Leave)
        self.history.note(self.now, f"worker {worker.rank}", f"{worker.left}")
        worker.die()
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
            after_s = _LOST_SEEN_S * (0.5 + self.draw.random())
            if self.happens(self.draw, self.plan.loss_seen_late, "loss seen late"):
                after_s += self.draw.random() * _LATE_SEEN_S
            self.schedule(self.now + after_s, functools.partial(tell, process))

    def coordinator_died(self, coordinator: SimulatedCoordinator) -> None:
        """A coordinator's process is killed. With the root the job ends; another is taken over."""
        self.history.note(self.now, coordinator.name, "dies")
        coordinator.alive = False
        self.network.died(coordinator.setup.rank)
        if coordinator.is_root:
            self._job_died()
        else:
            self._tell_lost(coordinator.setup.rank)

    def coordinator_left(self, coordinator: SimulatedCoordinator) -> None:
        """A coordinator that was given up finds out, and ends."""
        if coordinator.alive and self._coordinators.get(coordinator.setup.rank) is coordinator:
            self.coordinator_died(coordinator)

    def _job_died(self) -> None:
        """The root died: everything below dies, and the launcher opens the next epoch."""
        self._end_job()
        if self.draw.random() < self.plan.power_cut:
            unsynced = self.ledger.unsynced
            assert unsynced == self.oracle.rows.unsynced, "C1: a turn was not synced"
            kept = self.draw.randrange(unsynced + 1)
            self.history.note(self.now, "host", f"loses power, {unsynced - kept} turns are gone")
            self.ledger.lose_power(kept)
            self.oracle.rows.power_cut(kept)
        self.schedule(self.now + _RESTART_S, self._open_epoch)

    def job_finished(self, finish: Finish) -> None:
        """The epoch ended in order: quiescent, or to be opened again."""
        if 0 in self.oracle.acks:  # else the ledger failed before the end
            self.oracle.check_acknowledged(self._workers)
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
        ranks = self.shape.coordinators + self.shape.workers
        draw = random.Random(self.draw.random())
        return SimulatedNetwork(draw, self, ranks, self._deliver, self._is_reliable)

    def _launch_dies(self, where: str) -> bool:
        """Whether the launch ends at a step of opening an epoch; then another one follows."""
        if not self.happens(self.draw, self.plan.opening_dies, f"launch dies {where}"):
            return False
        self._job_died()
        return True

    def _open_epoch(self) -> None:
        self._epochs += 1
        if self._epochs > _EPOCHS_MAX + self.plan.budget:
            raise Stuck(f"{self._epochs} epochs")
        if self._launch_dies("before the epoch"):
            return
        self._broken = False
        life = Incarnation(self.draw.getrandbits(64) or 1)
        opening = self.ledger.open_epoch(
            EpochRequest("host", 1, "sim", "0", life, self.clock.wall(), "")
        )
        self.history.note(self.now, "root", f"opens epoch {opening.epoch}: {opening}")
        self.oracle.open_epoch(opening, self.ledger)
        if self._launch_dies("after the epoch"):
            return
        self.ledger.rearm(self._rearm)
        self.oracle.rows.rearm(self._rearm)
        self._rearm = ()
        self._sources = [
            self.ledger.register_source("seeds", f"/seeds{number or ''}", "host")
            for number in range(self.shape.coordinators)
        ]
        sink = self.ledger.register_sink(SinkKind.CORPUS, "/corpus", "host")
        if self._launch_dies("before the introductions"):
            return
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
