"""`keep` = all: children are a function of the bytes, the target and the limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Start = Callable[[], Any]

CASES = {
    "classes": [b"aaaaaaaa", b"0z0z0z0z", b"\0\xff`/09az"],
    "arithmetic": [b"\0" * 4, b"\x40\xe2\x01\0", b"\xff" * 4],
    "contradiction": [b"\0", b"\x10", b"\xff"],
    "hungry": [b"abc", b"abcdefgh", b"xbcdefgh"],
}


def summary(answer: Any) -> tuple[Any, ...]:
    """All that a decision is made of."""
    done = answer.done
    children = [(c.input, c.how, c.site, c.direction, c.outcome, c.edges) for c in answer.children]
    return (done.outcome, done.edges, done.generated, done.flips, done.how, done.reason, children)


@pytest.mark.parametrize("what", sorted(CASES))
def test_children_do_not_depend_on_what_was_run_before(
    start: Start, fake_target: str, what: str
) -> None:
    inputs = CASES[what]
    seen: dict[bytes, set[str]] = {data: set() for data in inputs}
    for order in (inputs, inputs[::-1], inputs[1:] + inputs[:1], inputs * 2):
        executor = start()
        executor.hello([fake_target, what, "@@"], keep="all")
        for data in order:
            seen[data].add(repr(summary(executor.run(data))))
    assert all(len(different) == 1 for different in seen.values())


def test_all_distinct_children_are_sent_with_or_without_coverage(
    start: Start, fake_target: str
) -> None:
    executor = start()
    executor.hello([fake_target, "classes", "@@"], keep="all")
    first = executor.run(b"aaaa")
    assert len(set(first.inputs)) == len(first.inputs) == first.done.generated
    assert first.done.dropped == 0
    assert executor.run(b"aaaa").inputs == first.inputs


def test_refuted_goals_have_no_optimistic_children(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "contradiction", "@@"], keep="all")
    answer = executor.run(b"\0")
    assert answer.done.flips["unsat"] == 1
    assert [child.how for child in answer.children] == ["inversion"]


def test_inputs_keep_their_length(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "hungry", "@@"], keep="all")
    assert executor.run(b"abc").inputs == []
