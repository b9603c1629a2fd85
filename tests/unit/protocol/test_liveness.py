"""The progress rule: silence, parking, resets, lost ranks, late turns. Duration never matters."""

from __future__ import annotations

import pytest

from symfleet.protocol.events import GiveUpRank, RankLost, StopRequested
from symfleet.protocol.messages import (
    NO_PLACE,
    Beat,
    Progress,
    Refused,
    ResetSlot,
    Started,
    StopAck,
)
from symfleet.protocol.operations import Release
from symfleet.protocol.setup import Knobs
from symfleet.testing.coordinator_bench import CoordinatorBench, Delivered, Turn
from symfleet.types import WorkState

SILENCE_S = 30.0
ROOT_SILENCE_S = 15.0


def released(turns: list[Turn]) -> list[tuple[str, bool]]:
    return [
        (op.cause, op.ran) for turn in turns for op in turn.operations if isinstance(op, Release)
    ]


def given_up(turns: list[Turn]) -> list[int]:
    return [a.rank for turn in turns for a in turn.actions if isinstance(a, GiveUpRank)]


def working(prefetch: int = 0, workers: int = 1) -> tuple[CoordinatorBench, list[Delivered]]:
    bench = CoordinatorBench(workers=workers, knobs=Knobs(prefetch=prefetch))
    return bench, bench.first_work(*range(workers * (prefetch + 1)))


def test_a_delivery_that_makes_progress_is_never_given_up() -> None:
    bench, (work,) = working()
    bench.turn(bench.frame(Started(), token=work.token))
    for counter in range(20):
        assert not released(bench.wait(25.0))
        bench.turn(bench.frame(Progress(counter), token=work.token))
    assert bench.faults() == {}


def test_silence_rolls_back_parks_and_later_resets_the_slot() -> None:
    bench, (running, queued) = working(prefetch=1)
    bench.turn(bench.frame(Started(), token=running.token))
    assert not released(bench.wait(SILENCE_S - 1))
    turns = bench.wait(1.5)
    assert released(turns) == [("prefetched", False), ("silence", True)]
    assert bench.machine.view().slots[0].state == "parked"
    assert not [turn for turn in turns if turn.works], "a parked slot gets nothing"
    bench.turn(bench.frame(Beat()))
    turns = bench.wait(SILENCE_S)
    assert [message for turn in turns for message in turn.of(ResetSlot)] == [ResetSlot()]
    bench.lives[1, 0] = 5
    bench.turn(bench.hello())
    turn = bench.turn(bench.ready(None))
    assert {d.work for d in turn.works} == {running.work, queued.work}
    assert bench.faults() == {"silence_timeouts": {"": 1}, "slots_reborn": {"": 1}}


@pytest.mark.guarantee("J6")
def test_parking_ends_with_ready_of_exactly_the_retired_token() -> None:
    bench, (work,) = working()
    bench.wait(SILENCE_S + 1)
    bench.turn(bench.ready(None, repeat=True))
    assert bench.machine.view().slots[0].state == "parked"
    turn = bench.turn(bench.result(work), bench.ready(work.token))
    assert bench.machine.view().slots[0].state == "open"
    assert [delivered.work for delivered in turn.works] == [work.work]
    assert bench.faults() == {
        "silence_timeouts": {"": 1},
        "slots_recovered": {"": 1},
        "quarantined_results": {"unowned": 1},
    }


def test_what_a_silent_worker_may_still_hold_takes_its_places() -> None:
    bench, (first, second) = working(prefetch=1)
    bench.wait(SILENCE_S + 1)
    turn = bench.turn(bench.ready(first.token))
    assert len(turn.works) == 1, "the second delivery may still be queued there"
    turn = bench.turn(bench.ready(second.token))
    assert len(turn.works) == 1


def test_a_worker_without_a_place_is_left_alone_until_it_has_one() -> None:
    bench, (work,) = working()
    turn = bench.turn(bench.frame(Refused(NO_PLACE), token=work.token))
    assert released([turn]) == [("prefetched", False)]
    assert not turn.works
    turn = bench.turn(bench.ready(None))
    assert [delivered.work for delivered in turn.works] == [work.work]


def test_a_refused_work_goes_back_by_the_retry_budget() -> None:
    bench, (work,) = working()
    turn = bench.turn(bench.frame(Refused("digest: other bytes"), token=work.token))
    assert released([turn]) == [("protocol", False)]
    assert [delivered.work for delivered in turn.works] == [work.work]


def test_a_reset_that_is_never_answered_gives_up_the_rank() -> None:
    bench, (_,) = working(workers=1)
    turns = bench.wait(2 * SILENCE_S + 61)
    assert [a for turn in turns for a in turn.actions if isinstance(a, GiveUpRank)] == [
        GiveUpRank(1)
    ]


def test_a_slot_that_cannot_be_reset_is_lost_and_the_job_ends_with_70() -> None:
    bench, (_,) = working()
    finish = None
    for _ in range(1200):
        turn = bench.turn(bench.ready(None, life=4242, slot=9), after_s=0.5)  # it does speak
        finish = finish or turn.finish
        if finish:
            break
    assert finish is not None
    assert (finish.reason, finish.exit_code, finish.restart) == ("no slot can be reset", 70, False)
    assert bench.ledger.status().states[WorkState.LEASED] == 0


@pytest.mark.guarantee("Q4")
def test_a_lost_rank_gives_everything_back_and_survivors_go_on() -> None:
    bench, works = working(workers=4)
    bench.turn(bench.frame(Started(), token=works[0].token))
    lost = works[0]
    turn = bench.turn(RankLost(lost.rank))
    assert released([turn]) == [("lost", True)]
    other = next(work for work in works if work.rank != lost.rank)
    turn = bench.turn(bench.result(other))
    assert lost.work in [delivered.work for delivered in turn.works]


def test_when_every_worker_is_lost_the_epoch_ends_without_a_verdict() -> None:
    bench, works = working(workers=1)
    turns = [bench.turn(RankLost(works[0].rank)), *bench.wait(1.0)]
    finish = next(turn.finish for turn in turns if turn.finish)
    assert finish.restart
    epoch = bench.ledger.status().epoch
    assert epoch is not None
    assert epoch.reason is None


def test_a_worker_that_never_says_hello_is_given_up() -> None:
    bench = CoordinatorBench(workers=2)
    bench.scan = False
    bench.turn(bench.hello(1))
    bench.turn(bench.ready(None))
    turns = []
    for _ in range(11):
        turns += bench.wait(11.0)
        turns.append(bench.turn(bench.frame(Beat())))
    assert given_up(turns) == [2]


@pytest.mark.guarantee("J6")
def test_a_worker_that_answers_no_beat_is_dead_and_its_work_goes_to_others() -> None:
    bench, works = working(workers=2)
    bench.turn(bench.frame(Progress(1), token=works[0].token))
    assert not given_up(bench.wait(SILENCE_S + ROOT_SILENCE_S - 1))
    assert given_up(bench.wait(2.0)) == [1, 2]


@pytest.mark.guarantee("Q4")
def test_the_end_does_not_wait_its_whole_grace_for_a_dead_worker() -> None:
    bench, _ = working(workers=2)
    bench.turn(StopRequested("enough", 0, 0.0))
    bench.turn(bench.frame(StopAck(1), slot=None, rank=1))
    turns = bench.wait(SILENCE_S + ROOT_SILENCE_S + 1)
    turns = [turn for turn in turns if turn.actions]
    assert given_up(turns) == [2]
    assert turns[-1].finish is not None


def test_a_worker_without_work_that_answers_beats_is_never_given_up() -> None:
    bench = CoordinatorBench(workers=1)
    bench.scan = False
    bench.turn(bench.hello())
    bench.turn(bench.ready(None))
    for _ in range(40):
        turns = bench.wait(SILENCE_S)
        assert [message for turn in turns for message in turn.of(Beat)], "it is asked"
        assert not given_up(turns)
        bench.turn(bench.frame(Beat()))
    assert bench.faults() == {}


def test_a_late_turn_moves_every_deadline_and_sweeps_nothing() -> None:
    bench, (work,) = working()
    bench.turn(bench.frame(Started(), token=work.token))
    turn = bench.turn(after_s=3600.0)
    assert not released([turn])
    assert not released(bench.wait(SILENCE_S - 2))
    assert released(bench.wait(4.0)) == [("silence", True)]


def test_turns_that_are_always_late_still_let_workers_hear_a_beat() -> None:
    """Their clocks have not stood still."""
    bench = CoordinatorBench()
    bench.join()
    bench.scan = False
    turns = [bench.turn(after_s=4.0, drained=False) for _ in range(5)]
    assert all(turn.of(Beat) for turn in turns)


def test_time_goes_on_while_the_transport_is_never_seen_empty() -> None:
    """A sweep that is due must wait; what is told by the clock must not."""
    bench, (work,) = working()
    bench.turn(bench.frame(Started(), token=work.token))
    beats = 0
    for _ in range(600):
        turn = bench.turn(after_s=0.1, drained=False)
        assert not released([turn])
        beats += len(turn.of(Beat))
    assert 60 / (ROOT_SILENCE_S / 3) - 2 <= beats <= 60 / (ROOT_SILENCE_S / 3) + 2
    assert released(bench.wait(1.0)) == [("silence", True)]


def test_workers_that_nobody_speaks_to_hear_a_beat() -> None:
    bench = CoordinatorBench()
    bench.join()
    bench.scan = False
    beats = [m for turn in bench.wait(15.0) for m in turn.of(Beat)]
    assert 2 <= len(beats) <= 3
