"""The setting `ledger`: where a campaign keeps its truth.

An address never holds a password: command lines, logs and stored files are read by others.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from symfleet.errors import UserError
from symfleet.types import CampaignId, Epoch

SQLITE: Final = "sqlite"
_SCHEMES: Final = ("postgresql", "postgres")
_SECRETS: Final = frozenset({"password", "sslpassword"})


class LedgerAccess(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a coordinator needs to write to a ledger on a server by itself. The root tells it to
    the others in its introduction, never through a file, a log or a command line."""

    url: str
    campaign: CampaignId
    epoch: Epoch
    password: str
    """Empty when the server asks for none."""

    def __repr__(self) -> str:
        return f"LedgerAccess({self.url!r}, {self.campaign!r}, {self.epoch!r})"


def check_ledger(ledger: str) -> None:
    """Raise UserError unless `ledger` is empty, `sqlite`, or the address of a database."""
    if is_postgres(ledger):
        check_address(ledger)
    elif ledger not in {"", SQLITE}:
        shown = "an address of another kind" if "://" in ledger else repr(ledger)
        raise UserError(
            f"ledger cannot be {shown}",
            where="ledger",
            why="it must be `sqlite` or the address of a PostgreSQL database",
            hint="for example --ledger postgresql://user@host:5432/database",
        )


def is_postgres(ledger: str) -> bool:
    """Whether a value of `--ledger` asks for PostgreSQL."""
    return ledger.partition("://")[0] in _SCHEMES


def check_address(url: str) -> str:
    """Return an address that may be stored and shown; raise UserError, never showing a secret."""
    try:
        parts = urlsplit(url)
        secret = parts.password is not None or any(
            name.lower() in _SECRETS for name, _ in parse_qsl(parts.query, keep_blank_values=True)
        )
    except ValueError:
        raise UserError(
            "the ledger's address cannot be read",
            where="ledger",
            why="it is no URL",
            hint="for example --ledger postgresql://user@host:5432/database",
        ) from None
    if secret:
        raise UserError(
            "the ledger's address holds a password",
            where="ledger",
            why="other users see command lines and stored settings",
            hint="leave it out; put it into the file that PGPASSFILE names (mode 0600)",
        )
    return url
