"""A rank's own log in OUT/logs."""

from __future__ import annotations

from pathlib import Path

from symfleet.config.model import Output
from symfleet.observe.log import JsonLog, open_log
from symfleet.protocol.events import Note


class NoteLog:
    """Writes the notes of a machine; opened with the first one: a quiet rank has no log."""

    def __init__(self, out: Path, name: str, settings: Output, epoch: int) -> None:
        self._out = out
        self._name = name
        self._settings = settings
        self._epoch = epoch
        self._log: JsonLog | None = None

    def note(self, note: Note) -> None:
        """Write one line."""
        if self._log is None:
            self._log = open_log(
                self._out,
                self._name,
                level=self._settings.log_level,
                bytes_max=self._settings.log_mib << 20,
                files_max=self._settings.log_files,
                epoch=self._epoch,
            )
        self._log.write(note.level, note.event, note.detail)
