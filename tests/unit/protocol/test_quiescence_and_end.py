"""The vote, the stop, the verdict."""

from __future__ import annotations

import pytest

from symfleet.errors import parts_of
from symfleet.protocol.events import (
    ConfirmAdmitted,
    CoordinatorEvent,
    Finish,
    Publish,
    PublishFailed,
    RankLost,
    Scan,
    ScanFinished,
    Send,
    StopRequested,
)
from symfleet.protocol.fleet import WorkerPhase
from symfleet.protocol.messages import (
    Accepted,
    EndEpoch,
    Hello,
    Prepare,
    Refuse,
    Result,
    Stop,
    StopAck,
    Vote,
    WorkerFault,
)
from symfleet.protocol.operations import (
    Admit,
    CloseEpoch,
    CommitQuiescence,
    Decide,
    RecordAck,
    Release,
)
from symfleet.protocol.setup import Knobs
from symfleet.testing.coordinator_bench import CoordinatorBench, Turn
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.types import NO_SPACE, WorkState


def drive(
    bench: CoordinatorBench,
    *first: CoordinatorEvent,
    seconds: float = 30.0,
    answer: bool = True,
) -> list[Turn]:
    """Play honest workers until Finish or for a while, `first` events first; return the turns."""
    turns: list[Turn] = []
    events: list[CoordinatorEvent] = list(first)
    step = 0.05
    for _ in range(int(seconds / step)):
        turn = bench.turn(*events, after_s=step)
        turns.append(turn)
        if turn.finish:
            break
        events = []
        for work in turn.works:
            events += [bench.result(work), bench.ready(work.token, rank=work.rank, slot=work.slot)]
        if answer:
            ranks = [rank for rank, _, message in turn.messages if isinstance(message, Stop)]
            events += [bench.frame(StopAck(1), rank=rank, slot=None) for rank in ranks]
    return turns


def finished(bench: CoordinatorBench, *nodes: int) -> list[Turn]:
    works = bench.first_work(*nodes)
    return drive(bench, *(bench.result(work) for work in works))


@pytest.mark.guarantee("Q1")
@pytest.mark.guarantee("Q4")
@pytest.mark.guarantee("C10")
def test_a_campaign_ends_quiescent_after_one_second_of_idleness() -> None:
    bench = CoordinatorBench(workers=2)
    turns = finished(bench, 0)
    finish = turns[-1].finish
    assert finish is not None
    assert (finish.reason, finish.exit_code) == ("quiescent", 0)
    kinds = [type(a) for turn in turns for a in turn.actions]
    assert kinds.index(Scan) < len(kinds)
    assert any(a.flush for turn in turns for a in turn.actions if isinstance(a, Publish))
    window = bench.machine.view().idle_window_s
    assert window is not None
    assert 1.0 <= window <= 1.06
    (ack,) = [op for op in turns[-1].operations if isinstance(op, RecordAck)]
    assert (ack.acknowledged, ack.total, ack.missing) == (2, 2, ())
    assert ack.idle_window_s == window
    status = bench.ledger.status()
    assert set(bench.ledger.corpus()) == bench.program.reachable([0])
    assert status.faults_total == {}
    assert isinstance(turns[-1].operations[-1], CloseEpoch)


@pytest.mark.guarantee("Q2")
def test_work_that_a_last_scan_finds_vetoes_and_is_executed() -> None:
    bench = CoordinatorBench(program=SyntheticProgram(40))
    bench.join()
    bench.scan = False
    scan: Scan | None = None
    for _ in range(60):
        turn = bench.turn(after_s=0.05)
        scan = next((a for a in turn.actions if isinstance(a, Scan)), None)
        if scan:
            break
    assert scan is not None
    turn = bench.turn(bench.seed(0), ScanFinished(scan.source, scan.round))
    assert not [op for op in turn.operations if isinstance(op, CommitQuiescence)]
    assert [a for a in turn.actions if isinstance(a, ConfirmAdmitted)]
    assert len(turn.works) == 1
    bench.scan = True
    turns = drive(bench, bench.result(turn.works[0]))
    assert turns[-1].finish is not None
    assert set(bench.ledger.corpus()) == bench.program.reachable([0])


@pytest.mark.guarantee("C10")
def test_open_work_that_nobody_can_take_opens_no_vote() -> None:
    bench = CoordinatorBench()
    turns = [bench.turn(bench.hello()), bench.turn(bench.seed(0)), *bench.wait(5.0)]
    assert not [a for turn in turns for a in turn.actions if isinstance(a, Scan)]
    assert bench.ledger.status().states[WorkState.PENDING] == 1


@pytest.mark.guarantee("A2")
@pytest.mark.guarantee("A3")
def test_an_input_whose_admission_failed_is_not_marked_as_seen() -> None:
    bench = CoordinatorBench()
    bench.join()
    bench.fail_operations = (Admit,)
    turn = bench.turn(bench.seed(0))
    assert not [a for a in turn.actions if isinstance(a, ConfirmAdmitted)]
    bench.fail_operations = ()
    turn = bench.turn(bench.seed(0))
    assert [a for a in turn.actions if isinstance(a, ConfirmAdmitted)]
    assert len(turn.works) == 1


@pytest.mark.guarantee("Q3")
def test_after_commit_nothing_is_admitted_or_marked_as_seen() -> None:
    bench = CoordinatorBench()
    works = bench.first_work(0)
    turns = drive(bench, *(bench.result(work) for work in works), answer=False, seconds=4.0)
    commits = [op for turn in turns for op in turn.operations if isinstance(op, CommitQuiescence)]
    assert len(commits) == 1
    turn = bench.turn(bench.seed(1))
    assert not [op for op in turn.operations if isinstance(op, Admit)]
    assert not [a for a in turn.actions if isinstance(a, ConfirmAdmitted)]


@pytest.mark.guarantee("C10")
def test_no_commit_before_every_artefact_is_published() -> None:
    bench = CoordinatorBench()
    works = bench.first_work(0)
    bench.publish = False
    turns = drive(bench, bench.result(works[0]), seconds=40.0)
    assert not [op for t in turns for op in t.operations if isinstance(op, CommitQuiescence)]
    voids = [a for t in turns for a in t.actions if getattr(a, "event", "") == "vote_void"]
    assert voids, "a vote without COMMIT is void after 30 s"
    bench.publish = True
    assert drive(bench)[-1].finish is not None


def test_a_member_that_goes_voids_the_vote() -> None:
    bench = CoordinatorBench(workers=5)
    bench.join()
    bench.scan = False
    bench.wait(1.2, step_s=0.1)
    turn = bench.turn(RankLost(5))
    notes = [a for a in turn.actions if getattr(a, "event", "") == "vote_void"]
    assert len(notes) == 1
    assert notes[0].detail == {"why": "membership changed"}  # type: ignore[union-attr]


def prepare_of(turns: list[Turn]) -> Prepare:
    (prepare,) = [m for turn in turns for m in turn.of(Prepare)]
    assert isinstance(prepare, Prepare)
    return prepare


@pytest.mark.guarantee("Q1")
@pytest.mark.parametrize("vote", ["yes", "work", "other changes", "silence"])
def test_the_root_commits_only_what_every_peer_has_voted_for(vote: str) -> None:
    bench = CoordinatorBench(peers=(9,))
    bench.join()
    turns = bench.wait(1.5, step_s=0.1)
    prepare = prepare_of(turns)
    ballot = Vote(
        prepare.round,
        prepare.members,
        prepare.changes + (vote == "other changes"),
        vote != "work",
        "",
    )
    said = [] if vote == "silence" else [bench.frame(ballot, rank=9, slot=None)]
    turn = bench.turn(*said)
    commits = [op for op in turn.operations if isinstance(op, CommitQuiescence)]
    assert len(commits) == (vote == "yes")
    if vote == "yes":
        assert bench.wait(0.1)
        assert bench.ledger.status().states[WorkState.PENDING] == 0


@pytest.mark.guarantee("Q1")
@pytest.mark.guarantee("Q2")
@pytest.mark.parametrize("idle", [True, False])
def test_a_peer_runs_the_same_prepare_and_votes_on_what_it_was_asked(idle: bool) -> None:
    bench = CoordinatorBench(number=1, peers=(9,))
    bench.join()
    if not idle:
        bench.turn(bench.seed(0))
    changes = bench.machine._core.frontier.changes
    asked = Prepare(4, "m" * 64, changes)
    turns = [bench.turn(bench.frame(asked, rank=9, slot=None)), *bench.wait(0.3, step_s=0.1)]
    assert [a.round for turn in turns for a in turn.actions if isinstance(a, Scan)] == [4]
    votes = [m for turn in turns for m in turn.of(Vote)]
    if idle:
        assert votes == [Vote(4, "m" * 64, changes, True, "")]
        turn = bench.turn(bench.seed(1))
        assert not [op for op in turn.operations if isinstance(op, Admit)], "frozen after YES"
    else:
        assert [(m.round, m.idle) for m in votes if isinstance(m, Vote)] == [(4, False)]
    end = EndEpoch("quiescent", 0.0, control=False, restart=False)
    turn = bench.turn(bench.frame(end, rank=9, slot=None))
    assert turn.of(Stop) == [Stop(0.0)]


def test_only_the_root_and_its_peers_may_talk_about_the_vote() -> None:
    bench = CoordinatorBench(peers=(9,))
    bench.join()
    bench.turn(
        bench.frame(Prepare(1, "", 0), rank=9, slot=None),
        bench.frame(Prepare(1, "", 0), rank=1, slot=None),
    )
    assert bench.faults() == {"quarantined_frames": {"sender": 1, "unexpected": 1}}


def test_a_stop_lets_running_items_finish_and_gives_the_rest_back() -> None:
    bench = CoordinatorBench(knobs=Knobs(prefetch=0))
    (work,) = bench.first_work(0, 3)
    turn = bench.turn(StopRequested("max-time", 0, 10.0))
    assert turn.of(Stop) == [Stop(10.0)]
    turn = bench.turn(bench.result(work), bench.ready(work.token))
    assert not turn.works
    assert Accepted(work.token, "decided") in turn.of(Accepted)
    bench.turn(bench.frame(StopAck(1), slot=None))
    turns = drive(bench, seconds=2.0)
    finish = turns[-1].finish
    assert finish is not None
    assert finish.exit_code == 0
    status = bench.ledger.status()
    assert status.total.executed == 1
    assert status.epoch is not None
    assert (status.epoch.reason, status.epoch.exit_code) == ("max-time", 0)
    assert status.faults_total == {}


def test_a_hard_stop_takes_running_items_back() -> None:
    bench = CoordinatorBench(knobs=Knobs(prefetch=0))
    bench.first_work(0)
    bench.turn(StopRequested("signal", 0, 60.0))
    turn = bench.turn(StopRequested("second signal", 0, 0.0))
    assert turn.of(Stop) == [Stop(0.0)]
    turn = bench.turn(bench.frame(StopAck(1), slot=None))
    assert [op.cause for op in turn.operations if isinstance(op, Release)] == ["cancelled"]
    assert drive(bench, seconds=2.0)[-1].finish is not None


@pytest.mark.guarantee("Q4")
@pytest.mark.parametrize(("accept", "code"), [(False, 2), (True, 0)])
def test_a_worker_that_does_not_acknowledge_is_named(accept: bool, code: int) -> None:
    bench = CoordinatorBench(workers=2, accept_faults=accept)
    bench.join()
    bench.turn(StopRequested("max-time", 0, 0.0))
    bench.turn(bench.frame(StopAck(1), rank=1, slot=None))
    turns = bench.wait(121.0)
    finish = next(turn.finish for turn in turns if turn.finish)
    assert finish.exit_code == code
    (ack,) = [op for turn in turns for op in turn.operations if isinstance(op, RecordAck)]
    assert (ack.acknowledged, ack.total) == (1, 2)
    assert ack.missing == ("worker 2 on host 2, process 2",)


def test_quarantined_messages_make_the_verdict_two() -> None:
    bench = CoordinatorBench()
    bench.join()
    bench.turn(
        bench.frame(
            Result(()), token=bench.machine._core.mint.mint(bench.machine.view().slots[0].place)
        )
    )
    turns = drive(bench)
    assert turns[-1].finish is not None
    assert turns[-1].finish.exit_code == 2


@pytest.mark.guarantee("C9")
def test_a_control_failure_stops_everybody_and_touches_no_work() -> None:
    bench = CoordinatorBench(knobs=Knobs(prefetch=0))
    (work,) = bench.first_work(0)
    bench.machine.begin_turn(bench.clock.monotonic(), [bench.result(work)], drained=True)
    bench.machine.fail(70, "input 00.. is damaged")
    assert not [a for a in bench.machine.end_turn(None) if not hasattr(a, "event")]
    turn = bench.turn()
    assert turn.of(Stop) == [Stop(0.0)]
    turn = bench.turn(bench.result(work), bench.frame(StopAck(1), slot=None))
    finish = turn.finish
    assert finish is not None
    assert (finish.exit_code, finish.reason) == (70, "input 00.. is damaged")
    assert not [op for op in turn.operations if isinstance(op, Release)]
    assert bench.ledger.status().total.executed == 0


@pytest.mark.guarantee("C1")
def test_nothing_leaves_that_a_failed_transaction_was_to_make_true() -> None:
    """A bad result is recovered in this turn, and answered if the release is durable."""
    bench = CoordinatorBench(knobs=Knobs(prefetch=0))
    (work,) = bench.first_work(0)
    events = [bench.frame(Result(())), bench.ready(work.token)]
    operations = bench.machine.begin_turn(bench.clock.monotonic(), events, drained=True)
    assert [op.work_id for op in operations if isinstance(op, Release)] == [
        work.work.items[0].work_id
    ]
    bench.machine.fail(74, "disk full")
    assert not [a for a in bench.machine.end_turn(None) if isinstance(a, Send)]


@pytest.mark.guarantee("J6")
@pytest.mark.guarantee("Q4")
def test_a_word_to_stop_that_a_failed_turn_took_along_is_said_again_at_once() -> None:
    bench = CoordinatorBench()
    bench.join()
    failed = PublishFailed(74, "no space left")
    events: list[CoordinatorEvent] = [bench.seed(1), failed]
    assert bench.machine.begin_turn(bench.clock.monotonic(), events, drained=True)
    bench.machine.fail(74, "no space left")
    assert not [one for one in bench.machine.end_turn(None) if isinstance(one, Send)]
    assert bench.turn().of(Stop) == [Stop(0.0)]


def test_a_worker_may_be_lost_while_what_it_decided_could_not_be_written() -> None:
    bench = CoordinatorBench(workers=2, knobs=Knobs(prefetch=0))
    work, *_ = bench.first_work(0, 1)
    bench.machine.begin_turn(bench.clock.monotonic(), [bench.result(work)], drained=True)
    bench.machine.fail(74, "disk full")
    bench.machine.end_turn(None)
    turn = bench.turn(RankLost(work.rank), bench.frame(StopAck(1), rank=3 - work.rank, slot=None))
    assert not bench.core.fleet.workers[work.rank].slots[0].deliveries
    assert turn.finish is not None
    assert turn.finish.exit_code == 74
    assert not [op for op in turn.operations if isinstance(op, (Decide, Release))]


def test_when_not_even_the_verdict_can_be_written_the_end_comes_all_the_same() -> None:
    bench = CoordinatorBench()
    bench.join()
    bench.machine.fail(74, "disk full")
    bench.turn()
    operations = bench.machine.begin_turn(
        bench.clock.monotonic(), [bench.frame(StopAck(1), slot=None)], drained=True
    )
    assert isinstance(operations[-1], CloseEpoch)
    bench.machine.fail(74, "still full")
    actions = bench.machine.end_turn(None)
    assert bench.machine.finished
    finish = actions[-1]
    assert isinstance(finish, Finish)
    assert [(ack.acknowledged, ack.total) for ack in finish.acks] == [(1, 1)], "told, if not kept"
    assert finish.missing == ()


def test_a_publication_that_cannot_be_mended_is_a_control_failure() -> None:
    bench = CoordinatorBench()
    bench.join()
    turn = bench.turn(PublishFailed(74, "no space left"))
    assert turn.of(Stop) == [Stop(0.0)]


def test_another_version_is_refused_at_hello_with_both_named() -> None:
    bench = CoordinatorBench()
    turn = bench.turn(bench.hello(version="9.9"))
    (refuse,) = turn.of(Refuse)
    assert isinstance(refuse, Refuse)
    assert "9.9" in refuse.reason
    assert "1.0" in refuse.reason
    assert bench.machine.view().workers_joined == 0
    assert bench.faults() == {"quarantined_frames": {"version": 1}}


@pytest.mark.parametrize(("reason", "code"), [("not_instrumented", 69), (NO_SPACE, 74)])
def test_a_host_whose_engine_cannot_run_ends_the_job(reason: str, code: int) -> None:
    bench = CoordinatorBench()
    bench.join()
    turns = [bench.turn(bench.frame(WorkerFault(reason, "what", "do this")))]
    turns += drive(bench, seconds=3.0)
    turns += [bench.turn(bench.frame(StopAck(1), slot=None))]
    finish = next(turn.finish for turn in turns if turn.finish)
    assert finish.exit_code == code
    assert reason in finish.reason
    if reason == NO_SPACE:
        _, where, why, hint = parts_of(finish.reason)
        assert where == "host 1"
        assert why.startswith(NO_SPACE)
        assert "symfleet resume" in hint


def test_hello_again_is_answered_again_and_changes_nothing() -> None:
    bench = CoordinatorBench()
    bench.join()
    turn = bench.turn(bench.hello())
    assert [type(m).__name__ for _, _, m in turn.messages] == ["Welcome"]
    assert not turn.of(Hello)
    assert bench.machine._core.fleet.workers[1].phase is WorkerPhase.JOINED
    assert bench.faults() == {}


@pytest.mark.guarantee("J6")
def test_a_worker_lost_in_the_turn_whose_decisions_could_not_be_written_holds_nothing() -> None:
    bench = CoordinatorBench(workers=2, knobs=Knobs(prefetch=0))
    work, *_ = bench.first_work(0, 1)
    now = bench.clock.monotonic()
    bench.machine.begin_turn(now, [bench.result(work), RankLost(work.rank)], drained=True)
    bench.machine.fail(74, "disk full")
    bench.machine.end_turn(None)
    bench.machine.validate_state()
    assert not bench.core.fleet.workers[work.rank].slots[0].deliveries
    turn = bench.turn(bench.frame(StopAck(1), rank=3 - work.rank, slot=None))
    assert turn.finish is not None
    assert not [op for op in turn.operations if isinstance(op, (Decide, Release))]
