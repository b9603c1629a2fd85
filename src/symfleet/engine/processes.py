"""Child processes that cannot outlive us, and only they.

What is promised:

* a child is the leader of a session of its own, so that its whole group can be ended at once;
* it is told to die when the thread that started it ends (PR_SET_PDEATHSIG). Start children from
  the main thread only: a short-lived thread would take its children along;
* a group is signalled only while its leader is our unreaped child, which pins the process id: a
  recycled id is never hit;
* with `become_subreaper`, whatever a dead child leaves behind becomes our own child, and
  `end_adopted` ends it. Its parent being this process is the proof that it is ours.

`preexec_fn` was chosen over a wrapper program: a wrapper costs an exec of 1-2 ms a start, and the
code between fork and exec makes two system calls and allocates nothing that matters.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import subprocess
import termios
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Final

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_READ_BYTES: Final = 1 << 16
_libc: Final = ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent thread ends.

    `parent` is the process id of the expected parent; when it is gone already, the process ends
    here (the signal would never come)."""
    _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def parent_of(pid: int) -> int:
    """Return the parent of a live process, 0 when it is gone."""
    try:
        return int(_contents(f"/proc/{pid}/stat").rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def ancestors_of(pid: int) -> Iterator[int]:
    """Yield the parents of a live process, nearest first, down to the first process."""
    while (pid := parent_of(pid)) > 0:
        yield pid


def become_subreaper() -> None:
    """Adopt the orphans among this process's descendants."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children_of(pid: int) -> list[int]:
    """Return the process ids of all direct children of a process, zombies included."""
    pids: list[int] = []
    try:
        tasks = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - see _contents
    except OSError:  # it has just ended
        return pids
    for task in tasks:
        try:
            words = _contents(f"/proc/{pid}/task/{task}/children").split()
        except OSError:  # the thread has just ended
            continue
        pids += map(int, words)
    return pids


def count_descendants(pid: int, most: int) -> int:
    """Return how many processes descend from one, counted no further than `most`."""
    found = [pid]
    for one in found:  # it grows
        if len(found) > most:
            break
        found += children_of(one)
    return min(len(found) - 1, most)


def children_of_self() -> list[int]:
    """Return the process ids of all direct children, zombies included."""
    return children_of(os.getpid())


def end_adopted(own: Collection[int]) -> int:
    """Kill and reap every child that is not in `own` (the children started on purpose).

    Returns how many there were. Children of theirs are adopted in turn: call until it returns 0.
    """
    adopted = [pid for pid in children_of_self() if pid not in own]
    for pid in adopted:  # all, before one is waited for: they may fork meanwhile
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for pid in adopted:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
    return len(adopted)


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """Resource limits of a child; None leaves what is inherited."""

    open_files: int | None = None
    cpu_s: int | None = None
    file_kib: int | None = None
    """Size of a file that it writes; pipes have none."""


def reset_signals() -> None:
    """Between fork and exec: leave no signal ignored or blocked. What a target does must not depend
    on who started us: `nohup` ignores SIGHUP, and that is inherited."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):  # those that the C library keeps
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def start_child(
    argv: Sequence[str],
    *,
    stdin: int | IO[bytes],
    stdout: int | IO[bytes],
    stderr: int | IO[bytes],
    env: Mapping[str, str] | None = None,
    limits: ChildLimits | None = None,
    controlling_terminal: bool = False,
    is_target: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a program as leader of its own session; it dies with the calling thread.

    `controlling_terminal`: standard input is a terminal that becomes the session's own.
    `is_target`: it is, or runs, what is explored; it inherits no treatment of signals.
    Core dumps are off. Raises OSError when the program cannot be started."""
    parent = os.getpid()
    bounds = limits or ChildLimits()

    def before_exec() -> None:
        if is_target:
            reset_signals()
        die_with_parent(parent)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if controlling_terminal:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        if bounds.open_files is not None:
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            files = bounds.open_files if hard < 0 else min(bounds.open_files, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
        if bounds.cpu_s is not None:
            # The hard limit is a second later: SIGXCPU first, so that the cause can be told.
            resource.setrlimit(resource.RLIMIT_CPU, (bounds.cpu_s, bounds.cpu_s + 1))
        if bounds.file_kib is not None:
            hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            size = bounds.file_kib * 1024 if hard < 0 else min(bounds.file_kib * 1024, hard)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))

    return subprocess.Popen(
        list(argv),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=None if env is None else dict(env),
        start_new_session=True,
        preexec_fn=before_exec,  # noqa: PLW1509 - see the module's notes
    )


def has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Tell whether the child has ended, without reaping it: its id and group stay pinned."""
    if child.returncode is not None:
        return True
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def kill_group(child: subprocess.Popen[bytes]) -> None:
    """Send SIGKILL to everything in the child's group; nothing when it was reaped already."""
    if child.returncode is None:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:  # the leader is a zombie and nobody else is left
            return


def reap(child: subprocess.Popen[bytes]) -> tuple[int, resource.struct_rusage]:
    """End the rest of the child's group, then reap the leader.

    Returns (return code as of subprocess, resource use). Blocks until the leader has ended."""
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    kill_group(child)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage


def oom_kills() -> int:
    """Return how many processes the kernel has killed for memory, as far as this host tells.

    The own cgroup's count is the best evidence; without cgroup 2 the kernel's total is used."""
    for path in (_cgroup_events(), "/proc/vmstat"):
        try:
            words = _contents(path).split()
        except OSError:
            continue
        if b"oom_kill" in words:
            return int(words[words.index(b"oom_kill") + 1])
    return 0


def _cgroup_events() -> str:
    try:
        group = os.fsdecode(_contents("/proc/self/cgroup").partition(b"\n")[0])
    except OSError:
        return "/nonexistent"
    return f"/sys/fs/cgroup/{group.rpartition(':')[2].lstrip('/')}/memory.events"


def _contents(path: str) -> bytes:
    """Return what the kernel says in a small file. A worker asks for several of them per item: a
    `Path` would intern the parts of each name anew, and the table of interned strings, which grows
    by a MiB at a time, would be full of dead ones every hour."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(lambda: os.read(descriptor, _READ_BYTES), b""))
    finally:
        os.close(descriptor)
