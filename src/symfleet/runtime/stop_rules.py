"""When a launch ends before it is quiescent: time, executions, coverage, a crash, a full disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from symfleet.config.model import Stop
from symfleet.errors import ExitCode, IOFailure
from symfleet.ledger.contract import LedgerStatus
from symfleet.protocol.answers import Answer, Decided, Failed
from symfleet.protocol.events import StopRequested
from symfleet.protocol.operations import Decide, Operation
from symfleet.types import Outcome

DRAIN_S: Final = 10.0
"""How long running items may go on after a stop was asked for; then they are pending again."""


class StopRules:
    """Watches decisions and the clock; asks for the end once."""

    def __init__(self, rules: Stop, now: float, *, elapsed_s: float, executed: int) -> None:
        """`elapsed_s` and `executed`: what earlier epochs of this launch have used up."""
        self._rules = rules
        self._end = None if rules.max_time_s is None else now + rules.max_time_s - elapsed_s
        self._executed = self._executed_before = executed
        self._edges = 0
        self._new_edge_at = now
        self._crashed = False
        self._asked = False
        self._full: IOFailure | None = None

    def note(self, operations: Sequence[Operation], answers: Sequence[Answer], now: float) -> None:
        """Learn from the operations of a committed turn."""
        for operation, answer in zip(operations, answers, strict=True):
            match operation, answer:
                case Decide(), Decided(disposition="completed"):
                    self._executed += 1
                    if answer.new_edges:
                        self._new_edge_at = now
                    outcomes = {operation.outcome, *(c.outcome for c in operation.children)}
                    self._crashed = self._crashed or Outcome.CRASH in outcomes
                case _, Failed(message, disk_full=True):
                    self._full = IOFailure(
                        message,
                        why="No space left on device: what is decided is stored; the rest will run",
                        hint="free some space, then `symfleet resume` goes on where it stopped",
                    )
                case _:
                    continue

    def look(self, status: LedgerStatus, now: float) -> None:
        """Learn what others have decided in this epoch without telling."""
        epoch = status.this_epoch
        self._executed = max(self._executed, self._executed_before + epoch.executed)
        if epoch.edges > self._edges:
            self._edges, self._new_edge_at = epoch.edges, now
        self._crashed = self._crashed or epoch.crashes > 0

    def due(self, now: float) -> StopRequested | None:
        """Return the request to stop when a rule is met; only once."""
        if self._asked:
            return None
        if self._full is not None:
            # Before all others: a frontier that takes nothing looks like one with nothing left.
            self._asked = True
            return StopRequested(str(self._full), int(self._full.exit_code), DRAIN_S)
        reason = self._reason(now)
        if reason is None:
            return None
        self._asked = True
        return StopRequested(reason, int(ExitCode.DONE), DRAIN_S)

    def _reason(self, now: float) -> str | None:
        rules = self._rules
        if self._end is not None and now >= self._end:
            return "max_time"
        if rules.max_executions is not None and self._executed >= rules.max_executions:
            return "max_executions"
        quiet_s = rules.no_new_coverage_for_s
        if quiet_s is not None and now - self._new_edge_at >= quiet_s:
            return "no_new_coverage"
        if rules.exit_on_crash and self._crashed:
            return "crash_found"
        return None
