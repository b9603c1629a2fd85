"""A store of rows as a copy sees it: tables, their rows in the order of their keys.

Which tables there are, their columns and their keys come from the stored schema itself, so that a
migration needs no line here. Rows are equal in both stores: numbers, floats, texts, bytes, nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import msgspec

from symfleet.errors import InternalError
from symfleet.ledger.rows import Database

Row = tuple[Any, ...]

MARK_TABLE: Final = "copying"
"""A store that has this table is an unfinished copy, and no ledger."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `columns` are sorted by name, so that rows of two stores compare; `key` is the
    primary key in its own order."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


class TableDigest(msgspec.Struct, frozen=True):
    """What a table holds: two tables with equal digests have equal rows."""

    table: str
    rows: int
    digest: str


class TableReader(Protocol):
    """A store that is read."""

    @property
    def where(self) -> str:
        """Return its name for people."""
        ...

    @property
    def database(self) -> Database:
        """Return the connection, as the audit wants it."""
        ...

    def tables(self) -> tuple[Table, ...]:
        """Return all tables that belong to the campaign, by name."""
        ...

    def snapshot(self) -> contextlib.AbstractContextManager[None]:
        """Read everything inside the block as of one moment."""
        ...

    def rows(self, table: Table, after: Row | None = None) -> Iterator[Row]:
        """Yield rows in the order of the key, those behind `after` only; inside a snapshot."""
        ...

    def count(self, table: Table) -> int:
        """Return how many rows there are."""
        ...

    def close(self) -> None:
        """Release the store."""
        ...


class CopyTarget(TableReader, Protocol):
    """A store that a copy is written to; it is marked as unfinished until the campaign moves."""

    def prepare(self, source: str) -> bool:
        """Go on with the unfinished copy of exactly this source (its fingerprint), or begin one
        and forget that of another; return whether it is gone on with."""
        ...

    def last_key(self, table: Table) -> Row | None:
        """Return the last key that has arrived."""
        ...

    def put(self, table: Table, rows: Sequence[Row]) -> None:
        """Add rows in one durable transaction."""
        ...

    def complete(self) -> None:
        """All rows are there: check references between tables, and that the schema is the one of
        its version but for the mark."""
        ...

    def discard(self) -> None:
        """Remove the unfinished copy."""
        ...


def plan_copy(source: Sequence[Table], target: Sequence[Table]) -> tuple[Table, ...]:
    """Return what is to be copied, in order; raise InternalError when two stores of one version do
    not have the same tables, columns and keys."""
    theirs = {table.name: table for table in target}
    for table in source:
        if theirs.pop(table.name, None) != table or not table.key:
            raise _unlike(table.name)
    for name in theirs:
        raise _unlike(name)
    return tuple(sorted(source, key=lambda table: table.name))


def _unlike(name: str) -> InternalError:
    return InternalError(
        "the two kinds of ledger do not fit each other",
        where=f"table {name}",
        why="it is missing, or has other columns or another key, in one of them",
        hint="nothing was copied; please report this",
    )


def digest_of(store: TableReader, table: Table) -> TableDigest:
    """Return the digest of a table; inside a snapshot."""
    encoder = msgspec.msgpack.Encoder()
    hasher = hashlib.sha256(encoder.encode((table.name, table.columns)))
    rows = 0
    for row in store.rows(table):
        hasher.update(encoder.encode([storable(value) for value in row]))
        rows += 1
    return TableDigest(table.name, rows, hasher.hexdigest())


def storable(value: Any) -> Any:
    """Return a value as both stores can hold it: PostgreSQL's texts have no zero byte, and people
    see the sign for an unknown one."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def fingerprint(tables: Sequence[TableDigest], version: str) -> str:
    """Return what tells one state of a source from all others, also after an update of symfleet."""
    encoded = msgspec.msgpack.encode((version, [(t.table, t.rows, t.digest) for t in tables]))
    return hashlib.sha256(encoded).hexdigest()


def quoted(name: str) -> str:
    """Return an identifier as SQL has it; all of ours are plain words."""
    if not name.replace("_", "").isalnum() or not name.isascii():
        raise InternalError("a name in the schema is no plain word", where=name)
    return f'"{name}"'
