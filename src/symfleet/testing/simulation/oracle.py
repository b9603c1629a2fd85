"""What must hold in every simulated campaign, kept apart from the machines that are judged.

The oracle sees deliveries leave, executions begin, frames leave workers, and operations commit. It
keeps its own record of who was given what and who ran it, and its own copy of the work rows
(`oracle_rows.py`). It knows the program, so it knows what each execution yields and which inputs a
campaign ends with, whatever happened on the way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from symfleet.ledger.edges import unpack_edges
from symfleet.ledger.memory import MemoryLedger
from symfleet.protocol.answers import Decided, EpochOpening, Quiesced, TurnAnswers
from symfleet.protocol.messages import Work
from symfleet.protocol.operations import (
    CloseEpoch,
    CommitQuiescence,
    Decide,
    Operation,
    RecordAck,
    TakeOver,
)
from symfleet.testing.simulation.oracle_rows import TrueRows
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.types import (
    DispatchToken,
    Epoch,
    InputId,
    Keep,
    Outcome,
    WorkId,
    WorkState,
    input_id_of,
)


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one token stands for."""

    coordinator: int
    epoch: Epoch
    rank: int
    fences: Mapping[WorkId, int]
    """Each item with the fence under which the coordinator leased it."""


class Oracle:
    """Ground truth of one campaign."""

    def __init__(self, program: SyntheticProgram, keep: Keep) -> None:
        self.program = program
        self.keep = keep
        self.rows = TrueRows()
        self.deliveries: dict[DispatchToken, Delivery] = {}
        self.ran: dict[tuple[DispatchToken, WorkId], int] = {}
        """Each execution that began: by which rank."""
        self.made: dict[WorkId, Decide] = {}
        """The decision of each decided item."""
        self.acks: dict[int, RecordAck] = {}
        """Of this epoch, by coordinator."""
        self._taken_over: set[int] = set()
        """Coordinators of this epoch whose leases are taken over for good, whether or not the root
        got that answer; they may not know it."""
        self.stopped: set[int] = set()
        """Workers of this epoch that said that nothing of them is left running."""
        self._numbers: dict[WorkId, int] = {}
        self._delivered: dict[tuple[WorkId, Epoch, int], DispatchToken] = {}
        self._ran_under: set[tuple[WorkId, Epoch, int]] = set()
        """(item, epoch, fence) of each execution."""
        self._sums: Counter[str] = Counter()
        self._closed = False

    @property
    def decided(self) -> Mapping[WorkId, int]:
        """Number of each item's decision."""
        return self._numbers

    @property
    def cut_off(self) -> set[InputId]:
        """Inputs whose decision says that a wall limit ended the execution."""
        return {d.input_id for d in self.made.values() if d.outcome is Outcome.TIMEOUT}

    # ---- deliveries and executions --------------------------------------------------------------

    def dispatched(
        self, coordinator: int, rank: int, token: DispatchToken, work: Work, *, lost: bool
    ) -> None:
        """A delivery leaves. `lost`: of a coordinator that was given up and may not know it."""
        lost = lost or coordinator in self._taken_over
        epoch, rows = self.rows.epoch, self.rows.rows
        assert token not in self.deliveries, "D1: a dispatch token was used twice"
        fences: dict[WorkId, int] = {}
        for entry in work.items:
            row = rows.get(entry.work_id)
            assert row is not None, "A5: work that nobody knows was dispatched"
            assert row.input_id == input_id_of(entry.data), "A1: an item with another's bytes"
            fences[entry.work_id] = row.fence
            if lost:
                continue
            assert entry.work_id not in self._numbers, "C2: decided work was dispatched again"
            assert row.is_held(coordinator, row.fence), "L2: dispatched by one who does not hold it"
            lease = (entry.work_id, epoch, row.fence)
            assert lease not in self._delivered, "L1: one lease went out twice"
            self._delivered[lease] = token
        self.deliveries[token] = Delivery(coordinator, epoch, rank, fences)

    def ran_item(self, rank: int, token: DispatchToken, work_id: WorkId, data: bytes) -> None:
        """A worker's executor begins an item of a delivery."""
        delivery = self.deliveries.get(token)
        assert delivery is not None, "D2: something ran under a token that nobody gave out"
        assert delivery.rank == rank, "D1: a delivery ran where it was not sent to"
        assert work_id in delivery.fences, "L7: an item ran that its delivery does not hold"
        assert self.rows.rows[work_id].input_id == input_id_of(data), "A1: it ran with other bytes"
        assert (token, work_id) not in self.ran, "D1: an item of a delivery ran twice"
        self.ran[token, work_id] = rank
        self._ran_under.add((work_id, delivery.epoch, delivery.fences[work_id]))

    def said(self, rank: int, token: DispatchToken) -> None:
        """A worker speaks about a delivery."""
        delivery = self.deliveries.get(token)
        assert delivery is not None, "D2: a worker speaks of a token that nobody gave out"
        assert delivery.rank == rank, "D2: a worker speaks of another's delivery"

    def answered(self, token: DispatchToken) -> None:
        """A coordinator tells a worker that a delivery is decided."""
        delivery = self.deliveries[token]
        if delivery.epoch != self.rows.epoch:
            return
        for work_id, fence in delivery.fences.items():
            held = self.rows.rows[work_id].is_held(delivery.coordinator, fence)
            assert not held, "C1: a result was answered before it was durable"

    # ---- the ledger -----------------------------------------------------------------------------

    def after_turn(
        self, operations: Sequence[Operation], answers: TurnAnswers, published: Callable[[], bool]
    ) -> None:
        """A turn's transaction is durable. `published`: whether the corpus has all its files."""
        assert not self._closed, "an epoch was changed after its verdict"
        for operation, answer in zip(operations, answers.answers, strict=True):
            match operation, answer:
                case Decide(), Decided("completed", number):
                    self._check_decision(operation)
                    self._account(operation, answer, number)
                case CommitQuiescence(), Quiesced(True):
                    assert published(), "C10: quiescent with files that are missing"
                case RecordAck(coordinator), _:
                    self.acks[coordinator] = operation
                case TakeOver(coordinator), _:
                    self._taken_over.add(coordinator)
                case CloseEpoch(), _:
                    self._closed = True
                case _:
                    pass
        self.rows.apply(operations, answers)

    def _check_decision(self, decide: Decide) -> None:
        assert decide.work_id not in self._numbers, "C7: decided twice"
        lease = (decide.work_id, decide.token.epoch, decide.token.fence)
        assert lease in self._ran_under, "D5: decided by a result of another delivery"
        row = self.rows.rows[decide.work_id]
        assert decide.input_id == row.input_id, "C3: a decision about another input"
        node = self.program.node_of(decide.input_id)
        if decide.outcome is Outcome.TIMEOUT:
            assert not decide.children, "A5: children of an execution that was cut off"
            return
        assert decide.outcome is self.program.outcome(node), "C3: another outcome than the item's"
        assert decide.edges == self.program.edges(node), "C3: edges that the input does not have"
        told = {child.input_id for child in decide.children}
        true = {input_id_of(self.program.data(child)) for child in self.program.children(node)}
        assert told <= true, "C3: children that the input does not have"
        assert self.keep is Keep.NOVEL or told == true, "C3: children are missing"

    def _account(self, decide: Decide, answer: Decided, number: int) -> None:
        assert number == len(self._numbers) + 1, "C7: decisions are numbered without gaps"
        self._numbers[decide.work_id] = number
        self.made[decide.work_id] = decide
        self._sums["executed"] += 1
        self._sums["generated"] += decide.generated
        self._sums["late"] += answer.late
        self._sums["target_runs"] += decide.executions
        self._sums["wall_us"] += decide.wall_us

    def open_epoch(self, opening: EpochOpening, ledger: MemoryLedger) -> None:
        """A new epoch is open: what is durable is what the ledger says."""
        self.acks.clear()
        self._taken_over.clear()
        self.stopped.clear()
        self._closed = False
        self.rows.open_epoch(opening)
        numbers = {row.work_id: row.number for row in ledger.decisions()}
        assert numbers == self._numbers, "C8: decisions were lost or came from nowhere"
        self.check(ledger)

    def check_acknowledged(self, workers: Iterable[int]) -> None:
        """Q4: at the end each worker has acknowledged, or is named."""
        named = {name for ack in self.acks.values() for name in ack.missing}
        for rank in workers:
            told = rank in self.stopped or any(
                name == f"worker {rank}" or name.startswith(f"worker {rank} ") for name in named
            )
            assert told, f"Q4: worker {rank} neither acknowledged the end nor is named"
        for ack in self.acks.values():
            whole = ack.acknowledged == ack.total
            assert whole or ack.missing, "Q4: slots are missing, and nobody is named"

    def check(self, ledger: MemoryLedger) -> None:
        """The store agrees with the ground truth, row by row and sum by sum."""
        self.rows.compare(ledger)
        total = ledger.status().total
        told = Counter(
            executed=total.executed,
            generated=total.generated,
            late=total.late_children,
            target_runs=total.target_runs,
            wall_us=total.wall_us,
        )
        assert told == self._sums, f"C7: counters are not the sums: {told} is not {self._sums}"

    # ---- the end --------------------------------------------------------------------------------

    def final(self, ledger: MemoryLedger, seeds: Sequence[int], published: set[InputId]) -> None:
        """The campaign is quiescent: nothing is lost and nothing is counted twice."""
        corpus = list(ledger.corpus())
        assert len(set(corpus)) == len(corpus), "C7: an input stands in the corpus twice"
        assert published == set(corpus), "C5: the files show exactly what was decided"
        self.check(ledger)
        counts = self.rows.counts
        assert counts[WorkState.DONE] == len(self.rows.rows), "A6: an item was not decided"
        findings = list(ledger.audit())
        assert not findings, findings
        faults = {
            (name, reason): amount
            for name, reasons in ledger.status().faults_total.items()
            for reason, amount in reasons.items()
            if amount and name != "redone_decisions"
        }
        true = {key: amount for key, amount in self.rows.faults.items() if amount}
        assert faults == true, f"D8: faults are not what was counted: {faults} is not {true}"
        if self.keep is Keep.ALL:
            expected = self.program.reachable(seeds, self.cut_off)
            assert set(corpus) == expected, "the corpus is not the program's fixed point"
            assert len(self._numbers) == len(expected), "each input is decided once"
        else:
            self._check_novel(ledger, seeds, set(corpus))

    def _check_novel(
        self, ledger: MemoryLedger, seeds: Sequence[int], corpus: set[InputId]
    ) -> None:
        """What was claimed can be shown, and nothing that showed more was dropped."""
        program, replayed = self.program, set[int]()
        for input_id in corpus:
            replayed |= set(unpack_edges(program.edges(program.node_of(input_id))))
        known = set(unpack_edges(ledger.knowledge()))
        assert known <= replayed, "a decision claimed an edge that no replay of the corpus covers"
        assert corpus <= program.reachable(seeds), "the corpus holds what the program does not"
        assert {input_id_of(program.data(node)) for node in seeds} <= corpus, "A3: a seed is gone"
        for input_id in corpus - self.cut_off:
            for child in program.children(program.node_of(input_id)):
                novel = set(unpack_edges(program.edges(child))) - known
                assert not novel, "a child that covers more was dropped"
