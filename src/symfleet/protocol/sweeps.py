"""What time does: recovery, the progress rule, resets, beats, audits.

A sweep runs only in a turn in which the transport was seen empty and that did not begin late, so
that nothing is judged silent that has already spoken. The one liveness rule is progress: a slot
whose delivery gave no sign of it for `delivery_silence_s` loses its deliveries and is parked; how
long an execution takes does not matter. After twice the silence the worker is asked to reset the
slot; one that answers nothing at all is given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symfleet.errors import ExitCode
from symfleet.protocol.core import Core, Ending
from symfleet.protocol.delivery import Phase, Undo
from symfleet.protocol.events import GiveUpRank
from symfleet.protocol.fleet import Slot, SlotPhase, SlotStep, WorkerPhase, WorkerRecord
from symfleet.protocol.join import may_recover
from symfleet.protocol.messages import Beat, ResetSlot
from symfleet.protocol.operations import Lease
from symfleet.types import WorkId

_BEATS_PER_SILENCE = 3
_LIVE_SHARE_MIN = 0.75


class Sweeps:
    """Watches deadlines; all times are on the core's timeline."""

    def __init__(self, core: Core, lost: Callable[[WorkId], None]) -> None:
        self._core = core
        self._lost = lost
        self._audit_at = core.now

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
        """Do all sweeps of a drained turn."""
        for slot in list(self._core.fleet.slots()):
            self._recover(slot)
            self._watch(slot)
        self._watch_workers()
        self._watch_capacity()

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
        core, knobs = self._core, self._core.setup.knobs
        for worker in core.fleet.workers.values():
            overdue = core.now - worker.expected_at >= knobs.hello_wait_s
            if worker.phase is WorkerPhase.EXPECTED and overdue:
                self.give_up(worker)

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

    def beat(self) -> None:
        """Tell workers that nobody spoke to for a while that their coordinator lives."""
        core = self._core
        every = core.setup.knobs.root_silence_s / _BEATS_PER_SILENCE
        for worker in core.fleet.workers.values():
            if worker.phase is WorkerPhase.JOINED and core.now - worker.told_at >= every:
                core.send(worker.rank, Beat())

    def _watch_capacity(self) -> None:
        """End when nothing can run any more."""
        core = self._core
        workers = core.fleet.workers.values()
        if core.ending is not None or not workers:
            return
        live = [worker for worker in workers if worker.phase is WorkerPhase.JOINED]
        waiting = [worker for worker in workers if worker.phase is WorkerPhase.EXPECTED]
        slots = [slot for worker in live for slot in worker.slots]
        usable = [slot for slot in slots if slot.phase is not SlotPhase.LOST]
        if not waiting and not live:
            core.end(Ending("every worker was lost", int(ExitCode.INTEGRITY), restart=True))
        elif live and not waiting and not usable:
            core.end(Ending("no slot can be reset", int(ExitCode.INTEGRITY), control=True))
        elif live and not waiting and all(w.host in core.breaker.paused for w in live):
            host, why = next(iter(core.breaker.paused.items()))
            core.end(Ending(f"no host can run the engine: {host}: {why}", int(ExitCode.HOST), 0.0))
        else:
            core.renewing = not waiting and self._too_few(usable)
            if core.renewing and not len(core.in_flight):
                core.end(Ending("too many slots were lost", int(ExitCode.INTEGRITY), restart=True))

    def _too_few(self, usable: list[Slot]) -> bool:
        """Whether so many slots are lost that a new epoch is worth its start-up."""
        everything = sum(1 for _ in self._core.fleet.slots())
        lost_many = len(usable) < _LIVE_SHARE_MIN * everything
        return lost_many and self._core.setup.may_restart and self._core.frontier.open_work > 0

    # ---- deadlines ------------------------------------------------------------------------------

    def deadlines(self) -> Iterator[float]:
        """Yield every time at which a sweep has something to do."""
        core, knobs = self._core, self._core.setup.knobs
        yield self._audit_at
        for worker in core.fleet.workers.values():
            if worker.phase is WorkerPhase.JOINED:
                yield worker.told_at + knobs.root_silence_s / _BEATS_PER_SILENCE
            elif worker.phase is WorkerPhase.EXPECTED:
                yield worker.expected_at + knobs.hello_wait_s
            for slot in worker.slots:
                yield from self._slot_deadlines(slot)

    def _slot_deadlines(self, slot: Slot) -> Iterator[float]:
        knobs = self._core.setup.knobs
        match slot.phase:
            case SlotPhase.OPEN if slot.deliveries:
                yield slot.evidence_at + knobs.delivery_silence_s
                for delivery in slot.deliveries:
                    if delivery.ready_at is not None:
                        yield delivery.ready_at + knobs.recover_s
            case SlotPhase.PARKED:
                yield slot.evidence_at + 2 * knobs.delivery_silence_s
            case SlotPhase.JOINED:
                yield slot.joined_at + 2 * knobs.delivery_silence_s
            case SlotPhase.RESETTING:
                yield slot.reset_at
            case _:
                pass
