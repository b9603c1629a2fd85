"""Blame and the breaker: who is at fault when an executor dies, the item or the host.

An item is blamed only when a living worker saw its executor die or answer invalidly while running
that item, neither killed nor stopped it, and the respawned executor passes its self-test; a SIGKILL
counts only with evidence of memory. Otherwise the item goes back unblamed. Nor does a SIGKILL
without evidence say anything about the engine: when it ends an executor before it has passed its
self-test, the next one is tried. The breaker looks at hosts: a failed self-test, an engine that
cannot run, or five deaths without a success between pauses the host, and the death that trips it
blames nobody. When every host is paused the job ends cleanly with 69.
"""

from __future__ import annotations

import enum
import signal as signals
from dataclasses import dataclass, field
from typing import Final

from symfleet.protocol.item_results import ExecutorDied

_SIGKILL: Final = int(signals.SIGKILL)


class Fate(enum.StrEnum):
    """What a death means."""

    BLAME = "blame"
    UNEXPLAINED = "unexplained"
    HOST = "host"


def is_unexplained(signal: int, *, memory_evidence: bool) -> bool:
    """Whether a death is one by somebody's SIGKILL, which nothing here accounts for."""
    return signal == _SIGKILL and not memory_evidence


def judge_death(death: ExecutorDied) -> Fate:
    """Apply the blame rule to one report."""
    if not death.selftest_ok:
        return Fate.HOST
    if is_unexplained(death.signal, memory_evidence=death.memory_evidence):
        return Fate.UNEXPLAINED
    return Fate.BLAME


@dataclass(slots=True)
class Breaker:
    """Pauses hosts. `blames_to_pause`: deaths in a row, without a success between."""

    blames_to_pause: int
    worked: bool = False
    """Whether any item ran to a verdict."""
    _streaks: dict[str, int] = field(default_factory=dict)
    paused: dict[str, str] = field(default_factory=dict)
    """Host -> why."""

    def success(self, host: str) -> None:
        """An item ran to a verdict on this host."""
        self.worked = True
        self._streaks.pop(host, None)

    def failure(self, host: str, why: str) -> bool:
        """Count a death or an invalid result; return whether it tripped the breaker now."""
        streak = self._streaks.get(host, 0) + 1
        self._streaks[host] = streak
        if streak < self.blames_to_pause or host in self.paused:
            return False
        self.paused[host] = f"{streak} failures without a success between, the last: {why}"
        return True

    def pause(self, host: str, why: str) -> bool:
        """Pause a host at once; return whether it was running."""
        if host in self.paused:
            return False
        self.paused[host] = why
        return True
