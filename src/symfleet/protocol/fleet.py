"""Workers and their slots as their coordinator sees them.

    JOINED ──READY──> OPEN ──silence──> PARKED ──twice the silence──> RESETTING ──spent──> LOST
      ^                ^ └─ bad result ───│───────────────────────────^  │
      │                └── READY(retired)─┘                              │
      └─────────────────────────── reborn (a new incarnation) ───────────┘

Only an OPEN slot gets work. A slot is a place with one life at a time; an incarnation that was
replaced is remembered, so that its frames stay stale for ever. The table is the one that runs.
"""

from __future__ import annotations

import enum
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from symfleet.protocol.delivery import Delivery
from symfleet.protocol.violations import Chronicle
from symfleet.types import DispatchToken, Incarnation, SlotAddress

_RETIRED_MAX: Final = 256
LIVES_MAX: Final = 4096
"""A slot that came back more often than this in one epoch is lost."""


class SlotPhase(enum.StrEnum):
    """Phases of a slot."""

    JOINED = "joined"
    OPEN = "open"
    PARKED = "parked"
    RESETTING = "resetting"
    LOST = "lost"


class SlotStep(enum.StrEnum):
    """What may happen to a slot."""

    READY = "ready"
    SILENCE = "silence"
    RETURNED = "returned"
    RESET = "reset"
    REBORN = "reborn"
    GONE = "gone"


_P = SlotPhase
_E = SlotStep
SLOT_TABLE: Final[dict[tuple[SlotPhase, SlotStep], SlotPhase]] = {
    (_P.JOINED, _E.READY): _P.OPEN,
    (_P.OPEN, _E.READY): _P.OPEN,
    (_P.PARKED, _E.READY): _P.PARKED,
    (_P.RESETTING, _E.READY): _P.RESETTING,
    (_P.LOST, _E.READY): _P.LOST,
    (_P.OPEN, _E.SILENCE): _P.PARKED,
    (_P.PARKED, _E.RETURNED): _P.OPEN,
    (_P.RESETTING, _E.RETURNED): _P.RESETTING,
    (_P.JOINED, _E.RESET): _P.RESETTING,
    (_P.OPEN, _E.RESET): _P.RESETTING,
    (_P.PARKED, _E.RESET): _P.RESETTING,
    (_P.RESETTING, _E.RESET): _P.RESETTING,
    **{(phase, _E.REBORN): _P.JOINED for phase in _P},
    **{(phase, _E.GONE): _P.LOST for phase in _P},
}


class WorkerPhase(enum.StrEnum):
    """Phases of a worker rank."""

    EXPECTED = "expected"
    JOINED = "joined"
    STOPPED = "stopped"
    """It acknowledged the end (Q4)."""
    LOST = "lost"


_SEND_WAIT_S: Final = 0.05
_SEND_WAIT_MAX_S: Final = 5.0


@dataclass(slots=True)
class Slot:
    """One slot."""

    place: SlotAddress
    incarnation: Incarnation
    joined_at: float
    phase: SlotPhase = SlotPhase.JOINED
    deliveries: list[Delivery] = field(default_factory=list)
    evidence_at: float = 0.0
    """Last sign of progress, or when the delivery at the head was sent."""
    marked: bool = False
    """A bad RESULT came whose header named no delivery."""
    past: set[Incarnation] = field(default_factory=set)
    retired: OrderedDict[DispatchToken, None] = field(default_factory=OrderedDict)
    """Tokens that were settled or rolled back in this life, latest last."""
    owed: set[DispatchToken] = field(default_factory=set)
    """Those of them that were decided before their READY came."""
    parked_for: frozenset[DispatchToken] = frozenset()
    ghosts: set[DispatchToken] = field(default_factory=set)
    """Deliveries that were rolled back and that the worker may still have: each takes a place until
    the worker speaks of it, or of a later one."""
    full: bool = False
    """The worker said that it has no place; its next READY ends this."""
    free: int = 0
    """Places that could take a delivery when places were counted last."""
    reset_tries: int = 0
    reset_at: float = 0.0
    """When the next reset is due."""
    first_reset_at: float = 0.0

    def retire(self, token: DispatchToken, *, owes_ready: bool) -> None:
        """Remember that a token is over."""
        self.retired[token] = None
        if owes_ready:
            self.owed.add(token)
        while len(self.retired) > _RETIRED_MAX:
            oldest, _ = self.retired.popitem(last=False)
            self.owed.discard(oldest)

    @property
    def held(self) -> int:
        """How many of its places are taken."""
        return len(self.deliveries) + len(self.ghosts)

    @property
    def is_open(self) -> bool:
        """Whether it takes deliveries while it has places."""
        return self.phase is SlotPhase.OPEN and not self.full

    def begin_life(self, incarnation: Incarnation, now: float) -> None:
        """Be a new incarnation, with nothing of the old one."""
        assert not self.deliveries, "J6: nothing of an older life stays"
        self.past.add(self.incarnation)
        self.incarnation = incarnation
        self.joined_at = now
        self.retired.clear()
        self.owed.clear()
        self.marked = False
        self.parked_for = frozenset()
        self.ghosts.clear()
        self.full = False
        self.reset_tries = 0


@dataclass(slots=True)
class WorkerRecord:
    """One worker rank."""

    rank: int
    expected_at: float
    phase: WorkerPhase = WorkerPhase.EXPECTED
    host: str = ""
    pid: int = 0
    incarnation: Incarnation | None = None
    slots: list[Slot] = field(default_factory=list)
    heard_at: float = 0.0
    told_at: float = 0.0
    """When it was last sent something."""
    knowledge: int = 0
    """Version that it holds or was sent."""
    solitary: bool = False
    """A suspect runs alone on this rank."""
    refused: bool = False
    adopted: bool = False
    """It served another coordinator before, so it has nothing to do but to say hello."""
    given_up: bool = False
    slots_lost: int = 0
    free: int = 0
    """Sum over its slots."""
    sends_failed: int = 0
    """Deliveries in a row that could not be sent."""
    sends_after: float = 0.0
    """Nothing is delivered to it before. One that cannot be reached is either lost, which is told
    soon, or busy; to try again in each turn would keep the ledger busy with leases of nothing."""

    def send_failed(self, now: float) -> None:
        """Note that a delivery could not be sent: each wait is twice the one before."""
        if self.sends_after > now:
            return  # another delivery of the same turn
        self.sends_failed += 1
        wait_s = min(_SEND_WAIT_MAX_S, _SEND_WAIT_S * 2 ** min(self.sends_failed - 1, 16))
        self.sends_after = now + wait_s

    @property
    def name(self) -> str:
        """How people are told about it."""
        where = f" on {self.host}, process {self.pid}" if self.host else ""
        return f"worker {self.rank}{where}"

    @property
    def busy(self) -> bool:
        """Whether a delivery is in flight to it."""
        return any(slot.deliveries for slot in self.slots)


class Fleet:
    """All workers of one coordinator.

    A turn must not look at every slot, because a coordinator has hundreds and turns thousands of
    times a second. Whoever changes anything about a slot touches it; places and deadlines are
    worked out anew for those that were touched, and for no other. `validate_state` of the
    coordinator compares the outcome with a look at every slot."""

    def __init__(self, ranks: Sequence[int], now: float, chronicle: Chronicle) -> None:
        self.workers = {rank: WorkerRecord(rank, now) for rank in ranks}
        self.unplaced: dict[SlotAddress, Slot] = {}
        """Slots that were touched since places were counted last."""
        self.unwatched: dict[SlotAddress, Slot] = {}
        """Slots that were touched since the last sweep."""
        self.free = 0
        """Sum over its workers."""
        self._open: dict[SlotAddress, Slot] = {}
        self._chronicle = chronicle

    def adopt(self, rank: int, now: float) -> bool:
        """Expect a worker of a lost coordinator; return whether it was not expected before."""
        if rank in self.workers:
            return False
        self.workers[rank] = WorkerRecord(rank, now, adopted=True)
        return True

    def touch(self, slot: Slot) -> None:
        """Note that something about a slot may have changed."""
        self.unplaced[slot.place] = slot
        self.unwatched[slot.place] = slot

    def count_places(self, depth_max: int) -> Sequence[Slot]:
        """Bring `free` of workers and slots up to date; return the slots that were looked at."""
        touched = [*self.unplaced.values()]
        self.unplaced.clear()
        for slot in touched:
            free = max(0, depth_max - slot.held) if slot.is_open else 0
            self.workers[slot.place.rank].free += free - slot.free
            self.free += free - slot.free
            slot.free = free
            if free:
                self._open[slot.place] = slot
            else:
                self._open.pop(slot.place, None)
        return touched

    def validate(self, depth_max: int) -> None:
        """Assert that a look at every slot finds no place that was not counted, and none less."""
        assert self.free == sum(worker.free for worker in self.workers.values())
        for worker in self.workers.values():
            assert worker.free == sum(slot.free for slot in worker.slots)
            lost = sum(slot.phase is SlotPhase.LOST for slot in worker.slots)
            assert worker.slots_lost == lost, "a slot is lost, and comes back, by the table"
            for slot in worker.slots:
                free = max(0, depth_max - slot.held) if slot.is_open else 0
                assert slot.place in self.unplaced or free == slot.free, "a change touches its slot"
                assert slot.place in self.unplaced or (slot.place in self._open) == (free > 0)

    def open_slots(self) -> Sequence[Slot]:
        """Return the slots that had a free place when places were counted last."""
        return [*self._open.values()]

    def slots(self) -> Iterator[Slot]:
        """Yield the slots of all workers that joined, whatever became of them."""
        for worker in self.workers.values():
            yield from worker.slots

    def slot(self, rank: int, number: int | None) -> Slot | None:
        """Return a slot of a joined worker."""
        worker = self.workers.get(rank)
        if worker is None or number is None or not 0 <= number < len(worker.slots):
            return None
        return worker.slots[number]

    def at(self, place: SlotAddress) -> Slot:
        """Return the slot of a place that exists."""
        return self.workers[place.rank].slots[place.slot]

    def step(self, now: float, slot: Slot, step: SlotStep) -> None:
        """Move a slot by the table."""
        after = SLOT_TABLE.get((slot.phase, step))
        if after is None:
            raise self._chronicle.broken(f"a slot that is {slot.phase} met: {step}", slot.place)
        lost = (after is SlotPhase.LOST) - (slot.phase is SlotPhase.LOST)
        self.workers[slot.place.rank].slots_lost += lost
        if after is not slot.phase:
            self._chronicle.note(now, f"{slot.phase} -> {after} ({step})", slot.place)
        slot.phase = after
        self.touch(slot)

    def in_phase(self, phase: WorkerPhase) -> Sequence[WorkerRecord]:
        """Return the workers of a phase."""
        return [worker for worker in self.workers.values() if worker.phase is phase]
