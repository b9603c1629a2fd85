"""Edge sets: packed little-endian u32 on the wire and in rows, bitmaps in memory.

A packed element is `edge index * 8 + AFL bucket`. The campaign's knowledge is the union of the
disjoint new-edge sets of its decisions, so it needs no snapshot: opening reads at most as many
elements as there are edges.
"""

from __future__ import annotations

import sys
from array import array
from typing import Final

from pyroaring import BitMap

from symfleet.errors import DataError

_SWAP: Final = sys.byteorder == "big"


def unpack_edges(packed: bytes) -> BitMap:
    """Return the set; raise DataError when the length is not a multiple of four bytes."""
    if len(packed) % 4:
        raise DataError(
            "a packed edge set is cut off",
            where=packed[:16].hex(),
            why=f"{len(packed)} bytes are no whole number of 32-bit elements",
            hint="check the engine that reported it",
        )
    elements = array("I", packed)
    if _SWAP:
        elements.byteswap()
    return BitMap(elements)


def pack_edges(edges: BitMap) -> bytes:
    """Return the elements, ascending."""
    elements = array("I", edges.to_array())
    if _SWAP:
        elements.byteswap()
    return elements.tobytes()


class Knowledge:
    """All edges that the campaign has. Additions can be taken back exactly, newest first."""

    __slots__ = ("_elements", "_indexes")

    def __init__(self) -> None:
        self._elements: BitMap = BitMap()
        self._indexes: set[int] = set()

    def new_in(self, edges: BitMap) -> BitMap:
        """Return those of `edges` that are not known."""
        return edges - self._elements

    def add(self, new: BitMap) -> list[int]:
        """Add elements that `new_in` returned; return the edge indexes seen for the first time."""
        self._elements |= new
        fresh = sorted({element >> 3 for element in new} - self._indexes)
        self._indexes.update(fresh)
        return fresh

    def take_back(self, new: BitMap, fresh: list[int]) -> None:
        """Undo an `add`."""
        self._elements -= new
        self._indexes.difference_update(fresh)

    def packed(self) -> bytes:
        """Return all elements, packed."""
        return pack_edges(self._elements)

    def __len__(self) -> int:
        return len(self._elements)
