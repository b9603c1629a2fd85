"""The root's observer: renews the files people look at, and writes the log.

Whatever goes wrong here is logged and forgotten: a status that cannot be written is no reason to
end a campaign, and damage in the ledger is found by those who work with it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from symfleet.clock import Clock
from symfleet.config.model import CampaignConfig
from symfleet.config.project import render_toml
from symfleet.corpus.durable import write_file
from symfleet.corpus.poison import project_poison
from symfleet.errors import SymfleetError
from symfleet.ledger.contract import LedgerReader
from symfleet.observe.display import read_status
from symfleet.observe.log import open_log
from symfleet.observe.readme import write_readme
from symfleet.observe.writer import StatusWriter, spent_before_s
from symfleet.protocol.coordinator import CoordinatorView
from symfleet.protocol.events import Note
from symfleet.types import Epoch, WorkState

POISON_SHOWN_MAX = 1000


def earlier_time_s(out: Path, ledger: LedgerReader) -> float:
    """Return the time of all launches before this one, for people.

    A launch that crashed has no end in the ledger; what status.json said last fills that gap.
    """
    spent = spent_before_s(tuple(ledger.epochs()))
    report = read_status(out)
    if report is None or report.campaign.id != ledger.status().campaign.campaign:
        return spent
    return max(spent, report.time_total_s)


class EpochWatch:
    """Watches one epoch from inside the root. Made after the epoch was opened."""

    def __init__(
        self,
        out: Path,
        config: CampaignConfig,
        ledger: LedgerReader,
        epoch: Epoch,
        clock: Clock,
        version: str,
    ) -> None:
        """Write what stands still for an epoch: campaign.toml and README.txt."""
        self._out = out
        self._clock = clock
        self._poisoned = 0
        self._log = open_log(
            out,
            "root",
            level=config.output.log_level,
            bytes_max=config.output.log_mib << 20,
            files_max=config.output.log_files,
            epoch=epoch,
        )
        self._writer = StatusWriter(
            out, config, earlier_time_s(out, ledger), clock.monotonic(), version
        )
        write_file(out / "campaign.toml", render_toml(config).encode(), durable=False)
        write_readme(out)
        self._log.info("epoch_opened", version=version)

    def turned(self, now: float, view: Callable[[], CoordinatorView], ledger: LedgerReader) -> None:
        """Renew the files when it is time."""
        if self._writer.due(now):
            self._renew(now, view(), ledger)

    def noted(self, note: Note) -> None:
        """Log what a machine found worth it."""
        match note.level:
            case "info":
                self._log.info(note.event, **note.detail)
            case "warning":
                self._log.warning(note.event, **note.detail)
            case "error":
                self._log.error(note.event, **note.detail)

    def finished(
        self,
        now: float,
        view: Callable[[], CoordinatorView],  # noqa: ARG002 (nothing runs any more)
        ledger: LedgerReader,
    ) -> None:
        """Write the last state."""
        self._renew(now, None, ledger)
        self._log.info("epoch_closed")

    def _renew(self, now: float, view: CoordinatorView | None, ledger: LedgerReader) -> None:
        try:
            status = ledger.status()
            self._writer.write(status, view, now, self._clock.wall())
            poisoned = status.states.get(WorkState.POISONED, 0)
            if poisoned != self._poisoned:
                rows = ledger.work_rows(WorkState.POISONED, POISON_SHOWN_MAX)
                project_poison(self._out, rows, ledger)
                self._poisoned = poisoned
        except SymfleetError as error:
            self._log.error("status_not_written", error=str(error))
