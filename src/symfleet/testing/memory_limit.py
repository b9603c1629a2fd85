"""A limit on the memory of one process, under which the kernel kills it: a cgroup of our own.

Where no cgroup can be made (not root, or none that limits memory), `why_not` says so.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

_V1: Final = Path("/sys/fs/cgroup/memory")
_V2: Final = Path("/sys/fs/cgroup")
_GONE_S: Final = 5.0
_POLL_S: Final = 0.01
_BYTES: Final = 64 << 10
"""Less than any process asks for in its next breath; what it has already is not counted."""


class MemoryLimit:
    """An empty cgroup, made when it is entered and removed afterwards."""

    def __init__(self) -> None:
        self._is_v1 = (_V1 / "memory.limit_in_bytes").exists()
        base = _V1 if self._is_v1 else _V2
        self._folder = base / f"symfleet-test-{os.getpid()}-{time.monotonic_ns()}"

    def __enter__(self) -> Self:
        self._folder.mkdir()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        deadline = time.monotonic() + _GONE_S
        while True:
            try:
                self._folder.rmdir()
                break
            except OSError:  # a process in it is still dying
                if time.monotonic() >= deadline:
                    raise
            time.sleep(_POLL_S)

    def starve(self, pid: int) -> None:
        """Put a process under a limit that it is over with its next allocation."""
        limit = "memory.limit_in_bytes" if self._is_v1 else "memory.max"
        (self._folder / limit).write_text(str(_BYTES))
        if not self._is_v1:
            (self._folder / "memory.swap.max").write_text("0")
        (self._folder / "cgroup.procs").write_text(str(pid))

    @property
    def kills(self) -> int:
        """How many processes the kernel has killed under the limit."""
        name = "memory.oom_control" if self._is_v1 else "memory.events"
        for line in (self._folder / name).read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == "oom_kill":
                return int(value)
        return 0


def why_not() -> str | None:
    """Return why nothing can be limited here; None when it can be."""
    controllers = _V2 / "cgroup.subtree_control"
    if not (_V1 / "memory.limit_in_bytes").exists() and (
        not controllers.exists() or "memory" not in controllers.read_text().split()
    ):
        return "cgroups do not limit memory here"
    try:
        with MemoryLimit():
            return None
    except OSError as error:
        return f"no cgroup can be made: {error.strerror}"
