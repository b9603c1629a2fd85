"""Columns of many rows as parameters of one statement.

psycopg's own lists ask for the type of each element; ours hold one type and are written at once.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final

from psycopg import adapters, pq
from psycopg.abc import AdaptContext
from psycopg.adapt import Buffer, Dumper

_BYTEA: Final = adapters.types["bytea"].oid
_TEXT: Final = adapters.types["text"].oid
_WORDS: Final = adapters.types["text"].array_oid
_NUMBERS: Final = adapters.types["int8"].array_oid
_BLOBS: Final = adapters.types["bytea"].array_oid
_length: Final = struct.Struct(">i").pack
_head: Final = struct.Struct(">iiIii").pack


class Numbers(list[int | None]):
    """A bigint[]."""


class Blobs(list[bytes]):
    """A bytea[]."""


class Words(list[str]):
    """A text[]. PostgreSQL's texts hold no zero byte; people see the sign for an unknown one."""


class _NumbersDumper(Dumper):
    oid = _NUMBERS

    def dump(self, obj: Numbers) -> Buffer | None:
        """Write PostgreSQL's text form."""
        return ("{" + ",".join(map(str, obj)).replace("None", "NULL") + "}").encode()


class _BlobsDumper(Dumper):
    oid = _BLOBS
    format = pq.Format.BINARY

    def dump(self, obj: Blobs) -> Buffer | None:
        """Write PostgreSQL's binary form: bytes travel as they are."""
        return _packed(_BYTEA, obj)


class _WordsDumper(Dumper):
    oid = _WORDS
    format = pq.Format.BINARY

    def dump(self, obj: Words) -> Buffer | None:
        """Write PostgreSQL's binary form."""
        return _packed(_TEXT, [each.replace("\0", "\ufffd").encode() for each in obj])


def _packed(oid: int, values: Sequence[bytes]) -> bytes:
    if not values:
        return _head(0, 0, oid, 0, 0)[:12]
    parts = [_head(1, 0, oid, len(values), 1)]
    for each in values:
        parts += (_length(len(each)), each)
    return b"".join(parts)


def register(context: AdaptContext) -> None:
    """Teach a connection the arrays of this module."""
    context.adapters.register_dumper(Numbers, _NumbersDumper)
    context.adapters.register_dumper(Blobs, _BlobsDumper)
    context.adapters.register_dumper(Words, _WordsDumper)


def columns_of(rows: Sequence[tuple[object, ...]]) -> tuple[list[Any], ...]:
    """Return the columns of rows, each as an array."""
    return tuple([_column(column) for column in zip(*rows, strict=True)])


def _column(values: tuple[Any, ...]) -> list[Any]:
    # An element of the column that is no None tells the type of all.
    first = next((value for value in values if value is not None), None)
    if isinstance(first, bytes):
        return Blobs(values)
    if isinstance(first, str):
        return Words(values)
    if first is None or isinstance(first, int):
        return Numbers(values)
    return list(values)
