"""Every epoch of a campaign: when, where, how it ended, and which settings were new in it.

A launch, one command, has one epoch, and one more for each time that it had to begin again by
itself. The ledger knows epochs only, so this is what people are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import msgspec

from symfleet.config.catalogue import GROUPS
from symfleet.config.model import CampaignConfig
from symfleet.config.resolve import SETTINGS, parse_toml
from symfleet.errors import SymfleetError
from symfleet.ledger.contract import EpochRow, LedgerReader
from symfleet.observe.lines import is_in_doubt


class Change(msgspec.Struct, frozen=True):
    """A setting that is other than in the epoch before."""

    key: str
    before: object
    now: object


class EpochShown(msgspec.Struct, frozen=True):
    """One epoch. `reason` None: it has no verdict; then it runs (`running`), or it crashed, and
    maybe its job is about to begin the next one (`restarting`). `changed` is empty for the first
    one."""

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
    running: bool
    restarting: bool
    changed: tuple[Change, ...]


def epochs_of(
    reader: LedgerReader,
    running: Callable[[], bool],
    restarting: Callable[[], bool] = lambda: False,
) -> tuple[EpochShown, ...]:
    """Read all epochs, oldest first. `running`: whether the owner of the newest one lives,
    `restarting`: whether a job lives that has none just now; asked after the ledger was read."""
    shown: list[EpochShown] = []
    before: CampaignConfig | None = None
    rows = reader.epochs()
    lives = running()
    begins_again = not lives and restarting()
    for row in rows:
        now = _config_of(row)
        changed = () if before is None or now is None else tuple(_changes(before, now))
        shown.append(
            EpochShown(
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
                running=lives and row.reason is None and row is rows[-1],
                restarting=begins_again and row.reason is None and row is rows[-1],
                changed=changed,
            )
        )
        before = now or before
    return tuple(shown)


def _config_of(row: EpochRow) -> CampaignConfig | None:
    """Return an epoch's settings; None when it was one of a symfleet that had others."""
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


def epoch_lines(epochs: tuple[EpochShown, ...]) -> Iterator[str]:
    """Yield lines for people."""
    for epoch, following in zip(epochs, (*epochs[1:], None), strict=True):
        opened = datetime.fromtimestamp(epoch.opened_wall_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
        yield (
            f"epoch {epoch.epoch:<4} {opened} UTC  {epoch.host}  symfleet {epoch.version}"
            f"  {epoch.decisions} decisions  {_ending(epoch, following)}"
        )
        for change in epoch.changed:
            yield f"           {change.key}: {_plain(change.before)} -> {_plain(change.now)}"


def _ending(epoch: EpochShown, following: EpochShown | None) -> str:
    if epoch.reason is not None:
        doubt = following is None and is_in_doubt(epoch.exit_code)
        way_on = "; look first what `symfleet verify` says" if doubt else ""
        return f"{epoch.reason.partition(';')[0]} (exit code {epoch.exit_code}){way_on}"
    if epoch.running:
        return f"is running (process {epoch.pid})"
    if epoch.restarting:
        return "crashed: it has no verdict; its job begins the next one by itself"
    # The ledger cannot tell whether the same command went on or a later one.
    went_on = (
        "`symfleet resume` goes on" if following is None else f"epoch {following.epoch} went on"
    )
    return f"crashed: it has no verdict; {went_on}"


def _plain(value: object) -> str:
    match value:
        case None | () | "":
            return "-"
        case tuple():
            return " ".join(str(word) for word in value)
        case _:
            return str(value)
