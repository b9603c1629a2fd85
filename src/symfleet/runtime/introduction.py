"""The first frame that a worker gets: which campaign and epoch it belongs to.

Frames of the protocol carry campaign and epoch, which only the owner of the ledger knows once it
has opened it. So the root introduces itself with this before a worker can say hello.
"""

from __future__ import annotations

from typing import Final

import msgspec

from symfleet.clock import Clock
from symfleet.protocol.events import FrameReceived, RankLost
from symfleet.protocol.setup import Knobs
from symfleet.runtime.pace import Pace
from symfleet.transport.contract import Transport
from symfleet.types import CampaignId, Epoch

_WAIT_S: Final = 3600.0
"""Opening a large ledger after an unclean end may take long; the root's death ends the wait."""


class Introduction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a worker must know to make its machine."""

    campaign: CampaignId
    epoch: Epoch
    coordinator: int
    slots: int
    knobs: Knobs


class RootGone(Exception):
    """The root ended before it introduced itself."""


def encode_introduction(introduction: Introduction) -> bytes:
    """Return the bytes of the frame."""
    return msgspec.msgpack.encode(introduction)


def await_introduction(transport: Transport, root: int, clock: Clock) -> Introduction:
    """Wait for the root's first frame; raise RootGone when it dies or never speaks."""
    pace = Pace()
    deadline = clock.monotonic() + _WAIT_S
    while clock.monotonic() < deadline:
        for event in transport.receive(1, 1).events:
            match event:
                case FrameReceived(rank=rank, data=data) if rank == root:
                    return msgspec.msgpack.decode(data, type=Introduction)
                case RankLost(rank=rank) if rank == root:
                    raise RootGone
                case _:
                    continue
        clock.sleep(pace.idle(0.0, None))
    raise RootGone
