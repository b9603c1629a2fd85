"""The memory ledger with a disk that may lose power."""

from __future__ import annotations

from collections.abc import Sequence

from symfleet.clock import Clock
from symfleet.ledger.contract import CampaignRow, EpochRequest
from symfleet.ledger.memory import MemoryLedger
from symfleet.protocol.answers import EpochOpening, TurnAnswers
from symfleet.protocol.operations import Claim, Operation


class SimulatedLedger(MemoryLedger):
    """Turns that hold nothing but leases are not synced; any number of the last ones may be lost,
    up to the last turn that was."""

    def __init__(self, campaign: CampaignRow, clock: Clock) -> None:
        super().__init__(campaign, clock)
        self._marks: list[int] = []
        """Where the journal stood before each unsynced turn."""

    @property
    def unsynced(self) -> int:
        """How many turns a power cut may take back."""
        return len(self._marks)

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn."""
        mark = self._journal.mark()
        answers = super().run(operations)
        if all(isinstance(operation, Claim) for operation in operations):
            self._marks.append(mark)
        else:
            self._marks.clear()
        return answers

    def open_epoch(self, request: EpochRequest) -> EpochOpening:
        """Open an epoch, which is synced."""
        self._marks.clear()
        return super().open_epoch(request)

    def lose_power(self, kept: int) -> None:
        """Keep what is synced and the first `kept` turns after it."""
        if kept < len(self._marks):
            self._journal.back_to(self._marks[kept])
        self._marks.clear()
