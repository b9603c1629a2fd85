"""Calls that fail inside a whole job: the real loops of all ranks in one process, files on disk.

The job is a scene of the kill matrix. After the failed call it ends with 74, or goes on; then a
second launch finishes the campaign, which must come to what an undisturbed one comes to.
"""

from __future__ import annotations

import random
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from symfleet.errors import ExitCode, SymfleetError
from symfleet.testing.io_faults.cases import Problem, Report
from symfleet.testing.io_faults.faults import Fault, Kind, Shim
from symfleet.testing.kills.lives import ENDED, in_child, said, seen
from symfleet.testing.kills.scenes import Result, Scene

NAME: Final = "launch"
_CALLS_MAX: Final = 1_000_000
_READS_ALIKE: Final = 50
"""A job reads the same pages again and again."""
_COUNTED: Final = Counter(
    {
        # What the scene counts by itself, twice when a launch ended in the middle.
        "blames": 2,
        "id_mismatches": 2,
        "invalid_results": 2,
        "slots_reborn": 2,
        "projection_repaired": 3,
        "leases_recovered": 99,
        "redone_decisions": 99,
    }
)


class LaunchLoop:
    """All cases of one job."""

    def __init__(self, folder: Path, shim: Shim, report: Report) -> None:
        self._folder = folder
        self._shim = shim
        self._report = report
        calm = Scene(folder / "calm")
        calm.make()
        assert calm.live() in ENDED
        assert calm.look() == []
        self._expected: Result = calm.result()

    def cases(self, fault: Fault, stride: int, dice: random.Random) -> None:
        """Fail every `stride`-th call, from a drawn one on, until none is left."""
        stride *= _READS_ALIKE if fault.kinds & Kind.READ else 1
        for nth in range(1 + dice.randrange(stride), _CALLS_MAX, stride):
            if not self.case(fault, nth):
                return
        raise AssertionError("the job makes more calls than any should")

    def case(self, fault: Fault, nth: int) -> bool:
        """Fail one call; return whether there was one."""
        scene = Scene(self._folder / "case")
        scene.make()
        try:
            fired, code, wrong = self._disturbed(scene, fault, nth)
            wrong += self._finished(scene)
        finally:
            scene.forget()
        self._report.problems += [Problem(NAME, fault.name, nth, what) for what in wrong]
        if fired:
            self._report.count(fault.name, code)
        return fired

    def _disturbed(self, scene: Scene, fault: Fault, nth: int) -> tuple[bool, int, list[str]]:
        told = scene.folder / "fired"

        def life() -> int:
            scene.out.mkdir()
            self._shim.arm(scene.out, fault, nth)
            try:
                code = scene.live()
            except SymfleetError as error:
                traceback.print_exception(error)
                code = int(error.exit_code)
            fired, retried = self._shim.fired, self._shim.retried
            self._shim.disarm()
            told.write_text(f"{fired} {retried}")
            return code

        code = in_child(life, scene.folder / "life.log")
        if not told.exists():
            return True, code, [f"it ended with {code}: {said(scene)}"]
        fired, retried = map(int, told.read_text().split())
        return fired > 0, code, list(self._wrong(scene, code, fired, retried))

    def _wrong(self, scene: Scene, code: int, fired: int, retried: int) -> Iterator[str]:
        if code not in (*ENDED, ExitCode.IO) or (code == ExitCode.IO and not fired):
            yield f"it ended with {code}: {said(scene)}"
        if retried:
            yield f"a file was synchronised again after that had failed: {said(scene)}"
        yield from seen(scene)

    def _finished(self, scene: Scene) -> list[str]:
        """Launch once more, with a disk that works; return what is wrong in the end."""
        code = in_child(scene.live, scene.folder / "life.log")
        if code not in ENDED:
            return [f"the launch after it ended with {code}: {said(scene)}"]
        return [*seen(scene), *scene.result().wrong(self._expected, _COUNTED)]
