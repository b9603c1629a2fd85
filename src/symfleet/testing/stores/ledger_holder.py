"""Own a ledger in a process of its own, for tests that stop or kill its owner.

    python -m symfleet.testing.stores.ledger_holder OUT

Creates the campaign, opens an epoch, leases one item, prints `held`, waits for a line on standard
input, decides the item, prints `decided`, closes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from symfleet.clock import SystemClock
from symfleet.ledger import opener
from symfleet.protocol.answers import Claimed
from symfleet.protocol.operations import Admit, Claim
from symfleet.testing.ledgers import admission, campaign_row, decision, epoch_request


def main(out: Path) -> None:
    """Hold the ledger until a line comes."""
    request = opener.OwnerRequest("here", os.getpid(), reserve_bytes=0)
    ledger = opener.create(out, campaign_row(), request, SystemClock())
    ledger.open_epoch(epoch_request())
    source = ledger.register_source("seeds", "/s", "here")
    _, answer = ledger.run([Admit(source, (admission(b"held"),)), Claim(0, 1)]).answers
    assert isinstance(answer, Claimed)
    sys.stdout.write("held\n")
    sys.stdout.flush()
    sys.stdin.readline()
    ledger.run([decision(lease) for lease in answer.leases])
    ledger.close()
    sys.stdout.write("decided\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
