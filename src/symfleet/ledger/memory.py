"""The ledger in memory: the contract of `contract.py` without a disk.

It exists for tests and simulation. `power_cut` does to it what a power cut does to the real store:
turns that held nothing but leases and came after the last durable turn never happened.

Theory of operation: `run` validates an operation completely (`plan.py`), then changes rows through
a journal. A refused operation goes back to its mark and is answered by `Failed`; damage found in
stored rows goes back to the start of the turn and is raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from symfleet.config.ledger_address import LedgerAccess
from symfleet.errors import DataError, SymfleetError
from symfleet.ledger import plan as planning
from symfleet.ledger.contract import EpochRequest, NewGeneration
from symfleet.ledger.edges import Knowledge
from symfleet.ledger.memory_decisions import MemoryDecisions
from symfleet.ledger.memory_ending import MemoryEnding
from symfleet.ledger.memory_frontier import MemoryFrontier
from symfleet.ledger.memory_state import (
    EpochState,
    GenerationState,
    Sink,
    Source,
)
from symfleet.ledger.tally import (
    chain_start,
)
from symfleet.protocol.answers import Answer, Counted, EpochOpening, Failed, SinkRow, TurnAnswers
from symfleet.protocol.operations import (
    Admit,
    AuditLeases,
    Blame,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    CountFaults,
    CountSkips,
    Decide,
    Defer,
    MarkPublished,
    Operation,
    RecordAck,
    Release,
    SetSource,
    StoreInputs,
    TakeOver,
)
from symfleet.protocol.work import WorkItem, encode_item, state_id_of, work_id_of
from symfleet.types import (
    Epoch,
    Incarnation,
    SinkKind,
    WorkId,
    WorkState,
    input_id_of,
)


class MemoryLedger(MemoryFrontier, MemoryDecisions, MemoryEnding):
    """A ledger that forgets everything with its process."""

    # ---- opening --------------------------------------------------------------------------------

    def open_epoch(self, request: EpochRequest) -> EpochOpening:
        """Void all older leases, re-arm deferred rows, write the new epoch row."""
        tables = self._tables
        epoch = Epoch(len(tables.epochs) + 1)
        recovered = rearmed = 0
        for work in tables.work.values():
            if work.state is WorkState.LEASED:
                recovered += 1
            elif work.state is WorkState.DEFERRED:
                rearmed += 1
            else:
                continue
            work.state = WorkState.PENDING
        last = tables.decisions[-1] if tables.decisions else None
        start = chain_start(
            self._campaign.campaign,
            epoch,
            request.coordinator,
            len(tables.decisions),
            last.chain if last else b"",
        )
        tables.epochs.append(
            EpochState(
                epoch=epoch,
                coordinator=request.coordinator,
                opened_wall=request.now_wall,
                host=request.host,
                pid=request.pid,
                leases_recovered=recovered,
                chain=start,
                command_line=request.command_line,
                version=request.version,
                config_toml=request.config_toml,
            )
        )
        if recovered:
            tables.faults[epoch, 0, "leases_recovered", ""] = recovered
        redone = self._unpublished_decisions()
        if redone:
            tables.faults[epoch, 0, "redone_decisions", ""] = redone
        self._changes += 1
        self._journal.forget()
        return EpochOpening(
            epoch=epoch,
            resumed=epoch > 1,
            leases_recovered=recovered,
            deferred_rearmed=rearmed,
            frontier=self._count(WorkState.PENDING),
            decisions=len(tables.decisions),
            knowledge=self._knowledge.packed(),
            sinks=self.sinks(),
        )

    def _unpublished_decisions(self) -> int:
        """Count decisions whose files are not all known to be durable."""
        tables = self._tables
        newest = max((sink.epoch for sink in tables.sinks), default=0)
        return len(
            {
                artefact.decision
                for sink in tables.sinks
                if sink.epoch == newest
                for artefact in tables.artefacts[sink.row.published_upto :]
                if artefact.kind is sink.row.kind and artefact.decision > 0
            }
        )

    def begin_generation(self, new: NewGeneration) -> int:
        """Supersede what is open; make every input of the corpus work again."""
        tables = self._tables
        superseded = 0
        for work in tables.work.values():
            if work.state not in (WorkState.DONE, WorkState.SUPERSEDED):
                work.state, work.suspect = WorkState.SUPERSEDED, False
                superseded += 1
        tables.generations.append(
            GenerationState(len(tables.epochs) + 1, len(tables.decisions), superseded)
        )
        self._campaign = replace(
            self._campaign,
            generation=new.generation,
            key=new.key,
            config_toml=new.config_toml,
            generation_number=self._campaign.generation_number + 1,
        )
        self._knowledge = Knowledge()
        again = [one for one in tables.artefacts if one.kind is SinkKind.CORPUS]
        for artefact in again:
            item = WorkItem(generation=new.generation, input=artefact.input_id)
            place = planning.outside_place(len(tables.work) + 1)
            ids = work_id_of(item), state_id_of(item)
            self._new_work(*ids, artefact.input_id, encode_item(item), place, 0)
        self._changes += superseded + len(again)
        self._journal.forget()
        return len(again)

    def register_source(self, kind: str, path: str, host: str) -> int:
        """Return the number of the source; it is open."""
        epoch = self._live_epoch().epoch
        for source in self._tables.sources:
            if (source.kind, source.path, source.host) == (kind, path, host):
                source.epoch, source.is_open = epoch, True
                return source.number
        number = len(self._tables.sources) + 1
        self._tables.sources.append(Source(number, kind, path, host, epoch, is_open=True))
        return number

    def register_sink(self, kind: SinkKind, path: str, host: str) -> SinkRow:
        """Return the sink with a fresh incarnation."""
        epoch = self._live_epoch().epoch
        for sink in self._tables.sinks:
            if (sink.row.kind, sink.row.path, sink.row.host) == (kind, path, host):
                break
        else:
            row = SinkRow(len(self._tables.sinks) + 1, kind, host, path, Incarnation(1), 0)
            sink = Sink(row, epoch, 0)
            self._tables.sinks.append(sink)
        sink.registrations += 1
        sink.epoch = epoch
        fresh = planning.sink_incarnation(
            self._campaign.campaign, epoch, sink.row.sink, sink.registrations
        )
        sink.row = replace(sink.row, incarnation=fresh)
        return sink.row

    def access(self) -> LedgerAccess | None:
        """Return None: the owner alone writes."""
        return None

    def rearm(self, work_ids: Sequence[WorkId]) -> int:
        """Make poisoned rows pending again."""
        last = self._tables.epochs[-1] if self._tables.epochs else None
        if last is not None and last.quiescent and last.reason is None:
            return 0
        rearmed = 0
        for work_id in work_ids:
            work = self._tables.work.get(work_id)
            if work is None or work.state is not WorkState.POISONED:
                continue
            work.state, work.suspect, work.detail = WorkState.PENDING, False, ""
            work.blamed_by, work.losses, work.deferrals = (), 0, 0
            rearmed += 1
        self._changes += rearmed
        return rearmed

    def drop_unnamed(self) -> int:
        """Remove inputs that no row names; return how many."""
        tables = self._tables
        named = {artefact.input_id for artefact in tables.artefacts}
        named |= {work.input_id for work in tables.work.values()}
        unnamed = tables.inputs.keys() - named
        for input_id in unnamed:
            del tables.inputs[input_id]
        self._journal.forget()
        return len(unnamed)

    def checkpoint(self) -> None:
        """Everything until now is durable."""
        self._journal.forget()

    def close(self) -> None:
        """Nothing is held."""

    def power_cut(self) -> None:
        """Lose what a power cut may lose: lease-only turns since the last durable one."""
        self._journal.back_to(0)

    # ---- a turn ---------------------------------------------------------------------------------

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn: a savepoint each, all or nothing when stored rows are damaged."""
        self._live_epoch()
        start = self._journal.mark()
        answers: list[Answer] = []
        try:
            for operation in operations:
                mark = self._journal.mark()
                try:
                    answers.append(self._carry_out(operation))
                except DataError as error:
                    self._journal.back_to(mark)
                    answers.append(Failed(str(error)))
        except SymfleetError:
            self._journal.back_to(start)
            raise
        if not all(isinstance(operation, Claim) for operation in operations):
            self._journal.forget()
        return TurnAnswers(
            answers=tuple(answers),
            open_work=sum(work.is_open for work in self._tables.work.values()),
            pending=self._count(WorkState.PENDING),
            leased=self._count(WorkState.LEASED),
            changes=self._changes,
            last_artefact=len(self._tables.artefacts),
            unpublished=self._unpublished(),
            deferred=self._count(WorkState.DEFERRED),
            poisoned=self._count(WorkState.POISONED),
        )

    def _carry_out(self, operation: Operation) -> Answer:  # noqa: C901, PLR0911, PLR0912
        match operation:
            case Admit():
                return self._admit(operation)
            case Claim():
                return self._claim(operation)
            case Decide():
                return self._decide(operation)
            case Release():
                return self._release(operation)
            case Defer():
                return self._defer(operation)
            case Blame():
                return self._blame(operation)
            case StoreInputs():
                for data in operation.inputs:
                    self._store(input_id_of(data), data)
                return Counted()
            case CountFaults():
                for name, reason, amount in operation.faults:
                    self._fault(operation.coordinator, name, reason, amount)
                return Counted()
            case CountSkips():
                for reason, amount in operation.reasons:
                    self._count_work(0, f"skipped_inputs.{reason}", amount)
                return Counted()
            case SetSource():
                return self._set_source(operation)
            case MarkPublished():
                return self._mark(operation)
            case AuditLeases():
                return self._audit_leases(operation)
            case TakeOver():
                return self._take_over(operation)
            case CommitQuiescence():
                return self._quiesce(operation)
            case RecordAck():
                return self._record_ack(operation)
            case CloseEpoch():
                return self._close_epoch(operation)
            case _:
                assert_never(operation)
