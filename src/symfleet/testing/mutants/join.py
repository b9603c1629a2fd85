"""Faults of the join of READY and RESULT, of rollbacks and of retries."""

from __future__ import annotations

from typing import Final

from symfleet.protocol import sweeps
from symfleet.protocol.coordinator import Coordinator
from symfleet.protocol.delivery import Reservation, Reservations
from symfleet.protocol.dispatch import Dispatcher
from symfleet.protocol.fleet import SLOT_TABLE, Slot, SlotPhase, SlotStep
from symfleet.protocol.frontier import Frontier
from symfleet.protocol.intake import Intake
from symfleet.protocol.join import RESULT_TABLE, Said, Verdict
from symfleet.protocol.outbox import Outbox
from symfleet.protocol.settle import Settlement
from symfleet.protocol.worker_slot import WorkerSlot
from symfleet.testing.mutants.planting import Edit, InSimulation, InTests, Mutant, Rows

_JOIN: Final = ("tests/unit/protocol/test_join_rules.py",)

MUTANTS: Final = (
    Mutant(
        "ready_is_a_credit",
        "J11",
        "READY frees a place before the RESULT of its delivery is decided.",
        (
            Edit(
                Slot,
                "held",
                "len(self.deliveries)",
                "sum(d.ready_at is None for d in self.deliveries)",
            ),
        ),
        InSimulation("disorder", 1),
    ),
    Mutant(
        "ready_names_no_delivery",
        "J1",
        "A worker says READY without the token of what it finished.",
        (
            Edit(
                WorkerSlot,
                "_conclude",
                "self._say_ready(now, assignment.token)",
                "self._say_ready(now, None)",
            ),
        ),
        InSimulation("calm"),
    ),
    Mutant(
        "ready_before_result_recovers",
        "J2",
        "A RESULT that comes after its READY is taken for lost: the order of the two is assumed.",
        (Edit(sweeps, "may_recover", "now >= delivery.ready_at + recover_s", "True"),),
        InTests(_JOIN, "ready_and_result_join"),
    ),
    Mutant(
        "bad_result_alone_recovers",
        "J3",
        "A bad result takes its delivery back although no READY says that it is over.",
        (
            Edit(
                sweeps,
                "may_recover",
                "is None:\n        return False",
                "is None:\n        return delivery.marked",
            ),
        ),
        InTests(_JOIN, "own_delivery"),
    ),
    Mutant(
        "missing_token_is_a_stale_one",
        "J3",
        "A result without a token is set aside like a late one: its delivery is not recovered.",
        (Rows(RESULT_TABLE, {(True, Said.NOTHING, True): Verdict.STALE}),),
        InTests(_JOIN, "recovers_at_once"),
    ),
    Mutant(
        "stale_ready_is_taken",
        "J4",
        "READY of a delivery that is not in flight here ends parking and frees places.",
        (
            Edit(
                Intake,
                "_on_ready",
                "case Verdict.CURRENT | Verdict.IDLE:",
                "case Verdict.CURRENT | Verdict.IDLE | Verdict.STALE:",
            ),
        ),
        InTests(_JOIN, "stale_and_unowned"),
    ),
    Mutant(
        "any_ready_ends_parking",
        "J4",
        "A slot that was parked for its silence is open again with any READY.",
        (Edit(Intake, "_ready", "and completed in slot.parked_for", ""),),
        InTests(("tests/unit/protocol/test_liveness.py",), "parking"),
    ),
    Mutant(
        "parked_slot_opens_by_the_table",
        "J4",
        "READY of an idle slot opens it, parked or not.",
        (Rows(SLOT_TABLE, {(SlotPhase.PARKED, SlotStep.READY): SlotPhase.OPEN}),),
        InTests(("tests/unit/protocol/test_liveness.py",), "parking"),
    ),
    Mutant(
        "sweep_in_a_turn_that_was_not_drained",
        "J5",
        "Deliveries are taken back while their RESULT still waits in the transport.",
        (
            Edit(
                Coordinator,
                "begin_turn",
                "drained = drained and not self._timeline.late",
                "drained = not self._timeline.late",
            ),
        ),
        InTests(_JOIN, "drained"),
    ),
    Mutant(
        "mark_outlives_a_good_result",
        "J5",
        "A delivery whose good RESULT is being decided is recovered in the same turn.",
        (
            Edit(Settlement, "result", "delivery.marked = slot.marked = False", "pass"),
            Edit(
                sweeps.Sweeps,
                "_recover",
                "if delivery.phase is Phase.DECIDING:",
                "if False:",
            ),
        ),
        InTests(_JOIN, "before_the_sweep"),
    ),
    Mutant(
        "rollback_by_slot",
        "J6",
        "A recovery takes the first delivery of the slot back, not the one that is to be.",
        (
            Edit(
                sweeps.Sweeps,
                "_recover",
                "core.roll_back(delivery, ",
                "core.roll_back(slot.deliveries[-1], ",
            ),
        ),
        InTests(_JOIN, "own_delivery"),
    ),
    Mutant(
        "rollback_undone_twice",
        "J6",
        "A reservation that has ended is given back again.",
        (Edit(Reservation, "undo", "if self.open:", "if True:"),),
        InTests(("tests/unit/protocol/test_reservations.py",), "undo"),
    ),
    Mutant(
        "rollback_stops_at_the_first_error",
        "J6",
        "A step of a rollback that fails keeps the others from being taken.",
        (
            Edit(
                Reservations,
                "undo",
                "errors.append(error)",
                "errors.append(error)\n            break",
            ),
        ),
        InTests(("tests/unit/protocol/test_reservations.py",), "undo"),
    ),
    Mutant(
        "rollback_forgets_the_state",
        "J6",
        "The state of an item that was given back stays taken in the claim table.",
        (Edit(Frontier, "return_item", "self._drop_state(lease)", "pass"),),
        InSimulation("two", 1),
    ),
    Mutant(
        "new_life_keeps_the_old_ones_work",
        "J6",
        "A slot that was born again still has what was in flight to its older life.",
        (
            Edit(
                Intake,
                "_reborn",
                'core.roll_back_slot(slot, Undo("reborn", sent=True))',
                "pass",
            ),
        ),
        InTests(_JOIN, "new_incarnation"),
    ),
    Mutant(
        "dead_lives_are_forgotten",
        "J6",
        "A frame of an older life of a slot looks like one of a new life.",
        (Edit(Slot, "begin_life", "self.past.add(self.incarnation)", "pass"),),
        InTests(_JOIN, "new_incarnation"),
    ),
    Mutant(
        "retry_is_other_work",
        "J7",
        "What is delivered again is another item than what was delivered first.",
        (
            Edit(
                Dispatcher,
                "_deliver",
                "WorkEntry(lease.work_id, lease.payload, ",
                "WorkEntry(lease.work_id, lease.payload + bytes(lease.deliveries - 1), ",
            ),
        ),
        InTests(_JOIN, "two_drained_seconds"),
    ),
    Mutant(
        "retries_are_not_counted",
        "J8",
        "An item that fails again and again is tried again for ever.",
        (Edit(Frontier, "return_item", "self.retries[lease.work_id] = used + 1", "pass"),),
        InTests(_JOIN, "retries_are_bounded"),
    ),
    Mutant(
        "faults_stay_in_memory",
        "J10",
        "Retries and quarantines are counted where nobody can read them.",
        (Edit(Outbox, "flush_faults", "if not self._fresh:", "if True:"),),
        InTests(_JOIN, "stale_and_unowned"),
    ),
    Mutant(
        "failed_deferral_loses_its_item",
        "J8",
        "An item whose deferral could not be written is in no claim table any more.",
        (Edit(Frontier, "_on_deferred", "self._keep(lease)", "pass"),),
        InTests(_JOIN, "deferral_that_fails"),
    ),
    Mutant(
        "deferred_item_comes_at_once",
        "J8",
        "A deferred item is claimed with the pending ones of the same epoch.",
        (
            Edit(
                Frontier,
                "claim",
                "with_deferred=stage is not Stage.PENDING",
                "with_deferred=True",
            ),
        ),
        InTests(_JOIN, "deferred"),
    ),
    Mutant(
        "rollback_is_not_written",
        "J9",
        "What a rollback returns is pending in memory only: the ledger still has it leased.",
        (Edit(Frontier, "return_item", "self._release(lease, how)", "pass"),),
        InSimulation("two", 6),
    ),
)
