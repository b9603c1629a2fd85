"""Judging what workers say: a frame is opened, its sender checked, its class found, and only then
does anything change (D4).

Which message may come from a worker in which phase stands in TABLE; anything else is a violation by
the peer: counted, noted with the story, and without effect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, assert_never

from symfleet.protocol.answers import Answer, Failed
from symfleet.protocol.codec import BadBody, Foreign, Frame, FrameFault, Header, Unreadable
from symfleet.protocol.core import Core
from symfleet.protocol.delivery import Delivery, Undo
from symfleet.protocol.fleet import (
    LIVES_MAX,
    Slot,
    SlotPhase,
    SlotStep,
    WorkerPhase,
    WorkerRecord,
)
from symfleet.protocol.join import Judged, Said, Verdict, judge_ready, judge_result
from symfleet.protocol.knowledge import version_or_none
from symfleet.protocol.messages import (
    NO_PLACE,
    Accepted,
    Beat,
    Hello,
    Message,
    Part,
    Progress,
    Ready,
    Refuse,
    Refused,
    Result,
    Started,
    Stop,
    StopAck,
    Welcome,
    WorkerFault,
)
from symfleet.protocol.operations import StoreInputs
from symfleet.protocol.parts import Parts
from symfleet.protocol.settle import Settlement
from symfleet.protocol.tokens import NO_TOKEN
from symfleet.types import DispatchToken, Incarnation, SlotAddress

_SLOTS_MAX: Final = 4096

# Which messages a worker may send in which phase, and who takes them.
_ANY: Final = frozenset(WorkerPhase) - {WorkerPhase.LOST}
_MEMBER: Final = frozenset({WorkerPhase.JOINED, WorkerPhase.STOPPED})
TABLE: Final[dict[type[Message], tuple[frozenset[WorkerPhase], str]]] = {
    Hello: (_ANY, "hello"),
    Ready: (_MEMBER, "ready"),
    Started: (_MEMBER, "evidence"),
    Progress: (_MEMBER, "evidence"),
    Part: (_MEMBER, "part"),
    Result: (_MEMBER, "result"),
    Refused: (_MEMBER, "refused"),
    WorkerFault: (_MEMBER, "fault"),
    StopAck: (_ANY, "stop_ack"),
    Beat: (_MEMBER, "beat"),
}


class Intake:
    """Takes frames from workers."""

    def __init__(
        self, core: Core, settlement: Settlement, stopping: Callable[[], float | None]
    ) -> None:
        self._core = core
        self._settlement = settlement
        self._stopping = stopping
        """Returns the rest of the drain when the end was asked for, else None."""
        self.worker_faults: list[WorkerFault] = []

    def frame(self, rank: int, data: bytes) -> None:
        """Judge one frame from a worker's rank."""
        core = self._core
        worker = core.fleet.workers[rank]
        opened = core.codec.open(data)
        match opened:
            case Frame(header, message):
                if self._is_from(worker, header):
                    self._touch(worker, header)
                    self._take(worker, header, message)
            case BadBody(header, kind, detail):
                if self._is_from(worker, header):
                    self._touch(worker, header)
                    self._bad_body(worker, header, kind, detail)
            case Foreign(fault, theirs, ours):
                self._quarantine(fault, rank)
                if fault is not FrameFault.EPOCH and not worker.refused:
                    worker.refused = True
                    reason = f"{fault} {theirs} does not belong to {fault} {ours}"
                    core.note("error", "worker_refused", worker=worker.name, why=reason)
                    core.send(rank, Refuse(reason))
            case Unreadable(fault):
                self._quarantine(fault, rank)
                if len(worker.slots) == 1 and worker.slots[0].deliveries:
                    # The transport names the only life that this can have come from.
                    worker.slots[0].marked = True
                    core.fleet.touch(worker.slots[0])
            case _:
                assert_never(opened)

    def _touch(self, worker: WorkerRecord, header: Header) -> None:
        """Have the slot that a frame is about looked at, whatever the frame will change."""
        slot = self._core.fleet.slot(worker.rank, header.slot)
        if slot is not None:
            self._core.fleet.touch(slot)

    def _is_from(self, worker: WorkerRecord, header: Header) -> bool:
        if header.rank == worker.rank:
            return True
        self._quarantine(FrameFault.SENDER, worker.rank)
        return False

    def _quarantine(self, fault: FrameFault, rank: int) -> None:
        self._core.outbox.fault("quarantined_frames", fault)
        self._core.violation(rank, f"frame set aside: {fault}")

    def _take(self, worker: WorkerRecord, header: Header, message: Message) -> None:
        row = TABLE.get(type(message))
        if row is None or worker.phase not in row[0]:
            self._quarantine(FrameFault.UNEXPECTED, worker.rank)
            return
        worker.heard_at = self._core.now
        getattr(self, f"_on_{row[1]}")(worker, header, message)

    def _bad_body(
        self, worker: WorkerRecord, header: Header, kind: type[Message], detail: str
    ) -> None:
        slot = self._core.fleet.slot(worker.rank, header.slot)
        if kind is Result and slot is not None:
            self._judge_result(slot, header, None)
        elif kind is Ready and slot is not None and header.incarnation == slot.incarnation:
            self._fault_ready(slot, Verdict.MALFORMED)
        else:
            self._quarantine(FrameFault.BODY, worker.rank)
        self._core.chronicle.note(self._core.now, f"body: {detail}", worker.rank)

    # ---- joining and leaving ----------------------------------------------------------------

    def _on_hello(self, worker: WorkerRecord, _: Header, hello: Hello) -> None:
        core, setup = self._core, self._core.setup
        if hello.version != setup.version:
            core.outbox.fault("quarantined_frames", FrameFault.VERSION)
            reason = f"symfleet {hello.version} does not belong to symfleet {setup.version}"
            core.note("error", "worker_refused", worker=worker.name, why=reason)
            core.send(worker.rank, Refuse(reason))
            return
        if not 1 <= len(hello.slots) <= _SLOTS_MAX or 0 in hello.slots:
            self._quarantine(FrameFault.BODY, worker.rank)
            return
        if worker.slots and len(hello.slots) != len(worker.slots):
            self._quarantine(FrameFault.BODY, worker.rank)
            return
        if worker.incarnation != hello.worker:
            worker.knowledge = 0
        worker.host, worker.pid = hello.host, hello.pid
        worker.incarnation = hello.worker
        if worker.phase is WorkerPhase.EXPECTED:
            worker.phase = WorkerPhase.JOINED
        if not worker.slots:
            worker.slots = [
                Slot(SlotAddress(worker.rank, number), life, core.now, evidence_at=core.now)
                for number, life in enumerate(hello.slots)
            ]
            for slot in worker.slots:
                core.fleet.touch(slot)
        else:
            for slot, life in zip(worker.slots, hello.slots, strict=True):
                if life != slot.incarnation and life not in slot.past:
                    self._reborn(slot, life)
        self._welcome(worker)

    def _welcome(self, worker: WorkerRecord) -> None:
        core, setup, knobs = self._core, self._core.setup, self._core.setup.knobs
        drain_s = self._stopping()
        if drain_s is not None:
            core.send(worker.rank, Stop(drain_s))
            return
        core.send(
            worker.rank,
            Welcome(
                version=setup.version,
                coordinator=setup.incarnation,
                setup=setup.engine,
                prefetch=knobs.prefetch,
                progress_s=knobs.progress_s,
                repeat_s=knobs.repeat_s,
                hard_limit_s=knobs.hard_limit_s,
            ),
        )

    def _reborn(self, slot: Slot, life: Incarnation) -> None:
        """First sight of a new incarnation: nothing of the older one stays (J6)."""
        core = self._core
        if any(self._settlement.is_deciding(delivery) for delivery in slot.deliveries):
            # A result of the old life came first and wins (J5); the new life begins when it says
            # so again.
            return
        core.outbox.fault("slots_reborn")
        core.roll_back_slot(slot, Undo("reborn", sent=True))
        slot.begin_life(life, core.now)
        core.fleet.step(core.now, slot, SlotStep.REBORN)
        if len(slot.past) > LIVES_MAX:
            core.fleet.step(core.now, slot, SlotStep.GONE)

    def _on_stop_ack(self, worker: WorkerRecord, header: Header, _: StopAck) -> None:
        """Q4: the worker says that nothing of it is left running."""
        core = self._core
        worker.phase = WorkerPhase.STOPPED
        core.send(worker.rank, Accepted(NO_TOKEN, "stopped"))
        if core.ending is None and not header.repeat:
            core.note("warning", "worker_left", worker=worker.name)

    def _on_fault(self, worker: WorkerRecord, _: Header, fault: WorkerFault) -> None:
        core = self._core
        if len(self.worker_faults) < _SLOTS_MAX:
            self.worker_faults.append(fault)
        why = f"{fault.reason}: {fault.message}"
        core.pause_host(worker.host or worker.name, why, fault.hint)

    # ---- READY ------------------------------------------------------------------------------

    def _on_ready(self, worker: WorkerRecord, header: Header, ready: Ready) -> None:
        core = self._core
        slot = self._slot_of(worker, header)
        if slot is None:
            return
        if header.incarnation != slot.incarnation:
            if header.incarnation in slot.past or not header.incarnation:
                self._fault_ready(slot, Verdict.STALE)
                return
            self._reborn(slot, Incarnation(header.incarnation))
            if header.incarnation != slot.incarnation:
                return
        judged = judge_ready(slot, core.in_flight, ready.completed, fits=True, repeat=header.repeat)
        match judged.verdict:
            case Verdict.CURRENT | Verdict.IDLE:
                worker.knowledge = version_or_none(ready.knowledge, core.knowledge.version)
                self._ready(slot, judged, ready, header)
            case Verdict.ECHO:
                core.chronicle.note(core.now, "ready said again", slot.place)
            case Verdict.UNOWNED:
                self._fault_ready(slot, Verdict.UNOWNED)
                core.note(
                    "error",
                    "tables_disagree",
                    slot=str(slot.place),
                    story=core.chronicle.last(slot.place, 12),
                )
            case verdict:
                self._fault_ready(slot, verdict)

    def _ready(self, slot: Slot, judged: Judged, ready: Ready, header: Header) -> None:
        core = self._core
        slot.full = False
        if judged.delivery is not None:
            slot.ghosts.clear()  # the worker works in order, so what was sent before is gone
            # J11: nothing is free before its RESULT was decided, or the delivery rolled back.
            if judged.delivery.ready_at is None:
                judged.delivery.ready_at = core.now
            return
        completed = DispatchToken(str(ready.completed)) if ready.completed else NO_TOKEN
        slot.owed.discard(completed)
        slot.ghosts.discard(completed)
        if slot.phase is SlotPhase.PARKED and completed in slot.parked_for:
            core.fleet.step(core.now, slot, SlotStep.RETURNED)
            core.outbox.fault("slots_recovered")
            slot.parked_for = frozenset()
        else:
            core.fleet.step(core.now, slot, SlotStep.READY)
        if judged.said is not Said.OWED or header.repeat:
            core.accept(slot, completed, "idle", slot.incarnation)

    def _fault_ready(self, slot: Slot, verdict: Verdict) -> None:
        """Count it; J4: no version, no place and no phase changes."""
        self._core.outbox.fault("quarantined_ready", verdict)
        self._core.violation(slot.place.rank, f"READY set aside: {verdict}", slot)

    def _slot_of(self, worker: WorkerRecord, header: Header) -> Slot | None:
        slot = self._core.fleet.slot(worker.rank, header.slot)
        if slot is None:
            self._quarantine(FrameFault.UNEXPECTED, worker.rank)
        return slot

    # ---- RESULT -----------------------------------------------------------------------------

    def _on_result(self, worker: WorkerRecord, header: Header, result: Result) -> None:
        slot = self._slot_of(worker, header)
        if slot is not None:
            self._judge_result(slot, header, result)

    def _judge_result(self, slot: Slot, header: Header, result: Result | None) -> None:
        core = self._core
        current_life = header.incarnation == slot.incarnation
        judged = judge_result(
            slot,
            core.in_flight,
            header.token,
            fits=result is not None,
            repeat=header.repeat,
            current_life=current_life,
        )
        delivery = judged.delivery
        match judged.verdict:
            case Verdict.ECHO:
                core.accept(slot, header.token, "stale", header.incarnation)
                return
            case Verdict.CURRENT if result is not None and delivery is not None:
                self._current_result(slot, header, delivery, result)
                return
            case Verdict.MISSING | Verdict.MALFORMED:
                self._mark(slot, delivery, current_life=current_life)
            case _:
                pass
        self._fault_result(slot, judged.verdict)
        if judged.verdict in (Verdict.STALE, Verdict.UNOWNED) and header.token != NO_TOKEN:
            # D6: it releases nothing; but it need not be said again.
            core.accept(slot, header.token, "stale", header.incarnation)

    def _current_result(
        self, slot: Slot, header: Header, delivery: Delivery, result: Result
    ) -> None:
        core = self._core
        if core.ending is not None and core.ending.control:
            return
        if self._settlement.is_deciding(delivery):
            # The same result twice in one turn: the first one counts (C7).
            if not header.repeat:
                self._fault_result(slot, Verdict.STALE)
        elif not self._settlement.result(slot, delivery, result):
            # Parts are missing or unusable, so this is not the result of the delivery.
            self._mark(slot, delivery, current_life=True)
            self._fault_result(slot, Verdict.MALFORMED)

    def _mark(self, slot: Slot, delivery: Delivery | None, *, current_life: bool) -> None:
        if delivery is not None:
            delivery.marked = True
        elif current_life:
            slot.marked = True

    def _fault_result(self, slot: Slot, verdict: Verdict) -> None:
        """Count it; D6: it releases and decides nothing."""
        self._core.outbox.fault("quarantined_results", verdict)
        self._core.violation(slot.place.rank, f"RESULT set aside: {verdict}", slot)

    # ---- what else is about a delivery ----------------------------------------------------------

    def _delivery(self, worker: WorkerRecord, header: Header) -> tuple[Slot, Delivery] | None:
        """Return the delivery that a frame names, if it is in flight in that very life."""
        slot = self._core.fleet.slot(worker.rank, header.slot)
        delivery = self._core.in_flight.get(header.token)
        if (
            slot is not None
            and delivery is not None
            and delivery.place == slot.place
            and delivery.incarnation == header.incarnation == slot.incarnation
        ):
            return slot, delivery
        if not header.repeat:
            self._core.outbox.fault("quarantined_frames", "stale")
            self._core.violation(worker.rank, "frame of a delivery that is not in flight", slot)
        return None

    def _on_beat(self, worker: WorkerRecord, header: Header, beat: Beat) -> None:
        """It was heard: that is all."""

    def _on_evidence(self, worker: WorkerRecord, header: Header, _: Started | Progress) -> None:
        found = self._delivery(worker, header)
        if found is not None:
            slot, delivery = found
            slot.evidence_at = self._core.now
            delivery.started = True

    def _on_part(self, worker: WorkerRecord, header: Header, part: Part) -> None:
        found = self._delivery(worker, header)
        if found is None or self._settlement.is_deciding(found[1]):
            return
        slot, delivery = found
        knobs = self._core.setup.knobs
        slot.evidence_at = self._core.now
        if delivery.parts is None:
            delivery.parts = Parts(knobs.result_mib << 20, knobs.result_children * 64)
        parts = delivery.parts
        fresh = parts.add(part, len(delivery.leases))
        if fresh:

            def stored(answer: Answer) -> None:
                if isinstance(answer, Failed):
                    parts.broken = answer.message

            self._core.outbox.ask(StoreInputs(tuple(fresh)), stored)

    def _on_refused(self, worker: WorkerRecord, header: Header, refused: Refused) -> None:
        """The worker cannot accept a WORK: its items go back by the retry budget."""
        found = self._delivery(worker, header)
        if found is None or self._settlement.is_deciding(found[1]):
            return
        slot, delivery = found
        self._core.violation(worker.rank, f"WORK refused: {refused.reason}", slot)
        if refused.reason == NO_PLACE:
            # The items are not at fault; the slot gets nothing until it says that it has places.
            slot.full = True
            how = Undo("prefetched", sent=True)
        else:
            how = Undo("protocol", sent=True, retry=True, reason=refused.reason[:200])
        self._core.roll_back(delivery, how)
