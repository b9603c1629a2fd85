"""What the documentation shows, taken out of its pages to be checked and run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code: its language, its text, the line of the page that it begins in."""

    language: str
    text: str
    line: int


def code_blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page that name a language, in order."""
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        yield Block(found[1], found[2], text.count("\n", 0, found.start()) + 2)
