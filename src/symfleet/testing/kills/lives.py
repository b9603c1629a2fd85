"""Lives of scenes of the kill matrix: each in a forked process, which may be killed."""

from __future__ import annotations

import json
import os
import signal
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from symfleet import crash
from symfleet.errors import SymfleetError
from symfleet.testing.kills.scenes import Scene
from symfleet.testing.one_process import RankDied

ENDED: Final = (0, 2)
"""Exit codes of a life that got through; 2: it counted faults, which scenes have by themselves."""
_LIFE_S: Final = 60
"""A life that takes longer is stuck: SIGALRM ends it."""

Profile = Mapping[tuple[str, str], int]
"""(place, label) -> passages, in the order of the first ones."""


def in_child(what: Callable[[], int], log: Path) -> int:
    """Run something in a forked process; return its exit code, negative for a signal."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.alarm(_LIFE_S)
            descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            code = what()
        except BaseException:  # noqa: BLE001 - the border of the process
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def die(scene: Scene, spec: str, *, alone: bool = False) -> int:
    """Live until the process dies, or one rank alone; return how the process ended."""

    def kill() -> None:
        if alone:
            raise RankDied
        os.kill(os.getpid(), signal.SIGKILL)

    def life() -> int:
        crash.arm(spec, scene.place, kill)
        return scene.live()

    return in_child(life, scene.folder / "life.log")


def counted(scene: Scene, spec: str) -> Profile:
    """Live to the end; return which points were passed."""
    told = scene.folder / "passages"

    def life() -> int:
        passages = crash.count(scene.place)
        code = scene.live()
        told.write_text(json.dumps([[*key, n] for key, n in passages.items()]))
        return code

    code = in_child(life, scene.folder / "life.log")
    assert code in ENDED, f"{spec}: {code}: {said(scene)}"
    assert scene.look() == []
    return {(place, label): n for place, label, n in json.loads(told.read_text())}


def said(scene: Scene) -> str:
    """Return what the lives of a scene have said."""
    log = scene.folder / "life.log"
    return log.read_text("utf-8", "replace")[-4000:] if log.exists() else ""


def seen(scene: Scene) -> list[str]:
    """Return what is wrong now; what cannot even be looked at is."""
    try:
        return scene.look()
    except SymfleetError as error:
        return [f"it cannot be read: {error}"]
