"""The only place that reads the environment of the process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_PREFIX: Final = "SYMFLEET_"
GUARD_VARIABLE: Final = "SYMFLEET_HOST_GUARD"
"""Set by the guard of a host for the ranks there: its process id and the job's folder."""


def settings_environment() -> dict[str, str]:
    """Return all SYMFLEET_* variables."""
    return {name: value for name, value in os.environ.items() if name.startswith(_PREFIX)}


def inherited_environment() -> dict[str, str]:
    """Return a copy of everything, for the environment of a child process."""
    return dict(os.environ)


def crash_spec() -> str:
    """Return the armed crash points (`label:occurrence:action`), empty when none."""
    return os.environ.get(_PREFIX + "CRASH", "")


def config_file() -> Path | None:
    """Return the configuration file that SYMFLEET_CONFIG names."""
    name = os.environ.get(_PREFIX + "CONFIG", "")
    return Path(name) if name else None


def mpi_world_size() -> int | None:
    """Return how many ranks this process was started among, None outside mpirun and srun."""
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE"):
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    if "PMIX_RANK" in os.environ and os.environ.get("SLURM_NTASKS", "").isdigit():
        return int(os.environ["SLURM_NTASKS"])
    return None


def has_pmix() -> bool:
    """Return whether whoever started this process speaks PMIx, as Open MPI's mpirun does."""
    return "PMIX_RANK" in os.environ or "OMPI_COMM_WORLD_SIZE" in os.environ


def mpi_rank() -> int | None:
    """Return the rank that the MPI launcher gave to this process, None outside one."""
    for name in ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"):
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return None


def host_guard() -> tuple[int, Path] | None:
    """Return the process id of this host's guard and the job's folder here; None on the root's
    host and in joined mode, where nobody guards."""
    pid, _, folder = os.environ.get(GUARD_VARIABLE, "").partition(":")
    return (int(pid), Path(folder)) if pid.isdigit() and folder else None


def keep_mpi_files(folder: Path) -> None:
    """Have MPI, once it starts in this process, put its shared memory into `folder`: the setting
    that came with the job names a folder of the root's host."""
    os.environ["OMPI_MCA_btl_sm_backing_directory"] = str(folder)  # noqa: SIM112 - MPI's own


def native_folder() -> Path:
    """Return the folder with the pass, the runtime and the executor (`lib`, `bin`)."""
    named = os.environ.get(_PREFIX + "NATIVE_DIR", "")
    return Path(named) if named else Path(__file__).resolve().parent.parent / "native"


def executor_path() -> Path:
    """Return where the executor is, whether or not it is there."""
    return native_folder() / "bin" / "symfleet-exec"


def wants_colour() -> bool:
    """Return False when NO_COLOR or a dumb terminal asks for plain text."""
    return "NO_COLOR" not in os.environ and os.environ.get("TERM", "") != "dumb"
