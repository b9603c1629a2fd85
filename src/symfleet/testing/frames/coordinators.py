"""Coordinators under spoilt frames: the root with another coordinator, whose turns it runs, and one
that is not the root.

Both have two workers of two slots and work in flight on all of them, so that a frame meets every
state that it speaks of. `finish` plays honest workers and coordinators to the end of the campaign.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from symfleet.ledger.manifest import decode_manifest
from symfleet.protocol.answers import Counted
from symfleet.protocol.codec import NO_SLOT
from symfleet.protocol.events import CoordinatorEvent, FrameReceived, Note, RankLost, Send
from symfleet.protocol.fleet import WorkerPhase
from symfleet.protocol.messages import (
    Accepted,
    AnyMessage,
    Beat,
    Closed,
    EndEpoch,
    News,
    Orphans,
    Part,
    PeerFailed,
    Prepare,
    Progress,
    Ready,
    Refuse,
    Refused,
    ResetSlot,
    Result,
    Started,
    Stop,
    StopAck,
    Vote,
    VoteVoid,
    WorkerFault,
)
from symfleet.protocol.operations import CountFaults
from symfleet.protocol.setup import Knobs
from symfleet.protocol.tokens import NO_TOKEN
from symfleet.testing.coordinator_bench import CAMPAIGN, CoordinatorBench, Delivered
from symfleet.testing.coordinator_bench import Turn as Turned
from symfleet.testing.frames.reference import BODY, Judgement
from symfleet.testing.frames.target import Arrival
from symfleet.testing.frames.turns import OTHER, OwnerBench
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.types import DispatchToken, WorkState

PROGRAM: Final = SyntheticProgram(30)
SEEDS: Final = tuple(range(10))
_ORPHAN: Final = 6
"""Rank of its worker."""
_TURNS_MAX: Final = 400
_QUARANTINED: Final = ("quarantined_frames", "quarantined_results", "quarantined_ready")


class CoordinatorTarget:
    """A coordinator on its bench: number 0 is the root."""

    def __init__(self, number: int, disk: Path | None = None) -> None:
        """`disk`: folder for the root's ledger on SQLite; None: it is in memory."""
        # Retries that no storm of one life spends: nothing is poisoned, all is decided in the end.
        knobs = Knobs(prefetch=1, protocol_retries=16, blames_to_pause=1000, idle_window_s=0.01)
        self.owner = OwnerBench(knobs, PROGRAM, _ORPHAN, disk) if number == 0 else None
        self.bench: CoordinatorBench = self.owner or CoordinatorBench(
            workers=2,
            slots=2,
            program=PROGRAM,
            knobs=knobs,
            number=number,
            peers=(OTHER,),
            orphans=(_ORPHAN,),
        )
        self._flying: dict[DispatchToken, Delivered] = {}
        self._lives = 1 << 40
        self.campaign = CAMPAIGN
        self.epoch = int(self.bench.epoch)
        self.frame_bytes = knobs.frame_bytes
        self._turn(*(self.bench.hello(rank) for rank in self.bench.ranks))
        places = [(rank, slot) for rank in self.bench.ranks for slot in range(2)]
        self._turn(*(self.bench.ready(rank=rank, slot=slot) for rank, slot in places))
        self._turn(self.bench.seed(*SEEDS))
        if self.owner is not None:
            self.owner.lease(2)

    def _turn(self, *events: CoordinatorEvent) -> Turned:
        rest = events if self.owner is None else self.owner.take(events)
        turn = self.bench.turn(*rest)
        for work in turn.works:
            self._flying[work.token] = work
        return turn

    # ---- what it may get ------------------------------------------------------------------------

    def sound(self) -> Sequence[Arrival]:
        """Return a sound frame of every kind."""
        bench = self.bench
        in_flight = {delivery.token for delivery in bench.core.in_flight}
        events = [bench.hello(1), bench.hello(2), bench.ready(None)]
        for token, work in self._flying.items():
            if token not in in_flight:
                continue
            items = bench.execute(work)
            children = PROGRAM.execute(work.work.items[0].work_id, work.work.items[0].data).children
            said: tuple[AnyMessage, ...] = (
                Started(),
                Progress(3),
                Part(0, 0, children),
                Refused("digest: x"),
                Ready(token, 0),
            )
            events.append(bench.result(work, items))
            events += [self._of(work, message) for message in said]
        events += [
            bench.frame(WorkerFault("internal", "m", "h")),
            bench.frame(StopAck(2), slot=None),
            bench.frame(Beat(), slot=None),
        ]
        others = [bench.frame(message, rank=OTHER, slot=None) for message in self._of_other()]
        if self.owner is not None:
            others += [self.owner.frame_of_other(one) for one in self.owner.messages_of_other()]
        return [Arrival(event.rank, event.data) for event in (*events, *others)]

    def odd(self, draw: random.Random) -> Arrival | None:
        """Return a TURN whose operations are spoilt."""
        if self.owner is None:
            return None
        event = self.owner.odd_turn(draw)
        return Arrival(event.rank, event.data)

    def _of(self, work: Delivered, message: AnyMessage) -> FrameReceived:
        return self.bench.frame(
            message, rank=work.rank, slot=work.slot, life=work.incarnation, token=work.token
        )

    def _of_other(self) -> Sequence[AnyMessage]:
        """Return what the other coordinator may say."""
        changes = self.bench.ledger.status().decisions + 1
        news = News(changes, 1, 4, 2, 0, b"", 1, 1, 0, 1, 1, 1, 0, "", faulty=False)
        if self.owner is not None:
            return (
                news,
                Vote(1, "members", changes, idle=True, reason=""),
                Closed(1, 1, (), faulty=False),
                PeerFailed(74, "w", "x", "y", "h"),
            )
        return (
            news,
            Prepare(1, "members", changes),
            VoteVoid(1, "why"),
            EndEpoch("quiescent", 0.0, control=False, restart=False),
            Orphans((_ORPHAN,)),
            Refuse("given up"),
        )

    # ---- handing over ---------------------------------------------------------------------------

    def take(self, *arrivals: Arrival) -> object:
        """Run one turn with these frames. That a stranger is refused is said once to each worker,
        so it is left out."""
        turn = self._turn(*(FrameReceived(one.rank, one.data) for one in arrivals))
        return (
            [op for op in turn.operations if not isinstance(op, CountFaults)],
            [one for one in turn.messages if not isinstance(one[2], Refuse)],
            [action for action in turn.actions if not isinstance(action, Send | Note)],
            [] if self.owner is None else self.owner.answers(),
        )

    def again(self, arrival: Arrival, judged: Judgement) -> Arrival:
        """Seal the message as the bench's own workers do."""
        assert judged.message is not None
        sealed = self.bench.codecs[arrival.rank].seal(
            judged.message,
            slot=None if judged.slot == NO_SLOT else judged.slot,
            incarnation=judged.incarnation,
            token=DispatchToken(judged.token.hex()) if any(judged.token) else NO_TOKEN,
            repeat=judged.repeat,
        )
        return Arrival(arrival.rank, sealed)

    def refused(self) -> Mapping[tuple[str, str], int]:
        """Return the counts of everything that is set aside."""
        totals = self.bench.core.outbox.totals
        return {key: amount for key, amount in totals.items() if key[0] in _QUARANTINED and amount}

    def is_refusal(self, judged: Judgement, fresh: Counter[tuple[str, str]]) -> bool:
        """One count, under the reason. A RESULT or READY whose body is bad counts in its own table:
        it still names its delivery."""
        if judged.refused == BODY and judged.kind in (Result, Ready) and fresh.total() == 1:
            return True
        reason = judged.refused if judged.refused not in ("", BODY) else ""
        if not reason:
            return fresh.total() == 1
        return fresh == Counter({("quarantined_frames", reason): 1})

    def state(self) -> object:
        """Return slots, what is in flight, and the ledger's rows."""
        view = self.bench.machine.view()
        status = self.bench.ledger.status()
        return (
            [(one.place, one.state, one.deliveries, one.items) for one in view.slots],
            view.in_flight_items,
            view.claimed_items,
            status.states,
            status.total,
        )

    @property
    def over(self) -> bool:
        """Whether it ends, or can work no more because it was told so."""
        core = self.bench.core
        poisoned = self.bench.ledger.status().states.get(WorkState.POISONED, 0)
        left = core.ending is not None or bool(core.left)
        return left or bool(poisoned) or not self._usable()

    def _usable(self) -> bool:
        """Whether some worker was neither said to be stopped nor unable to run."""
        core = self.bench.core
        return any(
            worker.phase is WorkerPhase.JOINED and worker.host not in core.breaker.paused
            for worker in core.fleet.workers.values()
        )

    def close(self) -> None:
        """Let go of what the ledger holds."""
        self.bench.ledger.close()

    # ---- the honest end -------------------------------------------------------------------------

    def finish(self) -> Sequence[str]:
        """Play honest workers, and the other coordinator, until Finish."""
        bench = self.bench
        counted = Counter(self.refused())
        counted += self._end_of_other()
        turn = self._turn(*self._new_lives())
        for _ in range(_TURNS_MAX):
            if turn.finish is not None:
                break
            bench.clock.sleep(0.05)
            turn = self._turn(*self._answers(turn), *self._prompts())
        status = bench.ledger.status()
        expected = PROGRAM.reachable(SEEDS)
        wrong = [f"audit: {finding}" for finding in bench.ledger.audit()]
        if turn.finish is None:
            wrong.append(f"the honest campaign does not end: {bench.machine.view()}")
        decided = {decode_manifest(row.manifest).input_id for row in bench.ledger.decisions()}
        # A coordinator that holds a lease is believed: it may have hidden children.
        believed = any(
            one.coordinator != self.bench.setup.number and one.executed
            for one in status.coordinators
        )
        if not (decided <= expected if believed else decided == expected):
            wrong.append("the honest campaign decided other inputs")
        left = {state: n for state, n in status.states.items() if n and state is not WorkState.DONE}
        if left or status.total.executed != len(decided):
            wrong.append(f"executed {status.total.executed} of {len(decided)}, left: {left}")
        if Counter(self.refused()) != counted:
            wrong.append(f"honest peers were set aside: {counted} became {self.refused()}")
        booked = {
            (name, why): amount
            for name in _QUARANTINED
            for why, amount in status.faults_this_epoch.get(name, {}).items()
        }
        if Counter(booked) != Counter(self.refused()):
            wrong.append(f"the ledger has {booked}, the machine counted {counted}")
        return wrong

    def _end_of_other(self) -> Counter[tuple[str, str]]:
        """Let the root's other coordinator run an honest turn and die: what it was made to claim
        goes back. Return what that counts: the half of a turn that the storm left behind."""
        owner, more = self.owner, Counter[tuple[str, str]]()
        if owner is None or not owner.core.peers.live:
            return more
        if owner.half_heard:
            more["quarantined_frames", "turn"] = 1
            self._turn(owner.frame_of_other(owner.next_turn(b"")))
            owner.answers()
        assert owner.ask(CountFaults(1, ())) == (Counted(),), "an honest turn is answered"
        self._turn(RankLost(OTHER))
        return more

    def _new_lives(self) -> list[FrameReceived]:
        """Begin anew on every slot: what the storm said of the old lives is void."""
        for place in self.bench.lives:
            self._lives += 1
            self.bench.lives[place] = self._lives
        self._flying.clear()
        places = [(rank, slot) for rank in self.bench.ranks for slot in range(2)]
        hellos = [self.bench.hello(rank) for rank in self.bench.ranks]
        return hellos + [self.bench.ready(rank=rank, slot=slot) for rank, slot in places]

    def _answers(self, turn: Turned) -> list[FrameReceived]:
        """Return what honest peers answer to what this turn sent."""
        bench, answers = self.bench, list[FrameReceived]()
        for rank, header, message in turn.messages:
            match message:
                case ResetSlot():
                    self._lives += 1
                    bench.lives[rank, header.slot or 0] = self._lives
                    answers.append(bench.ready(rank=rank, slot=header.slot or 0))
                case Stop():
                    answers.append(bench.frame(StopAck(2), rank=rank, slot=None))
                case Prepare(number, members, changes):
                    vote = Vote(number, members, changes, idle=True, reason="")
                    answers.append(bench.frame(vote, rank=OTHER, slot=None))
                case EndEpoch():
                    closed = Closed(1, 1, (), faulty=False)
                    answers.append(bench.frame(closed, rank=OTHER, slot=None))
                case Accepted(token):
                    self._flying.pop(token, None)
                case _:
                    pass
        for work in turn.works:
            answers += [bench.result(work), self._of(work, Ready(work.token, 0))]
        return answers

    def _prompts(self) -> list[FrameReceived]:
        """Return what an honest root says beside: it ends the epoch when nothing is open."""
        if self.owner is not None or self.bench.core.ending is not None:
            return []
        status = self.bench.ledger.status()
        if {state for state, n in status.states.items() if n} != {WorkState.DONE}:
            return []
        end = EndEpoch("quiescent", 0.0, control=False, restart=False)
        return [self.bench.frame(end, rank=OTHER, slot=None)]
