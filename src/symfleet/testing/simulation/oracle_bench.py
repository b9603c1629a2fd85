"""A campaign by hand, so that a test can break one rule of the oracle at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from symfleet.ledger.contract import CampaignRow, EpochRequest, GenerationKey
from symfleet.protocol.answers import Answer, Claimed, Lease, TurnAnswers
from symfleet.protocol.messages import Work, WorkEntry
from symfleet.protocol.operations import Admission, Admit, Child, Claim, Decide, Operation
from symfleet.protocol.work import WorkItem, encode_item, state_id_of, work_id_of
from symfleet.testing.fake_clock import FakeClock
from symfleet.testing.simulation.epoch import CAMPAIGN, GENERATION
from symfleet.testing.simulation.ledger import SimulatedLedger
from symfleet.testing.simulation.oracle import Oracle
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.types import (
    DispatchToken,
    Incarnation,
    InputId,
    Keep,
    Outcome,
    SinkKind,
    WorkState,
    input_id_of,
)

RANK: Final = 7
Tamper = Callable[[TurnAnswers], TurnAnswers]


def token(number: int) -> DispatchToken:
    """Return the token of that number."""
    return DispatchToken(f"{number:064x}")


@dataclass
class OracleBench:
    """A ledger, its oracle, and the usual steps of an item's life."""

    keep: Keep = Keep.ALL
    size: int = 6
    program: SyntheticProgram = field(init=False)
    ledger: SimulatedLedger = field(init=False)
    oracle: Oracle = field(init=False)

    def __post_init__(self) -> None:
        self.program = SyntheticProgram(self.size, 3, classes=2 if self.keep is Keep.NOVEL else 0)
        key = GenerationKey("00" * 32, ("t",), "file", "0", ())
        row = CampaignRow(CAMPAIGN, "00" * 8, 0.0, self.keep, GENERATION, key, "")
        self.ledger = SimulatedLedger(row, FakeClock())
        self.oracle = Oracle(self.program, self.keep)
        self.open_epoch()

    def open_epoch(self) -> None:
        """Open the next epoch."""
        request = EpochRequest("host", 1, "sim", "0", Incarnation(5), 0.0, "")
        self.oracle.open_epoch(self.ledger.open_epoch(request), self.ledger)
        self.source = self.ledger.register_source("seeds", "/seeds", "host")
        self.ledger.register_sink(SinkKind.CORPUS, "/corpus", "host")

    def turn(
        self, *operations: Operation, tamper: Tamper = lambda a: a, published: bool = True
    ) -> TurnAnswers:
        """Run a turn; `tamper` changes what it was answered before the oracle sees it."""
        answers = tamper(self.ledger.run(operations))
        self.oracle.after_turn(operations, answers, lambda: published)
        return answers

    def admission(self, node: int) -> Admission:
        """Return what a scan finds."""
        data = self.program.data(node)
        item = WorkItem(GENERATION, input_id_of(data))
        ids = work_id_of(item), state_id_of(item)
        return Admission(item.input, data, *ids, encode_item(item), "seed")

    def admit(self, *nodes: int) -> None:
        """Let seeds in."""
        self.turn(Admit(self.source, tuple(self.admission(node) for node in nodes)))

    def claim(self, limit: int = 1, coordinator: int = 0) -> list[Lease]:
        """Lease work."""
        (claimed,) = self.turn(Claim(coordinator, limit)).answers
        assert isinstance(claimed, Claimed)
        return list(claimed.leases)

    def work(self, *leases: Lease, data: bytes | None = None) -> Work:
        """Return a delivery of leases, with their bytes or others."""
        return Work(
            tuple(
                WorkEntry(one.work_id, one.payload, one.data if data is None else data)
                for one in leases
            )
        )

    def dispatch(self, number: int, *leases: Lease, coordinator: int = 0, **more: Any) -> None:
        """Send leases away under a token."""
        work = self.work(*leases, **more)
        self.oracle.dispatched(coordinator, RANK, token(number), work, lost=False)

    def run(self, number: int, lease: Lease, rank: int = RANK) -> None:
        """Begin an item on a rank."""
        self.oracle.ran_item(rank, token(number), lease.work_id, lease.data)

    def decide(self, lease: Lease, **changes: Any) -> Decide:
        """Return what an honest coordinator makes of an honest result."""
        node = self.program.node(lease.data)
        done = self.program.execute(lease.work_id, lease.data)
        children = tuple(self._child(report.digest) for report in done.children)
        decide = Decide(
            work_id=lease.work_id,
            token=lease.token,
            input_id=input_id_of(lease.data),
            keep=self.keep,
            outcome=self.program.outcome(node),
            exit_code=0,
            signal=done.signal,
            edges=done.edges,
            unstable=0,
            generated=done.generated,
            dropped=0,
            children=tuple(sorted(children, key=lambda child: child.input_id)),
            flips=done.flips,
            solved=done.solved,
            executions=done.executions,
            solver_us=done.solver_us,
            wall_us=done.wall_us,
            cpu_us=done.cpu_us,
            degraded=(),
            reason=None,
        )
        return replace(decide, **changes)

    def _child(self, input_id: InputId) -> Child:
        node = self.program.node_of(input_id)
        entry = self.admission(node)
        outcome = self.program.outcome(node)
        return Child(
            input_id=entry.input_id,
            data=entry.data,
            work_id=entry.work_id,
            state_id=entry.state_id,
            payload=entry.payload,
            how="scan",
            site=node,
            direction=0,
            outcome=outcome,
            signal=11 if outcome is Outcome.CRASH else 0,
            edges=self.program.edges(node),
        )

    def delivered(self, number: int = 1) -> Lease:
        """Return a lease that was dispatched and runs."""
        (lease,) = self.claim()
        self.dispatch(number, lease)
        self.run(number, lease)
        return lease

    def finish(self) -> None:
        """Run everything that there is."""
        number = 100
        while self.oracle.rows.counts[WorkState.PENDING]:
            number += 1
            self.turn(self.decide(self.delivered(number)))

    def final(self, *seeds: int) -> None:
        """The campaign ends here, with all its files."""
        self.oracle.final(self.ledger, seeds or (0,), set(self.ledger.corpus()))


def begun() -> OracleBench:
    """Return a campaign with two seeds."""
    bench = OracleBench()
    bench.admit(0, 1)
    return bench


def answer(number: int, **changes: Any) -> Tamper:
    """Return what changes one answer of a turn."""

    def tamper(answers: TurnAnswers) -> TurnAnswers:
        told: list[Answer] = list(answers.answers)
        told[number] = replace(told[number], **changes)
        return replace(answers, answers=tuple(told))

    return tamper
