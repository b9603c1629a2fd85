"""What a launch of a real job may meet: crash points, two of them, strikes from outside."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from symfleet.testing import memory_limit
from symfleet.testing.kills.mpi_points import ROOT, Death, Way, deaths, recoveries


class Strike(enum.StrEnum):
    """What hits a job from outside."""

    LAUNCHER = "launcher killed"
    MPIRUN = "mpirun killed"
    ROOT = "root killed"
    COORDINATOR = "coordinator killed"
    WORKER = "worker killed"
    EXECUTOR = "executor killed"
    TARGET = "target killed"
    SESSION = "everything killed at once"
    TERM_LAUNCHER = "SIGTERM to the launcher"
    TERM_ROOT = "SIGTERM to the root"
    TERM_WORKER = "SIGTERM to a worker"
    STOP_ROOT = "root stopped until all executions are through, then continued"
    STOP_COORDINATOR = "coordinator stopped past its deadline, then continued"
    STOP_WORKER = "worker stopped past its deadline, then continued"
    OOM_ROOT = "root killed for memory"
    OOM_WORKER = "worker killed for memory"

    @property
    def coordinators(self) -> tuple[int, ...]:
        """In which layouts it can happen."""
        return (2,) if self in (Strike.COORDINATOR, Strike.STOP_COORDINATOR) else (1, 2)

    @property
    def needs_limit(self) -> bool:
        """Whether it needs a limit on memory."""
        return self in (Strike.OOM_ROOT, Strike.OOM_WORKER)

    @property
    def is_long(self) -> bool:
        """Whether it takes as long as a deadline that cannot be set lower."""
        return self is Strike.STOP_WORKER


@dataclass(frozen=True, slots=True)
class Case:
    """What one launch meets. `then`: where the next epoch dies, too."""

    coordinators: int
    what: Death | Strike
    then: Death | None = None

    @property
    def is_fresh(self) -> bool:
        """Whether it happens at the first launch of a campaign only."""
        return isinstance(self.what, Death) and self.what.way is Way.FRESH

    def __str__(self) -> str:
        then = "" if self.then is None else f", then {self.then}"
        return f"{self.coordinators} coordinator{'s' * (self.coordinators > 1)}: {self.what}{then}"


def shuffled(cases: Sequence[Case]) -> list[Case]:
    """Return the cases in an order that is the same every time and has no pattern."""
    return sorted(cases, key=lambda case: hashlib.sha256(str(case).encode()).digest())


def point_cases() -> list[Case]:
    """Return every death at one point, with one and with two coordinators."""
    return [Case(number, death) for number in (1, 2) for death in deaths(number)]


def strike_cases(*, long: bool) -> list[Case]:
    """Return every strike that is possible here; `long`: those that take long, too."""
    can_starve = memory_limit.why_not() is None
    return [
        Case(number, strike)
        for strike in Strike
        for number in strike.coordinators
        if (long or not strike.is_long) and (can_starve or not strike.needs_limit)
    ]


def double_cases() -> list[Case]:
    """Return deaths of the root in its recovery from a death, at every point of that."""
    firsts = [Death("decide.committed", ROOT), Death("publish.file", ROOT, occurrence=2)]
    return [
        Case(number, first, then) for number in (1, 2) for first in firsts for then in recoveries()
    ]
