"""Deliveries: what is in flight, what each holds, and how that is given back exactly.

    PREPARING ──sent──> ACTIVE ──result──> DECIDING ──settled──> CLOSED
        │                 │  ^                │
        └───── rollback ──┴──┼──> CLOSED      └─ decision failed (back to ACTIVE, said again)

The in-flight table is keyed by token; a slot may hold several deliveries. A delivery reserves
exactly: work lease, state lease, flip claims, strategy choice, knowledge cursor, slot place; taken
in this order, undone in reverse. One failing step does not stop the others; undoing twice does
nothing. Before the send returned, undo restores everything as if the delivery had never been;
after it, attempts stay counted and nothing is learned (J6).

The table is the one that runs. A pair that is not in it is a rule that we broke: it raises, with
the delivery's story.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from symfleet.errors import SymfleetError
from symfleet.protocol.answers import Lease
from symfleet.protocol.operations import ReleaseCause
from symfleet.protocol.violations import Chronicle
from symfleet.protocol.work import WorkItem
from symfleet.types import DispatchToken, Incarnation, SlotAddress

if TYPE_CHECKING:
    from symfleet.protocol.parts import Parts


class Phase(enum.StrEnum):
    """Phases of a delivery."""

    PREPARING = "preparing"
    ACTIVE = "active"
    DECIDING = "deciding"
    CLOSED = "closed"


class Step(enum.StrEnum):
    """What may happen to a delivery."""

    SENT = "sent"
    RESULT = "result"
    SETTLED = "settled"
    DECISION_FAILED = "decision failed"
    ROLLBACK = "rollback"


TABLE: Final[dict[tuple[Phase, Step], Phase]] = {
    (Phase.PREPARING, Step.SENT): Phase.ACTIVE,
    # A loop that reports `sent` late must not lose a result that is already here.
    (Phase.PREPARING, Step.RESULT): Phase.DECIDING,
    (Phase.PREPARING, Step.ROLLBACK): Phase.CLOSED,
    (Phase.ACTIVE, Step.RESULT): Phase.DECIDING,
    (Phase.ACTIVE, Step.ROLLBACK): Phase.CLOSED,
    (Phase.DECIDING, Step.SENT): Phase.DECIDING,
    (Phase.DECIDING, Step.SETTLED): Phase.CLOSED,
    (Phase.DECIDING, Step.DECISION_FAILED): Phase.ACTIVE,
}


@dataclass(frozen=True, slots=True)
class Undo:
    """How a delivery is rolled back. `sent`: the worker may have it. `retry`: by the protocol's
    retry budget. `ran`: its first item was running."""

    cause: ReleaseCause
    sent: bool
    ran: bool = False
    retry: bool = False
    at_head: bool = False
    reason: str = ""


class Reservation:
    """Something that a delivery holds. It ends once: given back, or settled."""

    __slots__ = ("_on_settle", "_on_undo", "name", "open")

    def __init__(
        self,
        name: str,
        on_undo: Callable[[Undo], None],
        on_settle: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self.open = True
        self._on_undo = on_undo
        self._on_settle = on_settle

    def undo(self, how: Undo) -> None:
        """Give it back; a second time does nothing."""
        if self.open:
            self.open = False
            self._on_undo(how)

    def settle(self) -> None:
        """End it with the delivery's success; a second time does nothing."""
        if self.open:
            self.open = False
            if self._on_settle is not None:
                self._on_settle()


class Reservations:
    """Reservations of one delivery, in the order in which they were taken."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: list[Reservation] = []

    def take(self, reservation: Reservation) -> Reservation:
        """Note one more."""
        self._held.append(reservation)
        return reservation

    def undo(self, how: Undo) -> Sequence[SymfleetError]:
        """Give all back in reverse; return the errors of steps that failed."""
        errors: list[SymfleetError] = []
        for reservation in reversed(self._held):
            try:
                reservation.undo(how)
            except SymfleetError as error:
                errors.append(error)
        return errors

    def settle(self) -> None:
        """End all with success."""
        for reservation in self._held:
            reservation.settle()

    @property
    def open(self) -> Sequence[str]:
        """Names of those that have not ended."""
        return [reservation.name for reservation in self._held if reservation.open]


@dataclass(slots=True)
class Delivery:
    """One token: a bundle of leased items on its way to one life of one slot."""

    token: DispatchToken
    place: SlotAddress
    incarnation: Incarnation
    leases: tuple[Lease, ...]
    items: tuple[WorkItem, ...]
    reservations: Reservations
    works: tuple[Reservation, ...]
    """The work lease of each item; open until the item is decided or given back."""
    prepared_at: float
    phase: Phase = Phase.PREPARING
    started: bool = False
    ready_at: float | None = None
    """When READY(completed = this token) was read (J1)."""
    marked: bool = False
    """A bad RESULT was seen (join table)."""
    failures: int = 0
    parts: Parts | None = None

    @property
    def open_items(self) -> Sequence[int]:
        """Places of the items that are neither decided nor given back."""
        return [number for number, work in enumerate(self.works) if work.open]


@dataclass(slots=True)
class InFlight:
    """All deliveries by token."""

    chronicle: Chronicle
    _by_token: dict[DispatchToken, Delivery] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._by_token)

    def __iter__(self) -> Iterator[Delivery]:
        return iter(self._by_token.values())

    @property
    def items(self) -> int:
        """How many items are in flight."""
        return sum(len(delivery.open_items) for delivery in self)

    def add(self, delivery: Delivery) -> None:
        """Enter a delivery that is being prepared."""
        assert delivery.token not in self._by_token, "D1: a token is never used again"
        self._by_token[delivery.token] = delivery

    def get(self, token: DispatchToken) -> Delivery | None:
        """Return the delivery of a token, if it is in flight."""
        return self._by_token.get(token)

    def step(self, now: float, delivery: Delivery, step: Step) -> None:
        """Move a delivery by the table."""
        after = TABLE.get((delivery.phase, step))
        if after is None:
            raise self.chronicle.broken(
                f"a delivery that is {delivery.phase} cannot meet: {step}", delivery.token
            )
        self.chronicle.note(now, f"{delivery.phase} -> {after} ({step})", delivery.token)
        delivery.phase = after
        if after is Phase.CLOSED:
            del self._by_token[delivery.token]
