"""`symfleet config show [OUT]` and `symfleet config explain KEY`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from symfleet.cli import present
from symfleet.cli.arguments import Invocation, Json
from symfleet.cli.campaign import stored_config
from symfleet.config.catalogue import GROUPS, Setting
from symfleet.config.environment import config_file, settings_environment
from symfleet.config.resolve import SETTINGS, Resolved, find_setting, resolve

OptionalOut = Annotated[
    Path | None,
    Parameter(name="OUT", help="A campaign's folder; else what a new one would get."),
]
Key = Annotated[str, Parameter(name="KEY", help="A key, an option or a variable.")]


class SettingShown(msgspec.Struct, frozen=True):
    """One setting as JSON shows it."""

    key: str
    group: str
    value: object
    origin: str


class Explained(msgspec.Struct, frozen=True):
    """Everything about one setting."""

    key: str
    group: str
    option: str | None
    short: str | None
    variable: str | None
    default: str
    allowed: str
    belongs_to_campaign: bool
    text: str


def show(out: OptionalOut = None, /, *, json: Json = False) -> int:
    """Show every setting, its value and where the value comes from."""
    if out is not None:
        resolved = resolve({}, {}, base=stored_config(out))
    else:
        resolved = resolve({}, settings_environment(), config_file())
    shown = list(_settings(resolved))
    present.show(shown, _lines(shown), as_json=json)
    return 0


def _settings(resolved: Resolved) -> Iterator[SettingShown]:
    for name, setting in SETTINGS.items():
        value = getattr(getattr(resolved.config, setting.group), name)
        yield SettingShown(name, setting.group, value, resolved.origins[name])


def _lines(shown: list[SettingShown]) -> Iterator[str]:
    for group in GROUPS:
        yield f"[{group}]"
        for setting in shown:
            if setting.group == group:
                yield f"  {setting.key:<22} {_plain(setting.value):<28} {setting.origin}"


def _plain(value: object) -> str:
    match value:
        case None | () | "":
            return "-"
        case tuple():
            return " ".join(str(word) for word in value)
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)


def explain(key: Key, /, *, json: Json = False) -> int:
    """Explain one setting: what it does, its range, its default, its names."""
    explained = explained_of(find_setting(key))
    present.show(explained, _explain_lines(explained), as_json=json)
    return 0


def explained_of(setting: Setting) -> Explained:
    """Return everything about a setting."""
    knob = setting.knob
    return Explained(
        key=setting.name,
        group=setting.group,
        option=None if knob.hidden else setting.flag,
        short=knob.short or None,
        variable=None if knob.hidden else setting.variable,
        default=setting.default_text,
        allowed=knob.allowed,
        belongs_to_campaign=knob.fixed,
        text=knob.text,
    )


def _explain_lines(explained: Explained) -> Iterator[str]:
    yield f"{explained.key}: {explained.text}"
    names = [name for name in (explained.option, explained.short) if name]
    yield f"  option     {' or '.join(names) if names else 'what stands after --'}"
    yield f"  variable   {explained.variable or '-'}"
    yield f"  TOML       [{explained.group}] {explained.key}"
    yield f"  default    {explained.default}"
    yield f"  allowed    {explained.allowed}"
    if explained.belongs_to_campaign:
        yield "  It belongs to the campaign: a resume changes it with --accept-new-target only."


def register(app: App, _: Invocation) -> None:
    """Add the commands."""
    config = App(name="config", help="Settings: show, explain.")
    config.command(show, name="show")
    config.command(explain, name="explain")
    app.command(config)
