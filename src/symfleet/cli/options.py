"""Options of a command, made from the settings: one flag for each, grouped as in the reference.

Values stay text here: `symfleet.config` reads them, so that a flag, a variable and a TOML key obey
the same rules and give the same errors.
"""

# Annotations are read at run time, so they must be objects: no `from __future__` here.

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Any, Final, assert_never

from cyclopts import Group, Parameter

from symfleet.config.catalogue import GROUPS, Setting, settings
from symfleet.config.knob import Kind, Knob

_ORDER: Final = {group: place for place, group in enumerate(GROUPS)}


def options_type(*, everything: bool, leave_out: Sequence[str] = ()) -> type[Any]:
    """Make the dataclass of all flags. `everything`: help shows all, not only the basic ones."""
    fields = []
    for setting in settings():
        if setting.knob.hidden or setting.name in leave_out:
            continue
        annotation: Any = Annotated[_kind(setting), _parameter(setting, everything=everything)]
        fields.append((setting.name, annotation, dataclasses.field(default=None)))
    made = dataclasses.make_dataclass("Options", fields, frozen=True, kw_only=True)
    # Cyclopts looks annotations up in the module; `make_dataclass` says `types`.
    made.__module__ = __name__
    return made


def _kind(setting: Setting) -> Any:
    kinds: dict[Kind, Any] = {Kind.SWITCH: bool | None, Kind.WORDS: list[str] | None}
    return kinds.get(setting.knob.kind, str | None)


def _parameter(setting: Setting, *, everything: bool) -> Parameter:
    knob = setting.knob
    names = [setting.flag, knob.short] if knob.short else [setting.flag]
    return Parameter(
        name=names,
        help=_help(setting),
        metavar=_metavar(knob),
        group=Group(setting.group.capitalize(), sort_key=_ORDER[setting.group]),
        show=everything or knob.basic,
        show_default=False,
        negative=(),
        consume_multiple=False,
        allow_leading_hyphen=knob.kind is Kind.COMMAND,
    )


def _metavar(knob: Knob) -> str | None:
    match knob.kind:
        case Kind.COUNT | Kind.NUMBER:
            return {"s": "TIME", "ms": "TIME", "kib": "SIZE", "mib": "SIZE"}.get(knob.unit, "N")
        case Kind.CHOICE:
            return "WORD"
        case Kind.TEXT:
            return "PATH" if knob.is_path else "TEXT"
        case Kind.WORDS:
            return "PATH" if knob.is_path else "WORD"
        case Kind.COMMAND:
            return "COMMAND"
        case Kind.SWITCH:
            return None
        case _:
            assert_never(knob.kind)


def _help(setting: Setting) -> str:
    knob = setting.knob
    notes = []
    if knob.kind is Kind.CHOICE:
        notes.append("|".join(knob.choices))
    if knob.kind in {Kind.COUNT, Kind.NUMBER, Kind.CHOICE}:
        notes.append(f"default: {setting.default_text}")
    return f"{knob.text} [{'; '.join(notes)}]" if notes else knob.text


def given(options: Any) -> dict[str, object]:
    """Return the flags that were given, by setting name."""
    values = {item.name: getattr(options, item.name) for item in dataclasses.fields(options)}
    return {name: value for name, value in values.items() if value is not None}


SWITCHES: Final = frozenset(
    setting.flag for setting in settings() if setting.knob.kind is Kind.SWITCH
)


def plain_switches(tokens: Sequence[str]) -> list[str]:
    """Turn `--no-x` into `--x=false` for every switch."""
    return [
        f"--{token[5:]}=false"
        if token.startswith("--no-") and f"--{token[5:]}" in SWITCHES
        else token
        for token in tokens
    ]
