"""READY and RESULT at a coordinator: who decides, who recovers, what changes nothing."""

from __future__ import annotations

import msgspec
import pytest

from symfleet.ledger.plan import LOSSES_TO_SUSPECT
from symfleet.protocol.answers import Claimed
from symfleet.protocol.events import FrameReceived
from symfleet.protocol.item_results import Executed
from symfleet.protocol.messages import Accepted, Progress, Result, Started
from symfleet.protocol.operations import Admit, Claim, Decide, Defer, Release
from symfleet.protocol.setup import Knobs
from symfleet.testing.coordinator_bench import CoordinatorBench, Turn
from symfleet.testing.ledgers import packed
from symfleet.types import DispatchToken, WorkState

OTHER = DispatchToken("5" * 64)


def release_causes(turn: Turn) -> list[str]:
    return [op.cause for op in turn.operations if isinstance(op, Release)]


def bench_with_work(**knobs: float) -> tuple[CoordinatorBench, Turn]:
    bench = CoordinatorBench(knobs=Knobs(**{"prefetch": 0, **knobs}))  # type: ignore[arg-type]
    bench.join()
    turn = bench.turn(bench.seed(0))
    assert len(turn.works) == 1
    return bench, turn


@pytest.mark.guarantee("D7")
@pytest.mark.guarantee("J3")
def test_a_good_result_decides_and_its_children_leave_in_the_same_turn() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    turn = bench.turn(bench.result(work), bench.ready(work.token))
    assert [op.work_id for op in turn.operations if isinstance(op, Decide)] == [
        work.work.items[0].work_id
    ]
    assert Accepted(work.token, "decided") in turn.of(Accepted)
    assert len(turn.works) == 1, "a child is claimable at once"
    assert turn.works[0].token != work.token
    assert bench.faults() == {}


@pytest.mark.guarantee("J2")
@pytest.mark.parametrize("ready_first", [True, False])
@pytest.mark.parametrize("same_turn", [True, False])
def test_ready_and_result_join_in_any_order(ready_first: bool, same_turn: bool) -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    events = [bench.ready(work.token), bench.result(work)]
    if not ready_first:
        events.reverse()
    if same_turn:
        bench.turn(*events)
    else:
        for event in events:
            bench.turn(event)
    assert bench.ledger.status().total.executed == 1
    assert bench.faults() == {}


@pytest.mark.guarantee("J11")
def test_a_current_ready_frees_nothing_before_its_result() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    turn = bench.turn(bench.seed(1), bench.ready(work.token))
    assert not turn.works
    assert not [op for op in turn.operations if isinstance(op, Claim)]


@pytest.mark.guarantee("J3")
@pytest.mark.guarantee("J6")
@pytest.mark.guarantee("J7")
@pytest.mark.guarantee("J9")
def test_ready_without_result_recovers_after_two_drained_seconds() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    bench.turn(bench.ready(work.token))
    quiet = bench.wait(1.9)
    assert not [cause for turn in quiet for cause in release_causes(turn)]
    turns = bench.wait(0.6, step_s=0.2)
    assert [cause for turn in turns for cause in release_causes(turn)] == ["protocol"]
    (again,) = [delivered for turn in turns for delivered in turn.works]
    assert again.token != work.token
    assert again.work == work.work, "a retry keeps its identity"
    assert bench.faults() == {"protocol_requeued": {"": 1}}


def test_turns_that_are_not_drained_recover_nothing() -> None:
    bench, first = bench_with_work()
    bench.turn(bench.ready(first.works[0].token))
    for _ in range(10):
        turn = bench.turn(after_s=0.5, drained=False)
        assert not release_causes(turn)
    assert release_causes(bench.turn(after_s=0.5)) == ["protocol"]


@pytest.mark.guarantee("J5")
def test_a_good_result_before_the_sweep_clears_the_mark() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    bench.turn(bench.ready(work.token), drained=False)
    damaged = _off_schema(bench, work.token)
    turn = bench.turn(damaged, bench.result(work))
    assert not release_causes(turn)
    assert bench.ledger.status().total.executed == 1
    assert bench.faults() == {"quarantined_results": {"malformed": 1}}


def _off_schema(bench: CoordinatorBench, token: DispatchToken, slot: int = 0) -> FrameReceived:
    """Return a RESULT whose body is not one, under a good checksum."""

    class Odd(msgspec.Struct, frozen=True, tag_field="t", tag="result"):
        items: int = 3

    life = bench.lives[1, slot]
    frame = bench.codecs[1].seal_as(Result, Odd(), slot=slot, incarnation=life, token=token)
    return FrameReceived(1, frame)


@pytest.mark.guarantee("D8")
@pytest.mark.guarantee("J3")
@pytest.mark.parametrize("ready_first", [True, False])
@pytest.mark.parametrize("kind", ["missing", "malformed"])
def test_a_bad_result_with_its_ready_recovers_at_once(ready_first: bool, kind: str) -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    missing = kind == "missing"
    bad = bench.frame(Result((), 0, "")) if missing else _off_schema(bench, work.token)
    events = [bench.ready(work.token), bad]
    if not ready_first:
        events.reverse()
    turn = bench.turn(*events)
    assert release_causes(turn) == ["protocol"]
    assert Accepted(work.token, "recovered") in turn.of(Accepted)
    assert len(turn.works) == 1
    assert bench.faults() == {
        "quarantined_results": {kind: 1},
        "protocol_requeued": {"": 1},
    }


@pytest.mark.guarantee("D6")
@pytest.mark.guarantee("J3")
@pytest.mark.guarantee("J6")
@pytest.mark.parametrize(("slots", "prefetch"), [(1, 1), (2, 0)])
@pytest.mark.parametrize("bad", [0, 1])
def test_a_bad_result_recovers_its_own_delivery_and_only_with_its_ready(
    slots: int, prefetch: int, bad: int
) -> None:
    bench = CoordinatorBench(slots=slots, knobs=Knobs(prefetch=prefetch))
    works = bench.first_work(0, 1)
    assert len(works) == 2
    victim, other = works[bad], works[1 - bad]
    garbage = _off_schema(bench, victim.token, victim.slot)
    turn = bench.turn(garbage, bench.ready(other.token, slot=other.slot))
    assert not release_causes(turn)
    turn = bench.turn(bench.ready(victim.token, slot=victim.slot))
    released = [op.work_id for op in turn.operations if isinstance(op, Release)]
    assert released == [entry.work_id for entry in victim.work.items]


@pytest.mark.guarantee("D5")
@pytest.mark.guarantee("D6")
@pytest.mark.guarantee("J4")
def test_stale_and_unowned_messages_change_nothing_but_counters() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    stale = bench.frame(Result((), 0, ""), token=OTHER)
    turn = bench.turn(stale, bench.ready(OTHER), bench.ready(None), bench.ready(7))
    assert not release_causes(turn)
    assert not turn.works
    bench.turn(bench.result(work), bench.ready(work.token))
    assert bench.ledger.status().total.executed == 1
    assert bench.faults() == {
        "quarantined_results": {"stale": 1},
        "quarantined_ready": {"stale": 1, "missing": 1, "malformed": 1},
    }


@pytest.mark.guarantee("D5")
def test_a_result_that_is_not_current_teaches_nothing() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    bench.turn(bench.result(work))
    knowledge = bench.machine._core.knowledge
    before = knowledge.version
    (item,) = bench.execute(work)
    assert isinstance(item, Executed)
    bench.turn(bench.result(work, [msgspec.structs.replace(item, edges=packed(4000, 4008))]))
    assert bench.faults() == {"quarantined_results": {"stale": 1}}
    assert knowledge.version == before


@pytest.mark.guarantee("D5")
def test_a_result_for_a_slot_without_delivery_is_unowned() -> None:
    bench = CoordinatorBench()
    bench.join()
    turn = bench.turn(bench.frame(Result((), 0, ""), token=OTHER))
    assert Accepted(OTHER, "stale") in turn.of(Accepted)
    assert bench.faults() == {"quarantined_results": {"unowned": 1}}


def test_a_duplicate_counts_but_what_is_said_again_after_a_stall_does_not() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    bench.turn(bench.result(work))
    turn = bench.turn(bench.result(work, repeat=True), bench.ready(work.token, repeat=True))
    assert Accepted(work.token, "stale") in turn.of(Accepted)
    assert bench.faults() == {}
    bench.turn(bench.result(work))
    assert bench.faults() == {"quarantined_results": {"stale": 1}}
    assert bench.ledger.status().total.executed == 1


def test_the_same_result_twice_in_one_turn_decides_once() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    bench.turn(bench.result(work), bench.result(work), bench.result(work, repeat=True))
    assert bench.ledger.status().total.executed == 1
    assert bench.faults() == {"quarantined_results": {"stale": 1}}


@pytest.mark.guarantee("J8")
@pytest.mark.guarantee("J10")
def test_retries_are_bounded_then_the_item_is_deferred_and_comes_last() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    seen = []
    for _ in range(2):
        turn = bench.turn(bench.frame(Result((), 0, "")), bench.ready(work.token))
        seen += [type(op) for op in turn.operations if isinstance(op, Release | Defer)]
        if turn.works:
            (work,) = turn.works
    assert seen == [Release, Defer]
    turns = bench.wait(0.2, step_s=0.05)
    (again,) = [delivered for turn in turns for delivered in turn.works]
    assert again.work == work.work, "due when nothing else is open"
    faults = bench.faults()
    assert faults["protocol_deferred"] == {"": 1}
    assert faults["protocol_requeued"] == {"": 1}


@pytest.mark.guarantee("J8")
def test_a_suspect_that_was_deferred_is_due_in_its_epoch_too() -> None:
    bench = CoordinatorBench(knobs=Knobs(prefetch=0, protocol_retries=0))
    bench.ledger.run([Admit(bench.source, bench.seed(0).entries)])
    for _ in range(LOSSES_TO_SUSPECT):
        (answer,) = bench.ledger.run([Claim(0, 1)]).answers
        assert isinstance(answer, Claimed)
        (lease,) = answer.leases
        bench.ledger.run([Release(lease.work_id, lease.token, "lost", ran=True)])
    bench.join()
    (work,) = [delivered for turn in bench.wait(0.2, 0.05) for delivered in turn.works]
    turns = [bench.turn(bench.frame(Result((), 0, "")), bench.ready(work.token))]
    assert bench.faults()["protocol_deferred"] == {"": 1}
    turns += bench.wait(0.2, 0.05)
    (again,) = [delivered for turn in turns for delivered in turn.works]
    bench.turn(bench.result(again), bench.ready(again.token))
    assert bench.ledger.status().total.executed == 1


@pytest.mark.guarantee("J8")
def test_a_deferral_that_fails_keeps_the_item_in_memory_and_counts() -> None:
    bench, first = bench_with_work(protocol_retries=0)
    (work,) = first.works
    bench.fail_operations = (Defer,)
    turn = bench.turn(bench.frame(Result((), 0, "")), bench.ready(work.token))
    bench.fail_operations = ()
    again = turn.works or bench.turn().works
    assert [delivered.work for delivered in again] == [work.work]
    bench.turn(bench.result(again[0]))
    assert bench.ledger.status().total.executed == 1
    faults = bench.faults()
    assert faults["deferral_failed"] == {"": 1}
    assert "protocol_deferred" not in faults


@pytest.mark.guarantee("J6")
def test_a_new_incarnation_rolls_back_the_old_one_by_exact_token() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    bench.turn(bench.frame(Started(), token=work.token))
    old = bench.result(work)
    bench.lives[1, 0] = 77
    turn = bench.turn(bench.ready(None))
    assert release_causes(turn) == ["reborn"]
    (again,) = turn.works
    assert again.incarnation == 77
    bench.turn(old, bench.ready(None, life=1000))
    assert bench.ledger.status().total.executed == 0
    assert bench.faults() == {
        "slots_reborn": {"": 1},
        "quarantined_results": {"stale": 1},
        "quarantined_ready": {"stale": 1},
    }


@pytest.mark.guarantee("J6")
def test_a_send_that_raises_counts_as_not_delivered() -> None:
    bench = CoordinatorBench(knobs=Knobs(prefetch=0))
    bench.join()
    bench.send_fails = lambda _: True
    first = bench.turn(bench.seed(0))
    bench.send_fails = lambda _: False
    turn = bench.turn()
    assert release_causes(turn) == ["send_failed"]
    (again,) = bench.turn(after_s=0.05).works
    assert again.token != first.works[0].token, "a failed send burns its token"
    assert bench.faults() == {}


def test_a_worker_that_cannot_be_reached_is_tried_less_and_less_often() -> None:
    bench = CoordinatorBench(knobs=Knobs(prefetch=0))
    bench.join()
    bench.send_fails = lambda _: True
    tries = [len(bench.turn(bench.seed(0)).works)]
    for _ in range(400):
        assert bench.machine.next_deadline() is not None
        tries.append(len(bench.turn(after_s=0.025).works))
    assert 6 <= sum(tries) <= 8, "after 0.05, 0.1, 0.2, ... seconds in ten"
    bench.send_fails = lambda _: False
    assert sum(len(turn.works) for turn in bench.wait(6.0)) == 1


@pytest.mark.parametrize("value", [True, -1, 99, "1", None, 1.0])
def test_a_knowledge_version_that_is_none_means_a_full_snapshot(value: object) -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    bench.turn(bench.result(work), bench.ready(work.token, knowledge=value))
    assert bench.machine._core.fleet.workers[1].knowledge == 0
    assert bench.faults() == {}


def test_the_version_that_a_worker_holds_is_taken() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    bench.turn(bench.result(work))
    bench.turn(bench.ready(work.token, knowledge=1))
    assert bench.machine._core.fleet.workers[1].knowledge == 1


@pytest.mark.guarantee("J1")
def test_prefetched_deliveries_are_told_apart() -> None:
    bench = CoordinatorBench(knobs=Knobs(prefetch=1))
    bench.join()
    first, second = bench.turn(bench.seed(0, 5)).works
    bench.turn(bench.ready(first.token), _off_schema(bench, first.token), drained=False)
    turn = bench.turn(bench.result(second))
    assert first.work in [delivered.work for delivered in turn.works]
    assert bench.ledger.status().total.executed == 1


def test_frames_of_a_delivery_that_is_gone_are_counted() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    bench.turn(bench.result(work))
    bench.turn(bench.frame(Progress(3), token=work.token))
    assert bench.faults() == {"quarantined_frames": {"stale": 1}}


def test_tables_that_disagree_are_told_and_not_raised() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    slot = bench.machine._core.fleet.at(bench.machine.view().slots[0].place)
    held = slot.deliveries[0]
    held.incarnation = type(held.incarnation)(5)
    bench.clock.sleep(0.001)
    operations = bench.machine.begin_turn(
        bench.clock.monotonic(), [bench.ready(work.token)], drained=True
    )
    bench.machine.end_turn(bench.ledger.run(operations))
    held.incarnation = slot.incarnation
    assert bench.faults() == {"quarantined_ready": {"unowned": 1}}


def test_results_stay_out_of_the_ledger_while_they_are_quarantined() -> None:
    bench, first = bench_with_work()
    (work,) = first.works
    items = [item for item in bench.execute(work) if isinstance(item, Executed)]
    forged = bench.frame(Result(tuple(items), 0, ""), token=OTHER)
    bench.turn(forged)
    states = bench.ledger.status().states
    assert (states[WorkState.LEASED], states[WorkState.DONE]) == (1, 0)
