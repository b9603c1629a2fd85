"""What time does: recovery, the progress rule, resets, beats, audits.

A sweep runs only in a turn in which the transport was seen empty and that did not begin late, so
that nothing is judged silent that has already spoken. The one liveness rule is progress: a slot
whose delivery gave no sign of it for `delivery_silence_s` loses its deliveries and is parked; how
long an execution takes does not matter. After twice the silence the worker is asked to reset the
slot; one that answers nothing at all is given up.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from typing import Literal

from symfleet.errors import ExitCode
from symfleet.protocol.answers import Lease
from symfleet.protocol.capacity import Capacity, end_without_hosts, whole_capacity
from symfleet.protocol.core import Core, Ending
from symfleet.protocol.delivery import Phase, Undo
from symfleet.protocol.events import GiveUpRank
from symfleet.protocol.fleet import Slot, SlotPhase, SlotStep, WorkerPhase, WorkerRecord
from symfleet.protocol.join import may_recover
from symfleet.protocol.messages import Beat, ResetSlot
from symfleet.types import SlotAddress, WorkId

_BEATS_PER_SILENCE = 3
_LIVE_SHARE_MIN = 0.75


class Sweeps:
    """Watches deadlines; all times are on the core's timeline."""

    def __init__(self, core: Core, lost: Callable[[WorkId], None]) -> None:
        self._core = core
        self._lost = lost
        self._audit_at = core.now
        self._alarms: list[tuple[float, int, int]] = []
        """Times at which slots are to be looked at, soonest first. An entry that is not the one in
        `_armed` was overtaken by a sooner one."""
        self._armed: dict[SlotAddress, float] = {}
        self._beat_at = self._hello_at = self.silent_at = core.now
        """No worker is to be told, waited for, or taken for dead before these."""

    # ---- before anything else in a turn -----------------------------------------------------

    def audit(self) -> None:
        """Ask whether the ledger's leases are ours, before this turn changes any."""
        core = self._core
        if core.now < self._audit_at or core.ending is not None:
            return
        self._audit_at = core.now + core.setup.knobs.audit_s
        held: Iterator[Lease] = (
            delivery.leases[number] for delivery in core.in_flight for number in delivery.open_items
        )
        core.frontier.audit(held, self._lost)

    # ---- after the frames of a drained turn ----------------------------------------------------

    def run(self) -> None:
        """Do all sweeps of a drained turn: of slots that were touched or are due, and no other."""
        fleet, now = self._core.fleet, self._core.now
        slots, fleet.unwatched = fleet.unwatched, {}
        while self._alarms and self._alarms[0][0] <= now:
            at, rank, number = heapq.heappop(self._alarms)
            place = SlotAddress(rank, number)
            if self._armed.get(place) == at:
                del self._armed[place]
                slots[place] = fleet.at(place)
        for slot in sorted(slots.values(), key=lambda slot: (slot.place.rank, slot.place.slot)):
            self._recover(slot)
            self._watch(slot)
            self._arm(slot)
        self._watch_workers()
        self.end_silent()
        self._watch_capacity()

    def _arm(self, slot: Slot) -> None:
        """Have a slot looked at when its next deadline comes. One that only moved further away
        keeps its alarm, which then finds nothing to do but to be set anew."""
        at = min(self._slot_deadlines(slot), default=None)
        if at is not None and at < self._armed.get(slot.place, math.inf):
            self._armed[slot.place] = at
            heapq.heappush(self._alarms, (at, slot.place.rank, slot.place.slot))

    def _recover(self, slot: Slot) -> None:
        core, knobs = self._core, self._core.setup.knobs
        for delivery in slot.deliveries.copy():
            if delivery.phase is Phase.DECIDING:
                continue
            if not may_recover(slot, delivery, core.now, knobs.recover_s):
                continue
            marked_slot = slot.marked and not delivery.marked
            core.roll_back(delivery, Undo("protocol", sent=True, retry=True, reason="no result"))
            core.accept(slot, delivery.token, "recovered", slot.incarnation)
            if marked_slot:
                slot.marked = False

    def _watch(self, slot: Slot) -> None:
        core, knobs = self._core, self._core.setup.knobs
        silence = core.now - slot.evidence_at
        waits = any(d.phase is not Phase.DECIDING for d in slot.deliveries)
        match slot.phase:
            case SlotPhase.OPEN if waits and silence >= knobs.delivery_silence_s:
                self.park(slot)
            case SlotPhase.PARKED if silence >= 2 * knobs.delivery_silence_s:
                self.reset(slot)
            case SlotPhase.JOINED if core.now - slot.joined_at >= 2 * knobs.delivery_silence_s:
                self.reset(slot)
            case SlotPhase.RESETTING if core.now >= slot.reset_at:
                self._reset_again(slot)
            case _:
                pass

    def park(self, slot: Slot) -> None:
        """Roll back a silent slot's deliveries; it gets no more until it speaks of one of them."""
        core = self._core
        since = slot.evidence_at
        core.outbox.fault("silence_timeouts")
        core.note("warning", "slot_silent", slot=str(slot.place))
        slot.parked_for = core.roll_back_slot(slot, Undo("silence", sent=True))
        slot.ghosts.update(slot.parked_for)
        slot.evidence_at = since
        core.fleet.step(core.now, slot, SlotStep.SILENCE)

    def reset(self, slot: Slot) -> None:
        """Ask the worker to come back with a new incarnation of the slot."""
        core = self._core
        if slot.phase is SlotPhase.LOST or core.ending is not None:
            return
        if slot.reset_tries == 0:
            slot.first_reset_at = core.now
        slot.reset_tries += 1
        slot.reset_at = core.now + core.setup.knobs.reset_wait_s
        core.roll_back_slot(slot, Undo("cancelled", sent=True))
        core.fleet.step(core.now, slot, SlotStep.RESET)
        core.note("warning", "slot_reset", slot=str(slot.place), attempt=str(slot.reset_tries))
        core.send(slot.place.rank, ResetSlot(), slot)

    def _reset_again(self, slot: Slot) -> None:
        core = self._core
        worker = core.fleet.workers[slot.place.rank]
        if worker.heard_at < slot.first_reset_at:
            self.give_up(worker)
        elif slot.reset_tries >= core.setup.knobs.reset_tries:
            core.fleet.step(core.now, slot, SlotStep.GONE)
            core.note("error", "slot_lost", slot=str(slot.place))
        else:
            self.reset(slot)

    # ---- workers ------------------------------------------------------------------------------

    def _watch_workers(self) -> None:
        core, wait_s = self._core, self._core.setup.knobs.hello_wait_s
        if core.now < self._hello_at:
            return
        for worker in core.fleet.in_phase(WorkerPhase.EXPECTED):
            if core.now >= worker.expected_at + wait_s:
                self.give_up(worker)
        self._hello_at = self._earliest(WorkerPhase.EXPECTED, "expected_at", wait_s)

    def end_silent(self) -> None:
        """Take a worker for dead that does not even answer beats: it has lost its host, or will
        find its coordinator silent and end."""
        core = self._core
        if core.now < self.silent_at:
            return
        oldest = core.now
        for worker in core.fleet.workers.values():
            since = self._silent_since(worker)
            if since is not None and core.now >= since + self._silence_s:
                self.give_up(worker)
            elif since is not None:
                oldest = min(oldest, since)
        self.silent_at = oldest + self._silence_s

    def _silent_since(self, worker: WorkerRecord) -> float | None:
        """Return when one that ought to speak did so last; None for a worker that need not."""
        match worker.phase:
            case WorkerPhase.JOINED:
                return worker.heard_at
            case WorkerPhase.EXPECTED if worker.adopted or self._core.ending is not None:
                return worker.expected_at
            case _:
                return None

    @property
    def _silence_s(self) -> float:
        """After this long without a word a worker is dead. Slots are parked before."""
        knobs = self._core.setup.knobs
        return knobs.delivery_silence_s + knobs.root_silence_s

    def give_up(self, worker: WorkerRecord) -> None:
        """A rank answers nothing: take back what it has, and have it ended."""
        if not worker.given_up:
            worker.given_up = True
            self._core.outbox.act(GiveUpRank(worker.rank))
        self.rank_lost(worker)

    def rank_lost(self, worker: WorkerRecord) -> None:
        """A rank is gone: everything in flight to it goes back by exact token."""
        core = self._core
        if worker.phase in (WorkerPhase.LOST, WorkerPhase.STOPPED):
            return
        core.note("warning", "worker_lost", worker=worker.name)
        worker.phase = WorkerPhase.LOST
        for slot in worker.slots:
            core.roll_back_slot(slot, Undo("lost", sent=True))
            core.fleet.step(core.now, slot, SlotStep.GONE)

    def beat(self, *, at_once: bool = False) -> None:
        """Tell workers that nobody spoke to for a while that their coordinator lives. After a late
        turn `at_once`: their clocks have not waited."""
        core, every_s = self._core, self._core.setup.knobs.root_silence_s / _BEATS_PER_SILENCE
        if core.now < self._beat_at and not at_once:
            return
        for worker in core.fleet.workers.values():
            is_due = at_once or core.now >= worker.told_at + every_s
            if worker.phase is WorkerPhase.JOINED and is_due:
                core.send(worker.rank, Beat())
        self._beat_at = self._earliest(WorkerPhase.JOINED, "told_at", every_s)

    def _earliest(
        self,
        phase: WorkerPhase,
        since: Literal["told_at", "expected_at"],
        wait_s: float,
    ) -> float:
        """Return a time before which no worker of a phase has waited so long. One that comes into
        the phase later waits from then on."""
        workers = self._core.fleet.in_phase(phase)
        first = min((getattr(worker, since) for worker in workers), default=self._core.now)
        return min(float(first), self._core.now) + wait_s

    def _watch_capacity(self) -> None:
        """End when nothing can run any more, in the whole fleet: the root judges it."""
        core = self._core
        if core.ending is not None or core.setup.number > 0:
            return
        if not core.fleet.workers and not core.peers:
            return
        fleet = whole_capacity(core)
        core.peers.slots_max = max(core.peers.slots_max, fleet.slots)
        if fleet.waiting:
            core.renewing = False
        elif not fleet.live:
            core.end(Ending("every worker was lost", int(ExitCode.INTEGRITY), restart=True))
        elif not fleet.usable:
            core.end(Ending("no slot can be reset", int(ExitCode.INTEGRITY), control=True))
        elif fleet.paused:
            core.end(end_without_hosts(fleet.paused))
        else:
            core.renewing = self._too_few(fleet)
            if core.renewing and not fleet.in_flight:
                core.end(Ending("too many slots were lost", int(ExitCode.INTEGRITY), restart=True))

    def _too_few(self, fleet: Capacity) -> bool:
        """Whether so many slots are lost that a new epoch is worth its start-up."""
        core = self._core
        lost_many = fleet.usable < _LIVE_SHARE_MIN * core.peers.slots_max
        return lost_many and core.setup.may_restart and core.frontier.open_work > 0

    # ---- deadlines ------------------------------------------------------------------------------

    def validate(self) -> None:
        """Assert that no slot or worker waits for a time at which nobody would look."""
        core, knobs = self._core, self._core.setup.knobs
        for slot in core.fleet.slots():
            at = min(self._slot_deadlines(slot), default=math.inf)
            watched = slot.place in core.fleet.unwatched
            assert watched or at >= self._armed.get(slot.place, math.inf), (
                "a change touches its slot"
            )
        for worker in core.fleet.workers.values():
            if worker.phase is WorkerPhase.JOINED:
                beat_s = knobs.root_silence_s / _BEATS_PER_SILENCE
                assert self._beat_at <= max(core.now, worker.told_at) + beat_s
                assert self.silent_at <= max(core.now, worker.heard_at) + self._silence_s
            elif worker.phase is WorkerPhase.EXPECTED:
                assert self._hello_at <= max(core.now, worker.expected_at + knobs.hello_wait_s)

    def deadlines(self) -> Iterator[float]:
        """Yield times at which a sweep may have something to do; before the soonest none has."""
        yield self._audit_at
        yield self._beat_at
        yield self._hello_at
        yield self.silent_at
        if self._alarms:
            yield self._alarms[0][0]
        for slot in self._core.fleet.unwatched.values():
            yield from self._slot_deadlines(slot)

    def _slot_deadlines(self, slot: Slot) -> Iterator[float]:
        knobs = self._core.setup.knobs
        match slot.phase:
            case SlotPhase.OPEN if slot.deliveries:
                yield slot.evidence_at + knobs.delivery_silence_s
                for delivery in slot.deliveries:
                    # One that is decided in this turn has no deadline, unless that fails.
                    if delivery.ready_at is not None and delivery.phase is not Phase.DECIDING:
                        yield delivery.ready_at + knobs.recover_s
            case SlotPhase.PARKED:
                yield slot.evidence_at + 2 * knobs.delivery_silence_s
            case SlotPhase.JOINED:
                yield slot.joined_at + 2 * knobs.delivery_silence_s
            case SlotPhase.RESETTING:
                yield slot.reset_at
            case _:
                pass
