"""What the study's items are: a chain from each seed, so that the frontier stays as it is.

Item `n` has one child, item `n + seeds`, as long as that is below `items`. Each execution thus
decides one item and lets one in, which is the load that keeps a ledger busiest for the longest:
inputs of 1 KiB, coverage of 200 edges, a new edge with every fiftieth item. Execution times are
log-normal around the mean, drawn from the seed.
"""

from __future__ import annotations

import random
import struct
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from symfleet.protocol.item_results import ChildReport, Executed, Flips
from symfleet.protocol.operations import Admission
from symfleet.protocol.work import WorkItem, encode_item, state_id_of, work_id_of
from symfleet.types import GenerationId, InputId, Outcome, WorkId, input_id_of

GENERATION: Final = GenerationId("9e" * 32)
INPUT_BYTES: Final = 1024
EDGES: Final = 200
NOVEL_EVERY: Final = 50
_SPREAD: Final = 0.5
_BASE: Final = struct.pack(f"<{EDGES}I", *(8 * edge for edge in range(EDGES)))
_NAME: Final = 16


def data_of(node: int) -> bytes:
    """Return the bytes of an item's input."""
    return b"%-16d" % node + bytes(INPUT_BYTES - _NAME)


def node_of(data: bytes) -> int:
    """Return whose input these bytes are."""
    return int(data[:_NAME])


def edges_of(node: int) -> bytes:
    """Return the coverage of an item."""
    if node % NOVEL_EVERY:
        return _BASE
    return _BASE + struct.pack("<I", 8 * (EDGES + node // NOVEL_EVERY))


@dataclass(frozen=True, slots=True)
class Workload:
    """`items` in all, `seeds` of them at the beginning; `times` has the seconds of each."""

    items: int
    seeds: int
    times: array[float]

    @classmethod
    def drawn(cls, items: int, seeds: int, mean_s: float, seed: int) -> Workload:
        """Draw the execution times."""
        draw = random.Random(f"workload {seed}")
        low = -_SPREAD * _SPREAD / 2  # so that the mean is 1
        times = (mean_s * draw.lognormvariate(low, _SPREAD) for _ in range(items))
        return cls(items, seeds, array("d", times))

    def admissions(self) -> Iterable[Admission]:
        """Yield what a scan of the seeds would admit."""
        for node in range(self.seeds):
            data = data_of(node)
            item = WorkItem(GENERATION, input_id_of(data))
            yield Admission(
                item.input, data, work_id_of(item), state_id_of(item), encode_item(item), "seed"
            )

    def execute(self, work_id: WorkId, input_id: InputId, node: int) -> Executed:
        """Return what an engine reports of an item."""
        child = node + self.seeds
        children = (self._report(child),) if child < self.items else ()
        wall_us = max(1, int(self.times[node] * 1e6))
        return Executed(
            work_id=work_id,
            input_id=input_id,
            outcome=Outcome.OK,
            exit_code=0,
            signal=0,
            edges=edges_of(node),
            unstable=0,
            generated=len(children),
            dropped=0,
            children=children,
            flips=Flips(sat=len(children), unsat=3),
            solved={"smt": len(children)},
            executions=1 + len(children),
            solver_us=wall_us // 2,
            wall_us=wall_us,
            cpu_us=wall_us,
            rss_kib_max=4096,
        )

    def _report(self, node: int) -> ChildReport:
        data = data_of(node)
        return ChildReport(
            digest=input_id_of(data),
            data=data,
            how="smt",
            site=node,
            direction=1,
            outcome=Outcome.OK,
            signal=0,
            edges=edges_of(node),
            unstable=0,
            wall_us=100,
        )
