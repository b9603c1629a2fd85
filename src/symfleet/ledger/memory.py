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

from symfleet.clock import Clock
from symfleet.errors import DataError, IntegrityError, InternalError, SymfleetError
from symfleet.ledger import plan as planning
from symfleet.ledger.contract import CampaignRow, EpochRequest
from symfleet.ledger.edges import Knowledge, pack_edges
from symfleet.ledger.memory_reading import MemoryReading
from symfleet.ledger.memory_state import (
    Ack,
    Decision,
    EpochState,
    Journal,
    Sink,
    Source,
    Tables,
    Work,
)
from symfleet.ledger.plan import DecisionPlan
from symfleet.ledger.tally import (
    Effects,
    chain_next,
    chain_start,
    decision_counts,
    encode_record,
    record_of,
)
from symfleet.protocol.operations import (
    Admission,
    Admit,
    Admitted,
    Answer,
    Artefact,
    Audited,
    AuditLeases,
    Blame,
    Blamed,
    Changed,
    Claim,
    Claimed,
    CloseEpoch,
    CommitQuiescence,
    Counted,
    CountFaults,
    CountSkips,
    Decide,
    Decided,
    Defer,
    EpochOpening,
    Failed,
    Lease,
    Marked,
    MarkPublished,
    Operation,
    Quiesced,
    RecordAck,
    Release,
    SetSource,
    SinkRow,
    StoreInputs,
    TurnAnswers,
)
from symfleet.types import (
    Epoch,
    Fence,
    FencingToken,
    Incarnation,
    InputId,
    Outcome,
    SinkKind,
    StateId,
    WorkId,
    WorkState,
    input_id_of,
)


class MemoryLedger(MemoryReading):
    """A ledger that forgets everything with its process."""

    def __init__(self, campaign: CampaignRow, clock: Clock) -> None:
        super().__init__(campaign, Tables())
        self._clock = clock
        self._journal = Journal()
        self._knowledge = Knowledge()
        self._changes = 0

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
            )
        )
        if recovered:
            tables.faults[epoch, "leases_recovered", ""] = recovered
        redone = self._unpublished_decisions()
        if redone:
            tables.faults[epoch, "redone_decisions", ""] = redone
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
                    self._fault(name, reason, amount)
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
            case CommitQuiescence():
                return self._quiesce(operation)
            case RecordAck():
                return self._record_ack(operation)
            case CloseEpoch():
                return self._close_epoch(operation)
            case _:
                assert_never(operation)

    # ---- admission and claims -------------------------------------------------------------------

    def _admit(self, admit: Admit) -> Admitted:
        self._refuse_when_quiescent()
        for entry in admit.entries:
            planning.check_name(entry.input_id, entry.data)
            planning.check_item(entry.payload, entry.work_id, entry.state_id, entry.input_id)
        new = tuple(self._admit_entry(entry) for entry in admit.entries)
        self._count_work(0, "external_inputs", sum(new))
        self._bump_changes(sum(new))
        return Admitted(new)

    def _admit_entry(self, entry: Admission) -> bool:
        if entry.work_id in self._tables.work:
            return False
        self._store(entry.input_id, entry.data)
        self._show_in_corpus(entry.input_id, None, Outcome.OK, 0, 0, entry.origin, 0)
        row = len(self._tables.work) + 1
        self._new_work(
            entry.work_id,
            entry.state_id,
            entry.input_id,
            entry.payload,
            planning.outside_place(row),
            0,
        )
        return True

    def _claim(self, claim: Claim) -> Claimed:
        leased = {
            work.state_id for work in self._tables.work.values() if work.state is WorkState.LEASED
        }
        states = {WorkState.PENDING}
        if claim.with_deferred:
            states.add(WorkState.DEFERRED)
        candidates = [
            work
            for work in self._tables.work.values()
            if work.state in states and work.suspect == claim.suspects_only
        ]
        leases: list[Lease] = []
        for work in sorted(
            candidates, key=lambda w: (w.state is WorkState.DEFERRED, w.place, w.row)
        ):
            if len(leases) == claim.limit:
                break
            if work.state_id in leased:  # L1: one holder per state id; the row stays as it is (L3)
                continue
            leased.add(work.state_id)
            leases.append(self._lease(work, claim.coordinator))
        return Claimed(tuple(leases))

    def _lease(self, work: Work, coordinator: int) -> Lease:
        data = self._verified(work)
        epoch, fence = self._live_epoch().epoch, Fence(work.fence + 1)
        self._journal.set(
            work,
            state=WorkState.LEASED,
            epoch=epoch,
            fence=fence,
            coordinator=coordinator,
            deliveries=work.deliveries + 1,
        )
        return Lease(
            work_id=work.work_id,
            state_id=work.state_id,
            token=FencingToken(epoch, fence),
            payload=work.payload,
            data=data,
            deliveries=work.deliveries,
            blames=len(work.blamed_by),
            suspect=work.suspect,
            cost_us=work.cost_us,
        )

    def _verified(self, work: Work) -> bytes:
        row = f"work {work.work_id}"
        data = self._tables.inputs.get(work.input_id)
        if data is None:
            raise IntegrityError("an input is missing", where=row, why=work.input_id)
        try:
            planning.check_item(work.payload, work.work_id, work.state_id, work.input_id)
            planning.check_name(work.input_id, data)
        except DataError as error:
            raise planning.damaged(error, row) from error
        return data

    # ---- decisions ------------------------------------------------------------------------------

    def _decide(self, decide: Decide) -> Decided:
        work = self._tables.work.get(decide.work_id)
        epoch = self._live_epoch()
        if work is None or (work.epoch, work.fence) != (decide.token.epoch, decide.token.fence):
            return Decided("stale")
        if work.input_id != decide.input_id:
            raise DataError(
                "a result names another input",
                where=f"work {work.work_id}",
                why=f"{decide.input_id} instead of {work.input_id}",
                hint="the result is invalid; the item stays as it is",
            )
        if work.state is WorkState.DONE:
            return self._decided_before(decide, work)
        if work.state is not WorkState.LEASED or work.epoch != epoch.epoch:
            return Decided("stale")
        plan = planning.plan_decision(decide, epoch.coordinator, self._knowledge)
        return self._commit(decide, work, epoch, plan)

    def _decided_before(self, decide: Decide, work: Work) -> Decided:
        """C7: the same token and manifest again changes nothing; another manifest is damage."""
        decision = self._tables.decisions[work.decision - 1]
        incarnation = self._tables.epochs[decision.epoch - 1].coordinator
        plan = planning.plan_decision(decide, incarnation, self._knowledge, known_before=True)
        if plan.encoded != decision.manifest:
            raise planning.second_manifest(decide, decision.number)
        return Decided("already", decision=decision.number)

    def _commit(self, decide: Decide, work: Work, epoch: EpochState, plan: DecisionPlan) -> Decided:
        tables, number = self._tables, len(self._tables.decisions) + 1
        unique = new_work = 0
        for child, kept, novel in zip(plan.children, plan.kept, plan.novel, strict=True):
            kind = planning.artefact_kind(child.outcome)
            if child.data is not None and (kept or kind is not None):
                self._store(child.input_id, child.data)
            if child.input_id not in tables.inputs and (kept or kind is not None):
                raise planning.missing_bytes(child.input_id)
            if not kept:
                continue
            unique += self._show_in_corpus(
                child.input_id,
                work.input_id,
                child.outcome,
                child.signal,
                number,
                child.how,
                child.site,
            )
            row = len(tables.work) + 1
            place = planning.novel_place(number) if novel else planning.rest_place(row)
            new_work += self._new_work(
                child.work_id, child.state_id, child.input_id, child.payload, place, decide.wall_us
            )
        if decide.follow_up is not None and not plan.keeps_all:
            rest, row = decide.follow_up, len(tables.work) + 1
            new_work += self._new_work(
                rest.work_id,
                rest.state_id,
                work.input_id,
                rest.payload,
                planning.rest_place(row),
                decide.wall_us,
            )
        crashes, hangs = self._show_failures(decide, work, plan, number)
        new_edges, fresh = self._learn(plan)
        effects = Effects(
            coordinator=work.coordinator,
            new_work=new_work,
            unique_children=unique,
            crashes=crashes,
            hangs=hangs,
            fresh_edges=fresh,
        )
        record = record_of(decide, plan, effects)
        encoded = encode_record(record)
        chain = chain_next(epoch.chain, number, plan.encoded, encoded, new_edges)
        self._journal.append(
            tables.decisions,
            Decision(
                number=number,
                work_id=work.work_id,
                epoch=epoch.epoch,
                fence=work.fence,
                manifest=plan.encoded,
                record=record,
                record_bytes=encoded,
                new_edges=new_edges,
                chain=chain,
                wall=self._clock.wall(),
            ),
        )
        self._journal.set(work, state=WorkState.DONE, decision=number, suspect=False)
        self._journal.set(epoch, chain=chain, decisions=epoch.decisions + 1)
        for name, amount in decision_counts(decide.generated, record).items():
            self._count_work(work.coordinator, name, amount)
        self._bump_changes(1)
        return Decided(
            "completed",
            decision=number,
            new_work=new_work,
            kept=plan.kept_ids,
            late=record.late,
            new_edges=new_edges,
        )

    def _show_failures(
        self, decide: Decide, work: Work, plan: DecisionPlan, number: int
    ) -> tuple[int, int]:
        """Make artefacts of the item's own and its children's crashes and hangs."""
        shown = {SinkKind.CRASHES: 0, SinkKind.HANGS: 0}
        kind = planning.artefact_kind(decide.outcome)
        if kind is not None:
            shown[kind] += self._show(
                kind, work.input_id, None, decide.outcome, decide.signal, number, "", 0
            )
        for child in plan.children:
            kind = planning.artefact_kind(child.outcome)
            if kind is not None:
                shown[kind] += self._show(
                    kind,
                    child.input_id,
                    work.input_id,
                    child.outcome,
                    child.signal,
                    number,
                    child.how,
                    child.site,
                )
        return shown[SinkKind.CRASHES], shown[SinkKind.HANGS]

    def _learn(self, plan: DecisionPlan) -> tuple[bytes, int]:
        if plan.new_edges is None:
            return b"", 0
        new = plan.new_edges
        fresh = self._knowledge.add(new)
        self._journal.record(lambda: self._knowledge.take_back(new, fresh))
        return pack_edges(new), len(fresh)

    # ---- rows -----------------------------------------------------------------------------------

    def _store(self, input_id: InputId, data: bytes) -> None:
        if input_id not in self._tables.inputs:
            self._journal.put(self._tables.inputs, input_id, data)

    def _new_work(
        self,
        work_id: WorkId,
        state_id: StateId,
        input_id: InputId,
        payload: bytes,
        place: int,
        cost_us: int,
    ) -> bool:
        if work_id in self._tables.work:
            return False
        row = len(self._tables.work) + 1
        work = Work(row, work_id, state_id, input_id, payload, place, cost_us, Fence(0), Epoch(0))
        self._journal.put(self._tables.work, work_id, work)
        return True

    def _show_in_corpus(
        self,
        input_id: InputId,
        parent: InputId | None,
        outcome: Outcome,
        signal: int,
        decision: int,
        how: str,
        site: int,
    ) -> bool:
        return self._show(SinkKind.CORPUS, input_id, parent, outcome, signal, decision, how, site)

    def _show(
        self,
        kind: SinkKind,
        input_id: InputId,
        parent: InputId | None,
        outcome: Outcome,
        signal: int,
        decision: int,
        how: str,
        site: int,
    ) -> bool:
        if (kind, input_id) in self._tables.shown:
            return False
        number = len(self._tables.artefacts) + 1
        self._journal.append(
            self._tables.artefacts,
            Artefact(
                number=number,
                kind=kind,
                input_id=input_id,
                parent=parent,
                outcome=outcome,
                signal=signal,
                epoch=self._live_epoch().epoch,
                decision=decision,
                data=self._tables.inputs[input_id],
                how=how,
                site=site,
            ),
        )
        self._journal.put(self._tables.shown, (kind, input_id), number)
        return True

    def _count_work(self, coordinator: int, name: str, amount: int) -> None:
        key = (self._live_epoch().epoch, coordinator, name)
        self._journal.add(self._tables.counters, key, amount)

    def _fault(self, name: str, reason: str, amount: int) -> None:
        key = (self._live_epoch().epoch, name, reason)
        self._journal.add(self._tables.faults, key, amount)

    def _bump_changes(self, amount: int) -> None:
        if amount:
            self._journal.set(self, _changes=self._changes + amount)

    def _live_epoch(self) -> EpochState:
        if not self._tables.epochs:
            raise InternalError("no epoch is open", where="ledger", why="open_epoch comes first")
        return self._tables.epochs[-1]

    def _refuse_when_quiescent(self) -> None:
        """Q3: after COMMIT no work can appear in the epoch."""
        if self._live_epoch().quiescent:
            raise planning.after_quiescence(self._live_epoch().epoch)

    def _held(self, work_id: WorkId, token: FencingToken) -> Work | None:
        """L2: return the row only to the holder of its live lease."""
        work = self._tables.work.get(work_id)
        if work is None or work.state is not WorkState.LEASED:
            return None
        if (work.epoch, work.fence) != (token.epoch, token.fence):
            return None
        return work if work.epoch == self._live_epoch().epoch else None

    # ---- giving back ----------------------------------------------------------------------------

    def _release(self, release: Release) -> Changed:
        work = self._held(release.work_id, release.token)
        if work is None:
            return Changed(changed=False)
        after = planning.after_release(work.losses, release, suspect=work.suspect)
        self._journal.set(
            work,
            state=WorkState.POISONED if after.poisoned else WorkState.PENDING,
            losses=after.losses,
            suspect=after.suspect,
            detail=after.detail or work.detail,
        )
        if release.at_head:
            self._journal.set(work, place=planning.head_place(self._changes))
        if release.cause == "protocol":
            self._fault("protocol_requeued", "", 1)
        self._bump_changes(1)
        return Changed(changed=True, poisoned=after.poisoned)

    def _defer(self, defer: Defer) -> Changed:
        work = self._held(defer.work_id, defer.token)
        if work is None:
            return Changed(changed=False)
        deferrals = work.deferrals + 1
        poisoned = deferrals >= planning.DEFERRALS_TO_POISON
        self._journal.set(
            work,
            state=WorkState.POISONED if poisoned else WorkState.DEFERRED,
            deferrals=deferrals,
            detail=defer.reason,
        )
        self._fault("protocol_deferred", "", 1)
        self._bump_changes(1)
        return Changed(changed=True, poisoned=poisoned)

    def _blame(self, blame: Blame) -> Blamed:
        work = self._held(blame.work_id, blame.token)
        if work is None:
            return Blamed(changed=False, blames=0, poisoned=False)
        blamed_by = work.blamed_by
        if blame.executor not in blamed_by:
            blamed_by = (*blamed_by, blame.executor)
        poisoned = len(blamed_by) >= planning.BLAMES_TO_POISON
        self._journal.set(
            work,
            state=WorkState.POISONED if poisoned else WorkState.PENDING,
            blamed_by=blamed_by,
            losses=0,
            detail=blame.detail,
        )
        self._fault("blames", "", 1)
        self._bump_changes(1)
        return Blamed(changed=True, blames=len(blamed_by), poisoned=poisoned)

    # ---- sources, sinks, end --------------------------------------------------------------------

    def _set_source(self, change: SetSource) -> Counted:
        if not 1 <= change.source <= len(self._tables.sources):
            raise planning.unknown("source", change.source)
        source = self._tables.sources[change.source - 1]
        if source.is_open != change.is_open:
            self._journal.set(source, is_open=change.is_open)
            self._bump_changes(int(change.is_open))
        return Counted()

    def _mark(self, mark: MarkPublished) -> Marked:
        if not 1 <= mark.sink <= len(self._tables.sinks):
            raise planning.unknown("sink", mark.sink)
        sink = self._tables.sinks[mark.sink - 1]
        planning.check_mark(mark, len(self._tables.artefacts))
        if sink.epoch != self._live_epoch().epoch:
            return Marked("stale")
        disposition = planning.mark_disposition(mark, sink.row.incarnation, sink.row.published_upto)
        if disposition == "completed":
            self._journal.set(sink, row=replace(sink.row, published_upto=mark.published_upto))
        return Marked(disposition)

    def _audit_leases(self, audit: AuditLeases) -> Audited:
        epoch = self._live_epoch().epoch
        leased = {
            (work.work_id, FencingToken(work.epoch, work.fence))
            for work in self._tables.work.values()
            if work.state is WorkState.LEASED
            and work.epoch == epoch
            and work.coordinator == audit.coordinator
        }
        held = set(audit.held)
        return Audited(
            orphaned=tuple(sorted(work_id for work_id, _ in leased - held)),
            unknown=tuple(sorted(work_id for work_id, _ in held - leased)),
        )

    def _quiesce(self, commit: CommitQuiescence) -> Quiesced:
        epoch = self._live_epoch()
        reason = planning.why_not_quiescent(
            pending=self._count(WorkState.PENDING),
            leased=self._count(WorkState.LEASED),
            deferred=self._count(WorkState.DEFERRED),
            unpublished=self._unpublished(),
            open_sources=sum(s.is_open and s.epoch == epoch.epoch for s in self._tables.sources),
            changes=self._changes,
            voted=commit.changes,
        )
        if reason:
            return Quiesced(committed=False, reason=reason)
        self._journal.set(epoch, quiescent=True)
        return Quiesced(committed=True)

    def _record_ack(self, ack: RecordAck) -> Counted:
        epoch = self._live_epoch()
        self._journal.put(
            self._tables.acks,
            (epoch.epoch, ack.coordinator),
            Ack(ack.acknowledged, ack.total, ack.missing),
        )
        self._journal.set(epoch, idle_window_s=ack.idle_window_s)
        return Counted()

    def _close_epoch(self, close: CloseEpoch) -> Counted:
        epoch = self._live_epoch()
        if epoch.reason is not None:
            raise planning.closed_before(epoch.epoch, epoch.reason)
        self._journal.set(
            epoch,
            reason=close.reason,
            exit_code=close.exit_code,
            closed_wall=self._clock.wall(),
        )
        return Counted()
