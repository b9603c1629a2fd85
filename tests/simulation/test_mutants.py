"""Planted faults: each is seen by a check, and without them the same checks see nothing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import pytest

from symfleet.protocol import tokens
from symfleet.protocol.delivery import TABLE as DELIVERY_TABLE
from symfleet.protocol.delivery import Phase, Step
from symfleet.protocol.tokens import TokenMint
from symfleet.testing.mutants.catalogue import AREAS, CATALOGUE, SIMULATED, TESTED
from symfleet.testing.mutants.hunting import hunt
from symfleet.testing.mutants.planting import (
    Edit,
    InSimulation,
    Mutant,
    NotThere,
    Put,
    Rows,
)
from symfleet.testing.mutants.trial import NOTHING, Trial
from symfleet.types import SlotAddress

ROOT: Final = Path(__file__).parents[2]
SEEDS_MAX: Final = 300
"""From the seed on that is remembered: no mutant depends on that very one."""
SHARES: Final = 2
HARMLESS: Final = Mutant(
    "harmless",
    "D1",
    "A mint that counts in another order of words.",
    (Edit(TokenMint, "mint", "self._sequence += 1", "self._sequence = 1 + self._sequence"),),
    InSimulation("calm"),
)


@pytest.mark.parametrize("mutant", SIMULATED, ids=lambda mutant: mutant.name)
def test_campaigns_that_are_sound_without_the_mutant_see_it(mutant: Mutant) -> None:
    seen = mutant.seen
    assert isinstance(seen, InSimulation)
    assert hunt(mutant, seen.scene, seen.seed, SEEDS_MAX), f"no seed shows it: {mutant.broken}"


def run_trials(names: Sequence[str]) -> list[Trial]:
    """Run trials in a process group of their own, which ends with this test."""
    command = [sys.executable, "-m", "symfleet.testing.mutants.trial", *names]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, process_group=0) as process:
        try:
            told, errors = process.communicate(timeout=170)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert process.returncode == 0, errors.decode(errors="replace")
    return [msgspec.json.decode(line, type=Trial) for line in told.splitlines()]


@pytest.mark.parametrize("share", range(SHARES))
def test_tests_of_this_repository_see_the_other_mutants_and_fail_without_none(share: int) -> None:
    names = [NOTHING, *(mutant.name for mutant in TESTED[share::SHARES])]
    trials = run_trials(names)
    assert [trial.mutant for trial in trials] == names
    sound, *mutated = trials
    assert not sound.failed, sound
    assert sound.tests >= len(mutated)
    survived = [trial for trial in mutated if not trial.failed]
    assert not survived, survived


def test_every_promise_is_broken_by_a_mutant_and_every_mutant_has_its_line_in_the_docs() -> None:
    promises = (ROOT / "docs" / "explanation" / "guarantees.md").read_text()
    names = re.findall(r"^\| ([DJLACQ]\d+) \|", promises, re.MULTILINE)
    assert len(CATALOGUE) >= 36
    assert len({mutant.name for mutant in CATALOGUE}) == len(CATALOGUE)
    assert {mutant.guarantee for mutant in CATALOGUE} == set(names), "each promise is broken once"
    assert all(len(area) >= 5 for area in AREAS.values())
    page = (ROOT / "docs" / "reference" / "mutants.md").read_text()
    missing = [mutant.name for mutant in CATALOGUE if f"| `{mutant.name}` |" not in page]
    assert not missing, f"python -m benchmarks.mutants writes the page anew: {missing}"


@pytest.mark.parametrize("mutant", CATALOGUE, ids=lambda mutant: mutant.name)
def test_a_mutant_is_there_while_it_is_planted_and_no_longer(mutant: Mutant) -> None:
    def seen() -> list[object]:
        return [change.now() for change in mutant.changes]

    before = seen()
    with mutant.planted():
        assert all(was != now for was, now in zip(before, seen(), strict=True))
    assert seen() == before


def test_a_fault_that_is_none_survives() -> None:
    assert hunt(HARMLESS, "calm", 0, 3) is None


def test_a_fault_is_planted_only_where_the_code_is_as_it_expects() -> None:
    moved = Edit(TokenMint, "mint", "self._sequence += 2", "pass")
    twice = Edit(TokenMint, "mint", "place.", "slot.")
    gone = (Edit(TokenMint, "coin", "a", "b"), Put(tokens, "NO_MINT", 1), Rows({1: 2}, {3: 4}))
    for change in (moved, twice, *gone):
        with pytest.raises(NotThere), change.made():
            pass


def test_rows_of_a_table_and_names_can_be_others() -> None:
    pair = (Phase.ACTIVE, Step.RESULT)
    with Rows(DELIVERY_TABLE, {pair: Phase.CLOSED}).made(), Put(tokens, "_DOMAIN", b"x").made():
        assert DELIVERY_TABLE[pair] is Phase.CLOSED
        mint = TokenMint(b"")
        assert mint.mint(SlotAddress(1, 0)) == TokenMint(b"").mint(SlotAddress(1, 0))
    assert DELIVERY_TABLE[pair] is Phase.DECIDING
