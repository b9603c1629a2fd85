"""Ways to spoil a frame.

Three families. *Damage* changes bytes after the seal, as a broken wire or memory would: the
checksum no longer fits, so a receiver must refuse every one. *Header* and *body forgeries* change a
frame before its seal, as a peer that lies or is broken would: the checksum fits, and the receiver
decides by what it reads. Bodies are changed by their structure (a field goes, changes its type,
appears, announces more than there is), since random bytes hardly ever get past the first byte of a
decoder.

Everything is drawn from the generator that is given, so a seed names a storm exactly.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from symfleet.protocol.codec import HEADER_BYTES, KINDS

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder().decode

_VERSION, _KIND, _FLAGS, _CAMPAIGN, _EPOCH, _RANK = 4, 6, 7, 8, 24, 32
_SLOT, _LIFE, _TOKEN, _LENGTH = 36, 40, 48, 80
_DEEP: Final = 5000


@dataclass(frozen=True, slots=True)
class Spoilt:
    """A frame and the name of what was done to it."""

    how: str
    data: bytes


def sealed_again(frame: bytes) -> bytes:
    """Give a changed frame a right length and checksum."""
    head = frame[:_LENGTH] + struct.pack("<I", len(frame) - HEADER_BYTES)
    crc = zlib.crc32(frame[HEADER_BYTES:], zlib.crc32(head))
    return head + struct.pack("<I", crc) + frame[HEADER_BYTES:]


# ---- after the seal -----------------------------------------------------------------------------


def _flip_one_bit(draw: random.Random, frame: bytes) -> bytes:
    at = draw.randrange(len(frame) * 8)
    return frame[: at // 8] + bytes([frame[at // 8] ^ (1 << at % 8)]) + frame[at // 8 + 1 :]


def _burst(draw: random.Random, frame: bytes) -> bytes:
    """Overwrite up to four bytes; CRC-32 finds every burst of at most 32 bits."""
    at, size = draw.randrange(len(frame)), draw.randrange(1, 5)
    damaged = frame[:at] + draw.randbytes(min(size, len(frame) - at)) + frame[at + size :]
    return damaged if damaged != frame else _flip_one_bit(draw, frame)


def _cut(draw: random.Random, frame: bytes) -> bytes:
    return frame[: draw.randrange(len(frame))]


def _grow(draw: random.Random, frame: bytes) -> bytes:
    return frame + draw.randbytes(draw.randrange(1, 40))


def _false_length(draw: random.Random, frame: bytes) -> bytes:
    """Announce another length; the checksum is that of before."""
    real = len(frame) - HEADER_BYTES
    said = draw.choice([n for n in (0, 1, real - 1, real + 1, 2**31, 2**32 - 1) if 0 <= n != real])
    return frame[:_LENGTH] + struct.pack("<I", said) + frame[_LENGTH + 4 :]


_DAMAGE: Final[tuple[Callable[[random.Random, bytes], bytes], ...]] = (
    _flip_one_bit,
    _flip_one_bit,
    _burst,
    _cut,
    _grow,
    _false_length,
)


def damage(draw: random.Random, frame: bytes) -> Spoilt:
    """Change a sealed frame."""
    way = draw.choice(_DAMAGE)
    return Spoilt(way.__name__.strip("_"), way(draw, frame))


def truncations(frame: bytes) -> Iterator[Spoilt]:
    """Yield the frame cut at each of its bytes, once as it is and once sealed again."""
    for end in range(len(frame)):
        yield Spoilt("cut", frame[:end])
        if end >= HEADER_BYTES:
            yield Spoilt("cut body", sealed_again(frame[:end]))


# ---- before the seal: the header ----------------------------------------------------------------


def _number(draw: random.Random, bits: int) -> int:
    top = 2**bits
    return draw.choice((0, 1, 2, top - 1, top - 2, top // 2, draw.randrange(top)))


def _forge_header(draw: random.Random, frame: bytes, other: bytes) -> Spoilt:
    forged = bytearray(frame)
    how = draw.choice(("kind", "flags", "token", "place", "life", "rank", "epoch", "campaign"))
    match how:
        case "kind":
            forged[_KIND] = draw.choice((draw.randrange(len(KINDS) + 2), 255))
        case "flags":
            forged[_FLAGS] = draw.choice((0, 1, 1, 2, 3, 128, 255))
        case "token":
            tokens = (bytes(32), draw.randbytes(32), other[_TOKEN : _TOKEN + 32], b"\xff" * 32)
            forged[_TOKEN : _TOKEN + 32] = draw.choice(tokens)
        case "place":
            theirs = other[_SLOT : _SLOT + 12]
            made = struct.pack("<IQ", _number(draw, 32), _number(draw, 64))
            forged[_SLOT : _SLOT + 12] = draw.choice((theirs, made))
        case "life":
            struct.pack_into("<Q", forged, _LIFE, _number(draw, 64))
        case "rank":
            struct.pack_into("<I", forged, _RANK, draw.choice((0, 1, 2, 3, _number(draw, 32))))
        case "epoch":
            (epoch,) = struct.unpack_from("<Q", frame, _EPOCH)
            said = draw.choice((epoch + 1, max(0, epoch - 1), _number(draw, 64)))
            struct.pack_into("<Q", forged, _EPOCH, said)
        case _:
            if draw.random() < 0.5:
                forged[_CAMPAIGN : _CAMPAIGN + 16] = draw.randbytes(16)
            else:
                struct.pack_into("<H", forged, _VERSION, _number(draw, 16))
    return Spoilt(how, sealed_again(bytes(forged)))


# ---- before the seal: the body ------------------------------------------------------------------

_NUMBERS: Final = (
    *(0, 1, -1, True, False, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)),
    *(1.5, -0.0, 1e308, float("nan"), float("inf"), float("-inf")),
)
_RAW: Final = {
    "deep": b"\x91" * _DEEP + b"\xc0",
    "deep maps": b"\x81\xa1k" * _DEEP + b"\xc0",
    "long str": b"\xdb\xff\xff\xff\xff",
    "long bin": b"\xc6\xff\xff\xff\xff",
    "long array": b"\xdd\xff\xff\xff\xff",
    "long map": b"\xdf\xff\xff\xff\xff",
    "ext": b"\xd4\x05\x01",
    "long ext": b"\xc9\xff\xff\xff\xff\x05",
    "time": b"\xd6\xff\xff\xff\xff\xff",
    "bad time": b"\xc7\x0c\xff" + b"\xff" * 12,
    "not text": b"\xa2\xff\xfe",
    "no code": b"\xc1",
    "map as key": b"\x81\x80\x01",
    "list as key": b"\x81\x91\x01\x01",
    "double field": b"\x82\xa1t\x01\xa1t\x02",
    "nothing": b"",
}
_Path = tuple[Any, ...]


def _paths(node: object, path: _Path = ()) -> Iterator[_Path]:
    yield path
    if isinstance(node, dict):
        for key in node:
            yield from _paths(node[key], (*path, key))
    elif isinstance(node, list):
        for place in range(min(len(node), 4)):
            yield from _paths(node[place], (*path, place))


def _at(node: Any, path: _Path) -> Any:
    for step in path:
        node = node[step]
    return node


def _replaced(node: Any, path: _Path, value: object) -> Any:
    if not path:
        return value
    copy = dict(node) if isinstance(node, dict) else list(node)
    copy[path[0]] = _replaced(node[path[0]], path[1:], value)
    return copy


def _without(node: Any, path: _Path) -> Any:
    parent = _at(node, path[:-1])
    copy = dict(parent) if isinstance(parent, dict) else list(parent)
    del copy[path[-1]]
    return _replaced(node, path[:-1], copy)


def _odd_text(draw: random.Random, text: str) -> str:
    return draw.choice(
        ("", text.upper(), text[:-1], text + "0", "\0", "é" * 40, "x" * 5000, text[::-1])
    )


def _odd_bytes(draw: random.Random, data: bytes) -> bytes:
    at = draw.randrange(len(data) + 1)
    return draw.choice((b"", data[:at], data + b"\0", data[:at] + draw.randbytes(3) + data[at:]))


def _another(draw: random.Random, value: object) -> object:
    """Return a value of the same type, or nearly."""
    match value:
        case bool() | int() | float() | None:
            return draw.choice(_NUMBERS)
        case str():
            return _odd_text(draw, value)
        case bytes():
            return _odd_bytes(draw, value)
        case list():
            return draw.choice(([], value * 2, value[::-1], value[:-1], [*value, None]))
        case dict():
            return draw.choice(({}, {**value, "more": 1}, {**value, 7: 1}, list(value)))
        case _:
            return None


def _other_type(draw: random.Random) -> object:
    return draw.choice(
        (None, True, -1, 2**64 - 1, 0.5, "text", b"bytes", [], {}, [[]], {"t": "ready"})
    )


def _forge_body(draw: random.Random, frame: bytes, other: bytes) -> Spoilt:
    body = _decode(frame[HEADER_BYTES:])
    paths = list(_paths(body))
    maps = [one for one in paths if isinstance(_at(body, one), dict)]
    path = draw.choice(paths)
    how = draw.choice(("value", "value", "value", "type", "gone", "extra", "raw", "raw", "theirs"))
    match how:
        case "value":
            path = draw.choice([one for one in paths if one not in maps] or paths)
            changed = _replaced(body, path, _another(draw, _at(body, path)))
        case "type":
            changed = _replaced(body, path, _other_type(draw))
        case "gone" if path:
            changed = _without(body, path)
        case "extra" if maps:
            inside = draw.choice(maps)
            name = draw.choice(("extra", "", "token", "T", "é"))
            more: dict[str, object] = {name: draw.choice((None, 1, "x", []))}
            held = _at(body, inside)
            # First or last: a decoder may have to step over it before it finds the tag.
            mixed = {**more, **held} if draw.random() < 0.5 else {**held, **more}
            changed = _replaced(body, inside, mixed)
        case "theirs":
            changed = _replaced(body, path, draw.choice(_values(_decode(other[HEADER_BYTES:]))))
        case _:
            how, raw = draw.choice(tuple(_RAW.items()))
            changed = _replaced(body, path, msgspec.Raw(raw))
            if path and isinstance(body, dict) and draw.random() < 0.2:
                changed = {"x": msgspec.Raw(raw), **body}
    return Spoilt(how, sealed_again(frame[:HEADER_BYTES] + _encode(changed)))


def _values(body: object) -> list[object]:
    return [_at(body, path) for path in _paths(body)]


def _forge_bytes(draw: random.Random, frame: bytes, other: bytes) -> Spoilt:
    forged = bytearray(frame)
    how = draw.choice(("swapped", "bytes", "longer", "shorter", "empty"))
    match how:
        case "swapped":
            forged[HEADER_BYTES:] = other[HEADER_BYTES:]
        case "bytes" if len(forged) > HEADER_BYTES:
            at = draw.randrange(HEADER_BYTES, len(forged))
            forged[at : at + draw.randrange(1, 9)] = draw.randbytes(draw.randrange(9))
        case "longer":
            forged += draw.randbytes(draw.randrange(1, 9))
        case "shorter":
            del forged[draw.randrange(HEADER_BYTES, len(forged) + 1) :]
        case _:
            del forged[HEADER_BYTES:]
    return Spoilt(how, sealed_again(bytes(forged)))


_FORGERIES: Final = (_forge_header, _forge_body, _forge_body, _forge_bytes)


def forge(draw: random.Random, frame: bytes, others: Sequence[bytes]) -> Spoilt:
    """Change a frame before its seal, perhaps with parts of another."""
    return draw.choice(_FORGERIES)(draw, frame, draw.choice(others))


def spoil_value(draw: random.Random, value: object) -> tuple[str, bytes]:
    """Change an encodable value by its structure; return how, and its bytes. For protocols with
    other frames around their bodies, and for what travels inside a body."""
    frame = bytes(HEADER_BYTES) + _encode(value)
    made = draw.choice((_forge_body, _forge_body, _forge_bytes))(draw, frame, frame)
    return made.how, made.data[HEADER_BYTES:]
