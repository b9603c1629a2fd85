"""One program in one cell: solved or not, and whether both builds do the same.

Solved means that the program built by clang alone reaches its condition on an input that the
engine made. Both builds must print the same and end the same, on the seed, on the solution of the
header, on every input that was made, and while the engine records.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

import msgspec

from symfleet.testing.capabilities import building
from symfleet.testing.capabilities.building import Cell, Compilers, DoesNotCompile
from symfleet.testing.capabilities.exploring import (
    Budget,
    ExecutorFailed,
    Exploration,
    Recorded,
)
from symfleet.testing.capabilities.programs import Program
from symfleet.testing.capabilities.running import RUN_S, Ran, run

_SHOWN_BYTES: Final = 40
_BY_ITSELF: Final = ("ok", "crash", "refused")
"""Outcomes of runs that nobody ended."""


class Finding(Enum):
    """What became of one program in one cell."""

    SOLVED = "solved"
    UNSOLVED = "unsolved"
    DIFFERS = "differs"
    """The two builds do not do the same: worse than unsolved."""
    NO_BUILD = "does not compile"
    UNFIT = "unfit"
    """A fault of the suite: clang refuses the program, or its header is wrong there."""


class Verdict(msgspec.Struct, frozen=True):
    """A finding with what led to it."""

    program: str
    level: str
    llvm: int
    finding: Finding
    solved: bool = False
    reason: str = ""
    how: str = ""
    explored: int = 0
    produced: int = 0
    seconds: float = 0.0

    @property
    def cell(self) -> Cell:
        return Cell(self.level, self.llvm)


class Differs(Exception):
    """The two builds do not do the same."""


class Unfit(Exception):
    """The program cannot be a case."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is needed to judge: the executor and both kinds of compilers."""

    executor: Path
    budget: Budget = field(default_factory=Budget)
    run_s: float = RUN_S
    """What one run may take."""
    plain: Callable[[Cell], Compilers] = building.plain
    instrumenting: Callable[[Cell], Compilers] = building.instrumenting

    def judge(self, program: Program, cell: Cell) -> Verdict:
        """Build, compare and explore; whatever happens is a verdict."""
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="symfleet-capability-") as name:
            case = _Case(self, program, cell, Path(name))
            finding, reason = case.decide()
        return Verdict(
            program.name,
            cell.level,
            cell.llvm,
            finding,
            solved=bool(case.how),
            reason=reason,
            how=case.how,
            explored=case.explored,
            produced=case.produced,
            seconds=round(time.monotonic() - began, 2),
        )


@dataclass(slots=True)
class _Case:
    trial: Trial
    program: Program
    cell: Cell
    folder: Path
    how: str = ""
    explored: int = 0
    produced: int = 0
    _oracle: dict[bytes, Ran] = field(default_factory=dict)

    def decide(self) -> tuple[Finding, str]:
        try:
            self._build()
            self._compare(self.program.solution)
            self._compare(self.program.seed)
            why = self._explore()
        except Unfit as error:
            return Finding.UNFIT, str(error)
        except DoesNotCompile as error:
            return Finding.NO_BUILD, self._without_folder(str(error))
        except Differs as error:
            return Finding.DIFFERS, str(error)
        except ExecutorFailed as error:
            return Finding.UNSOLVED, self._without_folder(f"symfleet-exec: {error}")
        return (Finding.SOLVED, "") if self.how else (Finding.UNSOLVED, why)

    def _build(self) -> None:
        """Raise Unfit when the program is no case there, DoesNotCompile when ours refuses it."""
        program, cell = self.program, self.cell
        try:
            building.build(program, cell, self.trial.plain(cell), self._plain)
        except DoesNotCompile as error:
            raise Unfit(f"clang refuses it: {error}") from error
        if not self._expected(program.solution).hit:
            raise Unfit("the solution of the header does not reach the condition")
        if self._expected(program.seed).hit:
            raise Unfit("the seed reaches the condition")
        building.build(program, cell, self.trial.instrumenting(cell), self._instrumented)

    @property
    def _plain(self) -> Path:
        return self.folder / "plain"

    @property
    def _instrumented(self) -> Path:
        return self.folder / "instrumented"

    def _explore(self) -> str:
        """Look for the condition; return why the engine stopped."""
        exploration = Exploration(
            self.trial.executor,
            self._instrumented,
            self.program.way,
            self.folder,
            self.trial.budget,
        )
        try:
            for produced, recorded in exploration.batches(self.program.seed):
                self.produced += len(produced)
                for child in produced:
                    if not self.how and self._expected(child.input).hit:
                        self.how = child.how
                for one in recorded:
                    self._compare_recorded(one)
                for child in produced:
                    self._compare(child.input)
                if self.how:
                    break
        finally:
            self.explored = exploration.explored
        return exploration.why()

    def _expected(self, data: bytes) -> Ran:
        """Return what the build without instrumentation does, asked once."""
        known = self._oracle.get(data)
        if known is None:
            known = self._run(self._plain, data)
            self._oracle[data] = known
        return known

    def _run(self, target: Path, data: bytes) -> Ran:
        return run(target, self.program.way, data, self.folder, self.trial.run_s)

    def _compare(self, data: bytes) -> None:
        """Raise Differs."""
        expected = self._expected(data)
        actual = self._run(self._instrumented, data)
        if actual != expected:
            told = f"clang: {_shown(expected)}, symfleet: {_shown(actual)}"
            raise Differs(f"on {data[:_SHOWN_BYTES].hex() or 'nothing'}: {told}")

    def _compare_recorded(self, one: Recorded) -> None:
        """Raise Differs when a recorded run that ended by itself ended otherwise."""
        if one.outcome not in _BY_ITSELF:
            return
        expected = self._expected(one.input).status
        actual = -one.signal if one.signal else one.exit_code
        if actual != expected:
            told = f"clang: status {expected}, recorded: status {actual}"
            raise Differs(f"on {one.input[:_SHOWN_BYTES].hex() or 'nothing'}: {told}")

    def _without_folder(self, text: str) -> str:
        return text.replace(f"{self.folder}/", "")


def _shown(ran: Ran) -> str:
    status = "no end" if ran.status is None else f"status {ran.status}"
    return f"{status} {ran.stdout[:_SHOWN_BYTES]!r}"
