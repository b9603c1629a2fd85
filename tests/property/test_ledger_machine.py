"""Random lives of a ledger: the stores must answer exactly as the one in memory does.

Operations come alone and in turns of several, with current, stale and repeated tokens, over epochs
whose owner was killed. After every step everything that people can see must be equal; at the end
both audits must be clean.
"""

from __future__ import annotations

import os
import random
import secrets
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from symfleet.clock import SystemClock
from symfleet.errors import IntegrityError
from symfleet.ledger import opener, postgres_opener
from symfleet.ledger.contract import (
    CampaignRow,
    EpochRow,
    Ledger,
    LedgerReader,
    LedgerStatus,
    NewGeneration,
)
from symfleet.ledger.memory import MemoryLedger
from symfleet.ledger.postgres import PostgresLedger
from symfleet.ledger.sqlite import SqliteLedger
from symfleet.protocol.answers import Claimed, Lease, SinkRow, TurnAnswers
from symfleet.protocol.operations import (
    Admit,
    AuditLeases,
    Blame,
    Child,
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
from symfleet.testing.ledgers import (
    ManualClock,
    admission,
    campaign_row,
    child,
    decision,
    epoch_request,
    follow_up,
    packed,
)
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.testing.stores.postgres_writers import SeveralWriters
from symfleet.types import (
    Fence,
    FencingToken,
    GenerationId,
    Incarnation,
    Keep,
    Outcome,
    SinkKind,
    WorkState,
)

T = TypeVar("T")
Stored = SqliteLedger | PostgresLedger | SeveralWriters

_RAM: Path = Path("/dev/shm")
_INPUTS = st.integers(0, 9).map(lambda n: b"input %d" % n)
_EDGES = st.lists(st.integers(0, 40), max_size=3, unique=True)
_OUTCOMES = st.sampled_from(
    [Outcome.OK] * 4 + [Outcome.CRASH, Outcome.HANG, Outcome.CPU, Outcome.OOM, Outcome.STALLED]
)
_CAUSES: st.SearchStrategy[ReleaseCause] = st.sampled_from(
    ["given_back", "lost", "silence", "reborn", "protocol", "invalid", "stalled", "cancelled"]
)
_WHICH = st.integers(0, 40)


@st.composite
def _children(draw: st.DrawFn) -> tuple[Child, ...]:
    found = draw(st.lists(st.tuples(_INPUTS, _EDGES, _OUTCOMES, st.booleans()), max_size=4))
    return tuple(
        child(data, *edges, outcome=outcome, in_part=in_part, signal=6)
        for data, edges, outcome, in_part in found
    )


class LedgerMachine(RuleBasedStateMachine):
    """The same steps in memory and on SQLite."""

    def __init__(self) -> None:
        super().__init__()
        self.out = Path(tempfile.mkdtemp(dir=_RAM if _RAM.is_dir() else None))
        self.request = opener.OwnerRequest("here", os.getpid(), reserve_bytes=0)
        self.leases: list[Lease] = []
        self.decided: list[Decide] = []
        self.sinks: list[SinkRow] = []
        self.keep = Keep.NOVEL
        self.lives = 0
        self.changes = 0

    @initialize(keep=st.sampled_from(Keep))
    def begin(self, keep: Keep) -> None:
        self.keep = keep
        row = campaign_row(keep, secrets.token_hex(16))
        self.memory: Ledger = MemoryLedger(row, ManualClock())
        self.stored = self.create(row)
        self.open()

    def create(self, row: CampaignRow) -> Stored:
        """Make the ledger in the store."""
        return opener.create(self.out, row, self.request, ManualClock())

    def own(self) -> Stored:
        """Own the ledger in the store again."""
        return opener.open_owner(self.out, self.request, ManualClock())

    def open(self) -> None:
        self.lives += 1
        self.both(lambda ledger: ledger.open_epoch(epoch_request(self.lives)))
        self.both(lambda ledger: ledger.register_source("seeds", "/s", "here"))

    def look(self, ledger: Ledger) -> tuple[object, ...]:
        """Return what must be equal."""
        return _seen(ledger)

    def both(self, ask: Callable[[Ledger], T]) -> T:
        expected = ask(self.memory)
        assert ask(self.stored) == expected
        return expected

    def turn(self, *operations: Operation) -> TurnAnswers | None:
        """Run a turn on both; damage must be seen by both."""
        try:
            expected = self.memory.run(operations)
        except IntegrityError as error:
            with pytest.raises(IntegrityError, match=error.what):
                self.stored.run(operations)
            return None
        assert self.stored.run(operations) == expected
        self.changes = expected.changes
        for answer in expected.answers:
            if isinstance(answer, Claimed):
                self.leases.extend(answer.leases)
        return expected

    def lease(self, which: int) -> Lease:
        return self.leases[which % len(self.leases)]

    # ---- single operations ----------------------------------------------------------------------

    @rule(
        inputs=st.lists(st.tuples(_INPUTS, st.sampled_from([None, "deep", "wide"])), max_size=3),
        false_name=st.booleans(),
    )
    def admit(self, inputs: list[tuple[bytes, str | None]], false_name: bool) -> None:
        strategies = self.keep is Keep.NOVEL
        entries = [admission(d, strategy=s if strategies else None) for d, s in inputs]
        if false_name and len(entries) == 3:
            entries[2] = replace(entries[2], data=b"other bytes")
        self.turn(Admit(1, tuple(entries)))

    @rule(
        coordinator=st.integers(0, 2),
        limit=st.integers(0, 4),
        deferred=st.booleans(),
        suspects=st.booleans(),
    )
    def claim(self, coordinator: int, limit: int, deferred: bool, suspects: bool) -> None:
        self.turn(Claim(coordinator, limit, with_deferred=deferred, suspects_only=suspects))

    @rule(coordinator=st.integers(1, 2))
    def take_over(self, coordinator: int) -> None:
        self.turn(TakeOver(coordinator), AuditLeases(coordinator, ()))

    def decision_of(
        self, which: int, children: tuple[Child, ...], edges: list[int], outcome: Outcome
    ) -> Decide:
        lease = self.lease(which)
        rest = follow_up(lease.data, which) if which % 3 == 0 else None
        return decision(
            lease, children, keep=self.keep, outcome=outcome, edges=packed(*edges), rest=rest
        )

    @precondition(lambda self: self.leases)
    @rule(which=_WHICH, children=_children(), edges=_EDGES, outcome=_OUTCOMES)
    def decide(
        self, which: int, children: tuple[Child, ...], edges: list[int], outcome: Outcome
    ) -> None:
        operation = self.decision_of(which, children, edges, outcome)
        self.turn(operation)
        self.decided.append(operation)

    @precondition(lambda self: self.decided)
    @rule(which=_WHICH)
    def decide_again(self, which: int) -> None:
        self.turn(self.decided[which % len(self.decided)])

    @precondition(lambda self: self.leases)
    @rule(which=_WHICH, cause=_CAUSES, ran=st.booleans(), at_head=st.booleans())
    def release(self, which: int, cause: ReleaseCause, ran: bool, at_head: bool) -> None:
        lease = self.lease(which)
        self.turn(Release(lease.work_id, lease.token, cause, ran=ran, at_head=at_head))

    @precondition(lambda self: self.leases)
    @rule(which=_WHICH)
    def lose_again_and_again(self, which: int) -> None:
        lease = self.lease(which)
        for _ in range(3):
            self.turn(Release(lease.work_id, lease.token, "lost", ran=True))
            self.turn(Claim(0, 1), Claim(0, 1, suspects_only=True))
            lease = self.leases[-1]

    @precondition(lambda self: self.leases)
    @rule(which=_WHICH)
    def defer(self, which: int) -> None:
        lease = self.lease(which)
        self.turn(Defer(lease.work_id, lease.token, "no result"))

    @precondition(lambda self: self.leases)
    @rule(which=_WHICH, executor=st.integers(1, 4))
    def blame(self, which: int, executor: int) -> None:
        lease = self.lease(which)
        self.turn(Blame(lease.work_id, lease.token, Incarnation(executor), f"died {executor}"))

    @precondition(lambda self: self.leases)
    @rule(which=_WHICH, ahead=st.integers(-1, 1))
    def forge(self, which: int, ahead: int) -> None:
        lease = self.lease(which)
        token = FencingToken(lease.token.epoch, Fence(lease.token.fence + ahead))
        self.turn(Release(lease.work_id, token, "given_back"))

    @rule(inputs=st.lists(_INPUTS, max_size=2))
    def store_inputs(self, inputs: list[bytes]) -> None:
        self.turn(StoreInputs(tuple(inputs)))

    @rule(amount=st.integers(1, 3), reason=st.sampled_from(["stale", "missing", ""]))
    def count(self, amount: int, reason: str) -> None:
        self.turn(
            CountFaults(0, (("quarantined_results", reason, amount),)),
            CountSkips(1, (("empty", amount),)),
        )

    @precondition(lambda self: self.leases)
    @rule(held=st.lists(_WHICH, max_size=4))
    def audit_leases(self, held: list[int]) -> None:
        leases = [self.lease(which) for which in held]
        self.turn(AuditLeases(0, tuple((lease.work_id, lease.token) for lease in leases)))

    # ---- several at once ------------------------------------------------------------------------

    @precondition(lambda self: self.leases)
    @rule(
        first=_WHICH,
        second=_WHICH,
        children=_children(),
        more=_children(),
        edges=_EDGES,
        outcome=_OUTCOMES,
    )
    def decide_two_and_claim(
        self,
        first: int,
        second: int,
        children: tuple[Child, ...],
        more: tuple[Child, ...],
        edges: list[int],
        outcome: Outcome,
    ) -> None:
        lost = self.lease(first + 1)
        operations = (
            self.decision_of(first, children, edges, Outcome.OK),
            Release(lost.work_id, lost.token, "reborn", ran=True),
            self.decision_of(second, more, edges, outcome),
            Claim(0, 2),
        )
        self.turn(*operations)
        self.decided.append(operations[0])

    # ---- sinks, sources, ends -------------------------------------------------------------------

    @rule(kind=st.sampled_from(SinkKind), host=st.sampled_from(["here", "there"]))
    def register_sink(self, kind: SinkKind, host: str) -> None:
        self.sinks.append(self.both(lambda ledger: ledger.register_sink(kind, "/out", host)))

    @precondition(lambda self: self.sinks)
    @rule(which=_WHICH, start=st.integers(0, 3), steps=st.integers(0, 4), current=st.booleans())
    def publish(self, which: int, start: int, steps: int, current: bool) -> None:
        sink = self.sinks[which % len(self.sinks)]
        if current:
            start = self.memory.sinks()[sink.sink - 1].published_upto
        self.turn(MarkPublished(sink.sink, sink.incarnation, start, start + steps))

    @rule(is_open=st.booleans(), source=st.integers(1, 2))
    def set_source(self, is_open: bool, source: int) -> None:
        self.turn(SetSource(source, is_open=is_open))

    @rule(behind=st.integers(0, 1))
    def vote(self, behind: int) -> None:
        self.turn(CommitQuiescence("members", self.changes - behind))

    @rule()
    def rearm_all(self) -> None:
        rows = self.memory.work_rows(WorkState.POISONED, 100)
        self.both(lambda ledger: ledger.rearm([row.work_id for row in rows]))

    @rule(acknowledged=st.integers(0, 2))
    def close_epoch(self, acknowledged: int) -> None:
        missing = ("worker 1",) * (2 - acknowledged)
        self.turn(RecordAck(0, acknowledged, 2, missing, 1.0), CloseEpoch("asked", 0))

    @rule(cleanly=st.booleans(), new_target=st.integers(0, 3))
    def next_epoch(self, cleanly: bool, new_target: int) -> None:
        if cleanly:
            self.stored.close()
        else:
            self.stored.abandon()
        self.stored = self.own()
        if new_target == 0:
            generation = GenerationId(f"{self.lives:064x}")
            new = NewGeneration(generation, campaign_row().key, f"jobs = {self.lives}\n", 1.0)
            self.both(lambda ledger: ledger.begin_generation(new))
        self.open()

    # ---- what must hold -------------------------------------------------------------------------

    @invariant()
    def both_look_the_same(self) -> None:
        if self.lives:
            self.both(self.look)

    def teardown(self) -> None:
        if self.lives:
            assert list(self.memory.audit()) == []
            assert list(self.stored.audit()) == []
            self.stored.close()
        shutil.rmtree(self.out)


def on_postgres(url: str) -> type[LedgerMachine]:
    """Return the same machine with a store on a server, whose clock is the server's."""

    class PostgresMachine(LedgerMachine):
        """The same steps in memory and on a server."""

        def create(self, row: CampaignRow) -> Stored:
            return postgres_opener.create(self.out, row, self.request, SystemClock(), url)

        def own(self) -> Stored:
            return postgres_opener.open_owner(self.out, self.request, SystemClock())

        def look(self, ledger: Ledger) -> tuple[object, ...]:
            status, epochs, *rest = _seen(ledger)
            assert isinstance(status, LedgerStatus)
            assert isinstance(epochs, tuple)
            timeless = replace(
                status,
                epoch=status.epoch and _timeless(status.epoch),
                last_new_edge_wall=status.last_new_edge_wall and 1.0,
            )
            crashes = [replace(row, found_wall=0.0) for row in ledger.crashes()]
            rest[3] = crashes
            return (timeless, [_timeless(row) for row in epochs], *rest)

    return PostgresMachine


def on_postgres_by_several(url: str) -> type[LedgerMachine]:
    """Return the same machine with each turn over another connection to a server."""

    class SeveralMachine(on_postgres(url)):  # type: ignore[misc]
        """The same steps in memory and by several coordinators."""

        def create(self, row: CampaignRow) -> Stored:
            return self.several(super().create(row))

        def own(self) -> Stored:
            return self.several(super().own())

        def several(self, root: Stored) -> Stored:
            assert isinstance(root, PostgresLedger)
            return SeveralWriters(root, 2, random.Random(self.lives))

    return SeveralMachine


def _timeless(row: EpochRow) -> EpochRow:
    return replace(row, opened_wall=0.0, closed_wall=row.closed_wall and 1.0)


def _seen(ledger: LedgerReader) -> tuple[object, ...]:
    """Return everything that people can see."""
    return (
        ledger.status(),
        tuple(ledger.epochs()),
        [ledger.work_rows(state, 100) for state in WorkState],
        [ledger.artefacts(kind, 0, 1000, 2**30) for kind in SinkKind],
        ledger.sinks(),
        ledger.crashes(),
        list(ledger.decisions()),
        list(ledger.corpus()),
        ledger.knowledge(),
    )


_CI = settings(
    max_examples=150,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.guarantee("L1")
@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("J6")
def test_sqlite_answers_as_memory_does() -> None:
    run_state_machine_as_test(LedgerMachine, settings=_CI)


@pytest.mark.guarantee("L1")
@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("C7")
def test_postgres_answers_as_memory_does(postgres: Cluster) -> None:
    few = settings(_CI, max_examples=12, stateful_step_count=30)
    run_state_machine_as_test(on_postgres(postgres.url), settings=few)


@pytest.mark.guarantee("L1")
@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("C7")
def test_several_writers_answer_as_memory_does(postgres: Cluster) -> None:
    few = settings(_CI, max_examples=6, stateful_step_count=30)
    run_state_machine_as_test(on_postgres_by_several(postgres.url), settings=few)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_several_writers_answer_as_memory_does_for_long(postgres: Cluster) -> None:
    many = settings(_CI, max_examples=300, stateful_step_count=50)
    run_state_machine_as_test(on_postgres_by_several(postgres.url), settings=many)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_postgres_answers_as_memory_does_for_long(postgres: Cluster) -> None:
    many = settings(_CI, max_examples=300, stateful_step_count=50)
    run_state_machine_as_test(on_postgres(postgres.url), settings=many)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_sqlite_answers_as_memory_does_for_long() -> None:
    settings_long = settings(_CI, max_examples=2000, stateful_step_count=60)
    run_state_machine_as_test(LedgerMachine, settings=settings_long)
