"""From a RESULT to a decision: everything is checked again here, and then it is only arithmetic.

What the coordinator knows about an item (ids, bytes, lease) wins over what the worker says (L7); a
difference makes the whole result invalid. An honest result passes whatever its size is; one that
contradicts itself (digest, inventory, bitmap, ranges) is invalid, and its items go back (A6).
Nothing here changes state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from symfleet.protocol.answers import Lease
from symfleet.protocol.delivery import Delivery
from symfleet.protocol.item_results import (
    ChildReport,
    Executed,
    ExecutorDied,
    ItemResult,
    NotRun,
    Unsettled,
)
from symfleet.protocol.knowledge import is_ascending
from symfleet.protocol.messages import Result
from symfleet.protocol.operations import Child, Decide, FollowUp
from symfleet.protocol.parts import Parts
from symfleet.protocol.ranges import AMOUNT_MAX, NUMBER_MAX
from symfleet.protocol.result_frames import children_digest
from symfleet.protocol.setup import Knobs
from symfleet.protocol.work import (
    WorkItem,
    encode_item,
    state_id_of,
    work_id_of,
    work_id_of_payload,
)
from symfleet.types import GenerationId, Keep, Outcome, StateId, input_id_of

_SITE_MAX: Final = 2**64 - 1
_WORDS_MAX: Final = 64
_WORD_MAX: Final = 500
_CAUSES: Final = frozenset({"stalled", "killed", "cancelled"})


@dataclass(frozen=True, slots=True)
class Invalid:
    """Why a result cannot be believed. `mismatched_id` when an id is not the coordinator's."""

    reason: str
    detail: str
    mismatched_id: bool = False


@dataclass(frozen=True, slots=True)
class Verified:
    """One item's result, with all its children in order (those of PARTs first)."""

    result: ItemResult
    children: tuple[ChildReport, ...] = ()


class _Contradiction(Exception):
    def __init__(self, reason: str, detail: str, *, mismatched_id: bool = False) -> None:
        super().__init__(reason)
        self.invalid = Invalid(reason, detail, mismatched_id)


def verify(
    delivery: Delivery, result: Result, parts: Parts, keep: Keep, knobs: Knobs
) -> Sequence[Verified] | Invalid:
    """Check a RESULT whose parts are all here against the delivery that it answers."""
    try:
        return _verify_all(delivery, result, parts, keep, knobs)
    except _Contradiction as contradiction:
        return contradiction.invalid


def _verify_all(
    delivery: Delivery, result: Result, parts: Parts, keep: Keep, knobs: Knobs
) -> Sequence[Verified]:
    if len(result.items) != len(delivery.leases):
        raise _Contradiction(
            "inventory", f"{len(result.items)} results for {len(delivery.leases)} items"
        )
    verified = [
        _verify_item(delivery, number, item, parts, keep, knobs)
        for number, item in enumerate(result.items)
    ]
    said = children_digest(child.digest for one in verified for child in one.children)
    if said != result.children_digest:
        raise _Contradiction("inventory", "the children are not those that were announced")
    return verified


def _verify_item(
    delivery: Delivery, number: int, item: ItemResult, parts: Parts, keep: Keep, knobs: Knobs
) -> Verified:
    lease, work = delivery.leases[number], delivery.items[number]
    if item.work_id != lease.work_id:
        raise _Contradiction("work_id", f"{item.work_id} for {lease.work_id}", mismatched_id=True)
    if not isinstance(item, NotRun) and item.input_id != work.input:
        # A1: the target must have got the very bytes that the item names.
        raise _Contradiction("input_id", f"{item.input_id} for {work.input}", mismatched_id=True)
    match item:
        case Executed():
            children = (*parts.children_of(number), *item.children)
            _verify_executed(item, children, parts, keep, knobs)
            return Verified(item, children)
        case Unsettled(cause=cause):
            if cause not in _CAUSES:
                raise _Contradiction("cause", cause[:_WORD_MAX])
        case ExecutorDied(detail=detail, signal=signal):
            if len(detail) > 8 * _WORD_MAX or not 0 <= signal <= 255:
                raise _Contradiction("range", "evidence of an executor's death")
        case NotRun():
            pass
        case _:
            assert_never(item)
    if parts.children_of(number):
        raise _Contradiction("inventory", "children of an item that was not executed")
    return Verified(item)


def _verify_executed(
    item: Executed, children: Sequence[ChildReport], parts: Parts, keep: Keep, knobs: Knobs
) -> None:
    if not item.outcome.is_verdict:
        raise _Contradiction("outcome", item.outcome.value)
    if len(children) > knobs.result_children:
        raise _Contradiction("inventory", f"{len(children)} children")
    if not is_ascending(item.edges):
        raise _Contradiction("edges", "edges of the input")
    flips = item.flips
    counts = (
        item.unstable,
        item.generated,
        item.dropped,
        item.executions,
        item.solver_us,
        item.wall_us,
        item.cpu_us,
        item.rss_kib_max,
        *(flips.sat, flips.unsat, flips.timeout, flips.unknown, flips.skipped),
        *item.solved.values(),
        *item.left_out.values(),
    )
    bound = 0 if item.truncated is None else item.truncated
    if any(not 0 <= count <= AMOUNT_MAX for count in counts) or not 0 <= bound <= NUMBER_MAX:
        raise _Contradiction("range", "a count is negative or absurd")
    if not -1 <= item.exit_code <= 255 or not 0 <= item.signal <= 255:
        raise _Contradiction("range", f"exit code {item.exit_code}, signal {item.signal}")
    if item.generated < len({child.digest for child in children}):
        raise _Contradiction("inventory", f"{item.generated} generated, {len(children)} children")
    words = (*item.degraded, *item.solved, *item.opened, *item.left_out, item.reason or "")
    if len(words) > _WORDS_MAX or any(len(word) > 8 * _WORD_MAX or "\0" in word for word in words):
        raise _Contradiction("range", "too many or too long words")
    for child in children:
        _verify_child(child, parts, keep, knobs)


def _verify_child(child: ChildReport, parts: Parts, keep: Keep, knobs: Knobs) -> None:
    if child.data is None:
        if keep is Keep.ALL and not parts.has_stored(child.digest):
            raise _Contradiction("inventory", f"child {child.digest} came without its bytes")
    elif input_id_of(child.data) != child.digest:
        raise _Contradiction("digest", f"child {child.digest} has other bytes")
    elif len(child.data) > knobs.input_bytes:
        raise _Contradiction("range", f"a child of {len(child.data)} bytes")
    if not is_ascending(child.edges):
        raise _Contradiction("edges", f"edges of child {child.digest}")
    within = (
        0 <= child.site <= _SITE_MAX
        and child.direction in (0, 1)
        and 0 <= child.signal <= 255
        and 0 <= child.unstable <= AMOUNT_MAX
        and 0 <= child.wall_us <= AMOUNT_MAX
        and len(child.how) <= _WORDS_MAX
        and "\0" not in child.how
        and len(child.digest) == 64
    )
    # A child may have stalled or been killed: its own execution, which is done again as often as it
    # needs to be, gives the verdict. Its parent's result is no worse for it.
    if not within:
        raise _Contradiction("range", f"child {child.digest[:64]}")


_LIMIT_OF_OUTCOME: Final = {
    Outcome.TIMEOUT: "time",
    Outcome.HANG: "time",
    Outcome.CPU: "time",
    Outcome.OOM: "memory",
    Outcome.FLOOD: "output",
}
_COUNTED_ON: Final = frozenset({"goals", "children", "bytes"})
"""Limits that an execution stops at, and that a follow-up goes on from."""


def cut_off(result: Executed, children: int, knobs: Knobs, *, goes_on: bool) -> tuple[str, ...]:
    """Return the limits that left something untried for good, sorted; `children` were reported.

    Every word of `degraded` is one. A query that the solver gave up is untried as well. `goes_on`:
    a follow-up begins where the execution stopped. A function of the result alone: where counted
    limits only are met, the same input gives the same answer on every slot (J, D)."""
    found = set(result.degraded) | set(result.left_out)
    if (limit := _LIMIT_OF_OUTCOME.get(result.outcome)) is not None:
        # An engine says `time` of whatever was ended before its own end.
        found = found - {"time"} | {limit}
    if result.flips.timeout or result.flips.unknown:
        found.add("solver")
    if result.truncated is not None:
        if children >= knobs.result_children:
            found = found - {"goals"} | {"children"}
        elif not found & {"time", *_COUNTED_ON}:
            found.add("bytes")
    return tuple(sorted(found - _COUNTED_ON if goes_on else found))


def to_decide(
    lease: Lease,
    work: WorkItem,
    verified: Verified,
    generation: GenerationId,
    keep: Keep,
    knobs: Knobs,
) -> Decide:
    """Translate a verified execution into the operation that decides it."""
    result = verified.result
    assert isinstance(result, Executed)
    distinct = {child.digest: child for child in reversed(verified.children)}
    follow_up = _follow_up(work, result, keep)
    limits = cut_off(result, len(verified.children), knobs, goes_on=follow_up is not None)
    return Decide(
        work_id=lease.work_id,
        token=lease.token,
        input_id=work.input,
        keep=keep,
        outcome=result.outcome,
        exit_code=result.exit_code,
        signal=result.signal,
        edges=result.edges,
        unstable=result.unstable,
        generated=result.generated,
        dropped=result.dropped,
        children=tuple(_child(distinct[digest], generation) for digest in sorted(distinct)),
        flips=result.flips,
        solved=dict(result.solved),
        executions=result.executions,
        solver_us=result.solver_us,
        wall_us=result.wall_us,
        cpu_us=result.cpu_us,
        degraded=result.degraded,
        reason=result.reason,
        follow_up=follow_up,
        cut_off=limits,
        left_out={name: count for name, count in result.left_out.items() if name in limits},
    )


def _child(report: ChildReport, generation: GenerationId) -> Child:
    payload = encode_item(WorkItem(generation, report.digest))
    work_id = work_id_of_payload(payload)
    return Child(
        input_id=report.digest,
        data=report.data,
        work_id=work_id,
        state_id=StateId(work_id),  # without a strategy both are the same by definition
        payload=payload,
        how=report.how,
        site=report.site,
        direction=report.direction,
        outcome=report.outcome,
        signal=report.signal,
        edges=report.edges,
    )


def _follow_up(work: WorkItem, result: Executed, keep: Keep) -> FollowUp | None:
    """Return the rest of a truncated search. With keep=all the children are a function of the
    input alone, limits included, so there is no rest."""
    if keep is Keep.ALL or result.truncated is None or result.truncated <= (work.bound or 0):
        return None
    rest = WorkItem(
        work.generation,
        work.input,
        focus=work.focus,
        target=work.target,
        bound=result.truncated,
        strategy=work.strategy,
    )
    return FollowUp(work_id_of(rest), state_id_of(rest), encode_item(rest))
