"""A current RESULT becomes operations; their answers end the delivery.

Each item is settled by one operation of the turn's transaction: Decide, Release, Blame. Its answer
ends the item; when all items have ended the delivery ends and its RESULT is answered. An operation
that failed leaves its item open: the delivery is active again and the worker, which got no answer,
says its RESULT again; after a few failures the item goes back by the retry budget (J8).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from symfleet.errors import IntegrityError
from symfleet.protocol.answers import Answer, Blamed, Changed, Decided, Failed
from symfleet.protocol.blame import Fate, judge_death
from symfleet.protocol.core import Core
from symfleet.protocol.decision import Invalid, Verified, to_decide, verify
from symfleet.protocol.delivery import Delivery, Phase, Step, Undo
from symfleet.protocol.fleet import Slot, SlotPhase
from symfleet.protocol.item_results import Executed, ExecutorDied, NotRun, Unsettled
from symfleet.protocol.messages import Result
from symfleet.protocol.operations import Blame, Release, ReleaseCause
from symfleet.protocol.parts import Parts
from symfleet.protocol.sizing import Costs
from symfleet.types import Incarnation, SlotAddress, input_id_of

_FAILURES_MAX: Final = 3
_CAUSES: Final[dict[str, ReleaseCause]] = {
    "stalled": "stalled",
    "killed": "killed",
    "cancelled": "cancelled",
}


class Settlement:
    """Turns results into operations."""

    def __init__(self, core: Core, costs: Costs) -> None:
        self._core = core
        self._costs = costs
        self._deciding: list[Delivery] = []
        self.not_exhaustive = 0
        """Executions of this epoch in which a limit cut something off."""
        self.decided = 0
        self._to_reset: dict[SlotAddress, Incarnation] = {}

    def result(self, slot: Slot, delivery: Delivery, result: Result) -> bool:
        """Take a current RESULT; return whether it is whole. One with missing parts is not."""
        core, knobs = self._core, self._core.setup.knobs
        assert core.in_flight.get(delivery.token) is delivery, "D5: only a current result counts"
        parts = delivery.parts or Parts(knobs.result_mib << 20, knobs.result_children)
        if not parts.is_whole(result.parts):
            return False
        verified = verify(delivery, result, parts, core.setup.keep, knobs)
        if isinstance(verified, Invalid):
            self._invalid(slot, delivery, verified)
            return True
        delivery.marked = slot.marked = False
        slot.ghosts.clear()  # the worker works in order, so what was sent before is gone
        slot.evidence_at = core.now
        core.in_flight.step(core.now, delivery, Step.RESULT)
        core.frontier.stir()
        self._deciding.append(delivery)
        for number in delivery.open_items:
            self._settle_item(slot, delivery, number, verified[number])
        return True

    def forget(self) -> None:
        """The turn's transaction failed as a whole, or will not be run: nothing was decided, so
        that the loss of a slot may take back what was about to be."""
        for delivery in self._deciding:
            self._go_on(delivery)
        self._deciding.clear()

    def take_resets(self) -> Sequence[Slot]:
        """Return each slot that a result asks to be reset, once; a life that ended since then, or
        was reset for another reason, needs none."""
        asked, self._to_reset = self._to_reset, {}
        slots = [(self._core.fleet.at(place), life) for place, life in asked.items()]
        return [
            slot
            for slot, life in slots
            if slot.incarnation == life and slot.phase is not SlotPhase.RESETTING
        ]

    def is_deciding(self, delivery: Delivery) -> bool:
        """Whether this delivery's result was taken in this turn."""
        return delivery.phase is Phase.DECIDING

    def close_turn(self) -> None:
        """After the answers: end deliveries, or open those again whose operations failed."""
        core = self._core
        deciding, self._deciding = self._deciding, []
        for delivery in deciding:
            if not delivery.open_items:
                core.finish_delivery(delivery)
                continue
            if not self._go_on(delivery):
                continue
            delivery.failures += 1
            if delivery.failures >= _FAILURES_MAX:
                core.roll_back(delivery, Undo("protocol", sent=True, retry=True, reason="decision"))

    def _go_on(self, delivery: Delivery) -> bool:
        """Have a delivery wait for its result again; return whether it can. What was lost in this
        very turn will not say it again: it is taken back, and the item is not to blame (J6)."""
        core = self._core
        core.in_flight.step(core.now, delivery, Step.DECISION_FAILED)
        slot = core.fleet.at(delivery.place)
        core.fleet.touch(slot)
        if slot.phase is SlotPhase.OPEN:
            return True
        core.roll_back(delivery, Undo("cancelled", sent=True))
        return False

    def _invalid(self, slot: Slot, delivery: Delivery, invalid: Invalid) -> None:
        """A6: undo, item to the head of pending while its token is current, slot reset.

        While nothing ever worked, this speaks of the engine and not of the item, which spends no
        retry: the breaker ends it."""
        core = self._core
        for lease, work in zip(delivery.leases, delivery.items, strict=True):
            if input_id_of(lease.data) != work.input:
                raise IntegrityError(
                    "an input changed in memory",
                    where=f"input {work.input}",
                    why=f"its bytes hash to {input_id_of(lease.data)} now",
                    hint="check this machine's memory",
                )
        core.outbox.fault("invalid_results", invalid.reason)
        if invalid.mismatched_id:
            core.outbox.fault("id_mismatches", invalid.reason)
        core.violation(slot.place.rank, f"invalid result: {invalid.reason}: {invalid.detail}", slot)
        retry = core.engine_works
        how = Undo("invalid", sent=True, retry=retry, at_head=True, reason=invalid.reason)
        token = delivery.token
        core.roll_back(delivery, how)
        core.accept(slot, token, "recovered", slot.incarnation)
        worker = core.fleet.workers[slot.place.rank]
        core.host_failed(worker.host, f"invalid result: {invalid.reason}")
        if slot.phase is SlotPhase.OPEN:
            self._to_reset[slot.place] = slot.incarnation

    def _settle_item(self, slot: Slot, delivery: Delivery, number: int, one: Verified) -> None:
        result = one.result
        match result:
            case Executed():
                self._decide(slot, delivery, number, one, result)
            case Unsettled(cause=cause):
                ran = cause != "cancelled"
                self._give_back(delivery, number, _CAUSES[cause], ran=ran)
            case ExecutorDied():
                self._death(slot, delivery, number, result)
            case NotRun():
                self._give_back(delivery, number, "prefetched", ran=False)
            case _:
                assert_never(result)

    def _decide(
        self, slot: Slot, delivery: Delivery, number: int, one: Verified, result: Executed
    ) -> None:
        core, setup = self._core, self._core.setup
        lease = delivery.leases[number]
        core.breaker.success(core.fleet.workers[slot.place.rank].host)
        self._costs.learn(result.wall_us)
        work = delivery.items[number]
        operation = to_decide(lease, work, one, setup.generation, setup.keep, setup.knobs)

        def decided(answer: Answer) -> None:
            match answer:
                case Decided(disposition="stale"):
                    core.outbox.fault("wrong_owner_rejected", "decide")
                case Decided(disposition=disposition, new_edges=new_edges):
                    if disposition == "completed":
                        self.decided += 1
                        self.not_exhaustive += operation.not_exhaustive
                    core.learn(new_edges)
                case Failed(message=message):
                    core.note("warning", "decision_failed", work=lease.work_id, why=message)
                    return
                case _:
                    return
            self._end_item(delivery, number)

        core.outbox.ask(operation, decided)

    def _death(self, slot: Slot, delivery: Delivery, number: int, death: ExecutorDied) -> None:
        core = self._core
        host = core.fleet.workers[slot.place.rank].host
        match judge_death(death):
            case Fate.HOST:
                core.pause_host(host, f"an executor failed its self-test: {death.detail}")
                self._give_back(delivery, number, "lost", ran=False)
            case Fate.UNEXPLAINED:
                self._give_back(delivery, number, "killed", ran=True)
            case Fate.BLAME:
                if core.host_failed(host, death.detail):
                    self._give_back(delivery, number, "lost", ran=False)
                else:
                    self._blame(delivery, number, death)

    def _blame(self, delivery: Delivery, number: int, death: ExecutorDied) -> None:
        core, lease = self._core, delivery.leases[number]
        core.outbox.tally("blames")

        def blamed(answer: Answer) -> None:
            match answer:
                case Failed():
                    core.outbox.totals["blames", ""] -= 1
                    return
                case Blamed(changed=False):
                    core.outbox.fault("wrong_owner_rejected", "blame")
                case _:
                    pass
            self._end_item(delivery, number)

        core.outbox.ask(Blame(lease.work_id, lease.token, death.executor, death.detail), blamed)

    def _give_back(
        self, delivery: Delivery, number: int, cause: ReleaseCause, *, ran: bool
    ) -> None:
        core, lease = self._core, delivery.leases[number]

        def released(answer: Answer) -> None:
            match answer:
                case Failed():
                    return
                case Changed(changed=False):
                    core.outbox.fault("wrong_owner_rejected", "release")
                case _:
                    pass
            self._end_item(delivery, number)

        core.outbox.ask(Release(lease.work_id, lease.token, cause, ran=ran), released)

    def _end_item(self, delivery: Delivery, number: int) -> None:
        assert delivery.phase is Phase.DECIDING, "C1: an item ends by the answer of its operation"
        delivery.works[number].settle()
