"""The statements of `sql/*.sql` as PostgreSQL says them.

Most differ only in the sign for a value and in hints about indexes. Those that differ in more have
a block of the same name in `sql/postgres/`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType
from typing import Final

from symfleet.errors import InternalError
from symfleet.ledger.statements import load

_SHARED: Final = ("turn", "reading", "opening", "audit")
_OWN: Final = ("postgres/session", "postgres/batches")
_INDEX_HINT: Final = re.compile(r" INDEXED BY \w+")


COUNTING: Final = frozenset(
    text for text in load("postgres/batches").values() if text.startswith(("INSERT", "UPDATE"))
)
"""Statements whose last value is how many rows they must write; they fail otherwise."""


def _said(statement: str) -> str:
    return _INDEX_HINT.sub("", statement).replace("%", "%%").replace("?", "%s")


def _counting(said: str) -> str:
    """Let a statement that writes many rows fail when they are not as many as told: COMMIT then
    follows it at once, without a round trip to look."""
    return f"WITH done AS ({said} RETURNING 1) SELECT 1 / (count(*) = %s)::int FROM done"  # noqa: S608


def _all_statements() -> Mapping[str, str]:
    statements: dict[str, str] = {}
    for file in _SHARED:
        other = load(f"postgres/{file}")
        shared = load(file)
        if unknown := other.keys() - shared.keys():
            raise InternalError(
                "a block replaces none", where=f"sql/postgres/{file}.sql: {unknown}"
            )
        for name, statement in shared.items():
            statements[statement] = _said(other.get(name, statement))
    for file in _OWN:
        statements.update({text: _said(text) for text in load(file).values()})
    statements.update({text: _counting(statements[text]) for text in COUNTING})
    return MappingProxyType(statements)


IN_POSTGRES: Final = _all_statements()
"""Each statement by the text that callers know it by."""

WRITING: Final = frozenset(
    statement for statement in IN_POSTGRES if statement.startswith(("INSERT", "UPDATE", "DELETE"))
)

BINARY: Final = frozenset((*load("turn").values(), *load("postgres/batches").values()))
"""Statements of turns, whose answers travel in binary: inputs and digests as they are."""

_AUDIT: Final = load("audit")
LONG: Final = frozenset(
    _AUDIT[name] for name in ("frontier_rows", "suspect_rows", "leased_rows", "deferred_rows")
)
"""Statements whose answer grows with the campaign and is read row by row."""

SESSION: Final = load("postgres/session")
BATCHES: Final = load("postgres/batches")


def postgres_migrations() -> tuple[str, ...]:
    """Return the scripts of all migrations; the first makes version 1 of an empty schema."""
    folder = resources.files("symfleet.ledger").joinpath("migrations", "postgres")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    for number, name in enumerate(names, start=1):
        if name != f"{number:04}.sql":
            raise InternalError("migrations are not numbered without gaps", where=name)
    return tuple(folder.joinpath(name).read_text(encoding="utf-8") for name in names)
