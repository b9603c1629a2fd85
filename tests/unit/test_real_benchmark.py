"""The benchmark on real libraries fails when their exploration was not healthy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.real.__main__ import Row, exit_code

HEALTHY = Row(
    library="cjson",
    time_s=60.0,
    executions=10,
    target_runs=1000,
    target_runs_per_s=16.7,
    edges=300,
    children=40,
    corpus=41,
    seeds=1,
    crashes=0,
    hangs=0,
    flips={"sat": 40},
    solved={"smt": 40},
    empty_executions={},
    faults={},
    poisoned=0,
    exit_code=0,
)


def test_a_healthy_library_has_no_problem() -> None:
    assert HEALTHY.problems == []
    assert exit_code([HEALTHY]) == 0


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (replace(HEALTHY, corpus=1), "the corpus did not grow"),
        (replace(HEALTHY, corpus=0, seeds=0), "the corpus did not grow"),
        (replace(HEALTHY, faults={"blames": 3}), "blames 3"),
        (replace(HEALTHY, deep=0), "no input meets the conditions"),
        (replace(HEALTHY, poisoned=1), "1 inputs were set aside as poison"),
    ],
)
def test_what_is_wrong_is_named_and_fails(row: Row, said: str) -> None:
    (problem,) = row.problems
    assert problem.startswith("cjson: ")
    assert said in problem
    assert exit_code([HEALTHY, row]) == 1


def test_the_exit_code_of_explore_comes_first() -> None:
    row = replace(HEALTHY, exit_code=70, faults={"blames": 3})
    assert row.problems == ["cjson: blames 3", "cjson: explore ended with 70"]
    assert exit_code([row, HEALTHY]) == 70
    assert exit_code([]) == 64
