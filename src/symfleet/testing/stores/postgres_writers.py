"""Several coordinators at one ledger, seen as one: each turn goes over another connection.

Whoever holds a store to a model, or to the behaviour suite, can hold this to it: no answer may
depend on which coordinator asks, and nobody may act on what it remembers of an older turn.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence

from symfleet.clock import SystemClock
from symfleet.config.ledger_address import LedgerAccess
from symfleet.ledger.contract import (
    CrashRow,
    DecisionRow,
    EpochRequest,
    EpochRow,
    Finding,
    LedgerStatus,
    NewGeneration,
    TurnLedger,
    WorkRow,
)
from symfleet.ledger.places import attach_ledger
from symfleet.ledger.postgres import PostgresLedger
from symfleet.ledger.postgres_attached import ROOT_ONLY, AttachedLedger, AttachRequest
from symfleet.protocol.answers import Artefact, EpochOpening, SinkRow, TurnAnswers
from symfleet.protocol.operations import Operation
from symfleet.types import InputId, SinkKind, WorkId, WorkState

FIRST_NUMBER = 8
"""Of the coordinators that attach: out of the way of those that tests speak of."""


def attached(ledger: PostgresLedger, coordinator: int, lock_wait_s: float = 2.0) -> AttachedLedger:
    """Attach a coordinator to the open epoch of a ledger."""
    request = AttachRequest(coordinator, "here", os.getpid(), lock_wait_s)
    return attach_ledger(ledger.access(), request, SystemClock())


class SeveralWriters:
    """A ledger whose turns go over the root's connection and `peers` others, as `order` draws. What
    only the root does, the root does."""

    def __init__(self, root: PostgresLedger, peers: int, order: random.Random) -> None:
        self.root = root
        self._amount = peers
        self._order = order
        self.peers: list[AttachedLedger] = []

    def open_epoch(self, request: EpochRequest) -> EpochOpening:
        """Open an epoch at the root and let all others attach to it."""
        self.close_peers()
        opened = self.root.open_epoch(request)
        self.peers = [attached(self.root, FIRST_NUMBER + n) for n in range(self._amount)]
        return opened

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn over one of the connections."""
        writers: list[TurnLedger] = [*self.peers]
        if not writers or any(isinstance(operation, ROOT_ONLY) for operation in operations):
            return self.root.run(operations)
        return self._order.choice([self.root, *writers]).run(operations)

    def begin_generation(self, new: NewGeneration) -> int:
        """Begin at the root."""
        return self.root.begin_generation(new)

    def register_source(self, kind: str, path: str, host: str) -> int:
        """Register at the root."""
        return self.root.register_source(kind, path, host)

    def register_sink(self, kind: SinkKind, path: str, host: str) -> SinkRow:
        """Register at the root."""
        return self.root.register_sink(kind, path, host)

    def rearm(self, work_ids: Sequence[WorkId]) -> int:
        """Re-arm at the root."""
        return self.root.rearm(work_ids)

    def drop_unnamed(self) -> int:
        """Drop at the root."""
        return self.root.drop_unnamed()

    def chain_at(self, decision: int) -> str | None:
        """Read at the root."""
        return self.root.chain_at(decision)

    def access(self) -> LedgerAccess | None:
        """Return what others attach with."""
        return self.root.access()

    def checkpoint(self) -> None:
        """Write highwater."""
        self.root.checkpoint()

    def status(self) -> LedgerStatus:
        """Read at the root."""
        return self.root.status()

    def epochs(self) -> Sequence[EpochRow]:
        """Read at the root."""
        return self.root.epochs()

    def input_bytes(self, input_id: InputId) -> bytes:
        """Read at the root."""
        return self.root.input_bytes(input_id)

    def corpus(self) -> Iterator[InputId]:
        """Read at the root."""
        return self.root.corpus()

    def decisions(self) -> Iterator[DecisionRow]:
        """Read at the root."""
        return self.root.decisions()

    def crashes(self) -> Sequence[CrashRow]:
        """Read at the root."""
        return self.root.crashes()

    def work_rows(self, state: WorkState, limit: int) -> Sequence[WorkRow]:
        """Read at the root."""
        return self.root.work_rows(state, limit)

    def artefacts(
        self, kind: SinkKind, after: int, limit: int, bytes_max: int
    ) -> Sequence[Artefact]:
        """Read at the root."""
        return self.root.artefacts(kind, after, limit, bytes_max)

    def sinks(self) -> Sequence[SinkRow]:
        """Read at the root."""
        return self.root.sinks()

    def knowledge(self) -> bytes:
        """Read at the root."""
        return self.root.knowledge()

    def audit(self) -> Iterator[Finding]:
        """Audit at the root."""
        return self.root.audit()

    def close_peers(self) -> None:
        """End the others' sessions."""
        for peer in self.peers:
            peer.close()
        self.peers = []

    def abandon(self) -> None:
        """Let go as a killed job does."""
        self.close_peers()
        self.root.abandon()

    def close(self) -> None:
        """End all sessions."""
        self.close_peers()
        self.root.close()
