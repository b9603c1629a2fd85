"""Run the target on a stored input again and say whether the same thing happens."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from symfleet.config.target import SOCKET_MODES
from symfleet.corpus.layout import SANITIZER_OPTIONS, Reproduction, argument_of, command_line
from symfleet.corpus.peer import PEER
from symfleet.engine.processes import reset_signals
from symfleet.errors import HostError
from symfleet.types import Outcome

_CAPTURE_BYTES_MAX: Final = 64 << 10
_FILE_BYTES_MAX: Final = 1 << 30


class Replay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one run of the target did."""

    outcome: Outcome
    exit_code: int
    signal: int
    output: str
    """The end of what it wrote."""


def replay(
    reproduction: Reproduction, data: bytes, timeout_s: float, environment: Mapping[str, str]
) -> Replay:
    """Run the target once on `data`, in its own process group and an own temporary folder."""
    extra = dict(pair.split("=", 1) for pair in reproduction.environment)
    with tempfile.TemporaryDirectory(prefix="symfleet-replay-") as folder:
        source = Path(folder) / "input"
        source.write_bytes(data)
        capture = Path(folder) / "output"
        with source.open("rb") as stdin, capture.open("wb") as output:
            use_stdin = reproduction.input_mode == "stdin"
            try:
                child = subprocess.Popen(
                    _command(reproduction, source, data),
                    stdin=stdin if use_stdin else subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env={**SANITIZER_OPTIONS, **environment, **extra},
                    process_group=0,
                    preexec_fn=_limit,  # noqa: PLW1509 (one thread, before the program starts)
                )
            except OSError as error:
                raise HostError(
                    "the target cannot be started",
                    where=reproduction.argv[0],
                    why=error.strerror or str(error),
                    hint="build it again at the same place",
                ) from error
            hung = _wait(child, timeout_s)
        return _judge(child.returncode, hung=hung, output=_tail(capture))


def _command(reproduction: Reproduction, source: Path, data: bytes) -> list[str | bytes]:
    if reproduction.input_mode == "argv":
        argument = argument_of(data).decode("utf-8", "surrogateescape")
        words = command_line(reproduction, argument)
        return [word.encode("utf-8", "surrogateescape") for word in words]
    words = command_line(reproduction, str(source))
    if reproduction.input_mode in SOCKET_MODES:
        return [sys.executable, "-c", PEER, reproduction.input_mode, str(source), *words]
    return list(words)


def _limit() -> None:
    reset_signals()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES_MAX, _FILE_BYTES_MAX))


def _wait(child: subprocess.Popen[bytes], timeout_s: float) -> bool:
    """Wait, kill what is left of the child's group, reap. Return whether time ran out."""
    descriptor = os.pidfd_open(child.pid)
    try:
        ended, _, _ = select.select([descriptor], [], [], timeout_s)
    finally:
        os.close(descriptor)
        # Not reaped yet, so the number is still the child's and the group is provably ours.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    return not ended


def _tail(path: Path) -> str:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - _CAPTURE_BYTES_MAX))
        return stream.read().decode("utf-8", "replace")


def _judge(status: int, *, hung: bool, output: str) -> Replay:
    if hung:
        return Replay(Outcome.HANG, 0, 0, output)
    if status < 0:
        return Replay(Outcome.CRASH, 0, -status, output)
    return Replay(Outcome.OK, status, 0, output)
