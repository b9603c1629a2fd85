"""A stored campaign as commands meet it: is it there, what does it say, who may write."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from symfleet.clock import SystemClock
from symfleet.config.model import CampaignConfig
from symfleet.config.project import CONFIG_NAME
from symfleet.config.resolve import parse_toml
from symfleet.corpus.layout import Reproduction, sink_folder
from symfleet.errors import DataError, IOFailure, UserError
from symfleet.ledger.contract import Ledger, LedgerReader
from symfleet.ledger.database import LEDGER_NAME
from symfleet.ledger.moving import MOVE_NAME
from symfleet.ledger.opener import OwnerRequest, has_ledger
from symfleet.ledger.owner_lock import LOCK_NAME
from symfleet.ledger.places import make_ready, own_ledger, read_ledger
from symfleet.ledger.postgres_address import ADDRESS_NAME
from symfleet.observe.report import Report, RunTimes, read_status, report_of
from symfleet.runtime.campaign_lock import LOCK_NAME as JOB_LOCK_NAME
from symfleet.types import SinkKind

_OURS: Final = frozenset(
    {
        *("campaign.toml", "corpus", "crashes", "hangs", "poison", "inbox", "logs", "lost+found"),
        *(
            "status.json",
            "fuzzer_stats",
            "fuzzer_setup",
            "plot_data",
            "README.txt",
            "highwater",
            "verdict.json",
        ),
        *("job.lock", "owner.lock", ADDRESS_NAME, MOVE_NAME),
    }
)


def _is_ours(name: str) -> bool:
    """Whether a launch that was killed before it had a ledger may have left this."""
    return name in _OURS or name.startswith((".", LEDGER_NAME))


def require_campaign(out: Path) -> None:
    """Raise UserError or DataError unless a folder holds a campaign."""
    if not out.exists():
        raise UserError(
            "there is no such folder",
            where=str(out.absolute()),
            why="nothing has this name",
            hint="give the folder that `symfleet explore -o` made",
        )
    if not has_ledger(out):
        if has_begun(out):
            raise DataError(
                "the campaign has no ledger yet",
                where=str(out.absolute()),
                why="its first launch is just starting, or was killed before it had made one",
                hint=f"`symfleet resume {out}` begins it; nothing is lost",
            )
        raise DataError(
            "this is no campaign",
            where=str(out.absolute()),
            why=f"it holds neither {LEDGER_NAME} nor {ADDRESS_NAME}",
            hint="give the folder that `symfleet explore -o` made; when that was killed at once,"
            " give the same command again",
        )


def has_begun(out: Path) -> bool:
    """Whether a folder without a ledger was made by a launch that did not get as far as one."""
    return (out / JOB_LOCK_NAME).is_file() and not has_ledger(out)


def require_free_folder(out: Path) -> None:
    """Raise UserError when a folder holds something that is not a campaign's."""
    if out.exists() and not out.is_dir():
        raise UserError(
            "the output folder is not a folder",
            where=str(out),
            why="a file has this name",
            hint="choose another name after -o",
        )
    if not out.exists() or has_ledger(out):
        return
    try:
        foreign = sorted(entry.name for entry in out.iterdir() if not _is_ours(entry.name))
    except OSError as error:
        raise IOFailure(
            "the output folder cannot be read",
            where=str(out),
            why=error.strerror or str(error),
            hint="check its mode, or choose another one after -o",
        ) from error
    if foreign:
        raise UserError(
            "the output folder holds something else",
            where=str(out),
            why=f"it is no campaign and holds {', '.join(foreign[:3])}",
            hint="choose a new or an empty folder after -o",
        )


def is_owned(out: Path) -> bool:
    """Whether a live process owns the campaign. A lock is looked at, never waited for."""
    try:
        with (out / LOCK_NAME).open("rb") as lock:
            # Shared, for an instant: an owner that starts just now waits longer than that.
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


@contextlib.contextmanager
def reading(out: Path) -> Iterator[LedgerReader]:
    """Open a campaign read-only, live or not."""
    require_campaign(out)
    reader = read_ledger(out)
    try:
        yield reader
    finally:
        reader.close()


@contextlib.contextmanager
def owning(out: Path) -> Iterator[Ledger]:
    """Open a campaign as its writer; raise BusyError when a job works on it."""
    require_campaign(out)
    ledger = own_ledger(out, _request(), SystemClock())
    try:
        yield ledger
    finally:
        ledger.close()


def _request(accept_older: str | None = None) -> OwnerRequest:
    return OwnerRequest(
        host=socket.gethostname(),
        pid=os.getpid(),
        # Somebody waits at the terminal; a live job will not be over in two seconds either.
        lock_wait_s=0.3,
        # Whoever made the campaign here has answered for its file system.
        allow_fuse=True,
        accept_older=accept_older,
    )


def prepare_ledger(out: Path, ledger: str, *, accept_older: bool) -> None:
    """Do what an owner has to do before a campaign can be read: bring the schema of an older
    symfleet up to date, finish a move, follow a server to the address `ledger`.

    Raises BusyError when a job works on it, UserError when `ledger` is of another kind."""
    if has_ledger(out):
        request = _request(secrets.token_hex(8) if accept_older else None)
        make_ready(out, request, SystemClock(), ledger)


def config_of(reader: LedgerReader) -> CampaignConfig:
    """Return the configuration that the campaign was made with."""
    return parse_toml(reader.status().campaign.config_toml)


def stored_config(out: Path) -> CampaignConfig:
    """Return the configuration of the campaign in a folder, also when it has no ledger yet."""
    if has_begun(out):
        return _begun_config(out / CONFIG_NAME)
    with reading(out) as reader:
        return config_of(reader)


def _begun_config(path: Path) -> CampaignConfig:
    try:
        return parse_toml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, DataError, UserError) as error:
        raise DataError(
            "the campaign cannot be begun from what its first launch left",
            where=str(path.absolute()),
            why=str(error),
            hint="give the same `symfleet explore` command again; nothing is lost",
        ) from error


def reproduction_of(config: CampaignConfig) -> Reproduction:
    """Return how the campaign's target is run on one input."""
    return Reproduction(
        argv=config.target.argv,
        input_mode=config.target.effective_input_mode,
        environment=config.target.env,
    )


def published_of(reader: LedgerReader, out: Path) -> dict[SinkKind, int]:
    """Return up to which artefact the files of each kind must be in this folder.

    A folder that was moved has no sink under its new name yet: its files are those of the old one.
    """
    published: dict[SinkKind, int] = {}
    for kind in SinkKind:
        sinks = [sink for sink in reader.sinks() if sink.kind is kind]
        here = [sink for sink in sinks if sink.path == str(sink_folder(out.absolute(), kind))]
        published[kind] = max((sink.published_upto for sink in here or sinks), default=0)
    return published


def report_from_ledger(out: Path) -> Report:
    """Make the report of a campaign; what only a live job knows comes from its status.json."""
    with reading(out) as reader:
        status = reader.status()
        config = config_of(reader)
        epochs = reader.epochs()
    shown = read_status(out)
    if shown is not None and shown.campaign.id != status.campaign.campaign:
        shown = None
    newest = epochs[-1] if epochs else None
    ended = sum(max(0.0, row.closed_wall - row.opened_wall) for row in epochs if row.closed_wall)
    times = RunTimes(this_epoch_s=0.0, total_s=ended)
    live, running = None, False
    if newest is not None:
        this_epoch = newest.closed_wall - newest.opened_wall if newest.closed_wall else 0.0
        running = is_owned(out)
        same = shown is not None and shown.epoch is not None and shown.epoch.number == newest.epoch
        if shown is not None and same:
            this_epoch = max(this_epoch, shown.time_this_epoch_s)
            live = shown.live if running and newest.closed_wall is None else None
        # A launch that crashed has no end: what it showed last fills the gap.
        total = max(ended, shown.time_total_s if shown is not None else 0.0)
        times = RunTimes(this_epoch_s=max(0.0, this_epoch), total_s=total)
    argv, engine = config.target.argv, config.target.engine
    return report_of(status, times, argv, engine, live, running=running)
