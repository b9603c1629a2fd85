"""What the samples of a soak say about memory and open files.

Two questions are kept apart. *Does a process grow?* The samples of the second half of a life give a
slope; long lives weigh more. (In the first half caches are filled, that of the ledger's pages with
128 MiB; what grows for ever grows in the second half as well.) *Do later processes start larger?*
Their sizes at a young age over the wall time of the whole soak.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Final

import msgspec

from symfleet.testing.jobs import Role
from symfleet.testing.soak.slope import Slope, percent_an_hour, slope, weighted_median
from symfleet.testing.soak.watch import Life

SLOPE_MAX: Final = 1.0
"""Percent an hour."""
_LIFE_MIN_S: Final = 30.0
"""Second half of a life that says anything about growth."""
_TOGETHER_MIN_S: Final = 300.0
"""Of all such lives together, to be judged."""
_YOUNG_S: Final = (3.0, 8.0)
_YOUNG_MIN: Final = 30
"""Lives."""
_ROLES: Final = (
    Role.LAUNCHER,
    Role.MPIRUN,
    Role.ROOT,
    Role.COORDINATOR,
    Role.WORKER,
    Role.EXECUTOR,
)


class Growth(msgspec.Struct, frozen=True):
    """How lives that were long enough grew in their second halves; medians by length."""

    lives: int
    longest_s: float
    together_s: float
    percent_an_hour: float
    kib_for_1000_decisions: float
    files_an_hour: float


class RoleMemory(msgspec.Struct, frozen=True):
    """The figures of one role."""

    lives: int
    rss_mib_median: float
    rss_mib_max: float
    files_median: float
    files_max: int
    old: Growth | None
    young: int
    """Lives that were seen young."""
    young_percent_an_hour: tuple[float, float, float] | None
    """Slope of their sizes over the soak, and its 95 % interval."""


def memory_of(lives: Sequence[Life]) -> dict[str, RoleMemory]:
    """Return the figures of each role that has any."""
    chosen = {role: [one for one in lives if one.member.role is role] for role in _ROLES}
    return {
        role.value: _of_role(those)
        for role, those in chosen.items()
        if any(life.samples for life in those)
    }


def growing(memory: dict[str, RoleMemory]) -> list[str]:
    """Name what grows too fast. Of few or short lives nothing is concluded; the sizes of young
    processes scatter, so that their whole interval must be beyond the limit."""
    found = []
    for role, figures in memory.items():
        old, young = figures.old, figures.young_percent_an_hour
        if old is not None and old.together_s >= _TOGETHER_MIN_S:
            if old.percent_an_hour >= SLOPE_MAX:
                found.append(f"a {role} grows by {old.percent_an_hour} %/h")
            if old.files_an_hour > 0:
                found.append(f"a {role} opens {old.files_an_hour} files more an hour")
        if young is not None and figures.young >= _YOUNG_MIN and young[1] >= SLOPE_MAX:
            found.append(f"each {role} starts larger: {young[0]} %/h, at least {young[1]}")
    return found


def _of_role(lives: Sequence[Life]) -> RoleMemory:
    sizes = [one.rss_kib for life in lives for one in life.samples]
    files = [one.files for life in lives for one in life.samples]
    young = [
        (life.first_s, statistics.median(seen))
        for life in lives
        if (seen := _between(life, *_YOUNG_S))
    ]
    rate = percent_an_hour(young)
    return RoleMemory(
        lives=len(lives),
        rss_mib_median=round(statistics.median(sizes) / 1024, 2),
        rss_mib_max=round(max(sizes) / 1024, 2),
        files_median=statistics.median(files),
        files_max=max(files),
        old=_growth(lives),
        young=len(young),
        young_percent_an_hour=None if rate is None else _rounded(rate),
    )


def _between(life: Life, low_s: float, high_s: float) -> list[int]:
    return [one.rss_kib for one in life.samples if low_s <= one.age_s < high_s]


def _growth(lives: Sequence[Life]) -> Growth | None:
    by_time: list[tuple[float, float]] = []
    by_work: list[tuple[float, float]] = []
    by_files: list[tuple[float, float]] = []
    for life in lives:
        old = life.samples[len(life.samples) // 2 :]
        if not old or (lasted := old[-1].at_s - old[0].at_s) < _LIFE_MIN_S:
            continue
        by_time.append((_value(percent_an_hour([(one.at_s, one.rss_kib) for one in old])), lasted))
        for_work = slope([(one.decided, one.rss_kib) for one in old])
        by_work.append((_value(for_work) * 1000, lasted))
        by_files.append((_value(slope([(one.at_s, one.files) for one in old])) * 3600, lasted))
    if not by_time:
        return None
    return Growth(
        lives=len(by_time),
        longest_s=round(max(lasted for _, lasted in by_time), 1),
        together_s=round(sum(lasted for _, lasted in by_time), 1),
        percent_an_hour=round(weighted_median(by_time) or 0.0, 3),
        kib_for_1000_decisions=round(weighted_median(by_work) or 0.0, 3),
        files_an_hour=round(weighted_median(by_files) or 0.0, 3),
    )


def _value(found: Slope | None) -> float:
    return 0.0 if found is None else found.value


def _rounded(found: Slope) -> tuple[float, float, float]:
    return round(found.value, 3), round(found.low, 3), round(found.high, 3)
