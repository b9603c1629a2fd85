"""What the in-memory ledger does beyond the behaviour suite: it can lose power."""

from __future__ import annotations

import pytest

from symfleet.ledger.memory import MemoryLedger
from symfleet.protocol.answers import Claimed, Decided
from symfleet.protocol.operations import Admit, Claim
from symfleet.testing.ledgers import (
    ManualClock,
    admission,
    campaign_row,
    child,
    decision,
    epoch_request,
)
from symfleet.types import WorkState


@pytest.fixture
def ledger() -> MemoryLedger:
    """A ledger with three pending items."""
    ledger = MemoryLedger(campaign_row(), ManualClock())
    ledger.open_epoch(epoch_request())
    ledger.register_source("seeds", "/s", "here")
    ledger.run([Admit(1, tuple(admission(b"%d" % n) for n in range(3)))])
    return ledger


def test_a_power_cut_may_undo_leases_but_no_decision(ledger: MemoryLedger) -> None:
    (answer,) = ledger.run([Claim(0, 1)]).answers
    assert isinstance(answer, Claimed)
    ledger.run([decision(answer.leases[0], [child(b"kid", 8)])])
    ledger.run([Claim(0, 2)])
    ledger.power_cut()
    states = ledger.status().states
    assert (states[WorkState.DONE], states[WorkState.LEASED]) == (1, 0)
    assert states[WorkState.PENDING] == 3
    assert list(ledger.audit()) == []


@pytest.mark.guarantee("L6")
def test_a_lease_that_a_power_cut_undid_never_returns_under_its_token(
    ledger: MemoryLedger,
) -> None:
    """The fence may be given again, but not in the same epoch."""
    (answer,) = ledger.run([Claim(0, 1)]).answers
    assert isinstance(answer, Claimed)
    (lost,) = answer.leases
    ledger.power_cut()
    ledger.open_epoch(epoch_request(8))
    (answer,) = ledger.run([Claim(0, 1)]).answers
    assert isinstance(answer, Claimed)
    (again,) = answer.leases
    assert again.work_id == lost.work_id
    assert again.token.fence == lost.token.fence
    assert again.token > lost.token
    (stale,) = ledger.run([decision(lost)]).answers
    assert stale == Decided("stale")
