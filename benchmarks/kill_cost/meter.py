"""The CPU time of processes."""

from __future__ import annotations

import contextlib
import os
import resource
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from symfleet.testing.jobs import Member, Role

_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Meter:
    """The CPU time of all executors of a campaign, those that have died as of the last look."""

    _ticks: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def cpu_s(self) -> float:
        """Seconds so far."""
        return sum(self._ticks.values()) / _TICKS

    def look(self, members: Iterable[Member]) -> None:
        """Look at the members that are executors, and at everything below them."""
        executors = {one.pid: one.started for one in members if one.role is Role.EXECUTOR}
        table = dict(_process_times())
        sums = Counter[int]()
        for pid, (_, _, ticks) in table.items():
            above = pid
            while above in table and above not in executors:
                above = table[above][0]
            if above in table and table[above][1] == executors[above]:
                sums[above] += ticks
        for pid, ticks in sums.items():
            life = pid, executors[pid]
            # A process that was orphaned takes its time elsewhere: it was used all the same.
            self._ticks[life] = max(ticks, self._ticks.get(life, 0))


def _process_times() -> Iterator[tuple[int, tuple[int, int, int]]]:
    """Yield (pid, (parent, start, ticks of CPU, its own and of what it has reaped))."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "stat").read_text().rpartition(")")[2].split()
                ticks = sum(map(int, words[11:15]))
                yield int(entry.name), (int(words[1]), int(words[19]), ticks)


def cpu_of_children() -> float:
    """Return the CPU seconds of all children that have been reaped, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
