"""How a fault is planted into the real machines, and taken out again.

A mutant is a few changes, made only inside `planted()`: a text of a function's (or an SQL
statement's) source says something else, a name stands for something else, entries of a table are
others. The source is the one that runs, so that a mutant is as small as the slip that it stands
for, and one whose text is not there any more says so instead of changing nothing.
"""

from __future__ import annotations
import __future__

import contextlib
import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Final, Protocol, cast
from unittest import mock

_FUTURE: Final = __future__.annotations.compiler_flag


class NotThere(LookupError):
    """A mutant names something that the code does not have (any more)."""


class Change(Protocol):
    """One change that can be taken back."""

    def made(self) -> AbstractContextManager[object]:
        """Return a context in which the change stands."""
        ...

    def now(self) -> object:
        """Return what stands there now."""
        ...


@dataclass(frozen=True, slots=True)
class Edit:
    """`old`, which stands exactly once in a function of `owner` (a class or module) or in a text
    there, is `new`."""

    owner: object
    name: str
    old: str
    new: str

    def made(self) -> AbstractContextManager[object]:
        """Return a context in which the function is the edited one."""
        return mock.patch.object(self.owner, self.name, self._edited())

    def now(self) -> object:
        """Return what stands there now."""
        return vars(self.owner).get(self.name)

    def _edited(self) -> object:
        there = self.now()
        if isinstance(there, str):
            return self._replaced(there)
        function = _function_of(there)
        if function is None:
            raise NotThere(f"{self.owner} has no function or text {self.name}")
        source = self._replaced(textwrap.dedent(inspect.getsource(function)))
        file = f"<mutant {self.name} of {id(source)}>"
        # So that another edit of the same function finds what this one has made.
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        code = compile(source, file, "exec", _FUTURE, dont_inherit=True)
        made: dict[str, object] = {}
        # The names of the function's module, as they are when it is called.
        exec(code, function.__globals__, made)  # noqa: S102
        return made[function.__name__]

    def _replaced(self, text: str) -> str:
        if text.count(self.old) != 1:
            raise NotThere(f"{self.name} has {text.count(self.old)} times: {self.old}")
        return text.replace(self.old, self.new)


def _function_of(there: object) -> FunctionType | None:
    if isinstance(there, property):
        there = there.fget
    elif isinstance(there, staticmethod | classmethod):
        there = there.__func__
    return there if isinstance(there, FunctionType) else None


@dataclass(frozen=True, slots=True)
class Put:
    """A name of `owner` stands for something else."""

    owner: object
    name: str
    value: object

    def made(self) -> AbstractContextManager[object]:
        """Return a context in which the name stands for the other value."""
        if self.name not in vars(self.owner):
            raise NotThere(f"{self.owner} has no {self.name}")
        return mock.patch.object(self.owner, self.name, self.value)

    def now(self) -> object:
        """Return what stands there now."""
        return vars(self.owner).get(self.name)


@dataclass(frozen=True, slots=True)
class Around:
    """A function of `owner` is what `make` makes of it."""

    owner: object
    name: str
    make: Callable[[Any], Callable[..., Any]]

    def made(self) -> AbstractContextManager[object]:
        """Return a context in which the function is the made one."""
        function = vars(self.owner).get(self.name)
        if function is None:
            raise NotThere(f"{self.owner} has no {self.name}")
        return mock.patch.object(self.owner, self.name, self.make(function))

    def now(self) -> object:
        """Return what stands there now."""
        return vars(self.owner).get(self.name)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a table are others."""

    table: Mapping[Any, Any]
    rows: Mapping[Any, Any]

    def made(self) -> AbstractContextManager[object]:
        """Return a context in which the rows are the other ones."""
        if not self.rows.keys() <= self.table.keys():
            raise NotThere(f"rows that the table does not have: {self.rows.keys()}")
        return cast(
            "AbstractContextManager[object]", mock.patch.dict(cast("Any", self.table), self.rows)
        )

    def now(self) -> object:
        """Return what stands there now."""
        return {row: self.table.get(row) for row in self.rows}


@dataclass(frozen=True, slots=True)
class InSimulation:
    """Simulated campaigns of a scene see it; `seed`: the first one that did when it was written."""

    scene: str
    seed: int = 0


@dataclass(frozen=True, slots=True)
class InTests:
    """Tests of this repository see it: files or node ids. `likely`: part of the names of those that
    did when it was written; they are run first."""

    targets: tuple[str, ...]
    likely: str = ""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault. `broken`: what is wrong, in one sentence. `guarantee`: which promise it breaks."""

    name: str
    guarantee: str
    broken: str
    changes: tuple[Change, ...]
    seen: InSimulation | InTests

    @contextlib.contextmanager
    def planted(self) -> Iterator[None]:
        """Have the fault for the duration. Raises NotThere when the code has moved on."""
        with contextlib.ExitStack() as stack:
            for change in self.changes:
                stack.enter_context(change.made())
            yield
