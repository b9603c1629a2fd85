"""A finite program without a process: what an input leads to is computed, always the same.

Nodes 0..size-1; a node's input is its name, and its children are a fixed choice of later and
earlier nodes, so that work is found again by several parents. The set of all reachable inputs is
known beforehand, which is what a simulated campaign is compared with.

Each node has an edge of its own, or, with `classes`, one that it shares with all nodes of its
class, so that a campaign that keeps what is novel has something to drop.
"""

from __future__ import annotations

import functools
import hashlib
import struct
from collections.abc import Container, Sequence
from dataclasses import dataclass

from symfleet.protocol.item_results import ChildReport, Executed, Flips
from symfleet.types import InputId, Outcome, WorkId, input_id_of


def _word(*parts: object) -> int:
    text = ":".join(str(part) for part in parts).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


@dataclass(frozen=True, slots=True)
class SyntheticProgram:
    """`size` nodes; `seed` chooses the edges between them; `bulk` bytes pad each input; `classes`:
    see above, 0 for none. An execution takes up to `wall_us_max` more than a millisecond."""

    size: int
    seed: int = 0
    bulk: int = 0
    classes: int = 0
    wall_us_max: int = 200_000

    def data(self, node: int) -> bytes:
        """Return the input of a node."""
        return f"node {node}".encode() + bytes(self.bulk)

    def node(self, data: bytes) -> int:
        """Return the node of an input."""
        return int(data[: len(data) - self.bulk].split()[1])

    def node_of(self, input_id: InputId) -> int:
        """Return the node whose input has this name; KeyError when none has."""
        return _nodes(self)[input_id]

    def children(self, node: int) -> Sequence[int]:
        """Return a node's children, ascending."""
        tree = [child for child in (2 * node + 1, 2 * node + 2) if child < self.size]
        return sorted({*tree, _word(self.seed, node) % self.size})

    def edges(self, node: int) -> bytes:
        """Return the coverage of a node: its own edge and one that it shares with others."""
        own = _word("class", self.seed, node) % self.classes if self.classes else node
        return struct.pack("<II", *sorted({8 * (node % 7), 800 + 8 * own}))

    def reachable(
        self, seeds: Sequence[int], cut_off: Container[InputId] = ()
    ) -> frozenset[InputId]:
        """Return the least fixed point of the children from some seeds. Inputs that are `cut_off`
        have none: a wall limit ended their execution."""
        seen, waiting = set(seeds), list(seeds)
        while waiting:
            node = waiting.pop()
            if input_id_of(self.data(node)) in cut_off:
                continue
            for child in self.children(node):
                if child not in seen:
                    seen.add(child)
                    waiting.append(child)
        return frozenset(input_id_of(self.data(node)) for node in seen)

    def outcome(self, node: int) -> Outcome:
        """Return how the target ends: a few nodes crash."""
        return Outcome.CRASH if _word("crash", self.seed, node) % 17 == 0 else Outcome.OK

    def execute(self, work_id: WorkId, data: bytes) -> Executed:
        """Return what an engine would report."""
        node = self.node(data)
        children = tuple(self._report(child) for child in self.children(node))
        outcome = self.outcome(node)
        return Executed(
            work_id=work_id,
            input_id=input_id_of(data),
            outcome=outcome,
            exit_code=0,
            signal=11 if outcome is Outcome.CRASH else 0,
            edges=self.edges(node),
            unstable=0,
            generated=len(children),
            dropped=0,
            children=children,
            flips=Flips(sat=len(children)),
            solved={"scan": len(children)},
            executions=1 + len(children),
            solver_us=100,
            wall_us=1000 + _word("cost", self.seed, node) % self.wall_us_max,
            cpu_us=900,
            rss_kib_max=1024,
        )

    def _report(self, node: int) -> ChildReport:
        data, outcome = self.data(node), self.outcome(node)
        return ChildReport(
            digest=input_id_of(data),
            data=data,
            how="scan",
            site=node,
            direction=node % 2,
            outcome=outcome,
            signal=11 if outcome is Outcome.CRASH else 0,
            edges=self.edges(node),
            unstable=0,
            wall_us=100,
        )


@functools.lru_cache(maxsize=16)
def _nodes(program: SyntheticProgram) -> dict[InputId, int]:
    return {input_id_of(program.data(node)): node for node in range(program.size)}
