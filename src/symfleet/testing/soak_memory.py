"""What the samples of a soak say about memory and open files.

Two questions are kept apart. *Does a process grow?* Its samples after a time to warm up give a
slope for each life; long lives weigh more. *Do later processes start larger?* The size at a fixed
young age, over the wall time of the whole soak and over what was decided by then.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, Final

from symfleet.testing.jobs import Role
from symfleet.testing.soak_slope import percent_an_hour, slope, weighted_median
from symfleet.testing.soak_watch import Life

_WARM_S: Final = 10.0
_LIFE_MIN_S: Final = 20.0
"""Of a life that says anything about growth, after its warm-up."""
_YOUNG_S: Final = (2.0, 5.0)
_ROLES: Final = (Role.LAUNCHER, Role.MPIRUN, Role.ROOT, Role.COORDINATOR, Role.WORKER)


def memory_of(lives: Sequence[Life]) -> dict[str, Any]:
    """Return the figures of each role that has any."""
    figures = {
        role.value: _of_role([one for one in lives if one.member.role is role])
        for role in (*_ROLES, Role.EXECUTOR)
    }
    return {role: what for role, what in figures.items() if what}


def _of_role(lives: Sequence[Life]) -> dict[str, Any]:
    if not any(life.samples for life in lives):
        return {}
    sizes = [one.rss_kib for life in lives for one in life.samples]
    files = [one.files for life in lives for one in life.samples]
    young = [
        (life.first_s, statistics.median(sizes_of))
        for life in lives
        if (sizes_of := _between(life, *_YOUNG_S))
    ]
    return {
        "lives": len(lives),
        "rss_mib_median": round(statistics.median(sizes) / 1024, 2),
        "rss_mib_max": round(max(sizes) / 1024, 2),
        "files_median": statistics.median(files),
        "files_max": max(files),
        "grown_old": _growth(lives),
        "young_percent_an_hour": _rounded(percent_an_hour(young)) if len(young) > 2 else None,
    }


def _between(life: Life, low_s: float, high_s: float) -> list[int]:
    return [one.rss_kib for one in life.samples if low_s <= one.age_s < high_s]


def _growth(lives: Sequence[Life]) -> dict[str, Any] | None:
    """Return how lives that were long enough grew after they had warmed up."""
    by_time: list[tuple[float, float]] = []
    by_work: list[tuple[float, float]] = []
    by_files: list[tuple[float, float]] = []
    longest = 0.0
    for life in lives:
        old = [one for one in life.samples if one.age_s >= _WARM_S]
        if not old or (lasted := old[-1].at_s - old[0].at_s) < _LIFE_MIN_S:
            continue
        longest = max(longest, lasted)
        rate = percent_an_hour([(one.at_s, one.rss_kib) for one in old])
        by_time.append((rate or 0.0, lasted))
        for_work = slope([(one.decided, one.rss_kib) for one in old])
        by_work.append(((for_work or 0.0) * 1000, lasted))
        for_files = slope([(one.at_s, one.files) for one in old])
        by_files.append(((for_files or 0.0) * 3600, lasted))
    if not by_time:
        return None
    return {
        "lives": len(by_time),
        "longest_s": round(longest, 1),
        "together_s": round(sum(weight for _, weight in by_time), 1),
        "percent_an_hour": _rounded(weighted_median(by_time)),
        "kib_for_1000_decisions": _rounded(weighted_median(by_work)),
        "files_an_hour": _rounded(weighted_median(by_files)),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
