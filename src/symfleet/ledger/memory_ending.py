"""Releases, deferrals, blame, sources, sinks, the vote and the end in the in-memory ledger."""

from __future__ import annotations

from dataclasses import replace

from symfleet.ledger import plan as planning
from symfleet.ledger.memory_rows import MemoryRows
from symfleet.ledger.memory_state import (
    Ack,
)
from symfleet.protocol.answers import Audited, Blamed, Changed, Counted, Marked, Quiesced, TakenOver
from symfleet.protocol.operations import (
    AuditLeases,
    Blame,
    CloseEpoch,
    CommitQuiescence,
    Defer,
    MarkPublished,
    RecordAck,
    Release,
    SetSource,
    TakeOver,
)
from symfleet.types import (
    FencingToken,
    WorkState,
)


class MemoryEnding(MemoryRows):
    """What gives leases back and ends an epoch."""

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
            self._fault(work.coordinator, "protocol_requeued", "", 1)
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
        self._fault(work.coordinator, "protocol_deferred", "", 1)
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
        self._fault(work.coordinator, "blames", "", 1)
        self._bump_changes(1)
        return Blamed(changed=True, blames=len(blamed_by), poisoned=poisoned)

    def _take_over(self, take: TakeOver) -> TakenOver:
        epoch, coordinator = self._live_epoch().epoch, take.coordinator
        name = planning.coordinator_name(coordinator)
        self._journal.put(self._tables.acks, (epoch, coordinator), Ack(0, 0, (name,)))
        taken = [
            work
            for work in self._tables.work.values()
            if (work.state, work.epoch, work.coordinator) == (WorkState.LEASED, epoch, coordinator)
        ]
        for work in taken:
            self._journal.set(work, state=WorkState.PENDING)
        self._bump_changes(len(taken))
        if taken:
            self._fault(coordinator, "leases_recovered", "takeover", len(taken))
        return TakenOver(len(taken))

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
        if ack.coordinator == 0:
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
