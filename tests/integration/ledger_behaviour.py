"""What every ledger store must do. One suite, collected for each store by its test module.

The suite is a class whose tests take `store`: how to make, crash and open the same ledger again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import pytest

from symfleet.errors import DataError, IntegrityError, InternalError
from symfleet.ledger.contract import Ledger, NewGeneration
from symfleet.ledger.manifest import decode_manifest
from symfleet.ledger.memory import MemoryLedger
from symfleet.protocol.answers import (
    Admitted,
    Answer,
    Audited,
    Blamed,
    Changed,
    Claimed,
    Counted,
    Decided,
    Failed,
    Lease,
    Marked,
    Quiesced,
    SinkRow,
    TakenOver,
)
from symfleet.protocol.operations import (
    Admit,
    AuditLeases,
    Blame,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    CountFaults,
    CountSkips,
    Decide,
    Defer,
    MarkPublished,
    Operation,
    RecordAck,
    Release,
    ReleaseCause,
    SetSource,
    StoreInputs,
    TakeOver,
)
from symfleet.protocol.work import WorkItem, work_id_of
from symfleet.testing.ledgers import (
    ManualClock,
    admission,
    campaign_row,
    child,
    decision,
    epoch_request,
    follow_up,
    item_of,
    packed,
)
from symfleet.types import (
    Epoch,
    Fence,
    FencingToken,
    GenerationId,
    Incarnation,
    Keep,
    Outcome,
    SinkKind,
    StateId,
    WorkState,
    input_id_of,
)

KEY = campaign_row().key


class Store(ABC):
    """One campaign's ledger over its lives."""

    @abstractmethod
    def create(self, keep: Keep) -> Ledger:
        """Make the ledger and own it."""

    @abstractmethod
    def crash_and_open(self) -> Ledger:
        """Let the owner die between two turns and own the ledger again."""


class CountingStore(Store):
    """One that keeps counts apart from the rows that they count."""

    @abstractmethod
    def tamper(self, statement: str) -> None:
        """Change rows behind the live owner's back."""

    @abstractmethod
    def literal(self, digest: str) -> str:
        """Return a digest as a statement names it."""


def one(ledger: Ledger, operation: Operation) -> Answer:
    """Run a turn of one operation."""
    (answer,) = ledger.run([operation]).answers
    return answer


def admit(ledger: Ledger, *inputs: bytes) -> Admitted:
    """Admit inputs of the first source."""
    answer = one(ledger, Admit(1, tuple(admission(data) for data in inputs)))
    assert isinstance(answer, Admitted)
    return answer


def claim(ledger: Ledger, limit: int = 100, **flags: bool) -> tuple[Lease, ...]:
    """Claim rows."""
    answer = one(ledger, Claim(0, limit, **flags))
    assert isinstance(answer, Claimed)
    return answer.leases


def claim_one(ledger: Ledger, **flags: bool) -> Lease:
    """Claim the row that comes first."""
    (lease,) = claim(ledger, 1, **flags)
    return lease


def decide(ledger: Ledger, operation: Decide) -> Decided:
    """Decide."""
    answer = one(ledger, operation)
    assert isinstance(answer, Decided), answer
    return answer


def refused(ledger: Ledger, operation: Operation) -> str:
    """Run an operation that must be refused and change nothing; return the message."""
    before = snapshot(ledger)
    answer = one(ledger, operation)
    assert isinstance(answer, Failed), answer
    assert snapshot(ledger) == before
    return answer.message


def snapshot(ledger: Ledger) -> tuple[object, ...]:
    """Return everything that people can see of a ledger."""
    rows = [ledger.work_rows(state, 1000) for state in WorkState]
    kinds = [ledger.artefacts(kind, 0, 1000, 2**30) for kind in SinkKind]
    return (ledger.status(), rows, kinds, list(ledger.decisions()), ledger.knowledge())


def data_of(leases: Sequence[Lease]) -> list[bytes]:
    """Return the inputs of leases."""
    return [lease.data for lease in leases]


def mark(sink: SinkRow, upto: int) -> MarkPublished:
    """Move a sink's mark from where it was registered."""
    return MarkPublished(sink.sink, sink.incarnation, sink.published_upto, upto)


def lose(ledger: Ledger, times: int, cause: ReleaseCause = "lost", **flags: bool) -> Changed:
    """Claim the only row and lose it while it runs, several times."""
    answer: Answer = Changed(changed=False)
    for _ in range(times):
        lease = claim_one(ledger, **flags)
        answer = one(ledger, Release(lease.work_id, lease.token, cause, ran=True))
        assert isinstance(answer, Changed)
        assert answer.changed
    assert isinstance(answer, Changed)
    return answer


def damaged(ledger: Ledger, *operations: Operation) -> str:
    """Run a turn that must meet damage and change nothing; return the message."""
    before = snapshot(ledger)
    with pytest.raises(IntegrityError) as met:
        ledger.run(operations)
    assert snapshot(ledger) == before
    assert met.value.exit_code == 70
    assert "symfleet verify" in met.value.hint
    return str(met.value)


class LedgerBehaviour:
    """The suite."""

    @pytest.fixture
    def novel(self, store: Store) -> Ledger:
        return self._open(store, Keep.NOVEL)

    @pytest.fixture
    def keeps_all(self, store: Store) -> Ledger:
        return self._open(store, Keep.ALL)

    @staticmethod
    def _open(store: Store, keep: Keep) -> Ledger:
        ledger = store.create(keep)
        ledger.open_epoch(epoch_request())
        assert ledger.register_source("seeds", "/seeds", "here") == 1
        return ledger

    # ---- admission ------------------------------------------------------------------------------

    def test_admitted_inputs_are_pending_corpus_and_counted(self, novel: Ledger) -> None:
        assert admit(novel, b"a", b"b").new == (True, True)
        status = novel.status()
        assert status.states[WorkState.PENDING] == 2
        assert status.this_epoch.external_inputs == status.total.external_inputs == 2
        assert list(novel.corpus()) == [input_id_of(b"a"), input_id_of(b"b")]
        assert status.corpus == 2

    def test_known_inputs_are_left_as_they_are(self, novel: Ledger) -> None:
        admit(novel, b"a")
        lease = claim_one(novel)
        assert admit(novel, b"a", b"b").new == (False, True)
        assert novel.status().states[WorkState.LEASED] == 1
        assert one(novel, AuditLeases(0, ((lease.work_id, lease.token),))) == Audited()

    @pytest.mark.guarantee("A1")
    def test_bytes_under_a_false_name_are_refused_with_both_digests(self, novel: Ledger) -> None:
        false = replace(admission(b"a"), data=b"A")
        message = refused(novel, Admit(1, (admission(b"b"), false)))
        assert input_id_of(b"a") in message
        assert input_id_of(b"A") in message

    @pytest.mark.guarantee("A4")
    def test_a_payload_under_a_false_work_id_is_refused(self, novel: Ledger) -> None:
        _, payload = item_of(b"a", bound=3)
        refused(novel, Admit(1, (replace(admission(b"a"), payload=payload),)))
        refused(novel, Admit(1, (replace(admission(b"a"), state_id=StateId("0" * 64)),)))

    def test_skipped_inputs_are_counted_by_reason(self, novel: Ledger) -> None:
        one(novel, CountSkips(1, (("empty", 2), ("too_large", 1))))
        one(novel, CountSkips(1, (("empty", 1),)))
        assert novel.status().total.skipped_inputs == {"empty": 3, "too_large": 1}

    # ---- claims ---------------------------------------------------------------------------------

    def test_claims_come_in_order_of_arrival_and_never_twice(self, novel: Ledger) -> None:
        admit(novel, b"a", b"b", b"c")
        assert data_of(claim(novel, 2)) == [b"a", b"b"]
        assert data_of(claim(novel, 2)) == [b"c"]
        assert claim(novel, 2) == ()

    def test_a_lease_tells_everything_that_a_delivery_needs(self, novel: Ledger) -> None:
        admit(novel, b"a")
        entry, lease = admission(b"a"), claim_one(novel)
        assert lease == Lease(
            work_id=entry.work_id,
            state_id=entry.state_id,
            token=FencingToken(Epoch(1), Fence(1)),
            payload=entry.payload,
            data=b"a",
            deliveries=1,
            blames=0,
            suspect=False,
            cost_us=0,
        )

    @pytest.mark.guarantee("L1")
    @pytest.mark.guarantee("L3")
    def test_two_items_of_one_state_never_have_two_holders(self, novel: Ledger) -> None:
        """E18: the second one is passed over and unchanged until the first is free."""
        first, second = admission(b"a", strategy="deep"), admission(b"a", strategy="wide")
        assert first.state_id == second.state_id
        one(novel, Admit(1, (first, second, admission(b"z"))))
        leases = claim(novel)
        assert [lease.work_id for lease in leases] == [first.work_id, admission(b"z").work_id]
        (row,) = novel.work_rows(WorkState.PENDING, 10)
        assert (row.work_id, row.deliveries) == (second.work_id, 0)
        assert claim(novel) == ()
        decide(novel, decision(leases[0]))
        assert [lease.work_id for lease in claim(novel)] == [second.work_id]

    def test_many_items_of_one_state_do_not_hide_the_rest(self, novel: Ledger) -> None:
        same = tuple(admission(b"a", strategy=f"s{n}") for n in range(9))
        one(novel, Admit(1, (*same, admission(b"y"), admission(b"z"))))
        assert data_of(claim(novel, 3)) == [b"a", b"y", b"z"]

    def test_a_row_given_back_at_head_comes_first(self, novel: Ledger) -> None:
        admit(novel, b"a", b"b", b"c")
        _, lease = claim(novel, 2)
        one(novel, Release(lease.work_id, lease.token, "invalid", at_head=True))
        assert data_of(claim(novel, 2)) == [b"b", b"c"]

    def test_the_latest_row_given_back_at_head_comes_first(self, novel: Ledger) -> None:
        admit(novel, b"a", b"b", b"c")
        for lease in claim(novel):
            one(novel, Release(lease.work_id, lease.token, "invalid", at_head=True))
        assert data_of(claim(novel)) == [b"c", b"b", b"a"]

    def test_new_coverage_comes_before_the_rest_newest_first(self, novel: Ledger) -> None:
        admit(novel, b"a", b"b")
        first, second = claim(novel)
        decide(novel, decision(first, [child(b"a1", 8)], rest=follow_up(b"a", 3)))
        decide(novel, decision(second, [child(b"b1", 16)]))
        admit(novel, b"c")
        assert data_of(claim(novel)) == [b"c", b"b1", b"a1", b"a"]

    @pytest.mark.guarantee("L2")
    def test_only_the_holder_decides_abandons_or_discards(self, novel: Ledger) -> None:
        """E17: a wrong token changes nothing at all."""
        admit(novel, b"a")
        lease = claim_one(novel)
        for token in (
            FencingToken(lease.token.epoch, Fence(lease.token.fence + 1)),
            FencingToken(Epoch(lease.token.epoch + 1), lease.token.fence),
        ):
            before = snapshot(novel)
            wrong = replace(lease, token=token)
            assert one(novel, decision(wrong)) == Decided("stale")
            assert one(novel, Release(lease.work_id, token, "lost", ran=True)) == Changed(False)
            assert one(novel, Release(lease.work_id, token, "given_back")) == Changed(False)
            assert one(novel, Defer(lease.work_id, token, "x")) == Changed(False)
            assert one(novel, Blame(lease.work_id, token, Incarnation(1), "x")) == Blamed(
                changed=False, blames=0, poisoned=False
            )
            assert snapshot(novel) == before
        assert decide(novel, decision(lease)).disposition == "completed"

    def test_a_fence_grows_with_every_lease(self, novel: Ledger) -> None:
        admit(novel, b"a")
        fences = []
        for _ in range(3):
            lease = claim_one(novel)
            fences.append(lease.token.fence)
            one(novel, Release(lease.work_id, lease.token, "given_back"))
        assert fences == [1, 2, 3]
        assert claim_one(novel).deliveries == 4

    def test_leased_rows_are_compared_with_the_claim_table(self, novel: Ledger) -> None:
        admit(novel, b"a", b"b")
        first, second = claim(novel)
        ghost = (admission(b"x").work_id, first.token)
        answer = one(novel, AuditLeases(0, ((first.work_id, first.token), ghost)))
        assert answer == Audited(orphaned=(second.work_id,), unknown=(ghost[0],))

    # ---- decisions ------------------------------------------------------------------------------

    @pytest.mark.guarantee("L2")
    @pytest.mark.guarantee("C8")
    def test_a_lost_coordinators_leases_are_taken_over_and_it_leases_nothing_more(
        self, novel: Ledger
    ) -> None:
        admit(novel, b"one", b"two", b"three", b"four")
        theirs = one(novel, Claim(1, 2))
        assert isinstance(theirs, Claimed)
        lost, decided = theirs.leases
        ours = claim_one(novel)
        decide(novel, decision(decided))
        before = novel.run([CountFaults(0, ())])
        after = novel.run([TakeOver(1)])
        assert after.answers == (TakenOver(1),)
        assert (before.pending, before.leased) == (1, 2)
        assert (after.pending, after.leased, after.open_work) == (2, 1, 3)
        assert after.changes > before.changes
        assert one(novel, Release(lost.work_id, lost.token, "lost", ran=True)) == Changed(False)
        assert decide(novel, decision(lost)).disposition == "stale"
        assert "left the epoch" in refused(novel, Claim(1, 5))
        again = claim(novel)
        assert [lease.data for lease in again] == [b"one", b"four"]
        assert again[0].token.fence > lost.token.fence
        assert not again[0].suspect
        assert decide(novel, decision(ours)).disposition == "completed"
        assert one(novel, TakeOver(1)) == TakenOver(0)
        assert novel.status().faults_this_epoch == {"leases_recovered": {"takeover": 1}}
        assert list(novel.audit()) == []

    @pytest.mark.guarantee("L6")
    def test_a_coordinator_that_was_lost_takes_part_again_in_the_next_epoch(
        self, store: Store
    ) -> None:
        ledger = store.create(Keep.NOVEL)
        ledger.open_epoch(epoch_request())
        ledger.register_source("seeds", "/seeds", "here")
        admit(ledger, b"one")
        one(ledger, Claim(1, 1))
        one(ledger, TakeOver(1))
        ledger = store.crash_and_open()
        ledger.open_epoch(epoch_request(8))
        answer = one(ledger, Claim(1, 1))
        assert isinstance(answer, Claimed)
        assert len(answer.leases) == 1

    @pytest.mark.guarantee("L2")
    def test_a_takeover_and_what_the_lost_one_still_said_may_share_a_turn(
        self, novel: Ledger
    ) -> None:
        admit(novel, b"one", b"two")
        theirs = one(novel, Claim(1, 2))
        assert isinstance(theirs, Claimed)
        first, second = theirs.leases
        answers = novel.run(
            [
                Release(first.work_id, first.token, "given_back"),
                TakeOver(1),
                Release(second.work_id, second.token, "given_back"),
            ]
        ).answers
        assert answers == (Changed(True), TakenOver(1), Changed(False))
        assert list(novel.audit()) == []

    @pytest.mark.guarantee("C7")
    def test_a_decision_counts_once(self, novel: Ledger) -> None:
        """E17: a repeated decision is `already`."""
        admit(novel, b"a")
        lease = claim_one(novel)
        operation = decision(lease, [child(b"b", 8), child(b"c", 8)])
        first = decide(novel, operation)
        assert (first.disposition, first.decision, first.new_work) == ("completed", 1, 1)
        before = snapshot(novel)
        assert decide(novel, operation) == Decided("already", decision=1)
        assert snapshot(novel) == before
        total = novel.status().total
        assert (total.executed, total.generated, total.unique_children) == (1, 2, 1)

    @pytest.mark.guarantee("C7")
    def test_another_manifest_under_the_same_token_is_damage(self, novel: Ledger) -> None:
        admit(novel, b"a", b"z")
        lease = claim_one(novel)
        decide(novel, decision(lease))
        before = snapshot(novel)
        with pytest.raises(IntegrityError, match="twice"):
            novel.run([Claim(0, 1), decision(lease, [child(b"b", 8)])])
        assert snapshot(novel) == before

    @pytest.mark.guarantee("C2")
    def test_a_decided_item_is_never_leased_again(self, novel: Ledger) -> None:
        admit(novel, b"a")
        lease = claim_one(novel)
        decide(novel, decision(lease))
        assert claim(novel, with_deferred=True) == ()
        assert one(novel, Release(lease.work_id, lease.token, "lost")) == Changed(False)
        assert admit(novel, b"a").new == (False,)

    def test_children_with_new_edges_are_kept_the_rest_is_late(self, novel: Ledger) -> None:
        admit(novel, b"a")
        twins = sorted([b"b", b"c"], key=input_id_of)
        children = [child(twins[0], 8, 16), child(twins[1], 16), child(b"d", 24), child(b"e")]
        answer = decide(novel, decision(claim_one(novel), children, edges=packed(0)))
        kept = {input_id_of(twins[0]), input_id_of(b"d")}
        assert set(answer.kept) == kept
        assert list(answer.kept) == sorted(kept)
        assert (answer.new_work, answer.late) == (2, 2)
        assert answer.new_edges == novel.knowledge() == packed(0, 8, 16, 24)
        status = novel.status()
        assert (status.total.kept, status.total.late_children, status.total.edges) == (2, 2, 4)
        assert status.corpus == 3
        with pytest.raises(DataError):
            novel.input_bytes(input_id_of(b"e"))

    def test_coverage_of_the_item_itself_counts_before_its_children(self, novel: Ledger) -> None:
        admit(novel, b"a")
        answer = decide(novel, decision(claim_one(novel), [child(b"b", 8)], edges=packed(8)))
        assert (answer.kept, answer.late) == ((), 1)

    def test_what_is_pending_before_later_turns_is_known(self, novel: Ledger) -> None:
        admit(novel, b"a", b"b", b"c")
        assert novel.status().pending_first == 3
        decide(novel, decision(claim_one(novel), [child(b"d", 8)], rest=follow_up(b"a", 3)))
        status = novel.status()
        assert (status.states[WorkState.PENDING], status.pending_first) == (4, 3)

    def test_late_is_judged_in_the_transaction(self, novel: Ledger) -> None:
        admit(novel, b"a", b"b")
        first, second = claim(novel)
        answers = novel.run(
            [decision(first, [child(b"c", 8)]), decision(second, [child(b"d", 8)])]
        ).answers
        assert [a.late for a in answers if isinstance(a, Decided)] == [0, 1]

    def test_keeping_all_keeps_every_distinct_child_once(self, keeps_all: Ledger) -> None:
        admit(keeps_all, b"a", b"b")
        first, second = claim(keeps_all)
        same = [child(b"x"), child(b"y"), child(b"x")]
        answer = decide(keeps_all, decision(first, same, keep=Keep.ALL))
        assert (answer.new_work, len(answer.kept), answer.late) == (2, 2, 0)
        answer = decide(keeps_all, decision(second, [child(b"x")], keep=Keep.ALL))
        assert (answer.new_work, answer.late) == (0, 0)
        total = keeps_all.status().total
        assert (total.generated, total.unique_children, total.kept) == (4, 2, 3)

    def test_keeping_all_does_not_use_the_follow_up(self, keeps_all: Ledger) -> None:
        assert keeps_all.status().pending_first is None
        admit(keeps_all, b"a")
        rest = follow_up(b"a", 3)
        decide(keeps_all, decision(claim_one(keeps_all), keep=Keep.ALL, rest=rest))
        assert claim(keeps_all) == ()

    def test_keeping_all_refuses_work_that_is_more_than_its_input(self, keeps_all: Ledger) -> None:
        admit(keeps_all, b"a")
        rest = follow_up(b"b", 3)
        bounded = replace(
            child(b"b"), work_id=rest.work_id, state_id=rest.state_id, payload=rest.payload
        )
        refused(keeps_all, decision(claim_one(keeps_all), [bounded], keep=Keep.ALL))

    def test_the_rest_of_a_truncated_execution_is_new_work(self, novel: Ledger) -> None:
        admit(novel, b"a")
        rest = follow_up(b"a", 3)
        assert decide(novel, decision(claim_one(novel), rest=rest)).new_work == 1
        lease = claim_one(novel)
        assert (lease.work_id, lease.payload, lease.cost_us) == (rest.work_id, rest.payload, 100)
        assert novel.status().corpus == 1

    @pytest.mark.guarantee("C3")
    @pytest.mark.guarantee("C4")
    def test_a_manifest_is_canonical_and_bound_to_item_input_and_token(self, novel: Ledger) -> None:
        admit(novel, b"a")
        lease = claim_one(novel)
        children = [child(data, 8 * n) for n, data in enumerate([b"b", b"c", b"d"])]
        decide(novel, decision(lease, children))
        (row,) = novel.decisions()
        manifest = decode_manifest(row.manifest)
        assert (manifest.work_id, manifest.input_id) == (lease.work_id, input_id_of(b"a"))
        assert (manifest.epoch, manifest.fence, manifest.incarnation) == (1, 1, 7)
        assert manifest.children == tuple(sorted(c.input_id for c in children))

    def test_a_manifest_digest_does_not_tell_who_decided_when(self, store: Store) -> None:
        ledger = self._open(store, Keep.NOVEL)
        admit(ledger, b"a", b"z")
        first = decision(claim_one(ledger), [child(b"b", 8)])
        again = store.crash_and_open()
        again.open_epoch(epoch_request(coordinator=99))
        second = next(lease for lease in claim(again) if lease.data == b"a")
        decide(again, decision(second, [child(b"b", 8)]))
        (row,) = again.decisions()
        assert decode_manifest(row.manifest).incarnation == 99
        fresh = MemoryReference().decide_like(first)
        assert row.manifest_digest == fresh

    @pytest.mark.guarantee("A6")
    @pytest.mark.guarantee("L7")
    def test_an_invalid_result_leaves_its_item_leased(self, novel: Ledger) -> None:
        admit(novel, b"a")
        lease = claim_one(novel)
        good = child(b"b", 8)
        refused(novel, decision(lease, input_id=input_id_of(b"other")))
        refused(novel, decision(lease, [replace(good, data=b"B")]))
        refused(novel, decision(lease, [replace(good, work_id=lease.work_id)]))
        refused(novel, decision(lease, [replace(good, edges=b"123")]))
        refused(novel, decision(lease, [good], generated=0))
        refused(novel, decision(lease, outcome=Outcome.STALLED))
        refused(novel, decision(lease, rest=follow_up(b"other", 2)))
        assert decide(novel, decision(lease, [good])).disposition == "completed"

    @pytest.mark.guarantee("A5")
    def test_bytes_of_parts_are_visible_when_the_decision_names_them(self, novel: Ledger) -> None:
        admit(novel, b"a")
        lease = claim_one(novel)
        part = child(b"large", 8, in_part=True)
        assert "missing" in refused(novel, decision(lease, [part]))
        assert one(novel, StoreInputs((b"large",))) == Counted()
        assert list(novel.corpus()) == [input_id_of(b"a")]
        assert decide(novel, decision(lease, [part])).new_work == 1
        assert claim_one(novel).data == b"large"

    @pytest.mark.guarantee("D5")
    @pytest.mark.guarantee("L6")
    def test_a_result_of_an_older_epoch_is_stale(self, store: Store) -> None:
        ledger = self._open(store, Keep.NOVEL)
        admit(ledger, b"a")
        old = claim_one(ledger)
        again = store.crash_and_open()
        opened = again.open_epoch(epoch_request(8))
        assert (opened.epoch, opened.resumed, opened.leases_recovered) == (2, True, 1)
        before = snapshot(again)
        assert decide(again, decision(old, [child(b"b", 8)])).disposition == "stale"
        assert snapshot(again) == before
        new = claim_one(again)
        assert new.token > old.token
        assert new.token.fence > old.token.fence
        assert decide(again, decision(old)).disposition == "stale"
        assert decide(again, decision(new)).disposition == "completed"

    @pytest.mark.guarantee("C8")
    def test_takeover_touches_undecided_items_only(self, store: Store) -> None:
        ledger = self._open(store, Keep.NOVEL)
        admit(ledger, b"a", b"b", b"c")
        first, second, _ = claim(ledger)
        operation = decision(first, [child(b"d", 8)])
        decide(ledger, operation)
        rows = list(ledger.decisions())
        again = store.crash_and_open()
        opened = again.open_epoch(epoch_request(8))
        assert (opened.leases_recovered, opened.frontier, opened.decisions) == (2, 3, 1)
        assert opened.knowledge == packed(8)
        assert list(again.decisions()) == rows
        assert decide(again, operation) == Decided("already", decision=1)
        again.register_source("seeds", "/seeds", "here")
        assert again.status().total.executed == 1
        assert again.status().this_epoch.executed == 0
        assert again.status().executed_by == {0: 1}, "of all epochs"
        assert second.work_id in {lease.work_id for lease in claim(again)}

    # ---- artefacts and sinks --------------------------------------------------------------------

    def test_crashes_and_hangs_are_artefacts_whether_kept_or_not(self, novel: Ledger) -> None:
        admit(novel, b"a")
        children = [
            child(b"boom", outcome=Outcome.CRASH, signal=6),
            child(b"slow", 8, outcome=Outcome.HANG),
            child(b"fine", 16),
        ]
        decide(novel, decision(claim_one(novel), children, outcome=Outcome.CRASH))
        (own, boom) = novel.artefacts(SinkKind.CRASHES, 0, 10, 2**20)
        assert (own.input_id, own.parent, own.signal) == (input_id_of(b"a"), None, 11)
        assert (boom.data, boom.parent, boom.signal) == (b"boom", input_id_of(b"a"), 6)
        assert (boom.how, boom.site, boom.decision) == ("smt", 2**63 + 5, 1)
        (slow,) = novel.artefacts(SinkKind.HANGS, 0, 10, 2**20)
        assert slow.data == b"slow"
        assert novel.status().total.crashes == 2
        assert novel.status().total.hangs == 1
        rows = novel.crashes()
        assert sorted(row.kind for row in rows) == ["crashes", "crashes", "hangs"]
        assert {(row.size, row.decision, row.epoch) for row in rows} == {(1, 1, 1), (4, 1, 1)}
        assert input_id_of(b"boom") not in set(novel.corpus())

    def test_one_crash_found_twice_is_one_artefact(self, keeps_all: Ledger) -> None:
        admit(keeps_all, b"a")
        boom = child(b"boom", outcome=Outcome.CRASH, signal=6)
        decide(keeps_all, decision(claim_one(keeps_all), [boom], keep=Keep.ALL))
        decide(keeps_all, decision(claim_one(keeps_all), keep=Keep.ALL, outcome=Outcome.CRASH))
        assert len(keeps_all.crashes()) == 1
        assert keeps_all.status().total.crashes == 1

    def test_artefact_numbers_have_no_gaps_and_follow_decisions(self, novel: Ledger) -> None:
        admit(novel, b"a", b"b")
        for number, lease in enumerate(claim(novel), start=1):
            kids = [child(b"%d" % number, number * 8), child(b"x%d" % number, number * 80)]
            decide(novel, decision(lease, kids))
        found = [a for kind in SinkKind for a in novel.artefacts(kind, 0, 100, 2**20)]
        assert sorted(a.number for a in found) == list(range(1, len(found) + 1))
        decisions = [a.decision for a in sorted(found, key=lambda a: a.number)]
        assert decisions == sorted(decisions)

    def test_artefacts_are_read_in_pages_by_count_and_bytes(self, novel: Ledger) -> None:
        admit(novel, b"a" * 10, b"b" * 10, b"c" * 10)
        read = novel.artefacts
        assert [a.number for a in read(SinkKind.CORPUS, 0, 2, 2**20)] == [1, 2]
        assert [a.number for a in read(SinkKind.CORPUS, 1, 9, 20)] == [2, 3]
        assert [a.number for a in read(SinkKind.CORPUS, 0, 9, 1)] == [1]
        assert read(SinkKind.CORPUS, 3, 9, 2**20) == ()

    @pytest.mark.guarantee("C6")
    def test_a_mark_moves_by_compare_and_set(self, novel: Ledger) -> None:
        sink = novel.register_sink(SinkKind.CORPUS, "/out/corpus", "here")
        admit(novel, b"a", b"b")
        assert novel.status().unpublished == 2
        assert one(novel, mark(sink, 1)) == Marked("completed")
        assert one(novel, mark(sink, 1)) == Marked("already")
        assert one(novel, mark(sink, 2)) == Marked("stale")
        assert novel.status().unpublished == 1
        other = replace(sink, incarnation=Incarnation(sink.incarnation ^ 1))
        assert one(novel, MarkPublished(1, other.incarnation, 1, 2)) == Marked("stale")
        refused(novel, MarkPublished(1, sink.incarnation, 1, 3))
        refused(novel, MarkPublished(9, sink.incarnation, 0, 1))
        assert one(novel, MarkPublished(1, sink.incarnation, 1, 2)) == Marked("completed")
        assert novel.status().unpublished == 0

    def test_a_sink_goes_on_where_it_was_under_a_new_incarnation(self, store: Store) -> None:
        ledger = self._open(store, Keep.NOVEL)
        sink = ledger.register_sink(SinkKind.CORPUS, "/out/corpus", "here")
        admit(ledger, b"a", b"b")
        one(ledger, mark(sink, 1))
        again = store.crash_and_open()
        assert again.open_epoch(epoch_request(8)).sinks[0].published_upto == 1
        assert again.status().unpublished == 0, "a sink is live once it is registered"
        renewed = again.register_sink(SinkKind.CORPUS, "/out/corpus", "here")
        assert (renewed.sink, renewed.published_upto) == (sink.sink, 1)
        assert renewed.incarnation != sink.incarnation
        assert again.status().unpublished == 1
        stale = MarkPublished(sink.sink, sink.incarnation, 1, 2)
        assert one(again, stale) == Marked("stale")
        elsewhere = again.register_sink(SinkKind.CORPUS, "/out/corpus", "there")
        assert (elsewhere.sink, elsewhere.published_upto) == (2, 0)

    @pytest.mark.guarantee("C5")
    def test_decisions_that_an_epoch_publishes_again_are_counted(self, store: Store) -> None:
        ledger = self._open(store, Keep.NOVEL)
        sink = ledger.register_sink(SinkKind.CORPUS, "/out/corpus", "here")
        ledger.register_sink(SinkKind.CRASHES, "/out/crashes", "here")
        admit(ledger, b"a", b"b", b"c")
        first, second, third = claim(ledger)
        decide(ledger, decision(first, [child(b"d", 8), child(b"e", 16)]))
        one(ledger, mark(sink, 4))
        decide(ledger, decision(second, [child(b"f", 24, outcome=Outcome.CRASH)]))
        decide(ledger, decision(third))
        again = store.crash_and_open()
        again.open_epoch(epoch_request(8))
        # The first half published, the second not at all; the third has nothing to publish.
        assert again.status().faults_this_epoch["redone_decisions"] == {"": 2}

    def test_unstable_edges_are_summed(self, novel: Ledger) -> None:
        admit(novel, b"a", b"b")
        for lease in claim(novel):
            decide(novel, replace(decision(lease), unstable=3))
        assert novel.status().total.unstable_edges == 6

    # ---- giving back ----------------------------------------------------------------------------

    @pytest.mark.guarantee("J7")
    @pytest.mark.guarantee("J9")
    @pytest.mark.guarantee("D7")
    def test_a_released_item_keeps_its_identity(self, novel: Ledger) -> None:
        admit(novel, b"a")
        first = claim_one(novel)
        one(novel, Release(first.work_id, first.token, "protocol"))
        second = claim_one(novel)
        assert (second.work_id, second.payload) == (first.work_id, first.payload)
        assert second.token != first.token
        assert novel.status().faults_this_epoch == {"protocol_requeued": {"": 1}}

    def test_losses_in_a_row_make_a_suspect_then_poison(self, novel: Ledger) -> None:
        admit(novel, b"a")
        lose(novel, 2)
        assert novel.status().suspects == 0
        lose(novel, 1, "silence")
        assert novel.status().suspects == 1
        assert claim(novel, with_deferred=True) == (), "no ordinary claim takes a suspect"
        assert lose(novel, 1, suspects_only=True).poisoned is False
        assert lose(novel, 1, "killed", suspects_only=True).poisoned is True
        (row,) = novel.work_rows(WorkState.POISONED, 10)
        assert (row.losses, row.deliveries) == (5, 5)
        assert "5 times" in row.detail
        status = novel.status()
        assert (status.suspects, status.states[WorkState.POISONED]) == (0, 1)

    def test_what_did_not_run_or_was_stopped_is_no_loss(self, novel: Ledger) -> None:
        admit(novel, b"a")
        causes: list[tuple[ReleaseCause, bool]] = [
            ("lost", False),
            ("prefetched", False),
            ("cancelled", True),
            ("protocol", True),
            ("invalid", True),
        ]
        for cause, ran in causes * 2:
            lease = claim_one(novel)
            one(novel, Release(lease.work_id, lease.token, cause, ran=ran))
        assert claim_one(novel).suspect is False

    def test_a_decided_suspect_is_none_any_more(self, novel: Ledger) -> None:
        admit(novel, b"a")
        lose(novel, 3)
        lease = claim_one(novel, suspects_only=True)
        assert lease.suspect is True
        decide(novel, decision(lease))
        assert novel.status().suspects == 0

    def test_three_executors_poison_one_does_not(self, novel: Ledger) -> None:
        admit(novel, b"a")
        for executor, blames in ((1, 1), (1, 1), (1, 1), (2, 2), (3, 3)):
            lease = claim_one(novel)
            answer = one(novel, Blame(lease.work_id, lease.token, Incarnation(executor), "died"))
            assert answer == Blamed(changed=True, blames=blames, poisoned=blames == 3)
        assert claim(novel) == ()
        (row,) = novel.work_rows(WorkState.POISONED, 10)
        assert (row.blames, row.detail) == (3, "died")
        assert novel.status().faults_total["blames"] == {"": 5}

    def test_a_blame_ends_a_row_of_losses(self, novel: Ledger) -> None:
        admit(novel, b"a")
        lose(novel, 2)
        lease = claim_one(novel)
        one(novel, Blame(lease.work_id, lease.token, Incarnation(1), "died"))
        lose(novel, 2)
        assert claim_one(novel).suspect is False

    def test_rearmed_poison_starts_again_without_blames(self, novel: Ledger) -> None:
        admit(novel, b"a", b"b")
        for executor in (1, 2, 3):
            lease = claim_one(novel)
            one(novel, Blame(lease.work_id, lease.token, Incarnation(executor), "died"))
        other = admission(b"b").work_id
        assert novel.rearm([lease.work_id, other, lease.work_id]) == 1
        assert novel.status().states[WorkState.POISONED] == 0
        again = next(found for found in claim(novel) if found.data == b"a")
        assert (again.work_id, again.blames) == (lease.work_id, 0)
        answer = one(novel, Blame(again.work_id, again.token, Incarnation(1), "died"))
        assert answer == Blamed(changed=True, blames=1, poisoned=False)

    @pytest.mark.guarantee("J8")
    def test_a_deferred_item_is_due_when_it_is_asked_for(self, novel: Ledger) -> None:
        admit(novel, b"a", b"b")
        lease = claim_one(novel)
        assert one(novel, Defer(lease.work_id, lease.token, "no result")) == Changed(True)
        turn = novel.run([Claim(0, 1)])
        assert (turn.open_work, turn.pending, turn.deferred) == (2, 0, 1)
        assert claim(novel) == ()
        (again,) = claim(novel, with_deferred=True)
        assert (again.work_id, again.token.fence) == (lease.work_id, 2)
        assert novel.status().faults_this_epoch == {"protocol_deferred": {"": 1}}

    @pytest.mark.guarantee("J8")
    def test_a_second_deferral_poisons(self, novel: Ledger) -> None:
        admit(novel, b"a")
        lease = claim_one(novel)
        one(novel, Defer(lease.work_id, lease.token, "first"))
        lease = claim_one(novel, with_deferred=True)
        answer = one(novel, Defer(lease.work_id, lease.token, "second"))
        assert answer == Changed(changed=True, poisoned=True)
        (row,) = novel.work_rows(WorkState.POISONED, 10)
        assert row.detail == "second"

    @pytest.mark.guarantee("J8")
    def test_deferred_items_are_rearmed_by_the_next_epoch(self, store: Store) -> None:
        """E12: same work id, before sources are read."""
        ledger = self._open(store, Keep.NOVEL)
        admit(ledger, b"a")
        lease = claim_one(ledger)
        one(ledger, Defer(lease.work_id, lease.token, "no result"))
        again = store.crash_and_open()
        opened = again.open_epoch(epoch_request(8))
        assert (opened.deferred_rearmed, opened.frontier) == (1, 1)
        assert claim_one(again).work_id == lease.work_id
        assert again.status().faults_this_epoch == {}
        assert again.status().faults_total == {"protocol_deferred": {"": 1}}

    # ---- quiescence and the end -----------------------------------------------------------------

    @pytest.mark.guarantee("C10")
    @pytest.mark.guarantee("Q2")
    def test_quiescence_needs_everything_to_be_over(self, novel: Ledger) -> None:
        sink = novel.register_sink(SinkKind.CORPUS, "/out/corpus", "here")
        admit(novel, b"a")

        def vote() -> str:
            changes = novel.run([]).changes
            answer = one(novel, CommitQuiescence("members", changes))
            assert isinstance(answer, Quiesced)
            assert answer.committed is (answer.reason == "")
            return answer.reason

        assert "1 pending" in vote()
        lease = claim_one(novel)
        assert "1 leased" in vote()
        one(novel, Defer(lease.work_id, lease.token, "x"))
        assert "1 deferred" in vote()
        decide(novel, decision(claim_one(novel, with_deferred=True)))
        assert "sources" in vote()
        one(novel, SetSource(1, is_open=False))
        assert "not published" in vote()
        one(novel, mark(sink, 1))
        stale = one(novel, CommitQuiescence("members", novel.run([]).changes - 1))
        assert isinstance(stale, Quiesced)
        assert "changed since the vote" in stale.reason
        assert vote() == ""

    @pytest.mark.guarantee("Q3")
    def test_no_work_appears_after_the_commit(self, novel: Ledger) -> None:
        one(novel, SetSource(1, is_open=False))
        answer = one(novel, CommitQuiescence("members", novel.run([]).changes))
        assert answer == Quiesced(committed=True)
        assert "quiescent" in refused(novel, Admit(1, (admission(b"late"),)))

    @pytest.mark.guarantee("Q3")
    def test_what_came_after_the_commit_is_work_of_the_next_epoch(self, store: Store) -> None:
        ledger = self._open(store, Keep.NOVEL)
        one(ledger, SetSource(1, is_open=False))
        one(ledger, CommitQuiescence("members", ledger.run([]).changes))
        again = store.crash_and_open()
        again.open_epoch(epoch_request(8))
        assert admit(again, b"late").new == (True,)

    def test_an_opened_source_voids_a_vote(self, novel: Ledger) -> None:
        one(novel, SetSource(1, is_open=False))
        voted = novel.run([]).changes
        one(novel, SetSource(1, is_open=True))
        one(novel, SetSource(1, is_open=False))
        answer = one(novel, CommitQuiescence("members", voted))
        assert isinstance(answer, Quiesced)
        assert answer.committed is False

    def test_sources_of_older_epochs_do_not_count(self, store: Store) -> None:
        ledger = self._open(store, Keep.NOVEL)
        ledger.register_source("afl", "/queue", "here")
        again = store.crash_and_open()
        again.open_epoch(epoch_request(8))
        assert one(again, CommitQuiescence("m", again.run([]).changes)) == Quiesced(True)
        refused(again, SetSource(7, is_open=True))

    @pytest.mark.guarantee("Q4")
    def test_acknowledgements_and_verdict_are_told(self, novel: Ledger) -> None:
        one(novel, RecordAck(0, 2, 3, ("worker 3",), 1.25))
        one(novel, CloseEpoch("quiescent", 2))
        (row,) = novel.epochs()
        assert (row.reason, row.exit_code) == ("quiescent", 2)
        assert row.closed_wall is not None
        status = novel.status()
        (totals,) = status.coordinators
        assert (totals.acknowledged, totals.workers, totals.missing) == (2, 3, ("worker 3",))
        assert status.idle_window_s == 1.25
        refused(novel, CloseEpoch("again", 0))

    def test_an_epoch_without_a_verdict_has_none(self, store: Store) -> None:
        ledger = self._open(store, Keep.NOVEL)
        admit(ledger, b"a")
        decide(ledger, decision(claim_one(ledger)))
        again = store.crash_and_open()
        again.open_epoch(epoch_request(8))
        first, second = again.epochs()
        assert (first.reason, first.exit_code, first.decisions) == (None, None, 1)
        assert (second.epoch, second.decisions) == (2, 0)

    @pytest.mark.guarantee("D8")
    @pytest.mark.guarantee("J10")
    def test_fault_counters_are_sums_of_their_reasons(self, store: Store) -> None:
        ledger = self._open(store, Keep.NOVEL)
        one(ledger, CountFaults(0, (("quarantined_results", "stale", 2),)))
        one(ledger, CountFaults(0, (("quarantined_results", "stale", 1), ("id_mismatches", "", 1))))
        again = store.crash_and_open()
        again.open_epoch(epoch_request(8))
        one(again, CountFaults(0, (("quarantined_results", "missing", 1),)))
        status = again.status()
        assert status.faults_this_epoch == {"quarantined_results": {"missing": 1}}
        assert status.faults_total == {
            "quarantined_results": {"missing": 1, "stale": 3},
            "id_mismatches": {"": 1},
        }

    @pytest.mark.guarantee("J10")
    def test_a_fault_stands_under_the_coordinator_that_saw_it(self, novel: Ledger) -> None:
        one(novel, CountFaults(0, (("slots_reborn", "", 1),)))
        one(novel, CountFaults(3, (("slots_reborn", "", 4), ("id_mismatches", "", 2))))
        status = novel.status()
        assert [(row.coordinator, row.faults) for row in status.coordinators] == [(0, 1), (3, 6)]
        assert status.faults_total["slots_reborn"] == {"": 5}

    def test_sums_are_told_for_the_epoch_and_the_campaign(self, store: Store) -> None:
        ledger = self._open(store, Keep.NOVEL)
        admit(ledger, b"a", b"b")
        first, _ = claim(ledger)
        decide(ledger, decision(first, [child(b"c", 8)]))
        again = store.crash_and_open()
        again.open_epoch(epoch_request(8))
        for lease in claim(again):
            decide(again, decision(lease))
        status = again.status()
        assert (status.this_epoch.executed, status.total.executed) == (2, 3)
        assert status.total.flips == {"sat": 1, "unsat": 3}
        assert status.total.solved == {"smt": 1}
        assert status.total.reasons == {"all_unsat": 2}
        assert status.total.target_runs == 4
        assert status.this_epoch.external_inputs == 0
        assert (status.epochs, status.decisions) == (2, 3)
        assert [row.executed for row in status.coordinators] == [2]
        assert status.last_new_edge_wall is not None

    # ---- generations ----------------------------------------------------------------------------

    @pytest.mark.guarantee("C7")
    @pytest.mark.guarantee("C8")
    @pytest.mark.parametrize("killed", [False, True])
    def test_a_new_generation_supersedes_what_is_open_and_executes_the_corpus_again(
        self, store: Store, killed: bool
    ) -> None:
        ledger = self._open(store, Keep.NOVEL)
        admit(ledger, b"done", b"leased", b"poisoned", b"deferred", b"pending")
        leases = claim(ledger, 4)
        met = decision(leases[0], [child(b"kid", 8)], edges=packed(16))
        decide(ledger, replace(met, cut_off=("children",), left_out={"children": 3}))
        for executor in (1, 2, 3):
            held = leases[2] if executor == 1 else claim_one(ledger)
            one(ledger, Blame(held.work_id, held.token, Incarnation(executor), "SIGSEGV"))
        one(ledger, Defer(leases[3].work_id, leases[3].token, "protocol"))
        before, knowledge = ledger.status(), ledger.knowledge()
        assert before.states[WorkState.POISONED] == before.states[WorkState.DEFERRED] == 1
        again = store.crash_and_open()
        new = NewGeneration(GenerationId("ef" * 32), replace(KEY, target_digest="n" * 64), "", 1.0)
        assert again.begin_generation(new) == 6
        if killed:
            again = store.crash_and_open()
        assert list(again.audit()) == []
        assert again.open_epoch(epoch_request(8)).frontier == 6
        status = again.status()
        assert status.campaign.generation == new.generation
        assert (status.campaign.key, status.campaign.generation_number) == (new.key, 2)
        assert status.states == {
            **dict.fromkeys(WorkState, 0),
            WorkState.PENDING: 6,
            WorkState.DONE: 1,
            WorkState.SUPERSEDED: 5,
        }
        assert status.decisions == 1, "old decisions stay"
        cut_off = (before.total.not_exhaustive, before.total.cut_off, before.total.left_out)
        assert cut_off == (1, {"children": 1}, {"children": 3})
        anew = replace(before.total, edges=0, not_exhaustive=0, cut_off={}, left_out={})
        assert status.total == anew, "every input is executed again"
        assert (before.total.edges, status.total.edges) == (2, 0), "coverage counts anew"
        assert (len(knowledge), again.knowledge()) == (8, b"")
        assert again.rearm([leases[2].work_id]) == 0, "the old program's work never comes back"
        work = claim(again)
        inputs = (b"done", b"leased", b"poisoned", b"deferred", b"pending", b"kid")
        assert [lease.data for lease in work] == list(inputs)
        items = [WorkItem(new.generation, input_id_of(data)) for data in inputs]
        assert [lease.work_id for lease in work] == [work_id_of(item) for item in items]
        told = decide(again, decision(work[0], [child(b"kid", 8)], edges=packed(16)))
        assert told.kept == (input_id_of(b"kid"),), "new again, for this program"
        assert again.status().total.edges == 2
        assert again.status().corpus == before.corpus, "the same bytes are one input"
        assert list(again.audit()) == []
        last = store.crash_and_open()
        assert last.knowledge() == packed(8, 16)
        newer = replace(new, generation=GenerationId("fe" * 32))
        assert last.begin_generation(newer) == 6
        assert last.status().states[WorkState.SUPERSEDED] == 10
        assert last.knowledge() == b""
        assert list(last.audit()) == []

    # ---- turns ----------------------------------------------------------------------------------

    def test_a_refused_operation_does_not_stop_its_turn(self, novel: Ledger) -> None:
        admit(novel, b"a", b"b")
        first, second = claim(novel)
        answers = novel.run(
            [
                decision(first, [child(b"c", 8)]),
                decision(second, generated=-1),
                Admit(1, (replace(admission(b"x"), data=b"y"), admission(b"w"))),
                decision(second, [child(b"d", 8)]),
            ]
        ).answers
        assert [type(answer) for answer in answers] == [Decided, Failed, Failed, Decided]
        assert list(novel.audit()) == []
        assert novel.status().total.late_children == 1

    def test_a_turn_tells_the_state_after_it(self, novel: Ledger) -> None:
        novel.register_sink(SinkKind.CORPUS, "/out/corpus", "here")
        turn = novel.run([Admit(1, (admission(b"a"), admission(b"b"))), Claim(0, 1)])
        assert (turn.open_work, turn.pending) == (2, 1)
        assert (turn.last_artefact, turn.unpublished) == (2, 2)
        grown = novel.run([CountFaults(0, (("x", "", 1),))])
        assert grown.changes == turn.changes

    def test_nothing_runs_before_an_epoch_is_open(self, store: Store) -> None:
        ledger = store.create(Keep.NOVEL)
        with pytest.raises(InternalError):
            ledger.run([Claim(0, 1)])

    def test_the_audit_of_a_used_ledger_is_clean(self, store: Store) -> None:
        ledger = self._open(store, Keep.NOVEL)
        admit(ledger, *(b"%d" % n for n in range(10)))
        for number, lease in enumerate(claim(ledger, 8)):
            kids = [child(b"%d-%d" % (number, n), number * 80 + n * 8) for n in range(3)]
            decide(ledger, decision(lease, kids, outcome=Outcome.CRASH, edges=packed(1, number)))
        assert list(ledger.audit()) == []
        again = store.crash_and_open()
        again.open_epoch(epoch_request(8))
        for lease in claim(again):
            decide(again, decision(lease))
        assert list(again.audit()) == []


GONE = "DELETE FROM work WHERE state = '{}'"
MOVED = "UPDATE work SET state = 'poisoned' WHERE state = '{}'"


class CountingLedgerBehaviour(LedgerBehaviour):
    """The suite, and what happens when rows are gone that are counted: nobody waits for them."""

    @pytest.mark.guarantee("C9")
    @pytest.mark.parametrize("how", [GONE, MOVED])
    @pytest.mark.parametrize("flags", [{}, {"with_deferred": True}, {"suspects_only": True}])
    def test_pending_rows_that_are_gone_are_damage_whoever_asks_for_work(
        self, novel: Ledger, store: CountingStore, how: str, flags: dict[str, bool]
    ) -> None:
        admit(novel, b"leased", b"gone")
        claim_one(novel)
        store.tamper(how.format("pending"))
        told = damaged(novel, Claim(0, 1, **flags))
        assert "a count of work rows is wrong; where: standing pending" in told
        assert "why: 1 counted, none found" in told

    @pytest.mark.guarantee("C9")
    def test_what_is_left_of_pending_rows_is_still_done(
        self, novel: Ledger, store: CountingStore
    ) -> None:
        admit(novel, b"left", b"gone")
        store.tamper("DELETE FROM work WHERE work = 2")
        (left,) = claim(novel)
        assert decide(novel, decision(left)).disposition == "completed"
        assert "standing pending" in damaged(novel, Claim(0, 1))

    @pytest.mark.guarantee("C9")
    def test_counts_are_looked_at_when_the_turn_is_over(
        self, novel: Ledger, store: CountingStore
    ) -> None:
        admit(novel, b"a", b"b")
        held = claim_one(novel)
        store.tamper(GONE.format("pending"))
        back = Release(held.work_id, held.token, "given_back", ran=False)
        # As long as a row is left, the campaign goes on.
        answers = novel.run([Claim(0, 1, suspects_only=True), back]).answers
        assert answers == (Claimed(()), Changed(True))
        # What a turn has taken itself is not missed.
        first, second = novel.run([Claim(0, 1), CountFaults(0, ())]).answers
        assert isinstance(first, Claimed)
        assert len(first.leases) == 1
        assert second == Counted()
        assert "1 counted, none found" in damaged(novel, Claim(0, 1), Claim(0, 1))

    @pytest.mark.guarantee("C9")
    @pytest.mark.parametrize("how", [GONE, MOVED])
    def test_deferred_rows_that_are_gone_are_damage(
        self, novel: Ledger, store: CountingStore, how: str
    ) -> None:
        admit(novel, b"a")
        lease = claim_one(novel)
        one(novel, Defer(lease.work_id, lease.token, "no result"))
        store.tamper(how.format("deferred"))
        told = damaged(novel, Claim(0, 1, with_deferred=True))
        assert "standing deferred; why: 1 counted, none found" in told

    @pytest.mark.guarantee("C9")
    @pytest.mark.parametrize("how", [GONE, MOVED])
    def test_a_leased_row_that_is_gone_is_damage_whatever_is_said_of_it(
        self, novel: Ledger, store: CountingStore, how: str
    ) -> None:
        admit(novel, b"gone", b"there")
        theirs = one(novel, Claim(1, 1))
        assert isinstance(theirs, Claimed)
        (gone,) = theirs.leases
        there = claim_one(novel)
        store.tamper(how.format("leased") + f" AND work_id = {store.literal(gone.work_id)}")
        key = gone.work_id, gone.token
        given_back = Release(there.work_id, there.token, "given_back", ran=False)
        turns: tuple[list[Operation], ...] = (
            [decision(gone)],
            [Release(*key, "given_back", ran=False)],
            [given_back, Release(*key, "given_back", ran=False)],
            [Release(*key, "lost", ran=True)],
            [Defer(*key, "no result")],
            [Blame(*key, Incarnation(7), "died")],
            [AuditLeases(1, (key,))],
            [TakeOver(1)],
            [given_back, decision(gone)],
        )
        for said in turns:
            told = damaged(novel, *said)
            left = 2 - said.count(given_back)
            assert f"standing leased; why: {left} counted, {left - 1} found" in told, said
        assert one(novel, given_back) == Changed(True), "nobody else is held up"

    @pytest.mark.guarantee("C9")
    def test_an_artefact_that_is_gone_is_damage_to_who_publishes_and_to_the_vote(
        self, novel: Ledger, store: CountingStore
    ) -> None:
        sink = novel.register_sink(SinkKind.CORPUS, "corpus", "here")
        admit(novel, b"a", b"b")
        for lease in claim(novel):
            decide(novel, decision(lease))
        store.tamper("DELETE FROM artefacts WHERE artefact = 2")
        turn = novel.run([SetSource(1, is_open=False)])
        for said in (mark(sink, turn.last_artefact), CommitQuiescence("members", turn.changes)):
            assert "where: artefacts; why: 2 counted, 1 found" in damaged(novel, said)

    @pytest.mark.guarantee("C9")
    @pytest.mark.guarantee("C10")
    def test_rows_that_nobody_counts_forbid_the_vote(
        self, novel: Ledger, store: CountingStore
    ) -> None:
        admit(novel, b"a")
        lose(novel, 3)
        lose(novel, 2, suspects_only=True)
        store.tamper("UPDATE work SET state = 'pending' WHERE state = 'poisoned'")
        changes = novel.run([SetSource(1, is_open=False)]).changes
        told = damaged(novel, CommitQuiescence("members", changes))
        assert "standing pending; why: 0 counted, some found" in told

    @pytest.mark.guarantee("C9")
    @pytest.mark.parametrize("state", ["leased", "deferred"])
    def test_rows_that_are_gone_when_an_epoch_opens_are_damage(
        self, store: CountingStore, state: str
    ) -> None:
        ledger = self._open(store, Keep.NOVEL)
        admit(ledger, b"a", b"b")
        lease = claim_one(ledger)
        if state == "deferred":
            one(ledger, Defer(lease.work_id, lease.token, "no result"))
        again = store.crash_and_open()
        store.tamper(GONE.format(state))
        with pytest.raises(IntegrityError, match=f"standing {state}; why: 1 counted, 0 found"):
            again.open_epoch(epoch_request(8))
        assert again.status().epochs == 1


class MemoryReference:
    """The manifest digest of a decision as another campaign's ledger computes it."""

    def decide_like(self, operation: Decide) -> str:
        """Decide the same thing in a fresh ledger in memory; return the manifest digest."""
        ledger = MemoryLedger(campaign_row(campaign="d2" * 16), ManualClock())
        ledger.open_epoch(epoch_request(5))
        ledger.register_source("seeds", "/s", "h")
        admit(ledger, b"a")
        lease = claim_one(ledger)
        decide(ledger, replace(operation, token=lease.token))
        (row,) = ledger.decisions()
        return row.manifest_digest
