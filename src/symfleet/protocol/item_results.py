"""What a result says of its items: the parts of `messages.Result`.

Numbers have no ranges here; `decision.py` checks them, because an absurd count makes the result
invalid, not its frame.
"""

from __future__ import annotations

import msgspec

from symfleet.protocol.ranges import Life, Text
from symfleet.types import InputId, Outcome, WorkId


class Flips(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attempts to negate a branch, by result."""

    sat: int = 0
    unsat: int = 0
    timeout: int = 0
    unknown: int = 0
    skipped: int = 0


class ChildReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One new input that an execution found. `data` is None when its reporter dropped the bytes.

    `edges` are packed little-endian u32, ascending: edge index * 8 + AFL bucket (stable ones).
    """

    digest: InputId
    data: bytes | None
    how: str
    site: int
    direction: int
    outcome: Outcome
    signal: int
    edges: bytes
    unstable: int
    wall_us: int


class Executed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="executed"):
    """One item ran to a verdict. `input_id` is recomputed from the bytes that the target got (A1),
    `work_id` from the item that was received; the coordinator's own ids win (L7)."""

    work_id: WorkId
    input_id: InputId
    outcome: Outcome
    exit_code: int
    signal: int
    edges: bytes
    unstable: int
    generated: int
    dropped: int
    children: tuple[ChildReport, ...]
    flips: Flips
    solved: dict[str, int]
    executions: int
    solver_us: int
    wall_us: int
    cpu_us: int
    rss_kib_max: int
    degraded: tuple[str, ...] = ()
    truncated: int | None = None
    reason: str | None = None
    opened: tuple[str, ...] = ()
    left_out: dict[str, int] = {}  # msgspec copies defaults
    """New inputs that a limit has cut off, by reason; only what is known can be counted."""


class Unsettled(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="unsettled"):
    """The item ran but there is no verdict (stalled, killed by an unexplained signal, cancelled by
    a drain): it goes back to pending, unblamed. `cause` is one of stalled, killed, cancelled."""

    work_id: WorkId
    input_id: InputId
    cause: str


class ExecutorDied(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="executor_died"):
    """A living worker saw its executor die or answer invalidly while running this item, neither
    killed nor stopped it, and says what the respawned one did in its self-test.

    `memory_evidence` tells whether a SIGKILL is explained by memory (cgroup or RSS)."""

    work_id: WorkId
    input_id: InputId
    executor: Life
    detail: Text
    signal: int
    memory_evidence: bool
    selftest_ok: bool


class NotRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="not_run"):
    """An item of a bundle that was not started (its bundle ended early): back to pending."""

    work_id: WorkId


ItemResult = Executed | Unsettled | ExecutorDied | NotRun
