"""Walks over stored rows that check each one: whole for `symfleet verify`, a bounded piece at a
time beside a running campaign.

What a walk looks at never changes once it is stored, or changes with what it is compared with in
one transaction; so pieces that are read at different moments fit together. `upto` bounds a walk to
the rows that were there when it began.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from symfleet.errors import DataError
from symfleet.ledger import plan as planning
from symfleet.ledger.contract import Finding
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

PAGE_ROWS: Final = 512
_SQL: Final = load("audit")
_READ: Final = load("reading")


class Walk(ABC):
    """Reads a table in the order of its numbers."""

    def __init__(
        self, connection: Database, statement: str, upto: int | None = None, after: int = 0
    ) -> None:
        """`statement` takes the number after which to begin, and how many rows."""
        self._connection = connection
        self._statement = statement
        self._upto = upto
        self._after = after
        self.finished = False

    def step(self, limit: int) -> list[Finding]:
        """Check at most `limit` rows; return what is wrong."""
        found: list[Finding] = []
        rows = self._connection.execute(self._statement, (self._after, limit)).fetchall()
        for row in rows:
            if self._upto is not None and row[0] > self._upto:
                self.finished = True
                return found
            found += self._check(row)
            self._after = row[0]
        self.finished = len(rows) < limit
        return found

    def run(self) -> Iterator[Finding]:
        """Check all rows; yield what is wrong."""
        while not self.finished:
            yield from self.step(PAGE_ROWS)

    @abstractmethod
    def _check(self, row: Any) -> Iterator[Finding]:
        """Yield what is wrong with a row."""


class InputWalk(Walk):
    """Hashes every input again (A1)."""

    def __init__(self, connection: Database, upto: int | None = None) -> None:
        super().__init__(connection, _SQL["inputs"], upto)

    def _check(self, row: Any) -> Iterator[Finding]:
        _, digest, data = row
        found = hashlib.sha256(data).digest()
        if found != digest:
            detail = f"its bytes have the digest {found.hex()}"
            yield Finding("an input does not match its name", digest.hex(), detail)


class WorkWalk(Walk):
    """Makes the ids of every work row from its payload again (A4). Its input's bytes are another
    walk's."""

    def __init__(self, connection: Database, upto: int | None = None) -> None:
        super().__init__(connection, _SQL["work"], upto)

    def _check(self, row: Any) -> Iterator[Finding]:
        number, work_id, state_id, payload, state, decision, decided, digest, blames, told = row
        where = f"work {work_id.hex()}"
        yield from _id_findings(work_id, state_id, payload, digest)
        if state == "done" and decided != number:
            yield Finding("a work row names another's decision", where, f"{decision}")
        if blames != told:
            yield Finding("blames are not counted", where, f"{blames} counted, {told} told")


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


class DecisionWalk(Walk):
    """Follows decisions in order: chain, manifests, children, sums."""

    def __init__(
        self,
        connection: Database,
        campaign: CampaignId,
        *,
        after: int = 0,
        upto: int | None = None,
    ) -> None:
        super().__init__(connection, _READ["decisions"], upto, after)
        self._campaign = campaign
        self._epoch, self._chain = 0, b""
        self.sums: Counter[tuple[int, int, str]] = Counter()
        self.shown = 0
        if after:
            row = connection.execute(_SQL["chain_of"], (after,)).fetchone()
            if row is not None:
                self._epoch, self._chain = row

    def _check(self, row: _DecisionRow) -> Iterator[Finding]:
        number = row[0]
        if number != self._after + 1:
            yield Finding("decisions are missing", f"decision {self._after + 1}", f"next: {number}")
        yield from self._check_chain(row)
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


def _id_findings(
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


class ArtefactWalk(Walk):
    """The outbox has no gaps, counts within its kinds, and follows the decisions."""

    def __init__(self, connection: Database, upto: int | None = None) -> None:
        super().__init__(connection, _SQL["artefacts"], upto)
        self._decision = 0
        self._nth: Counter[SinkKind] = Counter()
        self.shown = 0
        """Rows that decisions have put there."""

    def _check(self, row: Any) -> Iterator[Finding]:
        kind = SinkKind(row[1])
        self._nth[kind] += 1
        self.shown += row[3] != 0
        where = f"artefact {row[0]}"
        if (row[0], row[2]) != (self._after + 1, self._nth[kind]):
            expected = f"expected {self._after + 1}, {self._nth[kind]} of {kind}"
            yield Finding("artefacts are missing", where, expected)
            self._nth[kind] = row[2]
        outcome = Outcome(row[4])
        if kind is not SinkKind.CORPUS and planning.artefact_kind(outcome) is not kind:
            yield Finding("an artefact is of another kind", where, f"{outcome} in {kind}")
        if row[3] == 0 and row[1:2] + row[4:] != ("corpus", "ok", 0, None, 0):
            yield Finding("an admitted input has a story", where, f"{row[1]} {row[4:]}")
        if row[3] and row[3] < self._decision:
            yield Finding("artefacts do not follow the decisions", where, f"decision {row[3]}")
        self._decision = max(self._decision, row[3])


def outbox_finding(found: int, shown: int) -> Iterator[Finding]:
    """Decisions say that they put `shown` rows into the outbox; `found` are there."""
    if found != shown:
        yield Finding("artefacts are not what decisions show", "outbox", f"{found}, not {shown}")


def sum_findings(
    connection: Database, sums: Counter[tuple[int, int, str]], *, before_epoch: int | None = None
) -> Iterator[Finding]:
    """C7: counters are the sums over decisions; those of epochs before one, which are final."""
    stored = {
        (epoch, coordinator, name): amount
        for epoch, coordinator, name, amount in connection.execute(_READ["counters"])
        if (before_epoch is None or epoch < before_epoch)
        and name != "external_inputs"
        and not name.startswith("skipped_inputs.")
    }
    for key in sorted(sums.keys() | stored.keys()):
        if sums[key] != stored.get(key, 0):
            detail = f"stored {stored.get(key, 0)}, sum {sums[key]}"
            where = f"epoch {key[0]}, coordinator {key[1]}, {key[2]}"
            yield Finding("a counter is not the sum over decisions", where, detail)
