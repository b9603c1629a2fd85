"""Write again what people look at when it is gone: campaign.toml, README.txt, poison/."""

from __future__ import annotations

from pathlib import Path

from symfleet.config.project import CONFIG_NAME
from symfleet.corpus.durable import write_file
from symfleet.corpus.poison import project_poison
from symfleet.ledger.contract import LedgerReader
from symfleet.observe.readme import write_readme
from symfleet.observe.writer import POISON_SHOWN_MAX
from symfleet.types import WorkState


def restore(out: Path, ledger: LedgerReader) -> int:
    """Make the missing ones from the ledger; return how many. The caller is the owner."""
    restored = 0
    settings = out / CONFIG_NAME
    if not settings.exists():
        write_file(settings, ledger.status().campaign.config_toml.encode())
        restored += 1
    restored += write_readme(out)
    project_poison(out, ledger.work_rows(WorkState.POISONED, POISON_SHOWN_MAX), ledger)
    return restored
