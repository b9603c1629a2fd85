"""Drives a whole campaign from outside, as a person or a power cut would.

A `Job` starts the launcher as a process, finds the processes below it by the process tree, ends any
of them, and tells whether anything was left. It signals only descendants of launchers that it has
started itself.
"""

from __future__ import annotations

import contextlib
import enum
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from symfleet.config.environment import inherited_environment
from symfleet.config.model import CampaignConfig
from symfleet.engine import processes

_POLL_S: Final = 0.02


class Role(enum.StrEnum):
    """What a process of a job is."""

    LAUNCHER = "launcher"
    MPIRUN = "mpirun"
    ROOT = "root"
    COORDINATOR = "coordinator"
    """One that is not the root."""
    WORKER = "worker"
    EXECUTOR = "executor"
    TARGET = "target"


@dataclass(frozen=True, slots=True)
class Member:
    """A live process of a job. `started` tells a recycled process id from the one that was seen."""

    pid: int
    role: Role
    started: int

    @property
    def is_stopped(self) -> bool:
        """Whether it stands still (SIGSTOP)."""
        status = status_of(self.pid)
        return status is not None and status[1] == self.started and status[2] == "T"


class DeadlineMissed(AssertionError):
    """Something that had to happen did not."""


def until(what: str, condition: Callable[[], bool], within_s: float) -> None:
    """Wait for a condition; raise DeadlineMissed when it does not come true in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() >= deadline:
            raise DeadlineMissed(f"{what}: not within {within_s:g} s")
        time.sleep(_POLL_S)


def status_of(pid: int) -> tuple[int, int, str] | None:
    """Return (parent, start time in ticks, state) of a process; None when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[1]), int(fields[19]), fields[0]


def _words(pid: int) -> list[str]:
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return [word.decode("utf-8", "replace") for word in raw.split(b"\0")[:-1]]


def _rank_of(pid: int) -> int | None:
    """Return a process's MPI rank; None when it is gone."""
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    named = dict(pair.partition(b"=")[::2] for pair in environ.split(b"\0"))
    rank = named.get(b"OMPI_COMM_WORLD_RANK", b"")
    return int(rank) if rank.isdigit() else None


def descendants(pid: int) -> Iterator[int]:
    """Yield all live descendants of a process, parents first."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            status = status_of(int(entry.name))
            if status is not None and status[2] != "Z":
                children.setdefault(status[0], []).append(int(entry.name))
    queue = list(children.get(pid, []))
    while queue:
        found = queue.pop(0)
        yield found
        queue += children.get(found, [])


class Job:
    """One campaign folder and the launches that are made on it."""

    def __init__(
        self,
        config: CampaignConfig,
        scratch: Path,
        *,
        launcher: Sequence[str] = (sys.executable, "-m", "symfleet.testing.launch"),
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`scratch`: folder for the configuration file and the launcher's output."""
        self.config = config
        self.out = Path(config.output.out_dir)
        self._scratch = scratch
        self._command = tuple(launcher)
        self._env = {**inherited_environment(), **(env or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self._seen: dict[int, Member] = {}

    # ---- launching ---------------------------------------------------------------------------

    def start(self, *, env: Mapping[str, str] | None = None, terminal: int | None = None) -> None:
        """Start a launcher; with `terminal` (the slave side of a pty) it has that one."""
        assert self._process is None or self._process.returncode is not None
        path = self._scratch / "config.json"
        path.write_bytes(msgspec.json.encode(self.config))
        with self.story.open("ab") as story:
            self._process = processes.start_child(
                (*self._command, str(path)),
                stdin=subprocess.DEVNULL if terminal is None else terminal,
                stdout=story if terminal is None else terminal,
                stderr=story if terminal is None else terminal,
                env={**self._env, **(env or {})},
                controlling_terminal=terminal is not None,
            )

    @property
    def story(self) -> Path:
        """What the launchers have printed."""
        return self._scratch / "launcher.log"

    @property
    def pid(self) -> int:
        """Process id of the running launcher."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the launcher has not ended yet."""
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int:
        """Return code of the launcher, which has ended."""
        assert self._process is not None
        assert self._process.returncode is not None
        return self._process.returncode

    def wait(self, within_s: float = 60.0) -> int:
        """Wait for the launcher's end and for that of all that was below it; return its code."""
        assert self._process is not None
        process = self._process
        until("the launcher ends", lambda: process.poll() is not None, within_s)
        self.assert_nothing_left()
        return process.returncode

    def run(self, within_s: float = 60.0, *, env: Mapping[str, str] | None = None) -> int:
        """Start, and wait for the end."""
        self.start(env=env)
        return self.wait(within_s)

    def end(self) -> None:
        """Kill what runs, for the end of a test that failed."""
        if self._process is None:
            return
        self.members()
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for member in self._seen.values():
            self._signal(member, signal.SIGKILL)

    # ---- looking -----------------------------------------------------------------------------

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles that this job has."""
        many = self.config.resources.coordinator_count > 1
        return tuple(role for role in Role if many or role is not Role.COORDINATOR)

    def members(self) -> list[Member]:
        """Return the live processes of the job, the launcher first."""
        if not self.is_running:
            return []
        found = [self._member(self.pid, Role.LAUNCHER)]
        roles = {self.pid: Role.LAUNCHER}
        for pid in descendants(self.pid):
            status = status_of(pid)
            if status is None:
                continue
            role = self._role(pid, roles.get(status[0]))
            if role is not None:
                roles[pid] = role
                found.append(self._member(pid, role))
        live = [member for member in found if member is not None]
        self._seen.update((member.pid, member) for member in live)
        return live

    def find(self, role: Role) -> list[Member]:
        """Return the live members of a role."""
        return [member for member in self.members() if member.role is role]

    @staticmethod
    def _member(pid: int, role: Role) -> Member | None:
        status = status_of(pid)
        return None if status is None else Member(pid, role, status[1])

    def _role(self, pid: int, parent: Role | None) -> Role | None:
        words = _words(pid)
        match parent:
            # Open MPI's mpirun becomes prterun by exec.
            case Role.LAUNCHER if words and Path(words[0]).name in ("mpirun", "prterun"):
                return Role.MPIRUN
            case Role.MPIRUN if "symfleet.runtime.rank" in words:
                return self._role_of_rank(_rank_of(pid))
            case Role.WORKER:
                return Role.EXECUTOR
            case Role.EXECUTOR | Role.TARGET:
                return Role.TARGET
            case _:
                return None

    def _role_of_rank(self, rank: int | None) -> Role:
        """Return a rank's role on a single host, where coordinators have the lowest ranks."""
        if rank == 0:
            return Role.ROOT
        count = self.config.resources.coordinator_count
        return Role.COORDINATOR if rank is not None and rank < count else Role.WORKER

    def assert_nothing_left(self, within_s: float = 10.0) -> None:
        """Raise when a process that was seen below a launcher still lives."""
        until("all processes of the job end", lambda: not self._living(), within_s)

    def assert_nothing_left_of_others(self, within_s: float = 10.0) -> None:
        """Raise when a process that was seen below an older launcher of this job still lives."""
        current = self.pid
        until(
            "all processes of the older launcher end",
            lambda: not [m for m in self._living() if m.pid != current],
            within_s,
        )

    def _living(self) -> list[Member]:
        living = []
        for member in self._seen.values():
            status = status_of(member.pid)
            if status is not None and status[1] == member.started and status[2] != "Z":
                living.append(member)
        return living

    # ---- disturbing --------------------------------------------------------------------------

    def kill(self, member: Member, signum: int = signal.SIGKILL) -> bool:
        """Signal one member; return whether it was still there."""
        assert member.pid in self._seen, "only processes that were seen below our launcher"
        sent = self._signal(member, signum)
        if sent and member.role is Role.LAUNCHER and signum == signal.SIGKILL:
            assert self._process is not None
            self._process.wait()
        return sent

    @staticmethod
    def _signal(member: Member, signum: int) -> bool:
        status = status_of(member.pid)
        if status is None or status[1] != member.started or status[2] == "Z":
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(member.pid, signum)
            return True
        return False
