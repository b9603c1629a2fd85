"""A coordinator that writes over its own connection: when the root is gone for it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from symfleet.ledger.postgres_owner import GivenUpError
from symfleet.protocol.answers import TurnAnswers
from symfleet.protocol.codec import Codec
from symfleet.protocol.events import CoordinatorEvent, FrameReceived, RankLost
from symfleet.protocol.messages import Beat, TurnAnswer
from symfleet.protocol.operations import Claim, Operation
from symfleet.protocol.setup import Knobs
from symfleet.runtime.introduction import RootGone
from symfleet.runtime.own_ledger import OwnLedger
from symfleet.runtime.turn_service import NEVER_AGAIN
from symfleet.types import CampaignId, Epoch

KNOBS = Knobs()
CAMPAIGN = CampaignId("c1" * 16)
ROOT = Codec(CAMPAIGN, Epoch(1), 0, KNOBS.frame_bytes)


class Recording:
    """A connection that remembers turns; it may have been given up."""

    def __init__(self) -> None:
        self.turns: list[Sequence[Operation]] = []
        self.is_given_up = False

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        if self.is_given_up:
            raise GivenUpError("this coordinator was given up")
        self.turns.append(operations)
        return TurnAnswers((), pending=3)

    def checkpoint(self) -> None:
        """Nothing is due."""


def own() -> tuple[OwnLedger, Recording]:
    recording = Recording()
    return OwnLedger(recording, Codec(CAMPAIGN, Epoch(1), 1, KNOBS.frame_bytes), KNOBS), recording


def test_a_turn_goes_over_the_connection_and_an_empty_one_costs_none() -> None:
    ledger, recording = own()
    assert ledger.run([]) is None
    answers = ledger.run([Claim(1, 2)])
    assert answers is not None
    assert answers.pending == 3
    assert recording.turns == [[Claim(1, 2)]]


@pytest.mark.guarantee("L2")
def test_one_that_was_given_up_leaves_without_accusing_anybody() -> None:
    ledger, recording = own()
    recording.is_given_up = True
    with pytest.raises(RootGone):
        ledger.run([Claim(1, 2)])


def test_what_the_root_says_reaches_the_machine_unless_it_wants_no_more() -> None:
    ledger, _ = own()
    beat = FrameReceived(0, ROOT.seal(Beat()))
    stray = FrameReceived(0, ROOT.seal(TurnAnswer(4, 0, 1, b"")))
    lost: CoordinatorEvent = RankLost(3)
    assert ledger.arrived([beat, stray, lost]) == [beat, stray, lost], "it counts what is astray"
    with pytest.raises(RootGone):
        ledger.arrived([FrameReceived(0, ROOT.seal(NEVER_AGAIN))])
    with pytest.raises(RootGone):
        ledger.arrived([RankLost(0)])
