"""What a check says: fine, a warning, or a problem with its fix."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

_SHOWN_MAX: Final = 8


class Verdict(enum.StrEnum):
    """How a check went. Only a problem keeps a campaign from running."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that was looked at; `fix` says what to do unless it is fine.

    `listed` holds all of a list of which `detail` names the first ones.
    """

    name: str
    verdict: Verdict
    detail: str
    fix: str = ""
    listed: tuple[str, ...] = ()


def ok(name: str, detail: str, listed: Iterable[str] = ()) -> Check:
    """Say that something is as it must be."""
    return Check(name, Verdict.OK, detail, listed=tuple(listed))


def warning(name: str, detail: str, fix: str, listed: Iterable[str] = ()) -> Check:
    """Say that something will hurt, but does not prevent."""
    return Check(name, Verdict.WARNING, detail, fix, tuple(listed))


def problem(name: str, detail: str, fix: str) -> Check:
    """Say that something prevents a campaign."""
    return Check(name, Verdict.PROBLEM, detail, fix)


def first_of(names: Sequence[str]) -> str:
    """Return the first names for a `detail`, and how many more there are."""
    more = len(names) - _SHOWN_MAX
    rest = f" and {more} more (all of them with --json)" if more > 0 else ""
    return ", ".join(names[:_SHOWN_MAX]) + rest
