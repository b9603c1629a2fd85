"""Seeds of a simulated campaign: which lie where, since when, and which a scan has had admitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symfleet.protocol.operations import Admission
from symfleet.protocol.work import WorkItem, encode_item, state_id_of, work_id_of
from symfleet.testing.simulation.epoch import GENERATION
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.types import input_id_of


@dataclass(frozen=True, slots=True)
class _Seed:
    node: int
    owner: int
    """Number of the coordinator in whose source it lies."""
    since: float


class SimulatedSeeds:
    """The outside of a campaign. A source is known by the number of its first coordinator."""

    def __init__(self, program: SyntheticProgram) -> None:
        self._program = program
        self._seeds: list[_Seed] = []
        self._scanned_at: dict[int, float] = {}
        self.confirmed: set[str] = set()
        """Origins that the ledger has."""

    def drop(self, node: int, owner: int, now: float) -> None:
        """Somebody puts a seed into a source."""
        self._seeds.append(_Seed(node, owner, now))

    @property
    def nodes(self) -> Sequence[int]:
        """All that there are."""
        return [seed.node for seed in self._seeds]

    @property
    def unconfirmed(self) -> Sequence[int]:
        """Those that no scan has had admitted."""
        return [seed.node for seed in self._seeds if f"seed {seed.node}" not in self.confirmed]

    def scan(self, owner: int, now: float, *, lost: bool) -> tuple[Admission, ...]:
        """Return what a source has that is not known to be admitted. `lost`: to a coordinator that
        was given up, of which nothing is let in any more; another one scans for it."""
        if not lost:
            self._scanned_at[owner] = now
        waiting = self.unconfirmed
        return tuple(
            self._admission(seed.node)
            for seed in self._seeds
            if seed.owner == owner and seed.node in waiting
        )

    def _admission(self, node: int) -> Admission:
        data = self._program.data(node)
        item = WorkItem(GENERATION, input_id_of(data))
        return Admission(
            item.input, data, work_id_of(item), state_id_of(item), encode_item(item), f"seed {node}"
        )

    def check_quiescent(self) -> None:
        """Q2, Q3: what is not admitted at the end came after the last scan of its source."""
        waiting = self.unconfirmed
        for seed in self._seeds:
            if seed.node in waiting:
                scanned_at = self._scanned_at.get(seed.owner)
                assert scanned_at is not None, "Q1: a source was never scanned"
                assert seed.since >= scanned_at, "Q2: a scanned seed was not admitted"
