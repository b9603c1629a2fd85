"""Arguments that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

OutFolder = Annotated[Path, Parameter(name="OUT", help="The campaign's folder.")]

Json = Annotated[
    bool, Parameter(name="--json", negative=(), show_default=False, help="Print JSON.")
]


@dataclass(frozen=True, slots=True)
class Invocation:
    """What a command line asks for beside its verb. `everything`: help shows all options. `target`:
    what stands after `--`, None when there is no `--`."""

    everything: bool
    target: tuple[str, ...] | None
