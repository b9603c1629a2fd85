"""Whether a ledger is the one that its folder tells of, and whether it may be trusted after a
failure: what every opener asks before it lets an owner go on."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from symfleet.corpus.durable import remove_file
from symfleet.errors import IntegrityError
from symfleet.ledger import highwater
from symfleet.ledger.contract import CampaignRow, LedgerReader
from symfleet.ledger.row_reading import read_campaign
from symfleet.ledger.rows import Database
from symfleet.ledger.statements import load

CHECK_FIRST_NAME: Final = ".check-first"
"""Exists after an I/O error: the next start checks everything before it goes on."""

_READ: Final = load("reading")
_AUDIT: Final = load("audit")


def campaign_values(campaign: CampaignRow) -> tuple[object, ...]:
    """Return the columns of the campaign's row."""
    return (
        campaign.campaign,
        campaign.ledger_incarnation,
        campaign.created_wall,
        campaign.keep.value,
        campaign.generation,
        msgspec.json.encode(campaign.key).decode(),
        campaign.config_toml,
    )


def is_older_copy(connection: Database, out: Path, path: Path, accept_older: str | None) -> bool:
    """Whether the ledger is behind OUT/highwater; refuse one that is not to be accepted so."""
    mark = highwater.read_highwater(out)
    if mark is None:
        return False
    campaign = read_campaign(connection, str(path))
    last = connection.execute(_READ["last_decision"]).fetchone()
    (epoch,) = connection.execute(_READ["last_epoch_number"]).fetchone()
    current = highwater.Highwater(
        campaign=campaign.campaign,
        ledger_incarnation=campaign.ledger_incarnation,
        epoch=epoch,
        decision=0 if last is None else last[0],
        chain="" if last is None else last[1].hex(),
    )
    row = connection.execute(_AUDIT["chain_of"], (mark.decision,)).fetchone()
    refusal = highwater.judge_highwater(mark, current, None if row is None else row[1].hex(), path)
    if refusal is None:
        return False
    if accept_older is None or mark.campaign != campaign.campaign:
        raise refusal
    return True


def refusal_of_copy(reader: LedgerReader, out: Path) -> IntegrityError | None:
    """Return why a ledger is not the one that its folder tells of, None when it is."""
    try:
        mark = highwater.read_highwater(out)
    except IntegrityError as error:
        return error
    if mark is None:
        return None
    status = reader.status()
    current = highwater.Highwater(
        campaign=status.campaign.campaign,
        ledger_incarnation=status.campaign.ledger_incarnation,
        epoch=status.epochs,
        decision=status.decisions,
        chain=reader.chain_at(status.decisions) or "",
    )
    return highwater.judge_highwater(mark, current, reader.chain_at(mark.decision), out)


def check_after_failure(ledger: LedgerReader, out: Path) -> None:
    """After an I/O error the next start checks everything before it goes on."""
    marker = out / CHECK_FIRST_NAME
    if not marker.exists():
        return
    for finding in ledger.audit():
        raise IntegrityError(
            finding.what,
            where=finding.row,
            why=f"{finding.detail} (found after an I/O error)",
            hint="check the disk (dmesg), then restore a backup of the ledger",
        )
    remove_file(marker)
