"""Judging what other coordinators say.

Which message may come from whom stands in TABLE. Anything else is a violation: counted, noted with
the story, and without effect. Frames of a worker that is to be adopted may come before the root's
word of it; its Hello is believed, because only the root sends workers away.
"""

from __future__ import annotations

import enum
from typing import Final

from symfleet.errors import SymfleetError
from symfleet.protocol.codec import Frame, FrameFault, fault_of
from symfleet.protocol.core import Core, Ending
from symfleet.protocol.messages import (
    Closed,
    EndEpoch,
    Hello,
    Message,
    News,
    Orphans,
    PeerFailed,
    Prepare,
    Refuse,
    Vote,
    VoteVoid,
)
from symfleet.protocol.news import Newsroom
from symfleet.protocol.peers import PeerPhase, PeerRecord
from symfleet.protocol.quiescence import Quiescence
from symfleet.protocol.takeover import Takeover


class Way(enum.Enum):
    """From whom to whom."""

    FROM_ROOT = "from the root"
    TO_ROOT = "to the root"
    ANY = "between any two"


TABLE: Final[dict[type[Message], tuple[Way, str]]] = {
    News: (Way.ANY, "news"),
    Prepare: (Way.FROM_ROOT, "prepare"),
    VoteVoid: (Way.FROM_ROOT, "vote_void"),
    EndEpoch: (Way.FROM_ROOT, "end_epoch"),
    Orphans: (Way.FROM_ROOT, "orphans"),
    Refuse: (Way.FROM_ROOT, "refuse"),
    Vote: (Way.TO_ROOT, "vote"),
    Closed: (Way.TO_ROOT, "closed"),
    PeerFailed: (Way.TO_ROOT, "failed"),
}


class PeerFrames:
    """Takes frames of ranks that are not this coordinator's workers."""

    def __init__(
        self, core: Core, newsroom: Newsroom, vote: Quiescence, takeover: Takeover
    ) -> None:
        self._core = core
        self._newsroom = newsroom
        self._vote = vote
        self._takeover = takeover

    def frame(self, rank: int, data: bytes) -> bool:
        """Judge one frame; return True when it is an adopted worker's, for the intake to judge."""
        core = self._core
        opened = core.codec.open(data)
        fault = fault_of(opened, rank)
        if isinstance(opened, Frame) and fault is None:
            peer = core.peers.by_rank.get(rank)
            if peer is not None and self._take(peer, opened.message):
                return False
            if rank in core.setup.adoptable:
                if isinstance(opened.message, Hello):
                    self._takeover.adopt(rank)
                if rank in core.fleet.workers:
                    return True
        core.outbox.fault("quarantined_frames", fault or FrameFault.SENDER)
        core.violation(rank, "frame of a rank that does not speak to this coordinator so")
        return False

    def _take(self, peer: PeerRecord, message: Message) -> bool:
        core = self._core
        row = TABLE.get(type(message))
        if row is None:
            return False
        way, name = row
        if way is Way.FROM_ROOT and peer.number != 0:
            return False
        if way is Way.TO_ROOT and core.setup.number != 0:
            return False
        if isinstance(message, Closed) and core.ending is None:
            return False  # it may hold leases that nobody would take over
        if peer.phase is PeerPhase.LOST:
            if core.setup.number == 0:
                self._takeover.refuse(peer)
            return True
        peer.heard_at = core.now
        getattr(self, f"_on_{name}")(peer, message)
        return True

    def _on_news(self, peer: PeerRecord, news: News) -> None:
        self._newsroom.hear(peer, news)

    def _on_prepare(self, _: PeerRecord, prepare: Prepare) -> None:
        self._vote.prepare_asked(prepare)

    def _on_vote(self, peer: PeerRecord, vote: Vote) -> None:
        self._vote.vote_cast(peer.rank, vote)

    def _on_vote_void(self, _: PeerRecord, void: VoteVoid) -> None:
        self._vote.void_asked(void)

    def _on_end_epoch(self, _: PeerRecord, end: EndEpoch) -> None:
        self._core.end(Ending(end.reason, 0, end.drain_s, end.control, end.restart))

    def _on_orphans(self, _: PeerRecord, orphans: Orphans) -> None:
        for rank in orphans.workers:
            self._takeover.adopt(rank)

    def _on_refuse(self, _: PeerRecord, refuse: Refuse) -> None:
        self._core.left = self._core.left or refuse.reason

    def _on_closed(self, peer: PeerRecord, closed: Closed) -> None:
        peer.closed = closed
        self._core.peers.end(peer, PeerPhase.CLOSED)

    def _on_failed(self, peer: PeerRecord, failed: PeerFailed) -> None:
        """A control failure at a peer ends the job like one of the root's."""
        core = self._core
        core.note(
            "error",
            "coordinator_failed",
            coordinator=peer.name,
            what=failed.what,
            where=failed.where,
            why=failed.why,
            hint=failed.hint,
        )
        error = SymfleetError(failed.what, where=failed.where, why=failed.why, hint=failed.hint)
        core.end(Ending(str(error), failed.exit_code, control=True))
