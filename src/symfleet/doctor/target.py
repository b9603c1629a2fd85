"""Is this program something that a campaign can explore?"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from symfleet.config.model import CampaignConfig
from symfleet.corpus.layout import CAMPAIGN_MARKS
from symfleet.corpus.scan import is_campaign_folder, walk
from symfleet.engine.command import TARGET_WORD
from symfleet.engine.identity import find_program
from symfleet.errors import DataError, UserError
from symfleet.types import SinkKind

INSTRUMENTATION_MARK: Final = b"SYMFLEET_CHANNEL"
"""The name by which an instrumented program finds its executor; no other program holds it."""
_BLOCK: Final = 1 << 20


def find_target(name: str, path: str) -> Path:
    """Return the absolute path of the target; raise UserError when it cannot be run.

    A name without a slash is looked for in `path`, as a shell would, then here.
    """
    if not name:
        raise UserError(
            "the target's name is empty",
            where="argv",
            why="the first word after `--` is the program to explore",
            hint="symfleet explore -i seeds -o out -- ./target @@; a shell variable may be unset",
        )
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


def check_engine(config: CampaignConfig, path: str) -> None:
    """Raise UserError when the program of the engine `command` cannot be run on this host, whose
    `PATH` is `path`. With the other engines it is the target, or our own executor."""
    words = config.target.engine_command
    if config.target.engine != "command" or words[0] == TARGET_WORD:
        return
    environment = {"PATH": path, **config.target.environment}
    program = find_program(words[0], environment)
    if program is None:
        raise UserError(
            "the engine's program is missing",
            where=words[0] or "engine_command",
            why="there is no such file" if "/" in words[0] else "no folder in PATH holds it",
            hint="check the first word of --engine-command",
        )
    if not os.access(program, os.X_OK):
        raise UserError(
            "the engine's program is not executable",
            where=str(program),
            why="its mode does not allow this user to run it",
            hint=f"chmod +x {program}",
        )


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
        if not name:
            raise UserError(
                "the path of the seeds is empty",
                where="seed_paths",
                why="it would stand for the current folder with everything in it",
                hint="give a folder or a file after -i; a shell variable there may be unset",
            )
        place = Path(name)
        if not place.exists():
            raise DataError(
                "the seeds are missing",
                where=str(place.absolute()),
                why="there is no such file or folder",
                hint="check the path after -i",
            )
        _refuse_campaign(place)
    if not any(_is_usable(path, config.input_bytes_max) for path in _files(config)):
        raise DataError(
            "there are no seeds",
            where=", ".join(config.target.seed_paths),
            why="no readable regular file in there has from 1 to"
            f" {config.input_bytes_max} bytes (--input-size)",
            hint="put at least one input there; `printf A > seeds/a` is enough to begin",
        )


def _files(config: CampaignConfig) -> Iterator[Path]:
    """Yield what a scan of the seeds would look at."""
    for name in config.target.seed_paths:
        for path, reason in walk(name):
            if reason is None:
                yield Path(path)


def _refuse_campaign(place: Path) -> None:
    """Raise UserError when the seeds are a campaign's folder, which no scan enters."""
    if is_campaign_folder(str(place)):
        raise UserError(
            "the seeds are the folder of a campaign",
            where=str(place.absolute()),
            why=f"it holds one of {', '.join(CAMPAIGN_MARKS)}: what a campaign writes is no seed",
            hint=f"give its inputs: -i {shlex.quote(str(place / SinkKind.CORPUS.value))}; or a"
            " folder that holds only seeds",
        )


def _is_usable(path: Path, input_bytes_max: int) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    return (
        stat.S_ISREG(status.st_mode)
        and 0 < status.st_size <= input_bytes_max
        and os.access(path, os.R_OK)
    )
