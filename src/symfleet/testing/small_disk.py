"""A small file system in memory, for tests of a full disk. Mounting one needs root."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path
from typing import Final

_CHUNKS: Final = (64 * 1024, 4 * 1024)


class SmallDisk:
    """A mounted file system. `folder` is its root."""

    def __init__(self, folder: Path, size: str) -> None:
        """Mount it at a new folder; raises OSError when that is not possible here."""
        self.folder = folder
        self._ballast = folder / "ballast"
        if os.geteuid() != 0:
            raise PermissionError("mounting a small file system needs root")
        folder.mkdir()
        try:
            self._mount(f"size={size}")
        except OSError:
            folder.rmdir()
            raise

    def resize(self, size: str) -> None:
        """Give it another size."""
        self._mount(f"remount,size={size}")

    def fill(self, *, leave: int = 0) -> None:
        """Take all space but `leave` bytes."""
        told = os.statvfs(self.folder)
        amount = told.f_bavail * told.f_frsize - leave
        with self._ballast.open("ab", buffering=0) as file:
            for size in _CHUNKS:
                with contextlib.suppress(OSError):
                    while amount >= size or not leave:
                        amount -= file.write(bytes(size))

    def free(self) -> None:
        """Give the space back that `fill` took."""
        self._ballast.unlink(missing_ok=True)

    def close(self) -> None:
        """Unmount it and remove its folder."""
        subprocess.run(["umount", "-l", str(self.folder)], check=True)
        self.folder.rmdir()

    def _mount(self, options: str) -> None:
        ended = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder)],
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode:
            raise OSError(f"a small file system cannot be mounted: {ended.stderr.strip()}")
