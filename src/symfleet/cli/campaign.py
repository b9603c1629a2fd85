"""A stored campaign as commands meet it: is it there, what does it say, who may write."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path

from symfleet.clock import SystemClock
from symfleet.config.model import CampaignConfig
from symfleet.config.project import CONFIG_NAME
from symfleet.config.resolve import parse_toml
from symfleet.corpus.durable import check_folder_place
from symfleet.corpus.plain_files import open_plain, read_plain
from symfleet.errors import DataError, IOFailure, UserError
from symfleet.ledger.contract import Ledger, LedgerReader
from symfleet.ledger.copies import refusal_of_copy
from symfleet.ledger.database import LEDGER_NAME
from symfleet.ledger.opener import OwnerRequest, check_at_rest, has_ledger
from symfleet.ledger.owner_lock import LOCK_NAME, Holder, acquire
from symfleet.ledger.places import make_ready, own_ledger, read_ledger
from symfleet.ledger.postgres_address import ADDRESS_NAME
from symfleet.observe.at_rest import stored_report
from symfleet.observe.names import may_be_left
from symfleet.observe.report import Report
from symfleet.runtime.campaign_lock import LOCK_NAME as JOB_LOCK_NAME
from symfleet.runtime.campaign_lock import CampaignLock
from symfleet.types import SinkKind

_CONFIG_BYTES_MAX = 1 << 20


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
                hint=f"{how_to_begin(out)}; nothing is lost",
            )
        raise DataError(
            "this is no campaign",
            where=str(out.absolute()),
            why=f"it holds neither {LEDGER_NAME} nor {ADDRESS_NAME}",
            hint="give the folder that `symfleet explore -o` made; when that was killed at once,"
            " give the same command again",
        )


def how_to_begin(out: Path) -> str:
    """Say what begins a campaign whose launch was over before it had a ledger."""
    if (out / CONFIG_NAME).exists():
        return f"`symfleet resume {shlex.quote(str(out))}` begins it"
    return "give the same `symfleet explore` command again"


def has_begun(out: Path) -> bool:
    """Whether a folder without a ledger was made by a launch that did not get as far as one."""
    return (out / JOB_LOCK_NAME).is_file() and not has_ledger(out)


def require_free_folder(out: Path) -> None:
    """Raise UserError when a folder holds something that is not a campaign's."""
    check_folder_place(out, "the output folder", "choose another name after -o")
    if not out.exists() or has_ledger(out):
        return
    try:
        foreign = sorted(entry.name for entry in out.iterdir() if not may_be_left(entry.name))
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
    return _is_locked(out / LOCK_NAME)


def is_worked_on(out: Path) -> bool:
    """Whether a live process owns the campaign, or a job that is just between two epochs has it."""
    return _is_locked(out / LOCK_NAME) or _is_locked(out / JOB_LOCK_NAME)


def _is_locked(path: Path) -> bool:
    try:
        with os.fdopen(open_plain(path)) as lock:
            # Shared, for an instant: who takes it just now waits longer than that.
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


@contextlib.contextmanager
def keeping_out(out: Path) -> Iterator[None]:
    """Keep jobs and writers away without opening anything; raise BusyError when one works here.

    A job holds its lock between two epochs, too, where nobody owns the ledger."""
    clock = SystemClock()
    request = _request()
    job = CampaignLock(out, clock)
    job.acquire(request.lock_wait_s)
    try:
        holder = Holder(request.host, request.pid, 0, clock.wall())
        with contextlib.closing(acquire(out, holder, clock, request.lock_wait_s)):
            yield
    finally:
        job.release()


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
        if not is_worked_on(out):
            check_at_rest(out)  # SQLite would only say that something is malformed
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
        return parse_toml(read_plain(path, _CONFIG_BYTES_MAX).decode())
    except (OSError, UnicodeDecodeError, DataError, UserError) as error:
        why = "the launch was over before it had noted what was asked for"
        raise DataError(
            "the campaign cannot be begun from what its first launch left",
            where=str(path.absolute()),
            why=why if isinstance(error, FileNotFoundError) else str(error),
            hint="give the same `symfleet explore` command again; nothing is lost",
        ) from error


def published_of(reader: LedgerReader) -> dict[SinkKind, int]:
    """Return up to which artefact the files of each kind must be in this folder.

    A folder that was moved holds what was published under its old name, also while the sinks of
    its new one are behind that.
    """
    sinks = reader.sinks()
    return {
        kind: max((sink.published_upto for sink in sinks if sink.kind is kind), default=0)
        for kind in SinkKind
    }


def report_from_ledger(out: Path) -> Report:
    """Make the report of a campaign; what only a live job knows comes from its status.json.

    Raises IntegrityError when the ledger is an older or another copy: that of one that lost its
    log would look like a campaign in which nothing was done yet."""
    with reading(out) as reader:
        refusal = refusal_of_copy(reader, out)
        if refusal is not None:
            raise refusal
        return stored_report(
            out,
            reader,
            running=lambda: is_owned(out),
            restarting=lambda: is_worked_on(out),
        )
