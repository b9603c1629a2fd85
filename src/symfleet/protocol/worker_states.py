"""States of a worker's slot, and what each executor event does in each of them.

    WAITING ──welcome──> STARTING ──ready──> IDLE <──done── RUNNING
                            ^  ^               │ work          │
                            │  └───────────────┴──── gone ─────┤ (blame evidence: via TESTING)
                         TESTING <── gone while running ───────┘
    KILLING: an executor was told to die (hard limit, reset, end); `gone` says what comes next.
    BROKEN: the engine cannot run here; only a reset tries again.  STOPPED: nothing is left.

The table is the one that runs: a pair (state, event) that is not in it is a violation by our own
loop, which alone makes these events, and raises with the slot's story. An `ignored` pair is a
crossing that can happen in a sound run, such as a last progress line of an executor that was
killed.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from symfleet.protocol.events import (
    ExecutionDone,
    ExecutorFailed,
    ExecutorGone,
    ExecutorProgress,
    ExecutorReady,
    SelfTestDone,
)
from symfleet.protocol.item_results import Executed, Flips, ItemResult
from symfleet.protocol.messages import WorkEntry
from symfleet.types import DispatchToken, Outcome, WorkId, input_id_of

_What = TypeVar("_What")

REPEAT_S_MAX: Final = 60.0
"""Longest wait before something is said again, unless `repeat_s` itself is longer."""


@dataclass(frozen=True, slots=True)
class Unanswered(Generic[_What]):
    """Something that is said until it is answered. Each wait is twice the one before: a coordinator
    that answers late has the first copy in its queue, and more of them only make it later."""

    what: _What
    wait_s: float
    again_at: float

    @classmethod
    def said(cls, what: _What, now: float, wait_s: float) -> Unanswered[_What]:
        """Return it as said for the first time."""
        return cls(what, wait_s, now + wait_s)

    def repeated(self, now: float) -> Unanswered[_What]:
        """Return it as said once more."""
        wait_s = max(self.wait_s, min(2 * self.wait_s, REPEAT_S_MAX))
        return Unanswered(self.what, wait_s, now + wait_s)


class SlotState(enum.StrEnum):
    """States of a worker's slot."""

    WAITING = "waiting"
    STARTING = "starting"
    TESTING = "testing"
    IDLE = "idle"
    RUNNING = "running"
    KILLING = "killing"
    BROKEN = "broken"
    STOPPED = "stopped"


class KillReason(enum.StrEnum):
    """Why an executor was told to die."""

    HARD_LIMIT = "hard limit"
    RESET = "reset"
    BROKEN = "broken"
    STOP = "stop"


ExecutorEvent = (
    ExecutorReady | ExecutorFailed | ExecutorProgress | ExecutionDone | ExecutorGone | SelfTestDone
)

_S = SlotState
IGNORED: Final = "ignored"
TABLE: Final[dict[tuple[SlotState, type[ExecutorEvent]], str]] = {
    (_S.STARTING, ExecutorReady): "up",
    (_S.STARTING, ExecutorFailed): "cannot_run",
    (_S.STARTING, ExecutorGone): "died_early",
    (_S.TESTING, ExecutorReady): "test_begins",
    (_S.TESTING, ExecutorFailed): "cannot_run",
    (_S.TESTING, ExecutorGone): "test_died",
    (_S.TESTING, SelfTestDone): "tested",
    (_S.IDLE, ExecutorProgress): IGNORED,
    (_S.IDLE, ExecutorGone): "died_idle",
    (_S.RUNNING, ExecutorFailed): "cannot_go_on",
    (_S.RUNNING, ExecutorProgress): "progress",
    (_S.RUNNING, ExecutionDone): "item_done",
    (_S.RUNNING, ExecutorGone): "died_running",
    (_S.KILLING, ExecutorReady): IGNORED,
    (_S.KILLING, ExecutorFailed): IGNORED,
    (_S.KILLING, ExecutorProgress): IGNORED,
    (_S.KILLING, ExecutionDone): IGNORED,
    (_S.KILLING, SelfTestDone): IGNORED,
    (_S.KILLING, ExecutorGone): "killed",
    (_S.BROKEN, ExecutorFailed): IGNORED,
    (_S.BROKEN, ExecutorGone): IGNORED,
    (_S.STOPPED, ExecutorFailed): IGNORED,
    (_S.STOPPED, ExecutorGone): IGNORED,
}


@dataclass(slots=True)
class Assignment:
    """A delivery on the worker's side."""

    token: DispatchToken
    entries: tuple[WorkEntry, ...]
    work_ids: tuple[WorkId, ...]
    """Recomputed from the payloads that arrived."""
    done: list[ItemResult] = field(default_factory=list)
    held_bytes: int = 0
    """What these take in a RESULT, children aside."""
    moves: int = 0
    """Signs of progress so far."""
    told: int = 0
    """Signs of progress that the coordinator was told of."""
    told_at: float = 0.0

    @property
    def next_item(self) -> int:
        """Place of the item that runs, or is to run next."""
        return len(self.done)


@dataclass(slots=True)
class Timing:
    """What Welcome said."""

    progress_s: float
    repeat_s: float
    hard_limit_s: float
    places: int


def timed_out(work_id: WorkId, entry: WorkEntry, hard_limit_s: float) -> Executed:
    """Return the verdict on an item whose executor was killed at the hard limit."""
    return Executed(
        work_id=work_id,
        input_id=input_id_of(entry.data),
        outcome=Outcome.TIMEOUT,
        exit_code=0,
        signal=0,
        edges=b"",
        unstable=0,
        generated=0,
        dropped=0,
        children=(),
        flips=Flips(),
        solved={},
        executions=1,
        solver_us=0,
        wall_us=int(hard_limit_s * 1e6),
        cpu_us=0,
        rss_kib_max=0,
        degraded=("time",),
        reason="hard_limit",
    )
