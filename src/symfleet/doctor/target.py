"""Is this program something that a campaign can explore?"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from symfleet.config.model import CampaignConfig
from symfleet.errors import DataError, UserError

INSTRUMENTATION_MARK: Final = b"SYMFLEET_CHANNEL"
"""The name by which an instrumented program finds its executor; no other program holds it."""
_BLOCK: Final = 1 << 20


def find_target(name: str, path: str) -> Path:
    """Return the absolute path of the target; raise UserError when it cannot be run.

    A name without a slash is looked for in `path`, as a shell would, then here.
    """
    found = shutil.which(name, path=path) if "/" not in name else None
    target = Path(found or name).absolute()
    if not target.exists():
        raise UserError(
            "the target is missing",
            where=str(target),
            why="there is no such file" if "/" in name else "it is neither on PATH nor here",
            hint="build it with `symfleet cc`, and give its path after `--`",
        )
    if not target.is_file():
        raise UserError(
            "the target is not a program",
            where=str(target),
            why="it is not a regular file",
            hint="give the path of the program after `--`",
        )
    if not os.access(target, os.X_OK):
        raise UserError(
            "the target is not executable",
            where=str(target),
            why="its mode does not allow this user to run it",
            hint=f"chmod +x {target}",
        )
    return target


def is_instrumented(target: Path) -> bool:
    """Whether a program was built by `symfleet cc`."""
    tail = b""
    with target.open("rb") as stream:
        while block := stream.read(_BLOCK):
            if INSTRUMENTATION_MARK in tail + block:
                return True
            tail = block[-len(INSTRUMENTATION_MARK) :]
    return False


def check_target(config: CampaignConfig, path: str) -> Path:
    """Return the target's path; raise UserError or DataError when a campaign could not use it."""
    target = find_target(config.target.argv[0], path)
    if config.target.engine == "embedded" and not is_instrumented(target):
        raise DataError(
            "the target is not instrumented",
            where=str(target),
            why="it was not built by `symfleet cc` or `symfleet c++`",
            hint="build it with CC='symfleet cc' CXX='symfleet c++', or choose --engine symcc or"
            " --engine command",
        )
    return target


def check_seeds(config: CampaignConfig) -> None:
    """Raise UserError or DataError when a new campaign would have nothing to begin with."""
    if not config.target.seed_paths:
        raise UserError(
            "no seeds are given",
            where="seed_paths",
            why="exploration starts from at least one input",
            hint="add -i with a folder that holds one; `printf A > seeds/a` is enough to begin",
        )
    for name in config.target.seed_paths:
        place = Path(name)
        if not place.exists():
            raise DataError(
                "the seeds are missing",
                where=str(place.absolute()),
                why="there is no such file or folder",
                hint="check the path after -i",
            )
    if not any(_holds_a_file(Path(name)) for name in config.target.seed_paths):
        raise DataError(
            "there are no seeds",
            where=", ".join(config.target.seed_paths),
            why="no file in there is larger than 0 bytes",
            hint="put at least one input there; `printf A > seeds/a` is enough to begin",
        )


def _holds_a_file(place: Path) -> bool:
    try:
        if place.is_dir():
            return any(_holds_a_file(entry) for entry in place.iterdir())
        # What cannot be read now may be readable at a later scan.
        return not place.is_file() or place.stat().st_size > 0
    except OSError:
        return True
