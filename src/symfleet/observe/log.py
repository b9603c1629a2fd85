"""Logs: JSON lines in OUT/logs, one file a process, rotated and capped.

A log is for people who look for a cause. Nothing reads it back, so a write that fails is dropped
and counted: a full disk must not end a campaign through its log.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from symfleet.clock import Clock, SystemClock
from symfleet.corpus.durable import make_folder

_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class CappedFile:
    """A text file of at most `bytes_max`, and `files_max - 1` older parts of that size."""

    def __init__(self, path: Path, bytes_max: int, files_max: int) -> None:
        self._path = path
        self._bytes_max = bytes_max
        self._files_max = files_max
        self._size = 0
        self._descriptor = self._open()
        self.dropped = 0

    def write(self, text: str) -> None:
        """Append text in one write; rotate first when it would not fit."""
        line = text.encode("utf-8", "backslashreplace")
        try:
            if self._size > 0 and self._size + len(line) > self._bytes_max:
                self._rotate()
            self._size += os.write(self._descriptor, line)
        except OSError:
            self.dropped += 1

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def close(self) -> None:
        """Close the file; what comes later is dropped. A log usually lives as long as its process
        and is closed by its end."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
        self._descriptor = -1

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(self._path, flags, 0o644)
        self._size = os.fstat(descriptor).st_size
        return descriptor

    def _rotate(self) -> None:
        self.close()
        for number in range(self._files_max - 1, 0, -1):
            newer = self._path if number == 1 else self._numbered(number - 1)
            with contextlib.suppress(FileNotFoundError):
                newer.replace(self._numbered(number))
        if self._files_max == 1:
            self._path.unlink(missing_ok=True)
        self._descriptor = self._open()

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")


class JsonLog:
    """One JSON object a line. It is written by hand: a logging library takes longer to load than a
    coordinator may stand still, and the first line is written when something has just gone
    wrong."""

    def __init__(
        self, sink: CappedFile, level: str, bound: Mapping[str, object], clock: Clock
    ) -> None:
        """Lines below `level` are left out; each line says what is `bound`, too."""
        self._sink = sink
        self._least = _LEVELS[level]
        self._bound = dict(bound)
        self._clock = clock

    def write(self, level: str, event: str, detail: Mapping[str, object]) -> None:
        """Write a line."""
        if _LEVELS[level] < self._least:
            return
        now = datetime.datetime.fromtimestamp(self._clock.wall(), datetime.UTC)
        timestamp = now.isoformat(timespec="microseconds").replace("+00:00", "Z")
        told = {"event": event, "level": level, "timestamp": timestamp}
        line = json.dumps({**self._bound, **detail, **told}, default=repr)
        self._sink.write(line + "\n")


def open_log(
    out: Path,
    name: str,
    *,
    level: str,
    bytes_max: int,
    files_max: int,
    epoch: int,
    clock: Clock | None = None,
) -> JsonLog:
    """Return the log of this process, OUT/logs/<name>.jsonl."""
    folder = out / "logs"
    make_folder(folder, durable=False)
    sink = CappedFile(folder / f"{name}.jsonl", bytes_max, files_max)
    bound = {"process": name, "pid": os.getpid(), "epoch": epoch}
    return JsonLog(sink, level, bound, clock or SystemClock())
