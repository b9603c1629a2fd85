"""Quiescence: a two-phase vote that proves that no work is left anywhere.

    WORKING ──idle──> WINDOW ──idle_window_s──> PREPARING ──all YES──> COMMITTING ──> COMMITTED
       ^                │                          │                       │
       └── not idle ────┴── new work, membership, 30 s: every YES is void ─┴── refused

Root and peers run the same PREPARE (Q1): publications are flushed, sources are scanned again,
claims are given back, and only then idleness is computed anew. Work that appears until then vetoes
(Q2). A vote names (members, change counter); when either changed, or `vote_s` passed without
COMMIT, every YES is void. COMMIT is the ledger's: conditional on no open row, every sink at the
last decision, all sources closed, the same change counter (C10). After it no work can appear in
the epoch (Q3): what a source finds is not admitted and not marked as seen.

A round that dies is told to all (VoteVoid); a peer whose facts change after its YES takes it back
with a second vote. With one coordinator the root's own vote is the only one.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from symfleet.protocol.answers import Answer, Quiesced
from symfleet.protocol.core import QUIESCENT, Core, Ending
from symfleet.protocol.events import Publish, Scan
from symfleet.protocol.fleet import WorkerPhase
from symfleet.protocol.messages import Prepare, Vote, VoteVoid
from symfleet.protocol.operations import CommitQuiescence, SetSource


class VotePhase(enum.StrEnum):
    """Phases of the vote as one coordinator sees it."""

    WORKING = "working"
    WINDOW = "window"
    PREPARING = "preparing"
    VOTED = "voted"
    COMMITTING = "committing"
    COMMITTED = "committed"


@dataclass(slots=True)
class Preparation:
    """One coordinator's PREPARE of one round."""

    round: int
    members: str
    changes: int
    own: str
    """This coordinator's own digest of who takes part."""
    began_at: float
    flushed_upto: int = -1
    """Artefacts whose publication was asked for."""
    scans: set[int] = field(default_factory=set)
    """Sources whose scan has not ended."""


class Quiescence:
    """The vote of one coordinator; the root also counts the others'."""

    def __init__(self, core: Core, published: Callable[[], bool]) -> None:
        self._core = core
        self._published = published
        self.phase = VotePhase.WORKING
        self.idle_since: float | None = None
        self.idle_window_s: float | None = None
        """Measured length of the window that led to COMMIT."""
        self._round = 0
        self._prepared: Preparation | None = None
        self._votes: dict[int, Vote] = {}
        self._closed: set[int] = set()
        self._window_changes = -1

    # ---- facts --------------------------------------------------------------------------------

    @property
    def is_root(self) -> bool:
        """Whether this coordinator opens votes."""
        return self._core.setup.number == 0

    @property
    def frozen(self) -> bool:
        """Whether inputs from outside wait for the next epoch (Q3)."""
        return self.phase in (VotePhase.COMMITTING, VotePhase.COMMITTED, VotePhase.VOTED)

    def members(self) -> str:
        """Return the digest of who takes part: coordinators, and workers with their lives."""
        setup = self._core.setup
        total = hashlib.sha256()
        for rank in sorted((setup.rank, *(peer.rank for peer in self._core.peers.live))):
            total.update(f"c{rank};".encode())
        for worker in self._core.fleet.workers.values():
            if worker.phase is WorkerPhase.JOINED:
                total.update(f"w{worker.rank}:{worker.incarnation};".encode())
        return total.hexdigest()

    @property
    def waits(self) -> bool:
        """Whether only the ledger can say that what this coordinator waits for has come."""
        return self.phase is VotePhase.PREPARING and not self._published()

    def _idle(self) -> bool:
        core = self._core
        return (
            not len(core.in_flight)
            and not core.frontier.claimed
            and core.frontier.open_work == 0
            and core.frontier.changes >= 0
        )

    # ---- a turn -------------------------------------------------------------------------------

    def begin_turn(self) -> None:
        """Ask for COMMIT when everything agrees. Called after all other operations."""
        core = self._core
        if self.phase is VotePhase.PREPARING and self._all_yes():
            prepared = self._prepared
            assert prepared is not None
            self.phase = VotePhase.COMMITTING
            core.outbox.ask(
                CommitQuiescence(prepared.members, prepared.changes), self._on_committed
            )

    def end_turn(self) -> None:
        """Look at idleness with the turn's answers, and move."""
        core = self._core
        if core.ending is not None or self.phase is VotePhase.COMMITTED:
            return
        if self.phase is VotePhase.PREPARING:
            self._flush()
        if self.phase is VotePhase.PREPARING and not self.is_root:
            self._cast()
        elif self.phase in (VotePhase.PREPARING, VotePhase.VOTED):
            self._check_void()
        if not self.is_root or not core.setup.until_quiescent:
            return
        if self.phase is VotePhase.WORKING and self._idle():
            self.phase = VotePhase.WINDOW
            self.idle_since, self._window_changes = core.now, core.frontier.changes
        elif self.phase is VotePhase.WINDOW and not self._idle():
            self.phase = VotePhase.WORKING
            self.idle_since = None
        elif self.phase is VotePhase.WINDOW and core.frontier.changes != self._window_changes:
            # Others had work meanwhile, and are done with it again.
            self.idle_since, self._window_changes = core.now, core.frontier.changes
        if self.phase is VotePhase.WINDOW and self.idle_since is not None:
            idle_s = core.now - self.idle_since
            if idle_s >= core.setup.knobs.idle_window_s:
                self._open_round(idle_s)

    def _open_round(self, idle_s: float) -> None:
        core = self._core
        self.idle_window_s = idle_s
        self._round += 1
        self._votes = {}
        members = self.members()
        for peer in core.peers.live:
            core.send(peer.rank, Prepare(self._round, members, core.frontier.changes))
        self._prepare(self._round, members, core.frontier.changes)

    def _prepare(self, number: int, members: str, changes: int) -> None:
        """Q1: the same steps on root and peers."""
        core = self._core
        core.chronicle.note(core.now, f"PREPARE {number}", core.setup.rank)
        self.phase = VotePhase.PREPARING
        scanned = {source.source for source in core.sources}
        self._prepared = Preparation(
            number, members, changes, self.members(), core.now, scans=scanned
        )
        self._flush()
        for source in core.sources:
            core.outbox.act(Scan(source.source, number))
        core.frontier.give_back_claims()

    def _flush(self) -> None:
        """Have everything published that there is, once for each newest artefact."""
        core, prepared = self._core, self._prepared
        assert prepared is not None
        if core.last_artefact > prepared.flushed_upto:
            prepared.flushed_upto = core.last_artefact
            core.outbox.act(Publish(core.last_artefact, flush=True))

    def _ready_to_vote(self) -> bool:
        prepared = self._prepared
        return prepared is not None and not prepared.scans and self._published()

    def _all_yes(self) -> bool:
        """Whether this coordinator and every peer voted YES on the same thing."""
        core, prepared = self._core, self._prepared
        if prepared is None or not self._ready_to_vote() or not self._idle():
            return False
        if core.outbox.asking_changes:
            return False  # Q2: what this very turn admits or gives back vetoes
        return all(
            (vote := self._votes.get(peer.rank)) is not None
            and vote.idle
            and (vote.members, vote.changes) == (prepared.members, prepared.changes)
            for peer in core.peers.live
        )

    def _check_void(self) -> None:
        core, prepared = self._core, self._prepared
        assert prepared is not None
        why = ""
        if core.frontier.changes != prepared.changes or not self._idle():
            why = "work appeared"
        elif self.members() != prepared.own:
            why = "membership changed"
        elif core.now - prepared.began_at >= core.setup.knobs.vote_s:
            why = "no COMMIT in time"
        elif any(not vote.idle for vote in self._votes.values()):
            why = "a coordinator has work"
        if why:
            self.void(why)

    def void(self, why: str) -> None:
        """Forget the round; the idle window begins anew. Who has counted on it is told."""
        core, prepared = self._core, self._prepared
        if prepared is not None and self.is_root:
            for peer in core.peers.live:
                core.send(peer.rank, VoteVoid(prepared.round, why))
        elif prepared is not None and self.phase is VotePhase.VOTED:
            self._say(idle=False, reason=why)
        self._forget(why)

    def _forget(self, why: str) -> None:
        core = self._core
        core.chronicle.note(core.now, f"vote void: {why}", core.setup.rank)
        core.note("info", "vote_void", why=why)
        self.phase = VotePhase.WORKING
        self._prepared = None
        self._votes = {}
        self.idle_since = None

    def _on_committed(self, answer: Answer) -> None:
        core = self._core
        if isinstance(answer, Quiesced) and answer.committed:
            self.phase = VotePhase.COMMITTED
            core.end(Ending(QUIESCENT, 0))
        else:
            self.void(answer.reason if isinstance(answer, Quiesced) else "COMMIT failed")

    # ---- what arrives --------------------------------------------------------------------------

    def scan_finished(self, source: int, number: int) -> None:
        """A scan ended. The one of this round closes its source, unless somebody watches it."""
        prepared = self._prepared
        if prepared is None or number != prepared.round or source not in prepared.scans:
            return
        prepared.scans.discard(source)
        watched = any(s.watched for s in self._core.sources if s.source == source)
        if not watched and source not in self._closed:
            self._closed.add(source)
            self._core.outbox.ask(SetSource(source, is_open=False))

    def prepare_asked(self, prepare: Prepare) -> None:
        """The root asks this peer to PREPARE. It asks when no work is open as of `changes`."""
        core = self._core
        if core.ending is None:
            core.frontier.hear(prepare.changes, pending=0, open_work=0, leased=0)
            self._prepare(prepare.round, prepare.members, prepare.changes)

    def void_asked(self, void: VoteVoid) -> None:
        """The root says that a round has died."""
        prepared = self._prepared
        if prepared is not None and prepared.round == void.round and self._core.ending is None:
            self._forget(void.why)

    def vote_cast(self, peer: int, vote: Vote) -> None:
        """A peer votes."""
        if self.is_root and vote.round == self._round:
            self._votes[peer] = vote

    def _cast(self) -> None:
        """A peer's vote, once its PREPARE is complete."""
        core, prepared = self._core, self._prepared
        assert prepared is not None
        idle = self._idle() and core.frontier.changes == prepared.changes
        late = core.now - prepared.began_at >= core.setup.knobs.vote_s
        if idle and not late and not self._ready_to_vote():
            return
        idle = idle and not late and self.members() == prepared.own
        self._say(idle=idle, reason="" if idle else "work")
        if idle:
            self.phase = VotePhase.VOTED
        else:
            self._forget("this coordinator has work")

    def _say(self, *, idle: bool, reason: str) -> None:
        core, prepared = self._core, self._prepared
        assert prepared is not None
        vote = Vote(prepared.round, prepared.members, prepared.changes, idle, reason)
        core.send(core.setup.root, vote)

    def deadlines(self) -> Iterator[float]:
        """Yield when the vote has something to do."""
        knobs = self._core.setup.knobs
        if self.phase is VotePhase.WINDOW and self.idle_since is not None:
            yield self.idle_since + knobs.idle_window_s
        if self._prepared is not None and self.phase in (VotePhase.PREPARING, VotePhase.VOTED):
            yield self._prepared.began_at + knobs.vote_s
