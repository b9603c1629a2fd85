"""Put a configuration together: flag over environment over TOML over default.

Where each value came from is remembered, so that `config show` and errors can say it.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from symfleet.config.catalogue import GROUPS, Setting, settings
from symfleet.config.knob import Value, read_value
from symfleet.config.model import CampaignConfig
from symfleet.errors import DataError, UserError

_STORED: Final = "the campaign's stored configuration"

SETTINGS: Final[dict[str, Setting]] = {setting.name: setting for setting in settings()}


@dataclass(frozen=True, slots=True)
class Resolved:
    """A configuration and the origin of each setting: `default`, or the flag, variable or file."""

    config: CampaignConfig
    origins: dict[str, str]


def nearest(word: str, names: Iterable[str]) -> str | None:
    """Return the name that `word` was probably meant to be."""
    close = difflib.get_close_matches(word, sorted(names), n=1, cutoff=0.6)
    return close[0] if close else None


def find_setting(word: str) -> Setting:
    """Return the setting of this key, flag or variable; raise UserError with the nearest name."""
    by_name = {**SETTINGS}
    for setting in SETTINGS.values():
        by_name |= {setting.flag: setting, setting.flag[2:]: setting, setting.variable: setting}
        by_name[f"{setting.group}.{setting.name}"] = setting
        if setting.knob.short:
            by_name[setting.knob.short] = setting
    if word in by_name:
        return by_name[word]
    close = nearest(word, by_name)
    raise UserError(
        f"there is no setting {word}",
        where=word,
        why="no key, option or variable has this name",
        hint=f"did you mean {close}?" if close else "`symfleet config show` lists all",
    )


def resolve(
    flags: Mapping[str, object],
    environment: Mapping[str, str],
    file: Path | None = None,
    base: CampaignConfig | None = None,
) -> Resolved:
    """Merge by precedence. `flags` are keyed by setting name, raw or ready; `base` (the stored
    configuration of a campaign) stands below everything that is said now.

    Raises UserError for a bad or misspelt value, DataError for a file that cannot be read.
    """
    values: dict[str, Value] = {}
    origins = dict.fromkeys(SETTINGS, "default")
    if base is not None:
        for name, setting in SETTINGS.items():
            value = getattr(getattr(base, setting.group), name)
            if value != setting.default:
                values[name], origins[name] = value, "campaign"
    if file is not None:
        for name, raw in _flatten(read_toml(file), str(file)).items():
            values[name] = read_value(name, raw, SETTINGS[name].knob, str(file))
            origins[name] = str(file)
    by_variable = {
        setting.variable: setting for setting in SETTINGS.values() if not setting.knob.hidden
    }
    for variable, raw_text in environment.items():
        setting_or_none = by_variable.get(variable)
        if setting_or_none is None:
            _refuse_misspelt_variable(variable, by_variable)
            continue
        name = setting_or_none.name
        values[name] = read_value(name, raw_text, setting_or_none.knob, variable)
        origins[name] = variable
    for name, raw in flags.items():
        setting = SETTINGS[name]
        origin = "command line" if setting.knob.hidden else setting.flag
        values[name] = read_value(name, raw, setting.knob, origin)
        origins[name] = origin
    _refuse_empty(values, origins, file)
    _refuse_idle(values, origins)
    _choose_hosts(values, origins)
    return Resolved(_build(values), origins)


_NEVER_EMPTY: Final = ("hosts", "hostfile", "ledger")
"""Settings that nobody gives in order to say nothing: an empty one is a variable of a script that
was not set, and the campaign would silently run elsewhere than was meant."""


def _refuse_empty(
    values: Mapping[str, Value], origins: Mapping[str, str], file: Path | None
) -> None:
    """Raise UserError for an empty text of an option or a variable; in a TOML file, which may be a
    projection of all settings, it stands for the default."""
    for name in _NEVER_EMPTY:
        if origins[name] in {"default", "campaign", str(file)} or values[name] != "":
            continue
        setting = SETTINGS[name]
        raise UserError(
            f"{setting.flag} is empty",
            where=origins[name],
            why="a variable of a script that is not set looks so",
            hint=f"say which, or leave it away: {setting.default_text}",
        )


def _refuse_idle(values: Mapping[str, Value], origins: Mapping[str, str]) -> None:
    """Raise UserError for an option that would not be used, where that misleads. What stands in
    variables and files may be meant for other launches."""
    flag = SETTINGS["engine_command"].flag
    engine = values.get("engine", SETTINGS["engine"].default)
    if origins["engine_command"] == flag and values["engine_command"] and engine != "command":
        raise UserError(
            "the engine's command would not be used",
            where=flag,
            why=f"the engine is {engine}",
            hint="add --engine command, or leave --engine-command away",
        )


def _choose_hosts(values: dict[str, Value], origins: dict[str, str]) -> None:
    """What is said now about hosts replaces what the campaign remembers, in whichever form."""
    said = [
        name
        for name in ("hosts", "hostfile")
        if origins[name] not in ("default", "campaign") and values[name]
    ]
    if len(said) > 1:
        raise UserError(
            "hosts are named twice",
            where=", ".join(f"{name} by {origins[name]}" for name in said),
            why="both say which hosts there are",
            hint="leave one of --hosts and --hostfile away",
        )
    if said:
        other = "hostfile" if said == ["hosts"] else "hosts"
        values.pop(other, None)
        origins[other] = "default"


def _build(values: Mapping[str, Value]) -> CampaignConfig:
    groups: dict[str, Any] = {}
    for group, model in GROUPS.items():
        own = {name: value for name, value in values.items() if SETTINGS[name].group == group}
        groups[group] = model(**own)
    return CampaignConfig(**groups)


def _refuse_misspelt_variable(variable: str, known: Mapping[str, Setting]) -> None:
    # Other programs of ours (compiler, runtime) have variables of their own: only what is nearly a
    # setting is taken for a misspelt one.
    close = difflib.get_close_matches(variable, known, n=1, cutoff=0.9)
    if variable.startswith("SYMFLEET_") and close:
        raise UserError(
            f"there is no setting {variable}",
            where="environment",
            why="no setting has this name",
            hint=f"did you mean {close[0]}?",
        )


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; raise DataError when that is impossible."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(
            "a configuration file cannot be read",
            where=str(path),
            why=str(error),
            hint="mend the file or leave --config away",
        ) from error


def _flatten(tables: Mapping[str, Any], where: str) -> dict[str, object]:
    flat: dict[str, object] = {}
    for group, table in tables.items():
        if group not in GROUPS:
            raise _unknown_key(group, [*GROUPS], where)
        if not isinstance(table, dict):
            raise UserError(
                f"{group} is not a table",
                where=where,
                why="settings stand in tables, each of which is written once",
                hint=f"write [{group}] on a line of its own and the settings below it",
            )
        names = [name for name, setting in SETTINGS.items() if setting.group == group]
        for name, raw in table.items():
            if name not in names:
                raise _unknown_key(name, names, f"{where}, [{group}]")
            flat[name] = raw
    return flat


def _unknown_key(word: str, names: Iterable[str], where: str) -> UserError:
    names = list(names)
    close = nearest(word, names)
    return UserError(
        f"there is no setting {word}",
        where=where,
        why="the tables and keys are those of `symfleet config show`",
        hint=f"did you mean {close}?" if close else "known here: " + ", ".join(names),
    )


def parse_toml(source: str) -> CampaignConfig:
    """Read back what `render_toml` wrote; raise DataError or UserError when it is not that."""
    try:
        tables = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise DataError(
            "a stored configuration cannot be read",
            where=_STORED,
            why=str(error),
            hint="use the symfleet that wrote the campaign",
        ) from error
    flat = _flatten(tables, _STORED)
    return _build({name: read_value(name, raw, SETTINGS[name].knob) for name, raw in flat.items()})
