"""The scale study's ledger answers as the in-memory store does, turn by turn."""

from __future__ import annotations

import dataclasses
import random

import pytest

from symfleet.errors import InternalError
from symfleet.ledger.memory import MemoryLedger
from symfleet.protocol.answers import Claimed, Lease, Quiesced, TurnAnswers
from symfleet.protocol.operations import (
    Admit,
    AuditLeases,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    CountFaults,
    Decide,
    MarkPublished,
    Operation,
    Release,
    ReleaseCause,
    SetSource,
    TakeOver,
)
from symfleet.testing.ledgers import (
    ManualClock,
    admission,
    campaign_row,
    child,
    decision,
    epoch_request,
    packed,
)
from symfleet.testing.scale.ledger import ScaleLedger
from symfleet.types import Incarnation, Keep


class Conversation:
    """Random turns of a few coordinators, asked of both ledgers."""

    def __init__(self, seed: int, keep: Keep) -> None:
        self.draw = random.Random(seed)
        self.keep = keep
        self.real = MemoryLedger(campaign_row(keep), ManualClock())
        self.ours = ScaleLedger()
        self.held: dict[int, list[Lease]] = {0: [], 1: [], 2: []}
        self.over: list[Lease] = []
        """Leases that were given back or became void."""
        self.decided: list[Decide] = []
        self.serial = 0
        self.open_epoch()

    def open_epoch(self) -> None:
        """Both open the same epoch; every lease is void."""
        real, ours = self.real.open_epoch(epoch_request()), self.ours.open_epoch()
        assert (real.epoch, real.frontier, real.leases_recovered, real.knowledge) == (
            ours.epoch,
            ours.frontier,
            ours.leases_recovered,
            ours.knowledge,
        )
        assert self.real.register_source("seeds", "/s", "here") == 1
        self.over += [lease for leases in self.held.values() for lease in leases]
        self.held = {0: [], 1: [], 2: []}

    def run(self, operations: list[Operation]) -> TurnAnswers:
        """Both answer alike."""
        real, ours = self.real.run(operations), self.ours.run(operations)
        for operation, theirs, mine in zip(operations, real.answers, ours.answers, strict=True):
            assert theirs == mine, operation
        assert dataclasses.replace(real, last_artefact=0, unpublished=0) == ours
        return ours

    def turn(self) -> None:
        """A turn of one coordinator: old and new results, releases, admissions, a claim."""
        who = self.draw.randrange(3)
        mine = self.held[who]
        self.draw.shuffle(mine)
        operations: list[Operation] = []
        for _ in range(min(len(mine), self.draw.randrange(5))):
            lease = mine.pop()
            is_result = self.draw.random() < 0.5
            operations.append(self.decide(lease) if is_result else self.release(lease))
        if self.over and self.draw.random() < 0.2:
            operations.append(self.decide(self.draw.choice(self.over)))
        if self.decided and self.draw.random() < 0.2:
            operations.insert(0, self.draw.choice(self.decided))
        if self.draw.random() < 0.3:
            fresh = [admission(b"seed %d" % self.draw.randrange(40)) for _ in range(3)]
            operations.append(Admit(1, tuple(fresh)))
        if self.draw.random() < 0.1:
            operations.append(CountFaults(who, (("frames", "why", 2),)))
        if self.draw.random() < 0.2:
            held = tuple((lease.work_id, lease.token) for lease in mine[: self.draw.randrange(9)])
            operations.append(AuditLeases(who, held))
        if self.draw.random() < 0.1:
            operations.append(CommitQuiescence("members", self.draw.randrange(9)))
        operations.append(
            Claim(who, self.draw.randrange(6), with_deferred=self.draw.random() < 0.1)
        )
        for answer in self.run(operations).answers:
            if isinstance(answer, Claimed):
                self.held[who] += answer.leases

    def decide(self, lease: Lease) -> Decide:
        """A result with children, some known, some with new edges."""
        kids = []
        for _ in range(self.draw.randrange(3)):
            self.serial += 1
            name = b"kid %d" % (self.serial if self.draw.random() < 0.8 else self.serial // 2)
            kids.append(child(name, *self.draw.sample(range(400), 5)))
        edges = packed(*self.draw.sample(range(400), 8))
        made = decision(lease, kids, keep=self.keep, edges=edges)
        if lease not in self.over:
            self.decided.append(made)
        return made

    def release(self, lease: Lease) -> Release:
        """A lease goes back."""
        self.over.append(lease)
        at_head = self.draw.random() < 0.3
        causes: list[ReleaseCause] = ["given_back", "prefetched", "protocol"]
        cause = self.draw.choice(causes)
        return Release(lease.work_id, lease.token, cause, at_head=at_head)


@pytest.mark.parametrize("keep", [Keep.ALL, Keep.NOVEL])
@pytest.mark.parametrize("seed", range(4))
def test_it_answers_every_turn_as_the_store_in_memory_does(seed: int, keep: Keep) -> None:
    both = Conversation(seed, keep)
    for _ in range(150):
        both.turn()
    both.open_epoch()
    for _ in range(50):
        both.turn()


def test_a_lost_coordinators_leases_are_taken_over_as_in_the_store_in_memory() -> None:
    both = Conversation(9, Keep.ALL)
    for _ in range(40):
        both.turn()
    assert both.held[1]
    both.run([TakeOver(1), AuditLeases(1, ())])
    both.run([TakeOver(1)])
    both.run([both.decide(both.held[1].pop())])


def test_the_end_of_a_campaign_is_the_same_in_both() -> None:
    both = Conversation(3, Keep.NOVEL)
    both.run([Admit(1, (admission(b"seed"),)), Claim(0, 2)])
    refused = both.run([CommitQuiescence("m", 2), SetSource(1, is_open=False)])
    assert isinstance(refused.answers[0], Quiesced)
    assert not refused.answers[0].committed
    (claimed,) = both.ours.run([Claim(1, 1)]).answers
    assert claimed == Claimed(())
    lease = next(iter(both.ours._held[0].values()))
    assert lease.fence == 1
    assert both.ours.open_work == 1


def test_it_refuses_what_it_does_not_keep() -> None:
    ledger = ScaleLedger()
    ledger.open_epoch()
    with pytest.raises(InternalError, match="does not keep"):
        ledger.run([MarkPublished(1, Incarnation(1), 0, 1)])
    assert ledger.run([CloseEpoch("quiescent", 0)]).open_work == 0
    assert ledger.closed is not None
