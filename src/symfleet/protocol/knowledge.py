"""What the campaign has covered, by version, so that workers are told only what is new.

The version grows with each decision that brings edges. A worker says in READY which version it
holds; a value that is a boolean, negative, from the future or no integer counts as none, which
leads to a full snapshot and never to an error. Telling too much is harmless, so cursors may go
back.
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Sequence
from itertools import islice
from operator import lt
from typing import Final

from symfleet.protocol.messages import Knowledge

_DELTAS_MAX: Final = 512
_SWAP: Final = sys.byteorder == "big"


def unpack(edges: bytes) -> array[int]:
    """Return packed little-endian u32 as numbers; the length is a multiple of four."""
    numbers = array("I")
    numbers.frombytes(edges)
    if _SWAP:
        numbers.byteswap()
    return numbers


def pack(numbers: Sequence[int]) -> bytes:
    """Return numbers as packed little-endian u32."""
    packed = array("I", numbers)
    if _SWAP:
        packed.byteswap()
    return packed.tobytes()


def is_ascending(edges: bytes) -> bool:
    """Whether packed edges are whole numbers, strictly ascending."""
    if len(edges) % 4:
        return False
    numbers = unpack(edges)
    return all(map(lt, numbers, islice(numbers, 1, None)))


def version_or_none(value: object, current: int) -> int:
    """Return a reported version; 0 (nothing is known) for anything that is not one."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= current:
        return 0
    return value


class CampaignKnowledge:
    """All edges of the campaign and the last few steps that led there."""

    __slots__ = ("_deltas", "_edges", "_snapshot", "version")

    def __init__(self, edges: bytes) -> None:
        self._edges = set(unpack(edges))
        self._snapshot: bytes | None = edges
        self._deltas: deque[tuple[int, bytes]] = deque(maxlen=_DELTAS_MAX)
        self.version = 1 if edges else 0

    def learn(self, new_edges: bytes) -> None:
        """Add what a decision brought."""
        if not new_edges:
            return
        self.version += 1
        self._edges.update(unpack(new_edges))
        self._deltas.append((self.version, new_edges))
        self._snapshot = None

    def since(self, cursor: int, chunk_bytes: int) -> Sequence[Knowledge]:
        """Return what brings a worker from `cursor` to the current version, in bounded frames.

        All frames but the last claim no version, so a lost one costs repeated work, not errors."""
        if cursor >= self.version:
            return ()
        oldest = self._deltas[0][0] if self._deltas else self.version + 1
        if cursor == 0 or cursor + 1 < oldest:
            base, edges = 0, self._full()
        else:
            fresh: set[int] = set()
            for version, delta in self._deltas:
                if version > cursor:
                    fresh.update(unpack(delta))
            base, edges = cursor, pack(sorted(fresh))
        step = max(4, chunk_bytes // 4 * 4)
        chunks = [edges[at : at + step] for at in range(0, len(edges), step)] or [b""]
        early = [Knowledge(0, 0, chunk) for chunk in chunks[:-1]]
        return (*early, Knowledge(base, self.version, chunks[-1]))

    def _full(self) -> bytes:
        if self._snapshot is None:
            self._snapshot = pack(sorted(self._edges))
        return self._snapshot
