"""Crash points of real jobs: who passes them, when, and how often a short launch does.

What no job passes is met elsewhere: commands of people and what goes wrong by itself in the
process-level matrix (`kill_matrix`), moves to a server in the tests of `symfleet ledger copy`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

LAUNCHER: Final = "launcher"
ROOT: Final = "0"
PEER: Final = "1"
"""The rank of the other coordinator, where there are two."""


class Way(enum.StrEnum):
    """What brings a launch to a point."""

    WORK = "at work"
    FRESH = "at the first launch of all"
    DRAIN = "while a launch ends that was asked to"
    CRASH = "after the root's death"
    ORPHAN = "after the death of a coordinator"


@dataclass(frozen=True, slots=True)
class Death:
    """A process at a crash point. `place`: `launcher`, or the rank."""

    label: str
    place: str
    way: Way = Way.WORK
    occurrence: int = 1
    action: str = "kill"
    epoch: int = 1

    def __str__(self) -> str:
        who = self.place if self.place == LAUNCHER else f"rank {self.place}"
        return f"{self.action} at {self.label} {self.occurrence} of {who} {self.way}"

    @property
    def spec(self) -> str:
        """What arms it."""
        where = self.place if self.place == LAUNCHER else f"{self.place}/{self.epoch}"
        armed = f"{self.label}:{self.occurrence}:{self.action}:{where}"
        if self.way is Way.CRASH:
            armed += f",result.decided:1:kill:{ROOT}/1"
        return armed

    def in_epoch(self, number: int) -> Death:
        """Return the same death in another epoch of the launch."""
        return replace(self, epoch=number)


_AT_START: Final = (
    "root.before_epoch",
    "root.after_epoch",
    "root.configured",
    "root.watched",
    "root.introduced",
    "epoch.checked",
    "epoch.reserved",
    "epoch.applied",
    "epoch.committed",
    "highwater.before",
    "highwater.after",
)
"""Passed by the root once in each epoch: recovery passes them, too."""
_AT_WORK: Final = (
    "admit.applied",
    "admit.committed",
    "commit.after",
    "commit.before",
    "decide.applied",
    "decide.committed",
    "file.rename",
    "file.renamed",
    "file.sync",
    "file.write",
    "filesystem.sync",
    "lease.applied",
    "lease.committed",
    "mark.applied",
    "mark.committed",
    "publish.file",
    "publish.synced",
    "publish.written",
    "stats.fuzzer",
    "stats.plot",
    "stats.status",
)
"""Passed by the root again and again."""
_OF_COORDINATORS: Final = (
    "coordinator.turn",
    "coordinator.before_commit",
    "coordinator.after_commit",
    "coordinator.before_send",
    "coordinator.after_send",
    "result.received",
    "result.undecided",
    "result.decided",
)
_OF_WORKERS: Final = (
    "worker.before_send",
    "worker.received",
    "worker.result",
    "worker.run",
    "worker.sent",
    "worker.start_executor",
    "executor.started",
)
_SERVING: Final = ("turns.joined", "turns.committed", "turns.answered")
_ASKING: Final = ("peer.turn", "peer.turn_sent", "peer.turn_answered")
_AT_FIRST: Final = ("create.written", "create.named", "migrate.before", "migrate.step")
_OF_THE_LAUNCHER: Final = (
    "launcher.locked",
    "launcher.noted",
    "launcher.room_made",
    "launcher.before_mpirun",
    "launcher.started",
)
_AT_THE_END: Final = (
    "close.applied",
    "close.committed",
    "checkpoint.before",
    "checkpoint.after",
    "ledger.closed",
    "root.untold",
    "root.told",
)
_ONCE: Final = frozenset(
    {"admit.applied", "admit.committed", "filesystem.sync", "mark.applied", "mark.committed"}
    | {"publish.synced", "stats.fuzzer", "stats.plot", "worker.start_executor", "executor.started"}
)
"""Labels whose second passage a short launch may not come to."""


def deaths(coordinators: int) -> Iterator[Death]:
    """Yield every death that a launch with so many coordinators can meet."""
    worker = str(coordinators)  # the first one
    for label in _OF_THE_LAUNCHER:
        yield Death(label, LAUNCHER)
    yield from (
        Death(label, LAUNCHER, Way.DRAIN) for label in ("launcher.ended", "launcher.judged")
    )
    yield Death("launcher.restart", LAUNCHER, Way.CRASH)
    yield from (Death(label, ROOT, Way.FRESH) for label in (*_AT_FIRST, "readme.written"))
    yield from (Death(label, ROOT) for label in _AT_START)
    for label in (*_AT_WORK, *_OF_COORDINATORS):
        yield from _again(label, ROOT)
    for label in _OF_WORKERS:
        yield from _again(label, worker)
    yield from (Death(label, ROOT, Way.DRAIN) for label in _AT_THE_END)
    if coordinators > 1:
        for label in _OF_COORDINATORS:
            yield from _again(label, PEER)
        for label, place in [(one, ROOT) for one in _SERVING] + [(one, PEER) for one in _ASKING]:
            yield from _again(label, place)
        for label in ("takeover.applied", "takeover.committed"):
            yield Death(label, ROOT, Way.ORPHAN)
        yield Death("worker.adopted", str(coordinators + 1), Way.ORPHAN)


def recoveries() -> Iterator[Death]:
    """Yield the deaths of a root that has not yet recovered."""
    yield from (Death(label, ROOT) for label in (*_AT_START, "coordinator.turn", "lease.committed"))


def _again(label: str, place: str) -> Iterator[Death]:
    """Yield the first three passages of a point, and a process that stops there and goes on."""
    for occurrence in (1,) if label in _ONCE else (1, 2, 3):
        yield Death(label, place, occurrence=occurrence)
    yield Death(label, place, action="stop")
