"""Faults of leases, fences, epochs, counts and chains: in the ledger in memory, which simulated
campaigns use, and in the stores of rows, which the behaviour suite judges."""

from __future__ import annotations

from typing import Final

from symfleet.ledger import (
    audit_walks,
    highwater,
    memory_reading,
    opener,
    opening,
    plan,
    row_reading,
    turn_decision,
    turn_frontier,
    turn_giving_back,
    turn_rows,
)
from symfleet.ledger.edges import Knowledge
from symfleet.ledger.memory import MemoryLedger
from symfleet.ledger.memory_decisions import MemoryDecisions
from symfleet.ledger.memory_frontier import MemoryFrontier
from symfleet.ledger.memory_rows import MemoryRows
from symfleet.testing.mutants.planting import Edit, InSimulation, InTests, Mutant, Put

_OWNER: Final = ("tests/integration/test_sqlite_owner.py",)
_DAMAGE: Final = ("tests/integration/test_sqlite_damage.py",)
_SQLITE: Final = ("tests/integration/test_ledger_behaviour.py::TestSqliteLedger",)

MUTANTS: Final = (
    Mutant(
        "no_fence_compared",
        "L2",
        "Whoever once held an item in this epoch may still decide it or give it back.",
        (
            Edit(
                MemoryDecisions,
                "_decide",
                "(work.epoch, work.fence) != (decide.token.epoch, decide.token.fence)",
                "work.epoch != decide.token.epoch",
            ),
            Edit(
                MemoryRows,
                "_held",
                "(work.epoch, work.fence) != (token.epoch, token.fence)",
                "work.epoch != token.epoch",
            ),
        ),
        InSimulation("stops", 5),
    ),
    Mutant(
        "no_fence_compared_by_a_store",
        "L2",
        "A store of rows lets an older lease of the epoch decide an item.",
        (
            Edit(
                turn_decision,
                "decide",
                "(found[2], found[3]) != (decide.token.epoch, decide.token.fence)",
                "found[2] != decide.token.epoch",
            ),
        ),
        InTests(_SQLITE, "holder"),
    ),
    Mutant(
        "anybody_gives_back",
        "L2",
        "A store of rows gives an item back to whoever names it.",
        (
            Edit(
                turn_rows,
                "_GIVE_BACK",
                "AND epoch = ? AND fence = ?",
                "AND epoch >= ? - epoch AND fence >= ? - fence",
            ),
        ),
        InTests(_SQLITE, "holder"),
    ),
    Mutant(
        "no_state_check_on_decide",
        "L2",
        "A store of rows does not ask whether what it decides is leased.",
        (
            Edit(
                turn_decision,
                "decide",
                'state != "leased" or epoch != standing.epoch',
                "epoch != standing.epoch",
            ),
        ),
        InTests(_SQLITE, "lost_coordinators_leases"),
    ),
    Mutant(
        "no_epoch_in_the_token",
        "L6",
        "A lease of an older epoch decides when its fence is the present one.",
        (
            Edit(
                turn_decision,
                "decide",
                "(found[2], found[3]) != (decide.token.epoch, decide.token.fence)",
                "found[3] != decide.token.fence",
            ),
            Edit(
                turn_rows,
                "_FINISH_WORK",
                "AND epoch = ? AND",
                "AND epoch >= ? AND",
            ),
        ),
        InTests(_SQLITE, "only_the_holder"),
    ),
    Mutant(
        "fence_does_not_grow",
        "L2",
        "A lease gets the fence that the lease before it had.",
        (Edit(MemoryFrontier, "_lease", "Fence(work.fence + 1)", "Fence(max(1, work.fence))"),),
        InSimulation("peers direct", 1),
    ),
    Mutant(
        "fence_of_a_store_does_not_grow",
        "L2",
        "A store of rows writes the fence that a row had before it is leased.",
        (Edit(turn_rows, "_LEASE", "fence = fence + 1", "fence = max(1, fence)"),),
        InTests(_SQLITE, "fence"),
    ),
    Mutant(
        "leased_rows_are_claimed",
        "L1",
        "A claim takes rows that are leased already.",
        (
            Edit(
                MemoryFrontier,
                "_claim",
                "states = {WorkState.PENDING}",
                "states, leased = {WorkState.PENDING, WorkState.LEASED}, set()",
            ),
        ),
        InSimulation("calm many"),
    ),
    Mutant(
        "states_are_not_compared",
        "L1",
        "Two items of one state are leased to two holders.",
        (Edit(turn_frontier, "_lease_rows", "row[2] not in taken", "row[1] not in taken"),),
        InTests(_SQLITE, "two_holders"),
    ),
    Mutant(
        "refused_claim_leaves_a_trace",
        "L3",
        "A claim that is refused has counted deliveries of what it could not lease.",
        (
            Edit(
                MemoryFrontier,
                "_claim",
                "if claim.coordinator and (epoch",
                "for work in self._tables.work.values():\n"
                "        work.deliveries += 1\n"
                "    if claim.coordinator and (epoch",
            ),
        ),
        InSimulation("stops", 5),
    ),
    Mutant(
        "older_leases_stay",
        "L6",
        "An epoch opens without sweeping what older ones have leased.",
        (
            Edit(
                MemoryLedger,
                "open_epoch",
                "recovered += 1",
                "recovered += 1\n            continue",
            ),
        ),
        InSimulation("two", 1),
    ),
    Mutant(
        "leases_end_by_the_clock",
        "L4",
        "An epoch that opens voids leases of epochs that opened a minute ago, by its own clock.",
        (
            Edit(
                opening,
                "open_epoch",
                'cursor.execute(_SQL["void_leases"])',
                'cursor.execute(_SQL["void_leases"] + f" AND {request.now_wall} - 60 > "\n'
                '    "(SELECT max(opened_wall) FROM epochs)")',
            ),
        ),
        InTests(_OWNER, "whatever_any_clock"),
    ),
    Mutant(
        "lock_is_broken_by_age",
        "L8",
        "Who has waited for long enough owns a campaign that somebody else owns.",
        (
            Edit(
                opener,
                "acquire",
                "raise _busy(path, told, clock.wall()) from None",
                "return OwnerLock(os.open(os.devnull, os.O_RDWR), holder, path)",
            ),
        ),
        InTests(_OWNER, "one_owner"),
    ),
    Mutant(
        "decided_rows_are_swept",
        "C8",
        "An epoch that opens makes decided rows pending, too.",
        (
            Edit(
                MemoryLedger,
                "open_epoch",
                "work.state is WorkState.LEASED:",
                "work.state in (WorkState.LEASED, WorkState.DONE):",
            ),
        ),
        InSimulation("two", 1),
    ),
    Mutant(
        "epoch_number_is_used_again",
        "L6",
        "An epoch that has decided nothing leaves its number, and its tokens, to the next one.",
        (
            Edit(
                MemoryLedger,
                "open_epoch",
                "epoch = Epoch(len(tables.epochs) + 1)",
                "if tables.epochs and not tables.epochs[-1].decisions:\n"
                "        tables.epochs.pop()\n"
                "    epoch = Epoch(len(tables.epochs) + 1)",
            ),
        ),
        InSimulation("two"),
    ),
    Mutant(
        "already_is_counted_again",
        "C7",
        "The same decision again is one more.",
        (Edit(turn_decision, "decide", 'if state == "done":', "if False:"),),
        InTests(_SQLITE, "counts_once"),
    ),
    Mutant(
        "manifest_is_not_compared",
        "C3",
        "Another result under a token that has decided is answered with `already`.",
        (Edit(turn_decision, "_decided_before", "plan.encoded != manifest", "False"),),
        InTests(_SQLITE, "another_manifest"),
    ),
    Mutant(
        "manifest_of_any_form",
        "C4",
        "A stored manifest is read although writing it again gives other bytes.",
        tuple(
            Edit(owner, "decode_manifest", "_encoder.encode(manifest) != encoded", "False")
            for owner in (audit_walks, memory_reading, row_reading)
        ),
        InTests(_DAMAGE, "other_byte_order"),
    ),
    Mutant(
        "older_copy_is_taken",
        "C9",
        "A restored older ledger is gone on with, as if its missing decisions had never been.",
        (
            Edit(
                highwater,
                "judge_highwater",
                "if mark.decision > current.decision or mark.epoch > current.epoch:",
                "if False:",
            ),
            Edit(
                highwater,
                "judge_highwater",
                "if mark.decision and chain_at_mark != mark.chain:",
                "if False:",
            ),
        ),
        InTests(_DAMAGE, "older_copy"),
    ),
    Mutant(
        "missing_work_is_waited_for",
        "C9",
        "A claim that finds none of the rows that are counted is answered as if all were taken.",
        (Edit(turn_frontier, "claim", "if waits and not leases:", "if waits and leases:"),),
        InTests(_SQLITE, "gone"),
    ),
    Mutant(
        "counts_of_the_turns_beginning",
        "C9",
        "Rows are compared with what was counted before the turn changed them.",
        (Edit(turn_rows.Turn, "added", "now - then", "now - now"),),
        InTests(_SQLITE, "counts_are_looked_at"),
    ),
    Mutant(
        "result_of_another_input",
        "C3",
        "A decision is bound to whatever input its result names.",
        (Edit(turn_decision, "decide", "digest.hex() != decide.input_id", "False"),),
        InTests(_SQLITE, "invalid_result"),
    ),
    Mutant(
        "chain_is_not_linked",
        "C7",
        "A decision's hash does not go on from the one before it.",
        (
            Edit(
                MemoryDecisions,
                "_commit",
                "chain_next(epoch.chain, number",
                "chain_next(b'', number",
            ),
        ),
        InSimulation("calm"),
    ),
    Mutant(
        "decision_is_not_counted",
        "C7",
        "A decision adds to all counters but that of executed items.",
        (
            Edit(
                MemoryDecisions,
                "_commit",
                "self._count_work(work.coordinator, name, amount)",
                'self._count_work(work.coordinator, name, amount * (name != "executed"))',
            ),
        ),
        InSimulation("calm"),
    ),
    Mutant(
        "counted_under_another_coordinator",
        "C7",
        "What one coordinator decides is counted as the root's.",
        (
            Edit(
                MemoryDecisions,
                "_commit",
                "self._count_work(work.coordinator, name, amount)",
                "self._count_work(0, name, amount)",
            ),
        ),
        InSimulation("calm many"),
    ),
    Mutant(
        "novelty_counts_twice",
        "C7",
        "Edges that a decision of the same transaction was the first to show are new again.",
        (Edit(Knowledge, "add", "self._elements |= new", "pass"),),
        InTests(_SQLITE, "late_is_judged"),
    ),
    Mutant(
        "poison_after_one",
        "A6",
        "One executor's death sets an item aside for good.",
        (Put(plan, "BLAMES_TO_POISON", 1),),
        InTests(_SQLITE, "poison"),
    ),
    Mutant(
        "one_executor_blames_thrice",
        "A6",
        "Three deaths of the same executor count as three executors.",
        (
            Edit(
                turn_giving_back,
                "blame",
                "blames = int(",
                "blames = 1 + int(",
            ),
        ),
        InTests(_SQLITE, "poison"),
    ),
    Mutant(
        "losses_do_not_count",
        "A6",
        "An item that takes worker after worker with it never becomes a suspect.",
        (Edit(plan, "after_release", "losses += 1", "losses += 0"),),
        InTests(_SQLITE, "losses"),
    ),
    Mutant(
        "deferred_for_ever",
        "J8",
        "An item is deferred in epoch after epoch and never set aside.",
        (Put(plan, "DEFERRALS_TO_POISON", 1 << 30),),
        InTests(_SQLITE, "deferral"),
    ),
)
