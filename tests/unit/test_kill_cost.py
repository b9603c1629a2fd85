"""What `benchmarks.kill_cost` makes of a campaign's numbers."""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec
import pytest
from benchmarks.kill_cost.figures import figures_of
from benchmarks.kill_cost.losses import Decisions, Lost, lost_in, run_after_decision
from benchmarks.kill_cost.median import Figure, median_interval
from benchmarks.kill_cost.rows import Budget, Kill, Row
from benchmarks.kill_cost.traced_ranks import Done, RootUse, Run, runs_of

ROW = Row(
    pair=1,
    disturbed=False,
    cpu_s=100.0,
    job_cpu_s=110.0,
    wall_s=60.0,
    budget=Budget(99.0, 200, 49),
    edges=201,
    executions=50,
    decided=50,
    repeated=0,
    runs_of_an_item_max=1,
    decided_run_max_s=5.0,
    run_s=100.0,
    run_lost_s=0.0,
    solver_s=20.0,
    solver_lost_s=0.0,
    epochs=1,
    kills=(),
    root=RootUse(50.0, 5.0, 100, {"commit": 1.0, "file": 0.5}, {"commit": 0.1, "file": 0.1}),
    problems=(),
)


def run(work: str, at: float, took_s: float = 0.0, solver_s: float = 0.0) -> Run:
    """A run; without `took_s` it has no result."""
    if not took_s:
        return Run(work, "1/0", at)
    done = Done(work, "1/0", at + took_s, int(took_s * 1e6), int(solver_s * 1e6))
    return Run(work, "1/0", at, done)


# ---- the interval -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "rank", "confidence"),
    # Of the binomial distribution with p = 1/2; the same as in published tables.
    [(6, 1, 0.96875), (8, 1, 0.9921875), (9, 2, 0.9609375), (10, 2, 0.978515625), (20, 6, 0.9586)],
)
def test_interval_is_that_of_the_binomial_distribution(
    count: int, rank: int, confidence: float
) -> None:
    values = [float(number) for number in reversed(range(1, count + 1))]
    low, high, found = median_interval(values)
    assert (low, high) == (rank, count + 1 - rank)
    assert found == pytest.approx(confidence, abs=5e-5)


@pytest.mark.parametrize(("count", "confidence"), [(1, 0.0), (2, 0.5), (5, 0.9375)])
def test_interval_of_few_values_is_their_range(count: int, confidence: float) -> None:
    assert median_interval(list(range(count))) == (0, count - 1, confidence)


def test_confidence_is_the_share_of_all_outcomes_that_hold_the_median() -> None:
    """Each of ten values lies on one side of the median or the other: all 1024 cases counted."""
    held = 0
    for signs in itertools.product((-1.0, 1.0), repeat=10):
        low, high, _ = median_interval(signs)
        held += low < 0 < high
    assert held / 1024 == median_interval(range(10))[2]


def test_figure_has_the_median_of_an_even_number_and_none_of_nothing() -> None:
    assert Figure.of("s", [4.0, 1.0, 3.0, 2.0]) == Figure("s", 2.5, 1.0, 4.0, 0.875, 4)
    assert Figure.of("s", []) is None


# ---- what was lost ------------------------------------------------------------------------------


def test_nothing_is_lost_when_every_run_is_decided() -> None:
    runs = [run("a", 0.0, 2.0, 1.0), run("b", 2.0, 4.0, 0.5)]
    assert lost_in(runs, ["a", "b"], [], 9.0) == Lost(6.0, 0.0, 1.5, 0.0, 4.0)


def test_run_that_was_cut_off_took_the_time_to_the_kill_and_as_much_of_the_solver() -> None:
    runs = [run("a", 0.0), run("a", 10.0, 4.0, 2.0)]
    # One second of four: a quarter of two seconds in the solver.
    assert lost_in(runs, ["a"], [1.0, 20.0], 30.0) == Lost(5.0, 1.0, 2.5, 0.5, 4.0)


def test_run_that_took_longer_than_the_decided_one_lost_no_more_solver_time_than_that() -> None:
    runs = [run("a", 0.0), run("a", 50.0, 4.0, 2.0)]
    assert lost_in(runs, ["a"], [40.0], 60.0) == Lost(44.0, 40.0, 4.0, 2.0, 4.0)


def test_result_that_was_not_decided_is_lost_as_a_whole() -> None:
    runs = [run("a", 0.0, 3.0, 1.0), run("a", 5.0, 4.0, 2.0)]
    assert lost_in(runs, ["a"], [3.5], 9.0) == Lost(7.0, 3.0, 3.0, 1.0, 4.0)
    assert lost_in(runs[:1], [], [3.5], 9.0) == Lost(3.0, 3.0, 1.0, 1.0, 0.0)


def test_item_that_is_never_decided_lost_the_usual_share_until_the_end() -> None:
    runs = [run("a", 0.0, 4.0, 1.0), run("b", 4.0)]
    assert lost_in(runs, ["a"], [2.0], 12.0) == Lost(12.0, 8.0, 3.0, 2.0, 4.0)


def test_run_that_began_after_its_decision_is_named() -> None:
    decisions = Decisions((("a", 1, 5.0),), (0.0,))
    assert run_after_decision([run("a", 4.0, 1.0), run("b", 9.0)], decisions) == []
    assert len(run_after_decision([run("a", 4.0, 1.0), run("a", 6.0)], decisions)) == 1


# ---- recovery -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "at_s", "recovery_s"),
    [("worker", 4.0, 1.0), ("root", 4.0, 6.0), ("launcher", 9.0, 1.0), ("executor", 10.5, None)],
)
def test_recovery_after_the_end_of_an_epoch_is_a_decision_of_a_later_one(
    role: str, at_s: float, recovery_s: float | None
) -> None:
    decided = (("a", 1, 3.0), ("b", 1, 5.0), ("c", 2, 10.0))
    # The launcher dies before the second epoch is opened.
    assert Decisions(decided, (0.0, 9.5)).after(Kill(role, at_s)) == recovery_s


# ---- all together -------------------------------------------------------------------------------


def test_figures_compare_the_campaigns_of_a_pair() -> None:
    disturbed = msgspec.structs.replace(
        ROW,
        disturbed=True,
        budget=Budget(100.0, 150, 42),
        executions=48,
        decided=45,
        repeated=2,
        run_lost_s=5.0,
        solver_lost_s=4.0,
        kills=(Kill("root", 1.0, 2.5), Kill("worker", 2.0)),
    )
    unmatched = msgspec.structs.replace(disturbed, pair=2, budget=Budget(1.0, 1, 1))
    failed = msgspec.structs.replace(disturbed, pair=3, budget=None)
    calm = msgspec.structs.replace(ROW, pair=3)
    rows = [disturbed, ROW, unmatched, failed, calm]
    medians = {name: one.median for name, one in figures_of(rows).items()}
    assert medians["edges, disturbed / undisturbed"] == 0.75
    assert medians["decisions, disturbed / undisturbed"] == pytest.approx(42 / 49, abs=1e-4)
    assert medians["kills that no decision followed"] == 1
    assert medians["executions lost"] == 3
    assert medians["executions repeated"] == 2
    assert medians["execution time lost"] == 5
    assert medians["CPU time lost"] == 5
    assert medians["solver time repeated, share"] == 20
    assert medians["recovery, root killed"] == medians["recovery"] == 2.5
    assert "recovery, worker killed" not in medians
    assert medians["COMMIT, share of the root's wall time"] == 2
    assert medians["durability, share of the root's wall time"] == 3
    assert medians["durability, share of the root's CPU time"] == 4


def test_trace_joins_results_with_runs_and_leaves_out_what_was_cut_off(tmp_path: Path) -> None:
    lines = [run("a", 1.0), run("a", 1.0, 2.0).done, run("b", 4.0), run("b", 5.0)]
    text = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    (tmp_path / "worker-1.jsonl").write_bytes(text + b'{"type":"run","work')
    found = runs_of(tmp_path)
    assert [(one.work_id, one.at) for one in found] == [("a", 1.0), ("b", 4.0), ("b", 5.0)]
    assert [one.done is not None for one in found] == [True, False, False]
