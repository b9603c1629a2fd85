"""The coordinator's machine: events in, ledger operations and actions out.

How a loop drives it (architecture 2):

    while not machine.finished:
        events, drained = take what has arrived (at most turn_results RESULTs or turn_mib)
        operations = machine.begin_turn(clock.monotonic(), events, drained=drained)
        answers = ledger.run(operations) if operations else None
        for action in machine.end_turn(answers): carry it out
            # Send: after a Send with a token has returned, call machine.sent(token) at once;
            # when it raised, hand SendFailed(rank, token) to the next turn.
        wait for an event, at most until machine.next_deadline()

When `ledger.run` raises, call `machine.fail(exit_code, reason)` and then `end_turn(None)`, and go
on with the loop: the machine stops every worker and ends with Finish.

A turn: audit, events in arrival order, sweeps (only when the transport was seen empty and the turn
did not begin late), claims for the places that will be free, vote and end. Everything that this
asks for is one transaction; what its answers allow leaves the process in `end_turn` (C1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from symfleet.errors import ExitCode
from symfleet.protocol.answers import Admitted, Answer, TurnAnswers
from symfleet.protocol.blame import Breaker
from symfleet.protocol.codec import Codec, FrameFault
from symfleet.protocol.coordinator_view import CoordinatorView, SlotView, view_of
from symfleet.protocol.core import Core, Ending
from symfleet.protocol.delivery import InFlight, Phase
from symfleet.protocol.dispatch import Dispatcher
from symfleet.protocol.events import (
    ConfirmAdmitted,
    CoordinatorAction,
    CoordinatorEvent,
    Finish,
    FrameReceived,
    Publish,
    PublishFailed,
    RankLost,
    ScanFinished,
    SendFailed,
    SinkAdvanced,
    SourceBatch,
    StopRequested,
    TurnRefused,
)
from symfleet.protocol.fleet import Fleet, SlotPhase, WorkerPhase
from symfleet.protocol.frontier import Frontier
from symfleet.protocol.intake import Intake
from symfleet.protocol.knowledge import CampaignKnowledge
from symfleet.protocol.messages import Stop
from symfleet.protocol.news import Newsroom
from symfleet.protocol.operations import Admit, CountSkips, MarkPublished, Operation
from symfleet.protocol.outbox import Outbox
from symfleet.protocol.peer_frames import PeerFrames
from symfleet.protocol.peers import Peers
from symfleet.protocol.quiescence import Quiescence
from symfleet.protocol.settle import Settlement
from symfleet.protocol.setup import CoordinatorSetup
from symfleet.protocol.shutdown import RunPhase, Shutdown
from symfleet.protocol.sizing import Costs
from symfleet.protocol.sweeps import Sweeps
from symfleet.protocol.takeover import Takeover
from symfleet.protocol.timeline import Timeline
from symfleet.protocol.tokens import TokenMint
from symfleet.protocol.violations import Chronicle
from symfleet.types import DispatchToken, SlotAddress

__all__ = ["Coordinator", "CoordinatorView", "SlotView"]


class Coordinator:
    """See the module's text. One instance serves one epoch."""

    def __init__(self, setup: CoordinatorSetup, now: float) -> None:
        """Begin with nothing in flight. `now`: monotonic seconds."""
        knobs, chronicle, outbox = setup.knobs, Chronicle(), Outbox(setup.number)
        self._timeline = Timeline(now, knobs.late_s)
        self._core = Core(
            setup=setup,
            codec=Codec(setup.campaign, setup.epoch, setup.rank, knobs.frame_bytes),
            chronicle=chronicle,
            outbox=outbox,
            mint=TokenMint(setup.secret),
            fleet=Fleet(setup.workers, now, chronicle),
            in_flight=InFlight(chronicle),
            frontier=Frontier(
                setup.number,
                knobs.protocol_retries,
                setup.opening.frontier,
                outbox,
                shared=bool(setup.peers),
            ),
            knowledge=CampaignKnowledge(setup.opening.knowledge),
            breaker=Breaker(knobs.blames_to_pause),
            peers=Peers.of(setup, now),
            sources=list(setup.sources),
            now=now,
        )
        costs = Costs()
        self._settlement = Settlement(self._core, costs)
        self._dispatch = Dispatcher(self._core, costs)
        self._sweeps = Sweeps(self._core, self._dispatch.lost)
        self._vote = Quiescence(self._core, self._is_published)
        self._shutdown = Shutdown(
            self._core, self._settlement, self._is_published, lambda: self._vote.idle_window_s
        )
        self._intake = Intake(self._core, self._settlement, self._shutdown.drain_left)
        self._newsroom = Newsroom(
            self._core,
            lambda: self._shutdown.faulty,
            lambda: self._vote.waits or self._shutdown.waits,
        )
        self._takeover = Takeover(self._core)
        self._peer_frames = PeerFrames(self._core, self._newsroom, self._vote, self._takeover)
        self._told_upto = 0
        self._unpublished = 0

    # ---- what the loop calls --------------------------------------------------------------------

    def begin_turn(
        self, now: float, events: Sequence[CoordinatorEvent], *, drained: bool
    ) -> Sequence[Operation]:
        """Judge events, then sweep; return the operations for ONE transaction.

        `drained`: the transport was seen empty after the last event was taken."""
        core = self._core
        core.now = self._timeline.begin(now)
        core.violations = 0
        core.outbox.sealed = core.ending is not None and core.ending.control
        drained = drained and not self._timeline.late
        if self.finished:
            return ()
        self._sweeps.audit()
        for event in events:
            self._handle(event)
        if drained:
            self._takeover.watch()
        if core.left:
            core.outbox.forget_turn()
            self._settlement.forget()
            return ()
        if drained and core.ending is None:
            self._sweeps.run()
            # What is to be recovered is (J3, and by the retry budget); a reset cancels the rest.
            for slot in self._settlement.take_resets():
                self._sweeps.reset(slot)
        elif drained:
            self._sweeps.end_silent()
        self._sweeps.beat(at_once=self._timeline.late)
        self._dispatch.claim()
        self._vote.begin_turn()
        self._shutdown.begin_turn(drained=drained)
        core.outbox.flush_faults()
        self._newsroom.look()
        return core.outbox.operations()

    def end_turn(self, answers: TurnAnswers | None) -> Sequence[CoordinatorAction]:
        """Take the answers of a committed transaction; return what may leave the process now.

        `None`: there was nothing to run, or the transaction failed as a whole (see `fail`)."""
        core = self._core
        if core.left and not self.finished:
            return self._leave()
        if answers is not None:
            core.outbox.settle(answers.answers)
            core.frontier.take_answers(answers)
            core.last_artefact = max(core.last_artefact, answers.last_artefact)
            self._unpublished = answers.unpublished
            self._settlement.close_turn()
            if answers.last_artefact > self._told_upto and answers.unpublished:
                self._told_upto = answers.last_artefact
                core.outbox.act(Publish(answers.last_artefact))
        self._vote.end_turn()
        self._dispatch.dispatch()
        self._newsroom.end_turn(at_once=self._timeline.late)
        self._shutdown.end_turn()
        return core.outbox.take_actions()

    def _leave(self) -> Sequence[CoordinatorAction]:
        """Be no member any more: nothing is written; workers that are still here are let go."""
        core = self._core
        core.outbox.forget_turn()
        for worker in core.fleet.in_phase(WorkerPhase.JOINED):
            core.send(worker.rank, Stop(0.0))
        self._shutdown.phase = RunPhase.FINISHED
        core.outbox.act(Finish(core.left, int(ExitCode.HOST)))
        return core.outbox.take_actions()

    def sent(self, token: DispatchToken) -> None:
        """Note that the Send of this delivery returned."""
        self._dispatch.sent(token)

    def fail(self, exit_code: int, reason: str) -> None:
        """Begin a control stop (69, 70, 74): no more work, every worker is stopped and named."""
        core = self._core
        core.outbox.forget_turn()
        core.outbox.sealed = True
        self._settlement.forget()
        core.fail(exit_code, reason)
        self._shutdown.say_again()

    def next_deadline(self) -> float | None:
        """Return when the next turn must begin even without an event (monotonic seconds)."""
        if self.finished:
            return None
        deadlines = [*self._shutdown.deadlines(), *self._takeover.deadlines()]
        deadlines += self._newsroom.deadlines()
        if self._core.outbox.asking:
            deadlines.append(self._core.now)  # answers led to operations of the next turn
        if self._core.ending is None:
            deadlines += (*self._sweeps.deadlines(), *self._vote.deadlines())
            deadlines += self._dispatch.deadlines()
        else:
            deadlines.append(self._sweeps.silent_at)
            if self._shutdown.phase is RunPhase.RUNNING:
                deadlines.append(self._core.now)
        return self._timeline.expect(self._core.now, min(deadlines, default=None))

    @property
    def finished(self) -> bool:
        """Whether Finish was returned."""
        return self._shutdown.phase is RunPhase.FINISHED

    def story(self, subject: DispatchToken | SlotAddress) -> Sequence[str]:
        """Return what happened to a delivery or a slot, oldest first (bounded)."""
        return self._core.chronicle.story(subject)

    def view(self) -> CoordinatorView:
        """Return a snapshot for status."""
        return view_of(self._core, self._shutdown.phase.value, self._vote.idle_window_s)

    # ---- events ---------------------------------------------------------------------------------

    def _handle(self, event: CoordinatorEvent) -> None:  # noqa: C901, PLR0912
        core = self._core
        match event:
            case FrameReceived(rank, data):
                if rank in core.fleet.workers:
                    self._intake.frame(rank, data)
                else:
                    self._other_frame(rank, data)
            case TurnRefused(rank, why):
                core.outbox.fault("quarantined_frames", FrameFault.TURN)
                core.violation(rank, f"turn set aside: {why}")
            case RankLost(rank):
                self._takeover.rank_lost(rank)
                if rank in core.fleet.workers:
                    self._sweeps.rank_lost(core.fleet.workers[rank])
            case SendFailed(_, token):
                if token is not None:
                    self._dispatch.send_failed(token)
            case SourceBatch():
                self._source_batch(event)
            case ScanFinished(source, number):
                self._vote.scan_finished(source, number)
            case SinkAdvanced(sink, incarnation, published_from, published_upto, repaired):
                core.outbox.ask(MarkPublished(sink, incarnation, published_from, published_upto))
                if repaired:
                    core.outbox.fault("projection_repaired", amount=repaired)
            case PublishFailed(exit_code, message):
                core.fail(exit_code, message)
            case StopRequested(reason, exit_code, drain_s, restart):
                if core.setup.number == 0:
                    core.end(Ending(reason, exit_code, drain_s, restart=restart))
            case _:
                assert_never(event)

    def _other_frame(self, rank: int, data: bytes) -> None:
        """A frame from another coordinator, from a worker that comes from one, or from nobody."""
        if self._peer_frames.frame(rank, data):
            self._intake.frame(rank, data)

    def _source_batch(self, batch: SourceBatch) -> None:
        core = self._core
        if self._vote.frozen or core.ending is not None:
            return  # Q3: not admitted, not marked as seen: the next epoch's first work
        if batch.skips:
            core.outbox.ask(CountSkips(batch.source, batch.skips))
        if not batch.entries:
            return
        origins = tuple(entry.origin for entry in batch.entries)

        def admitted(answer: Answer) -> None:
            if isinstance(answer, Admitted):
                core.outbox.act(ConfirmAdmitted(batch.source, origins))

        core.frontier.stir()
        core.outbox.ask(Admit(batch.source, batch.entries), admitted)

    def _is_published(self) -> bool:
        return self._unpublished == 0

    # ---- invariants -----------------------------------------------------------------------------

    def validate_state(self) -> None:
        """Assert every invariant that holds between turns."""
        core = self._core
        listed = [delivery for slot in core.fleet.slots() for delivery in slot.deliveries]
        assert len(listed) == len(core.in_flight), "J6: tables agree on what is in flight"
        depth_max = 1 + core.setup.knobs.prefetch
        self._sweeps.validate()
        core.fleet.validate(depth_max)
        for slot in core.fleet.slots():
            held = slot.deliveries
            assert len(held) <= depth_max, "J11: a place is free when its delivery has ended"
            assert not held or slot.phase is SlotPhase.OPEN, "J6: only an open slot holds work"
            assert slot.incarnation not in slot.past, "an incarnation lives once"
            assert slot.owed <= slot.retired.keys()
            for delivery in held:
                assert core.in_flight.get(delivery.token) is delivery
                assert delivery.incarnation == slot.incarnation, "J6: of this very life"
                assert delivery.token not in slot.retired, "D1: a token ends once"
        # What is held when it breaks off stays as it is: others take it back.
        broken_off = bool(core.left) or (core.ending is not None and core.ending.control)
        work_ids = [*core.frontier.claimed]
        state_ids = [lease.state_id for lease in core.frontier.claimed.values()]
        for delivery in core.in_flight:
            assert delivery.phase is not Phase.DECIDING, "C1: decided within the turn"
            assert delivery.open_items, "A6: a delivery without items has ended"
            work_ids += [delivery.leases[n].work_id for n in delivery.open_items]
            state_ids += [delivery.leases[n].state_id for n in delivery.open_items]
        assert len(work_ids) == len(set(work_ids)), "L1: one holder per work id"
        assert len(state_ids) == len(set(state_ids)), "L1: one holder per state id"
        assert set(state_ids) == core.frontier.states.keys(), "L3: nothing else is held"
        assert all(token in {d.token for d in listed} for token in self._dispatch.flips.values())
        assert all(count >= 0 for count in core.outbox.totals.values()), "D8"
        if self.finished and not broken_off:
            assert not work_ids, "Q4: nothing is held at the end"
