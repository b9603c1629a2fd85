"""Judge what participants wrote down: each object's history, and the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from symfleet.testing.linearizability.history import Objects, Records, Seen
from symfleet.testing.linearizability.rules import broken_epochs, broken_rules
from symfleet.testing.linearizability.search import Event, UndecidedError, contradiction

_TOLD_MAX: Final = 5


@dataclass(slots=True)
class Verdict:
    """What a check came to. `violations`: each a story of a few lines."""

    operations: int = 0
    answered: int = 0
    objects: int = 0
    violations: list[str] = field(default_factory=list)


def judge(found: Records, seen: Seen) -> Verdict:
    """Check everything; of objects, at most some violations are told."""
    verdict = Verdict(
        operations=len(found.steps),
        answered=sum(step.answered is not None for step in found.steps),
    )
    verdict.violations += broken_epochs(found.steps)
    if verdict.violations:
        return verdict  # Nothing can be said of objects when epochs are wrong.
    verdict.violations += broken_rules(found, seen)
    contradictions = 0
    for history in Objects(found.steps, seen).histories():
        verdict.objects += 1
        if contradictions >= _TOLD_MAX:
            break
        try:
            answers = contradiction(history.events, history.meaning)
        except UndecidedError as error:
            contradictions += 1
            lines = told("too many orders to look at; furthest before", error.next_ones)
            verdict.violations.append(f"{history.name}: {lines}")
            continue
        if answers:
            contradictions += 1
            lines = told("these answers cannot all be true", answers)
            verdict.violations.append(f"{history.name}: {lines}")
    return verdict


def told(what: str, answers: Sequence[Event]) -> str:
    """Return a finding for people, with its answers: times in microseconds from the first call."""
    start = answers[0].called
    lines = [
        f"  {(one.called - start) // 1000:>9} .. {(one.until - start) // 1000:>9} us"
        f"  {one.by}: {one.action} -> {one.answer}"
        for one in answers
    ]
    return "\n".join([what, *lines])
