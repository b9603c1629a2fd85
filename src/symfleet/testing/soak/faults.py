"""The faults of a soak, drawn as from a pack of cards: a pack holds each kind as often as its
weight says, so that every kind comes up however short the soak is, in an order that the seed gives.

Deaths of targets and executors are many, because they cost the job next to nothing. Whatever costs
a new epoch, some two seconds, is rare.
"""

from __future__ import annotations

import enum
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from symfleet.testing.jobs import Role


class Act(enum.StrEnum):
    """What is done."""

    KILL = "killed"
    STOP = "stopped and continued"
    TERM = "asked to end by SIGTERM, then started again"
    SESSION = "killed with everything below it"
    BACKEND = "session ended on the server"


@dataclass(frozen=True, slots=True)
class Card:
    """One kind of fault: what is done to whom."""

    act: Act
    role: Role

    def __str__(self) -> str:
        return f"{self.role} {self.act}"

    @property
    def loses_items(self) -> bool:
        """Whether what runs then counts as lost while it ran: five times in a row poison an item.
        What an epoch's end takes back is held against no item."""
        return self.losses_max(1) > 0

    def losses_max(self, slots_of_worker: int) -> int:
        """Return how many items may be lost while they run."""
        match self.act, self.role:
            case Act.KILL, Role.TARGET | Role.EXECUTOR:
                return 1
            case Act.KILL, Role.WORKER:
                return slots_of_worker
            case _:
                return 0

    @property
    def ends_epoch(self) -> bool:
        """Whether the job may need another epoch after it."""
        harmless = self.role in (Role.TARGET, Role.EXECUTOR)
        return not harmless and self.act not in (Act.STOP, Act.BACKEND)


_CHEAP: Final = {
    Card(Act.KILL, Role.TARGET): 3,
    Card(Act.KILL, Role.EXECUTOR): 2,
    Card(Act.STOP, Role.TARGET): 1,
    Card(Act.STOP, Role.EXECUTOR): 1,
    Card(Act.STOP, Role.WORKER): 1,
}
_DEAR: Final = {
    Card(Act.KILL, Role.WORKER): 1,
    Card(Act.KILL, Role.ROOT): 1,
    Card(Act.KILL, Role.MPIRUN): 1,
    Card(Act.KILL, Role.LAUNCHER): 1,
    Card(Act.STOP, Role.ROOT): 1,
    Card(Act.STOP, Role.MPIRUN): 1,
    Card(Act.STOP, Role.LAUNCHER): 1,
    Card(Act.TERM, Role.LAUNCHER): 1,
    Card(Act.SESSION, Role.LAUNCHER): 1,
}
_COORDINATORS: Final = {
    Card(Act.KILL, Role.COORDINATOR): 1,
    Card(Act.STOP, Role.COORDINATOR): 1,
}
_SERVER: Final = {Card(Act.BACKEND, Role.ROOT): 1}


def weights(*, cheap: int, coordinators: bool, server: bool, root_lives: bool) -> dict[Card, int]:
    """Return how often each kind stands in a pack. `cheap`: how often the cheap ones come for each
    dear one. `root_lives`: without what ends an epoch, so that the root grows old."""
    chosen: dict[Card, int] = {card: cheap * weight for card, weight in _CHEAP.items()}
    others: list[Mapping[Card, int]] = [_DEAR]
    if coordinators:
        others.append(_COORDINATORS)
    if server:
        others.append(_SERVER)
    for group in others:
        chosen.update(
            (card, weight)
            for card, weight in group.items()
            if not root_lives or card.act in (Act.STOP, Act.BACKEND)
        )
    return chosen


class Pack:
    """Cards in the order in which they come up; a new pack when one is used up."""

    def __init__(self, weights_of: Mapping[Card, int], chance: random.Random) -> None:
        self._all: Sequence[Card] = [
            card for card, weight in weights_of.items() for _ in range(weight)
        ]
        self._chance = chance
        self._cards: list[Card] = []
        self.size = len(self._all)

    def top(self, fits: Callable[[Card], bool]) -> Card | None:
        """Return the next card that fits, if any is left."""
        if not self._cards:
            self._cards = self._chance.sample(self._all, len(self._all))
        return next((card for card in reversed(self._cards) if fits(card)), None)

    def take(self, card: Card) -> None:
        """Lay a card aside: it was played."""
        last = len(self._cards) - 1 - self._cards[::-1].index(card)
        del self._cards[last]

    def shuffle_in(self) -> None:
        """Begin a new pack before the old one is used up."""
        self._cards.clear()
