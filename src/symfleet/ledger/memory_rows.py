"""Rows of the in-memory ledger that several operations change."""

from __future__ import annotations

from symfleet.clock import Clock
from symfleet.errors import InternalError
from symfleet.ledger import plan as planning
from symfleet.ledger.contract import CampaignRow
from symfleet.ledger.edges import Knowledge
from symfleet.ledger.memory_reading import MemoryReading
from symfleet.ledger.memory_state import (
    EpochState,
    Journal,
    Tables,
    Work,
)
from symfleet.protocol.answers import Artefact
from symfleet.types import (
    Epoch,
    Fence,
    FencingToken,
    InputId,
    Outcome,
    SinkKind,
    StateId,
    WorkId,
    WorkState,
)


class MemoryRows(MemoryReading):
    """Tables, journal and knowledge, and the changes that operations are made of."""

    def __init__(self, campaign: CampaignRow, clock: Clock) -> None:
        super().__init__(campaign, Tables())
        self._clock = clock
        self._journal = Journal()
        self._knowledge = Knowledge()
        self._changes = 0

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

    def _fault(self, coordinator: int, name: str, reason: str, amount: int) -> None:
        key = (self._live_epoch().epoch, coordinator, name, reason)
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
