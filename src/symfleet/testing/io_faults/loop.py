"""Fail the n-th call of a program, for every n until none is left; judge what comes of each.

    LD_PRELOAD=shim.so python -m symfleet.testing.io_faults.loop SCRATCH NAME... [--stride 1]

The programs are those of the power cuts, and so are the checks of what they leave. Each case is a
fork of this process, so that it takes a few milliseconds. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import sys
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from symfleet.errors import ExitCode, SymfleetError
from symfleet.testing.io_faults.cases import CALLS_MAX, Problem, Report
from symfleet.testing.io_faults.faults import EACH_SYNC, FAULTS, Fault, Mode, Shim
from symfleet.testing.io_faults.launch import NAME, LaunchLoop
from symfleet.testing.io_faults.planted import PLANTS
from symfleet.testing.ledgers import ManualClock
from symfleet.testing.power_cut import campaign, drivers
from symfleet.testing.power_cut.campaign import Owner
from symfleet.testing.power_cut.disk import Tree, digest_of
from symfleet.testing.power_cut.drivers import DRIVERS, Notes
from symfleet.testing.power_cut.judge import Judge, Tally, working_in
from symfleet.testing.power_cut.operations import Note, Trace
from symfleet.testing.power_cut.trace import look


@dataclass(frozen=True, slots=True)
class Ended:
    """How one case ended. `said`: its last words."""

    code: int
    fired: int
    retried: int
    unsettled: int
    said: str
    notes: list[str]


class _QuietNotes(Notes):
    """Notes whose own reading of the database is not meant by the fault."""

    def __init__(self, path: Path, shim: Shim) -> None:
        super().__init__(path)
        self._shim = shim

    def note(self, owner: Owner, word: str) -> None:
        """Note the database as it is."""
        with self._shim.paused():
            super().note(owner, word)


class Loop:
    """All cases of one program."""

    def __init__(self, name: str, scratch: Path, shim: Shim, report: Report) -> None:
        self._name = name
        self._shim = shim
        self._report = report
        self._folder = scratch / name
        self._begun = self._folder / "begun"
        self._case = self._folder / "case"
        self._begun.mkdir(parents=True)
        with working_in(self._begun):
            drivers.prepare(name)
        undisturbed = self._run(None, 0)
        assert undisturbed.code == 0, undisturbed.said
        notes = tuple(Note(text) for text in undisturbed.notes)
        trace = Trace(look(self._begun), notes)
        (self._folder / "end").mkdir()
        with working_in(self._folder / "end"):
            end = campaign.undisturbed(ManualClock(), DRIVERS[name].seeds)
        self._judge = Judge(name, DRIVERS[name], trace, end, self._folder / "judged", Tally())
        self._judge.begin(tree_of(self._begun))

    def cases(self, fault: Fault, stride: int, dice: random.Random) -> None:
        """Fail every `stride`-th call, from a drawn one on, until none is left."""
        for nth in range(1 + dice.randrange(stride), CALLS_MAX, stride):
            if not self.case(fault, nth):
                return
        raise AssertionError("the program makes more calls than any should")

    def case(self, fault: Fault, nth: int) -> bool:
        """Fail one call; return whether there was one."""
        ended = self._run(fault, nth)
        for what in self._wrong(ended):
            self._report.problems.append(Problem(self._name, fault.name, nth, what))
        if ended.fired:
            self._report.count(fault.name, ended.code)
        return ended.fired > 0

    def _wrong(self, ended: Ended) -> Iterator[str]:
        if ended.code not in (ExitCode.DONE, ExitCode.IO) or (ended.code and not ended.fired):
            yield f"it ended with {ended.code}: {ended.said}"
        if ended.code == ExitCode.DONE and ended.unsettled:
            yield "a sync failed, and the program ended as if nothing had"
        if ended.retried:
            yield f"a file was synchronised again after that had failed: {ended.said}"
        yield from self._judge.problems(tree_of(self._case), ended.notes)

    def _run(self, fault: Fault | None, nth: int) -> Ended:
        """Run the program in a child, with one fault or none."""
        shutil.rmtree(self._case, ignore_errors=True)
        shutil.copytree(self._begun, self._case)
        notes, words = self._folder / "notes", self._folder / "words"
        notes.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = self._live(fault, nth, notes, words)
            except BaseException:  # noqa: BLE001 - the border of a process
                traceback.print_exc()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        fired, retried, unsettled, said = json.loads(words.read_text())
        lines = notes.read_text().splitlines() if notes.exists() else []
        return Ended(os.waitstatus_to_exitcode(status), fired, retried, unsettled, said, lines)

    def _live(self, fault: Fault | None, nth: int, notes: Path, words: Path) -> int:
        """Be the child: do what a coordinator's process does with an error, and return its code."""
        told, said, code = _QuietNotes(notes, self._shim), "", 0
        os.chdir(self._case)
        if fault is not None:
            self._shim.arm(self._case, fault, nth)
        try:
            drivers.run(self._name, told)
        except SymfleetError as error:
            said, code = "".join(traceback.format_exception(error)), int(error.exit_code)
            try:
                if told.owner is not None:
                    told.owner.ledger.close()
            except SymfleetError as later:
                said = f"{said}; then {later}"
            except sqlite3.ProgrammingError:
                pass  # it was closing that failed
            except BaseException:  # noqa: BLE001 - the border of a process
                said, code = traceback.format_exc(), int(ExitCode.INTEGRITY)
        except BaseException:  # noqa: BLE001 - the border of a process
            said, code = traceback.format_exc(), int(ExitCode.INTEGRITY)
        fired, retried = self._shim.fired, self._shim.retried
        unsettled = self._shim.unsettled
        self._shim.disarm()
        words.write_text(json.dumps([fired, retried, unsettled, said]))
        return code


def tree_of(folder: Path) -> Tree:
    """Return what is in a folder as a state that can be judged."""
    seen = look(folder)
    files = {name: seen.contents[inode] for name, inode in seen.names.items()}
    return Tree(seen.folders, {name: (data, digest_of(data)) for name, data in files.items()})


def main() -> int:
    """Run the loops of some programs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scratch", type=Path)
    parser.add_argument("names", nargs="+", choices=[*sorted(DRIVERS), NAME])
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", nargs="*", default=[fault.name for fault in FAULTS])
    parser.add_argument("--nth", type=int, help="fail this call only, as a problem names it")
    parser.add_argument("--plant", choices=sorted(PLANTS))
    options = parser.parse_args()
    report, shim = Report(), Shim()
    if options.plant:
        PLANTS[options.plant]()
    for name in options.names:
        if name == NAME:
            loop: Loop | LaunchLoop = LaunchLoop(options.scratch / name, shim, report)
        else:
            loop = Loop(name, options.scratch, shim, report)
        dice = random.Random(f"{name} {options.seed}")
        for fault in (*FAULTS, EACH_SYNC):
            if fault.name in options.faults and options.nth:
                loop.case(fault, options.nth)
            elif fault.name in options.faults:
                # After a fault that stays, later calls tell little that is new.
                stride = options.stride * (4 if fault.mode is Mode.FOR_EVER else 1)
                loop.cases(fault, stride, dice)
    sys.stdout.write(json.dumps(asdict(report)) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
