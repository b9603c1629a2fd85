"""The command line of simulated campaigns, replay, and shrinking."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from symfleet.protocol.worker_slot import WorkerSlot
from symfleet.testing.simulate import main
from symfleet.testing.simulation.campaign import Simulation, simulate
from symfleet.testing.simulation.epoch import Shape
from symfleet.testing.simulation.fault_plan import FaultPlan
from symfleet.testing.simulation.runs import Finding, Summary, run_many, run_seeds
from symfleet.testing.simulation.shapes import shape_of
from symfleet.testing.simulation.shrinking import Case, failure_of, shrink

NOISY = FaultPlan(duplicate=0.2, delay=0.2, loss=0.05, budget=30)


@pytest.fixture
def forgets_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker runs a WORK again that comes twice."""
    monkeypatch.setattr(WorkerSlot, "_remember", lambda *_: None)


def failing(plan: FaultPlan = NOISY, shape: Shape | None = None) -> Case:
    """Return the first case that fails."""
    cases = (Case(seed, plan, shape or shape_of(12)) for seed in range(100))
    return next(case for case in cases if failure_of(case) is not None)


@pytest.mark.usefixtures("forgets_tokens")
def test_a_failing_campaign_is_shrunk_to_the_fault_that_it_needs() -> None:
    case = failing()
    found = shrink(case)
    assert found is not None
    assert "an item of a delivery ran twice" in found.what
    shape, plan = found.case.shape, found.case.plan
    assert (shape.coordinators, shape.workers, shape.slots, shape.prefetch) == (1, 1, 1, 0)
    assert shape.size <= 3
    assert plan.budget - len(plan.skip) <= 2
    assert "duplicate" in plan.chances
    again = failure_of(found.case)
    assert again is not None
    assert again.what == found.what
    story: list[str] = []
    with pytest.raises(AssertionError, match="ran twice"):
        Simulation(found.case.seed, plan, shape, tell=story.append).run()
    assert len(story) < 60
    assert sum("FAULT" in line for line in story) <= 2


def test_a_sound_campaign_cannot_be_shrunk() -> None:
    assert shrink(Case(3, FaultPlan(), Shape())) is None


def test_a_skipped_fault_is_drawn_but_does_not_happen_and_changes_nothing_before_it() -> None:
    plan = FaultPlan(loss=0.2, budget=6)
    stories: list[list[str]] = [[], []]
    for story, skip in zip(stories, ((), (4,)), strict=True):
        Simulation(5, FaultPlan(loss=0.2, budget=6, skip=skip), Shape(), tell=story.append).run()
    whole, cut = stories
    fourth = next(n for n, line in enumerate(whole) if "FAULT: loss (4)" in line)
    assert whole[:fourth] == cut[:fourth]
    assert not any("loss (4)" in line for line in cut)
    assert any("loss (5)" in line for line in cut)
    assert dict(simulate(5, plan, Shape()).injected) == {"loss": 6}


# ---- the command line ---------------------------------------------------------------------------


def test_replay_tells_the_story_with_times_and_compares_two_processes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--seed", "4", "--replay"]) == 0
    told = capsys.readouterr().out
    lines = told.splitlines()
    times = [float(line.split()[0]) for line in lines if re.match(r" +\d+\.\d{4}  ", line)]
    assert len(times) > 100
    assert times == sorted(times)
    for words in ("opens epoch 1", "FAULT: ", "runs ", "Decide ", "Result slot", "quiescent"):
        assert words in told
    match = re.search(r"history ([0-9a-f]{32}), in another process ([0-9a-f]{32})", told)
    assert match is not None
    assert match[1] == match[2] == simulate(4, shape=shape_of(4)).trace


def test_what_is_given_replaces_what_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    shape = json.dumps({"workers": 1, "slots": 1, "size": 4, "seeds": [0]})
    plan = json.dumps({"loss": 1.0, "budget": 2})
    assert main(["--seed", "1", "--shape", shape, "--plan", plan, "--replay"]) == 0
    assert "'loss', " in capsys.readouterr().out
    for bad in (["--shape", '{"wings": 2}'], ["--plan", '{"loss": "much"}'], ["--plan", "{"]):
        with pytest.raises(SystemExit) as ended:
            main(["--seed", "1", *bad])
        assert ended.value.code == 2


@pytest.mark.usefixtures("forgets_tokens")
def test_shrinking_prints_a_command_that_fails_in_the_same_way(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = json.dumps(dict.fromkeys(FaultPlan.names(), 0.0) | {"duplicate": 0.2, "budget": 9})
    shape = json.dumps({"coordinators": 1, "workers": 1, "slots": 1, "size": 4, "seeds": [0]})
    seed = next(
        seed
        for seed in range(200)
        if main(["--seed", str(seed), "--plan", plan, "--shape", shape]) == 1
    )
    capsys.readouterr()
    assert main(["--seed", str(seed), "--plan", plan, "--shape", shape, "--shrink"]) == 1
    told = capsys.readouterr().out
    command = next(line for line in told.splitlines() if line.startswith("python -m"))
    words = shlex.split(command)[3:]
    assert words[-1] == "--replay"
    assert main(words[:-1]) == 1
    assert "ran twice" in capsys.readouterr().out
    assert told.rstrip().endswith("ran twice")


def test_a_range_is_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seeds", "0..5"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("5 campaigns in ")
    for words in ("epochs", "decisions", "faults: ", "1 coordinators", "0 campaigns broke a rule"):
        assert words in told
    for bad in ("3", "9..3", "a..b"):
        with pytest.raises(SystemExit):
            main(["--seeds", bad])


@pytest.mark.usefixtures("forgets_tokens")
def test_a_failing_seed_is_named_with_the_command_that_replays_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    summaries = (run_seeds(range(seed, seed + 1)) for seed in range(200))
    summary = next(summary for summary in summaries if summary.findings)
    first = summary.findings[0]
    assert first.command == f"python -m symfleet.testing.simulate --seed {first.seed} --replay"
    assert main(["--seed", str(first.seed)]) == 1
    assert first.what in capsys.readouterr().out
    assert summary.campaigns == 1
    assert summary.as_json()["violations"][0]["seed"] == first.seed


def test_several_processes_run_what_one_runs() -> None:
    alone, pieces = run_seeds(range(6)), []

    def told(piece: range, summary: Summary) -> bool:
        pieces.append((piece, summary.campaigns))
        return True

    together = run_many(range(6), 2, told, chunk=4)
    together.cpu_s = alone.cpu_s
    assert together.virtual_s == pytest.approx(alone.virtual_s)
    together.virtual_s = alone.virtual_s
    assert together == alone
    assert sorted(pieces, key=str) == [(range(4), 4), (range(4, 6), 2)]


def test_a_run_ends_early_when_it_is_told_to() -> None:
    ran = run_many(range(100_000), 1, lambda *_: False, chunk=1)
    assert ran.campaigns <= 2


def test_findings_of_pieces_are_added_up() -> None:
    total, more = Summary(campaigns=1), Summary(campaigns=2, findings=[Finding(7, "x")])
    total.merge(more)
    assert (total.campaigns, total.findings) == (3, [Finding(7, "x")])
