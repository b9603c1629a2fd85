"""The compiler wrapper as a process, for the tests of this folder."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Callable

SOURCES = pathlib.Path(__file__).parent
WRAPPER = (
    "import sys; from symfleet.compiler.main import main; sys.exit(main(sys.argv[2:], sys.argv[1]))"
)
COMPILE_TIMEOUT_S = 120

Compile = Callable[..., pathlib.Path]


def symfleet_cc(
    arguments: list[str], language: str = "c", **extra: str
) -> subprocess.CompletedProcess[str]:
    """Run the compiler wrapper as a process of its own, as a build does."""
    return subprocess.run(
        [sys.executable, "-c", WRAPPER, language, *arguments],
        capture_output=True,
        text=True,
        timeout=COMPILE_TIMEOUT_S,
        env={**os.environ, **extra},
        check=False,
    )
