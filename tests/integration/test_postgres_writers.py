"""Several coordinators that write to one ledger on PostgreSQL: what is true whoever comes first,
and who may not write any more."""

from __future__ import annotations

import os
import random
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from symfleet.clock import SystemClock
from symfleet.config.ledger_address import LedgerAccess
from symfleet.errors import BusyError, DataError, HostError, IntegrityError, InternalError
from symfleet.ledger import opener, postgres_arrays, postgres_opener
from symfleet.ledger.edges import unpack_edges
from symfleet.ledger.places import attach_ledger
from symfleet.ledger.postgres import PostgresLedger
from symfleet.ledger.postgres_arrays import Blobs, Numbers, Words
from symfleet.ledger.postgres_attached import AttachedLedger, AttachRequest
from symfleet.ledger.postgres_owner import GivenUpError
from symfleet.ledger.postgres_statements import postgres_migrations
from symfleet.ledger.postgres_turn import PostgresTurn
from symfleet.ledger.postgres_writer import PostgresWriter
from symfleet.protocol.answers import (
    Audited,
    Changed,
    Claimed,
    Decided,
    Lease,
    Marked,
    Quiesced,
    TakenOver,
)
from symfleet.protocol.operations import (
    Admit,
    AuditLeases,
    Claim,
    CommitQuiescence,
    Defer,
    MarkPublished,
    Operation,
    Release,
    SetSource,
    TakeOver,
)
from symfleet.testing.ledgers import admission, campaign_row, child, decision, epoch_request, packed
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.testing.stores.postgres_writers import attached
from symfleet.types import CampaignId, Fence, FencingToken, Keep, SinkKind, WorkId, WorkState

REQUEST = opener.OwnerRequest("here", os.getpid(), lock_wait_s=0.1)
_DEADLINE_S = 60
_WAITING = (
    "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event = 'advisory'"
)


@pytest.fixture
def root(tmp_path: Path, postgres: Cluster) -> Iterator[PostgresLedger]:
    """The owner of a new campaign with an open epoch and a source."""
    row = replace(campaign_row(), campaign=CampaignId(secrets.token_hex(16)))
    ledger = postgres_opener.create(tmp_path, row, REQUEST, SystemClock(), postgres.url)
    ledger.open_epoch(epoch_request())
    assert ledger.register_source("seeds", "/s", "here") == 1
    yield ledger
    ledger.close()


@pytest.fixture
def attach(root: PostgresLedger) -> Iterator[Callable[[int], AttachedLedger]]:
    """Attach coordinators; their sessions end with the test."""
    made: list[AttachedLedger] = []

    def make(number: int) -> AttachedLedger:
        made.append(attached(root, number, lock_wait_s=0.1))
        return made[-1]

    yield make
    for ledger in made:
        ledger.close()


@pytest.fixture
def admin(postgres: Cluster) -> Iterator[psycopg.Connection[Any]]:
    """Another session of the server."""
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        yield connection


def one(ledger: PostgresWriter, operation: Operation) -> Any:
    """Run a turn of one operation."""
    (answer,) = ledger.run([operation]).answers
    return answer


def admit(ledger: PostgresWriter, *inputs: bytes) -> None:
    one(ledger, Admit(1, tuple(admission(data) for data in inputs)))


def claim(ledger: PostgresWriter, number: int, limit: int) -> tuple[Lease, ...]:
    answer = one(ledger, Claim(number, limit))
    assert isinstance(answer, Claimed), answer
    return answer.leases


def at_commit(
    monkeypatch: pytest.MonkeyPatch, ledger: PostgresWriter, act: Callable[[], Any]
) -> list[Any]:
    """Act inside the ledger's next transaction, after all its work and before its COMMIT; return
    where the result is kept."""
    whole = ledger._write_standing
    results: list[Any] = []

    def write_standing(cursor: Any, before: tuple[int, ...]) -> None:
        whole(cursor, before)
        if not results:
            ledger._ownership.session.settle()
            results.append(None)
            results[0] = act()

    monkeypatch.setattr(ledger, "_write_standing", write_standing)
    return results


@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.none()),
    st.lists(st.binary(max_size=40)),
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))),
)
def test_columns_arrive_as_they_are(
    arrays: psycopg.Connection[Any],
    numbers: list[int | None],
    blobs: list[bytes],
    words: list[str],
) -> None:
    query = "SELECT %s::bigint[], %s::bytea[], %s::text[]"
    told = (Numbers(numbers), Blobs(blobs), Words(words))
    assert arrays.execute(query, told).fetchone() == (numbers, blobs, words)


def test_a_zero_byte_in_a_text_is_shown_as_unknown(arrays: psycopg.Connection[Any]) -> None:
    assert arrays.execute("SELECT %s::text[]", (Words(["a\0b"]),)).fetchone() == (["a\ufffdb"],)


@pytest.fixture
def arrays(admin: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """A session that knows our arrays."""
    postgres_arrays.register(admin)
    return admin


# ---- at once ----------------------------------------------------------------------------------


@pytest.mark.guarantee("L1")
def test_claims_neither_wait_for_each_other_nor_take_the_same(
    root: PostgresLedger,
    attach: Callable[[int], AttachedLedger],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    admit(root, *(b"%d" % n for n in range(6)))
    first, second = attach(1), attach(2)
    inside = at_commit(monkeypatch, first, lambda: claim(second, 2, 2))
    mine = claim(first, 1, 2)
    assert [lease.data for lease in mine] == [b"0", b"1"]
    assert [lease.data for lease in inside[0]] == [b"2", b"3"], "it went on, past locked rows"
    assert {lease.work_id for lease in claim(root, 0, 6)} == {
        admission(b"4").work_id,
        admission(b"5").work_id,
    }
    assert list(root.audit()) == []


@pytest.mark.guarantee("C9")
def test_rows_that_another_one_is_about_to_lease_are_not_missed(
    root: PostgresLedger,
    attach: Callable[[int], AttachedLedger],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are counted, and a claim finds none of them: all are locked."""
    admit(root, b"a", b"b")
    first, second = attach(1), attach(2)
    inside = at_commit(monkeypatch, first, lambda: claim(second, 2, 2))
    assert len(claim(first, 1, 2)) == 2
    assert inside == [()]


@pytest.mark.guarantee("C9")
@pytest.mark.parametrize("ends", [True, False])
def test_counts_that_others_change_under_a_turn_that_doubts_them_are_no_damage(
    root: PostgresLedger,
    attach: Callable[[int], AttachedLedger],
    monkeypatch: pytest.MonkeyPatch,
    *,
    ends: bool,
) -> None:
    """What the turn has learned at its beginning is old by then: counts are read with the rows."""
    admit(root, b"a", b"b")
    first, second = attach(1), attach(2)
    (held,) = claim(root, 0, 1)
    whole = PostgresTurn.count_rows
    between: list[Lease] = []

    def count_rows(turn: PostgresTurn) -> Any:
        if not between:
            between.extend(claim(first, 1, 1))
            if ends:
                admit(root, b"c", b"d")
                root.run([decision(held), Claim(0, 1)])
        return whole(turn)

    monkeypatch.setattr(PostgresTurn, "count_rows", count_rows)
    assert one(second, Claim(2, 1, suspects_only=True)) == Claimed(())
    assert len(between) == 1
    assert list(root.audit()) == []


@pytest.mark.guarantee("L1")
def test_claims_of_rows_that_came_after_the_counts_were_read_are_told_as_counts(
    root: PostgresLedger,
    attach: Callable[[int], AttachedLedger],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    peer = attach(1)
    begin = peer._begin

    def begin_and_wait(*args: Any) -> None:
        begin(*args)
        admit(root, b"a", b"b", b"c")

    monkeypatch.setattr(peer, "_begin", begin_and_wait)
    told = peer.run([Claim(1, 2)])
    monkeypatch.undo()
    assert isinstance(told.answers[0], Claimed)
    assert len(told.answers[0].leases) == 2
    assert (told.pending, told.leased, told.open_work) == (0, 2, 2)  # the third is told next time
    again = peer.run([Claim(1, 0)])
    assert (again.pending, again.leased, again.open_work) == (1, 2, 3)


@pytest.mark.guarantee("L3")
def test_of_two_claims_of_one_state_at_once_one_chooses_again(
    root: PostgresLedger,
    attach: Callable[[int], AttachedLedger],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """E18, at the same instant: neither sees what the other one is about to lease."""
    one(root, Admit(1, (admission(b"a", strategy="deep"), admission(b"z"))))
    one(root, Admit(1, (admission(b"a", strategy="wide"),)))
    first, second = attach(1), attach(2)
    begun, got = threading.Event(), []

    def rival() -> None:
        begun.set()
        got.append(claim(second, 2, 3))

    thread = threading.Thread(target=rival)

    def start() -> None:
        thread.start()
        assert begun.wait(_DEADLINE_S)

    at_commit(monkeypatch, first, start)
    mine = claim(first, 1, 1)
    thread.join(_DEADLINE_S)
    assert [lease.work_id for lease in mine] == [admission(b"a", strategy="deep").work_id]
    assert [lease.data for lease in got[0]] == [b"z"]
    assert list(root.audit()) == []


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C10")
def test_what_a_decision_shows_is_numbered_when_all_before_it_is_committed(
    root: PostgresLedger,
    attach: Callable[[int], AttachedLedger],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A sink that has shown everything it can see has passed over nothing: the second decision
    waits for the first one to end, and counts novelty against it."""
    admit(root, b"a", b"b")
    sink = root.register_sink(SinkKind.CORPUS, "/out", "here")
    first, second = attach(1), attach(2)
    (mine,), (yours,) = claim(first, 1, 1), claim(second, 2, 1)
    told: list[Any] = []
    begun = threading.Event()

    def rival() -> None:
        begun.set()
        told.append(one(second, decision(yours, [child(b"kid of b", 8, 16)])))

    thread = threading.Thread(target=rival)

    def look_and_start() -> tuple[str, int]:
        thread.start()
        assert begun.wait(_DEADLINE_S)
        seen = one(root, MarkPublished(sink.sink, sink.incarnation, 0, 2))
        assert isinstance(seen, Marked)
        return seen.disposition, root.status().decisions

    during = at_commit(monkeypatch, first, look_and_start)
    mine_told = one(first, decision(mine, [child(b"kid of a", 8)]))
    thread.join(_DEADLINE_S)
    assert during[0] == ("completed", 0)
    assert (mine_told.decision, told[0].decision) == (1, 2)
    assert (mine_told.new_edges, told[0].new_edges) == (packed(8), packed(16))
    shown = root.artefacts(SinkKind.CORPUS, 2, 10, 2**20)
    assert [(row.number, row.decision) for row in shown] == [(3, 1), (4, 2)]
    assert list(root.audit()) == []


class _Writer(threading.Thread):
    """One coordinator of a storm: random turns, with everything it was told."""

    def __init__(self, ledger: PostgresWriter, number: int, seed: int) -> None:
        super().__init__(name=f"writer {number}", daemon=True)
        self.ledger, self.number, self.random = ledger, number, random.Random(seed)
        self.held: list[Lease] = []
        self.leases: list[tuple[WorkId, int]] = []
        self.decided: list[Decided] = []
        self.admitted = 0
        self.changes: list[int] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            for step in range(40):
                self._step(step)
        except BaseException as error:  # noqa: BLE001 - told to the test
            self.error = error

    def _step(self, step: int) -> None:
        choose = self.random.random()
        operations: list[Operation] = []
        done = [self.held.pop() for _ in range(min(len(self.held), self.random.randrange(4)))]
        for lease in done:
            match self.random.randrange(6):
                case 0:
                    at_head = self.random.random() < 0.3
                    operations.append(
                        Release(lease.work_id, lease.token, "given_back", at_head=at_head)
                    )
                case 1:
                    operations.append(Defer(lease.work_id, lease.token, "storm"))
                case _:
                    kids = [
                        child(b"kid %d" % self.random.randrange(60), self.random.randrange(200))
                        for _ in range(self.random.randrange(3))
                    ]
                    edges = packed(self.random.randrange(200))
                    operations.append(decision(lease, kids, edges=edges))
        if choose < 0.3:
            entries = tuple(
                admission(b"in %d" % self.random.randrange(80), strategy=strategy)
                for strategy in (None, "deep", "wide")[: self.random.randrange(1, 4)]
            )
            operations.append(Admit(1, entries))
        if choose > 0.2:
            operations.append(Claim(self.number, 3))
        answers = self.ledger.run(operations)
        self.changes.append(answers.changes)
        for operation, answer in zip(operations, answers.answers, strict=True):
            match answer:
                case Claimed():
                    self.held += answer.leases
                    self.leases += [(each.work_id, each.token.fence) for each in answer.leases]
                case Decided():
                    assert answer.disposition == "completed", answer
                    self.decided.append(answer)
                case Changed():
                    assert answer.changed, operation
                case _:
                    self.admitted += sum(answer.new)  # type: ignore[union-attr]


@pytest.mark.guarantee("L1")
@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("C7")
@pytest.mark.parametrize("seed", [1, 2])
def test_a_storm_of_three_coordinators_leaves_one_history(
    root: PostgresLedger, attach: Callable[[int], AttachedLedger], seed: int
) -> None:
    admit(root, *(b"seed %d" % n for n in range(20)))
    ledgers: list[PostgresWriter] = [root, attach(1), attach(2)]
    writers = [_Writer(each, n, seed * 100 + n) for n, each in enumerate(ledgers)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(_DEADLINE_S)
        assert writer.error is None, writer.error
    # One holder: no (work, fence) was leased twice, and each holds exactly what it was given.
    leased = Counter(pair for writer in writers for pair in writer.leases)
    assert max(leased.values()) == 1
    for writer in writers:
        held = tuple((lease.work_id, lease.token) for lease in writer.held)
        assert one(writer.ledger, AuditLeases(writer.number, held)) == Audited()
    # Decided once: numbers without gaps, every edge new to exactly one decision.
    decided = [answer for writer in writers for answer in writer.decided]
    assert sorted(answer.decision for answer in decided) == list(range(1, len(decided) + 1))
    new = [edge for answer in decided for edge in unpack_edges(answer.new_edges)]
    assert len(new) == len(set(new))
    assert root.knowledge() == packed(*new)
    # Counted once, by whoever did it; `changes` never went back for anybody.
    status = root.status()
    assert status.total.executed == len(decided)
    assert status.total.external_inputs == 20 + sum(writer.admitted for writer in writers)
    executed = {row.coordinator: row.executed for row in status.coordinators}
    assert executed == {writer.number: len(writer.decided) for writer in writers}
    for writer in writers:
        assert writer.changes == sorted(writer.changes)
    shown = root.artefacts(SinkKind.CORPUS, 0, 10_000, 2**30)
    assert [row.number for row in shown] == list(range(1, len(shown) + 1))
    assert list(root.audit()) == []


@pytest.mark.guarantee("Q3")
def test_quiescence_is_committed_when_nobody_is_inside_a_transaction(
    root: PostgresLedger,
    attach: Callable[[int], AttachedLedger],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last admission of a peer is committed before the vote is judged, or refused after it."""
    one(root, SetSource(1, is_open=False))
    peer = attach(1)
    voted = root.run([]).changes
    told: list[Any] = []
    begun = threading.Event()

    def vote() -> None:
        begun.set()
        told.append(one(root, CommitQuiescence("all", voted)))

    thread = threading.Thread(target=vote)

    def start() -> None:
        thread.start()
        assert begun.wait(_DEADLINE_S)

    at_commit(monkeypatch, peer, start)
    admit(peer, b"last moment")
    thread.join(_DEADLINE_S)
    assert told[0] == Quiesced(committed=False, reason=told[0].reason)
    assert "1 pending" in told[0].reason
    (lease,) = claim(peer, 1, 1)
    one(peer, decision(lease))
    assert one(root, CommitQuiescence("all", peer.run([]).changes)).committed
    refusal = one(peer, Admit(1, (admission(b"too late"),)))
    assert "quiescent" in refusal.message
    assert root.status().states[WorkState.PENDING] == 0


@pytest.mark.guarantee("L2")
def test_a_turn_that_only_gives_back_tells_of_each_lease_whether_it_was_held(
    root: PostgresLedger, attach: Callable[[int], AttachedLedger]
) -> None:
    admit(root, b"a", b"b", b"c", b"d")
    peer = attach(1)
    first, second, third = claim(peer, 1, 3)
    forged = FencingToken(second.token.epoch, Fence(second.token.fence + 1))
    answers = peer.run(
        [
            Release(first.work_id, first.token, "given_back"),
            Release(first.work_id, first.token, "given_back"),
            Release(second.work_id, forged, "given_back"),
            Release(admission(b"d").work_id, third.token, "cancelled"),
            Release(third.work_id, third.token, "prefetched", ran=True),
        ]
    )
    assert [each.changed for each in answers.answers if isinstance(each, Changed)] == [
        *(True, False, False, False, True)
    ]
    assert (answers.pending, answers.leased) == (3, 1)
    assert one(peer, AuditLeases(1, ((second.work_id, second.token),))) == Audited()
    assert list(root.audit()) == []


# ---- given up ---------------------------------------------------------------------------------


@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("C2")
def test_a_coordinator_that_was_given_up_inside_a_transaction_never_commits_it(
    root: PostgresLedger,
    attach: Callable[[int], AttachedLedger],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    admit(root, b"a", b"b")
    lost, living = attach(1), attach(2)
    (lease,) = claim(lost, 1, 1)
    taken = at_commit(monkeypatch, lost, lambda: one(root, TakeOver(1)))
    for _ in range(2):
        with pytest.raises(GivenUpError, match="was given up"):
            lost.run([decision(lease, [child(b"kid", 8)])])
    assert taken == [TakenOver(1)]
    status = root.status()
    assert (status.decisions, status.corpus, status.states[WorkState.LEASED]) == (0, 2, 0)
    again = claim(living, 2, 5)
    assert [(each.data, each.token.fence) for each in again] == [(b"a", 2), (b"b", 1)]
    assert one(living, decision(again[0])).disposition == "completed"
    assert list(root.audit()) == []


@pytest.mark.guarantee("L2")
def test_a_stopped_coordinator_is_given_up_and_finds_out_when_it_goes_on(
    root: PostgresLedger, attach: Callable[[int], AttachedLedger], admin: psycopg.Connection[Any]
) -> None:
    """It stands between two turns; its session lives and holds its lock."""
    admit(root, b"a")
    peer = attach(1)
    (lease,) = claim(peer, 1, 1)
    assert one(root, TakeOver(1)) == TakenOver(1)
    assert one(root, TakeOver(1)) == TakenOver(0)
    found = admin.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE pid = %s", (peer._ownership.backend,)
    ).fetchone()
    assert found == (0,)
    with pytest.raises(GivenUpError):
        peer.run([Release(lease.work_id, lease.token, "given_back")])
    with pytest.raises(GivenUpError):
        attached(root, 1)


@pytest.mark.guarantee("L2")
def test_a_coordinator_that_was_given_up_before_it_came_is_refused(root: PostgresLedger) -> None:
    assert one(root, TakeOver(3)) == TakenOver(0)
    with pytest.raises(GivenUpError):
        attached(root, 3)
    root.open_epoch(epoch_request(8))
    attached(root, 3).close()


def test_a_number_attaches_once_in_an_epoch(
    root: PostgresLedger, attach: Callable[[int], AttachedLedger]
) -> None:
    peer = attach(1)
    with pytest.raises(BusyError, match="process"):
        attached(root, 1, lock_wait_s=0.05)
    peer.close()
    with pytest.raises(BusyError, match="has been there"):
        attached(root, 1)


@pytest.mark.guarantee("L6")
def test_a_coordinator_of_an_older_epoch_writes_nothing_any_more(
    root: PostgresLedger, attach: Callable[[int], AttachedLedger]
) -> None:
    admit(root, b"a", b"b")
    peer, access = attach(1), root.access()
    (lease,) = claim(peer, 1, 1)
    one(peer, Admit(1, (admission(b"c"),)))
    assert root.open_epoch(epoch_request(8)).leases_recovered == 1
    for _ in range(2):
        with pytest.raises(BusyError, match="epoch 2 is open"):
            peer.run([decision(lease)])
    with pytest.raises(BusyError, match="epoch 2 is open"):
        attach_ledger(access, AttachRequest(2, "here", 1), SystemClock())
    assert root.status().states[WorkState.PENDING] == 3
    assert list(root.audit()) == []


@pytest.mark.guarantee("L6")
@pytest.mark.parametrize("operation", [Claim(1, 1), Admit(1, (admission(b"x"),))])
def test_a_turn_that_waits_while_an_epoch_opens_belongs_to_none(
    root: PostgresLedger,
    attach: Callable[[int], AttachedLedger],
    monkeypatch: pytest.MonkeyPatch,
    operation: Operation,
) -> None:
    """It may have looked before the epoch was there; it commits after it."""
    admit(root, b"a")
    peer = attach(1)
    peer.run([])
    errors: list[BaseException] = []
    begun = threading.Event()

    def rival() -> None:
        begun.set()
        try:
            peer.run([operation])
        except BusyError as error:
            errors.append(error)

    thread = threading.Thread(target=rival)

    def start() -> None:
        thread.start()
        assert begun.wait(_DEADLINE_S)
        # It stands at the fence when the server says so.
        while not root._ownership.session._raw.execute(_WAITING).fetchone():
            pass

    at_commit(monkeypatch, root, start)
    root.open_epoch(epoch_request(8))
    thread.join(_DEADLINE_S)
    assert "epoch 2 is open" in str(errors[0])
    assert root.status().states == {state: int(state == "pending") for state in WorkState}
    assert list(root.audit()) == []


@pytest.mark.guarantee("L6")
def test_a_process_that_stops_inside_a_transaction_holds_nobody_up_for_long(
    root: PostgresLedger,
    attach: Callable[[int], AttachedLedger],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The server ends its session; what it was about to write is written when it goes on."""
    admit(root, b"a", b"b")
    peer, other = attach(1), attach(2)
    (lease,), (theirs,) = claim(peer, 1, 1), claim(other, 2, 1)
    session = peer._ownership.session
    session._raw.execute("SELECT set_config('idle_in_transaction_session_timeout', '50ms', false)")

    def others() -> Any:
        return one(other, decision(theirs))

    during = at_commit(monkeypatch, peer, others)
    told = one(peer, decision(lease))
    assert (during[0].decision, told.decision) == (1, 2)
    assert list(root.audit()) == []


# ---- sessions end -----------------------------------------------------------------------------


@pytest.mark.guarantee("C7")
def test_a_coordinator_comes_back_and_its_turn_counts_once(
    root: PostgresLedger,
    attach: Callable[[int], AttachedLedger],
    admin: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    admit(root, b"a")
    peer = attach(1)
    (lease,) = claim(peer, 1, 1)

    def kill() -> None:
        admin.execute("SELECT pg_terminate_backend(%s, 20000)", (peer._ownership.backend,))

    at_commit(monkeypatch, peer, kill)
    told = one(peer, decision(lease, [child(b"kid", 8)]))
    assert (told.disposition, told.decision) == ("completed", 1)
    assert one(peer, decision(lease, [child(b"kid", 8)])) == Decided("already", decision=1)
    assert root.status().total.executed == 1
    assert list(root.audit()) == []


@pytest.mark.guarantee("C9")
def test_a_server_that_lost_a_coordinators_turns_is_not_gone_on_with(
    root: PostgresLedger, attach: Callable[[int], AttachedLedger], admin: psycopg.Connection[Any]
) -> None:
    peer = attach(1)
    peer.run([])
    schema = peer._ownership.address.schema
    admin.execute(
        f'UPDATE "{schema}".coordinators SET turn = turn - 1 WHERE coordinator = 1'.encode()  # noqa: S608
    )
    admin.execute("SELECT pg_terminate_backend(%s, 20000)", (peer._ownership.backend,))
    with pytest.raises(IntegrityError, match="lost transactions"):
        peer.run([Claim(1, 1)])
    root.run([Claim(0, 1)])


@pytest.mark.guarantee("C9")
def test_counts_that_cannot_be_are_damage(
    root: PostgresLedger, attach: Callable[[int], AttachedLedger], admin: psycopg.Connection[Any]
) -> None:
    peer = attach(1)
    schema = peer._ownership.address.schema
    admin.execute(f'UPDATE "{schema}".standing SET pending = -1'.encode())  # noqa: S608
    for ledger in (root, peer):
        with pytest.raises(IntegrityError, match="counts are damaged"):
            ledger.run([Claim(0, 1)])
    assert [finding.row for finding in root.audit()] == ["standing pending"]
    admin.execute(f'DELETE FROM "{schema}".standing'.encode())  # noqa: S608
    for ledger in (root, peer):
        with pytest.raises(IntegrityError, match="the ledger is damaged"):
            ledger.run([Claim(0, 1)])


# ---- what may not be --------------------------------------------------------------------------


def test_only_the_root_ends_epochs_and_gives_others_up(
    attach: Callable[[int], AttachedLedger],
) -> None:
    peer = attach(1)
    with pytest.raises(InternalError, match="only the root"):
        peer.run([TakeOver(2)])


def test_what_cannot_be_attached_to_is_refused(root: PostgresLedger, postgres: Cluster) -> None:
    access = root.access()

    def attempt(told: LedgerAccess, number: int = 1) -> None:
        attach_ledger(told, AttachRequest(number, "here", 1), SystemClock())

    with pytest.raises(DataError, match="the root does not attach"):
        attempt(access, 0)
    with pytest.raises(IntegrityError, match="not on this server"):
        attempt(replace_access(access, campaign=CampaignId("0" * 32)))
    with pytest.raises(HostError, match="no such database"):
        attempt(replace_access(access, url=postgres.url_of("symfleet", "nowhere")))


def test_who_cannot_come_back_says_how_to_go_on(
    root: PostgresLedger, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    ownership, gone = root._ownership, postgres.url_of("symfleet", "nowhere")
    for address, hint in (
        (gone, "give it its name back or restore a backup of it, then `symfleet resume` goes on"),
        (
            "postgresql://u@127.0.0.1:1/db",
            "nothing is lost: when that is mended, `symfleet resume`",
        ),
    ):
        ownership.session.close()
        monkeypatch.setattr(ownership, "address", replace(ownership.address, url=address))
        with pytest.raises(HostError) as caught:
            ownership.come_back(SystemClock(), 0.0)
        assert hint in caught.value.hint


def replace_access(access: LedgerAccess, **values: Any) -> LedgerAccess:
    fields = {name: getattr(access, name) for name in ("url", "campaign", "epoch", "password")}
    return LedgerAccess(**fields | values)


def test_a_password_is_told_and_never_shown(
    root: PostgresLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    word = "a word that nobody sees"
    monkeypatch.setenv("PGPASSWORD", word)
    ledger = postgres_opener.open_reader(root._out)
    monkeypatch.delenv("PGPASSWORD")
    assert ledger._connection.password == word  # type: ignore[attr-defined]
    ledger.close()
    access = replace_access(root.access(), password=word)
    assert "nobody" not in f"{access} {access!r}"
    peer = attach_ledger(access, AttachRequest(4, "here", 1), SystemClock())
    assert peer._ownership.session.password == access.password
    assert "nobody" not in repr(peer._ownership)
    peer.close()


def test_a_role_without_any_right_but_its_own_schema_does_it_all(
    tmp_path: Path, postgres: Cluster, admin: psycopg.Connection[Any]
) -> None:
    role = f"lowly_{secrets.token_hex(4)}"
    admin.execute(f"CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE".encode())
    admin.execute(f"CREATE DATABASE {role} OWNER {role}".encode())
    row = replace(campaign_row(), campaign=CampaignId(secrets.token_hex(16)))
    url = postgres.url_of(role, role)
    ledger = postgres_opener.create(tmp_path, row, REQUEST, SystemClock(), url)
    ledger.open_epoch(epoch_request())
    ledger.register_source("seeds", "/s", "here")
    peer = attached(ledger, 1)
    admit(peer, b"a")
    (lease,) = claim(peer, 1, 1)
    assert one(ledger, TakeOver(1)) == TakenOver(1)
    with pytest.raises(GivenUpError):
        peer.run([decision(lease)])
    ledger.close()


def test_a_campaign_of_the_first_schema_goes_on(
    tmp_path: Path, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was made before several could write."""
    row = replace(campaign_row(Keep.ALL), campaign=CampaignId(secrets.token_hex(16)))
    scripts = postgres_migrations()
    with monkeypatch.context() as older:
        older.setattr(postgres_opener, "postgres_migrations", lambda: scripts[:1])
        with pytest.raises(IntegrityError):
            # The schema is there; this program's owner cannot write to it.
            postgres_opener.create(tmp_path, row, REQUEST, SystemClock(), postgres.url)
    ledger = postgres_opener.open_owner(tmp_path, REQUEST, SystemClock())
    ledger.open_epoch(epoch_request())
    ledger.register_source("seeds", "/s", "here")
    admit(ledger, b"a")
    peer = attached(ledger, 1)
    (lease,) = claim(peer, 1, 1)
    assert one(peer, decision(lease, keep=Keep.ALL)).decision == 1
    peer.close()
    assert list(ledger.audit()) == []
    ledger.close()
