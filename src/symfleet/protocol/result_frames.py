"""Results as frames: one RESULT when it fits, numbered PARTs ahead of it when it does not (D3).

A result is never refused for its size: children leave the RESULT for PARTs until both fit into a
frame. Order is kept, so that the children of an item are those of its PARTs by number, then those
in the RESULT; the digest over all child digests tells the coordinator that none is missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from symfleet.protocol.codec import Codec
from symfleet.protocol.item_results import ChildReport, Executed, ItemResult
from symfleet.protocol.messages import Part, Result
from symfleet.protocol.tokens import NO_TOKEN
from symfleet.protocol.violations import LocalProtocolError
from symfleet.types import DispatchToken, InputId

_REPORT_OVERHEAD: Final = 512
_encoder = msgspec.msgpack.Encoder()


def children_digest(digests: Iterable[InputId]) -> str:
    """Return the SHA-256 over the concatenated child digests."""
    total = hashlib.sha256()
    for digest in digests:
        total.update(digest.encode())
    return total.hexdigest()


@dataclass(frozen=True, slots=True)
class Settled:
    """A finished delivery as it is sent, and sent again until it is answered."""

    token: DispatchToken
    parts: tuple[Part, ...]
    result: Result

    def frames(self, codec: Codec, slot: int, incarnation: int, *, repeat: bool) -> Sequence[bytes]:
        """Seal everything under the authoritative token; this is the one way a result leaves (D3).

        Raises LocalProtocolError when there is no token to stamp."""
        if self.token == NO_TOKEN:
            raise LocalProtocolError(
                "a result without a dispatch token was about to be sent",
                where=f"slot {slot}",
                why="D3: every result path carries the token of its delivery",
                hint="this is a defect of symfleet: please report it",
            )
        messages: tuple[Part | Result, ...] = (*self.parts, self.result)
        return [
            codec.seal(message, slot=slot, incarnation=incarnation, token=self.token, repeat=repeat)
            for message in messages
        ]


def settle(token: DispatchToken, items: Sequence[ItemResult], body_bytes_max: int) -> Settled:
    """Lay out the results of a delivery in frames of at most `body_bytes_max` bytes of body."""
    digest = children_digest(
        child.digest for item in items if isinstance(item, Executed) for child in item.children
    )
    result = Result(tuple(items), 0, digest)
    if _cost(items) <= body_bytes_max and len(_encoder.encode(result)) <= body_bytes_max:
        return Settled(token, (), result)
    parts: list[Part] = []
    bare: list[ItemResult] = []
    for number, item in enumerate(items):
        if isinstance(item, Executed) and item.children:
            for chunk in _chunks(item.children, body_bytes_max):
                parts.append(Part(len(parts), number, chunk))
            bare.append(msgspec.structs.replace(item, children=()))
        else:
            bare.append(item)
    return Settled(token, tuple(parts), Result(tuple(bare), len(parts), digest))


def bytes_of(item: ItemResult) -> int:
    """Return about how much an item takes in a RESULT whose children have left for PARTs."""
    if not isinstance(item, Executed):
        return _REPORT_OVERHEAD
    words = (*item.degraded, *item.opened, *item.solved, *item.left_out, item.reason or "")
    return len(item.edges) + 4 * sum(map(len, words)) + _REPORT_OVERHEAD


def _child_cost(child: ChildReport) -> int:
    return len(child.data or b"") + len(child.edges) + _REPORT_OVERHEAD


def _cost(items: Sequence[ItemResult]) -> int:
    """Lower bound of the encoded size, so that what is far too large is not encoded in vain."""
    return sum(
        len(child.data or b"") + len(child.edges)
        for item in items
        if isinstance(item, Executed)
        for child in item.children
    )


def _chunks(
    children: Sequence[ChildReport], body_bytes_max: int
) -> Iterable[tuple[ChildReport, ...]]:
    chunk: list[ChildReport] = []
    size = _REPORT_OVERHEAD
    for child in children:
        cost = _child_cost(child)
        if chunk and size + cost > body_bytes_max:
            yield tuple(chunk)
            chunk, size = [], _REPORT_OVERHEAD
        chunk.append(child)
        size += cost
    if chunk:
        yield tuple(chunk)
