"""Checks of stored rows: the bounded one at every start and the full one of `symfleet verify`.

Damage is never read as "no work" (C9): what cannot be read or contradicts itself is a Finding that
names its row. The start check raises the first one; the full audit goes on and yields all.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Final

from symfleet.errors import DataError, IntegrityError, IOFailure, SymfleetError
from symfleet.ledger.audit_walks import (
    ArtefactWalk,
    DecisionWalk,
    InputWalk,
    WorkWalk,
    outbox_finding,
    sum_findings,
)
from symfleet.ledger.contract import Finding
from symfleet.ledger.faults import reading, refused_read, unreadable
from symfleet.ledger.rows import Database
from symfleet.ledger.statements import load
from symfleet.ledger.tally import (
    chain_start,
)
from symfleet.ledger.turn_frontier import verify_row
from symfleet.types import (
    CampaignId,
    Epoch,
    Incarnation,
    StateId,
    WorkId,
)

CHAIN_CHECKED_AT_START: Final = 1000
_SQL: Final = load("audit")
_READ: Final = load("reading")
_BAD_PAGES: Final = "*** in database "


def start_check(connection: Database, campaign: CampaignId, where: str) -> None:
    """Check counters, the newest decisions, unpublished manifests and all open rows; raise
    IntegrityError for the first thing that is wrong."""
    for finding in _start_findings(connection, campaign):
        raise IntegrityError(
            finding.what,
            where=f"{where}, {finding.row}",
            why=finding.detail,
            hint="nothing was changed; run `symfleet verify`, then restore a backup of the ledger",
        )


def _start_findings(connection: Database, campaign: CampaignId) -> Iterator[Finding]:
    execute = connection.execute
    standing = execute(_READ["standing"]).fetchone()
    if standing is None:
        yield Finding("the ledger's counts are missing", "standing", "its row is missing")
        return
    last = execute(_READ["last_decision"]).fetchone()
    decisions = 0 if last is None else int(last[0])
    pending, leased, done, deferred, poisoned, _, _, corpus, crashes, hangs = standing
    open_rows: Counter[str] = Counter()
    yield from _open_findings(connection, open_rows)
    told = {"pending": pending, "leased": leased, "deferred": deferred}
    for state, amount in told.items():
        if open_rows[state] != amount:
            detail = f"{amount} counted, {open_rows[state]} found"
            yield Finding("a count of work rows is wrong", f"standing {state}", detail)
    rows = int(execute(_READ["last_work"]).fetchone()[0])
    superseded = int(execute(_READ["generation_start"]).fetchone()[2])
    for name, counted, found in (
        ("work rows", pending + leased + done + deferred + poisoned + superseded, rows),
        ("decided rows", done, decisions),
        ("executed", int(execute(_SQL["executed"]).fetchone()[0]), decisions),
        ("artefacts", corpus + crashes + hangs, int(execute(_READ["last_artefact"]).fetchone()[0])),
    ):
        if counted != found:
            yield Finding("a counter is wrong", name, f"{counted} counted, {found} found")
    yield from _epoch_findings(connection, campaign)
    unpublished = execute(_SQL["first_unpublished"]).fetchone()
    after = max(0, decisions - CHAIN_CHECKED_AT_START)
    if unpublished is not None:
        after = min(after, int(unpublished[0]) - 1)
    yield from DecisionWalk(connection, campaign, after=after).run()


def _epoch_findings(connection: Database, campaign: CampaignId) -> Iterator[Finding]:
    """The newest epoch belongs to this campaign and to the decisions before it: files of two
    ledgers cannot be mixed unseen."""
    last = connection.execute(_READ["last_epoch"]).fetchone()
    if last is None:
        return
    epoch, coordinator, started, before = last[:4]
    row = connection.execute(_SQL["chain_of"], (before,)).fetchone()
    incarnation = Incarnation(int.from_bytes(coordinator, "big"))
    previous = b"" if row is None else row[1]
    if started != chain_start(campaign, Epoch(epoch), incarnation, before, previous):
        detail = "it does not continue the decisions before it in this campaign"
        yield Finding("an epoch belongs to another ledger", f"epoch {epoch}", detail)


def _open_findings(connection: Database, counts: Counter[str]) -> Iterator[Finding]:
    """A1, A4: every open row has the ids of its payload and the bytes of its input."""
    for block in ("frontier_rows", "suspect_rows", "leased_rows", "deferred_rows"):
        for row in connection.execute(_SQL[block]):
            counts[row[4]] += 1
            yield from _row_findings(*row[1:4], *row[5:7])
            if row[7] != row[0]:
                detail = "its work id does not lead to it"
                yield Finding("an index is damaged", f"work {row[1].hex()}", detail)


def _row_findings(
    work_id: bytes, state_id: bytes, payload: bytes, digest: bytes | None, data: bytes | None
) -> Iterator[Finding]:
    try:
        verify_row(WorkId(work_id.hex()), StateId(state_id.hex()), payload, digest, data)
    except DataError as error:
        what = "a work row is not what its ids say"
        yield Finding(what, f"work {work_id.hex()}", f"{error.what} ({error.where}): {error.why}")


def audit_all(connection: Database, campaign: CampaignId) -> Iterator[Finding]:
    """Check everything in one read transaction; yield what is wrong.

    Beside a live owner it sees one moment. The owner's own connection can run no turn until the
    audit is finished or closed.
    """
    connection.execute(_READ["begin"])
    try:
        yield from audit_pages(connection)
        yield from _guarded(connection, "inputs", InputWalk(connection).run())
        yield from _guarded(connection, "work", WorkWalk(connection).run())
        walk, outbox = DecisionWalk(connection, campaign), ArtefactWalk(connection)
        yield from _guarded(connection, "decisions", walk.run())
        yield from _guarded(connection, "artefacts", outbox.run())
        yield from outbox_finding(outbox.shown, walk.shown)
        yield from _guarded(connection, "counts", sum_findings(connection, walk.sums))
        yield from _guarded(connection, "counts", _audit_counts(connection))
    finally:
        # Ending the transaction may meet the damage once more; it has been told.
        with contextlib.suppress(sqlite3.Error, SymfleetError):
            connection.execute(_READ["end"])


def _guarded(connection: Database, part: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield the findings of one part; what cannot be taken apart is a finding, too. Raises
    IOFailure when the disk refuses a read: that is no damage."""
    try:
        with reading(part):
            yield from findings
    except IOFailure:
        raise
    except SymfleetError as error:
        is_of_sqlite = isinstance(error.__cause__, sqlite3.DatabaseError)
        if is_of_sqlite and (refused := refused_read(file := _file_of(connection))):
            raise unreadable(file, f"{refused} ({part}: {error.why})") from error
        yield Finding(error.what, error.where, error.why)


def _file_of(connection: Database) -> str:
    """Return the file of a database; empty when it has none."""
    return str(connection.execute(_SQL["file"]).fetchone()[2])


def audit_pages(connection: Database) -> Iterator[Finding]:
    """Check what the database itself knows: pages, indexes, references between tables."""
    yield from _guarded(connection, "pages", _page_findings(connection))


def _page_findings(connection: Database) -> Iterator[Finding]:
    lines = [str(line) for (line,) in connection.execute(_SQL["integrity_check"]).fetchall()]
    wrong = [line for line in lines if line != "ok"]
    # A page that the disk does not give is in its list of bad pages, in many words. Only such a
    # list is a reason to look: no owner goes on after it, and looking costs an owner its locks.
    of_pages = next((line for line in wrong if line.startswith(_BAD_PAGES)), "")
    if of_pages and (refused := refused_read(file := _file_of(connection))):
        raise unreadable(file, f"{refused} ({of_pages.splitlines()[-1]})")
    for line in wrong:
        yield Finding("the database is damaged", "integrity_check", line)
    for table, row, parent, _ in connection.execute(_SQL["references"]).fetchall():
        yield Finding("a row names one that is missing", f"{table} {row}", str(parent))


def _audit_counts(connection: Database) -> Iterator[Finding]:
    execute = connection.execute
    found: Counter[str] = Counter()
    for state, suspect, amount in execute(_SQL["states"]):
        found[state] += amount
        if suspect:
            found["suspects"] += amount
    last = 0
    for kind, amount, nth in execute(_SQL["artefact_kinds"]):
        found[kind] = amount
        last += amount
        if amount != nth:
            yield Finding("artefacts of a kind are missing", kind, f"{amount} rows, last is {nth}")
    if last != int(execute(_READ["last_artefact"]).fetchone()[0]):
        yield Finding("artefacts are missing", "artefacts", f"{last} rows")
    standing = execute(_READ["standing"]).fetchone()
    if standing is None:
        yield Finding("the ledger's counts are missing", "standing", "its row is missing")
        return
    names = ("pending", "leased", "done", "deferred", "poisoned", "suspects")
    counted = dict(zip(names, standing[:6], strict=True))
    counted |= dict(zip(("corpus", "crashes", "hangs"), standing[7:10], strict=True))
    counted["superseded"] = int(execute(_READ["generation_start"]).fetchone()[2])
    for name, amount in counted.items():
        if found[name] != amount:
            detail = f"{amount} counted, {found[name]} found"
            yield Finding("a count of rows is wrong", f"standing {name}", detail)
