"""Checks of stored rows: the bounded one at every start and the full one of `symfleet verify`.

Damage is never read as "no work" (C9): what cannot be read or contradicts itself is a Finding that
names its row. The start check raises the first one; the full audit goes on and yields all.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from symfleet.errors import DataError, IntegrityError, SymfleetError
from symfleet.ledger import plan as planning
from symfleet.ledger.contract import Finding
from symfleet.ledger.faults import reading
from symfleet.ledger.manifest import Manifest, decode_manifest
from symfleet.ledger.rows import Database
from symfleet.ledger.statements import load
from symfleet.ledger.tally import (
    DecisionRecord,
    Shown,
    chain_next,
    chain_start,
    decision_counts,
    decode_record,
    kept_flags,
    stories_digest,
)
from symfleet.ledger.turn_frontier import verify_row
from symfleet.types import (
    CampaignId,
    Epoch,
    Incarnation,
    InputId,
    Outcome,
    SinkKind,
    StateId,
    WorkId,
)

CHAIN_CHECKED_AT_START: Final = 1000
_PAGE_ROWS: Final = 512
_SQL: Final = load("audit")
_READ: Final = load("reading")

_DecisionRow = tuple[Any, ...]
"""Columns of the block `decisions` in reading.sql."""


def check_decision(row: _DecisionRow) -> Iterator[Finding]:
    """Check a decision's manifest: canonical (C4), bound to item, input and token (C3)."""
    number, work_id, encoded, epoch, fence, _, _, digest, _, _ = row
    where = f"decision {number}"
    if work_id is None or digest is None:
        yield Finding("a decision's work row or input is missing", where, "no row has its number")
        return
    try:
        manifest = decode_manifest(encoded)
    except DataError as error:
        yield Finding("a decision's manifest is not valid", where, f"{error.why} ({error.where})")
        return
    bound = (manifest.work_id, manifest.input_id, manifest.epoch, manifest.fence)
    stored = (work_id.hex(), digest.hex(), epoch, fence)
    for name, declared, actual in zip(
        ("work id", "input", "epoch", "fence"), bound, stored, strict=True
    ):
        if declared != actual:
            detail = f"the manifest has {declared}, the row has {actual}"
            yield Finding(f"a manifest is bound to another {name}", where, detail)


class DecisionWalk:
    """Follows decisions in order: chain, manifests, children, sums."""

    def __init__(self, connection: Database, campaign: CampaignId, after: int) -> None:
        self._connection = connection
        self._campaign = campaign
        self._after = after
        self._epoch, self._chain = 0, b""
        self.sums: Counter[tuple[int, int, str]] = Counter()
        self.shown = 0
        if after:
            row = connection.execute(_SQL["chain_of"], (after,)).fetchone()
            if row is not None:
                self._epoch, self._chain = row

    def run(self) -> Iterator[Finding]:
        """Yield what is wrong with the decisions after the starting point."""
        while True:
            rows = self._connection.execute(
                _READ["decisions"], (self._after, _PAGE_ROWS)
            ).fetchall()
            for row in rows:
                yield from self._check(row)
            if len(rows) < _PAGE_ROWS:
                return

    def _check(self, row: _DecisionRow) -> Iterator[Finding]:
        number = row[0]
        if number != self._after + 1:
            yield Finding("decisions are missing", f"decision {self._after + 1}", f"next: {number}")
        yield from self._check_chain(row)
        self._after = number
        bad = list(check_decision(row))
        yield from bad
        if bad:
            return
        try:
            record = decode_record(row[6])
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            yield Finding("a decision's record cannot be read", f"decision {number}", str(error))
            return
        manifest = decode_manifest(row[2])
        for name, amount in decision_counts(manifest.generated, record).items():
            self.sums[row[3], record.coordinator, name] += amount
        if record.coordinator != row[8]:
            detail = f"record {record.coordinator}, row {row[8]}"
            yield Finding("a decision has another coordinator", f"decision {number}", detail)
        yield from self._check_children(number, manifest, record)
        yield from self._check_shown(number, record)

    def _check_chain(self, row: _DecisionRow) -> Iterator[Finding]:
        number, _, manifest, epoch, _, chain, record, _, _, edges = row
        where = f"decision {number}"
        if epoch != self._epoch:
            opened = self._connection.execute(_SQL["epoch_of"], (epoch,)).fetchone()
            if opened is None:
                yield Finding("an epoch is missing", where, f"epoch {epoch}")
                return
            coordinator = Incarnation(int.from_bytes(opened[0], "big"))
            start = chain_start(self._campaign, Epoch(epoch), coordinator, number - 1, self._chain)
            if (opened[1], opened[2]) != (start, number - 1):
                yield Finding("the chain of decisions is broken", where, "its epoch starts wrongly")
            self._epoch, self._chain = epoch, opened[1]
        whole = isinstance(manifest, bytes) and isinstance(record, bytes)
        if not whole or chain != chain_next(self._chain, number, manifest, record, edges or b""):
            yield Finding("the chain of decisions is broken", where, "its hash does not match")
        self._chain = chain

    def _check_children(
        self, number: int, manifest: Manifest, record: DecisionRecord
    ) -> Iterator[Finding]:
        """C5: what a decision declares as kept is there."""
        flags = kept_flags(record.kept, len(manifest.children))
        for child, kept in zip(manifest.children, flags, strict=True):
            if not kept:
                continue
            digest = bytes.fromhex(child)
            row = self._connection.execute(_SQL["shown_child"], (digest,)).fetchone()
            if row is None:
                yield Finding("a kept child is missing", f"decision {number}", child)
            elif hashlib.sha256(row[0]).digest() != digest:
                yield Finding("a kept child's bytes are damaged", f"decision {number}", child)

    def _check_shown(self, number: int, record: DecisionRecord) -> Iterator[Finding]:
        """What a decision has put into the outbox stands there as it was told: how a crash was
        found is as well proved as the crash."""
        self.shown += record.shown
        span = (record.first_shown, record.first_shown + record.shown)
        rows = self._connection.execute(_SQL["shown_by"], span).fetchall()
        shown = [
            Shown(
                number=row[0],
                kind=row[1],
                input_id=InputId("" if row[2] is None else row[2].hex()),
                parent=None if row[3] is None else InputId(row[3].hex()),
                epoch=row[4],
                outcome=row[5],
                signal=row[6],
                how=row[7],
                site=row[8] % 2**64,
            )
            for row in rows
            if row[9] == number
        ]
        if len(shown) != record.shown or stories_digest(shown) != record.stories:
            where = f"decision {number}, artefacts {span[0]} to {span[1] - 1}"
            yield Finding("an artefact is not what its decision shows", where, "another digest")


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
    yield from DecisionWalk(connection, campaign, after).run()


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
        yield from _guarded("inputs", _audit_inputs(connection))
        yield from _guarded("work", _audit_work(connection))
        walk = DecisionWalk(connection, campaign, 0)
        yield from _guarded("decisions", walk.run())
        yield from _guarded("artefacts", _audit_artefacts(connection, walk.shown))
        yield from _guarded("counts", _audit_counts(connection, walk.sums))
    finally:
        # Ending the transaction may meet the damage once more; it has been told.
        with contextlib.suppress(sqlite3.Error, SymfleetError):
            connection.execute(_READ["end"])


def _guarded(part: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield the findings of one part; what cannot be read at all is a finding, too."""
    try:
        with reading(part):
            yield from findings
    except SymfleetError as error:
        yield Finding(error.what, error.where, error.why)


def audit_pages(connection: Database) -> Iterator[Finding]:
    """Check what the database itself knows: pages, indexes, references between tables."""
    yield from _guarded("pages", _page_findings(connection))


def _page_findings(connection: Database) -> Iterator[Finding]:
    for (line,) in connection.execute(_SQL["integrity_check"]).fetchall():
        if line != "ok":
            yield Finding("the database is damaged", "integrity_check", str(line))
    for table, row, parent, _ in connection.execute(_SQL["references"]).fetchall():
        yield Finding("a row names one that is missing", f"{table} {row}", str(parent))


def _audit_inputs(connection: Database) -> Iterator[Finding]:
    after = 0
    while True:
        rows = connection.execute(_SQL["inputs"], (after, _PAGE_ROWS)).fetchall()
        for after, digest, data in rows:  # noqa: B007
            found = hashlib.sha256(data).digest()
            if found != digest:
                detail = f"its bytes have the digest {found.hex()}"
                yield Finding("an input does not match its name", digest.hex(), detail)
        if len(rows) < _PAGE_ROWS:
            return


def _audit_work(connection: Database) -> Iterator[Finding]:
    after = 0
    while True:
        rows = connection.execute(_SQL["work"], (after, _PAGE_ROWS)).fetchall()
        for row in rows:
            after, work_id, state_id, payload, state, decision, decided, digest, blames, told = row
            where = f"work {work_id.hex()}"
            # The input's bytes were checked above; here the ids count.
            yield from _row_id_findings(work_id, state_id, payload, digest)
            if state == "done" and decided != after:
                yield Finding("a work row names another's decision", where, f"{decision}")
            if blames != told:
                yield Finding("blames are not counted", where, f"{blames} counted, {told} told")
        if len(rows) < _PAGE_ROWS:
            return


def _row_id_findings(
    work_id: bytes, state_id: bytes, payload: bytes, digest: bytes | None
) -> Iterator[Finding]:
    if digest is None:
        yield Finding("a work row's input is missing", f"work {work_id.hex()}", "no row has it")
        return
    try:
        planning.check_item(
            payload,
            WorkId(work_id.hex()),
            StateId(state_id.hex()),
            InputId(digest.hex()),
        )
    except DataError as error:
        what = "a work row is not what its ids say"
        yield Finding(what, f"work {work_id.hex()}", f"{error.what}: {error.why}")


def _audit_artefacts(connection: Database, shown: int) -> Iterator[Finding]:
    """The outbox has no gaps, counts within its kinds, and follows the decisions, which say that
    they put `shown` rows into it."""
    (found,) = connection.execute(_SQL["shown_by_decisions"]).fetchone()
    if found != shown:
        yield Finding("artefacts are not what decisions show", "outbox", f"{found}, not {shown}")
    decision = 0
    nth: Counter[SinkKind] = Counter()
    for number, row in enumerate(connection.execute(_SQL["artefacts"]), start=1):
        kind = SinkKind(row[1])
        nth[kind] += 1
        where = f"artefact {row[0]}"
        if (row[0], row[2]) != (number, nth[kind]):
            yield Finding(
                "artefacts are missing", where, f"expected {number}, {nth[kind]} of {kind}"
            )
            return
        outcome = Outcome(row[4])
        if kind is not SinkKind.CORPUS and planning.artefact_kind(outcome) is not kind:
            yield Finding("an artefact is of another kind", where, f"{outcome} in {kind}")
        if row[3] == 0 and row[1:2] + row[4:] != ("corpus", "ok", 0, None, 0):
            yield Finding("an admitted input has a story", where, f"{row[1]} {row[4:]}")
        if row[3] and row[3] < decision:
            yield Finding("artefacts do not follow the decisions", where, f"decision {row[3]}")
        decision = max(decision, row[3])


def _audit_counts(connection: Database, sums: Counter[tuple[int, int, str]]) -> Iterator[Finding]:
    execute = connection.execute
    stored = {
        (epoch, coordinator, name): amount
        for epoch, coordinator, name, amount in execute(_READ["counters"])
        if name != "external_inputs" and not name.startswith("skipped_inputs.")
    }
    for key in sorted(sums.keys() | stored.keys()):
        if sums[key] != stored.get(key, 0):
            detail = f"stored {stored.get(key, 0)}, sum {sums[key]}"
            where = f"epoch {key[0]}, coordinator {key[1]}, {key[2]}"
            yield Finding("a counter is not the sum over decisions", where, detail)
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
