"""The oracle of simulated campaigns sees what it is for: rules about deliveries, executions and
decisions are broken once each, and named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from symfleet.protocol.answers import Quiesced
from symfleet.protocol.operations import (
    CloseEpoch,
    CommitQuiescence,
    CountFaults,
    Release,
    TakeOver,
)
from symfleet.testing.simulation.oracle_bench import RANK, OracleBench, answer, begun, token
from symfleet.types import (
    Keep,
    Outcome,
    WorkId,
)


def breaks(rule: str) -> pytest.RaisesExc[AssertionError]:
    return pytest.raises(AssertionError, match=rule)


@pytest.mark.parametrize("keep", list(Keep))
def test_an_honest_campaign_breaks_no_rule(keep: Keep) -> None:
    bench = OracleBench(keep)
    bench.admit(0)
    bench.finish()
    committed = CommitQuiescence("", bench.turn(CountFaults(0, ())).changes)
    (quiesced,) = bench.turn(committed, tamper=answer(0, committed=True)).answers
    assert isinstance(quiesced, Quiesced)
    bench.turn(CloseEpoch("quiescent", 0))
    bench.final(0)
    assert len(bench.oracle.ran) == len(bench.oracle.decided)


# ---- deliveries ---------------------------------------------------------------------------------


def test_a_token_that_is_used_twice() -> None:
    bench = begun()
    first, second = bench.claim(2)
    bench.dispatch(1, first)
    with breaks("D1"):
        bench.dispatch(1, second)


def test_an_item_that_leaves_with_the_bytes_of_another() -> None:
    bench = begun()
    (lease,) = bench.claim()
    with breaks("A1"):
        bench.dispatch(1, lease, data=b"other")


def test_a_delivery_by_one_who_does_not_hold_the_item() -> None:
    bench = begun()
    (lease,) = bench.claim(coordinator=1)
    with breaks("L2"):
        bench.dispatch(1, lease, coordinator=2)


def test_one_whose_leases_are_taken_over_may_not_know_it_until_the_epoch_ends() -> None:
    bench = begun()
    (lease,) = bench.claim(coordinator=1)
    bench.turn(TakeOver(1))
    bench.dispatch(1, lease, coordinator=1)
    with breaks("L2"):
        bench.dispatch(2, lease, coordinator=2)
    bench.open_epoch()
    with breaks("L2"):
        bench.dispatch(3, lease, coordinator=1)


def test_a_lease_that_goes_out_twice() -> None:
    bench = begun()
    (lease,) = bench.claim()
    bench.dispatch(1, lease)
    with breaks("L1"):
        bench.dispatch(2, lease)


def test_decided_work_that_is_handed_out_again() -> None:
    bench = begun()
    lease = bench.delivered()
    bench.turn(bench.decide(lease))
    with breaks("C2"):
        bench.dispatch(2, lease)


def test_work_that_nobody_let_in() -> None:
    bench = begun()
    (lease,) = bench.claim()
    with breaks("A5"):
        bench.dispatch(1, replace(lease, work_id=WorkId("0" * 64)))


# ---- executions ---------------------------------------------------------------------------------


def test_an_execution_under_a_token_that_was_never_given_out() -> None:
    bench = begun()
    (lease,) = bench.claim()
    with breaks("D2"):
        bench.run(1, lease)


def test_an_execution_on_another_rank() -> None:
    bench = begun()
    (lease,) = bench.claim()
    bench.dispatch(1, lease)
    with breaks("D1"):
        bench.run(1, lease, rank=RANK + 1)


def test_an_execution_of_an_item_that_its_delivery_does_not_hold() -> None:
    bench = begun()
    first, second = bench.claim(2)
    bench.dispatch(1, first)
    with breaks("L7"):
        bench.run(1, second)


def test_an_execution_with_other_bytes() -> None:
    bench = begun()
    (lease,) = bench.claim()
    bench.dispatch(1, lease)
    with breaks("A1"):
        bench.run(1, replace(lease, data=b"other"))


def test_an_item_of_a_delivery_that_runs_twice() -> None:
    bench = begun()
    lease = bench.delivered()
    with breaks("D1"):
        bench.run(1, lease)


def test_a_worker_that_speaks_of_what_it_was_not_given() -> None:
    bench = begun()
    (lease,) = bench.claim()
    with breaks("D2"):
        bench.oracle.said(RANK, token(1))
    bench.dispatch(1, lease)
    bench.oracle.said(RANK, token(1))
    with breaks("D2"):
        bench.oracle.said(RANK + 1, token(1))


def test_an_answer_before_the_decision_is_durable() -> None:
    bench = begun()
    lease = bench.delivered()
    with breaks("C1"):
        bench.oracle.answered(token(1))
    bench.turn(bench.decide(lease))
    bench.oracle.answered(token(1))


# ---- decisions ----------------------------------------------------------------------------------


def test_a_decision_without_an_execution() -> None:
    bench = begun()
    (lease,) = bench.claim()
    bench.dispatch(1, lease)
    with breaks("D5"):
        bench.turn(bench.decide(lease))


def test_a_decision_by_the_result_of_an_older_delivery() -> None:
    bench = begun()
    lease = bench.delivered()
    bench.turn(Release(lease.work_id, lease.token, "lost"))
    (again,) = [one for one in bench.claim(2) if one.work_id == lease.work_id]
    bench.dispatch(2, again)
    with breaks("D5"):
        bench.turn(bench.decide(again))


@pytest.mark.parametrize(
    "changes",
    [
        {"edges": b""},
        {"outcome": Outcome.OOM},
        {"children": ()},
    ],
)
def test_a_decision_that_tells_what_the_program_does_not_do(changes: dict[str, Any]) -> None:
    bench = begun()
    lease = bench.delivered()
    with breaks("C3"):
        bench.turn(bench.decide(lease, **changes))


def test_a_decision_with_children_of_an_execution_that_was_cut_off() -> None:
    bench = begun()
    lease = bench.delivered()
    with breaks("A5"):
        bench.turn(bench.decide(lease, outcome=Outcome.TIMEOUT))


def test_an_item_that_is_decided_twice() -> None:
    bench = begun()
    lease = bench.delivered()
    bench.turn(bench.decide(lease))
    with breaks("C7"):
        bench.turn(bench.decide(lease), tamper=answer(0, disposition="completed", decision=2))


def test_a_decision_number_that_is_passed_over() -> None:
    bench = begun()
    lease = bench.delivered()
    with breaks("C7"):
        bench.turn(bench.decide(lease), tamper=answer(0, decision=2))


def test_a_result_of_the_holder_that_is_called_stale() -> None:
    bench = begun()
    lease = bench.delivered()
    with breaks("A6"):
        bench.turn(bench.decide(lease), tamper=answer(0, disposition="stale"))


def test_a_decision_whose_new_work_is_not_counted() -> None:
    bench = begun()
    lease = bench.delivered()
    with breaks("A5"):
        bench.turn(bench.decide(lease), tamper=answer(0, new_work=0))
