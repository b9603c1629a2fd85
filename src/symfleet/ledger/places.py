"""Where a campaign's ledger is: a file of its folder, or a schema on a PostgreSQL server.

`ledger` is the setting of that name: empty means "where it is, and for a new campaign the folder".
"""

from __future__ import annotations

from pathlib import Path

from symfleet.clock import Clock
from symfleet.config.ledger_address import SQLITE, is_postgres
from symfleet.errors import IntegrityError, UserError
from symfleet.ledger import opener
from symfleet.ledger.contract import CampaignRow, Ledger, LedgerReader
from symfleet.ledger.database import LEDGER_NAME
from symfleet.ledger.opener import OwnerRequest
from symfleet.ledger.postgres_address import ADDRESS_NAME


def create_ledger(
    out: Path, campaign: CampaignRow, request: OwnerRequest, clock: Clock, ledger: str = ""
) -> Ledger:
    """Make the ledger of a new campaign and own it; errors as of `opener.create`."""
    if is_postgres(ledger):
        from symfleet.ledger import postgres_opener

        return postgres_opener.create(out, campaign, request, clock, ledger)
    return opener.create(out, campaign, request, clock)


def own_ledger(out: Path, request: OwnerRequest, clock: Clock, ledger: str = "") -> Ledger:
    """Own an existing ledger; errors as of `opener.open_owner`. Raises UserError when `ledger`
    asks for another kind than the campaign has."""
    if _is_on_a_server(out):
        if ledger == SQLITE:
            raise _other_kind(out, f"its ledger is on a server ({ADDRESS_NAME} tells where)")
        from symfleet.ledger import postgres_opener

        return postgres_opener.open_owner(out, request, clock, ledger)
    if is_postgres(ledger) and (out / LEDGER_NAME).exists():
        raise _other_kind(out, f"its ledger is the file {LEDGER_NAME}")
    return opener.open_owner(out, request, clock)


def read_ledger(out: Path) -> LedgerReader:
    """Open a ledger for reading, live or not; errors as of `opener.open_reader`."""
    if _is_on_a_server(out):
        from symfleet.ledger import postgres_opener

        return postgres_opener.open_reader(out)
    return opener.open_reader(out)


def _is_on_a_server(out: Path) -> bool:
    if not (out / ADDRESS_NAME).exists():
        return False
    if (out / LEDGER_NAME).exists():
        raise IntegrityError(
            "the campaign's folder has two ledgers",
            where=str(out),
            why=f"{LEDGER_NAME} and {ADDRESS_NAME} are both there",
            hint="files of two campaigns are mixed: put away the one that does not belong here",
        )
    return True


def _other_kind(out: Path, why: str) -> UserError:
    return UserError(
        "the campaign has a ledger of another kind",
        where=str(out),
        why=why,
        hint="leave --ledger out: a campaign stays where it was made",
    )
