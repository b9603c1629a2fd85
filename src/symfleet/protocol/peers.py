"""The other coordinators, as one of them sees them.

    LIVE ──Closed──> CLOSED
      └── lost, or given up ──> LOST

All claim from one frontier, so nobody needs to know what another has leased. What is kept here is
who is there, which workers it has (the root gives those of a lost one to another), its last News,
and its last word.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from symfleet.protocol.messages import Closed, News
from symfleet.protocol.setup import CoordinatorSetup


class PeerPhase(enum.StrEnum):
    """Phases of another coordinator."""

    LIVE = "live"
    CLOSED = "closed"
    """It stopped its workers, wrote its acknowledgements and has finished."""
    LOST = "lost"


@dataclass(slots=True)
class PeerRecord:
    """Another coordinator."""

    number: int
    rank: int
    workers: set[int]
    """Ranks of its group; the root keeps this up when groups change."""
    heard_at: float
    phase: PeerPhase = PeerPhase.LIVE
    news: News | None = None
    closed: Closed | None = None

    @property
    def name(self) -> str:
        """How people are told about it."""
        return f"coordinator {self.number} (rank {self.rank})"

    @property
    def hungry(self) -> bool:
        """Whether it has places that wait for work, as far as is known."""
        return self.news is None or self.news.places > 0

    @property
    def missing(self) -> tuple[str, ...]:
        """Whom it could not acknowledge; itself when it was lost."""
        if self.phase is PeerPhase.LOST:
            return (self.name,)
        return self.closed.missing if self.closed is not None else ()

    @property
    def faulty(self) -> bool:
        """Whether it counted anything that a healthy run does not."""
        said = self.closed or self.news
        return said is not None and said.faulty


@dataclass(slots=True)
class Peers:
    """All other coordinators of the epoch, and every rank that is known to be gone."""

    by_rank: dict[int, PeerRecord]
    gone: set[int] = field(default_factory=set)
    slots_max: int = 0
    """Most slots that the whole fleet ever had (the root's count)."""
    live: Sequence[PeerRecord] = field(init=False)
    """Those that take part. Asked for many times in a turn, so it is kept."""
    lost: tuple[int, ...] = field(init=False)
    """Numbers of those that are lost."""

    def __post_init__(self) -> None:
        self._sort()

    def _sort(self) -> None:
        self.live = [peer for peer in self if peer.phase is PeerPhase.LIVE]
        self.lost = tuple(peer.number for peer in self if peer.phase is PeerPhase.LOST)

    def end(self, peer: PeerRecord, phase: PeerPhase) -> None:
        """Take a coordinator out of those that take part."""
        peer.phase = phase
        self._sort()

    @staticmethod
    def of(setup: CoordinatorSetup, now: float) -> Peers:
        """Begin with all of them alive."""
        return Peers(
            {
                peer.rank: PeerRecord(peer.number, peer.rank, set(peer.workers), now)
                for peer in setup.peers
            }
        )

    def __bool__(self) -> bool:
        return bool(self.by_rank)

    def __iter__(self) -> Iterator[PeerRecord]:
        return iter(self.by_rank.values())

    @property
    def faulty(self) -> bool:
        """Whether any of them counted a fault."""
        return any(peer.faulty for peer in self)
