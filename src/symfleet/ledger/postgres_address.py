"""Where a ledger on PostgreSQL is: OUT/ledger.url, and the address that people give.

An address never holds a password: command lines, logs and stored files are read by others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from symfleet.corpus.durable import io_failure, write_file
from symfleet.errors import IntegrityError, UserError
from symfleet.types import CampaignId

ADDRESS_NAME: Final = "ledger.url"
_SCHEMES: Final = ("postgresql", "postgres")
_SECRETS: Final = frozenset({"password", "sslpassword"})


class StoredAddress(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What OUT/ledger.url holds."""

    url: str
    campaign: CampaignId


class LedgerAddress(msgspec.Struct, frozen=True):
    """One campaign's schema on a server."""

    url: str
    schema: str

    @property
    def shown(self) -> str:
        """Return it for people."""
        return f"{self.url} schema {self.schema}"


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


def write_address(out: Path, stored: StoredAddress) -> None:
    """Replace OUT/ledger.url durably."""
    write_file(out / ADDRESS_NAME, msgspec.json.encode(stored) + b"\n")


def read_address(out: Path) -> StoredAddress | None:
    """Return what OUT/ledger.url holds, None when there is none."""
    path = out / ADDRESS_NAME
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise io_failure(error, "the ledger's address cannot be read", str(path)) from error
    try:
        stored = msgspec.json.decode(text, type=StoredAddress)
        check_address(stored.url)
    except (msgspec.MsgspecError, UserError) as error:
        raise IntegrityError(
            "the ledger's address is damaged",
            where=str(path),
            why=str(error),
            hint='it is one line: {"url":"postgresql://...","campaign":"..."}',
        ) from error
    return stored
