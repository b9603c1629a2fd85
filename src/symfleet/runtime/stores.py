"""Where a campaign's ledger is, and the few things that the runtime asks of it from outside."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from symfleet.clock import Clock
from symfleet.config.model import CampaignConfig
from symfleet.config.project import render_toml
from symfleet.coverage.generation import generation_id_of
from symfleet.ledger.contract import CampaignRow, GenerationKey, Ledger
from symfleet.ledger.memory import MemoryLedger
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


def open_ledger(config: CampaignConfig, key: GenerationKey, clock: Clock) -> OpenedLedger:
    row = CampaignRow(
        campaign=CampaignId(secrets.token_hex(16)),
        ledger_incarnation=secrets.token_hex(8),
        created_wall=clock.wall(),
        keep=config.keep,
        generation=generation_id_of(key),
        key=key,
        config_toml=render_toml(config),
    )
    return OpenedLedger(MemoryLedger(row, clock), row.campaign, row.generation)


def read_summary(out: Path) -> EpochSummary | None:
    return None
