"""Start the process that has the shim inside, and read what its cases came to."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from symfleet.testing.io_faults.cases import Report
from symfleet.testing.io_faults.faults import FAULTS, build

_MODULE: Final = "symfleet.testing.io_faults.loop"
_ALL: Final = tuple(fault.name for fault in FAULTS)
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a new folder is made in it


def examine(
    names: Sequence[str],
    scratch: Path,
    *,
    stride: int = 1,
    seed: int = 1,
    faults: Sequence[str] = _ALL,
    plant: str | None = None,
    timeout_s: float = 170.0,
) -> Report:
    """Let every `stride`-th call of some programs fail. The shim is built in `scratch`.

    Raises HostError without a C compiler, CalledProcessError when the loop itself breaks."""
    scratch.mkdir(parents=True, exist_ok=True)
    library = build(scratch)
    parent = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="symfleet-io-faults-", dir=parent) as folder:
        command = [sys.executable, "-m", _MODULE, folder, *names, "--stride", str(stride)]
        command += ["--seed", str(seed), "--faults", *faults]
        command += ["--plant", plant] if plant else []
        ended = subprocess.run(
            command,
            env={**os.environ, "LD_PRELOAD": str(library)},
            stdout=subprocess.PIPE,
            timeout=timeout_s,
            check=True,
        )
    return msgspec.json.decode(ended.stdout, type=Report)
