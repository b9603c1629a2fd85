"""How commands speak: lines for people or one JSON document, and errors in four parts."""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from collections.abc import Iterable, Mapping
from typing import Any, Final, TextIO

import msgspec

from symfleet.corpus.durable import io_failure
from symfleet.errors import NO_SPACE_ERRNOS, ExitCode, InternalError, SymfleetError

_NO_SPACE: Final = NO_SPACE_ERRNOS | {errno.EFBIG}


def say(lines: Iterable[str]) -> None:
    """Print lines for people."""
    _write(sys.stdout, "".join(line + "\n" for line in lines))


def _write(stream: TextIO, text: str) -> None:
    """Write unless whoever reads has gone: a closed terminal or pipe changes no exit code.

    A file that takes no more does (A2): raises IOFailure."""
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        mute(stream)
        if error.errno in _NO_SPACE:
            raise io_failure(error, "the output cannot be written", stream.name) from error


def mute(stream: TextIO) -> None:
    """Lead a stream nowhere, so that what it still holds is no error at the interpreter's end."""
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def show_json(document: object) -> None:
    """Print one JSON document."""
    text = msgspec.json.format(msgspec.json.encode(document), indent=1)
    _write(sys.stdout, text.decode() + "\n")


def show(document: object, lines: Iterable[str], *, as_json: bool) -> None:
    """Print one or the other."""
    if as_json:
        show_json(document)
    else:
        say(lines)


def error_document(error: SymfleetError) -> Mapping[str, Any]:
    """Return an error as `--json` shows it."""
    return {
        "error": {
            "what": error.what,
            "where": error.where,
            "why": error.why,
            "what_to_do": error.hint,
            "exit_code": int(error.exit_code),
        }
    }


def show_error(error: SymfleetError, *, as_json: bool, debug: bool) -> ExitCode:
    """Print an error in its four parts; return its exit code.

    There is a traceback with `--debug`, and when the error is a bug of ours.
    """
    if debug or isinstance(error, InternalError):
        traceback.print_exception(error)
    if as_json:
        _write(sys.stdout, json.dumps(error_document(error)) + "\n")
        return error.exit_code
    lines = [f"symfleet: error: {error.what}"]
    lines += [
        f"  {label:<11} {text}"
        for label, text in (
            ("where:", error.where),
            ("why:", error.why),
            ("what to do:", error.hint),
        )
        if text
    ]
    _write(sys.stderr, "\n".join(lines) + "\n")
    return error.exit_code


_OF_THE_HOST: Final = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO}
    | {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EFBIG}
    | {errno.ELOOP, errno.ENAMETOOLONG}
)
"""Errors of the system that no code of ours can rule out: rights, space, limits, the disk."""


def lack_of_host(error: BaseException) -> SymfleetError | None:
    """Make the error for a refusal of the operating system; None when it is something else."""
    if not isinstance(error, OSError) or error.errno not in _OF_THE_HOST:
        return None
    where = str(error.filename or "this process")
    failure = io_failure(error, "the system refuses what is needed", where)
    failure.__cause__ = error
    return failure


def bug(error: BaseException) -> InternalError:
    """Make the error for an exception that nobody expected."""
    wrapped = InternalError(
        "symfleet broke",
        where=f"{type(error).__name__}: {error}",
        why="this is a bug in symfleet; the campaign's state is kept",
        hint="report it with the traceback above and the folder's logs/",
    )
    wrapped.__cause__ = error
    return wrapped
