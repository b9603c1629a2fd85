"""Filling places: which slot gets which items, and what a delivery reserves.

A slot has 1 + prefetch places. Emptier slots come first, and what is claimed is spread over the
places there are, so that no slot hoards while another starves. Rows are claimed for the places that
will be free when this turn's decisions are durable; a row whose place stays taken waits in the
claim table. A suspect goes alone to a rank that has nothing else, and keeps it for itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from symfleet.errors import IntegrityError
from symfleet.protocol.answers import Lease
from symfleet.protocol.core import Core
from symfleet.protocol.delivery import Delivery, Phase, Reservation, Reservations, Step, Undo
from symfleet.protocol.fleet import Slot, SlotPhase, WorkerPhase, WorkerRecord
from symfleet.protocol.messages import Work, WorkEntry
from symfleet.protocol.peers import PeerRecord
from symfleet.protocol.sizing import Costs, bundle
from symfleet.protocol.work import WorkItem, decode_item
from symfleet.types import DispatchToken, Keep, WorkId


@dataclass(slots=True)
class Choices:
    """Strategies in use: attempts are counted when a delivery is made, successes when it ends."""

    attempts: dict[str, int] = field(default_factory=dict)
    successes: dict[str, int] = field(default_factory=dict)

    def attempt(self, strategy: str) -> None:
        """Count a delivery that uses it."""
        self.attempts[strategy] = self.attempts.get(strategy, 0) + 1

    def undo(self, strategy: str, *, sent: bool) -> None:
        """Before the send the attempt never happened; after it, it did and taught nothing."""
        if not sent:
            self.attempts[strategy] -= 1

    def success(self, strategy: str) -> None:
        """Learn."""
        self.successes[strategy] = self.successes.get(strategy, 0) + 1


class Dispatcher:
    """Claims for free places and makes deliveries."""

    def __init__(self, core: Core, costs: Costs) -> None:
        self._core = core
        self._costs = costs
        self.choices = Choices()
        self.flips: dict[tuple[str, int], DispatchToken] = {}
        """Branch sites of an input that a delivery in flight is to flip."""

    # ---- begin of a turn: claim -----------------------------------------------------------------

    def claim(self) -> None:
        """Ask for rows for the places that are free once this turn's results are decided."""
        core = self._core
        if core.ending is not None or core.renewing:
            return
        if core.peers and core.frontier.claimed and not self._can_place():
            core.frontier.give_back_claims()  # others can run them
        items = self._places_to_come() * self._costs.typical_items(core.setup.knobs)
        quiet = not len(core.in_flight) and not core.frontier.claimed
        quiet = quiet and not (core.peers and core.frontier.leased)
        core.frontier.claim(self._fair(items - len(core.frontier.claimed)), quiet=quiet)

    def _fair(self, items: int) -> int:
        """Leave the others their part when less is pending than all have places for: by places,
        theirs as of their last News. How much this very turn makes pending is not known yet: it is
        taken for what there are places for here, and the next turn knows better."""
        core = self._core
        theirs = sum(self._places_of(peer) for peer in core.peers.live)
        theirs *= self._costs.typical_items(core.setup.knobs)
        if items <= 0 or theirs == 0:
            return items
        pending = core.frontier.pending or items
        return min(items, -(-pending * items // (items + theirs)))

    def _places_of(self, peer: PeerRecord) -> int:
        setup = self._core.setup
        if peer.news is not None:
            return peer.news.places
        return sum(setup.slots.get(rank, 1) for rank in peer.workers) * (1 + setup.knobs.prefetch)

    def _can_place(self) -> bool:
        """Whether any slot here may get work, now or when what it has ends."""
        return any(
            slot.phase is SlotPhase.OPEN
            for worker in self._core.fleet.in_phase(WorkerPhase.JOINED)
            if worker.host not in self._core.breaker.paused
            for slot in worker.slots
        )

    def _usable(self, worker: WorkerRecord) -> bool:
        return (
            worker.phase is WorkerPhase.JOINED
            and worker.host not in self._core.breaker.paused
            and not worker.solitary
            and self._core.now >= worker.sends_after
        )

    def _places_to_come(self) -> int:
        """Count the places that are free once every delivery has ended that is being decided."""
        fleet, depth_max = self._core.fleet, 1 + self._core.setup.knobs.prefetch
        touched = fleet.count_places(depth_max)
        places = 0
        if fleet.free:
            places = sum(worker.free for worker in fleet.workers.values() if self._usable(worker))
        for slot in touched:  # of a delivery that is being decided the RESULT came in this turn
            if slot.is_open and self._usable(fleet.workers[slot.place.rank]):
                deciding = sum(d.phase is Phase.DECIDING for d in slot.deliveries)
                places += max(0, depth_max - (slot.held - deciding)) - slot.free
        return places

    def _places(self) -> Sequence[Slot]:
        """Return a slot once for each of its free places, emptiest slots first."""
        fleet, depth_max = self._core.fleet, 1 + self._core.setup.knobs.prefetch
        fleet.count_places(depth_max)
        places: list[tuple[int, int, int, Slot]] = []
        for slot in fleet.open_slots():
            rank, number = slot.place.rank, slot.place.slot
            if self._usable(fleet.workers[rank]):
                places += [(depth, rank, number, slot) for depth in range(slot.held, depth_max)]
        places.sort(key=lambda place: place[:3])
        return [place[3] for place in places]

    # ---- end of a turn: dispatch ----------------------------------------------------------------

    def dispatch(self) -> None:
        """Make deliveries of what is claimed, as far as there are places."""
        core = self._core
        if core.ending is not None or core.renewing or not core.frontier.claimed:
            return
        places = self._places()
        waiting = [lease for lease in core.frontier.claimed.values() if self._is_free(lease)]
        for number, slot in enumerate(places):
            if not waiting:
                break
            worker = core.fleet.workers[slot.place.rank]
            if worker.solitary:
                continue
            if waiting[0].suspect and worker.busy:
                continue
            share = -(-len(waiting) // (len(places) - number))
            taken = bundle(waiting, share, self._costs, core.setup.knobs, solo=core.frontier.alone)
            self._deliver(worker, slot, waiting[:taken])
            waiting = waiting[taken:]

    def _is_free(self, lease: Lease) -> bool:
        """Whether no delivery in flight is to flip one of the item's targets."""
        if not self.flips:
            return True
        item = decode_item(lease.payload)
        return not any((item.input, site) in self.flips for site in item.target or ())

    def _deliver(self, worker: WorkerRecord, slot: Slot, leases: Sequence[Lease]) -> None:
        core = self._core
        items = tuple(self._item(lease) for lease in leases)
        token = core.mint.mint(slot.place)
        held = Reservations()
        works = tuple(held.take(self._work_lease(lease)) for lease in leases)
        for lease, item in zip(leases, items, strict=True):
            del core.frontier.claimed[lease.work_id]
            assert core.frontier.states.get(lease.state_id) == lease.work_id, "L1"
            self._reserve_item(held, token, item)
        cursor = worker.knowledge
        held.take(Reservation("knowledge cursor", lambda _: self._rewind(worker, cursor)))
        alone = any(lease.suspect for lease in leases)
        worker.solitary = worker.solitary or alone
        held.take(
            Reservation(
                "slot place",
                lambda _: self._free(worker, alone=alone),
                lambda: self._free(worker, alone=alone),
            )
        )
        delivery = Delivery(
            token=token,
            place=slot.place,
            incarnation=slot.incarnation,
            leases=tuple(leases),
            items=items,
            reservations=held,
            works=works,
            prepared_at=core.now,
        )
        if not slot.deliveries:
            slot.evidence_at = core.now
        core.in_flight.add(delivery)
        slot.deliveries.append(delivery)
        core.fleet.touch(slot)
        core.chronicle.note(core.now, f"dispatch {len(leases)} items", token, slot.place)
        self._tell(worker)
        entries = tuple(
            WorkEntry(lease.work_id, lease.payload, lease.data, solitary=lease.suspect)
            for lease in leases
        )
        core.send(worker.rank, Work(entries), slot, token, delivers=True)

    def _item(self, lease: Lease) -> WorkItem:
        """Decode a leased payload; the store has checked it (A4), so damage is ours."""
        item = decode_item(lease.payload)
        if item.generation != self._core.setup.generation:
            raise IntegrityError(
                "a row of another generation was leased",
                where=f"work {lease.work_id}",
                why=f"generation {item.generation}, this campaign explores "
                f"{self._core.setup.generation}",
                hint="run `symfleet verify`",
            )
        return item

    def _work_lease(self, lease: Lease) -> Reservation:
        frontier = self._core.frontier
        return Reservation(
            f"work lease {lease.work_id}",
            lambda how: frontier.return_item(lease, how),
            lambda: frontier.finish_item(lease),
        )

    def _reserve_item(self, held: Reservations, token: DispatchToken, item: WorkItem) -> None:
        claims = [(str(item.input), site) for site in item.target or ()]
        if claims:
            self.flips.update(dict.fromkeys(claims, token))
            held.take(
                Reservation(
                    "flip claims",
                    lambda _: self._drop_flips(claims),
                    lambda: self._drop_flips(claims),
                )
            )
        strategy = item.strategy or ""
        self.choices.attempt(strategy)
        held.take(
            Reservation(
                "strategy choice",
                lambda how: self.choices.undo(strategy, sent=how.sent),
                lambda: self.choices.success(strategy),
            )
        )

    def _drop_flips(self, claims: Sequence[tuple[str, int]]) -> None:
        for claim in claims:
            self.flips.pop(claim, None)

    def _rewind(self, worker: WorkerRecord, cursor: int) -> None:
        worker.knowledge = min(worker.knowledge, cursor)

    def _free(self, worker: WorkerRecord, *, alone: bool) -> None:
        if alone:
            worker.solitary = False

    def _tell(self, worker: WorkerRecord) -> None:
        """Send what the campaign has learnt since this worker was told. With keep=all an execution
        must not depend on it."""
        core = self._core
        if core.setup.keep is Keep.ALL:
            return
        for message in core.knowledge.since(worker.knowledge, core.codec.body_bytes_max() // 2):
            core.send(worker.rank, message)
        worker.knowledge = max(worker.knowledge, core.knowledge.version)

    # ---- what the loop reports ------------------------------------------------------------------

    def sent(self, token: DispatchToken) -> None:
        """The send of a delivery returned."""
        delivery = self._core.in_flight.get(token)
        if delivery is not None and delivery.phase in (Phase.PREPARING, Phase.DECIDING):
            self._core.in_flight.step(self._core.now, delivery, Step.SENT)
            self._core.fleet.workers[delivery.place.rank].sends_failed = 0

    def send_failed(self, token: DispatchToken) -> None:
        """The send of a delivery raised: it counts as not delivered, and its token is burnt."""
        core = self._core
        delivery = core.in_flight.get(token)
        if delivery is not None and delivery.phase is Phase.PREPARING:
            core.roll_back(delivery, Undo("send_failed", sent=False, at_head=True))
            core.fleet.workers[delivery.place.rank].send_failed(core.now)

    def deadlines(self) -> Iterator[float]:
        """Return when workers that could not be reached are tried again."""
        core = self._core
        for worker in core.fleet.in_phase(WorkerPhase.JOINED):
            if worker.sends_after > core.now:
                yield worker.sends_after

    def lost(self, work_id: WorkId) -> None:
        """An audit says that an item in flight is not leased to us: drop it without a release."""
        for delivery in list(self._core.in_flight):
            for number in delivery.open_items:
                if delivery.leases[number].work_id == work_id:
                    delivery.works[number].settle()
            if not delivery.open_items and delivery.phase is Phase.ACTIVE:
                self._core.roll_back(delivery, Undo("lost", sent=True))
