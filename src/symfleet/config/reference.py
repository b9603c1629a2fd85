"""The reference page of all settings: `python -m symfleet.config.reference` prints it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from symfleet.config.catalogue import GROUPS, Setting, settings

_INTRODUCTION: Final = """\
# Settings

<!-- Made by `python -m symfleet.config.reference`; a test checks that it is current. -->

Every setting has one name in the TOML file, one option and one environment variable. An option
beats a variable, a variable beats the file (`--config FILE` or `SYMFLEET_CONFIG`), the file beats
the default. `symfleet config show` tells each value and where it comes from; `symfleet config
explain KEY` tells what stands here.

A bare number is in the setting's own unit; options, variables and texts in TOML may carry another
one: `90s`, `5m`, `2h`, `250ms`, `512M`, `2GiB`. Switches take `--x` and `--no-x`. A value out of
range is refused, never bent. Settings marked ● belong to the campaign, because they change what an
execution yields: `resume` refuses another value without `--accept-new-target`.
"""

_GROUP_TEXTS: Final = {
    "target": "What is explored, and by which engine.",
    "limits": "Limits of one execution. One that meets a limit leaves something untried: it is"
    " counted by limit (`cut_off` in the status), and `--until-quiescent` then ends with 2. With"
    " `--keep all` counted limits keep what is found a function of the input, wall-clock limits do"
    " not.",
    "resources": "How much of which machines is used.",
    "stop": "When a launch ends. A stopped campaign keeps its frontier.",
    "output": "Where everything goes, and what is shown.",
    "advanced": "Knobs of the protocol. The defaults fit; each exists to be measured.",
}


def config_reference() -> str:
    """Return the page in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _INTRODUCTION.rstrip()
    for group in GROUPS:
        yield ""
        yield f"## [{group}]"
        yield ""
        yield _GROUP_TEXTS[group]
        yield ""
        yield "| key | option | default | allowed | |"
        yield "|---|---|---|---|---|"
        for setting in settings():
            if setting.group == group:
                yield _row(setting)
    yield ""
    yield "The variable of `--some-option` is `SYMFLEET_SOME_OPTION`."


def _row(setting: Setting) -> str:
    knob = setting.knob
    options = [] if knob.hidden else [setting.flag, *([knob.short] if knob.short else [])]
    shown = ", ".join(f"`{option}`" for option in options) or "after `--`"
    mark = " ●" if knob.fixed else ""
    cells = [f"`{setting.name}`{mark}", shown, setting.default_text, knob.allowed, knob.text]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    sys.stdout.write(config_reference())
