"""Random programs do with `symfleet cc` what they do with clang, and predictions hold.

The full form is benchmarks/random_programs.py."""

from __future__ import annotations

import os
import pathlib

import pytest

from symfleet.compiler.toolchain import find_toolchain
from symfleet.testing.random_programs.decisions import Finding
from symfleet.testing.random_programs.trial import GUESSES, Trial, Verdict
from symfleet.testing.random_programs.writing import write_program

CASES = [(101, "O0"), (102, "O1"), (103, "O2"), (104, "O3")]


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


@pytest.mark.parametrize(("seed", "level"), CASES)
def test_predictions_hold_without_instrumentation(
    seed: int, level: str, trial: Trial, tmp_path: pathlib.Path
) -> None:
    verdict = trial.judge(seed, level, tmp_path)
    assert verdict.differences == []
    assert verdict.missed == []
    assert verdict.runs > 10
    assert count(verdict, Finding.CONFIRMED) > 5


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
