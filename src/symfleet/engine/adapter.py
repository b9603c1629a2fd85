"""What differs between the outside programs that can be served as engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Layout:
    """Files of one executor below its private folder. Names are constant: the program's arguments
    never differ between two runs of one input."""

    root: Path

    @property
    def input(self) -> Path:
        return self.root / "input"

    @property
    def output(self) -> Path:
        return self.root / "output"


@dataclass(frozen=True, slots=True)
class Command:
    """One run of a program: arguments, environment, and whether the input is on stdin."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin: bool


class Adapter(Protocol):
    """What differs between the programs that can be served."""

    name: str
    fails_by_code: bool
    """Whether an exit code other than 0 is a failure of the engine, not the target's verdict."""

    def program(self, target: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command line whose first word must be a program, from the target's."""
        ...

    def prepare(self, layout: Layout, keep: str) -> None:
        """Make the folder ready for the next run (input and empty output exist already)."""
        ...

    def command(
        self, argv: tuple[str, ...], layout: Layout, *, stdin: bool, env: Mapping[str, str]
    ) -> Command:
        """Return what to run so that every regular file in `layout.output` is a child."""
        ...

    def confirmation(self, command: Command) -> Command:
        """Return what to run for a second opinion on a crash: no children are read."""
        ...
