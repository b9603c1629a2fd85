"""Random conversations with a coordinator, against a model that is small enough to be believed.

The model knows which tokens are in flight where, which bad results were seen, and which READY were
read; from that it predicts after every turn what is in flight, what is decided, and every counter.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from symfleet.protocol.events import CoordinatorEvent, FrameReceived
from symfleet.protocol.fleet import SlotPhase
from symfleet.protocol.item_results import Executed
from symfleet.protocol.messages import Progress, Result, Started
from symfleet.protocol.setup import Knobs
from symfleet.testing.coordinator_bench import CoordinatorBench, Delivered, Turn
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.types import DispatchToken, WorkId, WorkState

SLOTS = 2
STEP_S = 0.01
Place = tuple[int, int]


class OffSchema(msgspec.Struct, frozen=True, tag_field="t", tag="result"):
    """A body that no RESULT has."""

    items: int = 3


class Conversation(RuleBasedStateMachine):
    """Two workers of two slots, everything they may say, in any order."""

    prefetch: ClassVar[int] = 1

    def __init__(self) -> None:
        super().__init__()
        self.program = SyntheticProgram(60)
        self.bench = CoordinatorBench(
            workers=2,
            slots=SLOTS,
            program=self.program,
            # Silence has tests of its own; here only what is said matters.
            knobs=Knobs(prefetch=self.prefetch, protocol_retries=16, delivery_silence_s=86400.0),
        )
        self.flying: dict[DispatchToken, Delivered] = {}
        self.over: list[Delivered] = []
        self.ready_at: dict[DispatchToken, float] = {}
        self.marked: set[DispatchToken] = set()
        self.marked_slots: set[Place] = set()
        self.owed: dict[Place, set[DispatchToken]] = {}
        self.retired: dict[Place, set[DispatchToken]] = {}
        self.to_reset: set[Place] = set()
        self.resetting: set[Place] = set()
        self.decided: set[WorkId] = set()
        self.results: Counter[str] = Counter()
        self.readies: Counter[str] = Counter()
        self.frames: Counter[str] = Counter()
        self.reborn = 0
        self.requeued = 0
        self.invalid = 0
        self.lives = 50

    # ---- the model ------------------------------------------------------------------------------

    def place(self, work: Delivered) -> Place:
        return work.rank, work.slot

    def at(self, place: Place) -> list[Delivered]:
        return [work for work in self.flying.values() if self.place(work) == place]

    def end(self, work: Delivered, *, decided: bool = False, forget: bool = False) -> None:
        del self.flying[work.token]
        self.over.append(work)
        place = self.place(work)
        if not forget:
            self.retired.setdefault(place, set()).add(work.token)
            if work.token not in self.ready_at:
                self.owed.setdefault(place, set()).add(work.token)
        self.ready_at.pop(work.token, None)
        self.marked.discard(work.token)
        if decided:
            self.decided |= {entry.work_id for entry in work.work.items}
            self.marked_slots.discard(place)

    def sweep(self) -> None:
        """recover(T) for every delivery, in the order in which they left; then resets: they roll
        back what is left."""
        now = self.bench.clock.monotonic()
        for work in list(self.flying.values()):
            ready_at = self.ready_at.get(work.token)
            if ready_at is None:
                continue
            place = self.place(work)
            if work.token in self.marked or place in self.marked_slots or now >= ready_at + 2.0:
                if work.token not in self.marked:
                    self.marked_slots.discard(place)
                self.end(work)
                self.requeued += len(work.work.items)
        for place in self.to_reset:
            for work in self.at(place):
                self.end(work)
        self.resetting |= self.to_reset
        self.to_reset.clear()

    def turn(
        self, *events: CoordinatorEvent, drained: bool = True, after_s: float = STEP_S
    ) -> Turn:
        turn = self.bench.turn(*events, drained=drained, after_s=after_s)
        if drained:
            self.sweep()
        for work in turn.works:
            assert work.token not in self.flying, "D1"
            self.flying[work.token] = work
        self.compare()
        return turn

    def compare(self) -> None:
        core = self.bench.machine._core
        assert {delivery.token for delivery in core.in_flight} == set(self.flying)
        for place in {self.place(work) for work in self.flying.values()}:
            assert len(self.at(place)) <= 1 + self.prefetch
        resetting = {
            (slot.place.rank, slot.place.slot)
            for slot in core.fleet.slots()
            if slot.phase is SlotPhase.RESETTING
        }
        assert resetting == self.resetting

    # ---- rules ----------------------------------------------------------------------------------

    @initialize()
    def join(self) -> None:
        self.bench.join()
        self.turn(self.bench.seed(0, 30, 45))

    @rule(node=st.integers(0, 59))
    def admit(self, node: int) -> None:
        self.turn(self.bench.seed(node))

    def pick(self, data: st.DataObject) -> Delivered:
        return data.draw(st.sampled_from(list(self.flying.values())))

    @precondition(lambda self: self.flying)
    @rule(data=st.data(), drained=st.booleans(), ready=st.booleans())
    def good_result(self, data: st.DataObject, drained: bool, ready: bool) -> None:
        work = self.pick(data)
        events: list[CoordinatorEvent] = [self.bench.result(work)]
        if ready and work.token not in self.ready_at:
            self.ready_at[work.token] = self.bench.clock.monotonic() + STEP_S
            events.append(self.bench.ready(work.token, rank=work.rank, slot=work.slot))
        self.end(work, decided=True)
        self.turn(*events, drained=drained)

    @precondition(lambda self: self.flying)
    @rule(data=st.data(), drained=st.booleans())
    def ready_of_a_running_delivery(self, data: st.DataObject, drained: bool) -> None:
        work = self.pick(data)
        self.ready_at.setdefault(work.token, self.bench.clock.monotonic() + STEP_S)
        self.turn(self.bench.ready(work.token, rank=work.rank, slot=work.slot), drained=drained)

    @precondition(lambda self: self.flying)
    @rule(data=st.data(), kind=st.sampled_from(["missing", "malformed", "garbage"]))
    def bad_result(self, data: st.DataObject, kind: str) -> None:
        work = self.pick(data)
        if kind == "missing":
            event = self.bench.frame(Result(()), rank=work.rank, slot=work.slot)
            self.marked_slots.add(self.place(work))
        else:
            token = work.token if kind == "malformed" else DispatchToken("e" * 64)
            event = FrameReceived(
                work.rank,
                self.bench.codecs[work.rank].seal_as(
                    Result,
                    OffSchema(),
                    slot=work.slot,
                    incarnation=work.incarnation,
                    token=token,
                ),
            )
            if kind == "malformed":
                self.marked.add(work.token)
            else:
                self.marked_slots.add(self.place(work))
        self.results["missing" if kind == "missing" else "malformed"] += 1
        self.turn(event)

    @precondition(lambda self: self.flying)
    @rule(data=st.data(), drained=st.booleans())
    def invalid_result(self, data: st.DataObject, drained: bool) -> None:
        work = self.pick(data)
        if self.invalid >= 3:  # the breaker pauses a host at five in a row
            return
        items = [item for item in self.bench.execute(work) if isinstance(item, Executed)]
        lies = [msgspec.structs.replace(item, unstable=-1) for item in items]
        self.invalid += 1
        self.to_reset.add(self.place(work))
        self.end(work)
        self.turn(self.bench.result(work, lies), drained=drained)

    @precondition(lambda self: self.over)
    @rule(data=st.data(), repeat=st.booleans())
    def late_result(self, data: st.DataObject, repeat: bool) -> None:
        work = data.draw(st.sampled_from(self.over))
        place = self.place(work)
        settled = work.token in self.retired.get(place, set())
        present = work.incarnation == self.bench.lives[place]
        if not (repeat and settled and present):
            self.results["stale" if self.at(place) else "unowned"] += 1
        self.turn(self.bench.result(work, repeat=repeat))

    @rule(
        rank=st.integers(1, 2),
        slot=st.integers(0, SLOTS - 1),
        said=st.sampled_from([None, "", 7, True, "x", "A" * 64, "b" * 64]),
    )
    def odd_ready(self, rank: int, slot: int, said: object) -> None:
        holds = bool(self.at((rank, slot)))
        if said is None or said == "":
            if holds:
                self.readies["missing"] += 1
        elif said == "b" * 64:
            self.readies["stale"] += 1
        else:
            self.readies["malformed"] += 1
        self.turn(self.bench.ready(said, rank=rank, slot=slot))

    @precondition(lambda self: self.over)
    @rule(data=st.data())
    def late_ready(self, data: st.DataObject) -> None:
        work = data.draw(st.sampled_from(self.over))
        place = self.place(work)
        if work.incarnation != self.bench.lives[place]:
            self.readies["stale"] += 1
        elif work.token in self.owed.get(place, set()):
            self.owed[place].discard(work.token)
        elif self.at(place) or work.token not in self.retired.get(place, set()):
            self.readies["stale"] += 1
        self.turn(
            self.bench.ready(work.token, rank=work.rank, slot=work.slot, life=work.incarnation)
        )

    @precondition(lambda self: self.flying)
    @rule(data=st.data(), message=st.sampled_from([Started(), Progress(1)]))
    def evidence(self, data: st.DataObject, message: Started | Progress) -> None:
        work = self.pick(data)
        self.turn(self.bench.frame(message, rank=work.rank, slot=work.slot, token=work.token))

    @rule(rank=st.integers(1, 2), slot=st.integers(0, SLOTS - 1))
    def new_life(self, rank: int, slot: int) -> None:
        place = (rank, slot)
        self.lives += 1
        self.bench.lives[place] = self.lives
        self.reborn += 1
        for work in self.at(place):
            self.end(work, forget=True)
        self.owed.pop(place, None)
        self.retired.pop(place, None)
        self.marked_slots.discard(place)
        self.to_reset.discard(place)
        self.resetting.discard(place)
        self.turn(self.bench.ready(None, rank=rank, slot=slot))

    @rule()
    def two_quiet_seconds(self) -> None:
        for _ in range(5):
            self.turn(after_s=0.5)

    # ---- what holds after every step ----------------------------------------------------------

    @invariant()
    def counters_are_what_was_injected(self) -> None:
        totals = self.bench.machine._core.outbox.totals

        def of(name: str) -> Counter[str]:
            return Counter({why: n for (fault, why), n in totals.items() if fault == name and n})

        assert of("quarantined_results") == self.results
        assert of("quarantined_ready") == self.readies
        assert not of("quarantined_frames")
        assert of("slots_reborn").total() == self.reborn
        assert of("invalid_results").total() == self.invalid
        assert not of("wrong_owner_rejected")

    def teardown(self) -> None:
        """Nothing is lost: played honestly to its end, the campaign decides everything."""
        if not self.bench.machine._core.fleet.workers[1].slots:
            return
        self.turn()  # resets that wait for a drained turn
        for place in sorted(self.resetting):
            self.new_life(*place)
        for _ in range(300):
            for _ in range(4):
                if not self.flying:
                    self.turn()  # suspects are claimed when all else is done, stage by stage
            if not self.flying:
                break
            work = next(iter(self.flying.values()))
            self.end(work, decided=True)
            self.turn(self.bench.result(work))
        assert {row.work_id for row in self.bench.ledger.decisions()} == self.decided
        states = self.bench.ledger.status().states
        assert states[WorkState.PENDING] == states[WorkState.LEASED] == 0
        assert states[WorkState.DONE] == len(self.decided)
        faults = self.bench.ledger.status().faults_total
        assert faults.get("protocol_requeued", {}).get("", 0) == self.requeued


class Prefetch0(Conversation):
    prefetch = 0


class Prefetch1(Conversation):
    prefetch = 1


class Prefetch2(Conversation):
    prefetch = 2


class Prefetch4(Conversation):
    prefetch = 4


@pytest.mark.guarantee("D4")
@pytest.mark.guarantee("D6")
@pytest.mark.guarantee("D8")
@pytest.mark.guarantee("J2")
@pytest.mark.guarantee("J3")
@pytest.mark.guarantee("J4")
@pytest.mark.guarantee("J5")
@pytest.mark.guarantee("J6")
@pytest.mark.guarantee("J7")
@pytest.mark.guarantee("J10")
@pytest.mark.guarantee("J11")
@pytest.mark.guarantee("L1")
@pytest.mark.guarantee("L2")
@pytest.mark.parametrize("machine", [Prefetch0, Prefetch1, Prefetch2, Prefetch4])
def test_any_conversation_ends_as_the_model_says(machine: type[Conversation]) -> None:
    run = settings(
        max_examples=25,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    case = machine.TestCase
    case.settings = run
    case("runTest").runTest()


class Chosen:
    """What stands for `st.data()` when a conversation is told and not drawn."""

    def __init__(self, work: Delivered) -> None:
        self.work = work

    def draw(self, strategy: st.SearchStrategy[Delivered]) -> Delivered:
        """Return what was chosen."""
        return self.work


@pytest.mark.guarantee("J3")
@pytest.mark.parametrize("drained", [True, False])
def test_a_reset_cancels_only_what_is_not_to_be_recovered(drained: bool) -> None:
    """One slot answers garbage for a delivery that it says is done, and lies about the next."""
    talk: Any = Prefetch4()
    talk.join()
    for node in (1, 2, 3, 4, 5):
        talk.admit(node)
    place = next(
        place for place in map(talk.place, talk.flying.values()) if len(talk.at(place)) > 1
    )
    first, second = talk.at(place)[:2]
    talk.bad_result(Chosen(first), "garbage")
    talk.ready_of_a_running_delivery(Chosen(first), drained=False)
    talk.invalid_result(Chosen(second), drained=drained)
    talk.counters_are_what_was_injected()
    talk.teardown()
    assert talk.requeued == 1


@pytest.mark.parametrize("drained", [True, False])
def test_a_life_that_begins_before_a_reset_needs_none(drained: bool) -> None:
    talk: Any = Prefetch1()
    talk.join()
    work = next(iter(talk.flying.values()))
    talk.invalid_result(Chosen(work), drained=drained)
    talk.new_life(work.rank, work.slot)
    talk.counters_are_what_was_injected()
    talk.teardown()
