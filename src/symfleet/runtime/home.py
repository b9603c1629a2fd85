"""Is the campaign's folder still the one that this launch works on?

Whoever renames or unmounts the folder of a running job takes the campaign away from under its
name. What is made anew under that name would be another campaign, which knows nothing of what was
decided: a launch begins none in a folder that is not the one that it locked, or that was emptied.
"""

from __future__ import annotations

from pathlib import Path

from symfleet.corpus.durable import io_failure
from symfleet.errors import IntegrityError


def folder_is_gone(out: Path, why: str) -> IntegrityError:
    """Say that a campaign is not where its job left it."""
    return IntegrityError(
        "the campaign's folder was moved, unmounted or emptied while a job worked on it",
        where=str(out),
        why=f"{why}; no campaign was made in its place",
        # Commands of hints get this folder's name, which may be the wrong one now.
        hint="put it back under this name, or give `resume` the name that it has now",
    )


class Home:
    """The folder of a launch, known by device and inode."""

    def __init__(self, out: Path) -> None:
        """The folder exists, and its lock is held. Raises IOFailure."""
        self._out = out
        self._mark = self._look()

    def check(self) -> None:
        """Raise IntegrityError when the name does not lead to that folder any more."""
        now = self._look()
        if now is None:
            raise folder_is_gone(self._out, "nothing has this name now")
        if now != self._mark:
            raise folder_is_gone(self._out, "another folder has this name now")

    def _look(self) -> tuple[int, int] | None:
        try:
            status = self._out.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise io_failure(error, "the output folder cannot be read", str(self._out)) from error
        return status.st_dev, status.st_ino
