"""How a fault is planted into the real machines, and taken out again.

A mutant is a few changes, made only inside `planted()`: a text of a function's (or an SQL
statement's) source says something else, a name stands for something else, entries of a table are
others. The source is the one that runs, so that a mutant is as small as the slip that it stands
for, and one whose text is not there any more says so instead of changing nothing.
"""

from __future__ import annotations
import __future__

import contextlib
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any, Final, Protocol, cast
from unittest import mock

_FUTURE: Final = __future__.annotations.compiler_flag
_SOURCE: Final = "mutant_source"


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

    def __post_init__(self) -> None:
        function = _function_of(self.now())
        if function is not None:
            _lines_of(function.__code__.co_filename)

    def _edited(self) -> object:
        there = self.now()
        if isinstance(there, str):
            return self._replaced(there)
        function = _function_of(there)
        if function is None:
            raise NotThere(f"{self.owner} has no function or text {self.name}")
        source = self._replaced(_source_of(function))
        code = compile(source, f"<mutant of {self.name}>", "exec", _FUTURE, dont_inherit=True)
        made: dict[str, object] = {}
        # The names of the function's module, as they are when it is called.
        exec(code, function.__globals__, made)  # noqa: S102
        edited = made[function.__name__]
        again = _function_of(edited)
        assert again is not None
        again.__dict__[_SOURCE] = source
        return edited

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


@functools.cache
def _lines_of(file: str) -> Sequence[str]:
    """Return the lines of a file as they were when its first mutant was made: somebody may edit it
    while tests run."""
    return Path(file).read_text(encoding="utf-8").splitlines(keepends=True)


def _source_of(function: FunctionType) -> str:
    """Return the source of a function, also of an edited one."""
    made = function.__dict__.get(_SOURCE)
    if made is not None:
        return str(made)
    code = function.__code__
    block = inspect.getblock(_lines_of(code.co_filename)[code.co_firstlineno - 1 :])
    return textwrap.dedent("".join(block))


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
