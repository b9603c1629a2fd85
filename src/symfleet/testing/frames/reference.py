"""What a receiver must make of a frame, said a second time and more slowly.

Written from the format's text, not from the codec: numbers are taken from their offsets one by one,
the body is read as plain values first and then held against the message's type. The codec and this
must agree on every frame.
"""

from __future__ import annotations

import datetime
import zlib
from dataclasses import dataclass
from typing import Final, cast

import msgspec

from symfleet.protocol import codec
from symfleet.protocol.messages import AnyMessage, Message
from symfleet.types import CampaignId

_PLAIN: Final = (bytes, datetime.datetime)
"""Types that MessagePack has, so that no text is taken for one of them."""
BODY: Final = "body"
"""The header holds, the body does not fit its kind."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Why a frame must be refused ("" when it is sound), and what is in it as far as that can be
    believed. `token` is 32 raw bytes."""

    refused: str
    rank: int = -1
    slot: int = codec.NO_SLOT
    incarnation: int = 0
    token: bytes = b""
    repeat: bool = False
    kind: type[Message] | None = None
    message: AnyMessage | None = None


def judge(data: bytes, campaign: CampaignId, epoch: int, frame_bytes: int) -> Judgement:
    """Judge a frame that reached a member of a campaign and epoch."""

    def number(at: int, size: int) -> int:
        return int.from_bytes(data[at : at + size], "little")

    whole = (
        ("short", len(data) >= 88),
        ("magic", data[:4] == b"SYFL"),
        ("too_large", len(data) <= frame_bytes),
        ("length", number(80, 4) == len(data) - 88),
        ("checksum", number(84, 4) == zlib.crc32(data[:84] + data[88:])),
        ("version", number(4, 2) == codec.PROTOCOL_VERSION),
        ("campaign", data[8:24].hex() == campaign),
        ("epoch", number(24, 8) == epoch),
        ("kind", number(6, 1) < len(codec.KINDS)),
        ("flags", number(7, 1) in (0, 1)),
    )
    for reason, holds in whole:
        if not holds:
            return Judgement(reason)
    kind = codec.KINDS[data[6]]
    message = _body(data[88:], kind)
    return Judgement(
        "" if message is not None else BODY,
        number(32, 4),
        number(36, 4),
        number(40, 8),
        data[48:80],
        data[7] == 1,
        kind,
        message,
    )


def _body(data: bytes, kind: type[Message]) -> AnyMessage | None:
    try:
        plain = msgspec.msgpack.decode(data)
        if not isinstance(plain, dict) or not all(isinstance(key, str) for key in plain):
            return None
        return cast("AnyMessage", msgspec.convert(plain, kind, strict=True, builtin_types=_PLAIN))
    except (msgspec.MsgspecError, RecursionError):
        return None
