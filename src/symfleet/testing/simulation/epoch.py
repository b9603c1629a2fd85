"""Who takes part in a simulated epoch, and what each is told."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from symfleet.protocol.answers import EpochOpening
from symfleet.protocol.messages import EngineSetup
from symfleet.protocol.setup import CoordinatorSetup, Knobs, Peer, SourceSetup, WorkerSetup
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.types import CampaignId, GenerationId, Incarnation, Keep

CAMPAIGN: Final = CampaignId("c0" * 16)
_SHARE: Final = 3
"""With `--keep novel` so many nodes share an edge."""
GENERATION: Final = GenerationId("9e" * 32)


@dataclass(frozen=True, slots=True)
class Shape:
    """Size of a simulated campaign. Ranks: coordinators by their numbers, then workers, which are
    dealt out to them."""

    workers: int = 2
    slots: int = 2
    size: int = 24
    seeds: tuple[int, ...] = (0, 5)
    prefetch: int = 1
    coordinators: int = 1
    late: tuple[tuple[int, float], ...] = ()
    """Seeds that appear later: (node, seconds after the beginning)."""
    direct: bool = False
    """Whether coordinators that are not the root have connections of their own to the ledger."""
    keep: Keep = Keep.ALL
    wall_us_max: int = 200_000
    """How long executions take; short ones travel in bundles."""
    bulk: int = 0
    """Bytes of padding in each input; large results travel in parts."""

    @property
    def name(self) -> str:
        """How it is told of."""
        late = f", {len(self.late)} late" if self.late else ""
        way = ", direct" if self.direct else ""
        way += f", {self.bulk >> 10} KiB inputs" if self.bulk else ""
        way += f", {self.wall_us_max} us" if self.wall_us_max < 10_000 else ""
        return (
            f"{self.coordinators} coordinators, {self.workers} x {self.slots} slots, "
            f"prefetch {self.prefetch}, {self.size} nodes, keep {self.keep}{late}{way}"
        )

    def program(self, seed: int) -> SyntheticProgram:
        """Return the program that is explored."""
        classes = max(1, self.size // _SHARE) if self.keep is Keep.NOVEL else 0
        return SyntheticProgram(
            self.size, seed, bulk=self.bulk, classes=classes, wall_us_max=self.wall_us_max
        )

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Ranks of each coordinator's workers."""
        first, count = self.coordinators, self.coordinators
        return tuple(
            tuple(range(first + number, first + self.workers, count)) for number in range(count)
        )


@dataclass(frozen=True, slots=True)
class EpochPlan:
    """One epoch. `sources`: the number of each coordinator's source in the ledger."""

    shape: Shape
    knobs: Knobs
    opening: EpochOpening
    life: Incarnation
    sources: Sequence[int]

    def coordinator(self, number: int, secret: bytes) -> CoordinatorSetup:
        """Return what a coordinator is told."""
        groups = self.shape.groups
        return CoordinatorSetup(
            campaign=CAMPAIGN,
            epoch=self.opening.epoch,
            number=number,
            rank=number,
            incarnation=self.life,
            secret=secret,
            version="0",
            workers=groups[number],
            peers=tuple(
                Peer(other, other, group) for other, group in enumerate(groups) if other != number
            ),
            slots={rank: self.shape.slots for group in groups for rank in group},
            engine=EngineSetup(("synthetic",), ("t",), "file", self.shape.keep, {}, 0, {}),
            generation=GENERATION,
            keep=self.shape.keep,
            sources=(SourceSetup(self.sources[number]),),
            standby={
                other: (SourceSetup(source),)
                for other, source in enumerate(self.sources)
                if number == 0 and other
            },
            opening=self.opening,
            until_quiescent=True,
            knobs=self.knobs,
        )

    def worker(self, rank: int, coordinator: int, draw: random.Random) -> WorkerSetup:
        """Return what a worker is told."""
        return WorkerSetup(
            campaign=CAMPAIGN,
            epoch=self.opening.epoch,
            rank=rank,
            coordinator=coordinator,
            incarnation=Incarnation(draw.getrandbits(64) or 1),
            slots=self.shape.slots,
            version="0",
            host=f"host {rank}",
            pid=100 + rank,
            python="3",
            random=random.Random(draw.random()),
            knobs=self.knobs,
        )
