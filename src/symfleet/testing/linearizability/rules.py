"""What holds of a whole history, beside what holds of each object.

Decisions have one order, which keeps time and has no gaps; an edge is new to one decision; counters
never go back for anybody; epochs grow by one. Each rule yields what breaks it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from symfleet.ledger.edges import unpack_edges
from symfleet.testing.linearizability import records
from symfleet.testing.linearizability.history import Records, Seen, Step, TurnSeen


def broken_rules(found: Records, seen: Seen) -> Iterator[str]:
    """Yield every contradiction that concerns more than one object."""
    completed = [
        step
        for step in found.steps
        if isinstance(step.asked, records.Decides)
        and step.answer is not None
        and step.answer != records.REFUSED
        and step.answer[0] == "completed"
    ]
    yield from _unexpected(found.steps)
    yield from _decision_numbers(completed, seen)
    yield from _in_time([(one.called, one.answered, one.answer[1], one.by) for one in completed])
    yield from _new_once(completed)
    yield from _counters(found.turns)


def _unexpected(steps: Sequence[Step]) -> Iterator[str]:
    """Only what may be refused is refused."""
    for step in steps:
        allowed = isinstance(step.asked, records.Admits | records.Claims | records.Other)
        if step.answer == records.REFUSED and not allowed:
            yield f"{step.by}: {step.asked} was refused"
        if not isinstance(step.asked, records.Claims) or not isinstance(step.answer, list):
            continue
        if len(step.answer) > step.asked.limit:
            yield f"{step.by}: {len(step.answer)} leases for {step.asked}"


def _decision_numbers(completed: Sequence[Step], seen: Seen) -> Iterator[str]:
    """Numbers go from 1 on, and each is told for the work that has it in the ledger."""
    numbers = sorted(number for status, _, number in seen.rows.values() if status == "done")
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"the {len(numbers)} decisions of the ledger do not have the numbers from 1 on"
    told: dict[int, Step] = {}
    for step in completed:
        assert isinstance(step.asked, records.Decides)
        number = step.answer[1]
        if number in told:
            yield f"decision {number} was told twice: {told[number].by} and {step.by}"
        told[number] = step
        row = seen.rows.get(step.asked.work)
        if row is None or row[2] != number:
            yield f"{step.by}: decision {number} of work {step.asked.work}, the ledger has {row}"


def _in_time(numbered: Sequence[tuple[int, int | None, int, str]]) -> Iterator[str]:
    """What was answered before something else was called has the smaller number."""
    for before, after in _inversions(numbered):
        yield (
            f"{after[3]} was told number {after[2]}, and was called after {before[3]} had been"
            f" told number {before[2]}"
        )


def _inversions(
    numbered: Sequence[tuple[int, int | None, int, str]],
) -> Iterator[tuple[Any, Any]]:
    """Yield pairs (called, answered, number, by) in which the later one has the smaller number."""
    by_call = sorted(numbered)
    by_answer = sorted((one[1], one) for one in numbered if one[1] is not None)
    at, highest = 0, None
    for one in by_call:
        while at < len(by_answer) and by_answer[at][0] < one[0]:
            if highest is None or by_answer[at][1][2] > highest[2]:
                highest = by_answer[at][1]
            at += 1
        if highest is not None and one[2] < highest[2]:
            yield highest, one


def _new_once(completed: Sequence[Step]) -> Iterator[str]:
    shown: dict[int, str] = {}
    for step in completed:
        for edge in unpack_edges(step.answer[2]) if step.answer[2] else ():
            if edge in shown:
                yield f"edge {edge} was new twice: {shown[edge]} and {step.by}"
            shown[edge] = step.by


def _counters(turns: Sequence[TurnSeen]) -> Iterator[str]:
    for name in ("changes", "artefacts"):
        told = [(one.called, one.answered, getattr(one, name), one.by) for one in turns]
        for before, after in _inversions(told):
            yield f"{name} went back from {before[2]} ({before[3]}) to {after[2]} ({after[3]})"


def broken_epochs(steps: Sequence[Step]) -> Iterator[str]:
    """Yield what is wrong with the numbers of epochs."""
    opened: dict[int, list[str]] = defaultdict(list)
    openings = [one for one in steps if isinstance(one.asked, records.Opens) and one.answer]
    for step in openings:
        opened[step.answer].append(step.by)
    for epoch, owners in opened.items():
        if len(owners) > 1:
            yield f"epoch {epoch} was opened by {' and '.join(owners)}"
    told = [(one.called, one.answered, one.answer, one.by) for one in openings]
    for before, after in _inversions(told):
        yield f"epoch {after[2]} ({after[3]}) was opened after {before[2]} ({before[3]})"
