"""What the parts of a coordinator share, and what any of them may do: send a frame, roll a delivery
back, end one with success, ask for the end.

Parts: `intake` judges frames, `settle` turns results into operations, `dispatch` fills places,
`sweeps` watches time, `quiescence` and `shutdown` end the epoch; `peer_frames`, `news` and
`takeover` deal with the other coordinators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from symfleet.errors import SymfleetError, parts_of
from symfleet.protocol.blame import Breaker
from symfleet.protocol.codec import Codec
from symfleet.protocol.delivery import Delivery, InFlight, Phase, Step, Undo
from symfleet.protocol.events import Note, Send
from symfleet.protocol.fleet import Fleet, Slot
from symfleet.protocol.frontier import Frontier
from symfleet.protocol.knowledge import CampaignKnowledge
from symfleet.protocol.messages import Accepted, AnyMessage, PeerFailed
from symfleet.protocol.outbox import Outbox
from symfleet.protocol.peers import Peers
from symfleet.protocol.ranges import plain
from symfleet.protocol.setup import CoordinatorSetup, SourceSetup
from symfleet.protocol.tokens import NO_TOKEN, TokenMint
from symfleet.protocol.violations import Chronicle, RemoteViolation
from symfleet.types import DispatchToken, Keep

_NOTES_A_TURN_MAX: Final = 16
QUIESCENT: Final = "quiescent"
"""The reason of the end that proves that nothing is left."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Why and how the epoch ends. `control`: nothing changes the frontier any more (69, 70, 74).
    `restart`: without a verdict, so that the launcher opens the next epoch."""

    reason: str
    exit_code: int
    drain_s: float = 0.0
    control: bool = False
    restart: bool = False


@dataclass(slots=True)
class Core:
    """Shared state of one coordinator. `now` is the time of the turn on its timeline."""

    setup: CoordinatorSetup
    codec: Codec
    chronicle: Chronicle
    outbox: Outbox
    mint: TokenMint
    fleet: Fleet
    in_flight: InFlight
    frontier: Frontier
    knowledge: CampaignKnowledge
    breaker: Breaker
    peers: Peers
    sources: list[SourceSetup]
    """What this coordinator scans: its own, and those of lost ones that it has taken over."""
    now: float
    ending: Ending | None = None
    violations: int = 0
    """Of this turn; only the first few are worth a log line."""
    renewing: bool = False
    """Many slots were lost: nothing new is dispatched, and the next epoch brings them back."""
    left: str = ""
    """Why this coordinator leaves at once, without a word to the ledger: it is a member no more."""
    fresh_edges: list[bytes] = field(default_factory=list)
    """Edges that decisions of this coordinator were the first to show, for its next News."""
    last_artefact: int = 0
    """Number of the newest artefact that the ledger has."""

    def send(
        self,
        rank: int,
        message: AnyMessage,
        slot: Slot | None = None,
        token: DispatchToken = NO_TOKEN,
        *,
        incarnation: int | None = None,
        delivers: bool = False,
    ) -> None:
        """Send a frame to a rank, about a slot if one is given. `delivers`: the loop reports
        whether it left. `incarnation`: a life other than the slot's present one."""
        life = incarnation if incarnation is not None else (slot.incarnation if slot else 0)
        frame = self.codec.seal(
            message, slot=slot.place.slot if slot else None, incarnation=life, token=token
        )
        self.outbox.act(Send(rank, frame, token if delivers else None))
        worker = self.fleet.workers.get(rank)
        if worker is not None:
            worker.told_at = self.now

    def learn(self, new_edges: bytes) -> None:
        """Note what a decision was the first to show, and that other groups are to hear of it; with
        keep=all no execution may depend on it, so that nobody needs to."""
        self.knowledge.learn(new_edges)
        if new_edges and self.peers.live and self.setup.keep is not Keep.ALL:
            self.fresh_edges.append(new_edges)

    def accept(self, slot: Slot, token: DispatchToken, disposition: str, life: int) -> None:
        """Answer a RESULT or READY, so that it is not said again."""
        self.send(slot.place.rank, Accepted(token, disposition), slot, incarnation=life)

    def roll_back(self, delivery: Delivery, how: Undo) -> None:
        """Give everything back that a delivery holds; by exact token, never by slot (J6)."""
        slot = self.fleet.at(delivery.place)
        self.in_flight.step(self.now, delivery, Step.ROLLBACK)
        assert delivery in slot.deliveries, "J6: the slot's list names what is in flight there"
        self.chronicle.note(self.now, f"rolled back: {how.cause}", delivery.token, delivery.place)
        slot.deliveries.remove(delivery)
        self.fleet.touch(slot)
        slot.retire(delivery.token, owes_ready=delivery.ready_at is None)
        self._report(delivery, delivery.reservations.undo(how))
        self._end(delivery, slot)

    def roll_back_slot(self, slot: Slot, how: Undo) -> frozenset[DispatchToken]:
        """Roll back what is in flight to a slot, last delivery first; return its tokens.

        Only the delivery that started has run; those behind it are `prefetched`. Which item of a
        bundle ran is not known, so none of them is held against, and each goes alone next time. A
        result that is being decided in this turn has won already and stays (J5)."""
        tokens = []
        for delivery in reversed(slot.deliveries.copy()):
            if delivery.phase is Phase.DECIDING:
                continue
            tokens.append(delivery.token)
            items = delivery.open_items
            if not delivery.started and how.cause != "cancelled":
                self.roll_back(delivery, Undo("prefetched", how.sent))
            else:
                if len(items) > 1:
                    self.frontier.alone.update(delivery.leases[n].work_id for n in items)
                self.roll_back(delivery, replace(how, ran=len(items) == 1))
        return frozenset(tokens)

    def finish_delivery(self, delivery: Delivery) -> None:
        """End a delivery all of whose items are settled."""
        assert not delivery.open_items, "A6: a delivery ends when each item has ended"
        slot = self.fleet.at(delivery.place)
        self.in_flight.step(self.now, delivery, Step.SETTLED)
        slot.deliveries.remove(delivery)
        self.fleet.touch(slot)
        slot.retire(delivery.token, owes_ready=delivery.ready_at is None)
        delivery.reservations.settle()
        self._end(delivery, slot)
        if delivery.incarnation == slot.incarnation:
            self.accept(slot, delivery.token, "decided", delivery.incarnation)

    def _end(self, delivery: Delivery, slot: Slot) -> None:
        assert not delivery.reservations.open, "J6: nothing of a delivery stays behind"
        slot.evidence_at = self.now

    def _report(self, delivery: Delivery, errors: Sequence[SymfleetError]) -> None:
        for error in errors:
            self.outbox.fault("undo_failed", type(error).__name__)
            self.note("error", "undo_failed", token=delivery.token, error=str(error))

    def violation(self, rank: int, what: str, slot: Slot | None = None) -> RemoteViolation:
        """Note that a peer broke a rule, with the story; nothing else changes."""
        subject = slot.place if slot is not None else rank
        violation = RemoteViolation(rank, what, self.chronicle.last(subject, 8))
        self.chronicle.note(self.now, f"violation: {what}", subject)
        self.violations += 1
        if self.violations <= _NOTES_A_TURN_MAX:
            self.note(
                "warning", "protocol_violation", rank=str(rank), what=what, story=violation.story
            )
        return violation

    def note(self, level: Literal["info", "warning", "error"], event: str, **detail: str) -> None:
        """Write a log line."""
        self.outbox.act(Note(level, event, detail))

    def pause_host(self, host: str, why: str, hint: str = "") -> None:
        """Give a host no more work: its engine cannot run."""
        if self.breaker.pause(host, why):
            self.note("error", "host_paused", host=host, why=why, hint=hint)

    def host_failed(self, host: str, why: str) -> bool:
        """Count a failure of a host's engine; return whether that paused the host."""
        tripped = self.breaker.failure(host, why)
        if tripped:
            self.note("error", "host_paused", host=host, why=self.breaker.paused[host])
        return tripped

    @property
    def engine_works(self) -> bool:
        """Whether any execution of the campaign ever led to a verdict, as far as is known here."""
        return self.breaker.worked or self.setup.opening.decisions > 0

    def fail(self, exit_code: int, reason: str) -> None:
        """Begin a control stop (69, 70, 74). One of a peer is told to the root, which ends the job
        by it. `reason`: the text of the error, with its four parts."""
        self.end(Ending(reason, exit_code, control=True))
        if self.setup.number > 0:
            self.send(self.setup.root, PeerFailed(exit_code, *map(plain, parts_of(reason))))

    def end(self, ending: Ending) -> None:
        """Ask for the end. A control failure replaces an orderly end; otherwise the first wins,
        and a later one may only make it faster."""
        before = self.ending
        if before is None or (ending.control and not before.control):
            self.ending = ending
        elif ending.drain_s < before.drain_s:
            self.ending = Ending(
                before.reason, before.exit_code, ending.drain_s, before.control, before.restart
            )
