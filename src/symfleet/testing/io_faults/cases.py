"""What cases of failing calls come to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

CALLS_MAX: Final = 20_000
"""More calls than any of the programs makes."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What must not come of a failing call, and how to make it fail again."""

    driver: str
    fault: str
    nth: int
    what: str


@dataclass(slots=True)
class Report:
    """What the cases came to. `ends`: how often a program ended with which exit code."""

    cases: int = 0
    ends: dict[str, int] = field(default_factory=dict)
    by_fault: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def count(self, fault: str, code: int) -> None:
        """Count a case."""
        self.cases += 1
        self.by_fault[fault] = self.by_fault.get(fault, 0) + 1
        self.ends[str(code)] = self.ends.get(str(code), 0) + 1
