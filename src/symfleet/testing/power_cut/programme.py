"""The programme: trace each driver, enumerate, judge; then cut the power during recoveries, too."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.testing.ledgers import ManualClock
from symfleet.testing.power_cut import campaign, drivers
from symfleet.testing.power_cut.campaign import OUT, End
from symfleet.testing.power_cut.crash_states import CrashState, crash_states
from symfleet.testing.power_cut.disk import Model
from symfleet.testing.power_cut.drivers import DRIVERS
from symfleet.testing.power_cut.judge import Folder, Judge, Tally, working_in
from symfleet.testing.power_cut.operations import Trace
from symfleet.testing.power_cut.trace import record

_MODULE: Final = "symfleet.testing.power_cut.drivers"
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a new folder is made in it
_RECOVERY: Final = "recover"


@dataclass(frozen=True, slots=True)
class Share:
    """How much of a driver is looked at. `every`: one of how many instants (None: the driver's own
    choice); `subsets`: drawn subsets at each; `second`: how many recoveries are cut, too."""

    every: int | None = None
    subsets: int = 4
    second: int = 0
    second_every: int = 1
    violations_max: int = 100
    """After so many there is nothing more to learn."""


def examine(name: str, seed: int, share: Share, plant: str | None = None) -> Tally:
    """Trace a driver and judge what power cuts may leave of it, and of its recovery."""
    dice = random.Random(f"{name} {seed}")
    tally = Tally()
    with _scratch() as scratch:
        trace = _trace_of(name, scratch, plant)
        end = _end_of(name, scratch)
        _judge_all(name, name, trace, end, dice, share, scratch, tally)
        for state in _first_cuts(trace, dice, share.second):
            again = Share(share.second_every, share.subsets)
            label = f"{name}, {state.model.value}, {state.instant}, {state.variant}: recovery"
            _recover_from(state, scratch)
            recovery = _traced(_RECOVERY, scratch, None)
            _judge_all(label, _RECOVERY, recovery, end, dice, again, scratch, tally)
    return tally


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """Make a folder for the block, in memory where that is possible: nothing here must last."""
    parent = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="symfleet-power-cut-", dir=parent) as folder:
        yield Path(folder)


def _trace_of(name: str, scratch: Path, plant: str | None) -> Trace:
    """Make what a driver begins with in a new folder, run it, and return its trace."""
    folder = scratch / "traced"
    folder.mkdir()
    with working_in(folder):
        drivers.prepare(name)
    return _traced(name, scratch, plant)


def _traced(name: str, scratch: Path, plant: str | None) -> Trace:
    notes = scratch / "notes"
    notes.unlink(missing_ok=True)
    command = [sys.executable, "-m", _MODULE, name, str(notes)]
    command += ["--plant", plant] if plant else []
    return record(command, scratch / "traced", notes, scratch / "log")


def _end_of(name: str, scratch: Path) -> End:
    """Return what the campaign of a driver comes to when nothing happens to it."""
    folder = scratch / "undisturbed"
    folder.mkdir()
    with working_in(folder):
        return campaign.undisturbed(ManualClock(), DRIVERS[name].seeds)


def _judge_all(
    label: str,
    name: str,
    trace: Trace,
    end: End,
    dice: random.Random,
    share: Share,
    scratch: Path,
    tally: Tally,
) -> None:
    shutil.rmtree(scratch / "judged", ignore_errors=True)
    judge = Judge(label, DRIVERS[name], trace, end, scratch / "judged", tally)
    judge.begin(next(crash_states(trace, Model.REORDERED, dice)).tree)
    driver = DRIVERS[name]
    for model in Model:
        for state in crash_states(
            trace,
            model,
            dice,
            subsets=share.subsets,
            every=share.every or driver.every,
            variants_max=driver.variants_max,
        ):
            judge.judge(state)
            if len(tally.violations) >= share.violations_max:
                return


def _first_cuts(trace: Trace, dice: random.Random, amount: int) -> list[CrashState]:
    """Return some states that have a ledger, of any model and any instant."""
    states: list[CrashState] = []
    every = max(1, len(trace.operations) // (2 * amount + 1))
    for model in Model if amount else ():
        states += [
            state
            for state in crash_states(trace, model, dice, subsets=1, every=every)
            if str(OUT / "ledger.db") in state.tree.files
        ]
    return dice.sample(states, min(amount, len(states)))


def _recover_from(state: CrashState, scratch: Path) -> None:
    shutil.rmtree(scratch / "traced")
    Folder(scratch / "traced").become(state.tree)
