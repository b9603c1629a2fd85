"""How turns reach the ledger, and how long that takes.

SQLite has one owner, the root: its process runs every transaction, and the turns that have arrived
from other coordinators are joined with its own. With PostgreSQL each coordinator has a connection
of its own; what the server does for one of them at a time is a queue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from symfleet.ledger.postgres_scope import needs_order
from symfleet.protocol.answers import Answer, Claimed, Decided
from symfleet.protocol.batch import BatchBounds
from symfleet.protocol.operations import Decide, Operation
from symfleet.testing.scale.coordinators import ScaleCoordinator, Submitted, store_vector
from symfleet.testing.scale.costs import Vector, total

if TYPE_CHECKING:
    from symfleet.testing.scale.world import World


class Store(Protocol):
    """Runs turns."""

    def run(self, coordinator: ScaleCoordinator, turn: Submitted, /) -> None:
        """Run a turn; `turn.answered` is called when its transaction is durable and the answers
        have arrived."""
        ...

    def take(self, turn: Submitted) -> None:
        """Take another coordinator's turn out of the root's transport."""
        ...

    def forget(self, number: int) -> None:
        """A coordinator is lost: no turn of it runs any more."""
        ...

    @property
    def bounds(self) -> BatchBounds:
        """What a turn takes at most."""
        ...

    def waiting(self, coordinator: ScaleCoordinator, /) -> bool:
        """Whether turns of others wait for this coordinator."""
        ...

    def stand_back(self, coordinator: ScaleCoordinator, /) -> bool:
        """Whether this coordinator leaves the next transaction to others."""
        ...


def turn_vector(operations: Sequence[Operation], answers: Sequence[Answer]) -> Vector:
    """Return what a turn that goes through the root carries: turn, decided, leased."""
    leased = sum(len(answer.leases) for answer in answers if isinstance(answer, Claimed))
    decided = sum(isinstance(operation, Decide) for operation in operations)
    return (1.0, decided, leased)


class SqliteThroughRoot:
    """One file, one owner, which serves as `runtime/turn_service.py` does: whatever has arrived
    goes into one transaction, up to `turn_mib`; the root's own part stands back from it when it
    was served since those that wait, and goes first in every other one."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._waiting: deque[Submitted] = deque()
        self._served_at: dict[int, int] = {}
        self.bounds = BatchBounds.of(world.knobs, through_root=world.point.coordinators > 1)
        self._transactions = 0
        self._own_first = False

    def run(self, coordinator: ScaleCoordinator, turn: Submitted) -> None:
        """The root's turn runs here and now; another's is sent to it."""
        world = self._world
        if coordinator.setup.number == 0:
            self._serve(turn)
            return
        turn.size = _bytes(turn.operations)
        leaves = world.now + total(world.costs.turn_sent, turn_vector(turn.operations, ()))
        world.schedule(leaves + world.delay(turn.size), world.root.deliver, turn)

    def take(self, turn: Submitted) -> None:
        """It waits for the next transaction."""
        self._waiting.append(turn)

    def forget(self, number: int) -> None:
        """Its turns do not run."""
        self._waiting = deque(turn for turn in self._waiting if turn.number != number)

    def waiting(self, coordinator: ScaleCoordinator) -> bool:
        """Whether the root has turns of others to run."""
        return coordinator.setup.number == 0 and bool(self._waiting)

    def stand_back(self, coordinator: ScaleCoordinator) -> bool:
        """Whether somebody waits who was served before the root was."""
        own = self._served_at.get(0, 0)
        return self.waiting(coordinator) and any(
            self._served_at.get(turn.number, 0) < own for turn in self._waiting
        )

    def _next_batch(self) -> list[Submitted]:
        batch: list[Submitted] = []
        room = self._world.knobs.turn_mib << 20
        while self._waiting and (not batch or self._waiting[0].size <= room):
            batch.append(self._waiting.popleft())
            room -= batch[-1].size
        return batch

    def _serve(self, own: Submitted) -> None:
        world, costs = self._world, self._world.costs
        others = self._next_batch()
        turns = [own, *others] if self._own_first else [*others, own]
        self._own_first = not self._own_first
        self._transactions += 1
        operations = [operation for turn in turns for operation in turn.operations]
        answers = world.ledger.run(operations).answers
        seconds = total(costs.sqlite, store_vector(operations, answers))
        decoding = sum(
            total(costs.turn_served, turn_vector(turn.operations, ())) for turn in others
        )
        durable = world.now + decoding + seconds
        world.schedule(durable, self._durable, operations, answers, seconds)
        at, served, own_answers = 0, durable, answers[:0]
        for turn in turns:
            given = answers[at : at + len(turn.operations)]
            at += len(turn.operations)
            if turn is own:
                own_answers = given
                if turn.operations:
                    self._served_at[0] = self._transactions
                continue
            self._served_at[turn.number] = self._transactions
            carried = (0.0, 0.0, turn_vector((), given)[2])
            served += total(costs.turn_served, carried) + costs.send
            arrives = served + world.delay(_bytes_back(given))
            heard = arrives + total(costs.turn_sent, carried) + costs.receive
            world.schedule(heard, turn.answered, world.ledger.stand(given))
        stand = world.ledger.stand(own_answers) if own.operations else None
        world.schedule(served, own.answered, stand)

    def _durable(
        self, operations: Sequence[Operation], answers: Sequence[Answer], seconds: float
    ) -> None:
        world = self._world
        world.record.ledger.add(world.now - seconds, world.now)
        world.committed(operations, answers)


class PostgresConnections:
    """A server, a connection for each coordinator. Turns that decide come one after the other
    (`needs_order`), but for the part of them that does not wait: `1 - postgres_alone`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._free_at = 0.0
        self.bounds = BatchBounds.of(world.knobs, through_root=False)
        self._lost: set[int] = set()

    def run(self, _: ScaleCoordinator, turn: Submitted) -> None:
        """What nobody waits for comes first."""
        world = self._world
        ordered = any(needs_order(operation) for operation in turn.operations)
        rough = total(world.costs.postgres, store_vector(turn.operations, ()))
        alone = world.costs.postgres_alone if ordered else 0.0
        world.schedule(world.now + rough * (1 - alone), self._ordered, turn, rough, alone)

    def take(self, turn: Submitted) -> None:
        """Each coordinator has its own connection."""
        raise AssertionError(f"a turn came by frame: {turn}")

    def forget(self, number: int) -> None:
        """A session that ended commits nothing."""
        self._lost.add(number)

    def waiting(self, _: ScaleCoordinator) -> bool:
        """Nobody waits for another coordinator."""
        return False

    def stand_back(self, _: ScaleCoordinator) -> bool:
        """Nobody waits for another coordinator."""
        return False

    def _ordered(self, turn: Submitted, spent: float, alone: float) -> None:
        world = self._world
        if turn.number in self._lost:
            return
        answers = world.ledger.run(turn.operations).answers
        cost = total(world.costs.postgres, store_vector(turn.operations, answers))
        begin = max(world.now, self._free_at) if alone else world.now
        end = begin + cost * alone
        if alone:
            self._free_at = end
            world.record.ledger.add(begin, end)
        # What was not known before the answers, the rows that were leased, is spent afterwards.
        end += max(0.0, cost - spent) * (1 - alone)
        world.schedule(end, self._durable, turn, answers)

    def _durable(self, turn: Submitted, answers: tuple[Answer, ...]) -> None:
        world = self._world
        world.committed(turn.operations, answers)
        turn.answered(world.ledger.stand(answers))


_DECIDE_BYTES = 2600
_LEASE_BYTES = 1500


def _bytes(operations: Sequence[Operation]) -> int:
    return 200 + _DECIDE_BYTES * sum(isinstance(op, Decide) for op in operations)


def _bytes_back(answers: Sequence[Answer]) -> int:
    leased = sum(len(answer.leases) for answer in answers if isinstance(answer, Claimed))
    return 200 + _LEASE_BYTES * leased + 60 * sum(isinstance(a, Decided) for a in answers)
