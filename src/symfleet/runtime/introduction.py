"""The first frames that a rank gets: who it is in this campaign and epoch.

Only the root reads the launcher's plan and owns the ledger. Every other rank learns everything from
it: after the roll call (see `roll_call`) a worker gets an `Introduction`, a coordinator a
`PeerIntroduction` with the configuration, the sources that it scans and the coverage so far, which
follows in pieces. A root that cannot open its ledger, or that has called a stranger, dismisses its
ranks instead, and each of them acknowledges (Q4): a refused campaign ends as orderly as a finished
one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import random
import socket
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from symfleet.clock import Clock
from symfleet.config.ledger_address import LedgerAccess
from symfleet.config.model import CampaignConfig, Output
from symfleet.errors import DataError
from symfleet.protocol.answers import EpochOpening
from symfleet.protocol.events import CoordinatorEvent, FrameReceived, RankLost
from symfleet.protocol.pieces import PIECE_BYTES_MAX, split
from symfleet.protocol.setup import Knobs, Peer, WorkerSetup
from symfleet.runtime.identity import new_incarnation, python_version, version
from symfleet.runtime.layout import ROOT_RANK
from symfleet.runtime.pace import Pace
from symfleet.runtime.places import Folders
from symfleet.runtime.roll_call import Call, present
from symfleet.transport.contract import NotSent, Transport
from symfleet.types import CampaignId, Epoch, GenerationId, Incarnation

_WAIT_S: Final = 3600.0
"""Opening a large ledger after an unclean end may take long; the root's death ends the wait."""

_PRESENT_S: Final = 5.0
_FAREWELL_S: Final = 5.0


class Introduction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """What a worker must know to make its machine."""

    campaign: CampaignId
    epoch: Epoch
    coordinator: int
    """Rank of the one that it serves."""
    slots: int
    knobs: Knobs
    folders: Folders
    output: Output

    def setup(self, rank: int, draw: random.Random) -> WorkerSetup:
        """Return what the machine of this worker is made from."""
        return WorkerSetup(
            campaign=self.campaign,
            epoch=self.epoch,
            rank=rank,
            coordinator=self.coordinator,
            root=ROOT_RANK,
            incarnation=new_incarnation(),
            slots=self.slots,
            version=version(),
            host=socket.gethostname(),
            pid=os.getpid(),
            python=python_version(),
            random=draw,
            knobs=self.knobs,
        )


class Nomination(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """This rank will be a coordinator: it loads what it needs while the ledger is opened, so that
    it is not late when work is handed out."""

    attaches: bool
    """Whether it may write to a server by itself."""


class SourcePlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A source that a coordinator scans: its number in the ledger and where it is."""

    source: int
    path: str
    consumed: bool = False
    """Whether files go away once they are admitted: the inbox."""


class PeerIntroduction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """What a coordinator that is not the root must know to make its machine."""

    campaign: CampaignId
    epoch: Epoch
    number: int
    incarnation: Incarnation
    """Chosen by the root, which takes turns of no other life."""
    peers: tuple[Peer, ...]
    workers: tuple[int, ...]
    slots: dict[int, int]
    knobs: Knobs
    folders: Folders
    config: CampaignConfig
    program: str
    generation: GenerationId
    sources: tuple[SourcePlace, ...]
    opening: EpochOpening
    """Without its coverage, which follows."""
    may_restart: bool
    pieces: int
    """How many KnowledgePiece frames follow."""
    access: LedgerAccess | None = None
    """To write to the ledger without the root in between; None: turns go through the root."""


class KnowledgePiece(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """A piece of the coverage that the campaign has."""

    edges: bytes


class Present(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """A coordinator stands and reaches the ledger: its workers may come."""


class Dismissal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """There will be no epoch: acknowledge and leave."""

    reason: str


class Farewell(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """A rank's acknowledgement of its dismissal."""


class RootGone(Exception):
    """The root has ended, or wants nothing more of this rank."""


_PRESENT: Final = msgspec.msgpack.encode(Present())
FirstWords = Introduction | PeerIntroduction | Dismissal
_Words = Call | Nomination | KnowledgePiece | FirstWords
_decoder: Final = msgspec.msgpack.Decoder(_Words)


# ---- the root -----------------------------------------------------------------------------------


def encode_introduction(introduction: Introduction) -> bytes:
    """Return the bytes of the frame."""
    return msgspec.msgpack.encode(introduction)


def nominate(transport: Transport, ranks: Sequence[int], *, attaches: bool) -> None:
    """Tell those that will be coordinators."""
    for rank in ranks:
        with contextlib.suppress(NotSent):  # it is lost, and the machine hears of that
            transport.send(rank, msgspec.msgpack.encode(Nomination(attaches)))


def peer_frames(introduction: PeerIntroduction) -> list[bytes]:
    """Return the frames of an introduction whose opening holds the whole coverage."""
    edges = split(introduction.opening.knowledge, PIECE_BYTES_MAX)
    opening = msgspec.structs.replace(
        introduction,
        opening=_with_knowledge(introduction.opening, b""),
        pieces=len(edges),
    )
    return [msgspec.msgpack.encode(one) for one in (opening, *map(KnowledgePiece, edges))]


def _with_knowledge(opening: EpochOpening, edges: bytes) -> EpochOpening:
    return dataclasses.replace(opening, knowledge=edges)


def await_present(
    transport: Transport, clock: Clock, ranks: Iterable[int]
) -> tuple[list[FrameReceived | RankLost], set[int]]:
    """Wait until these coordinators stand, so that none is late when work is handed out; return
    what else has arrived, and who has neither said so nor died: they are not waited for, and their
    word comes later (`without_late_words`)."""
    waiting, rest = set(ranks), list[FrameReceived | RankLost]()
    pace, deadline = Pace(), clock.monotonic() + _PRESENT_S
    while waiting and clock.monotonic() < deadline:
        for event in transport.receive(len(waiting), 1 << 20).events:
            if isinstance(event, FrameReceived) and event.data == _PRESENT:
                waiting.discard(event.rank)
                continue
            if isinstance(event, RankLost):
                waiting.discard(event.rank)
            rest.append(event)
        clock.sleep(pace.idle(0.0, None))
    return rest, waiting


def without_late_words(
    events: Sequence[CoordinatorEvent], late: set[int]
) -> Sequence[CoordinatorEvent]:
    """Return events without the first words of coordinators that were not waited for any more: a
    slow one has done nothing wrong. Each is taken out of `late`."""
    if not late:
        return events
    kept = list[CoordinatorEvent]()
    for event in events:
        if isinstance(event, FrameReceived) and event.rank in late and event.data == _PRESENT:
            late.discard(event.rank)
        else:
            kept.append(event)
    return kept


def dismiss(transport: Transport, clock: Clock, grace_s: float, reason: str = "") -> Sequence[int]:
    """Dismiss every other rank; return those that did not acknowledge within the grace."""
    waiting = {rank for rank in range(transport.size) if rank != transport.rank}
    for rank in waiting:
        with contextlib.suppress(NotSent):
            transport.send(rank, msgspec.msgpack.encode(Dismissal(reason)))
    pace, missing = Pace(), set[int]()
    deadline = clock.monotonic() + grace_s
    farewell = msgspec.msgpack.encode(Farewell())
    while waiting and clock.monotonic() < deadline:
        for event in transport.receive(len(waiting), 1 << 10).events:
            if isinstance(event, RankLost):
                missing |= waiting & {event.rank}
            elif event.data != farewell:
                continue  # an answer to the roll call that nobody waits for any more
            waiting.discard(event.rank)
        clock.sleep(pace.idle(0.0, None))
    return sorted(waiting | missing)


# ---- every other rank ---------------------------------------------------------------------------


def say_present(transport: Transport) -> None:
    """Tell the root that this coordinator stands."""
    with contextlib.suppress(NotSent):
        transport.send(ROOT_RANK, _PRESENT)


def say_farewell(transport: Transport, root: int, clock: Clock) -> None:
    """Acknowledge a dismissal, and see it on its way."""
    with contextlib.suppress(NotSent):
        transport.send(root, msgspec.msgpack.encode(Farewell()))
    pace, deadline = Pace(), clock.monotonic() + _FAREWELL_S
    while transport.unsent_bytes() and clock.monotonic() < deadline:
        transport.receive(1, 1, root)
        clock.sleep(pace.idle(0.0, None))


def await_introduction(transport: Transport, clock: Clock) -> FirstWords:
    """Answer the roll call, and wait for what the root makes of this rank; raise RootGone when it
    dies or never speaks. What other ranks say meanwhile waits in the transport."""
    while True:
        heard = _next_words(transport, clock)
        match heard:
            case Call(program=program):
                answer = msgspec.msgpack.encode(present(program))
                with contextlib.suppress(NotSent):
                    transport.send(ROOT_RANK, answer)
            case Nomination(attaches=attaches):
                importlib.import_module("symfleet.runtime.peer")
                if attaches:
                    importlib.import_module("symfleet.ledger.postgres_attached")
            case PeerIntroduction():
                return _with_pieces(heard, transport, clock)
            case Introduction() | Dismissal():
                return heard
            case KnowledgePiece():
                raise _unexpected(heard)


def _with_pieces(
    introduction: PeerIntroduction, transport: Transport, clock: Clock
) -> PeerIntroduction:
    edges: list[bytes] = []
    for _ in range(introduction.pieces):
        heard = _next_words(transport, clock)
        if not isinstance(heard, KnowledgePiece):
            raise _unexpected(heard)
        edges.append(heard.edges)
    whole = _with_knowledge(introduction.opening, b"".join(edges))
    return msgspec.structs.replace(introduction, opening=whole)


def _unexpected(heard: object) -> DataError:
    return DataError(
        "the root's introduction makes no sense", where=type(heard).__name__, why="out of order"
    )


def _next_words(transport: Transport, clock: Clock) -> _Words:
    pace = Pace()
    deadline = clock.monotonic() + _WAIT_S
    while clock.monotonic() < deadline:
        for event in transport.receive(1, 1, ROOT_RANK).events:
            match event:
                case FrameReceived(data=data):
                    words: _Words = _decoder.decode(data)
                    return words
                case RankLost():
                    raise RootGone
        clock.sleep(pace.idle(0.0, None))
    raise RootGone
