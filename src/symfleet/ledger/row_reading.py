"""Reading a store of rows, SQLite's or PostgreSQL's. Every row is checked when it is read."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

import msgspec

from symfleet.errors import DataError, IntegrityError
from symfleet.ledger import plan as planning
from symfleet.ledger.audit import audit_all
from symfleet.ledger.audit_walks import check_decision
from symfleet.ledger.contract import (
    CampaignRow,
    CoordinatorTotals,
    CrashRow,
    DecisionRow,
    EpochRow,
    Finding,
    GenerationKey,
    LedgerStatus,
    WorkRow,
)
from symfleet.ledger.faults import reading
from symfleet.ledger.manifest import decode_manifest, manifest_digest
from symfleet.ledger.rows import Database
from symfleet.ledger.standing import read_knowledge, read_unpublished
from symfleet.ledger.statements import load
from symfleet.ledger.tally import is_of_generation, totals_of
from symfleet.protocol.answers import Artefact, SinkRow
from symfleet.types import (
    CampaignId,
    Epoch,
    GenerationId,
    Incarnation,
    InputId,
    Keep,
    Outcome,
    SinkKind,
    WorkId,
    WorkState,
)

_SQL: Final = load("reading")
_PAGE_ROWS: Final = 512


def read_campaign(connection: Database, where: str) -> CampaignRow:
    """Return the campaign's row."""
    with reading(where):
        row = connection.execute(_SQL["campaign"]).fetchone()
        if row is None:
            raise IntegrityError(
                "the ledger has no campaign", where=where, why="its row is missing"
            )
        return CampaignRow(
            campaign=CampaignId(row[0]),
            ledger_incarnation=row[1],
            created_wall=row[2],
            keep=Keep(row[3]),
            generation=GenerationId(row[4]),
            key=msgspec.json.decode(row[5], type=GenerationKey),
            config_toml=row[6],
            generation_number=row[7],
        )


class _Sums(NamedTuple):
    """Counters by name, and decisions by coordinator: of the newest epoch, and of all."""

    this_epoch: dict[str, int]
    total: dict[str, int]
    executed: dict[int, int]
    executed_by: dict[int, int]


class RowReading:
    """Read-only views of a database."""

    def __init__(self, connection: Database, where: str) -> None:
        self._connection = connection
        self._where = where
        self._campaign = read_campaign(connection, where)

    def close(self) -> None:
        """Release the store."""
        self._connection.close()

    @contextmanager
    def _snapshot(self) -> Iterator[Database]:
        """Read in one transaction, so that all answers are of one moment."""
        with reading(self._where):
            self._connection.execute(_SQL["begin"])
            try:
                yield self._connection
            finally:
                self._connection.execute(_SQL["end"])

    def status(self) -> LedgerStatus:
        """Return one consistent snapshot; its cost does not depend on the number of rows."""
        with self._snapshot() as connection:
            execute = connection.execute
            standing = execute(_SQL["standing"]).fetchone()
            last = execute(_SQL["last_epoch"]).fetchone()
            epoch = Epoch(0 if last is None else last[0])
            first_epoch, _, superseded = execute(_SQL["generation_start"]).fetchone()
            sums = self._sums(epoch, first_epoch)
            corpus, crashes, hangs = standing[7:10]
            counts = {SinkKind.CORPUS: corpus, SinkKind.CRASHES: crashes, SinkKind.HANGS: hangs}
            decision = execute(_SQL["last_decision"]).fetchone()
            new_edge = execute(_SQL["last_new_edge"]).fetchone()
            return LedgerStatus(
                campaign=self._campaign,
                epoch=None if last is None else self._epochs(epoch)[0],
                epochs=epoch,
                states={
                    WorkState.PENDING: standing[0],
                    WorkState.LEASED: standing[1],
                    WorkState.DONE: standing[2],
                    WorkState.DEFERRED: standing[3],
                    WorkState.POISONED: standing[4],
                    WorkState.SUPERSEDED: superseded,
                },
                suspects=standing[5],
                pending_first=self._pending_first(),
                unpublished=read_unpublished(connection, counts),
                corpus=corpus,
                this_epoch=totals_of(sums.this_epoch),
                total=totals_of(sums.total),
                faults_this_epoch=self._faults(epoch),
                faults_total=self._faults(None),
                coordinators=self._coordinators(epoch, sums.executed),
                executed_by=sums.executed_by,
                idle_window_s=None if last is None else last[5],
                decisions=0 if decision is None else decision[0],
                last_new_edge_wall=None if new_edge is None else new_edge[0],
            )

    def epochs(self) -> Sequence[EpochRow]:
        """Return all epochs, oldest first."""
        with self._snapshot():
            return self._epochs(Epoch(1))

    def input_bytes(self, input_id: InputId) -> bytes:
        """Return the bytes, hashed again."""
        with reading(self._where):
            row = self._connection.execute(
                _SQL["input_bytes"], (bytes.fromhex(input_id),)
            ).fetchone()
        if row is None:
            raise DataError("no such input", where=input_id, why="the ledger does not hold it")
        data: bytes = row[0]
        _verify_bytes(input_id, data)
        return data

    def corpus(self) -> Iterator[InputId]:
        """Yield the corpus in admission order."""
        after = 0
        while True:
            with reading(self._where):
                rows = self._connection.execute(_SQL["corpus"], (after, _PAGE_ROWS)).fetchall()
                names = [InputId(digest.hex()) for _, digest in rows]
            yield from names
            after = rows[-1][0] if rows else after
            if len(rows) < _PAGE_ROWS:
                return

    def decisions(self) -> Iterator[DecisionRow]:
        """Yield all decisions in order."""
        after = 0
        while True:
            with reading(self._where):
                rows = self._connection.execute(_SQL["decisions"], (after, _PAGE_ROWS)).fetchall()
            for row in rows:
                after = row[0]
                for finding in check_decision(row):
                    raise IntegrityError(finding.what, where=finding.row, why=finding.detail)
                digest = manifest_digest(decode_manifest(row[2]))
                yield DecisionRow(after, WorkId(row[1].hex()), row[2], digest, Epoch(row[3]))
            if len(rows) < _PAGE_ROWS:
                return

    def crashes(self) -> Sequence[CrashRow]:
        """Return crashes and hangs, oldest first."""
        with reading(self._where):
            rows = self._connection.execute(_SQL["crashes"]).fetchall()
            return tuple(
                CrashRow(
                    kind=SinkKind(kind),
                    input_id=InputId(digest.hex()),
                    parent=None if parent is None else InputId(parent.hex()),
                    signal=signal,
                    epoch=Epoch(epoch),
                    decision=decision,
                    found_wall=wall,
                    size=size,
                )
                for kind, digest, parent, signal, epoch, decision, wall, size in rows
            )

    def work_rows(self, state: WorkState, limit: int) -> Sequence[WorkRow]:
        """Return rows of a state for people; open ones in frontier order."""
        with reading(self._where):
            execute = self._connection.execute
            rows = execute(_SQL[f"rows_{state}"], (limit,)).fetchall()
            if state is WorkState.PENDING and len(rows) < limit:
                rows += execute(_SQL["rows_suspect"], (limit - len(rows),)).fetchall()
            return tuple(
                WorkRow(
                    work_id=WorkId(work_id.hex()),
                    input_id=InputId(digest.hex()),
                    state=WorkState(state_name),
                    deliveries=deliveries,
                    blames=blames,
                    losses=losses,
                    detail=detail,
                )
                for work_id, digest, state_name, deliveries, blames, losses, detail in rows
            )

    def artefacts(
        self, kind: SinkKind, after: int, limit: int, bytes_max: int
    ) -> Sequence[Artefact]:
        """Return artefacts of a kind with number > `after`, in order; at least one when any."""
        name = "corpus_artefacts" if kind is SinkKind.CORPUS else "failure_artefacts"
        chosen: list[Artefact] = []
        size = 0
        with reading(self._where):
            rows = self._connection.execute(_SQL[name], (kind.value, after, max(limit, 1)))
            for row in rows:
                size += len(row[8] or b"")
                if chosen and size > bytes_max:
                    break
                chosen.append(_artefact_of(row))
            rows.close()
        return tuple(chosen)

    def sinks(self) -> tuple[SinkRow, ...]:
        """Return all sinks."""
        with reading(self._where):
            rows = self._connection.execute(_SQL["sinks"]).fetchall()
            return tuple(
                SinkRow(
                    sink=sink,
                    kind=SinkKind(kind),
                    host=host,
                    path=path,
                    incarnation=Incarnation(int.from_bytes(incarnation, "big")),
                    published_upto=upto,
                )
                for sink, kind, host, path, incarnation, upto in rows
            )

    def knowledge(self) -> bytes:
        """Return all edges, packed."""
        with reading(self._where):
            return read_knowledge(self._connection).packed()

    def chain_at(self, decision: int) -> str | None:
        """Return the hash of a decision, None when there is no such decision."""
        with reading(self._where):
            row = self._connection.execute(_SQL["chain_at"], (decision,)).fetchone()
            return None if row is None else row[0].hex()

    def audit(self) -> Iterator[Finding]:
        """Check everything; yield what is wrong."""
        with reading(self._where):
            yield from audit_all(self._connection, self._campaign.campaign)

    # ---- parts ----------------------------------------------------------------------------------

    def _epochs(self, first: Epoch) -> tuple[EpochRow, ...]:
        rows = self._connection.execute(_SQL["epochs"], (first,)).fetchall()
        return tuple(EpochRow(Epoch(epoch), *rest) for epoch, *rest in rows)

    def _sums(self, epoch: Epoch, first_epoch: int) -> _Sums:
        """Add counters up; those of a generation are of the one that began with `first_epoch`."""
        now: Counter[str] = Counter()
        total: Counter[str] = Counter()
        executed: dict[int, int] = {}
        executed_by: Counter[int] = Counter()
        for at, coordinator, name, amount in self._connection.execute(_SQL["counters"]):
            if at >= first_epoch or not is_of_generation(name):
                total[name] += amount
            if name == "executed":
                executed_by[coordinator] += amount
            if at == epoch:
                now[name] += amount
                if name == "executed":
                    executed[coordinator] = amount
        return _Sums(now, total, executed, dict(sorted(executed_by.items())))

    def _pending_first(self) -> int | None:
        if self._campaign.keep is Keep.ALL:
            return None
        values = (planning.LATER_TURNS, planning.PENDING_COUNTED_MAX)
        (amount,) = self._connection.execute(_SQL["pending_before"], values).fetchone()
        return int(amount)

    def _faults(self, epoch: Epoch | None) -> dict[str, dict[str, int]]:
        faults: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for at, name, reason, amount in self._connection.execute(_SQL["faults"]):
            if epoch is None or at == epoch:
                faults[name][reason] += amount
        return {name: dict(reasons) for name, reasons in faults.items()}

    def _coordinators(
        self, epoch: Epoch, executed: dict[int, int]
    ) -> tuple[CoordinatorTotals, ...]:
        acks = {
            coordinator: (acknowledged, total, tuple(json.loads(missing)))
            for coordinator, acknowledged, total, missing in self._connection.execute(
                _SQL["acks"], (epoch,)
            )
        }
        faults = dict(self._connection.execute(_SQL["faults_by_coordinator"], (epoch,)).fetchall())
        return tuple(
            CoordinatorTotals(
                number,
                executed.get(number, 0),
                *acks.get(number, (0, 0, ())),
                faults=faults.get(number, 0),
            )
            for number in sorted(executed.keys() | acks.keys() | faults.keys())
        )


def _verify_bytes(input_id: InputId, data: bytes) -> None:
    """A1: bytes that are read have the digest that they are stored under."""
    try:
        planning.check_name(input_id, data)
    except DataError as error:
        raise planning.damaged(error, f"input {input_id}") from error


def _artefact_of(row: tuple[object, ...]) -> Artefact:
    number, kind, digest, parent, outcome, signal, epoch, decision, data, how, site = row
    where = f"artefact {number}"
    if not isinstance(digest, bytes) or not isinstance(data, bytes):
        raise IntegrityError("an artefact's input is missing", where=where, why="no row holds it")
    input_id = InputId(digest.hex())
    _verify_bytes(input_id, data)
    assert isinstance(number, int)
    assert isinstance(signal, int)
    assert isinstance(epoch, int)
    assert isinstance(decision, int)
    assert isinstance(site, int)
    return Artefact(
        number=number,
        kind=SinkKind(str(kind)),
        input_id=input_id,
        parent=InputId(parent.hex()) if isinstance(parent, bytes) else None,
        outcome=Outcome(str(outcome)),
        signal=signal,
        epoch=Epoch(epoch),
        decision=decision,
        data=data,
        how=str(how),
        site=site % 2**64,
    )
