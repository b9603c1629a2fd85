"""OUT/inbox: how a command reaches a campaign that another process owns.

Inputs are files under `inputs/`, named by their digest; they are admitted like seeds and removed
when that is durable. Commands are one JSON file each under `commands/`; the owner carries a command
out between two turns, leaves its answer under `answers/` and removes the command. Every step is a
rename, so each side sees a file completely or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from symfleet import crash
from symfleet.clock import Clock
from symfleet.corpus.durable import (
    STAGING_PREFIX,
    io_failure,
    make_folder,
    remove_file,
    write_file,
)
from symfleet.corpus.plain_files import read_plain
from symfleet.errors import BusyError
from symfleet.types import InputId, WorkId, input_id_of

COMMANDS_PER_LOOK_MAX: Final = 64
WAITING_MAX: Final = 10_000
"""So many waiting inputs are counted."""
COMMAND_BYTES_MAX: Final = 1 << 20
_POLL_S: Final = 0.05


class StopCampaign(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="stop"):
    """Drain and end this launch; `resume` goes on."""

    reason: str


class RearmPoison(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="rearm"):
    """Make poisoned work pending again; no ids mean all."""

    work_ids: tuple[WorkId, ...] = ()


Command = StopCampaign | RearmPoison


class CommandAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What became of a command."""

    ok: bool
    message: str
    amount: int = 0


@dataclass(frozen=True, slots=True)
class Delivered:
    """A command that waits; `command` is None when the file is no command (`problem` says why)."""

    name: str
    command: Command | None
    problem: str = ""


def inputs_folder(out: Path) -> Path:
    """Where inputs are dropped."""
    return out / "inbox" / "inputs"


def prepare_inbox(out: Path) -> None:
    """Make the folders; drop answers that nobody fetched. For the owner, before it reads."""
    for name in ("inputs", "commands", "answers"):
        make_folder(out / "inbox" / name)
    for stale in (out / "inbox" / "answers").iterdir():
        if stale.is_symlink() or not stale.is_dir():
            remove_file(stale)


def drop_input(out: Path, data: bytes) -> InputId:
    """Hand an input to the owner; it is durable when this returns."""
    input_id = input_id_of(data)
    folder = inputs_folder(out)
    make_folder(folder)
    # The scanner would take an unfinished file beside its place for an input.
    write_file(folder / input_id, data, staging=folder.parent)
    crash.point("inbox.dropped")
    return input_id


def inputs_waiting(out: Path) -> int:
    """Return how many inputs were handed over and are not admitted yet, at most WAITING_MAX."""
    try:
        with os.scandir(inputs_folder(out)) as entries:
            return sum(1 for _ in islice(entries, WAITING_MAX))
    except OSError:
        return 0


def drop_command(out: Path, command: Command, name: str) -> None:
    """Hand a command to the owner under a name that nobody else uses."""
    folder = out / "inbox" / "commands"
    make_folder(folder)
    write_file(folder / f"{name}.json", msgspec.json.encode(command))


def read_commands(out: Path) -> Iterator[Delivered]:
    """Yield waiting commands, oldest name first, at most COMMANDS_PER_LOOK_MAX. What is no file is
    none, and stays."""
    folder = out / "inbox" / "commands"
    try:
        names = sorted(
            path.name
            for path in folder.iterdir()
            if path.is_file() and not path.name.startswith(STAGING_PREFIX)
        )
    except FileNotFoundError:
        return
    except OSError as error:
        raise io_failure(error, "the inbox cannot be read", str(folder)) from error
    for name in names[:COMMANDS_PER_LOOK_MAX]:
        try:
            source = read_plain(folder / name, COMMAND_BYTES_MAX)
            yield Delivered(name, msgspec.json.decode(source, type=Command))
        except FileNotFoundError:
            continue
        except (OSError, msgspec.DecodeError) as error:
            yield Delivered(name, None, str(error))


def answer_command(out: Path, delivered: Delivered, answer: CommandAnswer) -> None:
    """Leave the answer, then remove the command: a crash between the two repeats it."""
    write_file(out / "inbox" / "answers" / delivered.name, msgspec.json.encode(answer))
    crash.point("inbox.answered")
    remove_file(out / "inbox" / "commands" / delivered.name)


def await_answer(out: Path, name: str, clock: Clock, wait_s: float) -> CommandAnswer:
    """Wait for the owner's answer; raise BusyError when none came in time (the command stays)."""
    path = out / "inbox" / "answers" / f"{name}.json"
    deadline = clock.monotonic() + wait_s
    while True:
        try:
            answer = msgspec.json.decode(read_plain(path, COMMAND_BYTES_MAX), type=CommandAnswer)
        except FileNotFoundError:
            if clock.monotonic() >= deadline:
                raise BusyError(
                    "the campaign has not answered yet",
                    where=str(out),
                    why=f"the job that owns it did not take the command within {wait_s:g} s",
                    hint="the command stays in the inbox and is carried out at the next look",
                ) from None
            clock.sleep(_POLL_S)
            continue
        remove_file(path)
        return answer
