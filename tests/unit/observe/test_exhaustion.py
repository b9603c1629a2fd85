"""What limits have cut off is named, with what to raise."""

from __future__ import annotations

import dataclasses
import re

from tests.unit.observe.reports import TOTALS, live, report, status

from symfleet.config.catalogue import settings
from symfleet.observe.display import draw
from symfleet.observe.exhaustion import LIMITS
from symfleet.observe.lines import advice, summary_lines
from symfleet.observe.report import Report
from symfleet.types import WorkState


def quiescent(**totals: object) -> Report:
    epoch = status().epoch
    assert epoch is not None
    closed = dataclasses.replace(epoch, closed_wall=1.0, reason="quiescent", exit_code=2)
    total = dataclasses.replace(TOTALS, **totals)  # type: ignore[arg-type]
    states = {WorkState.DONE: 9}
    return report(status(epoch=closed, total=total, states=states), running=False)


def test_the_summary_names_each_limit_what_it_cost_and_what_to_raise() -> None:
    shown = quiescent(
        not_exhaustive=3, cut_off={"children": 2, "time": 1, "odd": 1}, left_out={"children": 8}
    )
    lines = list(summary_lines(shown, "out"))
    assert "epoch 3 ended: quiescent (nothing is left within the limits)" in lines
    at = lines.index("cut off    3 executions were cut off by a limit: not all was tried")
    assert lines[at + 1] == (
        "           2 by an execution's children (--result-children), 8 children lost"
    )
    assert "1 by odd" in lines[at + 2]
    assert "--execution-time" in lines[at + 3]
    assert "--accept-new-target" in lines[at + 4]


def test_one_execution_and_one_child_are_said_as_one() -> None:
    shown = quiescent(not_exhaustive=1, cut_off={"child_size": 1}, left_out={"child_size": 1})
    text = "\n".join(summary_lines(shown, "out"))
    assert "1 execution was cut off" in text
    assert "1 child lost" in text


def test_where_all_was_tried_nothing_is_said_of_limits() -> None:
    text = "\n".join(summary_lines(quiescent(), "out"))
    assert "cut off" not in text
    assert "quiescent (nothing is left to explore)" in text


def test_the_screens_say_it_while_it_runs() -> None:
    total = dataclasses.replace(TOTALS, not_exhaustive=1, cut_off={"goals": 1})
    shown = report(status(total=total, states={WorkState.DONE: 9}), live())
    assert "within the limits" in (advice(shown) or "")
    assert re.search("cut off.*1 goals", draw(shown, 120, 40, colour=False))


def test_every_option_that_is_named_exists() -> None:
    named = set(re.findall(r"--[a-z-]+", " ".join(LIMITS.values())))
    assert named <= {setting.flag for setting in settings()}
