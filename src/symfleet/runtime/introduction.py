"""The first frame that a worker gets: which campaign and epoch it belongs to.

Frames of the protocol carry campaign and epoch, which only the owner of the ledger knows once it
has opened it. So the root introduces itself with this before a worker can say hello. A root that
cannot open its ledger dismisses its workers instead, and each of them acknowledges (Q4): a refused
campaign ends as orderly as a finished one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Final

import msgspec

from symfleet.clock import Clock
from symfleet.protocol.events import FrameReceived, RankLost
from symfleet.protocol.setup import Knobs
from symfleet.runtime.pace import Pace
from symfleet.transport.contract import NotSent, Transport
from symfleet.types import CampaignId, Epoch

_WAIT_S: Final = 3600.0
"""Opening a large ledger after an unclean end may take long; the root's death ends the wait."""

_FAREWELL_S: Final = 5.0


class Introduction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """What a worker must know to make its machine."""

    campaign: CampaignId
    epoch: Epoch
    coordinator: int
    slots: int
    knobs: Knobs


class Dismissal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """There will be no epoch: acknowledge and leave."""


class Farewell(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """A worker's acknowledgement of its dismissal."""


class RootGone(Exception):
    """The root ended before it introduced itself."""


_decoder: Final = msgspec.msgpack.Decoder(Introduction | Dismissal)


def encode_introduction(introduction: Introduction) -> bytes:
    """Return the bytes of the frame."""
    return msgspec.msgpack.encode(introduction)


def dismiss(transport: Transport, clock: Clock, grace_s: float) -> Sequence[int]:
    """Dismiss every other rank; return those that did not acknowledge within the grace."""
    waiting = {rank for rank in range(transport.size) if rank != transport.rank}
    for rank in waiting:
        with contextlib.suppress(NotSent):
            transport.send(rank, msgspec.msgpack.encode(Dismissal()))
    pace, missing = Pace(), set[int]()
    deadline = clock.monotonic() + grace_s
    while waiting and clock.monotonic() < deadline:
        for event in transport.receive(len(waiting), 1 << 10).events:
            if isinstance(event, RankLost) and event.rank in waiting:
                missing.add(event.rank)
            waiting.discard(event.rank)
        clock.sleep(pace.idle(0.0, None))
    return sorted(waiting | missing)


def say_farewell(transport: Transport, root: int, clock: Clock) -> None:
    """Acknowledge a dismissal, and see it on its way."""
    with contextlib.suppress(NotSent):
        transport.send(root, msgspec.msgpack.encode(Farewell()))
    pace, deadline = Pace(), clock.monotonic() + _FAREWELL_S
    while transport.unsent_bytes() and clock.monotonic() < deadline:
        transport.receive(1, 1)
        clock.sleep(pace.idle(0.0, None))


def await_introduction(transport: Transport, root: int, clock: Clock) -> Introduction | Dismissal:
    """Wait for the root's first frame; raise RootGone when it dies or never speaks."""
    pace = Pace()
    deadline = clock.monotonic() + _WAIT_S
    while clock.monotonic() < deadline:
        for event in transport.receive(1, 1).events:
            match event:
                case FrameReceived(rank=rank, data=data) if rank == root:
                    return _decoder.decode(data)
                case RankLost(rank=rank) if rank == root:
                    raise RootGone
                case _:
                    continue
        clock.sleep(pace.idle(0.0, None))
    raise RootGone
