"""Keeps the files that people look at while a campaign runs: status.json, fuzzer_stats, plot_data,
README.txt and poison/."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from symfleet import crash
from symfleet.config.model import CampaignConfig
from symfleet.corpus.durable import write_file
from symfleet.corpus.inbox import inputs_waiting
from symfleet.corpus.poison import SHOWN_MAX, project_poison
from symfleet.ledger.contract import LedgerReader, LedgerStatus
from symfleet.observe.afl import AflFiles
from symfleet.observe.rates import Rate
from symfleet.observe.readme import write_readme
from symfleet.observe.report import (
    LivePart,
    Report,
    RunTimes,
    encode_report,
    read_status,
    report_of,
    slots_of,
)
from symfleet.protocol.coordinator_view import CoordinatorView
from symfleet.types import WorkState

AFL_PERIOD_S: Final = 5.0


def earlier_time_s(out: Path, ledger: LedgerReader) -> float:
    """Return the time of all epochs but the newest, for people.

    An epoch that crashed has no end in the ledger; what status.json said last fills that gap.
    """
    epochs = ledger.epochs()[:-1]
    spent = sum(max(0.0, row.closed_wall - row.opened_wall) for row in epochs if row.closed_wall)
    report = read_status(out)
    if report is None or report.campaign.id != ledger.status().campaign.campaign:
        return spent
    return max(spent, report.time_total_s)


class StatusWriter:
    """Made once in an epoch by the coordinator's loop; `due` tells when to call `write`."""

    def __init__(
        self, out: Path, config: CampaignConfig, ledger: LedgerReader, now: float, version: str
    ) -> None:
        """Make it after the epoch was opened. `now`: monotonic seconds of the opening."""
        self._out = out
        self._config = config
        self._earlier_s = earlier_time_s(out, ledger)
        self._opened = now
        self._period_s = config.output.status_period_s
        self._next = now
        self._next_afl = now
        self._executions = Rate()
        self._target_runs = Rate()
        self._afl = AflFiles(out, config.limits.wall_ms, version)
        self._poisoned = 0
        write_readme(out)

    def due(self, now: float) -> bool:
        """Whether status.json is older than its period."""
        return now >= self._next

    def write(
        self, ledger: LedgerReader, view: CoordinatorView | None, now: float, wall: float
    ) -> Report:
        """Renew the files from one snapshot. `view` None: the epoch has ended."""
        self._next = now + self._period_s
        status = ledger.status()
        this_epoch_s = now - self._opened
        live = self._live_part(status, view, now, wall) if view is not None else None
        report = report_of(
            status,
            RunTimes(this_epoch_s=this_epoch_s, total_s=self._earlier_s + this_epoch_s),
            self._config.target.argv,
            self._config.target.engine,
            live,
            running=live is not None,
            inbox=inputs_waiting(self._out),
        )
        write_file(self._out / "status.json", encode_report(report), durable=False)
        crash.point("stats.status")
        if now >= self._next_afl or view is None:
            self._next_afl = now + AFL_PERIOD_S
            self._afl.write(report)
        self._show_poison(status, ledger)
        return report

    def _show_poison(self, status: LedgerStatus, ledger: LedgerReader) -> None:
        poisoned = status.states.get(WorkState.POISONED, 0)
        if poisoned != self._poisoned:
            rows = ledger.work_rows(WorkState.POISONED, SHOWN_MAX)
            project_poison(self._out, rows, ledger)
            self._poisoned = poisoned

    def _live_part(
        self, status: LedgerStatus, view: CoordinatorView, now: float, wall: float
    ) -> LivePart:
        disk = os.statvfs(self._out)
        return LivePart(
            written_wall_s=wall,
            phase=view.phase,
            watching=self._config.stop.watch,
            workers=view.workers,
            workers_joined=view.workers_joined,
            slots=slots_of(view),
            hosts_paused=view.hosts_paused,
            executions_per_s=round(self._executions.sample(now, status.this_epoch.executed), 3),
            target_runs_per_s=round(
                self._target_runs.sample(now, status.this_epoch.target_runs), 3
            ),
            disk_free_mib=disk.f_bavail * disk.f_frsize >> 20,
        )
