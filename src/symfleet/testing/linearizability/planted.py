"""Ledgers that break a promise now and then, to see that the checker notices.

Each runs the turns of a real ledger and lies in some answers, or leaves something out that it says
it has done.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final

from symfleet.ledger.contract import Ledger
from symfleet.protocol.answers import Answer, Claimed, Decided, TurnAnswers
from symfleet.protocol.operations import Claim, CountFaults, Decide, Operation

_EVERY: Final = 25


class Planted:
    """A ledger with a fault. What is not a turn, the real one does."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn, nearly as it is meant."""
        told = self._ledger.run([self._asked(one) for one in operations])
        answers = tuple(
            self._answer(operation, answer)
            for operation, answer in zip(operations, told.answers, strict=True)
        )
        return dataclasses.replace(told, answers=answers)

    def _is_due(self) -> bool:
        self._count += 1
        return self._count % _EVERY == 0

    def _asked(self, operation: Operation) -> Operation:
        return operation

    def _answer(self, operation: Operation, answer: Answer) -> Answer:  # noqa: ARG002
        return answer


class TwoHolders(Planted):
    """Hands some leases out twice."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self._before: Claimed | None = None

    def _answer(self, operation: Operation, answer: Answer) -> Answer:  # noqa: ARG002
        if not isinstance(answer, Claimed) or not answer.leases:
            return answer
        before, self._before = self._before, answer
        if before is None or not self._is_due():
            return answer
        return Claimed((*answer.leases, *before.leases[:1]))


class LostDecision(Planted):
    """Says of some results that they are decided, and forgets them."""

    _NOTHING: Final = CountFaults(0, ())

    def _asked(self, operation: Operation) -> Operation:
        return self._NOTHING if isinstance(operation, Decide) and self._is_due() else operation

    def _answer(self, operation: Operation, answer: Answer) -> Answer:
        if isinstance(operation, Decide) and not isinstance(answer, Decided):
            return Decided("completed", 1_000_000 + self._count)
        return answer


class DecidedTwice(Planted):
    """Counts some repeated results again."""

    def _answer(self, operation: Operation, answer: Answer) -> Answer:  # noqa: ARG002
        if isinstance(answer, Decided) and answer.disposition == "already" and self._is_due():
            return dataclasses.replace(answer, disposition="completed")
        return answer


class StaleAccepted(Planted):
    """Accepts some results whose token is void."""

    def _answer(self, operation: Operation, answer: Answer) -> Answer:  # noqa: ARG002
        if isinstance(answer, Decided) and answer.disposition == "stale" and self._is_due():
            return Decided("completed", 1_000_000 + self._count)
        return answer


class ReorderedClaims(Planted):
    """Answers a claim with leases of the future of another one: those that it got, but one turn
    late, when others have been told of newer ones."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self._kept: dict[int, Claimed] = {}

    def _answer(self, operation: Operation, answer: Answer) -> Answer:
        if not isinstance(operation, Claim) or not isinstance(answer, Claimed):
            return answer
        if not self._is_due():
            return answer
        kept = self._kept.pop(0, Claimed(()))
        self._kept[0] = answer
        return kept


PLANTS: Final[dict[str, Callable[[Ledger], Ledger]]] = {
    "two holders": TwoHolders,
    "a lost decision": LostDecision,
    "a decision twice": DecidedTwice,
    "a void token accepted": StaleAccepted,
    "answers out of time": ReorderedClaims,
}
