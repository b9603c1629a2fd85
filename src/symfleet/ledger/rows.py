"""What the stores of rows ask of a database: a few methods that SQLite's connections have as they
are, and PostgreSQL's through `postgres_connection`.

A statement is known by its text in `sql/*.sql`, written for SQLite; `postgres_statements` has the
same statement as PostgreSQL says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol


class Answer(Protocol):
    """The answer of one statement."""

    @property
    def rowcount(self) -> int:
        """Return how many rows were written."""
        ...

    def fetchone(self) -> Any:
        """Return the next row, None after the last."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]: ...

    def close(self) -> object:
        """Let rows go that nobody wants any more."""
        ...


class Database(Protocol):
    """A connection that is asked questions."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Answer:
        """Run one statement."""
        ...

    def close(self) -> object:
        """Release the connection."""
        ...


class Cursor(Answer, Protocol):
    """The one place of a connection that writes."""

    @property
    def connection(self) -> Database:
        """Return its connection."""
        ...

    @property
    def lastrowid(self) -> int | None:
        """Return the number of the input that the last statement made."""
        ...

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Answer:
        """Run one statement."""
        ...

    def executemany(self, statement: str, values: Iterable[Sequence[Any]], /) -> Answer:
        """Run one statement with many values; the count is the sum."""
        ...
