"""What happens when a coordinator is lost: its leases, its workers, and itself if it comes back.

    root: lost, or no News for 2 x root_silence_s ──> TakeOver: its leases are pending again
                                                 ├──> its sources are scanned by the root
                                                 ├──> Adopt(rank) to each of its workers
                                                 └──> Orphans(workers) to who adopts them

Lost is what the transport says is dead, and what was given up for its silence. The ledger refuses
the claims of a coordinator that was taken over, the root answers each of its frames with Refuse,
its workers have another coordinator: one that only seemed dead changes nothing any more and
leaves. The adopter is the coordinator with the fewest slots. Workers that died with their
coordinator are named by the root at the end (Q4).

The loss of the root ends the job.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from symfleet.protocol.answers import Answer, TakenOver
from symfleet.protocol.capacity import own_capacity
from symfleet.protocol.core import Core
from symfleet.protocol.events import GiveUpRank, Scan
from symfleet.protocol.fleet import WorkerPhase
from symfleet.protocol.messages import Adopt, Orphans, Refuse
from symfleet.protocol.operations import TakeOver
from symfleet.protocol.peers import PeerPhase, PeerRecord

_SILENCES: Final = 2
"""A coordinator that says nothing for this many times `root_silence_s` is given up."""


class Takeover:
    """Watches the other coordinators; the root acts, the others adopt or leave."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._look_at = core.now
        """Nobody can have been silent for too long before this."""

    # ---- who is gone ----------------------------------------------------------------------------

    def rank_lost(self, rank: int) -> None:
        """The transport reports any rank as dead."""
        core = self._core
        core.peers.gone.add(rank)
        peer = core.peers.by_rank.get(rank)
        if peer is not None and peer.phase is PeerPhase.LIVE:
            self._lost(peer)

    def watch(self) -> None:
        """Give up who is silent. Only in a turn in which the transport was seen empty."""
        core = self._core
        if core.now < self._look_at:
            return
        for peer in self._watched():
            if core.now >= self._silent_at(peer):
                if core.setup.number == 0:
                    core.outbox.act(GiveUpRank(peer.rank))
                self._lost(peer)
        # Whoever speaks until then is heard later than now, so this is no later than any silence.
        self._look_at = min(map(self._silent_at, self._watched()), default=math.inf)

    def _silent_at(self, peer: PeerRecord) -> float:
        return peer.heard_at + _SILENCES * self._core.setup.knobs.root_silence_s

    def deadlines(self) -> Iterator[float]:
        """Yield a time before which no silence ends anybody's membership."""
        if self._watched():
            yield self._look_at

    def _watched(self) -> Sequence[PeerRecord]:
        """The root watches all others, and these watch the root, which is their first."""
        live = self._core.peers.live
        if self._core.setup.number == 0:
            return live
        return live[:1] if live and live[0].number == 0 else ()

    def _lost(self, peer: PeerRecord) -> None:
        core = self._core
        core.peers.end(peer, PeerPhase.LOST)
        core.chronicle.note(core.now, "lost", peer.rank)
        core.note("warning", "coordinator_lost", coordinator=peer.name)
        if peer.number == 0:
            core.left = core.left or "the root is gone"
        elif core.setup.number == 0:
            self._take_over(peer)
            self._take_sources(peer)
            self._settle_workers(peer)

    def refuse(self, peer: PeerRecord) -> None:
        """A coordinator that was given up speaks: it belongs here no more."""
        core = self._core
        core.chronicle.note(core.now, "came back after it was given up", peer.rank)
        core.send(peer.rank, Refuse(f"{peer.name} was given up and its leases were taken over"))

    # ---- its leases -----------------------------------------------------------------------------

    def _take_over(self, peer: PeerRecord) -> None:
        core = self._core
        if core.ending is not None and core.ending.control:
            return  # nothing changes the frontier any more; the next epoch takes them back

        def taken(answer: Answer) -> None:
            if isinstance(answer, TakenOver) and answer.amount:
                core.outbox.tally("leases_recovered", "takeover", answer.amount)
                core.note(
                    "warning", "leases_taken_over", coordinator=peer.name, leases=str(answer.amount)
                )

        core.frontier.stir()
        core.outbox.ask(TakeOver(peer.number), taken)

    # ---- its sources ----------------------------------------------------------------------------

    def _take_sources(self, peer: PeerRecord) -> None:
        """Scan what it was to scan; inputs that it had let in are known already."""
        core = self._core
        if core.ending is not None:
            return  # nothing is let in any more; what is new there waits for the next epoch
        for source in core.setup.standby.get(peer.number, ()):
            core.sources.append(source)
            core.outbox.act(Scan(source.source, 0))

    # ---- its workers ----------------------------------------------------------------------------

    def _settle_workers(self, peer: PeerRecord) -> None:
        core = self._core
        dead = peer.workers & core.peers.gone
        orphans = sorted(peer.workers - dead)
        peer.workers = set()
        for rank in sorted(dead):
            self.adopt(rank)
        if not orphans:
            return
        adopter = self._adopter()
        rank = core.setup.rank if adopter is None else adopter.rank
        for orphan in orphans:
            core.send(orphan, Adopt(rank))
        if adopter is None:
            for orphan in orphans:
                self.adopt(orphan)
        else:
            adopter.workers.update(orphans)
            core.send(adopter.rank, Orphans(tuple(orphans)))
        core.note("warning", "workers_adopted", workers=str(orphans), coordinator=str(rank))

    def _adopter(self) -> PeerRecord | None:
        """Return who has the fewest slots; None: the root itself, which also ends what is left when
        the epoch ends."""
        core = self._core
        if core.ending is not None:
            return None
        best, slots = None, own_capacity(core).usable
        for peer in core.peers.live:
            if peer.news is not None and peer.news.usable < slots:
                best, slots = peer, peer.news.usable
        return best

    def adopt(self, rank: int) -> None:
        """Expect the Hello of a worker whose coordinator is lost."""
        core = self._core
        if rank in core.setup.adoptable and core.fleet.adopt(rank, core.now):
            core.chronicle.note(core.now, "adopted", rank)
            if rank in core.peers.gone:
                core.fleet.workers[rank].phase = WorkerPhase.LOST
