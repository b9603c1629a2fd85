"""Which hosts execute inputs, and how many each at the same time: `--hosts` and `--hostfile`.

On the command line a host is `NAME:SLOTS`; hosts are separated by commas. A hostfile has a host a
line, in the same form or in Open MPI's, `NAME slots=SLOTS`; what follows a `#` is ignored. The
number is always said: symfleet cannot know how much of a host is yours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.errors import DataError, UserError

SLOTS_MAX: Final = 1024
"""Of one host."""
_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_OPTION: Final = re.compile(r"(slots|max[-_]slots)\s*=\s*([0-9]+)")


@dataclass(frozen=True, slots=True)
class HostSlots:
    """A host and how many inputs it executes at the same time."""

    name: str
    slots: int


def parse_hosts(text: str) -> tuple[HostSlots, ...]:
    """Read the value of `--hosts`; raise UserError for anything else than NAME:SLOTS,..."""
    hosts = [_read_pair(word.strip()) for word in text.split(",")] if text else []
    _refuse_repeated(hosts, "hosts")
    return tuple(hosts)


def render_hosts(hosts: Sequence[HostSlots]) -> str:
    """Return what `parse_hosts` reads."""
    return ",".join(f"{host.name}:{host.slots}" for host in hosts)


def read_hostfile(path: Path) -> tuple[HostSlots, ...]:
    """Read a hostfile; raise DataError when that is impossible or it names nobody, UserError for a
    line that says nothing about a host."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            "the hostfile cannot be read",
            where=str(path),
            why=getattr(error, "strerror", None) or str(error),
            hint="check the path after --hostfile; it holds a line like `node1 slots=8` a host",
        ) from error
    hosts = list(_read_lines(text, path))
    if not hosts:
        raise DataError(
            "the hostfile names no host",
            where=str(path),
            why="every line is empty or a comment",
            hint="write a line like `node1 slots=8` for each host",
        )
    _refuse_repeated(hosts, str(path))
    return tuple(hosts)


def _read_lines(text: str, path: Path) -> Iterator[HostSlots]:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].strip()
        if not words:
            continue
        name, _, rest = words.partition(" ")
        options = dict(_OPTION.findall(rest.replace("max-slots", "max_slots")))
        if ":" in name and not rest.strip():
            yield _read_pair(name, f"{path}, line {number}")
        elif _OPTION.sub("", rest).strip() or "slots" not in options:
            raise _refusal(words, f"{path}, line {number}")
        else:
            yield _checked(name, options["slots"], words, f"{path}, line {number}")


def _read_pair(word: str, where: str = "hosts") -> HostSlots:
    name, _, slots = word.partition(":")
    return _checked(name, slots, word, where)


def _checked(name: str, slots: str, said: str, where: str) -> HostSlots:
    good = _NAME.fullmatch(name) and slots.isdecimal() and slots.isascii()
    if not good or not 1 <= int(slots) <= SLOTS_MAX:
        raise _refusal(said, where)
    return HostSlots(name, int(slots))


def _refusal(said: str, where: str) -> UserError:
    shown = said if len(said) <= 60 else said[:57] + "..."
    return UserError(
        f"{shown!r} is no host with its slots",
        where=where,
        why=f"it must be a name or address and a number from 1 to {SLOTS_MAX}",
        hint="for example --hosts node1:8,node2:8, or `node1 slots=8` in a hostfile",
    )


def _refuse_repeated(hosts: Sequence[HostSlots], where: str) -> None:
    seen: set[str] = set()
    for host in hosts:
        if host.name in seen:
            raise UserError(
                f"the host {host.name} is named twice",
                where=where,
                why="it is not clear which number of slots holds",
                hint="name each host once, with all its slots",
            )
        seen.add(host.name)
