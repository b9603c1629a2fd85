"""After a launch without an end the next one checks everything beside its work: in bounded slices,
at a twentieth of a core, and before it calls anything quiescent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from symfleet.errors import ExitCode, IntegrityError
from symfleet.ledger import audit_background, opener
from symfleet.ledger.audit_background import SHARE, BackgroundAudit, Slices
from symfleet.ledger.contract import Finding
from symfleet.ledger.faults import DiskFailureError, unreadable
from symfleet.ledger.sqlite import SqliteLedger
from symfleet.protocol.answers import Claimed, Quiesced
from symfleet.protocol.operations import Admit, Claim, CloseEpoch, CommitQuiescence, SetSource
from symfleet.testing.jobs import Role, until
from symfleet.testing.ledgers import (
    ManualClock,
    admission,
    campaign_row,
    child,
    decision,
    epoch_request,
)
from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.stores.ledger_damage import flip_byte, unguarded
from symfleet.types import Keep, WorkState

PROGRAM = Path(__file__).parents[1] / "programs" / "none.py"
REQUEST = opener.OwnerRequest("here", os.getpid(), reserve_bytes=0)
DECIDED = b"a decided input that is easy to find in the file"
ITEMS = 100


def decide_all(ledger: SqliteLedger, *, children: bool) -> None:
    (answer,) = ledger.run([Claim(0, 1000)]).answers
    assert isinstance(answer, Claimed)
    for number, lease in enumerate(answer.leases):
        kids = [child(b"kid %d" % number, 8 * (number + 1))] if children else []
        ledger.run([decision(lease, kids, keep=Keep.ALL)])


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A campaign whose only launch has no end: as many decisions as open rows."""
    ledger = opener.create(tmp_path, campaign_row(Keep.ALL), REQUEST, ManualClock())
    ledger.open_epoch(epoch_request())
    source = ledger.register_source("seeds", "/s", "here")
    inputs = (DECIDED, *(b"%d" % number for number in range(ITEMS - 1)))
    ledger.run([Admit(source, tuple(admission(data) for data in inputs))])
    decide_all(ledger, children=True)
    ledger.abandon()
    return tmp_path


def own(out: Path) -> SqliteLedger:
    """Go on in a new epoch; nothing is left to be published."""
    ledger = opener.open_owner(out, REQUEST, ManualClock())
    ledger.open_epoch(epoch_request(8))
    return ledger


def quiesce(ledger: SqliteLedger) -> Quiesced:
    changes = ledger.run([]).changes
    (answer,) = ledger.run([CommitQuiescence("all", changes)]).answers
    assert isinstance(answer, Quiesced)
    return answer


@pytest.fixture(params=["at once", "in a thread"])
def pages(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the pages in each way."""
    if request.param == "in a thread":
        monkeypatch.setattr(audit_background, "PAGES_INLINE_ROWS_MAX", 0)


@pytest.mark.usefixtures("pages")
@pytest.mark.guarantee("C9")
def test_nothing_is_called_quiescent_before_everything_was_looked_at(
    killed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_background, "HURRY_S", 0.0)
    ledger = own(killed)
    source = ledger.register_source("seeds", "/s", "here")
    decide_all(ledger, children=False)
    ledger.run([SetSource(source, is_open=False)])
    assert quiesce(ledger) == Quiesced(
        committed=False, reason="the audit of the ledger is not over"
    )
    audit_to_its_end(ledger)
    assert quiesce(ledger).committed
    ledger.run([CloseEpoch("quiescent", 0)])
    assert list(ledger.audit()) == []
    ledger.close()


def test_after_an_end_in_order_nothing_is_looked_at_again(killed: Path) -> None:
    ledger = own(killed)
    source = ledger.register_source("seeds", "/s", "here")
    decide_all(ledger, children=False)
    ledger.run([SetSource(source, is_open=False), CloseEpoch("interrupted", 0)])
    ledger.close()
    again = own(killed)
    assert quiesce(again).committed
    again.close()


def audit_to_its_end(ledger: SqliteLedger) -> None:
    """The pages may be checked in a thread that gets the core last of all."""
    audit = ledger._audit
    assert audit is not None

    def is_over() -> bool:
        ledger.checkpoint()
        return audit.finished

    until("the audit is over", is_over, 60)


def spoil(out: Path, statement: str) -> None:
    with unguarded(out / "ledger.db") as connection:
        assert connection.execute(statement).rowcount > 0


@pytest.mark.usefixtures("pages")
@pytest.mark.guarantee("A1")
@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("C9")
@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE inputs SET data = x'00' WHERE input = 1", "an input does not match its name"),
        ("UPDATE work SET payload = x'90' WHERE work = 1", "a work row is not what its ids say"),
        ("UPDATE work SET blames = 2 WHERE work = 1", "blames are not counted"),
        (
            "UPDATE counters SET amount = 7 WHERE name = 'generated'",
            "is not the sum over decisions",
        ),
        ("UPDATE artefacts SET how = 'x' WHERE artefact = 150", "not what its decision shows"),
        ("UPDATE artefacts SET signal = 9 WHERE artefact = 1", "an admitted input has a story"),
    ],
)
def test_what_the_start_does_not_look_at_is_found_while_the_campaign_runs(
    killed: Path, monkeypatch: pytest.MonkeyPatch, statement: str, named: str
) -> None:
    monkeypatch.setattr("symfleet.ledger.audit.CHAIN_CHECKED_AT_START", 1)
    spoil(killed, statement)
    ledger = own(killed)
    with pytest.raises(IntegrityError, match=named) as caught:
        audit_to_its_end(ledger)
    assert "found while the campaign ran" in caught.value.why
    ledger.checkpoint()  # it is told once
    assert not quiesce(ledger).committed
    ledger.run([CloseEpoch("damaged", 70)])
    ledger.close()


@pytest.mark.usefixtures("pages")
@pytest.mark.guarantee("C9")
def test_pages_that_the_disk_does_not_give_are_not_called_damage(
    killed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: object) -> NoReturn:
        raise unreadable("here", "the disk says no")

    monkeypatch.setattr(audit_background, "audit_pages", refused)
    ledger = own(killed)
    with pytest.raises(DiskFailureError, match="the disk says no"):
        audit_to_its_end(ledger)
    ledger.abandon()


def test_damage_in_an_index_is_found(killed: Path) -> None:
    opener.open_owner(killed, REQUEST, ManualClock()).close()  # everything is in the file
    path = killed / "ledger.db"
    whole = path.read_bytes()
    name = bytes.fromhex(admission(DECIDED).work_id)
    found = 0
    for place in (n for n in range(len(whole)) if whole.startswith(name, n)):
        flip_byte(path, place + 5)
        try:
            ledger = own(killed)
        except IntegrityError:
            found += 1
        else:
            with pytest.raises(IntegrityError):
                audit_to_its_end(ledger)
            ledger.abandon()
            found += 1
        path.write_bytes(whole)
        path.with_name("ledger.db-wal").unlink(missing_ok=True)
    assert found >= 2


# ---- when it runs -------------------------------------------------------------------------------


class SlowSlices:
    """Slices that take a second each, on a clock of their own."""

    def __init__(self, amount: int) -> None:
        self.now = 0.0
        self.taken = 0
        self._amount = amount

    def clock(self) -> float:
        return self.now

    def __call__(self) -> Slices:
        for _ in range(self._amount):
            self.now += 1.0
            self.taken += 1
            yield ()


@pytest.mark.parametrize(("rows", "most"), [(100_000, 1.0), (100_001, SHARE)])
def test_in_a_large_ledger_it_takes_a_twentieth_of_a_core(rows: int, most: float) -> None:
    slices = SlowSlices(10)
    audit = BackgroundAudit(slices(), rows, slices.clock)
    while not audit.finished:
        audit.step("here", hurry=False)
        slices.now += 0.01
    spent, lasted = 10.0, slices.now
    assert most * 0.9 <= spent / lasted <= most


def test_with_nothing_else_to_do_it_hurries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_background, "HURRY_S", 3.0)
    slices = SlowSlices(10)
    audit = BackgroundAudit(slices(), 10**6, slices.clock)
    audit.step("here", hurry=True)
    assert slices.taken == 3, "bounded all the same"
    audit.step("here", hurry=False)
    assert slices.taken == 3
    for _ in range(4):
        audit.step("here", hurry=True)
    assert audit.finished


def test_what_is_given_up_is_never_called_finished() -> None:
    slices = SlowSlices(10)
    audit = BackgroundAudit(slices(), 1, slices.clock)
    audit.step("here", hurry=False)
    audit.close()
    audit.step("here", hurry=True)
    assert (audit.finished, slices.taken) == (False, 1)


def test_the_first_thing_that_is_wrong_ends_it() -> None:
    def wrong() -> Iterator[list[Finding]]:
        yield []
        yield [Finding("one", "row 1", "why"), Finding("two", "row 2", "why")]

    audit = BackgroundAudit(wrong(), 1, lambda: 0.0)  # type: ignore[arg-type]
    audit.step("here", hurry=False)
    with pytest.raises(IntegrityError, match="one"):
        audit.step("here", hurry=False)
    audit.step("here", hurry=True)
    assert not audit.finished


# ---- a whole job --------------------------------------------------------------------------------


@pytest.mark.guarantee("A1")
@pytest.mark.guarantee("Q4")
def test_a_job_whose_ledger_was_damaged_long_ago_stops_in_order(tmp_path: Path) -> None:
    seeds = {f"seed{number}": b"%d" % number for number in range(12)}
    campaign = ProgramCampaign(tmp_path, PROGRAM, seeds, seconds=0.3)
    try:
        job = campaign.job()
        job.start()
        campaign.wait_for_decision(job)
        for member in job.find(Role.LAUNCHER):
            job.kill(member)
        job.assert_nothing_left()
        with campaign.reader() as reader:
            decided = reader.work_rows(WorkState.DONE, 1)[0].input_id
        campaign.tamper("UPDATE inputs SET data = x'00' WHERE digest = ?", [bytes.fromhex(decided)])
        again = campaign.job()
        assert again.run() == ExitCode.INTEGRITY, again.story.read_text()
        story = again.story.read_text()
        assert "an input does not match its name" in story
        assert decided in story
        assert "found while the campaign ran" in story
        assert "next epoch" not in story
        with campaign.reader() as reader:
            status = reader.status()
        assert status.epoch is not None
        assert status.epoch.exit_code == ExitCode.INTEGRITY
        assert [(one.acknowledged, one.workers) for one in status.coordinators] == [(2, 2)]
    finally:
        campaign.close()
