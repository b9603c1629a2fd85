"""Whether one order explains a history: the search of Wing and Gong, as Lowe refined it.

An event is one operation on one object: when it was called, when its answer came, what was asked
and what was told. A history is linearizable when its events can be put into one order that the
object's sequential meaning allows and that keeps time: what had been answered before something
else was called comes before it. An event without an answer may stand anywhere after its call, or
nowhere: it may never have happened.

The search places events one by one, those first whose answers came first, and remembers which sets
of placed events have led to which state, so that no situation is looked at twice. An event that may
come next and never changes anything, comes next: wherever an order has it later, it may as well be
here. (Without this, a contradiction beside a few dozen slow answers that say no has more situations
than can be looked at.)

Sources: J. Wing, C. Gong, "Testing and verifying concurrent objects", JPDC 17 (1993); G. Lowe,
"Testing for linearizability", Concurrency and Computation 29 (2017).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

_S = TypeVar("_S")

UNTOLD: Final = None
"""The answer of an event of which nothing is told: any will do."""

_SITUATIONS_MAX: Final = 2_000_000
_SITUATIONS_OF_A_PART: Final = 1_000
"""For each attempt to leave an answer out of a contradiction."""
_TOLD_OF_UNDECIDED: Final = 12
_NEVER: Final = 2**63


@dataclass(frozen=True, slots=True)
class Event:
    """One operation on one object. Times are nanoseconds of the host's monotonic clock; `answered`
    None: the answer was lost. `by` says who asked, for people."""

    called: int
    answered: int | None
    action: Any
    answer: Any
    by: str

    @property
    def until(self) -> int:
        """Return the time before which it has happened, if it has."""
        return _NEVER if self.answered is None else self.answered


@dataclass(frozen=True, slots=True)
class Meaning(Generic[_S]):
    """What an object is. `step` returns the state after an action that is answered so, None when no
    such answer is possible there. `only_looks`: whether an action that is answered so leaves every
    state as it is in which the answer is possible."""

    initial: _S
    step: Callable[[_S, Any, Any], _S | None]
    only_looks: Callable[[Any, Any], bool]


class UndecidedError(Exception):
    """A history has more situations than the search looks at. `next_ones`: the answers that come
    next where the search came furthest."""

    def __init__(self, next_ones: Sequence[Event]) -> None:
        super().__init__()
        self.next_ones = next_ones


def explained(
    events: Sequence[Event], meaning: Meaning[_S], situations_max: int = _SITUATIONS_MAX
) -> bool:
    """Return whether one order explains the events; raise UndecidedError when that costs too
    much."""
    return _Search(events, meaning, situations_max).run()


class _Search(Generic[_S]):
    """`placed` is a set of bits, beginning at event `low`: all before are placed. Events without
    answers have bits of their own (`extra`)."""

    def __init__(self, events: Sequence[Event], meaning: Meaning[_S], situations_max: int) -> None:
        self._situations_max = situations_max
        self._known = sorted(
            (one for one in events if one.answered is not None), key=lambda one: one.called
        )
        self._lost = sorted(
            (one for one in events if one.answered is None), key=lambda one: one.called
        )
        self._meaning = meaning
        self._seen: set[tuple[int, int, int, _S]] = set()
        self._furthest = 0

    def run(self) -> bool:
        first = (0, 0, 0, self._meaning.initial)
        stack = [self._next(*first)]
        while stack:
            found = next(stack[-1], None)
            if found is None:
                stack.pop()
                continue
            if found[0] == len(self._known):
                return True
            if found in self._seen:
                continue
            if len(self._seen) >= self._situations_max:
                raise UndecidedError(self._known[self._furthest :][:_TOLD_OF_UNDECIDED])
            self._furthest = max(self._furthest, found[0])
            self._seen.add(found)
            stack.append(self._next(*found))
        return not self._known

    def _next(
        self, low: int, placed: int, extra: int, state: _S
    ) -> Iterator[tuple[int, int, int, _S]]:
        """Yield what one more event leads to."""
        step = self._meaning.step
        candidates, bound = self._candidates(low, placed)
        following: list[tuple[int, int, int, _S]] = []
        for at in candidates:
            event = self._known[at]
            after = step(state, event.action, event.answer)
            if after is None:
                continue
            moved, bits = low, placed | 1 << (at - low)
            while bits & 1:
                bits >>= 1
                moved += 1
            if self._meaning.only_looks(event.action, event.answer):
                yield (moved, bits, extra, state)
                return
            following.append((moved, bits, extra, after))
        yield from following
        tried: set[Any] = set()
        for number, event in enumerate(self._lost):
            if event.called > bound:
                break
            # Of equal ones the first: what a later one explains, it explains as well.
            if not extra >> number & 1 and event.action not in tried:
                tried.add(event.action)
                after = step(state, event.action, UNTOLD)
                if after is not None and after != state:
                    yield (low, placed, extra | 1 << number, after)

    def _candidates(self, low: int, placed: int) -> tuple[list[int], int]:
        """Return the events that may come next, and when the first answer among them came."""
        known, bound = self._known, _NEVER
        found: list[int] = []
        for at in range(low, len(known)):
            event = known[at]
            if event.called > bound:
                break
            if not placed >> (at - low) & 1:
                found.append(at)
                bound = min(bound, event.until)
        if len(found) > 1:
            found.sort(key=lambda at: known[at].until)
        return found, bound


def contradiction(events: Sequence[Event], meaning: Meaning[_S]) -> list[Event]:
    """Return answers that cannot all be true, none of which can be left out, in order of their
    calls; nothing when the history is explained.

    First the history is cut where it becomes impossible. Then answers are forgotten one after the
    other, and then whether their operations happened at all: forgetting never makes a possible
    history impossible. What cannot be forgotten is the contradiction. (Not quite the smallest one
    when a question has too many situations: then nothing is forgotten.)
    """
    if explained(events, meaning):
        return []
    ends = sorted(one.until for one in events if one.answered is not None)
    low, high = 0, len(ends) - 1
    while low < high:
        middle = (low + high) // 2
        if explained(_until(events, ends[middle]), meaning):
            low = middle + 1
        else:
            high = middle
    left = sorted(_until(events, ends[low]), key=lambda one: one.called)
    for forget in (_without_answer, _forgotten):
        for at in reversed(range(len(left))):
            weaker = [*left]
            weaker[at] = forget(left[at])
            if weaker[at] != left[at] and _is_impossible(weaker, meaning):
                left = weaker
    return [one for one in left if one.answered is not None]


def _is_impossible(events: Sequence[Event], meaning: Meaning[_S]) -> bool:
    try:
        return not explained(events, meaning, _SITUATIONS_OF_A_PART)
    except UndecidedError:
        return False


def _until(events: Sequence[Event], end: int) -> list[Event]:
    """Return what was known at a time."""
    return [one if one.until <= end else _forgotten(one) for one in events if one.called <= end]


def _without_answer(event: Event) -> Event:
    return replace(event, answer=UNTOLD)


def _forgotten(event: Event) -> Event:
    return replace(event, answered=None, answer=UNTOLD)
