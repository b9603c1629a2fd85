"""A rank's own log in OUT/logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from symfleet.config.model import Output
from symfleet.protocol.events import Note

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger


class NoteLog:
    """Writes the notes of a machine; opened with the first one, because a quiet worker need not
    load a logging library."""

    def __init__(self, out: Path, name: str, settings: Output, epoch: int) -> None:
        self._out = out
        self._name = name
        self._settings = settings
        self._epoch = epoch
        self._logger: FilteringBoundLogger | None = None

    def note(self, note: Note) -> None:
        """Write one line."""
        if self._logger is None:
            from symfleet.observe.log import open_log

            self._logger = open_log(
                self._out,
                self._name,
                level=self._settings.log_level,
                bytes_max=self._settings.log_mib << 20,
                files_max=self._settings.log_files,
                epoch=self._epoch,
            )
        match note.level:
            case "info":
                self._logger.info(note.event, **note.detail)
            case "warning":
                self._logger.warning(note.event, **note.detail)
            case "error":
                self._logger.error(note.event, **note.detail)
