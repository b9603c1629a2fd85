"""Shows one epoch: status files each second, notes in the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symfleet.clock import Clock
from symfleet.errors import SymfleetError
from symfleet.ledger.contract import LedgerReader
from symfleet.observe.writer import StatusWriter
from symfleet.protocol.coordinator import CoordinatorView
from symfleet.protocol.coordinator_view import joined_view
from symfleet.protocol.events import Note
from symfleet.runtime.notes import NoteLog


class StatusWatch:
    """The `EpochObserver` of a real root. `others` tells what the other coordinators show."""

    def __init__(
        self,
        writer: StatusWriter,
        log: NoteLog,
        clock: Clock,
        ledger: LedgerReader,
        others: Callable[[], Sequence[CoordinatorView]],
    ) -> None:
        self._writer = writer
        self._log = log
        self._clock = clock
        self._ledger = ledger
        self._others = others

    def turned(self, now: float, view: Callable[[], CoordinatorView]) -> None:
        """Renew the status files when they are due."""
        if self._writer.due(now):
            self._write(now, joined_view(view(), self._others()))

    def noted(self, note: Note) -> None:
        """Write a log line."""
        self._log.note(note)

    def finished(self, now: float) -> None:
        """Write the status files of the ended epoch."""
        self._write(now, None)

    def _write(self, now: float, view: CoordinatorView | None) -> None:
        """Files that people look at must not end a campaign: what fails is logged."""
        try:
            self._writer.write(self._ledger, view, now, self._clock.wall())
        except (SymfleetError, OSError) as error:
            self._log.note(Note("warning", "status_not_written", {"error": str(error)}))
