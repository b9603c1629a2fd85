"""Work rows as they must be: the oracle's own copy, moved by what operations were answered.

The store is judged by it, too: after each turn its counts must be those of the copy, and whenever
an epoch opens and at the end each row must be in the state of the copy, delivered as often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from symfleet.ledger.memory import MemoryLedger
from symfleet.protocol.answers import (
    Admitted,
    Answer,
    Audited,
    Blamed,
    Changed,
    Claimed,
    Decided,
    EpochOpening,
    Failed,
    Quiesced,
    TakenOver,
    TurnAnswers,
)
from symfleet.protocol.codec import FrameFault
from symfleet.protocol.operations import (
    Admit,
    AuditLeases,
    Blame,
    Claim,
    CommitQuiescence,
    CountFaults,
    Decide,
    Defer,
    Operation,
    Release,
    TakeOver,
)
from symfleet.types import (
    Epoch,
    Fence,
    FencingToken,
    InputId,
    Keep,
    StateId,
    WorkId,
    WorkState,
)

_NOBODY: Final = -1
_NO_FENCE: Final = Fence(0)
_ROWS_MAX: Final = 10**6
_DAMAGED: Final = (FrameFault.SHORT, FrameFault.MAGIC, FrameFault.LENGTH, FrameFault.CHECKSUM)
_OPEN: Final = (WorkState.PENDING, WorkState.LEASED, WorkState.DEFERRED)


@dataclass(slots=True)
class TrueRow:
    """One work row."""

    work_id: WorkId
    state_id: StateId
    input_id: InputId
    state: WorkState = WorkState.PENDING
    fence: Fence = _NO_FENCE
    holder: int = _NOBODY
    """Number of the coordinator that holds it."""
    claims: int = 0

    def is_held(self, holder: int, fence: int) -> bool:
        """Whether a coordinator holds it under a fence."""
        leased = self.state is WorkState.LEASED
        return leased and (self.holder, self.fence) == (holder, fence)


class TrueRows:
    """All of them, and the faults that operations counted."""

    def __init__(self) -> None:
        self.rows: dict[WorkId, TrueRow] = {}
        self.epoch = Epoch(0)
        self.quiescent = False
        self.counts: Counter[WorkState] = Counter()
        self.faults: Counter[tuple[str, str]] = Counter()
        """(name, reason) -> amount, over all epochs."""
        self.stale = 0
        """Decisions that came too late."""
        self._lost: set[int] = set()
        """Coordinators of this epoch that were taken over."""
        self._leased_states: set[StateId] = set()
        self._changes = 0
        self._unsynced: list[list[Callable[[], None]]] = []
        """How to take back each turn that a power cut may take back, newest last."""

    @property
    def damaged_frames(self) -> int:
        """How many frames were counted as no frames at all."""
        return sum(self.faults["quarantined_frames", fault] for fault in _DAMAGED)

    # ---- a turn ---------------------------------------------------------------------------------

    def apply(self, operations: Sequence[Operation], answers: TurnAnswers) -> None:
        """Move rows as a committed turn says, and compare the counts."""
        undo: list[Callable[[], None]] = []
        for operation, answer in zip(operations, answers.answers, strict=True):
            if isinstance(answer, Failed):
                self._check_refusal(operation, answer)
            else:
                self._apply(operation, answer, undo)
        if all(isinstance(operation, Claim) for operation in operations):
            self._unsynced.append(undo)
        else:
            self._unsynced.clear()
        assert answers.changes >= self._changes, "Q2: the change counter went back"
        self._changes = answers.changes
        told = (answers.pending, answers.leased, answers.deferred, answers.poisoned)
        states = (WorkState.PENDING, WorkState.LEASED, WorkState.DEFERRED, WorkState.POISONED)
        true = tuple(self.counts[state] for state in states)
        assert told == true, f"states are not conserved: {told} instead of {true}"

    def _check_refusal(self, operation: Operation, answer: Failed) -> None:
        late = isinstance(operation, Claim) and operation.coordinator in self._lost
        late = late or (isinstance(operation, Admit) and self.quiescent)
        assert late, f"{type(operation).__name__} was refused: {answer.message}"

    def _apply(self, operation: Operation, answer: Answer, undo: list[Callable[[], None]]) -> None:
        match operation, answer:
            case Admit(entries=entries), Admitted(new):
                for entry, is_new in zip(entries, new, strict=True):
                    self._let_in(entry.work_id, entry.state_id, entry.input_id, is_new=is_new)
            case Claim(coordinator), Claimed(leases):
                assert coordinator not in self._lost, "L2: a lost coordinator leased work"
                assert len(leases) <= operation.limit, "L1: more was leased than asked for"
                undo += [self._lease(coordinator, one.work_id, one.token) for one in leases]
            case Decide(), Decided():
                self._decide(operation, answer)
            case ((Release() | Defer() | Blame()), (Changed() | Blamed())):
                self._give_back(operation, answer)
            case TakeOver(coordinator), TakenOver(amount):
                self._take_over(coordinator, amount)
            case AuditLeases(), Audited():
                self._audit(operation, answer)
            case CommitQuiescence(), Quiesced(True):
                left = {state: self.counts[state] for state in _OPEN if self.counts[state]}
                assert not left, f"Q2: quiescent with open work: {left}"
                self.quiescent = True
            case CountFaults(faults=faults), _:
                for name, reason, amount in faults:
                    self.faults[name, reason] += amount
            case _:
                pass

    def _let_in(
        self, work_id: WorkId, state_id: StateId, input_id: InputId, *, is_new: bool
    ) -> None:
        assert is_new == (work_id not in self.rows), "C7: work was let in twice, or is not known"
        assert not self.quiescent, "Q3: work appeared after COMMIT"
        if is_new:
            self.rows[work_id] = TrueRow(work_id, state_id, input_id)
            self.counts[WorkState.PENDING] += 1

    def _lease(self, holder: int, work_id: WorkId, token: FencingToken) -> Callable[[], None]:
        row = self.rows[work_id]
        before = (row.state, row.fence, row.holder, row.claims)
        assert row.state is not WorkState.DONE, "C2: decided work was leased"
        assert row.state is not WorkState.LEASED, "L1: an item has two holders"
        assert row.state is not WorkState.POISONED, "a poisoned item was leased"
        assert row.state_id not in self._leased_states, "L1: a state has two holders"
        assert token == FencingToken(self.epoch, Fence(row.fence + 1)), "L2: a fence is not new"
        self._move(row, WorkState.LEASED)
        row.fence, row.holder, row.claims = token.fence, holder, row.claims + 1

        def undo() -> None:
            self._move(row, before[0])
            _, row.fence, row.holder, row.claims = before

        return undo

    def _decide(self, decide: Decide, answer: Decided) -> None:
        row = self.rows[decide.work_id]
        current = row.state is WorkState.LEASED and self._names(row, decide.token)
        if answer.disposition == "stale":
            assert not current, "A6: the holder's result was called stale"
            self.stale += 1
            return
        if answer.disposition == "already":
            assert row.state is WorkState.DONE, "C7: what is not decided cannot be so already"
            return
        assert row.state is not WorkState.DONE, "C7: decided twice"
        assert current, "L2: decided by one who does not hold it"
        self._move(row, WorkState.DONE)
        row.holder = _NOBODY
        new = 0
        kept = set(answer.kept)
        for child in decide.children:
            if child.input_id in kept or decide.keep is Keep.ALL:
                new += self._find(child.work_id, child.state_id, child.input_id)
        rest = decide.follow_up
        if rest is not None and decide.keep is not Keep.ALL:
            new += self._find(rest.work_id, rest.state_id, decide.input_id)
        assert new == answer.new_work, f"A5: {answer.new_work} new rows instead of {new}"

    def _find(self, work_id: WorkId, state_id: StateId, input_id: InputId) -> bool:
        is_new = work_id not in self.rows
        self._let_in(work_id, state_id, input_id, is_new=is_new)
        return is_new

    def _give_back(self, operation: Release | Defer | Blame, answer: Changed | Blamed) -> None:
        row = self.rows[operation.work_id]
        current = row.state is WorkState.LEASED and self._names(row, operation.token)
        assert answer.changed == current, "L2: given back by another than its holder, or refused"
        if not current:
            return
        after = WorkState.DEFERRED if isinstance(operation, Defer) else WorkState.PENDING
        self._move(row, WorkState.POISONED if answer.poisoned else after)
        row.holder = _NOBODY
        if isinstance(operation, Defer):
            self.faults["protocol_deferred", ""] += 1
        elif isinstance(operation, Blame):
            self.faults["blames", ""] += 1
        elif operation.cause == "protocol":
            self.faults["protocol_requeued", ""] += 1

    def _take_over(self, coordinator: int, amount: int) -> None:
        self._lost.add(coordinator)
        taken = [row for row in self._leased() if row.holder == coordinator]
        for row in taken:
            self._move(row, WorkState.PENDING)
            row.holder = _NOBODY
        assert amount == len(taken), f"L2: {amount} leases were taken over instead of {len(taken)}"
        if taken:
            self.faults["leases_recovered", "takeover"] += amount

    def _audit(self, audit: AuditLeases, answer: Audited) -> None:
        held = {work_id for work_id, _ in audit.held}
        leased = {row.work_id for row in self._leased() if row.holder == audit.coordinator}
        assert set(answer.orphaned) == leased - held, "L1: a lease in no claim table"
        assert not answer.orphaned, "L1: a leased row is held by nobody"

    def _names(self, row: TrueRow, token: FencingToken) -> bool:
        return token == FencingToken(self.epoch, row.fence)

    def _move(self, row: TrueRow, state: WorkState) -> None:
        if row.state is WorkState.LEASED:
            self._leased_states.discard(row.state_id)
        if state is WorkState.LEASED:
            self._leased_states.add(row.state_id)
        self.counts[row.state] -= 1
        self.counts[state] += 1
        row.state = state

    def _leased(self) -> Iterator[TrueRow]:
        return (row for row in self.rows.values() if row.state is WorkState.LEASED)

    # ---- epochs ---------------------------------------------------------------------------------

    @property
    def unsynced(self) -> int:
        """How many turns a power cut may take back."""
        return len(self._unsynced)

    def power_cut(self, kept: int) -> None:
        """Take back all but the first `kept` turns that held nothing but leases; these are on the
        disk now."""
        while len(self._unsynced) > kept:
            for undo in reversed(self._unsynced.pop()):
                undo()
        self._unsynced.clear()

    def open_epoch(self, opening: EpochOpening) -> None:
        """L6: all older leases are void; what was deferred is due again."""
        assert opening.epoch == self.epoch + 1, "L6: an epoch's number is not new"
        told = (opening.leases_recovered, opening.deferred_rearmed)
        true = (self.counts[WorkState.LEASED], self.counts[WorkState.DEFERRED])
        assert told == true, f"L6: {told} rows were taken back instead of {true}"
        for row in self.rows.values():
            if row.state in (WorkState.LEASED, WorkState.DEFERRED):
                self._move(row, WorkState.PENDING)
                row.holder = _NOBODY
        if opening.leases_recovered:
            self.faults["leases_recovered", ""] += opening.leases_recovered
        self.epoch, self.quiescent = opening.epoch, False
        self._lost.clear()
        self._unsynced.clear()
        assert opening.frontier == self.counts[WorkState.PENDING], "C9: the frontier is not whole"
        assert opening.decisions == self.counts[WorkState.DONE], "C8: a decision came or went"

    def rearm(self, work_ids: Sequence[WorkId]) -> None:
        """Somebody took poisoned rows in again."""
        for work_id in work_ids:
            if self.rows[work_id].state is WorkState.POISONED:
                self._move(self.rows[work_id], WorkState.PENDING)

    def compare(self, ledger: MemoryLedger) -> None:
        """The store has these rows and no others, each in its state, delivered as often."""
        for state in WorkState:
            stored = {row.work_id: row for row in ledger.work_rows(state, _ROWS_MAX)}
            true = {row.work_id: row for row in self.rows.values() if row.state is state}
            assert stored.keys() == true.keys(), f"states are not conserved: {state}"
            for work_id, row in stored.items():
                assert row.deliveries == true[work_id].claims, "L6: statistics were not kept"
