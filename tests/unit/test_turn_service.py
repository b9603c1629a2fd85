"""Turns of several coordinators on one ledger, over the in-process transport."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import msgspec
import pytest

from symfleet.errors import DataError, IOFailure
from symfleet.ledger.memory import MemoryLedger
from symfleet.protocol.answers import Admitted, Answer, Claimed, Counted, TurnAnswers
from symfleet.protocol.codec import Codec, Frame, kind_of
from symfleet.protocol.coordinator_view import joined_view
from symfleet.protocol.events import CoordinatorEvent, FrameReceived, RankLost, TurnRefused
from symfleet.protocol.messages import Beat, SlotsSeen, Turn, TurnAnswer
from symfleet.protocol.operations import (
    Admit,
    AuditLeases,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    CountFaults,
    Operation,
    RecordAck,
    Release,
    TakeOver,
)
from symfleet.protocol.setup import Knobs
from symfleet.protocol.turns import decode_answers, encode_operations
from symfleet.runtime.introduction import RootGone
from symfleet.runtime.remote_ledger import RemoteLedger
from symfleet.runtime.turn_service import TurnService
from symfleet.testing.coordinator_bench import CAMPAIGN, CoordinatorBench, admission
from symfleet.testing.fake_clock import FakeClock
from symfleet.transport.contract import Arrivals
from symfleet.transport.inproc import Endpoint, Network
from symfleet.types import Epoch, Incarnation, WorkState

KNOBS = Knobs()
EPOCH = Epoch(1)
LIVES = {1: Incarnation(11), 2: Incarnation(22)}


class Counting:
    """A ledger that remembers its transactions."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self.ledger = ledger
        self.transactions: list[Sequence[Operation]] = []
        self.error: IOFailure | None = None

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        self.transactions.append(operations)
        if self.error is not None:
            raise self.error
        return self.ledger.run(operations)

    def checkpoint(self) -> None:
        self.ledger.checkpoint()


class Meanwhile(FakeClock):
    """While somebody waits, something else happens."""

    def __init__(self, what: Callable[[], None]) -> None:
        super().__init__()
        self.what = what

    def sleep(self, seconds: float) -> None:
        self.what()
        super().sleep(max(seconds, 0.001))


@dataclass
class Site:
    """A root with two other coordinators, ranks 1 and 2."""

    knobs: Knobs = KNOBS
    network: Network = field(default_factory=lambda: Network(3))
    told: list[tuple[Operation, Answer]] = field(default_factory=list)
    refused: list[TurnRefused] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger = Counting(CoordinatorBench().ledger)
        self.root = self.network.endpoint(0)
        self.service = TurnService(
            self.ledger,
            self.root,
            self.codec(0),
            {rank: (rank, life) for rank, life in LIVES.items()},
            self.knobs,
            lambda asked, told: self.told.extend(zip(asked, told, strict=True)),
        )

    def codec(self, rank: int) -> Codec:
        return Codec(CAMPAIGN, EPOCH, rank, self.knobs.frame_bytes)

    def hear(self) -> Sequence[CoordinatorEvent]:
        rest = self.service.arrived(self.root.receive(1000, 1 << 30).events)
        self.refused += [event for event in rest if isinstance(event, TurnRefused)]
        return rest

    def serve(self, operations: Sequence[Operation] = ()) -> TurnAnswers | None:
        self.hear()
        return self.service.run(operations)

    def remote(self, rank: int, what: Callable[[], object] | None = None) -> RemoteLedger:
        def meanwhile() -> None:
            (what or self.serve)()

        return RemoteLedger(
            self.network.endpoint(rank),
            Meanwhile(meanwhile),
            self.codec(rank),
            LIVES[rank],
            self.knobs,
        )

    def send(self, rank: int, operations: Sequence[Operation], number: int = 1) -> None:
        self.say(rank, Turn(number, 0, 1, encode_operations(operations)))

    def say(self, rank: int, turn: Turn, life: Incarnation | None = None) -> None:
        frame = self.codec(rank).seal(turn, incarnation=LIVES[rank] if life is None else life)
        self.network.endpoint(rank).send(0, frame)

    def answers(self, rank: int) -> list[tuple[int, bytes]]:
        """Return number and bytes of the answers that a rank has got."""
        found = []
        for event in self.network.endpoint(rank).receive(1000, 1 << 30).events:
            assert isinstance(event, FrameReceived)
            opened = self.codec(rank).open(event.data)
            assert isinstance(opened, Frame)
            assert isinstance(opened.message, TurnAnswer)
            found.append((opened.message.number, opened.message.data))
        return found

    def violations(self) -> int:
        """Return how many frames the root's machine is to count."""
        return len(self.refused)


def inputs(*data: bytes) -> Admit:
    return Admit(1, tuple(admission(one) for one in data))


def test_a_turn_from_afar_is_answered_like_one_at_home() -> None:
    site = Site()
    answers = site.remote(1).run([inputs(b"a", b"b"), Claim(1, 2)])
    assert answers is not None
    admitted, claimed = answers.answers
    assert admitted == Admitted((True, True))
    assert isinstance(claimed, Claimed)
    assert sorted(lease.data for lease in claimed.leases) == [b"a", b"b"]
    assert (answers.pending, answers.leased) == (0, 2)


def test_all_turns_that_have_arrived_are_one_transaction_each_with_its_own_answers() -> None:
    site = Site()
    site.send(1, [inputs(b"one"), Claim(1, 1)])
    site.send(2, [inputs(b"two"), Claim(2, 1)])
    own = site.serve([inputs(b"own")])
    assert own is not None
    assert own.answers == (Admitted((True,)),)
    assert len(site.ledger.transactions) == 1
    for rank, data in ((1, b"one"), (2, b"two")):
        ((number, answer),) = site.answers(rank)
        assert number == 1
        admitted, claimed = decode_answers(answer).answers
        assert admitted == Admitted((True,))
        assert isinstance(claimed, Claimed)
        assert [lease.data for lease in claimed.leases] == [data]
    assert len(site.told) == 5, "who watches decisions sees everybody's"


def test_a_turn_is_served_when_the_root_has_nothing_to_do() -> None:
    site = Site()
    assert site.service.run(()) is None, "nothing waits"
    site.send(1, [inputs(b"a")])
    site.hear()
    assert site.service.waiting
    own = site.service.run(())
    assert own is not None
    assert (own.answers, own.pending) == ((), 1)


@pytest.mark.guarantee("C7")
def test_the_same_number_again_gets_the_same_answer_and_runs_once() -> None:
    site = Site()
    turn = Turn(1, 0, 1, encode_operations([inputs(b"a"), Claim(1, 1)]))
    site.say(1, turn)
    site.say(1, turn)
    site.serve()
    (first,) = site.answers(1)
    site.say(1, turn)
    site.hear()
    assert not site.service.waiting
    assert site.answers(1) == [first]
    assert len(site.ledger.transactions) == 1
    assert site.violations() == 0


@pytest.mark.guarantee("D8")
@pytest.mark.guarantee("L2")
@pytest.mark.parametrize(
    ("turn", "life"),
    [
        (Turn(2, 0, 1, encode_operations([Claim(1, 1)])), LIVES[1]),
        (Turn(0, 0, 1, encode_operations([Claim(1, 1)])), LIVES[1]),
        (Turn(1, 0, 1, encode_operations([Claim(1, 1)])), Incarnation(12)),
        (Turn(1, 1, 2, encode_operations([Claim(1, 1)])), LIVES[1]),
        (Turn(1, 0, 1, b"nonsense"), LIVES[1]),
        (Turn(1, 0, 1, encode_operations([Claim(2, 1)])), LIVES[1]),
        (Turn(1, 0, 1, encode_operations([AuditLeases(0, ())])), LIVES[1]),
        (Turn(1, 0, 1, encode_operations([CountFaults(2, ())])), LIVES[1]),
        (Turn(1, 0, 1, encode_operations([RecordAck(0, 1, 1, (), 0.0)])), LIVES[1]),
        (Turn(1, 0, 1, encode_operations([TakeOver(2)])), LIVES[1]),
        (Turn(1, 0, 1, encode_operations([CloseEpoch("mine", 0)])), LIVES[1]),
        (Turn(1, 0, 1, encode_operations([CommitQuiescence("", 0)])), LIVES[1]),
    ],
)
def test_a_turn_out_of_order_or_not_its_own_changes_nothing_and_counts(
    turn: Turn, life: Incarnation
) -> None:
    site = Site()
    site.service.run([inputs(b"a")])
    site.say(1, turn, life)
    site.hear()
    assert site.violations() == 1
    assert site.ledger.ledger.status().states[WorkState.PENDING] == 1
    for _, answer in site.answers(1):
        with pytest.raises(DataError):
            decode_answers(answer)


def test_a_large_turn_travels_in_pieces_both_ways() -> None:
    site = Site(replace(KNOBS, frame_mib=2))
    data = [bytes([n]) * (700 << 10) for n in range(5)]
    remote = site.remote(1)
    assert remote.run([inputs(*data)]) is not None
    answers = remote.run([Claim(1, 5)])
    assert answers is not None
    (claimed,) = answers.answers
    assert isinstance(claimed, Claimed)
    assert sorted(lease.data for lease in claimed.leases) == data


class Narrow(Endpoint):
    """A transport that says that a frame is still on its way until somebody receives."""

    busy = 0

    def send(self, rank: int, frame: bytes) -> None:
        self.busy += len(frame)
        super().send(rank, frame)

    def receive(self, frames_max: int, bytes_max: int, source: int | None = None) -> Arrivals:
        self.busy = 0
        return super().receive(frames_max, bytes_max, source)

    def unsent_bytes(self, rank: int | None = None) -> int:
        return self.busy


def test_claimed_inputs_may_be_more_than_a_queue_holds() -> None:
    site = Site()
    data = [bytes([n]) * (1 << 20) for n in range(180)]
    for start in range(0, 180, 60):
        site.service.run([inputs(*data[start : start + 60])])
    narrow = Narrow(site.network, 0)
    site.root = site.service._transport = narrow
    most: list[int] = []

    def serve() -> None:
        site.serve()
        most.append(narrow.busy)

    answers = site.remote(1, serve).run([Claim(1, 180)])
    assert answers is not None
    (claimed,) = answers.answers
    assert isinstance(claimed, Claimed)
    assert sorted(lease.data for lease in claimed.leases) == data
    assert max(most) < 66 << 20, "never much more than the bound is handed over"
    assert len([size for size in most if size]) >= 3


def test_a_transaction_takes_turns_up_to_its_size_and_the_rest_next_time() -> None:
    site = Site(replace(KNOBS, turn_mib=1))
    for rank in LIVES:
        site.send(rank, [inputs(bytes([rank]) * (700 << 10))])
    site.hear()
    assert site.service.own_bytes_max == (1 << 20) // 3, "a fair share is left in any case"
    site.service.run(())
    assert (len(site.answers(1)), len(site.answers(2))) == (1, 0)
    assert site.service.waiting
    site.service.run(())
    assert len(site.answers(2)) == 1


def test_nobody_is_always_served_last() -> None:
    site = Site()
    first = []
    for number in (1, 2):
        site.send(1, [Claim(1, 1)], number)
        site.serve([Claim(0, 1)])
        (claim, _) = site.ledger.transactions[-1]
        assert isinstance(claim, Claim)
        first.append(claim.coordinator)
    assert sorted(first) == [0, 1]


def test_the_root_stands_back_when_it_had_its_turn_since_the_others() -> None:
    site = Site()
    site.send(1, [Claim(1, 1)])
    site.serve([Claim(0, 1)])
    site.send(1, [Claim(1, 1)], 2)
    site.hear()
    together = site.service.stand_back
    site.serve()
    site.service.run([Claim(0, 1)])
    site.send(1, [Claim(1, 1)], 3)
    site.hear()
    since = site.service.stand_back
    site.service.run(())
    assert (together, since, site.service.stand_back) == (False, True, False)


@pytest.mark.guarantee("Q3")
def test_a_verdict_comes_after_what_others_said_before_it() -> None:
    site = Site()
    for number in (1, 2):
        site.send(1, [inputs(b"%d" % number)], number)
        own = site.serve([CommitQuiescence("", 0)])
        assert own is not None
        assert isinstance(site.ledger.transactions[-1][-1], CommitQuiescence)


def test_an_error_of_the_transaction_reaches_everybody_in_it() -> None:
    site = Site()
    site.ledger.error = IOFailure("the disk is full", where="ledger", why="no space", hint="free")

    def serve() -> None:
        with pytest.raises(IOFailure):
            site.serve([Claim(0, 1)])

    with pytest.raises(IOFailure) as caught:
        site.remote(1, serve).run([Claim(1, 1)])
    error = caught.value
    assert (error.what, error.where, error.why, error.hint) == (
        "the disk is full",
        "ledger",
        "no space",
        "free",
    )


def test_frames_of_others_are_the_machines() -> None:
    site = Site()
    frame = site.codec(1).seal(Beat())
    site.network.endpoint(1).send(0, frame)
    assert site.hear() == [FrameReceived(1, frame)]


@pytest.mark.guarantee("L2")
def test_nothing_of_a_lost_coordinator_runs_any_more() -> None:
    site = Site()
    site.send(1, [inputs(b"a")])
    site.hear()
    site.network.lose(1)
    assert site.hear() == [RankLost(1)]
    assert not site.service.waiting


def test_what_the_root_says_during_a_turn_is_heard_after_it() -> None:
    site = Site()
    beat = site.codec(0).seal(Beat())

    def serve() -> None:
        site.root.send(1, beat)
        site.network.endpoint(2).send(1, b"from a peer")
        site.serve()

    remote = site.remote(1, serve)
    assert remote.run([Claim(1, 1)]) is not None
    assert remote.waiting
    others = site.network.endpoint(1).receive(10, 1 << 20).events
    assert others == (FrameReceived(2, b"from a peer"),)
    assert remote.arrived(others) == [FrameReceived(0, beat), FrameReceived(2, b"from a peer")]
    assert not remote.waiting


def test_a_root_that_is_dead_or_never_answers_is_gone() -> None:
    site = Site()
    with pytest.raises(RootGone):
        site.remote(1, lambda: None).run([Claim(1, 1)])
    with pytest.raises(RootGone):
        site.remote(1, lambda: site.network.lose(0)).run([Claim(1, 1)])
    with pytest.raises(RootGone):
        site.remote(1).run([Claim(1, 1)])


def test_a_coordinator_that_was_given_up_learns_it_whenever_it_listens() -> None:
    site = Site()
    site.service.dismiss(1)
    site.root.give_up(1)
    remote = site.remote(1)
    events = site.network.endpoint(1).receive(10, 1 << 20).events
    assert [kind_of(event.data) for event in events if isinstance(event, FrameReceived)] == [
        TurnAnswer
    ]
    with pytest.raises(RootGone):
        remote.arrived(events)
    again = Site()
    with pytest.raises(RootGone):
        again.remote(1, lambda: again.service.dismiss(1)).run([Claim(1, 1)])


def test_slots_of_all_coordinators_are_shown_together() -> None:
    site, views = Site(), {}
    for rank, slots in ((1, 2), (2, 3)):
        bench = CoordinatorBench(workers=1, slots=slots)
        bench.join()
        views[rank] = bench.machine.view()
        shown = SlotsSeen(msgspec.msgpack.encode(views[rank]))
        site.network.endpoint(rank).send(0, site.codec(rank).seal(shown, incarnation=LIVES[rank]))
    assert site.hear() == []
    assert site.service.views() == (views[1], views[2])
    own = CoordinatorBench().machine.view()
    joined = joined_view(own, site.service.views())
    assert (len(joined.slots), joined.workers, joined.workers_joined) == (5, 3, 2)
    assert joined_view(own, ()) == own
    assert site.violations() == 0


@pytest.mark.guarantee("D8")
def test_slots_that_cannot_be_read_are_counted() -> None:
    site = Site()
    frame = site.codec(1).seal(SlotsSeen(b"nonsense"), incarnation=LIVES[1])
    site.network.endpoint(1).send(0, frame)
    site.hear()
    assert site.service.views() == ()
    assert site.violations() == 1


def test_nothing_to_run_is_no_turn() -> None:
    site = Site()
    assert site.remote(1).run(()) is None
    assert site.hear() == []


def test_counted_and_given_back_work_through_the_service() -> None:
    site = Site()
    remote = site.remote(2)
    answers = remote.run([inputs(b"a"), Claim(2, 1), CountFaults(2, (("blames", "", 1),))])
    assert answers is not None
    claimed = answers.answers[1]
    assert isinstance(claimed, Claimed)
    assert answers.answers[2] == Counted()
    (lease,) = claimed.leases
    released = remote.run([Release(lease.work_id, lease.token, "given_back")])
    assert released is not None
    assert released.pending == 1


@pytest.mark.guarantee("D8")
def test_an_answer_that_nobody_waits_for_is_the_machines_to_count() -> None:
    site = Site()
    remote = site.remote(1)
    assert remote.run([inputs(b"a")]) is not None
    late = site.codec(0).seal(TurnAnswer(1, 0, 1, b"late"))
    events = [FrameReceived(0, frame) for frame in (late, late[:-1] + b"!", late[:90])]
    assert remote.arrived(events) == events
