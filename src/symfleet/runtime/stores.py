"""Where a campaign's ledger is, and the few things that the runtime asks of it from outside."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.clock import Clock
from symfleet.config.ledger_address import is_postgres
from symfleet.config.model import CampaignConfig
from symfleet.config.project import CONFIG_NAME, render_toml
from symfleet.corpus.durable import write_file
from symfleet.coverage.generation import (
    Aspect,
    Difference,
    generation_id_of,
    keep_difference,
    key_differences,
)
from symfleet.errors import SymfleetError, UserError
from symfleet.ledger.contract import (
    CampaignRow,
    GenerationKey,
    Ledger,
    LedgerReader,
    LedgerStatus,
    NewGeneration,
)
from symfleet.runtime.home import folder_is_gone
from symfleet.runtime.identity import version
from symfleet.types import CampaignId, GenerationId


@dataclass(frozen=True, slots=True)
class OpenedLedger:
    """The owner's ledger and the identities that stand in it."""

    ledger: Ledger
    campaign: CampaignId
    generation: GenerationId


@dataclass(frozen=True, slots=True)
class EpochSummary:
    """What a launcher reads of the newest epoch. `reason` None: it has no verdict."""

    epoch: int
    reason: str | None
    exit_code: int | None
    decisions: int
    crashes: int


def holds_campaign(out: Path) -> bool:
    """Whether a folder has a ledger, or the address of one."""
    from symfleet.ledger.opener import has_ledger

    return has_ledger(out)


def note_beginning(out: Path, config: CampaignConfig, *, must_exist: bool = False) -> None:
    """Write down what was asked for before there is a ledger that says it.

    A launch that is killed before it has made one can be resumed all the same. The caller holds
    the campaign's lock; raises IOFailure, and IntegrityError when the folder `must_exist` as one of
    a campaign and is none."""
    if not holds_campaign(out):
        if must_exist and not (out / CONFIG_NAME).exists():
            raise folder_is_gone(out, "the folder of this name holds no campaign now")
        write_file(out / CONFIG_NAME, render_toml(config).encode())


def missing_reserve(out: Path, config: CampaignConfig) -> int:
    """Return how many bytes the reserve of a ledger in `out` still lacks; 0 for one on a server."""
    from symfleet.ledger.reserve import DEFAULT_RESERVE_BYTES, RESERVE_NAME

    if is_on_server(out, config.output.ledger):
        return 0
    try:
        held = (out / RESERVE_NAME).stat().st_blocks * 512
    except OSError:
        held = 0
    return max(0, DEFAULT_RESERVE_BYTES - held)


def refuse_idle_connections(out: Path, config: CampaignConfig) -> None:
    """Raise UserError when coordinators are to write over own connections to a ledger that is, or
    would be made, a file of its folder."""
    from symfleet.ledger.moving import is_moving

    if is_moving(out):
        return  # where it is then, its owner finds out
    if config.advanced.own_connections and not is_on_server(out, config.output.ledger):
        raise UserError(
            "own connections are for a ledger on PostgreSQL",
            where="own_connections",
            why=f"the ledger is SQLite, a file of {out}, which the root alone writes",
            hint="leave --own-connections away, or say --ledger postgresql://... for a new campaign"
            " (`symfleet ledger copy` moves one that is there)",
        )


def is_on_server(out: Path, ledger: str = "") -> bool:
    """Return whether a campaign's ledger is on a server, or would be made there (`ledger`: the
    setting)."""
    from symfleet.ledger.postgres_address import ADDRESS_NAME

    return is_postgres(ledger) or (out / ADDRESS_NAME).exists()


def open_ledger(
    config: CampaignConfig, key: GenerationKey, clock: Clock, *, may_make: bool = True
) -> OpenedLedger:
    """Own the campaign's ledger; make it when there is none and `may_make`.

    Raises UserError when the campaign is one of another target, BusyError when another process
    owns it, IntegrityError and IOFailure as the ledger does."""
    from symfleet.ledger.opener import OwnerRequest, has_ledger
    from symfleet.ledger.places import create_ledger, own_ledger

    out = Path(config.output.out_dir)
    request = OwnerRequest(
        host=socket.gethostname(),
        pid=os.getpid(),
        lock_wait_s=config.advanced.lock_wait_s,
        allow_fuse="fuse" in config.output.allow_filesystem,
        accept_older=secrets.token_hex(8) if config.advanced.accept_older_ledger else None,
    )
    if not has_ledger(out):
        if not may_make:
            raise folder_is_gone(out, "the ledger that it had is not there any more")
        row = CampaignRow(
            campaign=CampaignId(secrets.token_hex(16)),
            ledger_incarnation=secrets.token_hex(8),
            created_wall=clock.wall(),
            keep=config.keep,
            generation=generation_id_of(key),
            key=key,
            config_toml=render_toml(config),
        )
        made = create_ledger(out, row, request, clock, config.output.ledger)
        return OpenedLedger(made, row.campaign, row.generation)
    ledger = own_ledger(out, request, clock, config.output.ledger)
    try:
        row = _explore_with(ledger, out, config, key, clock)
    except BaseException:
        ledger.close()
        raise
    return OpenedLedger(ledger, row.campaign, row.generation)


def _explore_with(
    ledger: Ledger, out: Path, config: CampaignConfig, key: GenerationKey, clock: Clock
) -> CampaignRow:
    """Return the campaign as it goes on with this program. Refuse it for another one, whose results
    would be mixed with those that it has, unless a new coverage generation is asked for."""
    status = ledger.status()
    row = status.campaign
    differences = [*key_differences(row.key, key), *keep_difference(row.keep, config.keep)]
    if not differences:
        return row
    if row.keep is not config.keep or not config.advanced.accept_new_target:
        raise _made_otherwise(out, status, differences)
    generation = generation_id_of(key, row.generation_number + 1)
    ledger.begin_generation(NewGeneration(generation, key, render_toml(config), clock.wall()))
    return ledger.status().campaign


_OTHERWISE: Final = {
    Aspect.TARGET: ("another target", "put the old program back"),
    Aspect.ARGUMENTS: ("other arguments", "give the old arguments"),
    Aspect.INPUT_MODE: ("another input mode", "give the old --input-mode"),
    Aspect.ENGINE: ("another engine build", "go on with the symfleet and the engine of that build"),
    Aspect.LIMITS: ("other limits", "give the old limits"),
    Aspect.KEEP: ("another --keep", "give the old --keep, which a campaign never changes"),
}
"""How a campaign was made that differs in this, and how to go on with it as it is."""


def _made_otherwise(
    out: Path, status: LedgerStatus, differences: Sequence[Difference]
) -> UserError:
    """Name what differs: an update of symfleet must not read as if the target had changed."""
    aspects = list(dict.fromkeys(difference.aspect for difference in differences))
    why = "; ".join(difference.text for difference in differences)
    if Aspect.ENGINE in aspects and status.epoch is not None:
        why += f" (symfleet {status.epoch.version} opened its newest epoch, this is {version()})"
    hint = ", ".join(_OTHERWISE[aspect][1] for aspect in aspects) + "; or choose another folder"
    if Aspect.KEEP not in aspects:
        hint += "; or go on in this one with --accept-new-target: every input of the corpus"
        hint += f" ({status.corpus}) is executed again, and coverage counts anew"
    return UserError(
        f"the campaign was made with {' and '.join(_OTHERWISE[aspect][0] for aspect in aspects)}",
        where=str(out),
        why=why,
        hint=hint,
    )


@contextlib.contextmanager
def open_reader(out: Path) -> Iterator[LedgerReader]:
    """Open the ledger for reading, live or not; raise SymfleetError when it cannot be read."""
    from symfleet.ledger.places import read_ledger

    reader = read_ledger(out)
    try:
        yield reader
    finally:
        reader.close()


def read_summary(out: Path) -> EpochSummary | None:
    """Return the newest epoch; None when there is none or the ledger cannot be read (the root says
    why in its own words)."""
    from symfleet.ledger.opener import has_ledger

    if not has_ledger(out):
        return None
    try:
        with open_reader(out) as reader:
            status = reader.status()
    except SymfleetError:
        return None
    epoch = status.epoch
    if epoch is None:
        return None
    return EpochSummary(
        epoch=epoch.epoch,
        reason=epoch.reason,
        exit_code=epoch.exit_code,
        decisions=epoch.decisions,
        crashes=status.total.crashes,
    )
