"""The `command` engine: any program that turns one input into new ones.

In the program's arguments `@@` stands for the input's path, `@out` for an empty folder, and a word
`@target` for the target's own command line. Without `@@` the input is on standard input.
`SYMFLEET_INPUT` and `SYMFLEET_OUTPUT_DIR` hold the two paths as well. Each regular file in the
folder when the program has ended is a child.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from symfleet.engine.adapter import Command, Layout

TARGET_WORD: Final = "@target"


class CommandAdapter:
    """Run one program for each input."""

    name = "command"
    fails_by_code = True

    def __init__(self, words: tuple[str, ...]) -> None:
        self._words = words

    def program(self, target: tuple[str, ...]) -> tuple[str, ...]:
        """Put the target's command line where `@target` stands."""
        words: list[str] = []
        for word in self._words:
            words += target if word == TARGET_WORD else (word,)
        return tuple(words)

    def prepare(self, layout: Layout, keep: str) -> None:
        """Nothing is kept between runs."""

    def command(
        self, argv: tuple[str, ...], layout: Layout, *, stdin: bool, env: Mapping[str, str]
    ) -> Command:
        """Fill in the two paths; `stdin` is the affair of the program."""
        del stdin
        words = self.program(argv)
        filled = tuple(
            word.replace("@@", str(layout.input)).replace("@out", str(layout.output))
            for word in words
        )
        paths = {
            "SYMFLEET_INPUT": str(layout.input),
            "SYMFLEET_OUTPUT_DIR": str(layout.output),
        }
        return Command(filled, {**env, **paths}, stdin=not any("@@" in word for word in words))

    def confirmation(self, command: Command) -> Command:
        """The same once more."""
        return command
