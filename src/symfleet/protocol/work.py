"""What is to be executed: the canonical work item and its identities.

`work_id_of` and `state_id_of` are recomputed from the stored payload whenever a row is leased,
recovered or audited, so a payload can never be exchanged for another's (A4). Delivery tokens are no
part of the item: a retry keeps its identity (D7, J7).
"""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from symfleet.errors import DataError
from symfleet.types import GenerationId, InputId, StateId, WorkId

_WORK_DOMAIN: Final = b"symfleet work v1\0"


class WorkItem(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True, omit_defaults=False
):
    """One execution that is to be made. Byte positions count from 0; ranges are inclusive.

    `focus`: byte ranges that are symbolic (None: all). `target`: branch sites worth flipping.
    `bound`: number of the first goal that may be flipped. `continuation`: the rest of a recorded
    trace. `actions` and `schedule` are carried and hashed for engines that understand them.
    """

    generation: GenerationId
    input: InputId
    focus: tuple[tuple[int, int], ...] | None = None
    target: tuple[int, ...] | None = None
    bound: int | None = None
    continuation: bytes | None = None
    actions: bytes | None = None
    schedule: bytes | None = None
    strategy: str | None = None


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(WorkItem, strict=True)


def encode_item(item: WorkItem) -> bytes:
    """Return the canonical bytes of `item`: a MessagePack array in field order."""
    return _encoder.encode(item)


def decode_item(payload: bytes) -> WorkItem:
    """Decode canonical bytes; raise DataError unless encoding again gives the same bytes."""
    try:
        item = _decoder.decode(payload)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise DataError(
            "a work item cannot be read",
            where=payload[:40].hex(),
            why=str(error),
            hint="the stored payload is damaged",
        ) from error
    if _encoder.encode(item) != payload:
        raise DataError(
            "a work item is not in canonical form",
            where=payload[:40].hex(),
            why="encoding it again gives other bytes",
            hint="the stored payload is damaged",
        )
    return item


def work_id_of(item: WorkItem) -> WorkId:
    """Name a work item by the SHA-256 of its canonical bytes."""
    return WorkId(hashlib.sha256(_WORK_DOMAIN + encode_item(item)).hexdigest())


def work_id_of_payload(payload: bytes) -> WorkId:
    """Name canonical bytes, as `decode_item` accepts them, without encoding them again."""
    return WorkId(hashlib.sha256(_WORK_DOMAIN + payload).hexdigest())


def state_id_of(item: WorkItem) -> StateId:
    """Name the state that an item explores: its work id without the strategy."""
    plain = msgspec.structs.replace(item, strategy=None)
    return StateId(hashlib.sha256(_WORK_DOMAIN + encode_item(plain)).hexdigest())
