"""Random programs do with `symfleet cc` what they do with clang, and predictions hold.

The full form is benchmarks/random_programs.py."""

from __future__ import annotations

import datetime
import os
import pathlib

import pytest
from msgspec.structs import replace

from symfleet.compiler.toolchain import find_toolchain
from symfleet.testing.kills.rotation import turn_of, window
from symfleet.testing.random_programs.decisions import Finding
from symfleet.testing.random_programs.trial import GUESSES, INPUTS, Trial, Verdict
from symfleet.testing.random_programs.writing import write_program

ROOT = pathlib.Path(__file__).parents[2]
TURN = turn_of(ROOT, datetime.datetime.now(datetime.UTC).date())
PROGRAMS = range(2000)
"""Of the full form; each change tries others of them, at one level each."""
PROGRAMS_EACH_TURN = 60
PARTS = 6
MISSED_MAX = 0.01
"""Of the observed ones; a branch in an expression that -O3 has moved looks like one."""
LEVELS = ("O0", "O1", "O2", "O3")


@pytest.fixture(scope="module")
def trial(native: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    toolchain = find_toolchain(os.environ, lambda _: "")
    ready = Trial(toolchain, native / "bin" / "symfleet-exec", tmp_path_factory.mktemp("probes"))
    ready.prepare()
    return ready


def count(verdict: Verdict, finding: Finding) -> int:
    return sum(
        tally.get(finding.value, 0) for how, tally in verdict.findings.items() if how not in GUESSES
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_predictions_hold_without_instrumentation(
    part: int, trial: Trial, tmp_path: pathlib.Path
) -> None:
    seeds = window(PROGRAMS, TURN, PROGRAMS_EACH_TURN)[part::PARTS]
    verdicts = []
    for place, seed in enumerate(seeds):
        folder = tmp_path / str(seed)
        folder.mkdir()
        verdicts.append(trial.judge(seed, LEVELS[(place + TURN) % len(LEVELS)], folder))
    assert verdicts == [replace(verdict, differences=[]) for verdict in verdicts]
    confirmed = sum(count(verdict, Finding.CONFIRMED) for verdict in verdicts)
    missed = [one for verdict in verdicts for one in verdict.missed]
    assert len(missed) <= MISSED_MAX * confirmed, missed
    assert all(verdict.runs >= INPUTS for verdict in verdicts)
    assert confirmed > len(seeds)


@pytest.mark.parametrize(("seed", "level"), [(366, "O3"), (450, "O1"), (680, "O1"), (680, "O2")])
def test_a_run_that_follows_nothing_but_addresses_is_judged_by_its_output(
    seed: int, level: str, trial: Trial, tmp_path: pathlib.Path
) -> None:
    verdict = trial.judge(seed, level, tmp_path)
    assert not verdict.differences
    assert verdict.runs > INPUTS


def test_a_program_that_does_something_else_is_seen(
    trial: Trial, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoilt(seed: int) -> str:
        different = "#ifdef __SYMFLEET__\n  note(1);\n#endif\n  note(n);\n"
        return write_program(seed).replace("  note(n);\n", different)

    monkeypatch.setattr("symfleet.testing.random_programs.trial.write_program", spoilt)
    verdict = trial.judge(101, "O0", tmp_path)
    assert any(" became " in one for one in verdict.differences)
    assert any("decides otherwise" in one for one in verdict.differences)
