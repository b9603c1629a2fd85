"""The oracle of simulated campaigns sees what it is for: rules about leases, states, sums and the
end are broken once each, and named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from symfleet.protocol.answers import Admitted, Changed, Claimed, Counted, Failed, TurnAnswers
from symfleet.protocol.operations import (
    Admit,
    AuditLeases,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    CountFaults,
    RecordAck,
    Release,
    TakeOver,
)
from symfleet.testing.simulation.oracle_bench import OracleBench, answer, begun
from symfleet.types import (
    FencingToken,
    Keep,
    WorkState,
)


def breaks(rule: str) -> pytest.RaisesExc[AssertionError]:
    return pytest.raises(AssertionError, match=rule)


# ---- leases -------------------------------------------------------------------------------------


def test_an_item_with_two_holders() -> None:
    bench = begun()
    (lease,) = bench.claim()
    with breaks("L1"):
        bench.turn(Claim(1, 2), tamper=answer(0, leases=(lease,)))


def test_decided_work_that_is_leased() -> None:
    bench = begun()
    lease = bench.delivered()
    bench.turn(bench.decide(lease))
    with breaks("C2"):
        bench.turn(Claim(0, 3), tamper=answer(0, leases=(lease,)))


def test_more_leases_than_were_asked_for() -> None:
    bench = begun()
    leases = tuple(OracleBench.claim(begun(), 2))
    with breaks("L1"):
        bench.turn(Claim(0, 1), tamper=answer(0, leases=leases))


def test_a_fence_that_is_not_new() -> None:
    bench = begun()
    lease = bench.delivered()
    bench.turn(Release(lease.work_id, lease.token, "lost"))

    def same(answers: TurnAnswers) -> TurnAnswers:
        (claimed,) = answers.answers
        assert isinstance(claimed, Claimed)
        old = tuple(replace(one, token=lease.token) for one in claimed.leases)
        return replace(answers, answers=(replace(claimed, leases=old),))

    with breaks("L2"):
        bench.turn(Claim(0, 2), tamper=same)


def test_a_release_by_another_than_the_holder() -> None:
    bench = begun()
    lease = bench.delivered()
    wrong = Release(lease.work_id, FencingToken(lease.token.epoch, lease.token.fence + 1), "lost")  # type: ignore[arg-type]
    with breaks("L2"):
        bench.turn(wrong, tamper=answer(0, changed=True))


def test_a_release_by_the_holder_that_is_refused() -> None:
    bench = begun()
    lease = bench.delivered()

    def refused(answers: TurnAnswers) -> TurnAnswers:
        return replace(answers, answers=(Changed(changed=False),))

    with breaks("L2"):
        bench.turn(Release(lease.work_id, lease.token, "lost"), tamper=refused)


def test_leases_that_are_taken_over_and_not_told() -> None:
    bench = begun()
    bench.claim(2, coordinator=1)
    with breaks("L2"):
        bench.turn(TakeOver(1), tamper=answer(0, amount=1))


def test_a_lost_coordinator_that_leases_work() -> None:
    bench = begun()
    bench.turn(TakeOver(1))
    with breaks("L2"):
        bench.turn(Claim(1, 1), tamper=lambda a: replace(a, answers=(Claimed(()),)))


def test_a_lease_that_stands_in_no_claim_table() -> None:
    bench = begun()
    bench.claim()
    with breaks("L1"):
        bench.turn(AuditLeases(0, ()))


def test_an_operation_that_is_refused_without_a_reason() -> None:
    bench = begun()
    lease = bench.delivered()
    with breaks("was refused"):
        bench.turn(bench.decide(lease), tamper=lambda a: replace(a, answers=(Failed("no"),)))


# ---- states, sums, epochs -----------------------------------------------------------------------


@pytest.mark.parametrize("state", ["pending", "leased", "deferred", "poisoned"])
def test_a_row_that_is_in_no_state_or_in_two(state: str) -> None:
    bench = begun()
    changes: dict[str, Any] = {state: 9}
    with breaks("not conserved"):
        bench.turn(Claim(0, 1), tamper=lambda a: replace(a, **changes))


def test_a_row_whose_state_changes_behind_the_operations() -> None:
    bench = begun()
    next(iter(bench.ledger._tables.work.values())).state = WorkState.POISONED
    with breaks("not conserved"):
        bench.oracle.check(bench.ledger)


def test_a_counter_that_is_not_the_sum() -> None:
    bench = begun()
    bench.turn(bench.decide(bench.delivered()))
    (key, *_) = (key for key in bench.ledger._tables.counters if key[2] == "generated")
    bench.ledger._tables.counters[key] += 1
    with breaks("C7"):
        bench.oracle.check(bench.ledger)


def test_work_that_is_let_in_twice() -> None:
    bench = begun()
    with breaks("C7"):
        bench.turn(Admit(bench.source, (bench.admission(0),)), tamper=answer(0, new=(True,)))


def test_a_change_counter_that_goes_back() -> None:
    bench = begun()
    with breaks("Q2"):
        bench.turn(CountFaults(0, ()), tamper=lambda a: replace(a, changes=0))


def test_quiescence_with_open_work() -> None:
    bench = begun()
    with breaks("Q2"):
        bench.turn(CommitQuiescence("", 0), tamper=answer(0, committed=True))


def test_quiescence_before_the_files_are_there() -> None:
    bench = OracleBench()
    with breaks("C10"):
        bench.turn(CommitQuiescence("", 0), tamper=answer(0, committed=True), published=False)


def test_work_that_appears_after_the_commit() -> None:
    bench = OracleBench()
    bench.turn(CommitQuiescence("", 0), tamper=answer(0, committed=True))

    def let_in(answers: TurnAnswers) -> TurnAnswers:
        return replace(answers, answers=(Admitted((True,)),), pending=1)

    with breaks("Q3"):
        bench.turn(Admit(bench.source, (bench.admission(0),)), tamper=let_in)


def test_an_epoch_that_is_changed_after_its_verdict() -> None:
    bench = begun()
    bench.turn(CloseEpoch("stop", 0))
    with breaks("verdict"):
        bench.claim()


def test_a_lease_that_outlives_its_epoch() -> None:
    bench = begun()
    bench.claim()
    row = next(w for w in bench.ledger._tables.work.values() if w.state is WorkState.LEASED)
    row.state = WorkState.PENDING  # so that opening finds nothing to take back
    with breaks("L6"):
        bench.open_epoch()


def test_a_decision_that_is_gone_with_its_epoch() -> None:
    bench = begun()
    bench.turn(bench.decide(bench.delivered()))
    bench.ledger._tables.decisions.clear()
    with breaks("C8"):
        bench.open_epoch()


def test_a_decision_that_a_power_cut_takes_back() -> None:
    """A store that does not sync what is no lease: the oracle knows which turns may be lost."""
    bench = begun()
    lease = bench.delivered()
    bench.ledger._journal.forget = lambda: None  # type: ignore[method-assign]
    bench.turn(bench.decide(lease))
    bench.ledger._journal.back_to(0)
    bench.oracle.rows.power_cut(0)
    with breaks("C8"):
        bench.open_epoch()


def test_the_leases_of_a_power_cut_are_taken_back_in_order() -> None:
    bench = begun()
    (kept,) = bench.claim()
    (lost,) = bench.claim()
    bench.ledger.lose_power(1)
    bench.oracle.rows.power_cut(1)
    assert bench.oracle.rows.rows[kept.work_id].state is WorkState.LEASED
    assert bench.oracle.rows.rows[lost.work_id].state is WorkState.PENDING
    bench.oracle.check(bench.ledger)
    bench.open_epoch()


# ---- the end ------------------------------------------------------------------------------------


def finished(keep: Keep = Keep.ALL) -> OracleBench:
    bench = OracleBench(keep)
    bench.admit(0)
    bench.finish()
    return bench


def test_files_that_show_more_or_less_than_was_decided() -> None:
    bench = finished()
    with breaks("C5"):
        bench.oracle.final(bench.ledger, (0,), set())


def test_a_seed_that_is_forgotten() -> None:
    bench = OracleBench(size=40)
    bench.admit(39)
    bench.finish()
    missing = bench.program.reachable((0,)) - set(bench.ledger.corpus())
    assert missing
    with breaks("fixed point"):
        bench.final(0, 39)


def test_an_item_that_is_left_undecided() -> None:
    bench = begun()
    with breaks("A6"):
        bench.final(0, 1)


def test_a_fault_that_is_not_counted() -> None:
    bench = finished()
    bench.turn(
        CountFaults(0, (("quarantined_frames", "short", 2),)),
        tamper=lambda a: replace(a, answers=(Counted(),)),
    )
    bench.ledger._tables.faults.clear()
    with breaks("D8"):
        bench.final(0)


def test_a_worker_that_is_neither_acknowledged_nor_named() -> None:
    bench = finished()
    bench.turn(RecordAck(0, 1, 2, ("worker 2 on host, process 7",), 1.0))
    bench.oracle.stopped.add(1)
    bench.oracle.check_acknowledged([1, 2])
    with breaks("Q4"):
        bench.oracle.check_acknowledged([1, 2, 3])
    bench.turn(RecordAck(0, 1, 2, (), 1.0))
    with breaks("Q4"):
        bench.oracle.check_acknowledged([1])


def test_an_edge_that_no_replay_of_the_corpus_covers() -> None:
    bench = finished(Keep.NOVEL)
    bench.program = replace(bench.program, seed=99)
    bench.oracle.program = replace(bench.program, classes=1)
    with breaks("no replay"):
        bench.final(0)


def test_a_child_that_covers_more_and_is_dropped() -> None:
    bench = OracleBench(Keep.NOVEL)
    bench.admit(0)
    lease = bench.delivered()
    bench.turn(bench.decide(lease, children=()))
    with breaks("dropped"):
        bench.final(0)
