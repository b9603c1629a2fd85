"""What must hold in every simulated campaign, kept apart from the machines that are judged.

The oracle sees deliveries leave and operations commit. It knows the program, so it knows the set of
inputs that a campaign ends with, whatever happened on the way.
"""

from __future__ import annotations

from collections.abc import Sequence

from symfleet.ledger.memory import MemoryLedger
from symfleet.protocol.messages import Work
from symfleet.protocol.operations import (
    Blame,
    Blamed,
    Changed,
    Claim,
    Claimed,
    Decide,
    Decided,
    Defer,
    Operation,
    Release,
    TakenOver,
    TakeOver,
    TurnAnswers,
)
from symfleet.types import DispatchToken, InputId, WorkId


class Oracle:
    """Ground truth of one campaign."""

    def __init__(self) -> None:
        self.tokens: set[DispatchToken] = set()
        self.decided: dict[WorkId, int] = {}
        self._made: dict[WorkId, Decide] = {}
        self._holders: dict[WorkId, int] = {}

    @property
    def cut_off(self) -> set[InputId]:
        """Inputs whose decision says that a wall limit ended the execution."""
        made = [self._made[work_id] for work_id in self.decided]
        return {decide.input_id for decide in made if decide.not_exhaustive}

    def dispatched(self, token: DispatchToken, work: Work) -> None:
        """A delivery leaves."""
        assert token not in self.tokens, "D1: a dispatch token was used twice"
        self.tokens.add(token)
        for entry in work.items:
            assert entry.work_id not in self.decided, "C2: decided work was dispatched again"

    def after_turn(self, operations: Sequence[Operation], answers: TurnAnswers | None) -> None:
        """A turn's transaction is durable."""
        if answers is None:
            return
        for operation, answer in zip(operations, answers.answers, strict=True):
            match operation, answer:
                case Claim(coordinator), Claimed(leases):
                    for lease in leases:
                        assert lease.work_id not in self._holders, "L1: an item has two holders"
                        assert lease.work_id not in self.decided, "C2: decided work was leased"
                        self._holders[lease.work_id] = coordinator
                case Decide(work_id), Decided("completed", number):
                    assert work_id in self._holders, "L2: decided by one who does not hold it"
                    assert work_id not in self.decided, "C7: decided twice"
                    self.decided[work_id] = number
                    self._made[work_id] = operation
                    del self._holders[work_id]
                case ((Release() | Defer() | Blame()), (Changed(True) | Blamed(True))):
                    del self._holders[operation.work_id]
                case TakeOver(coordinator), TakenOver():
                    self._holders = {
                        work_id: holder
                        for work_id, holder in self._holders.items()
                        if holder != coordinator
                    }
                case _:
                    pass

    def recount(self, ledger: MemoryLedger) -> None:
        """After a crash: what is durable is what the ledger says."""
        self._holders.clear()
        self.decided = {row.work_id: row.number for row in ledger.decisions()}

    def final(
        self, ledger: MemoryLedger, expected: frozenset[InputId], published: set[InputId]
    ) -> None:
        """The campaign is quiescent: nothing is lost and nothing is counted twice."""
        assert set(ledger.corpus()) == expected, "the corpus is not the program's fixed point"
        rows = list(ledger.decisions())
        assert len({row.work_id for row in rows}) == len(rows), "C7: an item has two decisions"
        assert len(rows) == len(expected), "each input is decided once"
        assert {row.work_id for row in rows} == set(self.decided)
        assert published == expected, "C5: the files show exactly what was decided"
        status = ledger.status()
        assert status.total.executed == len(rows)
        findings = list(ledger.audit())
        assert not findings, findings
