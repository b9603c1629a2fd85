"""Error families, their exit codes, and the four parts that every error has.

What happened, to which object (where), why, and what to do next (hint). 1 and 2 are verdicts of a
finished run, not errors, and stand in `ExitCode` only.
"""

from __future__ import annotations

import enum
import errno
from typing import Final

NO_SPACE_ERRNOS: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Errors of the system that go away when somebody frees some space."""


class ExitCode(enum.IntEnum):
    """Exit codes of every symfleet command."""

    DONE = 0
    CRASHES_FOUND = 1
    """With --fail-on-crash only."""
    FINISHED_WITH_FAULTS = 2
    USAGE = 64
    DATA = 65
    HOST = 69
    INTEGRITY = 70
    IO = 74
    BUSY = 75


class SymfleetError(Exception):
    """Root of all errors that symfleet raises on purpose.

    `what` happened, `where` (to which object), `why`, and `hint` (what to do next) are plain
    sentences or phrases without a trailing full stop.
    """

    exit_code = ExitCode.INTEGRITY

    def __init__(self, what: str, *, where: str = "", why: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.why = why
        self.hint = hint

    def __str__(self) -> str:
        parts = [self.what]
        if self.where:
            parts.append(f"where: {self.where}")
        if self.why:
            parts.append(f"why: {self.why}")
        if self.hint:
            parts.append(f"what to do: {self.hint}")
        return "; ".join(parts)


def parts_of(text: str) -> tuple[str, str, str, str]:
    """Take what `str(error)` gave apart: what, where, why, what to do; "" for one that lacks."""
    rest, _, hint = text.partition("; what to do: ")
    rest, _, why = rest.partition("; why: ")
    what, _, where = rest.partition("; where: ")
    return what, where, why, hint


def naming_folder(hint: str, folder: str) -> str:
    """Put the campaign's folder (quoted for a shell) into the commands that a hint names: a ledger,
    for one, does not know by which name people go on."""
    for verb in ("resume", "verify"):
        hint = hint.replace(f"`symfleet {verb}`", f"`symfleet {verb} {folder}`")
    return hint


class UserError(SymfleetError):
    """The command line or the configuration asks for something impossible."""

    exit_code = ExitCode.USAGE


class DataError(SymfleetError):
    """Data from outside (a seed, a frame, a file) does not have the form it must have."""

    exit_code = ExitCode.DATA


class HostError(SymfleetError):
    """This host lacks something that is needed."""

    exit_code = ExitCode.HOST


class IntegrityError(SymfleetError):
    """Stored state contradicts itself: nothing is repaired silently and nothing is lost."""

    exit_code = ExitCode.INTEGRITY


class InternalError(SymfleetError):
    """symfleet broke one of its own rules; the report should reach its authors."""

    exit_code = ExitCode.INTEGRITY


class IOFailure(SymfleetError):
    """Reading or writing failed: disk full, I/O error, permission lost."""

    exit_code = ExitCode.IO


class BusyError(SymfleetError):
    """The campaign is owned by a live job."""

    exit_code = ExitCode.BUSY
