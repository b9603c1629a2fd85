"""Every setting with its place in the model and its names: key, option, variable."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from symfleet.config.knob import Knob
from symfleet.config.model import Advanced, Limits, Output, Resources, Stop, Target

GROUPS: Final[dict[str, type[Any]]] = {
    "target": Target,
    "limits": Limits,
    "resources": Resources,
    "stop": Stop,
    "output": Output,
    "advanced": Advanced,
}

_UNIT_SUFFIXES: Final = ("_ms", "_s", "_mib", "_kib")


@dataclass(frozen=True, slots=True)
class Setting:
    """A knob with its place in the model and its names."""

    group: str
    name: str
    knob: Knob
    default: object

    @property
    def flag(self) -> str:
        """Long option. The unit goes, because the value may carry its own."""
        name = _FLAGS.get(self.name, self.name)
        for suffix in _UNIT_SUFFIXES:
            name = name.removesuffix(suffix)
        return "--" + name.replace("_", "-")

    @property
    def variable(self) -> str:
        """Environment variable."""
        return "SYMFLEET_" + self.flag[2:].replace("-", "_").upper()

    @property
    def default_text(self) -> str:
        """Default for people, with its unit."""
        match self.default:
            case None:
                return self.knob.derived or "none"
            case bool():
                return "yes" if self.default else "no"
            case () | "":
                return self.knob.derived or "none"
            case float():
                shown = f"{self.default:g}"
            case _:
                shown = str(self.default)
        unit = {"mib": "MiB", "kib": "KiB"}.get(self.knob.unit, self.knob.unit)
        return f"{shown} {unit}".strip()


_FLAGS: Final = {
    "seed_paths": "input",
    "out_dir": "output",
    "wall_ms": "wall_time",
    "cpu_ms": "cpu_time",
    "rss_mib": "memory",
    "output_kib": "output_limit",
    "solver_ms": "solver_time",
    "execution_ms": "execution_time",
    "log_mib": "log_size",
    "progress_s": "progress_period",
    "repeat_s": "repeat_period",
    "rescan_s": "rescan_period",
    "frame_mib": "frame_size",
    "input_mib": "input_size",
    "result_mib": "result_size",
    "turn_mib": "turn_size",
}


def settings() -> Iterator[Setting]:
    """Yield all settings in the order of the reference."""
    for group, model in GROUPS.items():
        for item in dataclasses.fields(model):
            yield Setting(group, item.name, item.metadata["knob"], item.default)
