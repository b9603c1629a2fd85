"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

OutFolder = Annotated[Path, Parameter(name="OUT", help="The campaign's folder.")]

Json = Annotated[
    bool, Parameter(name="--json", negative=(), show_default=False, help="Print JSON.")
]
