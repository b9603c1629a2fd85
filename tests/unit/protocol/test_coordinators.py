"""What one of several coordinators tells the others, hears of them, and does when one is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import msgspec
import pytest

from symfleet.protocol.answers import Claimed
from symfleet.protocol.events import (
    Finish,
    FrameReceived,
    GiveUpRank,
    Publish,
    RankLost,
    Scan,
    StopRequested,
    TurnRefused,
)
from symfleet.protocol.fleet import WorkerPhase
from symfleet.protocol.knowledge import unpack
from symfleet.protocol.messages import (
    Adopt,
    AnyMessage,
    Beat,
    Closed,
    EndEpoch,
    Knowledge,
    Message,
    News,
    Orphans,
    PeerFailed,
    Prepare,
    Refuse,
    Stop,
    StopAck,
    Vote,
    VoteVoid,
    Welcome,
    WorkEntry,
    WorkerFault,
)
from symfleet.protocol.operations import (
    Admit,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    Defer,
    RecordAck,
    Release,
    TakeOver,
)
from symfleet.protocol.setup import Knobs, SourceSetup
from symfleet.testing.coordinator_bench import CoordinatorBench, Turn
from symfleet.types import Keep, WorkState

Kind = TypeVar("Kind", bound=Message)

ROOT, PEER, ORPHAN = 9, 9, 7
"""Ranks in a bench whose own coordinator has rank 0, whatever its number."""

NEWS = News(
    changes=0,
    pending=0,
    open_work=0,
    leased=0,
    last_artefact=0,
    edges=b"",
    known=1,
    workers=1,
    waiting=0,
    slots=1,
    usable=1,
    places=1,
    in_flight=0,
    paused="",
    faulty=False,
)


def news(**facts: object) -> News:
    """Return the News of a healthy coordinator with one idle worker, but for some facts."""
    return News(**{**{name: getattr(NEWS, name) for name in NEWS.__struct_fields__}, **facts})


def peer_bench(**more: object) -> CoordinatorBench:
    return CoordinatorBench(number=1, peers=(ROOT,), **more)  # type: ignore[arg-type]


def root_bench(**more: object) -> CoordinatorBench:
    return CoordinatorBench(peers=(PEER,), orphans=(ORPHAN,), **more)  # type: ignore[arg-type]


def say(bench: CoordinatorBench, *messages: AnyMessage, rank: int = PEER) -> Turn:
    return bench.turn(*(bench.frame(message, rank=rank, slot=None) for message in messages))


def told(turns: list[Turn], rank: int, kind: type[Kind]) -> list[Kind]:
    return [
        message
        for turn in turns
        for to, _, message in turn.messages
        if to == rank and isinstance(message, kind)
    ]


# ---- News ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("every_s", [0.1, 4.0])
def test_others_hear_of_a_coordinator_that_never_catches_up(every_s: float) -> None:
    """Overloaded, its transport is never seen empty, and its turns may all be late: still nobody
    is to think that it is gone."""
    bench = root_bench()
    bench.first_work(0)
    silent_s = longest_s = 0.0
    for _ in range(round(120 / every_s)):
        turn = bench.turn(after_s=every_s, drained=False)
        silent_s = 0.0 if told([turn], PEER, News) else silent_s + every_s
        longest_s = max(longest_s, silent_s)
    assert longest_s <= bench.knobs.root_silence_s / 3 + every_s


def test_new_edges_reach_the_other_group_and_go_on_to_its_workers() -> None:
    bench = root_bench(keep=Keep.NOVEL)
    (work, *_) = bench.first_work(0)
    turns = [bench.turn(bench.result(work), bench.ready(work.token)), *bench.wait(0.1, 0.01)]
    edges = b"".join(n.edges for n in told(turns, PEER, News))
    assert set(unpack(bench.program.edges(0))) <= set(unpack(edges))
    other = peer_bench(keep=Keep.NOVEL)
    other.join()
    say(other, news(changes=1, edges=edges))
    turn = other.turn(other.seed(3))
    known = [m for m in turn.of(Knowledge) if isinstance(m, Knowledge)]
    assert [m.edges for m in known] == [edges]


def test_no_execution_depends_on_the_fleet_when_everything_is_kept() -> None:
    bench = root_bench(keep=Keep.ALL)
    (work, *_) = bench.first_work(0)
    turns = [bench.turn(bench.result(work), bench.ready(work.token)), *bench.wait(0.1, 0.01)]
    assert {n.edges for n in told(turns, PEER, News)} == {b""}


def test_news_of_pending_work_make_a_coordinator_with_free_places_claim() -> None:
    bench = peer_bench()
    bench.join()
    assert not [op for turn in bench.wait(0.5, 0.1) for op in turn.operations if is_claim(op)]
    turn = say(bench, news(changes=5, pending=3, open_work=3))
    assert [op for op in turn.operations if is_claim(op)]
    turn = say(bench, news(changes=0, pending=3, open_work=3))
    assert not [op for op in turn.operations if is_claim(op)], "older News change nothing"


def is_claim(operation: object) -> bool:
    return isinstance(operation, Claim)


def test_news_are_rare_whatever_happens_and_come_as_a_beat_when_nothing_does() -> None:
    bench = peer_bench(workers=2, slots=2)
    (*works,) = bench.first_work(*range(7))
    turns = [
        bench.turn(bench.result(work), bench.ready(work.token, rank=work.rank)) for work in works
    ]
    assert len(told(turns, ROOT, News)) <= 1, "at most one in 20 ms"
    quiet = bench.wait(30.0, 0.5)
    beats = told(quiet, ROOT, News)
    assert 5 <= len(beats) <= 10


def test_what_others_decided_is_published_here_too() -> None:
    bench = root_bench()
    bench.join()
    turn = say(bench, news(changes=5, last_artefact=4))
    assert Publish(4) in turn.actions


# ---- the vote -----------------------------------------------------------------------------------


@pytest.mark.guarantee("Q1")
@pytest.mark.guarantee("Q2")
def test_a_peer_takes_its_yes_back_when_work_appears_elsewhere() -> None:
    bench = peer_bench()
    bench.join()
    changes = bench.machine._core.frontier.changes
    turns = [say(bench, Prepare(2, "m", changes)), *bench.wait(0.3, 0.1)]
    assert [(v.round, v.idle) for v in told(turns, ROOT, Vote)] == [(2, True)]
    bench.ledger.run([Admit(bench.source, bench.seed(0).entries)])
    turn = say(bench, news(changes=changes + 1, pending=1, open_work=1))
    assert [(v.round, v.idle) for v in told([turn], ROOT, Vote)] == [(2, False)]


@pytest.mark.guarantee("Q3")
def test_a_void_round_frees_a_frozen_source_again() -> None:
    bench = peer_bench()
    bench.join()
    changes = bench.machine._core.frontier.changes
    say(bench, Prepare(2, "m", changes))
    bench.wait(0.3, 0.1)
    assert not [op for op in bench.turn(bench.seed(0)).operations if isinstance(op, Admit)]
    say(bench, VoteVoid(1, "another round"))
    assert not [op for op in bench.turn(bench.seed(0)).operations if isinstance(op, Admit)]
    say(bench, VoteVoid(2, "work appeared"))
    assert [op for op in bench.turn(bench.seed(0)).operations if isinstance(op, Admit)]


@pytest.mark.guarantee("Q1")
@pytest.mark.guarantee("Q2")
def test_a_no_voids_the_round_for_everybody() -> None:
    bench = root_bench()
    bench.join()
    (prepare,) = told(bench.wait(1.5, 0.1), PEER, Prepare)
    assert isinstance(prepare, Prepare)
    turn = say(bench, Vote(prepare.round, prepare.members, prepare.changes, False, "work"))
    assert told([turn], PEER, VoteVoid) == [VoteVoid(prepare.round, "a coordinator has work")]
    assert not [op for op in turn.operations if isinstance(op, CommitQuiescence)]


@pytest.mark.guarantee("Q2")
def test_work_that_came_and_went_elsewhere_begins_the_idle_window_anew() -> None:
    bench = root_bench()
    bench.join()
    bench.wait(0.8, 0.1)
    changes = bench.machine._core.frontier.changes
    say(bench, news(changes=changes + 2))
    assert not told(bench.wait(0.9, 0.1), PEER, Prepare)
    assert told(bench.wait(0.3, 0.1), PEER, Prepare)


# ---- the end ------------------------------------------------------------------------------------


def ended(bench: CoordinatorBench, *closed: AnyMessage) -> list[Turn]:
    bench.join()
    say(bench, news(changes=1))
    turns = [bench.turn(StopRequested("max-time", 0, 0.0))]
    turns.append(bench.turn(bench.frame(StopAck(1), slot=None)))
    turns.append(say(bench, *closed))
    return [*turns, *bench.wait(140.0 if not closed else 1.0, 0.5)]


@pytest.mark.guarantee("Q4")
def test_the_root_closes_when_every_coordinator_has_and_its_verdict_knows_their_faults() -> None:
    healthy = ended(root_bench(), Closed(3, 3, (), faulty=False))
    assert told(healthy, PEER, EndEpoch)
    (finish,) = [turn.finish for turn in healthy if turn.finish]
    assert finish.exit_code == 0
    (finish,) = [t.finish for t in ended(root_bench(), Closed(3, 3, (), faulty=True)) if t.finish]
    assert finish.exit_code == 2
    named = Closed(2, 3, ("worker 7",), faulty=False)
    (finish,) = [turn.finish for turn in ended(root_bench(), named) if turn.finish]
    assert finish.exit_code == 2


@pytest.mark.guarantee("Q4")
def test_a_coordinator_that_never_closes_is_named_with_its_workers() -> None:
    bench = root_bench(knobs=Knobs(root_silence_s=1000.0))
    turns = ended(bench)
    acks = [op for turn in turns for op in turn.operations if isinstance(op, RecordAck)]
    assert [(ack.coordinator, ack.acknowledged, ack.total) for ack in acks] == [
        (0, 1, 1),
        (1, 0, 1),
    ]
    assert acks[1].missing == ("coordinator 1 (rank 9)", "worker 7")
    (finish,) = [turn.finish for turn in turns if turn.finish]
    assert finish.exit_code == 2


@pytest.mark.guarantee("Q4")
def test_a_peer_acknowledges_its_slots_says_closed_and_writes_no_verdict() -> None:
    bench = peer_bench(workers=2, slots=3)
    bench.join()
    turn = say(bench, EndEpoch("quiescent", 0.0, control=False, restart=False))
    assert len(turn.of(Stop)) == 2
    turns = [bench.turn(bench.frame(StopAck(3), rank=rank, slot=None)) for rank in (1, 2)]
    turns += bench.wait(1.0, 0.1)
    assert told(turns, ROOT, Closed) == [Closed(6, 6, (), faulty=False)]
    assert not [op for t in turns for op in t.operations if isinstance(op, CloseEpoch)]
    assert [turn.finish.exit_code for turn in turns if turn.finish] == [0]


def test_a_control_failure_at_a_peer_ends_the_job_with_its_story() -> None:
    peer = peer_bench()
    peer.join()
    peer.machine.fail(74, "no space; where: /x; why: it is full; what to do: make room")
    turn = peer.turn()
    (failed,) = told([turn], ROOT, PeerFailed)
    assert failed == PeerFailed(74, "no space", "/x", "it is full", "make room")
    root = root_bench()
    root.join()
    turns = [say(root, failed), root.turn(root.frame(StopAck(1), slot=None))]
    (end,) = told(turns, PEER, EndEpoch)
    assert isinstance(end, EndEpoch)
    assert end.control
    turns.append(say(root, Closed(1, 1, (), faulty=False)))
    (finish,) = [t.finish for t in [*turns, *root.wait(1.0, 0.1)] if t.finish]
    assert finish.exit_code == 74
    assert "it is full" in finish.reason
    acks = {ack.coordinator: (ack.acknowledged, ack.total) for ack in finish.acks}
    assert acks == {0: (1, 1), 1: (1, 1)}


@pytest.mark.guarantee("Q4")
@pytest.mark.parametrize("make", [root_bench, peer_bench])
def test_after_a_control_failure_nobody_looks_into_the_ledger(
    make: Callable[[], CoordinatorBench],
) -> None:
    """Each look would fail, and with it the turn that tells the workers to stop."""
    bench = make()
    bench.join()
    bench.machine._unpublished = 1  # what ends in order waits for that
    bench.machine.fail(70, "damaged")
    turns = [bench.turn(), *bench.wait(3.0, 0.02)]
    assert turns[0].of(Stop) == [Stop(0.0)]
    assert not [operation for turn in turns for operation in turn.operations]


@pytest.mark.guarantee("Q4")
def test_the_end_of_a_control_failure_names_who_never_answered() -> None:
    root = root_bench(workers=2, knobs=Knobs(shutdown_grace_s=5.0))
    root.join()
    root.machine.fail(70, "damaged")
    turns = [root.turn(), say(root, Closed(2, 3, ("worker 9",), faulty=True))]
    turns.append(root.turn(root.frame(StopAck(1), rank=1, slot=None)))
    (finish,) = [turn.finish for turn in [*turns, *root.wait(30.0)] if turn.finish]
    acks = {ack.coordinator: (ack.acknowledged, ack.total) for ack in finish.acks}
    assert acks == {0: (1, 2), 1: (2, 3)}
    assert finish.missing == ("worker 2 on host 2, process 2", "worker 9")


# ---- loss ---------------------------------------------------------------------------------------


@pytest.mark.guarantee("L2")
@pytest.mark.parametrize("how", ["dead", "silent"])
def test_a_lost_coordinators_leases_and_workers_are_taken_over(how: str) -> None:
    bench = root_bench(knobs=Knobs(root_silence_s=2.0))
    bench.join()
    say(bench, news(changes=1, usable=4, slots=4))
    bench.scan = False
    bench.turn(bench.seed(*range(7)))
    bench.ledger.run([Claim(1, 2)])
    turns = [bench.turn(RankLost(PEER))] if how == "dead" else bench.wait(6.0, 0.5)
    given_up = [a for turn in turns for a in turn.actions if isinstance(a, GiveUpRank)]
    assert given_up == ([] if how == "dead" else [GiveUpRank(PEER)])
    taken = [op for turn in turns for op in turn.operations if isinstance(op, TakeOver)]
    assert taken == [TakeOver(1)]
    assert bench.faults()["leases_recovered"] == {"takeover": 2}
    assert told(turns, ORPHAN, Adopt) == [Adopt(0)]
    turn = bench.turn(bench.hello(ORPHAN))
    assert [rank for rank, _, m in turn.messages if isinstance(m, Welcome)] == [ORPHAN]
    turn = say(bench, news(changes=99, pending=1))
    refused = told([turn], PEER, Refuse)
    assert len(refused) == 1, "one that comes back is told to leave"
    assert bench.machine._core.frontier.changes < 99, "and changes nothing"


@pytest.mark.parametrize("ends", [False, True])
def test_a_lost_coordinators_sources_are_scanned_unless_the_epoch_ends(*, ends: bool) -> None:
    bench = root_bench()
    core = bench.machine._core
    core.setup = replace(core.setup, standby={1: (SourceSetup(9),)})
    bench.join()
    say(bench, news(changes=1))
    if ends:
        bench.turn(StopRequested("max-time", 0, 5.0))
    turn = bench.turn(RankLost(PEER))
    assert (Scan(9, 0) in turn.actions) is not ends


def test_an_adopted_worker_that_says_nothing_has_died_with_the_host_of_its_coordinator() -> None:
    bench = root_bench()
    bench.join()
    bench.scan = False
    bench.turn(RankLost(PEER))
    turns = bench.wait(25.0)
    turns.append(bench.turn(bench.frame(Beat())))
    turns += bench.wait(19.0)
    assert not [turn for turn in turns if GiveUpRank(ORPHAN) in turn.actions]
    assert [turn for turn in bench.wait(2.0) if GiveUpRank(ORPHAN) in turn.actions]


def test_workers_go_to_the_coordinator_with_the_fewest_slots() -> None:
    bench = CoordinatorBench(peers=(8, PEER), orphans=(ORPHAN,), workers=2, slots=2)
    bench.join()
    say(bench, news(changes=1, usable=1), rank=8)
    turn = bench.turn(RankLost(PEER))
    assert told([turn], ORPHAN, Adopt) == [Adopt(8)]
    assert told([turn], 8, Orphans) == [Orphans((ORPHAN,))]


def test_a_worker_that_died_with_its_coordinator_is_named_by_the_root() -> None:
    bench = root_bench()
    bench.join()
    turn = bench.turn(RankLost(ORPHAN), RankLost(PEER))
    assert not told([turn], ORPHAN, Adopt)
    assert bench.machine._core.fleet.workers[ORPHAN].phase is WorkerPhase.LOST


@pytest.mark.parametrize("first", ["hello", "orphans"])
def test_an_adopted_worker_may_speak_before_the_root_names_it(first: str) -> None:
    bench = CoordinatorBench(number=1, peers=(ROOT, 8), orphans=(ORPHAN,))
    bench.join()
    named = bench.frame(Orphans((ORPHAN,)), rank=ROOT, slot=None)
    hello = bench.hello(ORPHAN)
    turn = bench.turn(*((hello, named) if first == "hello" else (named, hello)))
    assert [rank for rank, _, m in turn.messages if isinstance(m, Welcome)] == [ORPHAN]
    assert bench.faults() == {}


def test_who_was_given_up_leaves_without_a_word_to_the_ledger() -> None:
    bench = peer_bench()
    bench.first_work(0)
    turn = say(bench, Refuse("you were given up"))
    assert not turn.operations
    assert turn.finish == Finish("you were given up", 69)


def test_a_result_that_comes_with_the_word_to_leave_is_not_decided() -> None:
    bench = peer_bench()
    (work, *_) = bench.first_work(0)
    refuse = bench.frame(Refuse("you were given up"), rank=PEER, slot=None)
    turn = bench.turn(bench.result(work), refuse)
    assert not turn.operations
    assert turn.finish == Finish("you were given up", 69)


@pytest.mark.parametrize("how", ["dead", "silent"])
def test_a_peer_without_its_root_leaves_and_lets_its_workers_go(how: str) -> None:
    bench = peer_bench(knobs=Knobs(root_silence_s=2.0))
    bench.join()
    turns = [bench.turn(RankLost(ROOT))] if how == "dead" else bench.wait(5.0, 0.5)
    assert [turn.finish.exit_code for turn in turns if turn.finish] == [69]
    assert told(turns, 1, Stop) == [Stop(0.0)]


# ---- who may say what ---------------------------------------------------------------------------


@pytest.mark.guarantee("L2")
def test_a_peer_that_says_closed_before_the_end_is_not_believed() -> None:
    """It may hold leases, which nobody would take over from a closed one."""
    bench = root_bench()
    bench.turn(bench.frame(Closed(1, 1, (), faulty=False), rank=PEER, slot=None))
    assert bench.faults() == {"quarantined_frames": {"sender": 1}}
    turn = bench.turn(RankLost(PEER))
    assert [op for op in turn.operations if isinstance(op, TakeOver)] == [TakeOver(1)]


@pytest.mark.guarantee("D8")
def test_what_the_owner_sets_aside_counts_for_the_verdict() -> None:
    bench = root_bench()
    bench.turn(TurnRefused(PEER, "it has the number 7 after 3"))
    assert bench.faults() == {"quarantined_frames": {"turn": 1}}
    assert bench.core.outbox.count("quarantined_frames") == 1


@pytest.mark.guarantee("D8")
@pytest.mark.parametrize(
    "news", [{"edges": b"abc"}, {"changes": -2}, {"pending": -1}, {"last_artefact": 2**63}]
)
def test_news_that_nobody_can_store_are_a_bad_body(news: dict[str, object]) -> None:
    bench = root_bench()
    sound = News(1, 1, 1, 1, 0, b"", 1, 1, 0, 1, 1, 1, 0, "", faulty=False)
    body = {"t": "news", **msgspec.structs.asdict(sound), **news}
    frame = bench.codecs[PEER].seal_as(News, body)
    bench.turn(FrameReceived(PEER, frame))
    assert bench.faults() == {"quarantined_frames": {"body": 1}}


def test_only_the_root_ends_adopts_and_asks_for_votes() -> None:
    bench = CoordinatorBench(number=1, peers=(ROOT, 8), orphans=(ORPHAN,))
    bench.join()
    say(bench, Prepare(1, "", 0), EndEpoch("x", 0.0, False, False), Orphans((ORPHAN,)), rank=8)
    say(bench, Refuse("x"), VoteVoid(1, ""), Adopt(8), rank=8)
    assert bench.faults() == {"quarantined_frames": {"sender": 6}}
    assert not bench.machine.finished


@pytest.mark.guarantee("J6")
def test_claims_that_no_slot_can_take_are_given_back_for_others() -> None:
    bench = peer_bench(knobs=Knobs(prefetch=0))
    works = bench.first_work(0, 1, 3)
    assert len(works) == 1
    bench.turn(RankLost(1))
    bench.wait(1.0, 0.1)
    states = bench.ledger.status().states
    assert (states[WorkState.LEASED], states[WorkState.PENDING]) == (0, 3)


# ---- the root judges the whole fleet ------------------------------------------------------------


def broken() -> WorkerFault:
    return WorkerFault("no_engine", "the engine is missing", "install it")


@pytest.mark.parametrize("theirs", ["", "host 7: no engine"])
def test_the_job_ends_only_when_no_host_of_any_coordinator_runs(theirs: str) -> None:
    bench = root_bench()
    bench.first_work(0, 1, 3)
    say(bench, news(changes=1, paused=theirs))
    turns = [bench.turn(bench.frame(broken())), *bench.wait(1.0, 0.1)]
    ended = told(turns, PEER, EndEpoch)
    assert bool(ended) == bool(theirs)


def test_the_loss_of_the_roots_own_workers_does_not_end_the_job() -> None:
    bench = root_bench()
    bench.first_work(0)
    say(bench, news(changes=1, workers=3, slots=30, usable=30))
    turns = [bench.turn(RankLost(1)), *bench.wait(1.0, 0.1)]
    assert not told(turns, PEER, EndEpoch)
    turn = say(bench, news(changes=1, workers=0, slots=30, usable=0))
    (end,) = told([turn], PEER, EndEpoch)
    assert end.restart, "the next epoch brings the workers back"


def test_nothing_new_is_dispatched_anywhere_when_many_slots_are_lost() -> None:
    bench = root_bench()
    bench.first_work(0, 1, 3)
    say(bench, news(changes=1, slots=30, usable=30, in_flight=2))
    bench.wait(0.2, 0.1)
    turns = [say(bench, news(changes=1, slots=30, usable=5, in_flight=2)), *bench.wait(0.2, 0.1)]
    assert [n.renewing for n in told(turns, PEER, News)][-1]
    assert not told(turns, PEER, EndEpoch), "what runs may finish"
    peer = peer_bench()
    peer.join()
    say(peer, news(changes=1, renewing=True))
    assert not peer.turn(peer.seed(0)).works


def test_no_capacity_is_judged_while_workers_are_on_their_way_to_another_coordinator() -> None:
    bench = CoordinatorBench(peers=(8, PEER), orphans=(ORPHAN,), workers=2, slots=2)
    bench.join()
    bench.turn(bench.seed(0))
    say(bench, news(changes=1, usable=1, known=0, workers=0, slots=0), rank=8)
    say(bench, news(changes=1, usable=20, slots=20))
    bench.wait(0.2, 0.1)
    bench.turn(RankLost(PEER))
    turns = bench.wait(0.3, 0.1)
    assert not bench.machine._core.renewing, "20 of 24 slots are gone, but come back"
    turns = [say(bench, news(changes=1, usable=0, slots=0, known=1, workers=0), rank=8)]
    turns += bench.wait(0.3, 0.1)
    assert bench.machine._core.renewing, "these did not"


def items_of(turn: Turn) -> list[WorkEntry]:
    return [entry for work in turn.works for entry in work.work.items]


@pytest.mark.guarantee("J8")
def test_deferred_work_is_due_when_nothing_is_leased_anywhere() -> None:
    bench = peer_bench()
    bench.join()
    bench.ledger.run([Admit(bench.source, bench.seed(0, 1).entries)])
    (answer,) = bench.ledger.run([Claim(0, 2)]).answers
    assert isinstance(answer, Claimed)
    late, other = answer.leases
    told_of = bench.ledger.run([Defer(late.work_id, late.token, "a test")])
    say(bench, news(changes=told_of.changes, open_work=2, leased=1))
    assert not [work for turn in bench.wait(5.0, 0.5) for work in turn.works]
    told_of = bench.ledger.run([Release(other.work_id, other.token, "given_back")])
    turns = [say(bench, news(changes=told_of.changes, pending=1, open_work=2))]
    turns += bench.wait(0.5, 0.1)
    (work,) = [work for turn in turns for work in turn.works]
    assert [entry.work_id for entry in work.work.items] == [other.work_id]
    turns = [bench.turn(bench.result(work), bench.ready(work.token))]
    while not any(entry.work_id == late.work_id for turn in turns for entry in items_of(turn)):
        answers = [bench.result(work) for work in turns[-1].works]
        turns.append(bench.turn(*answers, after_s=0.5))
        assert len(turns) < 50, "it is due at the end"
