"""`symfleet ledger`: where a campaign keeps its truth; copy it to another store, back it up."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter

from symfleet.cli import present
from symfleet.cli.arguments import Invocation, Json, OutFolder
from symfleet.cli.campaign import require_campaign
from symfleet.clock import SystemClock
from symfleet.errors import ExitCode
from symfleet.ledger.backup import Backup, back_up
from symfleet.ledger.facts import LedgerFacts, facts_of
from symfleet.ledger.opener import OwnerRequest
from symfleet.ledger.relocation import Relocated, relocate
from symfleet.runtime.campaign_lock import CampaignLock

To = Annotated[
    str,
    Parameter(name="--to", help="`sqlite`, or `postgresql://user@host/database`.", metavar="PLACE"),
]
Destination = Annotated[Path, Parameter(name="FILE", help="The new file.")]

_LOCK_WAIT_S: Final = 0.3
"""Somebody waits at the terminal; a live job will not be over in two seconds either."""


def show(out: OutFolder, /, *, json: Json = False) -> int:
    """Tell where the ledger is, its kind, version and size; works beside a running campaign."""
    require_campaign(out)
    facts = facts_of(out)
    present.show(facts, _fact_lines(facts), as_json=json)
    return int(ExitCode.DONE)


def _fact_lines(facts: LedgerFacts) -> Iterator[str]:
    yield f"{facts.kind}  {facts.where}"
    version = f"schema {facts.schema}"
    if facts.schema != facts.newest_schema:
        version += f" (this symfleet knows {facts.newest_schema})"
    yield f"{version}, {facts.bytes / 2**20:,.1f} MiB"
    yield from row_lines(facts.rows)
    if facts.moving:
        yield "it is just moving: `symfleet resume` or the same `symfleet ledger copy` ends that"
    for name in facts.retired:
        yield f"left behind: {name}"


def row_lines(rows: dict[str, int]) -> Iterator[str]:
    """Yield a line for each table."""
    width = max(map(len, rows), default=0)
    for table, amount in rows.items():
        yield f"  {table:<{width}} {amount:>12,} rows"


def copy(out: OutFolder, /, *, to: To, json: Json = False) -> int:
    """Move a resting campaign to the other kind of ledger: copy, verify, switch.

    Killed or out of space, the same command goes on where it was; until its end the campaign is
    as it was. The old ledger stays, under a name that nothing resumes.
    """
    require_campaign(out)
    clock = SystemClock()
    request = OwnerRequest(socket.gethostname(), os.getpid(), lock_wait_s=_LOCK_WAIT_S)
    lock = CampaignLock(out, clock)
    lock.acquire(_LOCK_WAIT_S)
    try:
        done = relocate(out, to, request, clock, _teller(json))
    finally:
        lock.release()
    present.show(done, _copy_lines(out, done), as_json=json)
    return int(ExitCode.DONE)


def _copy_lines(out: Path, done: Relocated) -> Iterator[str]:
    yield from row_lines({table.table: table.rows for table in done.tables})
    yield f"the campaign lives in {done.now}"
    yield f"what it has left stays as it was: {done.left}"
    yield f"`symfleet resume {out}` goes on with it"


def backup(out: OutFolder, file: Destination, /, *, json: Json = False) -> int:
    """Write a verified copy of the ledger, as of one moment, to a new file.

    The campaign may be running; its ledger may be on a server.
    """
    require_campaign(out)
    made = back_up(out, file, _teller(json))
    present.show(made, _backup_lines(made), as_json=json)
    return int(ExitCode.DONE)


def _backup_lines(made: Backup) -> Iterator[str]:
    yield f"{made.file}: {made.decisions:,} decisions, {made.bytes / 2**20:,.1f} MiB, verified"


def _teller(as_json: bool) -> Callable[[str], None]:
    """Return what tells how it goes: beside the result, on standard error, to a person."""

    def tell(line: str) -> None:
        if not as_json:
            with contextlib.suppress(OSError):
                sys.stderr.write(line + "\n")

    return tell


def register(app: App, _: Invocation) -> None:
    """Add the commands."""
    ledger = App(name="ledger", help="Where a campaign keeps its truth: show, copy, backup.")
    ledger.command(show, name="show")
    ledger.command(copy, name="copy")
    ledger.command(backup, name="backup")
    app.command(ledger)
