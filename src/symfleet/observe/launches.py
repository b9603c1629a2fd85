"""Every launch of a campaign: when, where, how it ended, and which settings were new in it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from symfleet.config.catalogue import GROUPS
from symfleet.config.model import CampaignConfig
from symfleet.config.resolve import SETTINGS, parse_toml
from symfleet.errors import SymfleetError
from symfleet.ledger.contract import EpochRow, LedgerReader


class Change(msgspec.Struct, frozen=True):
    """A setting that is other than in the launch before."""

    key: str
    before: object
    now: object


class LaunchShown(msgspec.Struct, frozen=True):
    """One epoch. `reason` None: it runs, or it crashed. `changed` is empty for the first one."""

    epoch: int
    opened_wall_s: float
    closed_wall_s: float | None
    host: str
    pid: int
    version: str
    command_line: str
    reason: str | None
    exit_code: int | None
    decisions: int
    changed: tuple[Change, ...]


def launches_of(reader: LedgerReader) -> tuple[LaunchShown, ...]:
    """Read all launches, oldest first."""
    shown: list[LaunchShown] = []
    before: CampaignConfig | None = None
    for row in reader.epochs():
        now = _config_of(row)
        changed = () if before is None or now is None else tuple(_changes(before, now))
        shown.append(
            LaunchShown(
                epoch=row.epoch,
                opened_wall_s=row.opened_wall,
                closed_wall_s=row.closed_wall,
                host=row.host,
                pid=row.pid,
                version=row.version,
                command_line=row.command_line,
                reason=row.reason,
                exit_code=row.exit_code,
                decisions=row.decisions,
                changed=changed,
            )
        )
        before = now or before
    return tuple(shown)


def _config_of(row: EpochRow) -> CampaignConfig | None:
    """Return a launch's settings; None when it was one of a symfleet that had others."""
    try:
        return parse_toml(row.config_toml) if row.config_toml else None
    except SymfleetError:
        return None


def _changes(before: CampaignConfig, now: CampaignConfig) -> Iterator[Change]:
    for group in GROUPS:
        for setting in SETTINGS.values():
            if setting.group != group:
                continue
            old, new = (getattr(getattr(one, group), setting.name) for one in (before, now))
            if old != new:
                yield Change(setting.name, old, new)


def launch_lines(launches: tuple[LaunchShown, ...]) -> Iterator[str]:
    """Yield lines for people."""
    for launch in launches:
        opened = datetime.fromtimestamp(launch.opened_wall_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
        ended = "no verdict: it runs, or it crashed"
        if launch.reason is not None:
            ended = f"{launch.reason.partition(';')[0]} (exit code {launch.exit_code})"
        yield (
            f"epoch {launch.epoch:<4} {opened} UTC  {launch.host}  symfleet {launch.version}"
            f"  {launch.decisions} decisions  {ended}"
        )
        for change in launch.changed:
            yield f"           {change.key}: {_plain(change.before)} -> {_plain(change.now)}"


def _plain(value: object) -> str:
    match value:
        case None | () | "":
            return "-"
        case tuple():
            return " ".join(str(word) for word in value)
        case _:
            return str(value)
