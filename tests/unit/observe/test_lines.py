"""Words for people."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from tests.unit.observe.reports import TOTALS, live, report, status

from symfleet.engine.reasons import ADVICE
from symfleet.observe.lines import advice, amount, duration, plain_line, summary_lines
from symfleet.types import Epoch, WorkState


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        *((0.04, "0.0s"), (9.96, "10.0s"), (42, "42s")),
        *((61, "1m 01s"), (3700, "1h 01m"), (90_000, "1d 01h")),
    ],
)
def test_durations_have_two_units(seconds: float, said: str) -> None:
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0"), (9999, "9999"), (12_345, "12.3k"), (1_234_567, "1.2M"), (2e9, "2.0G")],
)
def test_amounts_are_short(number: float, said: str) -> None:
    assert amount(number) == said


def test_the_plain_line_says_how_it_goes() -> None:
    line = plain_line(report(part=live()))
    assert "corpus 307" in line
    assert "edges 4321" in line
    assert "executed 1234 (12.3/s)" in line
    assert "faults" not in line


def test_the_plain_line_names_faults() -> None:
    snapshot = status(faults_this_epoch={"invalid_results": {"digest": 3}})
    assert "faults invalid_results 3" in plain_line(report(snapshot))


def test_the_summary_of_a_running_launch_does_not_call_it_crashed() -> None:
    text = "\n".join(summary_lines(report(), "out"))
    assert "epoch 3 is running (process 4242 on host1)" in text
    assert "resume" not in text


def test_the_summary_of_a_crashed_launch_says_what_to_do() -> None:
    text = "\n".join(summary_lines(report(running=False), "out"))
    assert "epoch 3 crashed" in text
    assert "go on with `symfleet resume out`" in text


def test_an_epoch_that_had_no_end_says_nothing_of_its_slots() -> None:
    coordinators = tuple(
        dataclasses.replace(part, acknowledged=0, workers=0) for part in status().coordinators
    )
    snapshot = status(coordinators=coordinators)
    assert "slots" not in "\n".join(summary_lines(report(snapshot, running=False), "out"))


def test_the_summary_between_two_epochs_of_a_job_asks_nothing_of_anybody() -> None:
    text = "\n".join(summary_lines(report(running=False, restarting=True), "out"))
    assert "epoch 3 crashed: it has no verdict; its job begins the next one by itself" in text
    assert "resume" not in text


@pytest.mark.parametrize("reason", ["interrupted", "max_time", None])
def test_seeds_that_were_not_read_are_left(reason: str | None) -> None:
    epoch = status().epoch
    assert epoch is not None
    nothing = dataclasses.replace(TOTALS, executed=0, external_inputs=0, reasons={})
    closed = dataclasses.replace(epoch, closed_wall=1.0 if reason else None, reason=reason)
    early = status(epoch=closed, states={}, unpublished=0, corpus=0, total=nothing)
    text = "\n".join(summary_lines(report(early, running=False), "out"))
    assert "left       the seeds (none has been read yet)" in text
    assert "go on with `symfleet resume out`" in text
    ended = dataclasses.replace(closed, closed_wall=1.0, reason="quiescent")
    done = report(dataclasses.replace(early, epoch=ended), running=False)
    text = "\n".join(summary_lines(done, "out"))
    assert "left       nothing" in text
    assert "resume" not in text


def test_the_summary_names_what_is_left_and_who_did_not_answer() -> None:
    epoch = status().epoch
    assert epoch is not None
    closed = dataclasses.replace(epoch, epoch=Epoch(3), closed_wall=1.0, reason="max_time")
    states = {WorkState.DEFERRED: 1, WorkState.POISONED: 2}
    coordinators = tuple(
        dataclasses.replace(part, acknowledged=1, workers=2, missing=("rank 2",))
        for part in status().coordinators
    )
    snapshot = status(epoch=closed, states=states, coordinators=coordinators)
    text = "\n".join(summary_lines(report(snapshot, running=False), "out"))
    assert "epoch 3 ended: max_time (--max-time is over)" in text
    assert "1 deferred, 2 poisoned" in text
    assert "1/2 acknowledged; not acknowledged: rank 2" in text


@pytest.mark.parametrize(("code", "checked"), [(70, True), (69, False), (74, False), (2, False)])
def test_after_damage_the_summary_points_to_verify_and_not_to_resume(
    code: int, checked: bool
) -> None:
    epoch = status().epoch
    assert epoch is not None
    closed = dataclasses.replace(epoch, closed_wall=1.0, reason="it is damaged", exit_code=code)
    snapshot = status(epoch=closed)
    last = list(summary_lines(report(snapshot, running=False), "my out"))[-1]
    assert ("symfleet verify 'my out'" in last) == ("docs/howto/recover.md" in last) == checked
    assert (last == "go on with `symfleet resume 'my out'`") != checked
    resting = status(epoch=closed, states={WorkState.DONE: 1}, unpublished=0)
    text = "\n".join(summary_lines(report(resting, running=False), "out"))
    assert ("symfleet verify out" in text) == checked, "also when nothing is left"


@pytest.mark.parametrize(
    ("reason", "words"),
    [("not_instrumented", "symfleet cc"), ("no_symbolic_byte", "@@"), ("unheard_of", None)],
)
def test_silent_nothing_is_never_silent(reason: str, words: str | None) -> None:
    totals = dataclasses.replace(TOTALS, generated=0, reasons={reason: 9, "degraded": 1})
    said = advice(report(status(total=totals)))
    assert said is None if words is None else said is not None and words in said


def test_executions_that_are_cut_off_are_said_whatever_else_was_found() -> None:
    totals = dataclasses.replace(TOTALS, generated=5, reasons={"output_limit": 2, "all_unsat": 9})
    said = advice(report(status(total=totals)))
    assert said is not None
    assert said.startswith("2 of ")
    assert "--output-limit" in said


def test_an_empty_frontier_is_said_while_it_runs() -> None:
    idle = status(states={})
    said = advice(report(idle, live()))
    assert said is not None
    assert "nothing is left to explore" in said
    assert advice(report(idle, running=False)) is None


def test_every_reason_of_the_protocol_has_its_advice() -> None:
    page = Path(__file__).parents[3] / "docs" / "reference" / "executor-protocol.md"
    text = page.read_text().split("`reason` for an execution without children:")[1]
    reasons = set(re.findall(r"`([a-z_]+)`", text.split("\n\n")[0]))
    assert reasons == set(ADVICE)


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (None, "40 pending, "),
        (40, "40 pending, "),
        (3, "40 pending (3 before later turns), "),
        (0, "40 pending (0 before later turns), "),
    ],
)
def test_pending_work_does_not_look_stuck_when_it_is_later_turns(
    first: int | None, said: str
) -> None:
    snapshot = report(status(pending_first=first))
    assert f"left       {said}8 leased" in "\n".join(summary_lines(snapshot, "out"))
    assert said.removesuffix(", ").replace("40 pending", "pending 40") in plain_line(snapshot)


def test_a_bounded_count_says_that_it_is_one() -> None:
    states = {WorkState.PENDING: 20_002}
    line = plain_line(report(status(states=states, pending_first=10_000)))
    assert "pending 20002 (at least 10000 before later turns)" in line


def test_inputs_that_wait_in_the_inbox_are_left_and_taken_by_the_next_launch() -> None:
    resting = status(states={WorkState.DONE: 1}, unpublished=0)
    lines = list(summary_lines(report(resting, running=False), "out"))
    assert "left       nothing" in lines
    lines = list(summary_lines(report(resting, running=False, inbox=2), "out"))
    assert "left       2 in the inbox" in lines
    assert lines[-1] == "go on with `symfleet resume out`"
