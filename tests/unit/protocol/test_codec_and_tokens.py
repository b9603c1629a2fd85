"""Frames and tokens: what is sealed opens again, and everything else is refused by name."""

from __future__ import annotations

import struct
import zlib

import pytest

from symfleet.errors import UserError
from symfleet.protocol.codec import (
    HEADER_BYTES,
    KINDS,
    PROTOCOL_VERSION,
    BadBody,
    Codec,
    Foreign,
    Frame,
    FrameFault,
    Unreadable,
)
from symfleet.protocol.messages import Beat, Progress, Stop
from symfleet.protocol.setup import Knobs
from symfleet.protocol.tokens import NO_TOKEN, TokenMint
from symfleet.types import CampaignId, Epoch, SlotAddress, parse_dispatch_token

CODEC = Codec(CampaignId("ab" * 16), Epoch(3), 7, 1 << 20)
TOKEN = TokenMint(bytes(32)).mint(SlotAddress(1, 2))


def with_checksum(frame: bytes) -> bytes:
    """Seal changed bytes again."""
    crc = zlib.crc32(frame[HEADER_BYTES:], zlib.crc32(frame[: HEADER_BYTES - 4]))
    return frame[: HEADER_BYTES - 4] + struct.pack("<I", crc) + frame[HEADER_BYTES:]


def changed(frame: bytes, at: int, value: bytes) -> bytes:
    return with_checksum(frame[:at] + value + frame[at + len(value) :])


def test_what_is_sealed_opens_with_everything_in_the_header() -> None:
    frame = CODEC.seal(Progress(5), slot=4, incarnation=2**64 - 1, token=TOKEN, repeat=True)
    opened = CODEC.open(frame)
    assert isinstance(opened, Frame)
    assert opened.message == Progress(5)
    header = opened.header
    assert (header.rank, header.slot, header.incarnation) == (7, 4, 2**64 - 1)
    assert (header.token, header.repeat) == (TOKEN, True)


def test_a_frame_about_no_slot_has_neither_slot_nor_token() -> None:
    opened = CODEC.open(CODEC.seal(Beat()))
    assert isinstance(opened, Frame)
    assert (opened.header.slot, opened.header.token) == (None, NO_TOKEN)


@pytest.mark.parametrize(
    ("at", "value", "fault", "theirs"),
    [
        (4, struct.pack("<H", PROTOCOL_VERSION + 1), FrameFault.VERSION, str(PROTOCOL_VERSION + 1)),
        (8, bytes(16), FrameFault.CAMPAIGN, "00" * 16),
        (24, struct.pack("<Q", 2), FrameFault.EPOCH, "2"),
    ],
)
def test_a_whole_frame_of_elsewhere_is_refused_with_both_values(
    at: int, value: bytes, fault: FrameFault, theirs: str
) -> None:
    opened = CODEC.open(changed(CODEC.seal(Beat()), at, value))
    assert isinstance(opened, Foreign)
    assert (opened.fault, opened.theirs) == (fault, theirs)
    assert opened.ours != theirs


def test_a_damaged_version_is_damage_and_not_another_version() -> None:
    frame = CODEC.seal(Beat())
    opened = CODEC.open(frame[:4] + b"\x09" + frame[5:])
    assert opened == Unreadable(FrameFault.CHECKSUM)


@pytest.mark.parametrize(
    ("frame", "fault"),
    [
        (b"", FrameFault.SHORT),
        (bytes(HEADER_BYTES), FrameFault.MAGIC),
        (CODEC.seal(Beat()) + b"x", FrameFault.LENGTH),
        (CODEC.seal(Beat())[:-1], FrameFault.LENGTH),
        (changed(CODEC.seal(Beat()), 6, bytes([len(KINDS)])), FrameFault.KIND),
        (changed(CODEC.seal(Beat()), 7, b"\x02"), FrameFault.FLAGS),
    ],
)
def test_what_is_no_frame_is_refused_by_reason(frame: bytes, fault: FrameFault) -> None:
    assert CODEC.open(frame) == Unreadable(fault)


def test_a_frame_above_the_limit_is_refused_unread() -> None:
    small = Codec(CampaignId("ab" * 16), Epoch(3), 7, 128)
    frame = CODEC.seal(Stop(1.0)) + bytes(200)
    assert small.open(frame) == Unreadable(FrameFault.TOO_LARGE)


def test_a_body_that_does_not_fit_its_kind_keeps_its_header() -> None:
    frame = CODEC.seal(Stop(1.0), slot=1, incarnation=9, token=TOKEN)
    opened = CODEC.open(changed(frame, 6, bytes([KINDS.index(Progress)])))
    assert isinstance(opened, BadBody)
    assert (opened.kind, opened.header.token) == (Progress, TOKEN)


@pytest.mark.guarantee("D1")
@pytest.mark.guarantee("D2")
def test_tokens_differ_in_slot_sequence_and_coordinator_life() -> None:
    mints = [TokenMint(bytes(32)), TokenMint(bytes(31) + b"\1")]
    places = [SlotAddress(1, 0), SlotAddress(0, 1), SlotAddress(1, 0)]
    tokens = [mint.mint(place) for mint in mints for place in places]
    assert len(set(tokens)) == len(tokens)
    assert all(parse_dispatch_token(token) == token for token in tokens)
    assert NO_TOKEN not in tokens


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("protocol_retries", True),
        ("protocol_retries", 17),
        ("prefetch", -1),
        ("prefetch", 5),
        ("delivery_silence_s", float("nan")),
        ("delivery_silence_s", 4.0),
        ("idle_window_s", float("inf")),
        ("shutdown_grace_s", False),
        ("input_mib", 17),
        ("progress_s", "2"),
    ],
)
def test_a_knob_outside_its_range_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(UserError) as refused:
        Knobs(**{name: value})  # type: ignore[arg-type]
    assert refused.value.where == name


def test_silence_must_outlast_the_longest_solver_budget() -> None:
    with pytest.raises(UserError, match="delivery_silence_s"):
        Knobs(delivery_silence_s=30.0, solver_budget_s=25.0)
