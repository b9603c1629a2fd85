"""Messages between coordinators and workers: the bodies of frames.

Each is a frozen, tagged MessagePack map that refuses unknown fields. The frame header around it
(`codec.py`) carries campaign, epoch, sender, slot incarnation, dispatch token, length and CRC.

Numbers that a receiver stores, adds up, waits for or sends on have a range here, so that a body
with others does not fit its kind. What a result says of its items is in `item_results.py`.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from symfleet.protocol.item_results import ChildReport, ItemResult
from symfleet.protocol.ranges import (
    Count,
    Life,
    Period,
    RankNumber,
    Text,
    Wait,
    require_edges,
)
from symfleet.types import DispatchToken, WorkId


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="t"):
    """Base of all message bodies."""


# ---- worker to coordinator ----------------------------------------------------------------------


class Hello(Message, frozen=True, tag="hello"):
    """First frame of a worker: who it is and which slot incarnations it has, in slot order."""

    version: Text
    host: Text
    pid: Count
    worker: Life
    slots: tuple[Life, ...]
    engine: Text
    build: Text
    edges: Count
    python: Text


class Ready(Message, frozen=True, tag="ready"):
    """The slot has places. `completed` is the token of the delivery that it finished last (J1).

    `knowledge` is the version of the coverage knowledge that the worker holds. Both are `object`
    because a malformed one is classified and quarantined, not refused by the decoder."""

    completed: object = None
    knowledge: object = 0


class Started(Message, frozen=True, tag="started"):
    """The first item of the header's delivery began to run."""


class Progress(Message, frozen=True, tag="progress"):
    """The executor's counter moved since the last Progress of this delivery."""

    counter: Count


class Part(Message, frozen=True, tag="part"):
    """Some children of one item of a large result, ahead of its Result. `number` counts from 0
    over the whole Result; `item` is the item's place in the Work frame."""

    number: int
    item: int
    children: tuple[ChildReport, ...]


class Result(Message, frozen=True, tag="result"):
    """Everything that a delivery yielded, one entry per item in the order of the Work frame.

    `parts` is the number of Part frames that came before; their children come before those in
    `items`. `children_digest` is the SHA-256 over all child digests (hex) concatenated in this
    order, item by item, so that a lost Part is noticed."""

    items: tuple[ItemResult, ...]
    parts: int = 0
    children_digest: str = ""


NO_PLACE: Final = "limits: no place is left"
"""The one reason of a Refused that says nothing about the items."""


class Refused(Message, frozen=True, tag="refused"):
    """The worker cannot accept a Work: schema, digest of the bytes, or limits."""

    reason: Text


class WorkerFault(Message, frozen=True, tag="worker_fault"):
    """The worker's engine cannot run on this host at all (`failure` of the executor protocol)."""

    reason: Text
    message: Text
    hint: Text


class StopAck(Message, frozen=True, tag="stop_ack"):
    """The worker has stopped its slots and reports that nothing of it is left running (Q4)."""

    slots: Count


# ---- coordinator to worker ----------------------------------------------------------------------


class EngineSetup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a worker needs to start its executors."""

    engine: tuple[str, ...]
    """Command line that speaks the executor protocol."""
    argv: tuple[str, ...]
    input_mode: str
    keep: str
    limits: dict[str, Count]
    seed: int
    env: dict[str, str]

    def __post_init__(self) -> None:
        words = (*self.engine, *self.argv, *self.env, *self.env.values())
        if not self.engine or any("\0" in word for word in words):
            raise ValueError("a command line is words without NUL, one at least")


class Welcome(Message, frozen=True, tag="welcome"):
    """Answer to Hello."""

    version: str
    coordinator: Life
    setup: EngineSetup
    prefetch: int
    progress_s: Period
    repeat_s: Period
    hard_limit_s: Period


class WorkEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One item of a delivery: its canonical payload and the bytes of its input."""

    work_id: WorkId
    payload: bytes
    data: bytes
    solitary: bool = False


class Work(Message, frozen=True, tag="work"):
    """One delivery; its token stands in the frame header."""

    items: tuple[WorkEntry, ...]


class Accepted(Message, frozen=True, tag="accepted"):
    """The coordinator has read the Result (or Ready) of this token; no repetition is needed.

    `disposition` is one of decided, recovered, stale, idle, stopped. The last two answer a Ready
    that completes nothing and a StopAck; their token is 64 zeros, which no delivery has."""

    token: DispatchToken
    disposition: str


class Knowledge(Message, frozen=True, tag="knowledge"):
    """Coverage that the campaign has. `base` is the version it adds to; 0 is a full snapshot."""

    base: Count
    version: Count
    edges: bytes

    def __post_init__(self) -> None:
        require_edges(self.edges)


class Beat(Message, frozen=True, tag="beat"):
    """The sender lives. A coordinator sends it when it has sent nothing else for a while
    (root_silence_s); a worker answers it, so that each knows of the other."""


class ResetSlot(Message, frozen=True, tag="reset_slot"):
    """Kill what runs in the header's slot and come back as a new incarnation (Hello)."""


class Stop(Message, frozen=True, tag="stop"):
    """End. With `drain_s` > 0 running items may finish for that long; then they are killed."""

    drain_s: Wait


class Refuse(Message, frozen=True, tag="refuse"):
    """The receiver does not belong here: the sender of a Hello of another version or campaign (E21,
    both are named), or a coordinator that was given up and came back."""

    reason: Text


# ---- between coordinators -----------------------------------------------------------------------


class Prepare(Message, frozen=True, tag="prepare"):
    """Ask every coordinator to flush, rescan, give back and vote (Q1)."""

    round: Count
    members: Text
    changes: Count


class Vote(Message, frozen=True, tag="vote"):
    """Answer to Prepare; it names what was voted on."""

    round: Count
    members: Text
    changes: Count
    idle: bool
    reason: Text


class VoteVoid(Message, frozen=True, tag="vote_void"):
    """The root ends a round without COMMIT: every YES of it is void."""

    round: Count
    why: Text


class News(Message, frozen=True, tag="news"):
    """What a coordinator knows that the others should: the ledger as of its newest answers, its own
    fleet, and the edges that its decisions were the first to show since its last News.

    `changes` grows with everything that happens in the ledger, so of two News the one with more
    is the newer, whoever sent it. Of its workers (`known` in all) `workers` live and `waiting` have
    not said Hello; of the `slots` of those that ever did, `usable` are not lost; `places` wait for
    work and `in_flight` deliveries are under way. `paused` says why all its hosts are paused, ""
    while one runs. `faulty`: it counted a fault. `renewing` and `lost`, the numbers of coordinators
    that are members no more, count from the root only."""

    changes: Annotated[int, msgspec.Meta(ge=-1, le=2**63 - 1)]
    pending: Count
    open_work: Count
    leased: Count
    last_artefact: Count
    edges: bytes
    known: Count
    workers: Count
    waiting: Count
    slots: Count
    usable: Count
    places: Count
    in_flight: Count
    paused: Text
    faulty: bool
    renewing: bool = False
    lost: tuple[Count, ...] = ()

    def __post_init__(self) -> None:
        require_edges(self.edges)


class EndEpoch(Message, frozen=True, tag="end_epoch"):
    """The root ends the epoch: stop your workers, write what is left, say Closed."""

    reason: Text
    drain_s: Wait
    control: bool
    restart: bool


class Closed(Message, frozen=True, tag="closed"):
    """A coordinator's last word: its acknowledgements, in slots, are in the ledger (Q4)."""

    acknowledged: Count
    total: Count
    missing: tuple[Text, ...]
    faulty: bool


class PeerFailed(Message, frozen=True, tag="peer_failed"):
    """A control failure (69, 70, 74) at a coordinator that is not the root: the job ends."""

    exit_code: Annotated[int, msgspec.Meta(ge=1, le=255)]
    what: Text
    where: Text
    why: Text
    hint: Text


class Adopt(Message, frozen=True, tag="adopt"):
    """The root tells a worker whose coordinator is lost whom it serves from now on (a rank): kill
    what runs, take new slot incarnations, say Hello there."""

    coordinator: RankNumber


class Orphans(Message, frozen=True, tag="orphans"):
    """The root tells a coordinator which workers (ranks) of a lost one will say Hello to it."""

    workers: tuple[RankNumber, ...]


class Turn(Message, frozen=True, tag="turn"):
    """A piece of a coordinator's turn, for the owner of the ledger. `number` counts the turns of
    this coordinator from 1; `data` is piece `piece` of `pieces` of the encoded operations."""

    number: Count
    piece: Count
    pieces: Count
    data: bytes


class TurnAnswer(Message, frozen=True, tag="turn_answer"):
    """A piece of the owner's answer to the Turn of that number."""

    number: Count
    piece: Count
    pieces: Count
    data: bytes


class SlotsSeen(Message, frozen=True, tag="slots_seen"):
    """What a coordinator's slots look like, for the root's status: an encoded snapshot."""

    data: bytes


AnyMessage = (
    Hello
    | Ready
    | Started
    | Progress
    | Part
    | Result
    | Refused
    | WorkerFault
    | StopAck
    | Welcome
    | Work
    | Accepted
    | Knowledge
    | Beat
    | ResetSlot
    | Stop
    | Refuse
    | Prepare
    | Vote
    | Turn
    | TurnAnswer
    | SlotsSeen
    | VoteVoid
    | News
    | EndEpoch
    | Closed
    | PeerFailed
    | Adopt
    | Orphans
)
