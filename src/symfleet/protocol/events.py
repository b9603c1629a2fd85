"""What the loops tell the machines, and what the machines ask the loops to do.

A turn of a coordinator: `begin_turn(now, events, drained)` returns ledger operations; the loop
runs them in one transaction; `end_turn(answers)` returns actions; the loop carries them out.
Nothing that depends on a decision leaves the process before its transaction is durable (C1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from symfleet.protocol.item_results import Executed
from symfleet.protocol.messages import EngineSetup
from symfleet.protocol.operations import Admission, RecordAck
from symfleet.types import DispatchToken, Incarnation, WorkId

# ---- events for a coordinator -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FrameReceived:
    """Raw bytes from a rank, in arrival order; the machine opens and judges them."""

    rank: int
    data: bytes


@dataclass(frozen=True, slots=True)
class TurnRefused:
    """The owner of the ledger got something from another coordinator that is no turn which may come
    next, or asks for what it may not."""

    rank: int
    why: str


@dataclass(frozen=True, slots=True)
class RankLost:
    """The transport reports that a rank has died (ULFM), or the loop gave it up."""

    rank: int


@dataclass(frozen=True, slots=True)
class SendFailed:
    """A Send action raised: the delivery counts as not delivered."""

    rank: int
    token: DispatchToken | None


@dataclass(frozen=True, slots=True)
class SourceBatch:
    """Inputs that a scan found (not marked as seen until the answer says Admitted)."""

    source: int
    entries: tuple[Admission, ...]
    skips: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ScanFinished:
    """A scan ended: every SourceBatch of it came before. `round` is that of the Scan action."""

    source: int
    round: int


@dataclass(frozen=True, slots=True)
class SinkAdvanced:
    """A publisher has made artefacts durable up to a number. `repaired`: files that were there
    with other bytes and were replaced; they count as projection_repaired."""

    sink: int
    incarnation: Incarnation
    published_from: int
    published_upto: int
    repaired: int = 0


@dataclass(frozen=True, slots=True)
class PublishFailed:
    """Publication, or what the ledger does between turns, met an error that retrying does not mend
    (exit code as of its family)."""

    exit_code: int
    message: str


@dataclass(frozen=True, slots=True)
class StopRequested:
    """Somebody or a stop rule asks for the end. `drain_s` 0 is the hard stop. `restart`: without a
    verdict, so that the launcher opens the next epoch."""

    reason: str
    exit_code: int
    drain_s: float
    restart: bool = False


CoordinatorEvent = (
    FrameReceived
    | TurnRefused
    | RankLost
    | SendFailed
    | SourceBatch
    | ScanFinished
    | SinkAdvanced
    | PublishFailed
    | StopRequested
)

# ---- actions of a coordinator -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    """Send one sealed frame. `token` names the delivery when the message is Work: the loop reports
    `sent(token)` after the send returned or a SendFailed event."""

    rank: int
    frame: bytes
    token: DispatchToken | None = None


@dataclass(frozen=True, slots=True)
class ConfirmAdmitted:
    """The entries of this SourceBatch are durable: the source may mark them as seen."""

    source: int
    origins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scan:
    """Scan the source again now (PREPARE) and answer with ScanFinished(round)."""

    source: int
    round: int


@dataclass(frozen=True, slots=True)
class Publish:
    """Artefacts exist up to this number: publish them. `flush` asks for it at once."""

    upto: int
    flush: bool = False


@dataclass(frozen=True, slots=True)
class GiveUpRank:
    """A rank does not answer any more: end it if that is possible; a RankLost event follows."""

    rank: int


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth a log line and, by level, a line on the screen."""

    level: Literal["info", "warning", "error"]
    event: str
    detail: dict[str, str]


@dataclass(frozen=True, slots=True)
class Finish:
    """The epoch is over and closed in the ledger: leave with this code.

    `restart`: workers were lost; the epoch row has no verdict, so that the launcher opens the next
    epoch with all slots."""

    reason: str
    exit_code: int
    restart: bool = False
    acks: tuple[RecordAck, ...] = ()
    """Those of each coordinator, as far as this one knows: the ledger may not have taken them."""
    missing: tuple[str, ...] = ()
    """Everybody who was not acknowledged (Q4)."""


CoordinatorAction = Send | ConfirmAdmitted | Scan | Publish | GiveUpRank | Note | Finish

# ---- events and actions of a worker -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExecutorReady:
    """The slot's executor is up: `ready` of the executor protocol."""

    slot: int
    executor: Incarnation
    engine: str
    build: str
    edges: int


@dataclass(frozen=True, slots=True)
class ExecutorFailed:
    """The slot's executor said `failure` or could not be started. The loop has ended what is left
    of it; no ExecutorGone needs to follow."""

    slot: int
    reason: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class ExecutorProgress:
    """The executor's counter."""

    slot: int
    counter: int


@dataclass(frozen=True, slots=True)
class ExecutionDone:
    """The executor finished the item that was started last on the slot."""

    slot: int
    result: Executed


@dataclass(frozen=True, slots=True)
class ExecutorGone:
    """The slot's executor ended. `asked`: this worker killed or stopped it. `invalid`: it lives or
    died after an answer that makes no sense."""

    slot: int
    executor: Incarnation
    detail: str
    signal: int
    asked: bool
    memory_evidence: bool


@dataclass(frozen=True, slots=True)
class SelfTestDone:
    """The respawned executor answered (or failed to answer) the self-test."""

    slot: int
    ok: bool
    message: str


@dataclass(frozen=True, slots=True)
class DrainRequested:
    """This rank got a signal, or its coordinator is silent for too long."""

    reason: str


WorkerEvent = (
    FrameReceived
    | RankLost
    | ExecutorReady
    | ExecutorFailed
    | ExecutorProgress
    | ExecutionDone
    | ExecutorGone
    | SelfTestDone
    | DrainRequested
)


@dataclass(frozen=True, slots=True)
class StartExecutor:
    """Start (or start again) the slot's executor under this incarnation."""

    slot: int
    executor: Incarnation
    setup: EngineSetup
    selftest: bool


@dataclass(frozen=True, slots=True)
class RunItem:
    """Run one item on the slot's executor."""

    slot: int
    work_id: WorkId
    data: bytes
    payload: bytes
    solitary: bool


@dataclass(frozen=True, slots=True)
class TellKnowledge:
    """Pass campaign coverage on to every executor of this worker."""

    edges: bytes


@dataclass(frozen=True, slots=True)
class KillExecutor:
    """Kill the slot's executor and everything below it; an ExecutorGone(asked) follows."""

    slot: int


@dataclass(frozen=True, slots=True)
class Leave:
    """All is stopped and said: leave the process with this code."""

    exit_code: int
    reason: str


WorkerAction = Send | StartExecutor | RunItem | TellKnowledge | KillExecutor | Note | Leave
