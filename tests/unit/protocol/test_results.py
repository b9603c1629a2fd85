"""A result is checked as a whole before any of it counts, and an invalid one loses nothing."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import pytest

from symfleet.protocol.codec import Codec
from symfleet.protocol.events import FrameReceived
from symfleet.protocol.item_results import (
    ChildReport,
    Executed,
    ExecutorDied,
    Flips,
    ItemResult,
    NotRun,
    Unsettled,
)
from symfleet.protocol.messages import ResetSlot, Result
from symfleet.protocol.operations import Blame, Decide, Release, StoreInputs
from symfleet.protocol.result_frames import Settled, children_digest, settle
from symfleet.protocol.setup import Knobs
from symfleet.protocol.tokens import NO_TOKEN
from symfleet.protocol.violations import LocalProtocolError
from symfleet.testing.coordinator_bench import (
    CAMPAIGN,
    CoordinatorBench,
    Delivered,
    admission,
)
from symfleet.types import (
    Epoch,
    Incarnation,
    InputId,
    Keep,
    Outcome,
    WorkId,
    WorkState,
    input_id_of,
)

OTHER_WORK = WorkId("7" * 64)
OTHER_INPUT = InputId("8" * 64)


def working(keep: Keep = Keep.ALL, **knobs: Any) -> tuple[CoordinatorBench, Delivered]:
    bench = CoordinatorBench(keep=keep, knobs=Knobs(**{"prefetch": 0, **knobs}))
    return bench, bench.first_work(0)[0]


def honest(bench: CoordinatorBench, work: Delivered) -> Executed:
    (item,) = bench.execute(work)
    assert isinstance(item, Executed)
    return item


def first_child(item: Executed, **changes: Any) -> tuple[ChildReport, ...]:
    return (msgspec.structs.replace(item.children[0], **changes), *item.children[1:])


# What a dishonest worker may say, and the reason under which it is counted.
LIES: dict[str, tuple[str, Any]] = {
    "work id of another item": ("work_id", lambda i: {"work_id": OTHER_WORK}),
    "input id of other bytes": ("input_id", lambda i: {"input_id": OTHER_INPUT}),
    "child with other bytes": ("digest", lambda i: {"children": first_child(i, data=b"x")}),
    "child without bytes": ("inventory", lambda i: {"children": first_child(i, data=None)}),
    "fewer generated than children": ("inventory", lambda i: {"generated": 0}),
    "negative count": ("range", lambda i: {"unstable": -1}),
    "absurd count": ("range", lambda i: {"solver_us": 2**63}),
    "edges not ascending": ("edges", lambda i: {"edges": bytes(8)}),
    "edges cut off": ("edges", lambda i: {"edges": b"abc"}),
    "child edges not ascending": (
        "edges",
        lambda i: {"children": first_child(i, edges=b"\1\0\0\0\0\0\0\0")},
    ),
    "not a verdict": ("outcome", lambda i: {"outcome": Outcome.STALLED}),
    "direction": ("range", lambda i: {"children": first_child(i, direction=2)}),
}


@pytest.mark.guarantee("A5")
@pytest.mark.guarantee("A6")
@pytest.mark.guarantee("L7")
@pytest.mark.parametrize("lie", LIES)
def test_an_invalid_result_decides_nothing_and_its_item_comes_first(lie: str) -> None:
    reason, change = LIES[lie]
    bench, work = working()
    item = honest(bench, work)
    said = msgspec.structs.replace(item, **change(item))
    turn = bench.turn(bench.result(work, [said]), bench.seed(3))
    assert not [op for op in turn.operations if isinstance(op, Decide)]
    (release,) = [op for op in turn.operations if isinstance(op, Release)]
    assert (release.cause, release.at_head) == ("invalid", True)
    assert turn.of(ResetSlot) == [ResetSlot()]
    bench.lives[1, 0] = 2
    turn = bench.turn(bench.ready(None))
    assert turn.works[0].work == work.work, "the item goes to the head"
    faults = bench.faults()
    assert faults["invalid_results"] == {reason: 1}
    mismatch = {"id_mismatches": {reason: 1}} if reason.endswith("_id") else {}
    assert {k: v for k, v in faults.items() if k == "id_mismatches"} == mismatch


def lying(bench: CoordinatorBench, work: Delivered) -> FrameReceived:
    return bench.result(work, [msgspec.structs.replace(honest(bench, work), unstable=-1)])


@pytest.mark.guarantee("J3")
def test_what_is_to_be_recovered_pays_its_retry_though_its_slot_is_reset_in_that_turn() -> None:
    """Else an item that answers garbage next to one that lies would go round for ever."""
    bench = CoordinatorBench(knobs=Knobs(prefetch=1))
    (first,) = bench.first_work(0)
    (second,) = bench.turn(bench.seed(1)).works
    bench.turn(bench.frame(Result((), 0, "")))  # names no delivery: marks the slot
    bench.turn(bench.ready(first.token), drained=False)
    turn = bench.turn(lying(bench, second))
    causes = {op.work_id: op.cause for op in turn.operations if isinstance(op, Release)}
    assert causes == {
        first.work.items[0].work_id: "protocol",
        second.work.items[0].work_id: "invalid",
    }
    assert turn.of(ResetSlot) == [ResetSlot()]
    assert bench.faults()["protocol_requeued"] == {"": 1}


def test_two_invalid_results_of_one_slot_reset_it_once() -> None:
    bench = CoordinatorBench(knobs=Knobs(prefetch=1))
    works = [*bench.first_work(0), *bench.turn(bench.seed(1)).works]
    assert len(works) == 2
    turn = bench.turn(*(lying(bench, work) for work in works))
    assert turn.of(ResetSlot) == [ResetSlot()]


def test_a_slot_that_came_back_before_its_reset_is_not_reset() -> None:
    bench, work = working()
    assert not bench.turn(lying(bench, work), drained=False).of(ResetSlot)
    bench.lives[1, 0] = 2
    turn = bench.turn(bench.ready(None))
    assert not turn.of(ResetSlot)
    assert len(turn.works) == 1


@pytest.mark.parametrize("outcome", [Outcome.STALLED, Outcome.KILLED])
def test_a_child_without_a_verdict_is_judged_by_its_own_execution(outcome: Outcome) -> None:
    """A target that sleeps or kills itself on one child must not cost its parent the result."""
    bench, work = working()
    item = honest(bench, work)
    said = msgspec.structs.replace(item, children=first_child(item, outcome=outcome))
    turn = bench.turn(bench.result(work, [said]))
    (decide,) = [op for op in turn.operations if isinstance(op, Decide)]
    assert outcome in {child.outcome for child in decide.children}
    assert "invalid_results" not in bench.faults()


@pytest.mark.guarantee("A6")
def test_a_result_with_the_wrong_number_of_items_is_invalid() -> None:
    bench, work = working()
    item = honest(bench, work)
    turn = bench.turn(bench.result(work, [item, item]))
    assert bench.faults()["invalid_results"] == {"inventory": 1}
    assert not [op for op in turn.operations if isinstance(op, Decide)]
    (release,) = [op for op in turn.operations if isinstance(op, Release)]
    assert (release.cause, release.at_head) == ("invalid", True)


def test_a_lost_child_is_noticed_by_the_digest_over_all() -> None:
    bench, work = working()
    item = honest(bench, work)
    fewer = msgspec.structs.replace(item, children=item.children[1:])
    frame = bench.frame(
        Result((fewer,), 0, children_digest(c.digest for c in item.children)), token=work.token
    )
    bench.turn(frame)
    assert bench.faults()["invalid_results"] == {"inventory": 1}


def test_an_invalid_result_again_and_again_ends_in_a_deferral() -> None:
    bench, work = working(protocol_retries=0)
    bench.core.breaker.success("another host")  # so it is not the engine
    item = msgspec.structs.replace(honest(bench, work), unstable=-1)
    bench.turn(bench.result(work, [item]))
    assert bench.faults()["protocol_deferred"] == {"": 1}


@pytest.mark.guarantee("C7")
def test_children_found_twice_in_one_result_are_one() -> None:
    bench, work = working()
    item = honest(bench, work)
    twice = msgspec.structs.replace(
        item, children=(*item.children, *item.children), generated=len(item.children)
    )
    bench.turn(bench.result(work, [twice]))
    assert bench.ledger.status().total.executed == 1
    assert bench.faults() == {}


def test_a_decision_that_failed_is_tried_again_when_the_result_is_said_again() -> None:
    bench, work = working()
    bench.fail_operations = (Decide,)
    turn = bench.turn(bench.result(work))
    assert not turn.messages, "no answer, so that the worker says it again"
    bench.fail_operations = ()
    bench.turn(bench.result(work, repeat=True))
    assert bench.ledger.status().total.executed == 1
    assert bench.faults() == {}


def test_a_decision_that_fails_for_ever_gives_its_item_back() -> None:
    bench, work = working()
    bench.fail_operations = (Decide,)
    for _ in range(3):
        bench.turn(bench.result(work, repeat=True))
    bench.fail_operations = ()
    turn = bench.turn()
    assert [op.cause for op in turn.operations if isinstance(op, Release)] == ["protocol"]


# ---- large results ------------------------------------------------------------------------------


def large(bench: CoordinatorBench, work: Delivered, count: int, size: int) -> Executed:
    item = honest(bench, work)
    blobs = [bytes([n % 256]) * (size + n) for n in range(count)]
    reports = tuple(
        msgspec.structs.replace(item.children[0], digest=input_id_of(blob), data=blob)
        for blob in blobs
    )
    return msgspec.structs.replace(item, children=reports, generated=count)


@pytest.mark.guarantee("D3")
def test_a_result_larger_than_a_frame_comes_in_parts_and_is_decided_whole() -> None:
    bench, work = working(frame_mib=1 + 1)
    item = large(bench, work, 12, 500_000)
    settled = settle(work.token, [item], bench.codecs[1].body_bytes_max())
    assert len(settled.parts) >= 3
    frames = settled.frames(bench.codecs[1], 0, 1000, repeat=False)
    events = [type(bench.ready())(1, frame) for frame in frames]
    turns = [bench.turn(event) for event in events]
    stored = [op for turn in turns for op in turn.operations if isinstance(op, StoreInputs)]
    assert sum(len(op.inputs) for op in stored) == 12
    (decide,) = [op for op in turns[-1].operations if isinstance(op, Decide)]
    assert len(decide.children) == 12
    assert all(child.data is None for child in decide.children)
    status = bench.ledger.status()
    assert (status.total.executed, status.corpus) == (1, 13)
    assert bench.faults() == {}


def test_a_result_whose_part_is_lost_is_recovered_and_not_lost() -> None:
    bench, work = working(frame_mib=1 + 1)
    settled = settle(work.token, [large(bench, work, 12, 500_000)], 2_000_000)
    frames = settled.frames(bench.codecs[1], 0, 1000, repeat=False)
    kept = [type(bench.ready())(1, frame) for frame in (*frames[:1], *frames[2:])]
    turn = bench.turn(*kept, bench.ready(work.token))
    assert [op.cause for op in turn.operations if isinstance(op, Release)] == ["protocol"]
    assert bench.faults() == {
        "quarantined_results": {"malformed": 1},
        "protocol_requeued": {"": 1},
    }


def test_a_part_with_damaged_children_cannot_be_used() -> None:
    bench, work = working(frame_mib=1 + 1)
    item = large(bench, work, 4, 600_000)
    damaged = msgspec.structs.replace(item, children=first_child(item, data=b"other"))
    settled = settle(work.token, [damaged], 1_500_000)
    frames = settled.frames(bench.codecs[1], 0, 1000, repeat=False)
    bench.turn(*[type(bench.ready())(1, frame) for frame in frames])
    assert bench.ledger.status().total.executed == 0
    assert bench.faults() == {"quarantined_results": {"malformed": 1}}


@pytest.mark.guarantee("D3")
def test_no_result_leaves_without_a_token() -> None:
    codec = Codec(CAMPAIGN, Epoch(1), 1, 1 << 20)
    with pytest.raises(LocalProtocolError):
        Settled(NO_TOKEN, (), Result(())).frames(codec, 0, 1, repeat=False)


# ---- translation --------------------------------------------------------------------------------


@pytest.mark.parametrize(("keep", "follows"), [(Keep.NOVEL, True), (Keep.ALL, False)])
def test_a_truncated_search_goes_on_from_where_it_stopped(keep: Keep, follows: bool) -> None:
    bench, work = working(keep)
    item = msgspec.structs.replace(honest(bench, work), truncated=12)
    turn = bench.turn(bench.result(work, [item]))
    (decide,) = [op for op in turn.operations if isinstance(op, Decide)]
    if not follows:
        assert decide.follow_up is None
        return
    expected = admission(bench.program.data(0), bound=12)
    assert decide.follow_up is not None
    assert decide.follow_up.work_id == expected.work_id


def test_a_follow_up_that_gains_nothing_is_not_made() -> None:
    bench, work = working(Keep.NOVEL)
    item = msgspec.structs.replace(honest(bench, work), truncated=0)
    (decide,) = [
        op for op in bench.turn(bench.result(work, [item])).operations if isinstance(op, Decide)
    ]
    assert decide.follow_up is None


def decided(bench: CoordinatorBench, work: Delivered, **change: Any) -> Decide:
    item = msgspec.structs.replace(honest(bench, work), **change)
    (decide,) = [
        op for op in bench.turn(bench.result(work, [item])).operations if isinstance(op, Decide)
    ]
    return decide


@pytest.mark.parametrize(
    ("change", "limits"),
    [
        ({}, ()),
        ({"outcome": Outcome.TIMEOUT, "children": (), "generated": 0}, ("time",)),
        ({"outcome": Outcome.CPU}, ("time",)),
        ({"degraded": ("time",)}, ("time",)),
        ({"degraded": ("time",), "truncated": 3}, ("time",)),
        ({"outcome": Outcome.FLOOD, "degraded": ("time",)}, ("output",)),
        ({"outcome": Outcome.OOM, "degraded": ("time",)}, ("memory",)),
        ({"degraded": ("rows", "events")}, ("events", "rows")),
        ({"degraded": ("a word of another engine",)}, ("a word of another engine",)),
        ({"degraded": ("goals",), "truncated": 3}, ("goals",)),
        ({"truncated": 3}, ("bytes",)),
        ({"flips": Flips(timeout=1)}, ("solver",)),
        ({"flips": Flips(unknown=1)}, ("solver",)),
        ({"flips": Flips(sat=1, unsat=4, skipped=2)}, ()),
        ({"left_out": {"child_size": 2}}, ("child_size",)),
    ],
)
def test_whatever_a_limit_cut_off_makes_the_execution_not_exhaustive(
    change: dict[str, Any], limits: tuple[str, ...]
) -> None:
    bench, work = working()
    decide = decided(bench, work, **change)
    assert (decide.cut_off, decide.not_exhaustive) == (limits, bool(limits))
    total = bench.ledger.status().total
    assert total.not_exhaustive == bool(limits)
    assert total.cut_off == dict.fromkeys(limits, 1)
    assert total.left_out == change.get("left_out", {})


def test_as_many_children_as_are_allowed_are_what_a_search_stopped_at() -> None:
    bench = CoordinatorBench(keep=Keep.ALL, knobs=Knobs(prefetch=0, result_children=1))
    (work,) = bench.first_work(0)
    one = honest(bench, work).children[:1]
    decide = decided(bench, work, children=one, truncated=3, degraded=("goals",))
    assert decide.cut_off == ("children",)


def test_what_a_follow_up_goes_on_with_is_not_cut_off() -> None:
    bench, work = working(Keep.NOVEL)
    decide = decided(bench, work, truncated=12, degraded=("goals", "rows"))
    assert decide.follow_up is not None
    assert decide.cut_off == ("rows",)


def test_a_negative_number_of_lost_children_is_invalid() -> None:
    bench, work = working()
    item = msgspec.structs.replace(honest(bench, work), left_out={"children": -1})
    bench.turn(bench.result(work, [item]))
    assert bench.faults()["invalid_results"] == {"range": 1}


def test_items_of_a_bundle_that_did_not_run_go_back_unblamed() -> None:
    bench, work = working()
    entry = work.work.items[0]
    (item,) = bench.execute(work)
    assert isinstance(item, Executed)
    cases: list[tuple[ItemResult, str, bool]] = [
        (NotRun(entry.work_id), "prefetched", False),
        (Unsettled(entry.work_id, item.input_id, "stalled"), "stalled", True),
        (Unsettled(entry.work_id, item.input_id, "killed"), "killed", True),
        (Unsettled(entry.work_id, item.input_id, "cancelled"), "cancelled", False),
    ]
    for result, cause, ran in cases:
        turn = bench.turn(bench.result(work, [result]), bench.ready(work.token))
        (release,) = [op for op in turn.operations if isinstance(op, Release)]
        assert (release.cause, release.ran) == (cause, ran)
        found = turn.works or [w for t in bench.wait(0.3, step_s=0.05) for w in t.works]
        (work,) = found
    assert bench.faults() == {}


# ---- blame and the breaker ----------------------------------------------------------------------


def death(work: Delivered, executor: int, **changes: Any) -> ExecutorDied:
    entry = work.work.items[0]
    evidence: dict[str, Any] = {
        "detail": "segfault in the engine",
        "signal": 11,
        "memory_evidence": False,
        "selftest_ok": True,
        **changes,
    }
    return ExecutorDied(
        entry.work_id, input_id_of(entry.data), executor=Incarnation(executor), **evidence
    )


def test_three_deaths_of_three_executors_poison_the_item() -> None:
    bench, work = working()
    kinds: list[type] = []
    for executor in (1, 2, 3):
        turn = bench.turn(bench.result(work, [death(work, executor)]), bench.ready(work.token))
        kinds += [type(op) for op in turn.operations if isinstance(op, Blame | Release)]
        if turn.works:
            (work,) = turn.works
    assert kinds == [Blame, Blame, Blame]
    assert bench.ledger.status().states[WorkState.POISONED] == 1
    assert bench.faults() == {"blames": {"": 3}}


def test_an_unexplained_sigkill_blames_nobody() -> None:
    bench, work = working()
    turn = bench.turn(bench.result(work, [death(work, 1, signal=9)]))
    assert [op.cause for op in turn.operations if isinstance(op, Release)] == ["killed"]
    (work,) = turn.works
    turn = bench.turn(bench.result(work, [death(work, 2, signal=9, memory_evidence=True)]))
    assert [type(op) for op in turn.operations if isinstance(op, Blame | Release)] == [Blame]


def test_a_failed_self_test_pauses_the_host_and_the_job_ends_clean() -> None:
    bench, work = working()
    turn = bench.turn(bench.result(work, [death(work, 1, selftest_ok=False)]))
    assert [type(op) for op in turn.operations if isinstance(op, Blame | Release)] == [Release]
    assert bench.machine.view().hosts_paused == ("host 1",)
    turns = bench.wait(121.0)
    finish = next(turn.finish for turn in turns if turn.finish)
    assert finish.exit_code == 69
    assert bench.ledger.status().states[WorkState.PENDING] == 1
    assert "blames" not in bench.ledger.status().faults_total


def test_five_failures_without_a_success_pause_the_host() -> None:
    bench = CoordinatorBench(slots=2, knobs=Knobs(prefetch=0))
    works = bench.first_work(0, 3)
    for executor in range(5):
        work = works[executor % 2]
        turn = bench.turn(bench.result(work, [death(work, executor + 1)]), bench.ready(work.token))
        if turn.works:
            works[executor % 2] = turn.works[0]
    assert bench.machine.view().hosts_paused == ("host 1",)
    assert bench.ledger.status().faults_total["blames"] == {"": 4}, "the fifth blames nobody"


def test_children_digest_is_that_of_the_concatenation() -> None:
    digests = [InputId("a" * 64), InputId("b" * 64)]
    assert children_digest(digests) == hashlib.sha256(b"a" * 64 + b"b" * 64).hexdigest()


@pytest.mark.guarantee("A6")
def test_a_result_that_announces_more_parts_than_there_can_be_is_malformed_at_once() -> None:
    bench = CoordinatorBench()
    (work,) = bench.first_work(0)
    items = tuple(bench.execute(work))
    huge = Result(items, 2**40, "")
    bench.turn(bench.frame(huge, rank=work.rank, slot=work.slot, token=work.token))
    assert bench.faults() == {"quarantined_results": {"malformed": 1}}


@pytest.mark.guarantee("A6")
@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_an_engine_that_never_worked_is_paused_before_any_item_is_held_to_account(
    nodes: int,
) -> None:
    """E16, with so few items that each would spend all its retries."""
    bench = CoordinatorBench()
    works = bench.first_work(*range(nodes))
    for life in range(100, 120):
        (work, *_) = works
        lies = [msgspec.structs.replace(item, unstable=-1) for item in bench.execute(work)]
        turn = bench.turn(bench.result(work, lies))
        if bench.core.breaker.paused:
            break
        bench.lives[1, 0] = life
        works = bench.turn(bench.ready()).works or turn.works
    states = {state: n for state, n in bench.ledger.status().states.items() if n}
    assert states.keys() <= {WorkState.PENDING, WorkState.LEASED}
    assert sum(states.values()) == nodes
    assert bench.faults()["invalid_results"] == {"range": bench.knobs.blames_to_pause}
