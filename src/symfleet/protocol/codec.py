"""Frames: a fixed header, a bounded MessagePack body, one checksum over both.

    offset size field
     0      4   magic `SYFL`
     4      2   protocol version
     6      1   kind (index of the message type below)
     7      1   flags (bit 0: REPEAT, said before and not answered yet)
     8     16   campaign
    24      8   epoch
    32      4   sender's rank
    36      4   slot that the frame is about, 0xFFFFFFFF: none
    40      8   slot incarnation, 0: none
    48     32   dispatch token, zeros: none
    80      4   body length in bytes
    84      4   CRC-32 of bytes 0..83 and the body

All numbers are little-endian. Magic, version, length and checksum keep their places in every
version, so that a whole frame of another version is told from a damaged one and named. The token
is 32 raw bytes here and 64 lower-case hex digits elsewhere.

`Codec.open` never raises: it returns what it found. Checks go from the cheap and certain to the
dear: size, magic, length, checksum, version, campaign, epoch, kind, body. Only when the checksum
holds is the header believed; then a bad body is told apart from an unreadable frame, because a
RESULT with a bad body still names its delivery (join table, `malformed`).
"""

from __future__ import annotations

import enum
import struct
import zlib
from dataclasses import dataclass
from typing import Any, Final, cast, get_args

import msgspec

from symfleet.protocol import messages
from symfleet.protocol.messages import AnyMessage, Message
from symfleet.protocol.tokens import NO_TOKEN
from symfleet.types import CampaignId, DispatchToken, Epoch

PROTOCOL_VERSION: Final = 1
MAGIC: Final = b"SYFL"
HEADER_BYTES: Final = 88
NO_SLOT: Final = 0xFFFFFFFF

_LAYOUT: Final = struct.Struct("<4sHBB16sQIIQ32sI")
_CRC: Final = struct.Struct("<I")
_CRC_AT: Final = HEADER_BYTES - 4
_TAIL: Final = struct.Struct("<II")
_TAIL_AT: Final = HEADER_BYTES - 8
_REPEAT: Final = 1
_NO_TOKEN_BYTES: Final = bytes(32)

# The order is part of the format: a new kind goes to the end, and a change raises the version.
KINDS: Final[tuple[type[Message], ...]] = (
    messages.Hello,
    messages.Ready,
    messages.Started,
    messages.Progress,
    messages.Part,
    messages.Result,
    messages.Refused,
    messages.WorkerFault,
    messages.StopAck,
    messages.Welcome,
    messages.Work,
    messages.Accepted,
    messages.Knowledge,
    messages.Beat,
    messages.ResetSlot,
    messages.Stop,
    messages.Refuse,
    messages.Prepare,
    messages.Vote,
    messages.Turn,
    messages.TurnAnswer,
    messages.SlotsSeen,
    messages.VoteVoid,
    messages.News,
    messages.EndEpoch,
    messages.Closed,
    messages.PeerFailed,
    messages.Adopt,
    messages.Orphans,
)
assert set(KINDS) == set(get_args(AnyMessage)), "every message has a kind"

_KIND_AT: Final = 6
_KIND_OF: Final = {kind: number for number, kind in enumerate(KINDS)}
_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODERS: Final = tuple(msgspec.msgpack.Decoder(kind, strict=True) for kind in KINDS)


class FrameFault(enum.StrEnum):
    """Why a frame was set aside; reasons of the counter `quarantined_frames`."""

    SHORT = "short"
    MAGIC = "magic"
    LENGTH = "length"
    TOO_LARGE = "too_large"
    CHECKSUM = "checksum"
    KIND = "kind"
    FLAGS = "flags"
    BODY = "body"
    VERSION = "version"
    CAMPAIGN = "campaign"
    EPOCH = "epoch"
    SENDER = "sender"
    UNEXPECTED = "unexpected"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class Header:
    """Everything about a frame but its body."""

    rank: int
    slot: int | None = None
    incarnation: int = 0
    token: DispatchToken = NO_TOKEN
    repeat: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame that is whole and ours."""

    header: Header
    message: AnyMessage


@dataclass(frozen=True, slots=True)
class BadBody:
    """A frame that is whole and ours, but whose body does not fit its kind."""

    header: Header
    kind: type[Message]
    detail: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """A whole frame of another protocol version, campaign or epoch; both values are named."""

    fault: FrameFault
    theirs: str
    ours: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Not a frame, or a damaged one: nothing in it is believed."""

    fault: FrameFault


Opened = Frame | BadBody | Foreign | Unreadable


def fault_of(opened: Opened, rank: int) -> FrameFault | None:
    """Return why what a rank sent must be set aside; None for a sound frame of its own."""
    if isinstance(opened, Foreign | Unreadable):
        return opened.fault
    if opened.header.rank != rank:
        return FrameFault.SENDER
    return FrameFault.BODY if isinstance(opened, BadBody) else None


def kind_of(data: bytes) -> type[Message] | None:
    """Return what a frame claims to be, unchecked: enough to choose who opens it."""
    number = data[_KIND_AT] if len(data) > _KIND_AT else len(KINDS)
    return KINDS[number] if number < len(KINDS) else None


class Codec:
    """Seals and opens the frames of one campaign and epoch, as one rank."""

    __slots__ = ("_campaign", "_epoch", "_limit", "_rank")

    def __init__(self, campaign: CampaignId, epoch: Epoch, rank: int, frame_bytes: int) -> None:
        self._campaign = bytes.fromhex(campaign)
        self._epoch = epoch
        self._rank = rank
        self._limit = frame_bytes

    def body_bytes_max(self) -> int:
        """Largest body that can be sealed."""
        return self._limit - HEADER_BYTES

    def seal(
        self,
        message: AnyMessage,
        *,
        slot: int | None = None,
        incarnation: int = 0,
        token: DispatchToken = NO_TOKEN,
        repeat: bool = False,
    ) -> bytes:
        """Return the frame of `message`. The sender keeps the size limit (an assertion)."""
        return self.seal_as(
            type(message), message, slot=slot, incarnation=incarnation, token=token, repeat=repeat
        )

    def seal_as(
        self,
        kind: type[Message],
        content: object,
        *,
        slot: int | None = None,
        incarnation: int = 0,
        token: DispatchToken = NO_TOKEN,
        repeat: bool = False,
    ) -> bytes:
        """Return a frame that claims to be of a kind; tests give it bodies that are not."""
        body = _ENCODER.encode(content)
        head = _LAYOUT.pack(
            MAGIC,
            PROTOCOL_VERSION,
            _KIND_OF[kind],
            _REPEAT if repeat else 0,
            self._campaign,
            self._epoch,
            self._rank,
            NO_SLOT if slot is None else slot,
            incarnation,
            _NO_TOKEN_BYTES if token is NO_TOKEN else bytes.fromhex(token),
            len(body),
        )
        assert len(body) + HEADER_BYTES <= self._limit, "a sender splits what is too large"
        return b"".join((head, _CRC.pack(zlib.crc32(body, zlib.crc32(head))), body))

    def open(self, data: bytes) -> Opened:
        """Judge received bytes; never raises."""
        fault = self._unreadable(data)
        if fault is not None:
            return fault
        fields = _LAYOUT.unpack_from(data)
        _, _, kind, flags, _, _, rank, slot, incarnation, token, _ = fields
        strange = self._strange(fields)
        if strange is not None:
            return strange
        header = Header(
            rank,
            None if slot == NO_SLOT else slot,
            incarnation,
            NO_TOKEN if token == _NO_TOKEN_BYTES else DispatchToken(token.hex()),
            bool(flags),
        )
        try:
            message = _DECODERS[kind].decode(memoryview(data)[HEADER_BYTES:])
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            return BadBody(header, KINDS[kind], str(error)[:200])
        return Frame(header, cast("AnyMessage", message))

    def _unreadable(self, data: bytes) -> Unreadable | None:
        if len(data) < HEADER_BYTES:
            return Unreadable(FrameFault.SHORT)
        if not data.startswith(MAGIC):
            return Unreadable(FrameFault.MAGIC)
        if len(data) > self._limit:
            return Unreadable(FrameFault.TOO_LARGE)
        length, crc = _TAIL.unpack_from(data, _TAIL_AT)
        if length != len(data) - HEADER_BYTES:
            return Unreadable(FrameFault.LENGTH)
        whole = memoryview(data)
        if zlib.crc32(whole[HEADER_BYTES:], zlib.crc32(whole[:_CRC_AT])) != crc:
            return Unreadable(FrameFault.CHECKSUM)
        return None

    def _strange(self, fields: tuple[Any, ...]) -> Foreign | Unreadable | None:
        _, version, kind, flags, campaign, epoch, *_ = fields
        if version != PROTOCOL_VERSION:
            return Foreign(FrameFault.VERSION, str(version), str(PROTOCOL_VERSION))
        if campaign != self._campaign:
            return Foreign(FrameFault.CAMPAIGN, campaign.hex(), self._campaign.hex())
        if epoch != self._epoch:
            return Foreign(FrameFault.EPOCH, str(epoch), str(self._epoch))
        if kind >= len(KINDS):
            return Unreadable(FrameFault.KIND)
        if flags & ~_REPEAT:
            return Unreadable(FrameFault.FLAGS)
        return None
