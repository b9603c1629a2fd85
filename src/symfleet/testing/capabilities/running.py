"""Run a program on an input, however the input comes, and keep what it printed."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.testing.capabilities.programs import Way

MARKER: Final = b"HIT"
MARKER_STATUS: Final = 42
RUN_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run showed; the status is None when it had to be ended."""

    stdout: bytes
    status: int | None

    @property
    def hit(self) -> bool:
        """Whether the condition held."""
        return self.status == MARKER_STATUS and MARKER in self.stdout.splitlines()


def run(target: Path, way: Way, data: bytes, folder: Path, seconds: float = RUN_S) -> Ran:
    """Run a program on an input. `folder`: for the file, if the input is one; its path is the same
    for every program, because a program may print it."""
    argv: list[str | bytes] = [str(target)]
    with contextlib.ExitStack() as stack:
        match way:
            case Way.FILE:
                path = folder / "input"
                path.write_bytes(data)
                argv.append(str(path))
                stdin = subprocess.DEVNULL
            case Way.ARGV:
                argv.append(data.partition(b"\0")[0])
                stdin = subprocess.DEVNULL
            case Way.STDIN | Way.HARNESS:
                path = folder / "input"
                path.write_bytes(data)
                stdin = stack.enter_context(path.open("rb")).fileno()
            case Way.SOCKET:
                stdin = stack.enter_context(_connected(data)).fileno()
            case Way.LISTENER:
                stdin = stack.enter_context(_listening(data)).fileno()
        return _call(argv, stdin, seconds)


def _call(argv: list[str | bytes], stdin: int, seconds: float) -> Ran:
    with subprocess.Popen(
        argv, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0
    ) as process:
        try:
            stdout, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # it is not reaped yet: the number is its own
            stdout, _ = process.communicate()
            return Ran(stdout, None)
        return Ran(stdout, process.returncode)


@contextlib.contextmanager
def _connected(data: bytes) -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(data)
        ours.shutdown(socket.SHUT_WR)
        yield theirs


@contextlib.contextmanager
def _listening(data: bytes) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as ours:
        listener.bind("")  # a free abstract name
        listener.listen(1)
        ours.connect(listener.getsockname())
        ours.sendall(data)
        ours.shutdown(socket.SHUT_WR)
        yield listener
