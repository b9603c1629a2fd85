"""The ledger's contract for the operations of an undisturbed campaign, in constant time each.

The real in-memory store keeps every row's history and counts by looking at all rows, which is right
for tests of a hundred items and too slow for a hundred thousand. This one answers the operations
that a study of speed meets exactly as the real stores do (`tests/unit/testing/test_scale_ledger.py`
compares it with the in-memory store turn by turn), and refuses every other operation. Names of
bytes are believed: machines and real stores check them. It publishes nothing, so it has no sinks.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from symfleet.errors import InternalError
from symfleet.ledger.manifest import distinct_children
from symfleet.ledger.plan import (
    after_release,
    coordinator_left,
    coordinator_name,
    head_place,
    novel_place,
    outside_place,
    rest_place,
    why_not_quiescent,
)
from symfleet.protocol.answers import (
    Admitted,
    Answer,
    Audited,
    Changed,
    Claimed,
    Counted,
    Decided,
    EpochOpening,
    Failed,
    Lease,
    Quiesced,
    TakenOver,
    TurnAnswers,
)
from symfleet.protocol.knowledge import pack, unpack
from symfleet.protocol.operations import (
    Admission,
    Admit,
    AuditLeases,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    CountFaults,
    Decide,
    Operation,
    RecordAck,
    Release,
    SetSource,
    TakeOver,
)
from symfleet.types import Epoch, Fence, FencingToken, InputId, Keep, StateId, WorkId, WorkState

_SOURCE: Final = 1
_NO_EPOCH: Final = Epoch(0)
_NO_FENCE: Final = Fence(0)


@dataclass(slots=True)
class _Row:
    row: int
    work_id: WorkId
    state_id: StateId
    input_id: InputId
    payload: bytes
    data: bytes
    place: int
    cost_us: int
    state: WorkState = WorkState.PENDING
    epoch: Epoch = _NO_EPOCH
    fence: Fence = _NO_FENCE
    coordinator: int = 0
    deliveries: int = 0
    losses: int = 0
    decision: int = 0


@dataclass(slots=True)
class Closed:
    """How the epoch was closed."""

    reason: str
    exit_code: int


@dataclass(slots=True)
class ScaleLedger:
    """See the module's text."""

    epoch: Epoch = _NO_EPOCH
    faults: dict[tuple[int, str, str], int] = field(default_factory=dict)
    acks: dict[int, RecordAck] = field(default_factory=dict)
    closed: Closed | None = None
    decisions: int = 0
    admitted: int = 0
    decided_by: dict[int, int] = field(default_factory=dict)
    _work: dict[WorkId, _Row] = field(default_factory=dict)
    _heap: list[tuple[int, int, _Row]] = field(default_factory=list)
    _leased_states: set[StateId] = field(default_factory=set)
    _held: dict[int, dict[WorkId, _Row]] = field(default_factory=dict)
    """Leased rows of this epoch by coordinator."""
    _pending: int = 0
    _leased: int = 0
    _changes: int = 0
    _edges: set[int] = field(default_factory=set)
    _known_packs: set[bytes] = field(default_factory=set)
    _source_open: bool = True
    _quiescent: bool = False

    # ---- life ---------------------------------------------------------------------------------

    def open_epoch(self) -> EpochOpening:
        """Void older leases and begin an epoch; its one source is open."""
        recovered = 0
        for held in self._held.values():
            for row in held.values():
                row.state = WorkState.PENDING
                self._push(row)
                recovered += 1
        self._held.clear()
        self._leased_states.clear()
        self._pending += recovered
        self._leased = 0
        self.epoch = Epoch(self.epoch + 1)
        self._changes += 1
        self._source_open, self.closed, self._quiescent = True, None, False
        self.acks.clear()
        return EpochOpening(
            epoch=self.epoch,
            resumed=self.epoch > 1,
            leases_recovered=recovered,
            deferred_rearmed=0,
            frontier=self._pending,
            decisions=self.decisions,
            knowledge=pack(sorted(self._edges)),
        )

    @property
    def open_work(self) -> int:
        """Pending and leased rows."""
        return self._pending + self._leased

    @property
    def pending(self) -> int:
        """Rows that could be claimed."""
        return self._pending

    def admit(self, entries: Iterable[Admission]) -> tuple[bool, ...]:
        """Let inputs in from outside a turn."""
        new = tuple(self._admit(entry) for entry in entries)
        self.admitted += sum(new)
        self._changes += sum(new)
        return new

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn."""
        answers = tuple(self._carry_out(operation) for operation in operations)
        return self.stand(answers)

    def stand(self, answers: tuple[Answer, ...]) -> TurnAnswers:
        """Return answers with how the ledger stands now."""
        return TurnAnswers(
            answers,
            open_work=self.open_work,
            pending=self._pending,
            leased=self._leased,
            changes=self._changes,
        )

    # ---- operations ---------------------------------------------------------------------------

    def _carry_out(self, operation: Operation) -> Answer:  # noqa: C901, PLR0911, PLR0912
        match operation:
            case Decide():
                return self._decide(operation)
            case Claim():
                return self._claim(operation)
            case Release():
                return self._release(operation)
            case Admit():
                return Admitted(self.admit(operation.entries))
            case CountFaults():
                for name, reason, amount in operation.faults:
                    key = (operation.coordinator, name, reason)
                    self.faults[key] = self.faults.get(key, 0) + amount
                return Counted()
            case AuditLeases():
                return self._audit(operation)
            case SetSource(source, is_open) if source == _SOURCE:
                self._changes += is_open and not self._source_open
                self._source_open = is_open
                return Counted()
            case CommitQuiescence():
                return self._quiesce(operation)
            case RecordAck():
                self.acks[operation.coordinator] = operation
                return Counted()
            case TakeOver(coordinator):
                return self._take_over(coordinator)
            case CloseEpoch(reason, exit_code):
                self.closed = Closed(reason, exit_code)
                return Counted()
            case _:
                raise InternalError(
                    "the study's ledger met an operation that it does not keep",
                    where=type(operation).__name__,
                    why="it belongs to no undisturbed campaign",
                    hint="simulate faults with symfleet.testing.simulation.campaign",
                )

    def _push(self, row: _Row) -> None:
        heapq.heappush(self._heap, (row.place, row.row, row))

    def _admit(self, entry: Admission) -> bool:
        if entry.work_id in self._work:
            return False
        place = outside_place(len(self._work) + 1)
        self._new(entry.work_id, entry.state_id, entry.input_id, entry.payload, entry.data, place)
        return True

    def _new(
        self,
        work_id: WorkId,
        state_id: StateId,
        input_id: InputId,
        payload: bytes,
        data: bytes,
        place: int,
        cost_us: int = 0,
    ) -> None:
        number = len(self._work) + 1
        row = _Row(number, work_id, state_id, input_id, payload, data, place, cost_us)
        self._work[work_id] = row
        self._pending += 1
        self._push(row)

    def _claim(self, claim: Claim) -> Claimed | Failed:
        if claim.coordinator and claim.coordinator in self.acks:
            return Failed(str(coordinator_left(self.epoch, claim.coordinator)))
        if claim.suspects_only:
            return Claimed(())
        leases: list[Lease] = []
        passed: list[tuple[int, int, _Row]] = []
        held = self._held.setdefault(claim.coordinator, {})
        while self._heap and len(leases) < claim.limit:
            entry = heapq.heappop(self._heap)
            row = entry[2]
            if row.state_id in self._leased_states:
                passed.append(entry)
                continue
            self._leased_states.add(row.state_id)
            held[row.work_id] = row
            row.state, row.coordinator = WorkState.LEASED, claim.coordinator
            row.epoch, row.fence = self.epoch, Fence(row.fence + 1)
            row.deliveries += 1
            leases.append(
                Lease(
                    work_id=row.work_id,
                    state_id=row.state_id,
                    token=FencingToken(row.epoch, row.fence),
                    payload=row.payload,
                    data=row.data,
                    deliveries=row.deliveries,
                    blames=0,
                    suspect=False,
                    cost_us=row.cost_us,
                )
            )
        for entry in passed:
            heapq.heappush(self._heap, entry)
        self._pending -= len(leases)
        self._leased += len(leases)
        return Claimed(tuple(leases))

    def _live(self, work_id: WorkId, token: FencingToken) -> _Row | None:
        row = self._work.get(work_id)
        if row is None or (row.epoch, row.fence) != (token.epoch, token.fence):
            return None
        return row

    def _end_lease(self, row: _Row) -> None:
        del self._held[row.coordinator][row.work_id]
        self._leased_states.discard(row.state_id)
        self._leased -= 1

    def _release(self, release: Release) -> Changed:
        row = self._live(release.work_id, release.token)
        if row is None or row.state is not WorkState.LEASED or row.epoch != self.epoch:
            return Changed(changed=False)
        after = after_release(row.losses, release, suspect=False)
        if after.suspect or after.poisoned:
            raise InternalError(
                "an item of the study was lost too often",
                where=f"work {row.work_id}",
                why=after.detail,
                hint="the study's faults are too frequent for its ledger",
            )
        row.losses = after.losses
        self._end_lease(row)
        row.state = WorkState.PENDING
        if release.at_head:
            row.place = head_place(self._changes)
        if release.cause == "protocol":
            key = (row.coordinator, "protocol_requeued", "")
            self.faults[key] = self.faults.get(key, 0) + 1
        self._pending += 1
        self._changes += 1
        self._push(row)
        return Changed(changed=True)

    def _decide(self, decide: Decide) -> Decided:
        row = self._live(decide.work_id, decide.token)
        if row is None:
            return Decided("stale")
        if row.state is WorkState.DONE:
            return Decided("already", decision=row.decision)
        if row.state is not WorkState.LEASED or row.epoch != self.epoch:
            return Decided("stale")
        self._end_lease(row)
        self.decisions += 1
        row.state, row.decision = WorkState.DONE, self.decisions
        self.decided_by[row.coordinator] = self.decided_by.get(row.coordinator, 0) + 1
        new = self._new_in(decide.edges)
        kept: list[InputId] = []
        new_work = 0
        children = decide.children
        if len(children) > 1:
            children = distinct_children(children)
        for child in children:
            fresh = self._new_in(child.edges) - new if child.edges else set()
            new |= fresh
            if not fresh and decide.keep is not Keep.ALL:
                continue
            kept.append(child.input_id)
            if child.work_id in self._work or child.data is None:
                continue
            number = len(self._work) + 1
            place = novel_place(self.decisions) if fresh else rest_place(number)
            self._new(
                child.work_id,
                child.state_id,
                child.input_id,
                child.payload,
                child.data,
                place,
                decide.wall_us,
            )
            new_work += 1
        self._edges |= new
        self._changes += 1
        row.data = row.payload = b""  # a decided row is never leased again
        return Decided(
            "completed",
            decision=self.decisions,
            new_work=new_work,
            kept=tuple(kept),
            late=len(children) - len(kept),
            new_edges=pack(sorted(new)),
        )

    def _new_in(self, edges: bytes) -> set[int]:
        if edges in self._known_packs:
            return set()
        new = set(unpack(edges)) - self._edges
        if not new and len(self._known_packs) < 4096:
            self._known_packs.add(edges)  # known once, known for ever
        return new

    def _audit(self, audit: AuditLeases) -> Audited:
        ours = self._held.get(audit.coordinator, {})
        leased = {(row.work_id, FencingToken(row.epoch, row.fence)) for row in ours.values()}
        held = set(audit.held)
        return Audited(
            orphaned=tuple(sorted(work_id for work_id, _ in leased - held)),
            unknown=tuple(sorted(work_id for work_id, _ in held - leased)),
        )

    def _take_over(self, coordinator: int) -> TakenOver:
        held = self._held.pop(coordinator, {})
        self.acks[coordinator] = RecordAck(coordinator, 0, 0, (coordinator_name(coordinator),), 0.0)
        for row in held.values():
            self._leased_states.discard(row.state_id)
            row.state = WorkState.PENDING
            self._push(row)
        self._leased -= len(held)
        self._pending += len(held)
        self._changes += len(held)
        if held:
            key = (coordinator, "leases_recovered", "takeover")
            self.faults[key] = self.faults.get(key, 0) + len(held)
        return TakenOver(len(held))

    def _quiesce(self, commit: CommitQuiescence) -> Quiesced:
        reason = why_not_quiescent(
            pending=self._pending,
            leased=self._leased,
            deferred=0,
            unpublished=0,
            open_sources=int(self._source_open),
            changes=self._changes,
            voted=commit.changes,
        )
        if not reason:
            self._quiescent = True
        return Quiesced(committed=not reason, reason=reason)
