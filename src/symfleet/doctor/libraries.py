"""Which shared libraries a program is loaded with, and which of them are the user's own."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

_LOADER_TIMEOUT_S: Final = 10.0
_LIBRARIES_MAX: Final = 256
_LIBRARY_LINE: Final = re.compile(rb"(?:=>\s*|^\s*)(/\S.*?)\s+\(0x", re.MULTILINE)
_SYSTEM: Final = tuple(Path(root) for root in ("/lib", "/lib64", "/usr/lib", "/usr/lib64"))


def shared_libraries(program: Path, interpreter: str) -> tuple[Path, ...]:
    """Return the files that the dynamic loader would take; none where it cannot tell."""
    try:
        done = subprocess.run(
            [interpreter, "--list", os.fspath(program)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LOADER_TIMEOUT_S,
            start_new_session=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    names = _LIBRARY_LINE.findall(done.stdout)[:_LIBRARIES_MAX]
    return tuple(path for name in names if (path := Path(os.fsdecode(name))).is_file())


def is_of_the_system(library: Path) -> bool:
    """Tell whether a library came with the system, rather than with the program."""
    return any(root in library.parents for root in _SYSTEM)
