"""The report of a campaign as its ledger tells it, beside a running job or without one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from symfleet.config.resolve import parse_toml
from symfleet.corpus.inbox import inputs_waiting
from symfleet.ledger.contract import LedgerReader
from symfleet.observe.report import Report, RunTimes, read_status, report_of


def stored_report(
    out: Path,
    reader: LedgerReader,
    *,
    running: Callable[[], bool],
    restarting: Callable[[], bool] = lambda: False,
) -> Report:
    """Make the report; what only a live job knows comes from its status.json. `running`: whether
    the owner of the newest epoch lives, `restarting`: whether a job lives that has none just now;
    asked after the ledger was read."""
    status = reader.status()
    target = parse_toml(status.campaign.config_toml).target
    epochs = reader.epochs()
    shown = read_status(out)
    if shown is not None and shown.campaign.id != status.campaign.campaign:
        shown = None
    newest = epochs[-1] if epochs else None
    ended = sum(max(0.0, row.closed_wall - row.opened_wall) for row in epochs if row.closed_wall)
    times = RunTimes(this_epoch_s=0.0, total_s=ended)
    live, runs = None, False
    if newest is not None:
        this_epoch = newest.closed_wall - newest.opened_wall if newest.closed_wall else 0.0
        runs = running()
        same = shown is not None and shown.epoch is not None and shown.epoch.number == newest.epoch
        if shown is not None and same:
            this_epoch = max(this_epoch, shown.time_this_epoch_s)
            live = shown.live if runs and newest.closed_wall is None else None
        # A launch that crashed has no end: what it showed last fills the gap.
        total = max(ended, shown.time_total_s if shown is not None else 0.0)
        times = RunTimes(this_epoch_s=max(0.0, this_epoch), total_s=total)
    return report_of(
        status,
        times,
        target.argv,
        target.engine,
        live,
        running=runs,
        restarting=not runs and restarting(),
        inbox=inputs_waiting(out),
    )
