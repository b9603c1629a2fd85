"""Decisions of the in-memory ledger."""

from __future__ import annotations

from symfleet.errors import DataError
from symfleet.ledger import plan as planning
from symfleet.ledger.edges import pack_edges
from symfleet.ledger.memory_rows import MemoryRows
from symfleet.ledger.memory_state import (
    Decision,
    EpochState,
    Work,
    shown_of,
)
from symfleet.ledger.plan import DecisionPlan
from symfleet.ledger.tally import (
    Effects,
    chain_next,
    decision_counts,
    encode_record,
    record_of,
)
from symfleet.protocol.answers import Decided
from symfleet.protocol.operations import Decide
from symfleet.types import (
    SinkKind,
    WorkState,
)


class MemoryDecisions(MemoryRows):
    """Everything that a result changes (C1..C7)."""

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
        shown_before = len(tables.artefacts)
        new_work, unique = self._keep_children(decide, work, plan, number)
        crashes, hangs = self._show_failures(decide, work, plan, number)
        new_edges, fresh = self._learn(plan)
        effects = Effects(
            coordinator=work.coordinator,
            new_work=new_work,
            unique_children=unique,
            crashes=crashes,
            hangs=hangs,
            fresh_edges=fresh,
            shown=[shown_of(artefact) for artefact in tables.artefacts[shown_before:]],
        )
        record = record_of(decide, plan, effects)
        encoded = encode_record(record)
        decision = Decision(
            number=number,
            work_id=work.work_id,
            epoch=epoch.epoch,
            fence=work.fence,
            manifest=plan.encoded,
            record=record,
            record_bytes=encoded,
            new_edges=new_edges,
            chain=chain_next(epoch.chain, number, plan.encoded, encoded, new_edges),
            wall=self._clock.wall(),
        )
        self._journal.append(tables.decisions, decision)
        self._journal.set(work, state=WorkState.DONE, decision=number, suspect=False)
        self._journal.set(epoch, chain=decision.chain, decisions=epoch.decisions + 1)
        for name, amount in decision_counts(decide.generated, record).items():
            self._count_work(work.coordinator, name, amount)
        self._bump_changes(1)
        return Decided("completed", number, new_work, plan.kept_ids, record.late, new_edges)

    def _keep_children(
        self, decide: Decide, work: Work, plan: DecisionPlan, number: int
    ) -> tuple[int, int]:
        """Write kept children and the follow-up; return new work rows and inputs new in the
        corpus."""
        tables, cost_us = self._tables, decide.wall_us
        new_work = unique = 0
        for child, kept, novel in zip(plan.children, plan.kept, plan.novel, strict=True):
            if kept or planning.artefact_kind(child.outcome) is not None:
                if child.data is not None:
                    self._store(child.input_id, child.data)
                elif child.input_id not in tables.inputs:
                    raise planning.missing_bytes(child.input_id)
            if not kept:
                continue
            story = (child.outcome, child.signal, number, child.how, child.site)
            unique += self._show_in_corpus(child.input_id, work.input_id, *story)
            row = len(tables.work) + 1
            place = planning.novel_place(number) if novel else planning.rest_place(row)
            ids = (child.work_id, child.state_id, child.input_id)
            new_work += self._new_work(*ids, child.payload, place, cost_us)
        if decide.follow_up is not None and not plan.keeps_all:
            rest, place = decide.follow_up, planning.rest_place(len(tables.work) + 1)
            ids = (rest.work_id, rest.state_id, work.input_id)
            new_work += self._new_work(*ids, rest.payload, place, cost_us)
        return new_work, unique

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
