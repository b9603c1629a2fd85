"""The names that symfleet gives to things in a campaign's folder: all others are people's own."""

from __future__ import annotations

import re
from typing import Final

from symfleet.config.project import CONFIG_NAME
from symfleet.corpus.durable import STAGING_PREFIX
from symfleet.corpus.layout import LOST_AND_FOUND, STAGING
from symfleet.corpus.poison import POISON
from symfleet.ledger.copies import CHECK_FIRST_NAME
from symfleet.ledger.database import LEDGER_NAME
from symfleet.ledger.highwater import HIGHWATER_NAME
from symfleet.ledger.moving import MOVE_NAME
from symfleet.ledger.owner_lock import LOCK_NAME
from symfleet.ledger.postgres_address import ADDRESS_NAME
from symfleet.ledger.reserve import RESERVE_NAME
from symfleet.types import SinkKind

_NAMES: Final = frozenset(
    {
        *(kind.value for kind in SinkKind),
        *(CONFIG_NAME, POISON, "inbox", "logs", LOST_AND_FOUND, STAGING, ".run"),
        *("status.json", "fuzzer_stats", "fuzzer_setup", "plot_data", "README.txt"),
        *("verdict.json", HIGHWATER_NAME, CHECK_FIRST_NAME, RESERVE_NAME),
        *("job.lock", LOCK_NAME, ADDRESS_NAME, MOVE_NAME),
    }
)
_LEDGERS: Final = re.compile(
    r"ledger\.db(\.creating|\.copying|\.rescued(-\d+)?(\.copying)?)?(-wal|-shm|-journal)?"
    r"|ledger\.(db(-wal|-shm|-journal)?|url)\.retired-\d+(-wal|-shm|-journal)?"
)


def is_ours(name: str) -> bool:
    """Whether symfleet gives this name to something in a campaign's folder."""
    return name in _NAMES or name.startswith(STAGING_PREFIX) or _LEDGERS.fullmatch(name) is not None


def may_be_left(name: str) -> bool:
    """Whether a launch that was killed before it had a ledger may have left this."""
    return name in _NAMES or name.startswith((".", LEDGER_NAME))
