"""A worker rank: what it runs, what it says, and what it does when executors die."""

from __future__ import annotations

import dataclasses
import gc
import tracemalloc

import msgspec
import pytest

from symfleet.protocol.events import (
    DrainRequested,
    ExecutionDone,
    ExecutorFailed,
    ExecutorGone,
    ExecutorProgress,
    FrameReceived,
    KillExecutor,
    Leave,
    RankLost,
    SelfTestDone,
    Send,
    StartExecutor,
    TellKnowledge,
)
from symfleet.protocol.item_results import Executed, ExecutorDied, NotRun, Unsettled
from symfleet.protocol.messages import (
    NO_PLACE,
    Accepted,
    Adopt,
    Beat,
    Hello,
    Knowledge,
    Progress,
    Ready,
    Refuse,
    Refused,
    ResetSlot,
    Result,
    Started,
    Stop,
    StopAck,
    Work,
    WorkEntry,
    WorkerFault,
)
from symfleet.protocol.setup import Knobs
from symfleet.protocol.tokens import NO_TOKEN
from symfleet.protocol.violations import LocalProtocolError
from symfleet.testing.coordinator_bench import admission
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.testing.worker_bench import WorkerBench
from symfleet.types import NO_SPACE, DispatchToken, Outcome, WorkId

PROGRAM = SyntheticProgram(7)
ONE, TWO = PROGRAM.data(0), PROGRAM.data(1)


def done(bench: WorkerBench, data: bytes) -> ExecutionDone:
    return ExecutionDone(0, PROGRAM.execute(admission(data).work_id, data))


def gone(
    bench: WorkerBench, *, asked: bool = False, signal: int = 11, memory_evidence: bool = False
) -> ExecutorGone:
    return ExecutorGone(0, bench.executors[0], "segfault", signal, asked, memory_evidence)


def results(bench: WorkerBench) -> list[Result]:
    return [message for _, message in bench.said() if isinstance(message, Result)]


def up(**more: int) -> WorkerBench:
    bench = WorkerBench(**more)  # type: ignore[arg-type]
    bench.up()
    return bench


def test_it_says_hello_until_it_is_welcomed_and_then_that_it_is_ready() -> None:
    bench = WorkerBench(slots=2)
    assert [type(m) for _, m in bench.said(bench.start())] == [Hello]
    assert [type(m) for _, m in bench.said(bench.step(after_s=1.1))] == [Hello]
    actions = bench.step(bench.frame(bench.welcome(), slot=None))
    assert [a.slot for a in actions if isinstance(a, StartExecutor)] == [0, 1]
    bench.step(bench.executor_ready(0), bench.executor_ready(1))
    assert [m for _, m in bench.said()] == [Ready(None, 0), Ready(None, 0)]


@pytest.mark.guarantee("D2")
@pytest.mark.guarantee("D3")
@pytest.mark.guarantee("J1")
def test_a_delivery_is_started_run_and_answered_under_its_token() -> None:
    bench = up()
    token, work = bench.work(ONE, TWO)
    bench.step(work)
    assert [(h.token, type(m)) for h, m in bench.said()] == [(token, Started)]
    assert [run.data for run in bench.runs()] == [ONE]
    bench.step(done(bench, ONE))
    assert [run.data for run in bench.runs()] == [TWO]
    bench.step(done(bench, TWO))
    (answer, ready) = bench.said()
    assert answer[0].token == token
    assert isinstance(answer[1], Result)
    assert [type(item) for item in answer[1].items] == [Executed, Executed]
    assert ready[1] == Ready(token, 0)


@pytest.mark.parametrize("running", [False, True])
def test_an_executor_of_another_build_runs_nothing(running: bool) -> None:
    """Somebody has built the target anew while the campaign runs."""
    bench = up()
    _, work = bench.work(ONE)
    if running:
        bench.step(work)
    bench.step(ExecutorGone(0, bench.executors[0], "killed", 9, asked=False, memory_evidence=False))
    other = dataclasses.replace(bench.executor_ready(), build="another")
    said = [m for _, m in bench.said(bench.step(other))]
    assert [m.reason for m in said if isinstance(m, WorkerFault)] == ["target_changed"]
    assert not bench.runs()
    if running:
        (result,) = [m for m in said if isinstance(m, Result)]
        assert [type(item) for item in result.items] == [NotRun]


def test_result_and_ready_are_said_again_until_they_are_answered() -> None:
    bench = up()
    token, work = bench.work(ONE)
    bench.step(work)
    bench.step(done(bench, ONE))
    again = bench.said(bench.wait(5.5))
    assert [(type(m), h.repeat) for h, m in again] == [(Result, True), (Ready, True)]
    bench.step(bench.frame(Accepted(token, "decided")))
    assert not bench.said(bench.wait(12.0))


def times_of_repetition(bench: WorkerBench, seconds: float) -> dict[type, list[float]]:
    """Return how many seconds from now what is said again, by halves of a second."""
    times: dict[type, list[float]] = {}
    for half in range(1, int(2 * seconds)):
        for header, message in bench.said(bench.step(bench.frame(Beat(), slot=None), after_s=0.5)):
            if header.repeat:
                times.setdefault(type(message), []).append(half / 2)
    return times


def test_each_wait_for_an_answer_is_twice_the_one_before_up_to_a_minute() -> None:
    bench = up()
    _, work = bench.work(ONE)
    bench.step(work)
    bench.step(done(bench, ONE))
    waits = [5.0, 10.0, 20.0, 40.0, 60.0, 60.0]
    due = [sum(waits[: number + 1]) for number in range(len(waits))]
    assert times_of_repetition(bench, due[-1] + 30) == {Result: due, Ready: due}


def test_a_new_statement_does_not_wait_longer_because_an_older_one_was_repeated() -> None:
    bench = up()
    token, work = bench.work(ONE)
    bench.step(work)
    bench.step(done(bench, ONE))
    times_of_repetition(bench, 60.0)
    bench.step(bench.frame(Accepted(token, "decided")))
    bench.step(bench.work(TWO)[1])
    bench.step(done(bench, TWO))
    assert times_of_repetition(bench, 12.0) == {Result: [5.0], Ready: [5.0]}


def test_a_period_longer_than_the_longest_wait_stays_as_it_is() -> None:
    bench = WorkerBench(knobs=Knobs(repeat_s=90.0))
    bench.up()
    assert times_of_repetition(bench, 200.0) == {Ready: [90.0, 180.0]}


def test_ready_is_said_again_until_work_or_accepted() -> None:
    bench = up()
    assert [m for _, m in bench.said(bench.wait(5.5))] == [Ready(None, 0)]
    bench.step(bench.frame(Accepted(NO_TOKEN, "idle")))
    assert not bench.said(bench.wait(6.0))


def test_a_token_is_executed_once_and_its_result_said_again() -> None:
    bench = up()
    _, work = bench.work(ONE)
    bench.step(work)
    bench.step(work)
    assert not bench.runs()
    bench.step(done(bench, ONE))
    bench.step(work)
    assert not bench.runs()
    assert len(results(bench)) == 1


@pytest.mark.guarantee("A1")
@pytest.mark.guarantee("A4")
@pytest.mark.parametrize("kind", ["bytes", "id", "schema", "many", "large"])
def test_a_work_that_contradicts_itself_is_refused_and_not_run(kind: str) -> None:
    bench = up()
    good = admission(ONE)
    entry = WorkEntry(good.work_id, good.payload, good.data)
    entries = {
        "bytes": (WorkEntry(good.work_id, good.payload, TWO),),
        "id": (WorkEntry(WorkId("0" * 64), good.payload, good.data),),
        "schema": (WorkEntry(good.work_id, b"\x00", good.data),),
        "many": (entry,) * 65,
        "large": (WorkEntry(good.work_id, good.payload, bytes(2 << 20)),),
    }[kind]
    token = DispatchToken("a" * 64)
    bench.step(bench.frame(Work(entries), token=token))
    assert not bench.runs()
    ((header, refused),) = bench.said()
    assert header.token == token
    assert isinstance(refused, Refused)
    reasons = {"bytes": "digest", "id": "digest", "schema": "", "many": "limits", "large": "limits"}
    assert refused.reason.startswith(reasons[kind])


def test_more_deliveries_than_places_are_refused() -> None:
    bench = up(prefetch=1)
    for _ in range(2):
        bench.step(bench.work(ONE)[1])
    bench.step(bench.work(ONE)[1])
    assert [m for _, m in bench.said()] == [Refused(NO_PLACE)]


def test_progress_is_told_at_most_every_progress_s_and_only_when_something_moved() -> None:
    bench = up()
    token, work = bench.work(ONE)
    bench.step(work)
    for counter in range(1, 4):
        bench.step(ExecutorProgress(0, counter), after_s=0.3)
        assert not bench.said()
    told = bench.said(bench.wait(3.0))
    assert [(h.token, type(m)) for h, m in told] == [(token, Progress)]
    assert not bench.said(bench.wait(10.0)), "no movement, no progress"


def test_the_hard_limit_kills_and_answers_with_timeout() -> None:
    bench = WorkerBench(knobs=Knobs(hard_limit_s=3.0))
    bench.up()
    bench.step(bench.work(ONE)[1])
    assert KillExecutor(0) in bench.wait(3.5)
    bench.step(gone(bench, asked=True, signal=9))
    ((item,),) = [result.items for result in results(bench)]
    assert isinstance(item, Executed)
    assert item.outcome is Outcome.TIMEOUT
    assert [a.selftest for a in bench.actions if isinstance(a, StartExecutor)] == [False]


@pytest.mark.parametrize("ok", [True, False])
def test_an_executor_that_dies_is_evidence_once_the_self_test_has_spoken(ok: bool) -> None:
    bench = up()
    bench.step(bench.work(ONE, TWO)[1])
    old = bench.executors[0]
    bench.step(gone(bench))
    assert [a.selftest for a in bench.actions if isinstance(a, StartExecutor)] == [True]
    assert not bench.said()
    bench.step(bench.executor_ready(), SelfTestDone(0, ok, "because"))
    if ok:
        assert [run.data for run in bench.runs()] == [TWO], "the bundle goes on"
        bench.step(done(bench, TWO))
    (result,) = results(bench)
    death = result.items[0]
    assert isinstance(death, ExecutorDied)
    assert (death.executor, death.signal, death.selftest_ok) == (old, 11, ok)
    assert isinstance(result.items[1], Executed if ok else NotRun)
    faults = [m for _, m in bench.said() if isinstance(m, WorkerFault)]
    assert [f.reason for f in faults] == ([] if ok else ["selftest_failed"])


@pytest.mark.parametrize("outcome", [Outcome.STALLED, Outcome.KILLED])
def test_what_is_no_verdict_is_unsettled(outcome: Outcome) -> None:
    bench = up()
    bench.step(bench.work(ONE)[1])
    import msgspec

    event = done(bench, ONE)
    bench.step(ExecutionDone(0, msgspec.structs.replace(event.result, outcome=outcome)))
    ((item,),) = [result.items for result in results(bench)]
    assert isinstance(item, Unsettled)
    assert item.cause == outcome.value


def test_an_engine_that_cannot_run_hands_everything_back_and_says_so() -> None:
    bench = WorkerBench()
    bench.start()
    bench.step(bench.frame(bench.welcome(), slot=None))
    _, work = bench.work(ONE)
    bench.step(work)
    bench.step(ExecutorFailed(0, "not_instrumented", "no map", "rebuild it"))
    kinds = [type(m) for _, m in bench.said()]
    assert kinds == [Result, Ready, WorkerFault]
    ((item,),) = [result.items for result in results(bench)]
    assert isinstance(item, NotRun)


@pytest.mark.guarantee("A2")
def test_an_engine_without_space_hands_back_what_it_was_running_and_blames_nobody() -> None:
    bench = up()
    bench.step(bench.work(ONE)[1])
    assert bench.runs()
    bench.step(ExecutorFailed(0, NO_SPACE, "cannot write in /x", "free some space there"))
    ((item,),) = [result.items for result in results(bench)]
    assert isinstance(item, NotRun)
    assert [m.reason for _, m in bench.said() if isinstance(m, WorkerFault)] == [NO_SPACE]
    assert not any(isinstance(action, StartExecutor) for action in bench.actions)


def test_an_executor_that_dies_at_once_is_tried_three_times() -> None:
    bench = WorkerBench()
    bench.start()
    bench.step(bench.frame(bench.welcome(), slot=None))
    starts = 1
    for _ in range(3):
        bench.step(gone(bench))
        starts += sum(isinstance(a, StartExecutor) for a in bench.actions)
    assert starts == 3
    assert [m.reason for _, m in bench.said() if isinstance(m, WorkerFault)] == ["executor_dies"]


def test_a_kill_that_nothing_explains_says_nothing_about_the_engine() -> None:
    """Somebody kills one executor after another, while they start and while they are tested."""
    bench = up()
    bench.step(bench.work(ONE)[1])
    for _ in range(5):
        bench.step(gone(bench, signal=9))
        assert [a.selftest for a in bench.actions if isinstance(a, StartExecutor)] == [True]
        assert not bench.said()
    bench.step(bench.executor_ready(), SelfTestDone(0, True, ""))
    ((death,),) = [result.items for result in results(bench)]
    assert isinstance(death, ExecutorDied)
    assert death.selftest_ok

    fresh = WorkerBench()
    fresh.start()
    fresh.step(fresh.frame(fresh.welcome(), slot=None))
    for _ in range(5):
        fresh.step(gone(fresh, signal=9))
    fresh.step(fresh.executor_ready())
    assert [m for _, m in fresh.said()] == [Ready(None, 0)]


@pytest.mark.parametrize("tested", [True, False])
def test_even_kills_that_nothing_explains_end_the_tries_at_last(tested: bool) -> None:
    bench = WorkerBench()
    bench.start()
    bench.step(bench.frame(bench.welcome(), slot=None))
    if tested:
        bench.step(bench.executor_ready())
    kills = 0
    while not any(isinstance(m, WorkerFault) for _, m in bench.said()):
        bench.step(gone(bench, signal=9))
        kills += 1
        assert kills < 100
    assert kills > 10


def test_an_executor_killed_for_its_memory_in_its_self_test_is_evidence_about_the_host() -> None:
    bench = up()
    bench.step(gone(bench, signal=9))
    bench.step(gone(bench, signal=9, memory_evidence=True))
    assert [m.reason for _, m in bench.said() if isinstance(m, WorkerFault)] == ["selftest_died"]


@pytest.mark.guarantee("J6")
def test_a_reset_slot_comes_back_as_a_new_incarnation_and_forgets() -> None:
    bench = up()
    token, work = bench.work(ONE)
    bench.step(work)
    before = bench.lives[0]
    bench.step(bench.frame(ResetSlot()))
    assert KillExecutor(0) in bench.actions
    assert [type(m) for _, m in bench.said()] == [Hello]
    assert bench.lives[0] != before
    bench.step(gone(bench, asked=True, signal=9))
    assert [a.selftest for a in bench.actions if isinstance(a, StartExecutor)] == [True]
    bench.step(bench.executor_ready(), SelfTestDone(0, True, ""))
    assert [m for _, m in bench.said()] == [Ready(None, 0)]
    bench.step(bench.frame(ResetSlot(), life=before))
    assert KillExecutor(0) not in bench.actions, "an old reset resets nothing"
    assert not results(bench)
    assert token


def test_frames_for_an_older_incarnation_change_nothing() -> None:
    bench = up()
    _, work = bench.work(ONE)
    old = bench.lives[0]
    bench.step(bench.frame(ResetSlot()))
    bench.step(gone(bench, asked=True))
    bench.step(bench.executor_ready(), SelfTestDone(0, True, ""))
    bench.step(work)
    assert not bench.runs()
    assert bench.machine.quarantined == {"unexpected": 1}
    assert old != bench.lives[0]


@pytest.mark.guarantee("Q4")
def test_a_stop_finishes_what_runs_gives_back_what_waits_and_is_acknowledged() -> None:
    bench = up(prefetch=1)
    bench.step(bench.work(ONE, TWO)[1])
    bench.step(bench.work(TWO)[1])
    bench.step(bench.frame(Stop(30.0), slot=None))
    (waiting,) = results(bench)
    assert [type(item) for item in waiting.items] == [NotRun]
    bench.step(done(bench, ONE))
    (running,) = results(bench)
    assert [type(item) for item in running.items] == [Executed, NotRun]
    assert KillExecutor(0) in bench.actions
    assert not [m for _, m in bench.said() if isinstance(m, StopAck)]
    bench.step(gone(bench, asked=True))
    assert [m for _, m in bench.said()] == [StopAck(1)]
    bench.step(bench.frame(Accepted(NO_TOKEN, "stopped"), slot=None))
    assert [a.exit_code for a in bench.actions if isinstance(a, Leave)] == [0]


@pytest.mark.guarantee("Q4")
def test_the_end_is_acknowledged_when_nothing_is_left_in_any_slot() -> None:
    bench = up(slots=2)
    bench.step(bench.work(ONE)[1])
    bench.step(bench.frame(Stop(30.0), slot=None))
    idle = ExecutorGone(1, bench.executors[1], "told to die", 9, True, False)
    actions = [*bench.step(idle), *bench.wait(2.0)]
    assert not [m for _, m in bench.said(actions) if isinstance(m, StopAck)]
    bench.step(done(bench, ONE))
    bench.step(gone(bench, asked=True))
    assert [m for _, m in bench.said() if isinstance(m, StopAck)] == [StopAck(2)]


def test_a_drain_that_is_over_cancels_what_runs() -> None:
    bench = up()
    bench.step(bench.work(ONE)[1])
    bench.step(bench.frame(Stop(2.0), slot=None))
    assert KillExecutor(0) not in bench.actions
    assert KillExecutor(0) in bench.wait(2.5)
    bench.step(gone(bench, asked=True))
    ((item,),) = [result.items for result in results(bench)]
    assert isinstance(item, Unsettled)
    assert item.cause == "cancelled"


def test_an_acknowledgement_is_repeated_a_few_times_and_then_it_leaves() -> None:
    bench = up()
    bench.step(bench.frame(Stop(0.0), slot=None))
    bench.step(gone(bench, asked=True))
    actions = bench.wait(10.0)
    assert sum(isinstance(m, StopAck) for _, m in bench.said(actions)) == 4
    assert [a.exit_code for a in actions if isinstance(a, Leave)] == [0]


def test_a_signal_drains_the_rank() -> None:
    bench = up()
    bench.step(bench.work(ONE)[1])
    bench.step(DrainRequested("SIGTERM"))
    assert KillExecutor(0) in bench.actions


def test_a_silent_or_dead_coordinator_ends_the_worker() -> None:
    bench = up()
    for _ in range(6):
        assert not [a for a in bench.wait(10.0) if isinstance(a, Leave)]
        bench.step(bench.frame(Beat(), slot=None))
        assert [m for _, m in bench.said()] == [Beat()], "each knows of the other"
    actions = bench.wait(16.0)
    assert KillExecutor(0) in actions
    assert [a.exit_code for a in actions if isinstance(a, Leave)] == [69]
    other = up()
    other.step(RankLost(0))
    assert [a.exit_code for a in other.actions if isinstance(a, Leave)] == [69]


def test_a_worker_that_was_stopped_itself_does_not_blame_its_coordinator() -> None:
    bench = up()
    bench.step(after_s=3600.0)
    assert not [a for a in bench.actions if isinstance(a, Leave)]


def test_a_refusal_ends_it_with_the_reason() -> None:
    bench = WorkerBench()
    bench.start()
    bench.step(bench.frame(Refuse("version 2 does not belong to version 1"), slot=None))
    (leave,) = [a for a in bench.actions if isinstance(a, Leave)]
    assert (leave.exit_code, leave.reason) == (69, "version 2 does not belong to version 1")


def test_knowledge_is_passed_on_when_it_fits_what_is_held() -> None:
    bench = up()
    bench.step(bench.frame(Knowledge(0, 3, b"abcd"), slot=None))
    assert [a.edges for a in bench.actions if isinstance(a, TellKnowledge)] == [b"abcd"]
    bench.step(bench.frame(Knowledge(5, 6, b"efgh"), slot=None))
    assert not [a for a in bench.actions if isinstance(a, TellKnowledge)]
    bench.step(bench.work(ONE)[1])
    bench.step(done(bench, ONE))
    assert [m.knowledge for _, m in bench.said() if isinstance(m, Ready)] == [3]


def test_an_event_that_the_table_does_not_know_is_our_own_fault() -> None:
    bench = up()
    with pytest.raises(LocalProtocolError, match="idle"):
        bench.step(done(bench, ONE))


# ---- another coordinator ------------------------------------------------------------------------

ROOT, FIRST, SECOND = 0, 8, 9


def served(coordinator: int) -> WorkerBench:
    """Return a worker that is up and serves a coordinator which is not the root."""
    bench = WorkerBench(coordinator=coordinator)
    bench.up()
    return bench


@pytest.mark.guarantee("J6")
def test_an_adopted_worker_forgets_everything_and_says_hello_to_its_new_coordinator() -> None:
    bench = served(FIRST)
    (old,) = bench.lives
    bench.step(bench.work(ONE)[1])
    actions = bench.step(RankLost(FIRST))
    assert not [a for a in actions if isinstance(a, Leave)], "it waits for the root's word"
    actions = bench.step(bench.root_frame(Adopt(SECOND)))
    assert [a.slot for a in actions if isinstance(a, KillExecutor)] == [0]
    (hello,) = [m for _, m in bench.said(actions) if isinstance(m, Hello)]
    assert {send.rank for send in actions if isinstance(send, Send)} == {SECOND}
    assert hello.slots != (old,)
    assert not bench.machine.quarantined
    bench.step(bench.frame(Beat(), slot=None))
    assert bench.machine.quarantined["sender"] == 1, "what the old one still says is stale"


@pytest.mark.parametrize(("how", "wait_s"), [("lost", 15.0), ("silent", 60.0)])
def test_a_worker_that_nobody_adopts_leaves(how: str, wait_s: float) -> None:
    bench = served(FIRST)
    events = [RankLost(FIRST)] if how == "lost" else []
    actions = [*bench.step(*events)]
    waited = 0.0
    while not any(isinstance(action, Leave) for action in actions):
        actions += bench.step(after_s=0.5)
        waited += 0.5
        assert waited < 100.0
    assert waited == pytest.approx(wait_s, abs=2.0)


def test_a_silent_coordinator_that_speaks_again_keeps_its_worker() -> None:
    bench = served(FIRST)
    actions = [action for _ in range(60) for action in bench.step(after_s=0.5)]
    actions += bench.step(bench.frame(Beat(), slot=None))
    actions += [action for _ in range(20) for action in bench.step(after_s=0.5)]
    assert not [action for action in actions if isinstance(action, Leave)]


def test_the_loss_of_the_root_ends_a_worker_of_any_coordinator() -> None:
    (leave,) = [a for a in served(FIRST).step(RankLost(ROOT)) if isinstance(a, Leave)]
    assert leave.exit_code == 69


@pytest.mark.guarantee("A6")
def test_a_bundle_whose_results_fill_a_frame_ends_early_and_the_rest_goes_back() -> None:
    bench = up(prefetch=0)
    data = [PROGRAM.data(node) for node in range(6)]
    token, work = bench.work(*data)
    bench.step(work)
    for one in data:
        if results(bench):
            break
        many = msgspec.structs.replace(done(bench, one).result, edges=bytes(600_000))
        bench.step(ExecutionDone(0, many))
    (answer,) = results(bench)
    kinds = [type(item) for item in answer.items]
    assert kinds == [Executed] * 2 + [NotRun] * 4
    assert len(bench.codec.seal(answer, slot=0, token=token)) <= bench.knobs.frame_bytes


def test_a_worker_refuses_work_in_words_that_may_travel() -> None:
    bench = up()
    body = {"t": "work", "items": (), "a\0b": 1}
    token = DispatchToken("5" * 64)
    frame = bench.codec.seal_as(Work, body, slot=0, incarnation=bench.lives[0], token=token)
    bench.step(FrameReceived(0, frame))
    (refused,) = [message for _, message in bench.said() if isinstance(message, Refused)]
    assert "\0" not in refused.reason


def test_what_a_worker_remembers_of_its_deliveries_stops_growing() -> None:
    """A job of weeks delivers millions of items to one worker."""
    bench = up()

    def deliver(times: int) -> int:
        for _ in range(times):
            token, work = bench.work(ONE)
            bench.step(work)
            bench.step(done(bench, ONE))
            bench.step(bench.frame(Accepted(token, "decided")))
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = deliver(300)
        assert deliver(1_500) - before < 64 * 1024
    finally:
        tracemalloc.stop()
