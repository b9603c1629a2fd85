"""What a run of the study showed, and the figures that are made of it.

Figures are of the steady window. It begins when a tenth of the items was decided, and as many as
fill every place of the fleet: until then slots live on what they were given at once. It ends when
the frontier ran dry, or nine tenths were decided: after it the last executions end.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from symfleet.types import DispatchToken, WorkId


@dataclass(frozen=True, slots=True)
class Window:
    """The steady part of a run, virtual seconds."""

    begin: float
    end: float

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.begin

    def part(self, begin: float, end: float) -> float:
        """Return how much of a span lies within."""
        return max(0.0, min(end, self.end) - max(begin, self.begin))


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values lies; they are sorted."""
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0.0


@dataclass(slots=True)
class Busy:
    """Spans in which something that is one served somebody."""

    begins: array[float] = field(default_factory=lambda: array("d"))
    ends: array[float] = field(default_factory=lambda: array("d"))

    def add(self, begin: float, end: float) -> None:
        """Note a span."""
        self.begins.append(begin)
        self.ends.append(end)

    def share(self, window: Window) -> float:
        """Return the busy share of the window."""
        if window.seconds <= 0:
            return 0.0
        spans = zip(self.begins, self.ends, strict=True)
        return sum(window.part(begin, end) for begin, end in spans) / window.seconds


@dataclass(slots=True)
class Record:
    """Everything that is noted while a run goes on."""

    slots: int
    ledger: Busy = field(default_factory=Busy)
    coordinators: dict[int, Busy] = field(default_factory=dict)
    repeated: int = 0
    """RESULTs that were said again because nobody had answered in time."""
    turns: int = 0
    """Transactions."""
    decided_at: array[float] = field(default_factory=lambda: array("d"))
    executed: int = 0
    _sent: dict[DispatchToken, float] = field(default_factory=dict)
    _way: dict[WorkId, float] = field(default_factory=dict)
    """Seconds from the WORK's departure to its arrival, by item."""
    _done: dict[WorkId, float] = field(default_factory=dict)
    _run_slot: array[int] = field(default_factory=lambda: array("l"))
    _run_begin: array[float] = field(default_factory=lambda: array("d"))
    _run_end: array[float] = field(default_factory=lambda: array("d"))
    _trips: array[float] = field(default_factory=lambda: array("d"))

    def sent(self, now: float, token: DispatchToken) -> None:
        """A WORK left."""
        self._sent[token] = now

    def arrived(self, now: float, token: DispatchToken, works: Sequence[WorkId]) -> None:
        """Its worker took it."""
        way = now - self._sent.pop(token)
        for work_id in works:
            self._way[work_id] = way

    def ran(self, slot: int, work_id: WorkId, begin: float, end: float) -> None:
        """An execution ended, and its result leaves."""
        self.executed += 1
        self._done[work_id] = end
        self._run_slot.append(slot)
        self._run_begin.append(begin)
        self._run_end.append(end)

    def decided(self, now: float, work_id: WorkId) -> None:
        """A decision is durable."""
        self.decided_at.append(now)
        way, done = self._way.pop(work_id, None), self._done.pop(work_id, None)
        if way is not None and done is not None:
            self._trips.append(way + now - done)

    # ---- figures ------------------------------------------------------------------------------

    def around(self, at: float, slots: range) -> list[tuple[float, float]]:
        """Return for each of the slots when its last execution before a moment ended and its first
        one after it began."""
        ended = dict.fromkeys(slots, 0.0)
        begun = dict.fromkeys(slots, float("inf"))
        spans = zip(self._run_slot, self._run_begin, self._run_end, strict=True)
        for slot, begin, end in spans:
            if slot in ended:
                if end <= at:
                    ended[slot] = max(ended[slot], end)
                elif begin >= at:
                    begun[slot] = min(begun[slot], begin)
        return [(ended[slot], begun[slot]) for slot in slots if begun[slot] < float("inf")]

    def window(self, dry_at: float, in_flight: int) -> Window:
        """Return the steady window of a fleet that holds so many items at once."""
        times = self.decided_at
        begin = times[min(len(times) - 1, max(len(times) // 10, in_flight))]
        end = times[len(times) * 9 // 10]
        return Window(begin, max(begin, min(end, dry_at)))

    def busy_by_slot(self, window: Window) -> list[float]:
        """Return each slot's share of the window that it spent in executions."""
        busy = [0.0] * self.slots
        spans = zip(self._run_slot, self._run_begin, self._run_end, strict=True)
        for slot, begin, end in spans:
            busy[slot] += window.part(begin, end)
        return [seconds / window.seconds for seconds in busy] if window.seconds > 0 else busy

    def decisions_in(self, window: Window) -> int:
        """Count the decisions of the window."""
        return sum(window.begin < at <= window.end for at in self.decided_at)

    def trips_ms(self) -> tuple[float, float]:
        """Return p50 and p99 of what a delivery takes beside its execution."""
        ordered = sorted(self._trips)
        return quantile(ordered, 0.5) * 1e3, quantile(ordered, 0.99) * 1e3
