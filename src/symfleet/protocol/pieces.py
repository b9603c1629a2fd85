"""Something larger than a frame, cut into pieces of a bounded size and put together again.

Pieces arrive in order, because the transport keeps it; one that is not the next, or that passes the
bound, is refused with everything before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from symfleet.errors import DataError

PIECE_BYTES_MAX: Final = 1 << 20
_PIECE_OVERHEAD: Final = 256
"""More than the fields around a piece's bytes take."""


def split(data: bytes, body_bytes_max: int) -> Sequence[bytes]:
    """Cut bytes into pieces, each of which fits into the body of a frame; at least one."""
    size = min(PIECE_BYTES_MAX, body_bytes_max - _PIECE_OVERHEAD)
    assert size > 0, "a frame holds at least a mebibyte"
    return [data[at : at + size] for at in range(0, len(data), size)] or [b""]


@dataclass(slots=True)
class Assembly:
    """Pieces of one numbered thing, put together as they come."""

    bytes_max: int
    number: int = 0
    """Of what is incomplete; 0: nothing is."""
    pieces: int = 0
    size: int = 0
    parts: list[bytes] | None = None

    def add(self, number: int, piece: int, pieces: int, data: bytes) -> bytes | None:
        """Take the next piece; return the whole when it was the last. Raise DataError, and forget
        what was there, when it is not the next one or the bound is passed."""
        if self.parts is None:
            self.parts, self.number, self.pieces, self.size = [], number, pieces, 0
        self.parts.append(data)
        self.size += len(data)
        place = len(self.parts) - 1
        fits = (number, piece, pieces) == (self.number, place, self.pieces)
        if not fits or not 0 <= place < pieces or self.size > self.bytes_max:
            expected = f"{place} of {self.pieces} of turn {self.number}, up to {self.bytes_max} B"
            self.parts = None
            raise DataError(
                "a piece does not fit",
                where=f"piece {piece} of {pieces} of turn {number}, {len(data)} B",
                why=f"expected piece {expected}",
            )
        if len(self.parts) < pieces:
            return None
        whole, self.parts = b"".join(self.parts), None
        return whole
