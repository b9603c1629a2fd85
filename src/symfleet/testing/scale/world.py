"""A campaign of any size in virtual time, replayable from one seed.

Real coordinators over real frames, workers that are numbers, a ledger that answers as the real ones
do and takes the time that they were measured to take.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from symfleet.protocol.answers import Answer, Decided
from symfleet.protocol.events import FrameReceived, RankLost
from symfleet.protocol.messages import Adopt, AnyMessage, EngineSetup
from symfleet.protocol.operations import Decide, Operation
from symfleet.protocol.setup import CoordinatorSetup, Knobs, Peer, SourceSetup
from symfleet.testing.scale import stores
from symfleet.testing.scale.coordinators import ScaleCoordinator
from symfleet.testing.scale.costs import Assumed, Costs
from symfleet.testing.scale.ledger import ScaleLedger
from symfleet.testing.scale.record import Record
from symfleet.testing.scale.workers import ScaleWorker
from symfleet.testing.scale.workload import GENERATION, Workload, data_of
from symfleet.types import CampaignId, Incarnation, InputId, Keep, input_id_of

CAMPAIGN: Final = CampaignId("5c" * 16)
ENGINE: Final = EngineSetup(("study",), ("t",), "file", "all", {}, 0, {})
SLOTS_A_WORKER: Final = 8
SLOTS_A_COORDINATOR: Final = 90
COORDINATORS_MAX: Final = 64
_JOIN_S: Final = 0.05
_SECONDS_MAX: Final = 1e5
"""More than a campaign takes beyond ten times what its executions alone take."""

StoreKind = Literal["sqlite", "postgres"]


def coordinators_for(slots: int) -> int:
    """Return how many coordinators `--coordinators auto` takes, up to the study's 64."""
    return max(1, min(COORDINATORS_MAX, round(slots / SLOTS_A_COORDINATOR)))


@dataclass(frozen=True, slots=True)
class Point:
    """One fleet. `length_s`: mean of an item's execution. `bundle_items`: most items of a
    delivery. `local`: everything on one host."""

    slots: int
    length_s: float
    store: StoreKind
    items: int
    coordinators: int
    bundle_items: int = 1
    local: bool = False
    seed: int = 1

    @property
    def in_flight(self) -> int:
        """Items that fill every place of every slot."""
        bundled = min(self.bundle_items, max(1, int(0.1 / self.length_s)))
        return 2 * self.slots * bundled


class World:
    """Events in time order; everything that processes ask of each other."""

    def __init__(self, point: Point, costs: Costs, assumed: Assumed) -> None:
        self.point = point
        self.costs = costs
        self.assumed = assumed
        self.now = self.began_at = 1000.0
        self.campaign = CAMPAIGN
        self.knobs = Knobs(bundle_items=point.bundle_items)
        self.draw = random.Random(f"world {point.seed}")
        seeds = min(point.items, point.in_flight + point.in_flight // 2 + 64)
        self.workload = Workload.drawn(point.items, seeds, point.length_s, point.seed)
        self.ledger = ScaleLedger()
        self.record = Record(point.slots)
        self.unpublished = 0
        self.dry_at = float("inf")
        self.steps = 0
        self._events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._sequence = 0
        self._arrivals: dict[tuple[int, int], float] = {}
        self._ids: dict[int, InputId] = {}
        self.coordinators: list[ScaleCoordinator] = []
        self.workers: dict[int, ScaleWorker] = {}
        self.lost_at = float("inf")
        self.ledger.admit(self.workload.admissions())
        self._begin()

    @property
    def root(self) -> ScaleCoordinator:
        """Coordinator number 0."""
        return self.coordinators[0]

    # ---- time ---------------------------------------------------------------------------------

    def schedule(self, at: float, what: Callable[..., None], *arguments: Any) -> None:
        """Call something at a virtual time."""
        self._sequence += 1
        heapq.heappush(self._events, (at, self._sequence, what, arguments))

    def run(self) -> None:
        """Run until every coordinator has finished."""
        point = self.point
        limit = self.now + 10 * point.items * point.length_s / point.slots + _SECONDS_MAX
        while self.ledger.closed is None or any(c.alive for c in self.coordinators):
            assert self._events, "coordinators wait for what nobody will send"
            self.now, _, what, arguments = heapq.heappop(self._events)
            assert self.now < limit, "the campaign does not end"
            self.steps += 1
            what(*arguments)

    # ---- network ------------------------------------------------------------------------------

    def delay(self, size: int) -> float:
        """Return how long a frame of this size is on its way."""
        if self.point.local:
            return self.costs.host_delay
        assumed = self.assumed
        return assumed.delay_s + self.draw.random() * assumed.jitter_s + size / assumed.bytes_s

    def send(self, source: int, target: int, frame: bytes) -> None:
        """Send a frame; frames from one rank to another stay in order."""
        at = self.now + self.delay(len(frame))
        pair = (source, target)
        at = max(at, self._arrivals.get(pair, 0.0))
        self._arrivals[pair] = at
        if target < len(self.coordinators):
            self.schedule(at, self.coordinators[target].deliver, FrameReceived(source, frame))
        else:
            self.schedule(at, self.workers[target].receive, frame)

    # ---- what is noted --------------------------------------------------------------------------

    def input_id(self, node: int) -> InputId:
        """Return the name of an item's input."""
        found = self._ids.get(node)
        if found is None:
            found = self._ids[node] = input_id_of(data_of(node))
        return found

    def committed(self, operations: Sequence[Operation], answers: Sequence[Answer]) -> None:
        """A transaction is durable."""
        self.record.turns += 1
        for operation, answer in zip(operations, answers, strict=True):
            match operation, answer:
                case Decide(work_id), Decided("completed", new_work=new_work):
                    self.record.decided(self.now, work_id)
                    self.unpublished += new_work
                case _:
                    pass
        admitted_all = self.ledger.decisions + self.workload.seeds >= self.point.items
        if admitted_all and not self.ledger.pending:
            self.dry_at = min(self.dry_at, self.now)

    def told(self, worker: ScaleWorker, message: AnyMessage) -> None:
        """A worker was told something that is not about a delivery."""
        if isinstance(message, Adopt):
            self.coordinators[message.coordinator].slots += len(worker.slots)
            worker.serve(message.coordinator)

    def give_up(self, rank: int) -> None:
        """A coordinator has a rank ended."""
        self.workers[rank].alive = False

    # ---- losses ---------------------------------------------------------------------------------

    def lose(self, number: int) -> None:
        """A coordinator dies; the others hear of it when the transport does. With the root dies
        the job, and the launcher opens the next epoch."""
        self.lost_at = self.now
        if number == 0:
            for coordinator in self.coordinators:
                coordinator.alive = False
            for worker in self.workers.values():
                worker.alive = False
            open_rows = self.ledger.open_work
            after = self.costs.restart + open_rows * self.costs.restart_open
            self.schedule(self.now + after, self._begin)
            return
        lost = self.coordinators[number]
        lost.alive = False
        self.store.forget(number)
        for coordinator in self.coordinators:
            self.schedule(self.now + self.costs.lost_seen, coordinator.deliver, RankLost(number))

    # ---- beginning ------------------------------------------------------------------------------

    def _begin(self) -> None:
        point = self.point
        self.coordinators, self.workers = [], {}
        # Turns of another epoch that wait for their transaction end with it.
        self.store: stores.Store = (
            stores.SqliteThroughRoot(self)
            if point.store == "sqlite"
            else stores.PostgresConnections(self)
        )
        opening = self.ledger.open_epoch()
        self.groups = groups = groups_of(point.slots, point.coordinators)
        first = point.coordinators
        peers: list[Peer] = []
        for number, slots in enumerate(groups):
            amount = -(-len(slots) // SLOTS_A_WORKER)
            peers.append(Peer(number, number, tuple(range(first, first + amount))))
            first += amount
        for number, slots in enumerate(groups):
            ranks = peers[number].workers
            setup = CoordinatorSetup(
                campaign=CAMPAIGN,
                epoch=opening.epoch,
                number=number,
                rank=number,
                incarnation=Incarnation((opening.epoch << 16) + number + 1),
                secret=self.draw.randbytes(32),
                version="0",
                workers=ranks,
                peers=tuple(peer for peer in peers if peer.number != number),
                engine=ENGINE,
                generation=GENERATION,
                keep=Keep.ALL,
                sources=(SourceSetup(1),) if number == 0 else (),
                opening=opening,
                until_quiescent=True,
                knobs=self.knobs,
            )
            self.coordinators.append(ScaleCoordinator(self, setup, len(slots)))
            for place, rank in enumerate(ranks):
                mine = slots[place * SLOTS_A_WORKER : (place + 1) * SLOTS_A_WORKER]
                worker = ScaleWorker(self, rank, number, mine)
                self.workers[rank] = worker
                self.schedule(self.now + _JOIN_S * self.draw.random(), worker.hello)


def groups_of(slots: int, coordinators: int) -> list[range]:
    """Deal slots out in whole workers, as evenly as that goes."""
    workers = -(-slots // SLOTS_A_WORKER)
    ends = [workers * (n + 1) // coordinators for n in range(coordinators)]
    begins = [0, *ends[:-1]]
    return [
        range(min(slots, a * SLOTS_A_WORKER), min(slots, b * SLOTS_A_WORKER))
        for a, b in zip(begins, ends, strict=True)
    ]
