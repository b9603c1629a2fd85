"""News between coordinators: so that nobody waits for work that another has made, and every group's
knowledge gets every edge.

One goes out at the end of a turn that found edges, made work claimable while somebody waits for
work, or changed what others judge by (the key below); at most one in NEWS_S, which grows with the
number of coordinators so that nobody is flooded; and as a beat. All News go to all. A receiver with
free places claims when they name pending rows. What News miss a look into the ledger finds, every
POLL_S of a coordinator that asked nothing else.

With keep=all an execution must not depend on what the fleet knows, so edges are not told at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from symfleet.protocol.capacity import Capacity, open_places, own_capacity
from symfleet.protocol.core import Core
from symfleet.protocol.events import Publish
from symfleet.protocol.messages import News
from symfleet.protocol.peers import PeerPhase, PeerRecord

NEWS_S: Final = 0.02
POLL_S: Final = 1.0
BEATS_PER_SILENCE: Final = 3
_PEERS_AT_FULL_RATE: Final = 8

_Key = tuple[object, ...]


class Newsroom:
    """Sends and takes News of one coordinator; with no peers it does nothing.

    `faulty`: whether this coordinator counted a fault. `waits`: whether it waits for the ledger to
    come to a state rather than for work."""

    def __init__(self, core: Core, faulty: Callable[[], bool], waits: Callable[[], bool]) -> None:
        self._core = core
        self._faulty = faulty
        self._waits = waits
        self._own = Capacity()
        self._places = 0
        self._sent_at = core.now
        self._due_at = core.now
        self._key: _Key = ()
        self._told_pending_at = -1
        self._looked_at = core.now

    # ---- what this coordinator tells ----------------------------------------------------------

    def end_turn(self, *, at_once: bool = False) -> None:
        """Send News if there are any and the last ones are old enough; after a late turn `at_once`:
        others have counted it as silence."""
        core = self._core
        if not core.peers.live:
            return
        self._own, self._places = own_capacity(core), open_places(core)
        self._due_at = self._due()
        if at_once or core.now >= self._due_at:
            self._send()
            self._due_at = self._due()

    def _due(self) -> float:
        """Return when the next News leave."""
        core = self._core
        many = len(core.peers.live) / _PEERS_AT_FULL_RATE
        if core.fresh_edges or self._key_now() != self._key or self._makes_somebody_busy():
            return self._sent_at + NEWS_S * max(1.0, many)
        return self._sent_at + core.setup.knobs.root_silence_s / BEATS_PER_SILENCE

    def _makes_somebody_busy(self) -> bool:
        """Whether rows are pending that somebody waits for and was not told of."""
        core = self._core
        frontier = core.frontier
        if frontier.pending == 0 or frontier.changes <= self._told_pending_at:
            return False
        return any(peer.hungry for peer in core.peers.live)

    def _key_now(self) -> _Key:
        """Return what others judge by. Numbers that only move with the work are left out; that the
        frontier is empty is told with the very change that emptied it."""
        core, frontier, own = self._core, self._core.frontier, self._own
        return (
            frontier.changes if frontier.open_work == 0 else -1,
            frontier.leased == 0,
            (own.live, own.waiting, own.slots, own.usable, own.paused),
            own.in_flight == 0,
            self._places > 0,
            core.renewing,
            core.peers.lost,
            self._faulty(),
        )

    def _send(self) -> None:
        core = self._core
        self._sent_at, self._key = core.now, self._key_now()
        self._told_pending_at = core.frontier.changes
        edges = b"".join(core.fresh_edges)
        core.fresh_edges.clear()
        step = max(4, core.codec.body_bytes_max() // 2 // 4 * 4)
        for at in range(0, max(1, len(edges)), step):
            news = self._news(edges[at : at + step])
            for peer in core.peers.live:
                core.send(peer.rank, news)

    def _news(self, edges: bytes) -> News:
        core, frontier, own = self._core, self._core.frontier, self._own
        return News(
            changes=frontier.changes,
            pending=frontier.pending,
            open_work=frontier.open_work,
            leased=frontier.leased,
            last_artefact=core.last_artefact,
            edges=edges,
            known=len(core.fleet.workers),
            workers=own.live,
            waiting=own.waiting,
            slots=own.slots,
            usable=own.usable,
            places=self._places,
            in_flight=own.in_flight,
            paused=own.paused,
            faulty=self._faulty(),
            renewing=core.renewing,
            lost=core.peers.lost,
        )

    # ---- what it hears ------------------------------------------------------------------------

    def hear(self, peer: PeerRecord, news: News) -> None:
        """Take the News of a living coordinator."""
        core = self._core
        peer.news = news
        core.frontier.hear(news.changes, news.pending, news.open_work, news.leased)
        core.knowledge.learn(news.edges)
        if news.last_artefact > core.last_artefact:
            core.last_artefact = news.last_artefact
            core.outbox.act(Publish(news.last_artefact))
        if peer.number == 0:
            core.renewing = news.renewing
            for other in core.peers.live:
                if other.number in news.lost:
                    core.peers.end(other, PeerPhase.LOST)

    def look(self) -> None:
        """Look into the ledger when nothing was asked of it for a while. Called when the turn has
        asked for all else."""
        core = self._core
        if not self._looks:
            return
        if core.outbox.asking:
            self._looked_at = core.now
        elif core.now >= self._look_at():
            self._looked_at = core.now
            core.outbox.look()

    @property
    def _looks(self) -> bool:
        """Whether the ledger is looked into at all: there are others who change it, and it is not
        what may have failed. With a turn that failed, the word to the workers to stop is lost."""
        ending = self._core.ending
        return bool(self._core.peers) and not (ending is not None and ending.control)

    def _look_at(self) -> float:
        return self._looked_at + (NEWS_S if self._waits() else POLL_S)

    def deadlines(self) -> Iterator[float]:
        """Yield when there is something to send or to look at."""
        if self._looks:
            yield self._look_at()
        if self._core.peers.live:
            yield self._due_at
