"""A run that was to be exhaustive ends with 2 unless everything was tried."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from symfleet.protocol.events import CoordinatorEvent, Finish, StopRequested
from symfleet.protocol.item_results import Executed
from symfleet.protocol.messages import Stop, StopAck
from symfleet.testing.coordinator_bench import CoordinatorBench
from symfleet.types import Keep


def played(bench: CoordinatorBench, executions: int = 1000, **change: Any) -> Finish:
    """Play an honest worker whose results say `change`; return the end. After so many executions
    a stop rule is met."""
    works = bench.first_work(0)
    events: list[CoordinatorEvent] = []
    for _ in range(1000):
        for work in works[:executions]:
            items = bench.execute(work)
            said = [msgspec.structs.replace(i, **change) for i in items if isinstance(i, Executed)]
            events += [bench.result(work, said), bench.ready(work.token)]
        executions -= len(works)
        if executions == 0:
            events.append(StopRequested("max_executions", 0, 0.0))
        turn = bench.turn(*events, after_s=0.05)
        if turn.finish is not None:
            return turn.finish
        works = turn.works
        events = [bench.frame(StopAck(1), slot=None)] if turn.of(Stop) else []
    raise AssertionError("it does not end")


@pytest.mark.parametrize("keep", list(Keep))
@pytest.mark.parametrize(
    ("change", "exhaustive", "accept", "code"),
    [
        ({}, True, False, 0),
        ({"degraded": ("rows",)}, True, False, 2),
        ({"degraded": ("rows",)}, True, True, 0),
        ({"degraded": ("rows",)}, False, False, 0),
        ({"left_out": {"child_size": 1}}, True, False, 2),
    ],
)
def test_a_limit_that_cut_something_off_makes_the_verdict_two(
    keep: Keep, change: dict[str, Any], exhaustive: bool, accept: bool, code: int
) -> None:
    bench = CoordinatorBench(keep=keep, exhaustive=exhaustive, accept_faults=accept)
    finish = played(bench, **change)
    assert (finish.reason, finish.exit_code) == ("quiescent", code)
    total = bench.ledger.status().total
    assert total.not_exhaustive == (total.executed if change else 0)


@pytest.mark.parametrize(("before", "code"), [(0, 0), (1, 2)])
def test_what_earlier_epochs_cut_off_was_never_tried(before: int, code: int) -> None:
    bench = CoordinatorBench(exhaustive=True, cut_off_before=before)
    assert played(bench).exit_code == code


@pytest.mark.parametrize(("exhaustive", "code"), [(False, 0), (True, 2)])
def test_a_stop_rule_leaves_untried_what_was_to_be_tried(exhaustive: bool, code: int) -> None:
    bench = CoordinatorBench(exhaustive=exhaustive)
    finish = played(bench, executions=1)
    assert (finish.reason, finish.exit_code) == ("max_executions", code)


def test_an_end_that_begins_again_is_no_verdict() -> None:
    bench = CoordinatorBench(exhaustive=True)
    bench.join()
    bench.turn(StopRequested("a host is back", 0, 0.0, restart=True))
    turn = bench.turn(bench.frame(StopAck(1), slot=None), after_s=0.05)
    finish = turn.finish or bench.turn(after_s=0.05).finish
    assert finish is not None
    assert (finish.exit_code, finish.restart) == (0, True)


def test_another_coordinator_tells_the_root_that_a_limit_cut_something_off() -> None:
    bench = CoordinatorBench(exhaustive=True)
    played(bench, degraded=("events",))
    assert bench.machine._shutdown.faulty
