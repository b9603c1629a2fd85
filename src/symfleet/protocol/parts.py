"""PART frames of a large result, put together in bounded memory.

The bytes of children leave at once as objects that no row names (visible to nobody, A5); what stays
here are the reports without bytes, and those only up to a bound. A delivery whose parts exceed it,
are damaged, or could not be stored counts as one whose RESULT was bad: it is recovered, not lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from symfleet.protocol.item_results import ChildReport
from symfleet.protocol.messages import Part
from symfleet.types import InputId, input_id_of

_REPORT_OVERHEAD: Final = 256


@dataclass(slots=True)
class Parts:
    """Reports of one delivery's children that came ahead of its RESULT."""

    bytes_max: int
    children_max: int
    held_bytes: int = 0
    broken: str = ""
    """Why these parts cannot be used; empty when they can."""
    _by_number: dict[int, tuple[int, tuple[ChildReport, ...]]] = field(default_factory=dict)
    _stored: set[InputId] = field(default_factory=set)

    def add(self, part: Part, items: int) -> Sequence[bytes]:
        """Take a part; return the bytes that are to be stored. A repeated part adds nothing."""
        if part.number in self._by_number or self.broken:
            return ()
        if part.number < 0 or not 0 <= part.item < items:
            self.broken = f"part {part.number} is for item {part.item} of {items}"
            return ()
        cost = sum(len(child.edges) + _REPORT_OVERHEAD for child in part.children)
        count = len(part.children) + sum(len(held) for _, held in self._by_number.values())
        if self.held_bytes + cost > self.bytes_max or count > self.children_max:
            self.broken = f"more than {self.bytes_max} bytes or {self.children_max} children"
            return ()
        fresh: list[bytes] = []
        for child in part.children:
            if child.data is None:
                continue
            if input_id_of(child.data) != child.digest:
                self.broken = f"child {child.digest} has other bytes"
                return ()
            self._stored.add(child.digest)
            fresh.append(child.data)
        bare = tuple(msgspec.structs.replace(child, data=None) for child in part.children)
        self._by_number[part.number] = (part.item, bare)
        self.held_bytes += cost
        return fresh

    def is_whole(self, parts: int) -> bool:
        """Whether exactly the parts 0..parts-1 are here and usable."""
        whole = not self.broken and len(self._by_number) == parts
        return whole and all(number < parts for number in self._by_number)

    def children_of(self, item: int) -> Sequence[ChildReport]:
        """Return an item's reports in part order, without bytes."""
        return [
            child
            for number in sorted(self._by_number)
            if self._by_number[number][0] == item
            for child in self._by_number[number][1]
        ]

    def has_stored(self, digest: InputId) -> bool:
        """Whether the bytes of a child came in a part."""
        return digest in self._stored
