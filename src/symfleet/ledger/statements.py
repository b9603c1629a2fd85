"""SQL in named blocks of `.sql` files.

A block begins with a line `-- name: NAME` and holds one statement; comment lines before the first
block belong to people. Callers bind blocks to constants when their module is imported, so that a
missing name is found at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType
from typing import Final

from symfleet.errors import InternalError

_BLOCK: Final = re.compile(r"^-- name: ([a-z_]+)\n", re.MULTILINE)
_PACKAGE: Final = "symfleet.ledger"


def load(file: str) -> Mapping[str, str]:
    """Return the blocks of `sql/FILE.sql` by name."""
    text = resources.files(_PACKAGE).joinpath("sql", f"{file}.sql").read_text(encoding="utf-8")
    parts = _BLOCK.split(text)
    blocks = dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))
    if len(blocks) * 2 != len(parts) - 1:
        raise InternalError("a block of SQL is defined twice", where=f"sql/{file}.sql")
    return MappingProxyType(blocks)


def migrations() -> tuple[str, ...]:
    """Return the scripts of all migrations; the first makes version 1 of an empty database."""
    folder = resources.files(_PACKAGE).joinpath("migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    for number, name in enumerate(names, start=1):
        if name != f"{number:04}.sql":
            raise InternalError("migrations are not numbered without gaps", where=name)
    return tuple(folder.joinpath(name).read_text(encoding="utf-8") for name in names)
