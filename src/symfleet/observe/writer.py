"""Keeps status.json, fuzzer_stats and plot_data while a campaign runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from symfleet.config.model import CampaignConfig
from symfleet.corpus.durable import write_file
from symfleet.ledger.contract import EpochRow, LedgerStatus
from symfleet.observe.afl import AflFiles
from symfleet.observe.rates import Rate
from symfleet.observe.report import (
    LivePart,
    Report,
    RunTimes,
    encode_report,
    report_of,
    slots_of,
)
from symfleet.protocol.coordinator import CoordinatorView

AFL_PERIOD_S: Final = 5.0


def spent_before_s(epochs: tuple[EpochRow, ...] | list[EpochRow]) -> float:
    """Return the seconds of all launches but the newest. One that crashed has no end: it counts
    nothing beyond its opening, so the sum never claims time that was not spent."""
    return sum(
        max(0.0, row.closed_wall - row.opened_wall) for row in epochs[:-1] if row.closed_wall
    )


class StatusWriter:
    """Made once in an epoch by the coordinator's loop; `due` tells when to call `write`."""

    def __init__(
        self, out: Path, config: CampaignConfig, earlier_s: float, now: float, version: str
    ) -> None:
        """`earlier_s`: time of earlier launches. `now`: monotonic seconds of the opening."""
        self._out = out
        self._config = config
        self._earlier_s = earlier_s
        self._opened = now
        self._period_s = config.output.status_period_s
        self._next = now
        self._next_afl = now
        self._executions = Rate()
        self._target_runs = Rate()
        self._afl = AflFiles(out, 0, config.limits.wall_ms, version)

    def learn_map_size(self, map_size: int) -> None:
        """Take the size of the coverage map once a worker has told it."""
        self._afl.learn_map_size(map_size)

    def due(self, now: float) -> bool:
        """Whether status.json is older than its period."""
        return now >= self._next

    def write(
        self, status: LedgerStatus, view: CoordinatorView | None, now: float, wall: float
    ) -> Report:
        """Renew the files from one snapshot. `view` None: the epoch has ended."""
        self._next = now + self._period_s
        this_epoch_s = now - self._opened
        live = self._live_part(status, view, now, wall) if view is not None else None
        report = report_of(
            status,
            RunTimes(this_epoch_s=this_epoch_s, total_s=self._earlier_s + this_epoch_s),
            self._config.target.argv,
            self._config.target.engine,
            live,
        )
        write_file(self._out / "status.json", encode_report(report), durable=False)
        if now >= self._next_afl or view is None:
            self._next_afl = now + AFL_PERIOD_S
            self._afl.write(report)
        return report

    def _live_part(
        self, status: LedgerStatus, view: CoordinatorView, now: float, wall: float
    ) -> LivePart:
        disk = os.statvfs(self._out)
        return LivePart(
            written_wall_s=wall,
            phase=view.phase,
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
