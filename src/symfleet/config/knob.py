"""What a setting is: kind, unit, default, range, one sentence; and how text becomes its value.

The same `Knob` validates constructors, reads flags, environment and TOML, and prints the reference,
so that none of them can disagree.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from symfleet.errors import UserError


class Kind(enum.Enum):
    """Shape of a setting's value."""

    COUNT = "integer"
    NUMBER = "number"
    SWITCH = "yes or no"
    CHOICE = "one of a list"
    TEXT = "text"
    WORDS = "list of texts"
    COMMAND = "command line"


_SCALES: Final[dict[str, dict[str, float]]] = {
    "s": {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400},
    "ms": {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000},
    "kib": {"k": 1, "kib": 1, "m": 1024, "mib": 1024, "g": 1024**2, "gib": 1024**2},
    "mib": {"m": 1, "mib": 1, "g": 1024, "gib": 1024},
}
_QUANTITY: Final = re.compile(r"\s*([+-]?[0-9][0-9_]*(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*")
_YES: Final = frozenset({"1", "true", "yes", "on"})
_NO: Final = frozenset({"0", "false", "no", "off"})

Value = int | float | bool | str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting. `low` and `high` are inclusive. `optional` allows None: "not set", "derived".

    `fixed` ones belong to the campaign: a resume cannot change them without saying so.
    """

    kind: Kind
    text: str
    low: float = 0
    high: float = 0
    unit: str = ""
    choices: tuple[str, ...] = ()
    optional: bool = False
    derived: str = ""
    """What None means, for people."""
    short: str = ""
    basic: bool = False
    """Shown by `-h`; all are shown by `--help-all`."""
    fixed: bool = False
    hidden: bool = False
    """Has no flag of its own."""
    is_path: bool = False
    """Names a file or folder."""

    @property
    def allowed(self) -> str:
        """Describe the allowed range in words."""
        match self.kind:
            case Kind.COUNT | Kind.NUMBER:
                unit = f" {_UNIT_NAMES.get(self.unit, self.unit)}" if self.unit else ""
                noun = "an integer" if self.kind is Kind.COUNT else "a number"
                return f"{noun} from {_plain(self.low)} to {_plain(self.high)}{unit}"
            case Kind.SWITCH:
                return "true or false"
            case Kind.CHOICE:
                return "one of " + ", ".join(self.choices)
            case Kind.TEXT:
                return "UTF-8 text without zero bytes"
            case Kind.WORDS | Kind.COMMAND:
                return "a list of UTF-8 texts without zero bytes"


_UNIT_NAMES: Final = {"s": "s", "ms": "ms", "mib": "MiB", "kib": "KiB", "b": "bytes"}


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


# The fields of the model are declared with these. They return Any because `dataclasses.field` is
# typed as the field's own value.


def count(
    default: int | None, low: int, high: int, text: str, *, unit: str = "", **more: Any
) -> Any:
    """Declare an integer setting."""
    knob = Knob(Kind.COUNT, text, low, high, unit, optional=default is None, **more)
    return dataclasses.field(default=default, metadata={"knob": knob})


def number(
    default: float | None, low: float, high: float, text: str, *, unit: str = "", **more: Any
) -> Any:
    """Declare a finite number."""
    knob = Knob(Kind.NUMBER, text, low, high, unit, optional=default is None, **more)
    return dataclasses.field(default=default, metadata={"knob": knob})


def switch(text: str, *, default: bool = False, **more: Any) -> Any:
    """Declare a yes-or-no setting."""
    return dataclasses.field(default=default, metadata={"knob": Knob(Kind.SWITCH, text, **more)})


def choice(default: str, choices: Sequence[str], text: str, **more: Any) -> Any:
    """Declare a setting with a closed list of values."""
    knob = Knob(Kind.CHOICE, text, choices=tuple(choices), **more)
    return dataclasses.field(default=default, metadata={"knob": knob})


def text(default: str, text: str, **more: Any) -> Any:
    """Declare a text setting."""
    return dataclasses.field(default=default, metadata={"knob": Knob(Kind.TEXT, text, **more)})


def words(text: str, *, kind: Kind = Kind.WORDS, **more: Any) -> Any:
    """Declare a list of texts, empty by default."""
    return dataclasses.field(default=(), metadata={"knob": Knob(kind, text, **more)})


def refusal(name: str, value: object, knob: Knob, where: str = "") -> UserError:
    """Make the error for a value outside the allowed range; `where` it was said, if known."""
    return UserError(
        f"{name} cannot be {_shown(value)}",
        where=where or name,
        why=f"it must be {knob.allowed}",
        hint=f"`symfleet config explain {name}` tells what it does and its default",
    )


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _is_clean(value: object) -> bool:
    # Undecodable bytes of a command line arrive as lone surrogates, which no TOML file can hold.
    return isinstance(value, str) and not any(
        mark == "\0" or "\ud800" <= mark <= "\udfff" for mark in value
    )


def check_value(name: str, value: object, knob: Knob, where: str = "") -> None:
    """Raise UserError unless `value` is allowed. Booleans are no numbers, and infinity is none."""
    if value is None and knob.optional:
        return
    match knob.kind:
        case Kind.COUNT:
            good = isinstance(value, int) and not isinstance(value, bool)
            good = good and knob.low <= value <= knob.high  # type: ignore[operator]
        case Kind.NUMBER:
            good = isinstance(value, int | float) and not isinstance(value, bool)
            good = good and math.isfinite(value)  # type: ignore[arg-type]
            good = good and knob.low <= value <= knob.high  # type: ignore[operator]
        case Kind.SWITCH:
            good = isinstance(value, bool)
        case Kind.CHOICE:
            good = isinstance(value, str) and value in knob.choices
        case Kind.TEXT:
            good = _is_clean(value)
        case Kind.WORDS | Kind.COMMAND:
            good = isinstance(value, tuple) and all(_is_clean(word) for word in value)
    if not good:
        raise refusal(name, value, knob, where)


def read_value(name: str, raw: object, knob: Knob, where: str = "") -> Value:
    """Make a checked value of what a flag, the environment or a TOML file (`where`) holds.

    Texts may carry a unit ("90s", "5m", "2GiB"); a bare number is in the setting's own unit.
    """
    value = _read_text(name, raw, knob, where) if isinstance(raw, str) else raw
    if knob.kind in {Kind.WORDS, Kind.COMMAND} and isinstance(value, list):
        value = tuple(value)
    if knob.kind is Kind.NUMBER and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    check_value(name, value, knob, where)
    return value  # type: ignore[return-value]


def _read_text(name: str, raw: str, knob: Knob, where: str) -> Value:
    match knob.kind:
        case Kind.COUNT | Kind.NUMBER:
            if knob.optional and raw.strip().lower() in {"none", "auto"}:
                return None
            return _read_quantity(name, raw, knob, where)
        case Kind.SWITCH:
            lowered = raw.strip().lower()
            if lowered in _YES | _NO:
                return lowered in _YES
            raise refusal(name, raw, knob, where)
        case Kind.CHOICE | Kind.TEXT:
            return raw
        case Kind.WORDS:
            return tuple(word for word in raw.split(":") if word)
        case Kind.COMMAND:
            try:
                return tuple(shlex.split(raw))
            except ValueError as error:
                raise UserError(
                    f"{name} is not a command line",
                    where=where or name,
                    why=str(error),
                    hint="quote it as for a shell",
                ) from error


def _read_quantity(name: str, raw: str, knob: Knob, where: str) -> int | float:
    match = _QUANTITY.fullmatch(raw)
    scales = _SCALES.get(knob.unit, {})
    if match is None or (match[2] and match[2].lower() not in scales):
        raise refusal(name, raw, knob, where)
    scale = scales[match[2].lower()] if match[2] else 1
    amount = float(match[1].replace("_", "")) if "." in match[1] else int(match[1])
    scaled = amount * scale
    if knob.kind is Kind.COUNT:
        if scaled != int(scaled):
            raise refusal(name, raw, knob, where)
        return int(scaled)
    return float(scaled)


class Checked:
    """A group of settings: validates every field against its knob."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            check_value(item.name, getattr(self, item.name), item.metadata["knob"])
