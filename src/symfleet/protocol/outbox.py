"""What a turn wants: ledger operations with what to do about each answer, actions, fault counts.

An operation is asked together with the function that takes its answer, so that a machine never
counts positions. Fault counts leave in one CountFaults in the same turn as what they count; those
that arise from answers leave with the next turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from symfleet.protocol.answers import Answer, Failed
from symfleet.protocol.events import CoordinatorAction, Note
from symfleet.protocol.operations import (
    Admit,
    Blame,
    Claim,
    CloseEpoch,
    CountFaults,
    Decide,
    Defer,
    Operation,
    RecordAck,
    Release,
)
from symfleet.protocol.violations import LocalProtocolError

Handler = Callable[[Answer], None]
_OF_THE_END: Final = (CloseEpoch, CountFaults, RecordAck)
_CHANGING: Final = (Admit, Blame, Claim, Decide, Defer, Release)


class Outbox:
    """Collects the output of one machine."""

    __slots__ = ("_actions", "_asked", "_coordinator", "_fresh", "sealed", "totals")

    def __init__(self, coordinator: int) -> None:
        """`coordinator`: whose faults are counted."""
        self._coordinator = coordinator
        self.sealed = False
        """After a control failure nothing changes the frontier; only the end is still written."""
        self._asked: list[tuple[Operation, Handler | None]] = []
        self._actions: list[CoordinatorAction] = []
        self._fresh: Counter[tuple[str, str]] = Counter()
        self.totals: Counter[tuple[str, str]] = Counter()
        """All faults of this epoch by (name, reason)."""

    def ask(self, operation: Operation, handler: Handler | None = None) -> None:
        """Ask for an operation in this turn's transaction."""
        if not self.sealed or isinstance(operation, _OF_THE_END):
            self._asked.append((operation, handler))

    def act(self, action: CoordinatorAction) -> None:
        """Do something after this turn's transaction is durable (C1)."""
        self._actions.append(action)

    def fault(self, name: str, reason: str = "", amount: int = 1) -> None:
        """Count a fault (D8, J10)."""
        self._fresh[name, reason] += amount
        self.totals[name, reason] += amount

    def tally(self, name: str, reason: str = "", amount: int = 1) -> None:
        """Note for the verdict a fault that the ledger counts with its operation."""
        self.totals[name, reason] += amount

    def count(self, name: str) -> int:
        """Return the sum of a fault's reasons in this epoch."""
        return sum(amount for (fault, _), amount in self.totals.items() if fault == name)

    @property
    def asking(self) -> bool:
        """Whether this turn asks for anything yet."""
        return bool(self._asked)

    @property
    def asking_changes(self) -> bool:
        """Whether this turn asks for anything that may change the frontier."""
        return any(isinstance(operation, _CHANGING) for operation, _ in self._asked)

    @property
    def uncounted(self) -> bool:
        """Whether faults wait for a turn to be counted in."""
        return bool(self._fresh)

    def flush_faults(self) -> None:
        """Ask to count what is not counted yet. A failed count is counted again next turn."""
        if not self._fresh:
            return
        faults = tuple((name, why, n) for (name, why), n in sorted(self._fresh.items()))
        self._fresh.clear()

        def recount(answer: Answer) -> None:
            if isinstance(answer, Failed):
                for name, why, amount in faults:
                    self._fresh[name, why] += amount

        self.ask(CountFaults(self._coordinator, faults), recount)

    def operations(self) -> Sequence[Operation]:
        """Return this turn's operations in order."""
        return [operation for operation, _ in self._asked]

    def look(self) -> None:
        """Ask for nothing but the state after this turn, when the turn asks for nothing yet."""
        if not self._asked:
            self.ask(CountFaults(self._coordinator, ()))

    def settle(self, answers: Sequence[Answer]) -> None:
        """Hand each answer to whom it belongs."""
        asked, self._asked = self._asked, []
        if len(asked) != len(answers):
            raise LocalProtocolError(
                "a turn was answered with the wrong number of answers",
                where=f"{len(asked)} operations, {len(answers)} answers",
                why="each operation has exactly one answer",
                hint="this is a defect of symfleet: please report it",
            )
        for (_, handler), answer in zip(asked, answers, strict=True):
            if handler is not None:
                handler(answer)

    def forget_turn(self) -> None:
        """Drop what was asked in a transaction that failed as a whole, and with it every action
        that would have told of it (C1)."""
        self._asked.clear()
        self._actions = [action for action in self._actions if isinstance(action, Note)]

    def take_actions(self) -> Sequence[CoordinatorAction]:
        """Return the actions in order and forget them."""
        actions, self._actions = self._actions, []
        return actions
