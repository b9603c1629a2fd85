"""The kill matrix: a process is killed at every crash point, and what comes afterwards is judged.

    python -m symfleet.testing.kills.matrix [--turn N | --pairs | --count] [--only WORDS]

Theory of operation. A first life of each scene (`kill_scenes`) only counts: it tells which points
are passed where, and how often. A *case* is one of these passages, up to the third in a role: a
forked process lives until it is killed there. Then the scene is looked at (audit, nothing decided
is lost, nothing is published that was not decided), the campaign is opened again, dies at a point
of its recovery, and is looked at again; the last life is left alone. In the end everything must be
as in the life that nobody disturbed, and nothing that had been decided may have been run again.

One *turn* has every label in every role, with one of its occurrences each and one death in its
recovery, so that three turns have all occurrences; `--pairs` has all of them with a death at every
point of the recovery each.

Where a rank can die alone (it is not the root, and has nothing durable), that is a case, too; and
at each point of the root an error of the system may come instead (EIO), which ends the job or does
not, but must not cost anything either: some of these have their turn with each change.
Prints one line of JSON; exits with 1 when anything is wrong.
"""

from __future__ import annotations

import argparse
import enum
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from symfleet.testing.kills.afterwards import Keeping, Retargeted
from symfleet.testing.kills.lives import ENDED, counted, die, said, seen
from symfleet.testing.kills.rotation import window
from symfleet.testing.kills.scenes import ROOT, Mischief, Result, Scene
from symfleet.types import WorkState

OCCURRENCES: Final = 3
ERRORS: Final = 12
"""How many cases of an error of the system a turn has."""
_TOLD_EVERY: Final = 20
_BY_ITSELF: Final = {
    "blames": 1,
    "id_mismatches": 1,
    "invalid_results": 1,
    "projection_repaired": 1,
    "slots_reborn": 1,
}
"""What these campaigns count without any kill."""
_BY_DEATH: Final = {"leases_recovered": 99, "redone_decisions": 99}
_BY_LONELY_DEATH: Final = {"slots_recovered": 9, "slots_reborn": 9}


class Form(enum.StrEnum):
    """What a case does."""

    PROCESS = "process killed"
    RANK = "rank dies alone"
    ERROR = "EIO"


@dataclass(frozen=True, slots=True)
class Case:
    """Where somebody dies first."""

    scene: str
    place: str
    label: str
    occurrence: int
    form: Form

    def __str__(self) -> str:
        return f"{self.scene}: {self.label} {self.occurrence} at rank {self.place}, {self.form}"

    @property
    def action(self) -> str:
        """What happens at the point."""
        return "eio" if self.form is Form.ERROR else "kill"

    @property
    def spec(self) -> str:
        """What arms it."""
        return f"{self.label}:{self.occurrence}:{self.action}:{self.place}"


@dataclass(slots=True)
class Report:
    """What the matrix came to."""

    cases: int = 0
    deaths: int = 0
    deaths_in_recovery: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    """Label -> how often somebody died there."""
    passed: list[str] = field(default_factory=list)
    """Labels that were passed by a life that counted."""
    to_die: list[str] = field(default_factory=list)
    """Labels that some case has."""
    violations: list[str] = field(default_factory=list)
    seconds: float = 0.0


# ---- scenes -------------------------------------------------------------------------------------


class Kind:
    """A scene that can be made again and again, and what it comes to undisturbed."""

    def __init__(self, name: str, folder: Path, make: Callable[[Path], Scene]) -> None:
        """Live it once, counting; `folder` is for all its copies."""
        self.name = name
        self.calm = make(folder / f"{name}-calm")
        self._folder = folder
        self._make = make
        self._serial = 0
        self.calm.make()
        self.profile = counted(self.calm, "")
        self.expected: Result = self.calm.result()
        again = self.fresh()
        death = Counter({label: n for (place, label), n in self.profile.items() if place == ROOT})
        middle = "decide.committed" if death["decide.committed"] > 2 else "copy.batch"
        if death[middle]:
            assert die(again, f"{middle}:2:kill:{ROOT}") == -signal.SIGKILL
        self.recovery = [label for place, label in counted(again, "") if place == ROOT]
        """Points of a life that follows a death, in their order."""
        again.forget()

    def fresh(self) -> Scene:
        """Return a scene in which nothing has happened."""
        self._serial += 1
        scene = self._make(self._folder / f"{self.name}-{self._serial}")
        scene.make()
        return scene

    def again(self, scene: Scene, saved: Scene) -> Scene:
        """Return a scene in the place of another one, in which only what was saved has happened."""
        scene.forget()
        made = self._make(scene.folder)
        made.take(saved)
        return made

    def saved(self, scene: Scene) -> Scene:
        """Keep what has happened in a scene."""
        made = self._make(scene.folder.with_suffix(".saved"))
        made.take(scene)
        return made

    def cases(self, elsewhere: set[tuple[str, str]]) -> Iterator[Case]:
        """Yield the cases whose (label, role) no other scene has; they are added to these."""
        for (place, label), passages in sorted(self.profile.items()):
            role = self.calm.role(place)
            if (label, role) in elsewhere:
                continue
            elsewhere.add((label, role))
            for occurrence in range(1, min(OCCURRENCES, passages) + 1):
                yield Case(self.name, place, label, occurrence, Form.PROCESS)
            yield Case(self.name, place, label, 1, Form.ERROR if place == ROOT else Form.RANK)


def kinds(folder: Path, server: str) -> Sequence[Kind]:
    """Make all scenes below a folder: on SQLite, or on a server the one that it matters for."""
    if server:
        return (Kind("server", folder, lambda place: Scene(place, ledger=server)),)
    alone = Kind("campaign", folder, Scene)
    shared = Kind(
        "coordinators", folder, lambda place: Scene(place, coordinators=2, mischief=_PAUSING)
    )
    poisoned = Kind("poison", folder, lambda place: Scene(place, mischief=_DEADLY))
    keeping = Kind("keeping", folder, lambda place: Keeping(place, alone.calm))
    other = Kind("another program", folder, lambda place: Retargeted(place, alone.calm))
    return alone, shared, poisoned, keeping, other


_PAUSING: Final = Mischief(pausing=5)
_DEADLY: Final = Mischief(deadly=7)


# ---- judging ------------------------------------------------------------------------------------


class Matrix:
    """Runs cases and keeps the report."""

    def __init__(self, folder: Path, tell: Callable[[str], None], server: str = "") -> None:
        self._tell = tell
        self.report = Report()
        self.kinds = {kind.name: kind for kind in kinds(folder, server)}
        taken: set[tuple[str, str]] = set()
        self.cases = [case for kind in self.kinds.values() for case in kind.cases(taken)]
        passed = {label for kind in self.kinds.values() for _, label in kind.profile}
        passed |= {label for kind in self.kinds.values() for label in kind.recovery}
        self.report.passed = sorted(passed)
        self.report.to_die = sorted({case.label for case in self.cases})
        self._hits: Counter[str] = Counter()

    def turn(self, turn: int) -> list[Case]:
        """Return the cases of a turn."""
        groups: dict[tuple[str, str, str, Form], list[Case]] = {}
        errors: list[Case] = []
        for case in self.cases:
            key = (case.scene, case.place, case.label, case.form)
            if case.form is Form.ERROR:
                errors.append(case)
            else:
                groups.setdefault(key, []).append(case)
        chosen = [group[turn % len(group)] for group in groups.values()]
        return [*chosen, *window(errors, turn, ERRORS)]

    def run(self, case: Case, number: int, *, pairs: bool) -> None:
        """Run one case. `number` chooses the point at which it dies again."""
        kind = self.kinds[case.scene]
        scene = kind.fresh()
        try:
            wrong = self._die(scene, case)
            if pairs:
                saved = kind.saved(scene)
                for label in kind.recovery:
                    scene = kind.again(scene, saved)
                    found = self._recover(kind, scene, label, case.form)
                    wrong += [f"then {label}: {one}" for one in found]
                saved.forget()
            else:
                again = kind.recovery[number % len(kind.recovery)]
                wrong += self._recover(kind, scene, again, case.form)
        finally:
            scene.forget()
        self.report.cases += 1
        self._note(case, wrong)

    def _note(self, case: Case, wrong: Sequence[str]) -> None:
        for one in wrong:
            self._tell(f"{case}: {one}")
            self.report.violations.append(f"{case}: {one}")
        self.report.labels = dict(self._hits)

    def _die(self, scene: Scene, case: Case) -> list[str]:
        """Die for the first time; return what is wrong then."""
        code = die(scene, case.spec, alone=case.form is Form.RANK)
        ends_well = {
            Form.PROCESS: code == -signal.SIGKILL,
            Form.RANK: code in ENDED,
            Form.ERROR: code >= 0,
        }
        if not ends_well[case.form]:
            return [f"it ended with {code}: {said(scene)}"]
        if f"crash point {case.label}: {case.action}" not in said(scene):
            return [f"nobody was there: {said(scene)}"]
        self.report.deaths += 1
        self._hits[case.label] += case.form is not Form.ERROR
        return seen(scene)

    def _recover(self, kind: Kind, scene: Scene, label: str, form: Form) -> list[str]:
        """Die again at a point, then live to the end; return what is wrong."""
        code, wrong = die(scene, f"{label}:1:kill:{ROOT}"), list[str]()
        if code == -signal.SIGKILL:
            self.report.deaths_in_recovery += 1
            self._hits[label] += 1
        elif code not in ENDED:
            wrong.append(f"the life that was to die at {label} ended with {code}: {said(scene)}")
        wrong += [f"after {label}: {one}" for one in seen(scene)]
        code = die(scene, "")
        if code not in ENDED:
            return [*wrong, f"the last life ended with {code}: {said(scene)}"]
        allowed = Counter(_BY_ITSELF | _BY_DEATH)
        if form is Form.RANK:
            allowed.update(_BY_LONELY_DEATH)
        if kind.expected.states.get(WorkState.POISONED):
            allowed["blames"] += 3
        return [*wrong, *seen(scene), *scene.result().wrong(kind.expected, allowed)]


def run(
    folder: Path,
    tell: Callable[[str], None],
    *,
    turn: int | None = None,
    only: str = "",
    part: tuple[int, int] = (0, 1),
    server: str = "",
) -> Report:
    """Run one turn of the matrix below an empty folder; all pairs without one.

    `part`: which one (from 0) of how many; of no parts there is none, and points are counted only.
    `server`: where ledgers are; a copy of a folder is no copy of one there, so it has no pairs."""
    assert turn is not None or not server, "only turns can be run on a server"
    began = time.monotonic()
    first = Scene(folder / "first")
    for scene in (first, Keeping(folder / "first-kept", first)):
        scene.make()
        scene.live()  # here: each forked life would load for itself what is loaded by need
    matrix = Matrix(folder, tell, server)
    cases = matrix.cases if turn is None else matrix.turn(turn)
    for number, case in enumerate(cases, turn or 0):
        if only in str(case) and part[1] and number % part[1] == part[0]:
            if not number % _TOLD_EVERY:
                tell(f"{number} of {len(cases)}: {case}")
            matrix.run(case, number, pairs=turn is None)
    matrix.report.seconds = round(time.monotonic() - began, 3)
    return matrix.report


def in_memory() -> str | None:
    """Return a folder in memory: nothing here needs a disk. None: there is none."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108


def _tell(line: str) -> None:
    sys.stderr.write(line + "\n")


def main() -> int:
    """Print the report; exit with 1 when anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turn", type=int, default=0, help="which turn")
    parser.add_argument("--count", action="store_true", help="only say what would be passed")
    parser.add_argument("--part", default="0/1", help="which part of how many, from 0")
    parser.add_argument("--server", default="", help="PostgreSQL server for the ledgers")
    parser.add_argument("--pairs", action="store_true", help="everything")
    parser.add_argument("--only", default="", help="words that a case must hold")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="symfleet-kills-", dir=in_memory()) as name:
        turn = None if options.pairs else options.turn
        which, _, many = ("0/0" if options.count else options.part).partition("/")
        part = (int(which), int(many))
        report = run(
            Path(name), _tell, turn=turn, only=options.only, part=part, server=options.server
        )
    sys.stdout.write(json.dumps(asdict(report)) + "\n")
    return int(bool(report.violations))


if __name__ == "__main__":
    raise SystemExit(main())
