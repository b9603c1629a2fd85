"""Where a ledger on PostgreSQL is: OUT/ledger.url, and the campaign's schema on the server."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from symfleet.config.ledger_address import check_address
from symfleet.corpus.durable import io_failure, write_file
from symfleet.corpus.plain_files import read_plain
from symfleet.errors import IntegrityError, UserError
from symfleet.types import CampaignId

ADDRESS_NAME: Final = "ledger.url"
_BYTES_MAX: Final = 65_536


class StoredAddress(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What OUT/ledger.url holds."""

    url: str
    campaign: CampaignId


@dataclass(frozen=True, slots=True)
class LedgerAddress:
    """One campaign's schema on a server. `password`: told by the root, in memory only; empty when
    libpq finds it by itself."""

    url: str
    schema: str
    password: str = field(default="", repr=False)

    @property
    def shown(self) -> str:
        """Return it for people."""
        return f"{self.url} schema {self.schema}"


def write_address(out: Path, stored: StoredAddress) -> None:
    """Replace OUT/ledger.url durably."""
    write_file(out / ADDRESS_NAME, msgspec.json.encode(stored) + b"\n")


def read_address(out: Path) -> StoredAddress | None:
    """Return what OUT/ledger.url holds, None when there is none."""
    path = out / ADDRESS_NAME
    try:
        text = read_plain(path, _BYTES_MAX)
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
