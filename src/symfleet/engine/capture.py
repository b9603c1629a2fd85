"""A bounded log of what another program says."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Final

CAPTURE_BYTES_MAX: Final = 1 << 20


class Capture:
    """Append to a file up to a limit; then start it again and keep one older half.

    The file is made with the first byte. A disk that is full loses log lines, nothing else."""

    def __init__(self, path: Path, bytes_max: int = CAPTURE_BYTES_MAX) -> None:
        self.path = path
        self._half = bytes_max // 2
        self._file: BinaryIO | None = None
        self._size = 0

    @property
    def has_begun(self) -> bool:
        """Whether anything was written that can be read there."""
        return self._file is not None

    def write(self, data: bytes) -> None:
        """Append `data` (its last half-limit bytes when it is larger)."""
        data = data[-self._half :]
        try:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self.path.open("ab", buffering=0)
                self._size = self._file.tell()
            if self._size + len(data) > self._half:
                self._file.close()
                self.path.replace(self.path.with_suffix(self.path.suffix + ".1"))
                self._file = self.path.open("wb", buffering=0)
                self._size = 0
            self._file.write(data)
        except OSError:
            self._file = None
            return
        self._size += len(data)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
