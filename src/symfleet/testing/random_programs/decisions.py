"""What runs of a program have decided, and whether a child departs where it was said to.

Theory of operation. A log holds `armed`, `went` pairs, one for each decision of a statement. In a
log of the instrumented program the branch that the engine saw stands between the two: so a decision
is known to be that of a site, without any knowledge of how sites are numbered. The predicted child
is then run without instrumentation. It has to decide everything as its parent did up to that site,
and there the other way. A site that was ever seen elsewhere (a decision inside an expression, one
that the optimiser has moved before its probe) is not observed by anybody: nothing is said of it.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_COUNT: Final = struct.Struct("<Q")
_ENTRY: Final = struct.Struct("<IIQ")
ENTRIES_MAX: Final = 1 << 16
"""As in probes.c: a log of this many may have an end that was cut off."""
_ARMED, _WENT, _ENDED, _BRANCH, _SWITCH = 1, 2, 3, 4, 5


@dataclass(frozen=True, slots=True)
class Site:
    """A branch of the engine; `taken` is None for a switch."""

    name: int
    taken: bool | None


@dataclass(frozen=True, slots=True)
class Log:
    """One run: its decisions in their order, and the site of each as far as it is known."""

    decisions: list[tuple[int, int]]
    sites: list[Site | None]
    elsewhere: set[int]
    """Sites that stood anywhere but between the two halves of a decision."""
    ended: list[int]
    """What the program has computed, when it came to its end."""
    full: bool = False
    """It may have been cut off."""

    def agrees(self, other: Log) -> bool:
        """Whether two runs decided and computed the same, as far as the logs go."""
        if self.full or other.full:
            shared = min(len(self.decisions), len(other.decisions))
            return self.decisions[:shared] == other.decisions[:shared]
        return (self.decisions, self.ended) == (other.decisions, other.ended)


class Finding(enum.Enum):
    """What the uninstrumented run says of a prediction."""

    CONFIRMED = "confirmed"
    MISSED = "missed"
    UNOBSERVED = "unobserved"
    NO_BRANCH = "no_branch"
    """The site is none of a branch: an address, a comparison that a function of libc makes."""


def read_logs(data: bytes) -> Iterator[Log]:
    """Yield the logs of a file; raises struct.error when one is cut off."""
    at = 0
    while at < len(data):
        (count,) = _COUNT.unpack_from(data, at)
        at += _COUNT.size
        end = at + count * _ENTRY.size
        if end > len(data):
            raise struct.error(f"{count} entries were promised")
        yield _read(list(_ENTRY.iter_unpack(data[at:end])))
        at = end


def _read(entries: Sequence[tuple[int, int, int]]) -> Log:
    log = Log([], [], set(), [], full=len(entries) >= ENTRIES_MAX)
    armed = False
    pending: list[Site] = []
    for kind, way, name in entries:
        if kind in (_BRANCH, _SWITCH):
            pending.append(Site(name, bool(way) if kind == _BRANCH else None))
            continue
        if kind == _WENT:
            own = pending[0] if armed and len(pending) == 1 else None
            log.decisions.append((name, way))
            log.sites.append(own)
            pending = [] if own else pending
        elif kind == _ENDED:
            log.ended.append(name)
        log.elsewhere.update(site.name for site in pending)
        pending = []
        armed = kind == _ARMED
    log.elsewhere.update(site.name for site in pending)
    return log


def departure(parent: Log, child: Log) -> int | None:
    """Return the number of the first decision that differs; None if there is none."""
    pairs = zip(parent.decisions, child.decisions, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), None)


def judge(recorded: Log, parent: Log, child: Log, site: int, direction: int) -> Finding:
    """Say whether a child leaves its parent at a site in a direction.

    `recorded` is the parent's run as the engine saw it; it decides as `parent` does.
    """
    wanted = (Site(site, not direction), Site(site, None))
    if recorded.full or parent.full or child.full:
        return Finding.UNOBSERVED
    if site not in recorded.elsewhere and all(one.name != site for one in recorded.sites if one):
        return Finding.NO_BRANCH
    if site in recorded.elsewhere or not any(one in wanted for one in recorded.sites):
        return Finding.UNOBSERVED
    at = departure(parent, child)
    if at is None or at >= len(recorded.sites):
        return Finding.MISSED
    if recorded.sites[at] in wanted:
        return Finding.CONFIRMED
    return Finding.UNOBSERVED if _is_unswitched(recorded, at, wanted) else Finding.MISSED


def _is_unswitched(recorded: Log, at: int, wanted: Sequence[Site]) -> bool:
    """Tell whether the branch of a decision in a loop stands before that of the loop.

    The optimiser has taken it out of the loop, and the loop's own decision had no branch that was
    followed: what stands in its place is not its own.
    """
    loop = at
    while loop > 0 and recorded.sites[loop] is None:
        loop -= 1
    turns = [name for name, _ in recorded.decisions]
    return loop < at and recorded.sites[loop] in wanted and turns[loop] in turns[at + 1 :]
