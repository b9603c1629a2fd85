"""Admission and claims of the in-memory ledger."""

from __future__ import annotations

from symfleet.errors import DataError, IntegrityError
from symfleet.ledger import plan as planning
from symfleet.ledger.memory_rows import MemoryRows
from symfleet.ledger.memory_state import (
    Work,
)
from symfleet.protocol.answers import Admitted, Claimed, Lease
from symfleet.protocol.operations import Admission, Admit, Claim
from symfleet.types import (
    Fence,
    FencingToken,
    Outcome,
    WorkState,
)


class MemoryFrontier(MemoryRows):
    """What lets work in and leases it."""

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
        epoch = self._live_epoch().epoch
        if claim.coordinator and (epoch, claim.coordinator) in self._tables.acks:
            raise planning.coordinator_left(epoch, claim.coordinator)
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
