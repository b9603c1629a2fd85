"""Logs: JSON lines in OUT/logs, one file a process, rotated and capped.

A log is for people who look for a cause. Nothing reads it back, so a write that fails is dropped
and counted: a full disk must not end a campaign through its log.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from symfleet.corpus.durable import make_folder

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

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


def open_log(
    out: Path, name: str, *, level: str, bytes_max: int, files_max: int, epoch: int
) -> FilteringBoundLogger:
    """Return the logger of this process, writing OUT/logs/<name>.jsonl."""
    import structlog

    folder = out / "logs"
    make_folder(folder)
    sink = CappedFile(folder / f"{name}.jsonl", bytes_max, files_max)
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(sink),  # type: ignore[arg-type]
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(default=repr),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        cache_logger_on_first_use=True,
    ).bind(process=name, pid=os.getpid(), epoch=epoch)
    return logger
