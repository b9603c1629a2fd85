"""Faults on the way from a RESULT to a durable decision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from symfleet.ledger.contract import EpochRequest
from symfleet.ledger.memory import MemoryLedger
from symfleet.ledger.memory_decisions import MemoryDecisions
from symfleet.ledger.memory_rows import MemoryRows
from symfleet.protocol import decision, settle
from symfleet.protocol.intake import Intake
from symfleet.protocol.operations import Claim, Decide, Operation
from symfleet.protocol.outbox import Outbox
from symfleet.protocol.settle import Settlement
from symfleet.testing.mutants.planting import Around, Change, Edit, InSimulation, InTests, Mutant
from symfleet.testing.simulation.ledger import SimulatedLedger

_RESULTS: Final = ("tests/unit/protocol/test_results.py",)
_JOIN: Final = ("tests/unit/protocol/test_join_rules.py",)


def _children_later() -> tuple[Change, ...]:
    """Keep the work rows of a decision in memory until the next turn begins."""
    waiting: list[tuple[object, ...]] = []
    deciding: list[bool] = []

    def put(original: Callable[..., bool]) -> Callable[..., bool]:
        def new_work(self: MemoryDecisions, *row: Any) -> bool:
            if not deciding:
                return original(self, *row)
            waiting.append(row)
            return row[0] not in self._tables.work

        return new_work

    def commit(original: Callable[..., object]) -> Callable[..., object]:
        def decided(self: MemoryDecisions, *of: Any) -> object:
            deciding.append(True)
            try:
                return original(self, *of)
            finally:
                deciding.clear()

        return decided

    def run(original: Callable[..., object]) -> Callable[..., object]:
        def next_turn(self: MemoryLedger, operations: Sequence[Operation]) -> object:
            for row in waiting:
                self._new_work(*cast("Any", row))
            waiting.clear()
            return original(self, operations)

        return next_turn

    def open_epoch(original: Callable[..., object]) -> Callable[..., object]:
        def opened(self: MemoryLedger, request: EpochRequest) -> object:
            waiting.clear()  # they died with the process
            return original(self, request)

        return opened

    return (
        Around(MemoryRows, "_new_work", put),
        Around(MemoryDecisions, "_commit", commit),
        Around(MemoryLedger, "run", run),
        Around(MemoryLedger, "open_epoch", open_epoch),
    )


def _unsynced_decisions() -> tuple[Change, ...]:
    """Let a store sync no turn that only claims and decides."""

    def make(original: Callable[..., object]) -> Callable[..., object]:
        def run(self: SimulatedLedger, operations: Sequence[Operation]) -> object:
            marks = [*self._marks, self._journal.mark()]
            answers = original(self, operations)
            if all(isinstance(operation, Claim | Decide) for operation in operations):
                self._marks = marks
            return answers

        return run

    return (
        Edit(
            MemoryLedger,
            "run",
            "isinstance(operation, Claim)",
            "isinstance(operation, Claim | Decide)",
        ),
        Around(SimulatedLedger, "run", make),
    )


MUTANTS: Final = (
    Mutant(
        "reported_ids_win",
        "L7",
        "A result that names another work item than the coordinator's is taken.",
        (Edit(decision, "_verify_item", "item.work_id != lease.work_id", "False"),),
        InTests(_RESULTS, "invalid_result_decides_nothing"),
    ),
    Mutant(
        "executed_bytes_are_not_compared",
        "A1",
        "A result of a target that got other bytes than the item names is taken.",
        (Edit(decision, "_verify_item", "item.input_id != work.input", "False"),),
        InTests(_RESULTS, "invalid_result_decides_nothing"),
    ),
    Mutant(
        "child_bytes_are_not_hashed",
        "A1",
        "A child is taken under a digest that its bytes do not have.",
        (
            Edit(
                decision,
                "_verify_child",
                "input_id_of(child.data) != child.digest",
                "child is None",
            ),
        ),
        InTests(_RESULTS, "invalid_result_decides_nothing"),
    ),
    Mutant(
        "lost_child_is_not_missed",
        "C5",
        "The children of a result are not compared with those that it announces.",
        (Edit(decision, "_verify_all", "said != result.children_digest", "False"),),
        InTests(_RESULTS, "lost_child"),
    ),
    Mutant(
        "invalid_result_loses_its_item",
        "A6",
        "An item whose result is invalid ends with it, undecided.",
        (
            Edit(
                Settlement,
                "_invalid",
                "core.roll_back(delivery, how)",
                "[w.settle() for w in delivery.works]; core.roll_back(delivery, how)",
            ),
        ),
        InTests(_RESULTS, "invalid_result_decides_nothing"),
    ),
    Mutant(
        "failed_decision_ends_its_item",
        "C1",
        "A result is answered as decided although the ledger refused its decision.",
        (
            Edit(
                Settlement,
                "_decide",
                "why=message)\n                return",
                "why=message)",
            ),
        ),
        InTests(_RESULTS, "decision_that_failed"),
    ),
    Mutant(
        "answers_of_a_failed_transaction_leave",
        "C1",
        "What was to be told after a commit is told although the transaction failed.",
        (
            Edit(
                Outbox,
                "forget_turn",
                "if isinstance(action, Note)]",
                "]",
            ),
        ),
        InTests(("tests/unit/protocol/test_quiescence_and_end.py",), "control_failure"),
    ),
    Mutant(
        "acknowledged_before_it_is_durable",
        "C1",
        "Turns of decisions are written like turns of leases: a power cut takes them back.",
        _unsynced_decisions(),
        InSimulation("two", 2),
    ),
    Mutant(
        "result_twice_in_a_turn",
        "C7",
        "The same result twice in one turn is settled twice.",
        (
            Edit(
                Intake,
                "_current_result",
                "if self._settlement.is_deciding(delivery):",
                "if False:",
            ),
        ),
        InTests(_JOIN, "same_result_twice"),
    ),
    Mutant(
        "children_in_a_second_transaction",
        "C1",
        "The rows of a decision's children are written by the next turn: a death loses them.",
        _children_later(),
        InSimulation("two"),
    ),
    Mutant(
        "last_child_is_lost",
        "C5",
        "Of the children of a decision the last becomes no work.",
        (
            Edit(
                settle,
                "to_decide",
                "for digest in sorted(distinct)",
                "for digest in sorted(distinct)[: max(1, len(distinct) - 1)]",
            ),
        ),
        InSimulation("calm"),
    ),
    Mutant(
        "identity_depends_on_the_token",
        "D7",
        "Which work a child is depends on the lease under which its parent was executed.",
        (
            Edit(
                settle,
                "to_decide",
                "_child(distinct[digest], generation)",
                "_child(distinct[digest], GenerationId(f'{lease.token.fence:064x}'))",
            ),
        ),
        InSimulation("calm"),
    ),
)
