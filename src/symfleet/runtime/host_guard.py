"""The guard of a host that is not the root's: nothing of a job outlives the job there.

    python -m symfleet.runtime.host_guard prted ARGUMENTS...

Theory of operation. mpirun starts a daemon (prted) on each further host through ssh, and the daemon
starts the ranks. With the guard in front of it everything on that host hangs on one chain: ranks
ask the kernel to die with their daemon, the daemon with the guard, and what a dead parent leaves is
adopted and ended by the guard. All files of the job on this host lie in one private folder, which
goes with the guard; that of a guard that was killed itself is removed by the next one, which can
tell by its lock.

A host that is cut off hears of nobody's death. Its ranks end by themselves when the root is silent;
then the daemon has nothing left to do, and the guard ends it without waiting for TCP to notice.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from symfleet.config.environment import GUARD_VARIABLE, inherited_environment
from symfleet.engine import processes
from symfleet.engine.trees import remove_if_possible

_DAEMON: Final = "prted"
_PREFIX: Final = "symfleet-host-"
_LOCK: Final = "lock"
_LOOK_S: Final = 0.5
_IDLE_S: Final = 10.0
"""A daemon that has had ranks and has none any more is told to end within this time."""


def main() -> int:
    """Run the daemon that the arguments name; return its exit code."""
    with private_folder(Path(tempfile.gettempdir())) as folder:
        return guard(whole_program(sys.argv[1:]), folder)


def whole_program(words: Sequence[str]) -> list[str]:
    """Return the daemon's words with its path in one: mpirun does not quote it, so that a folder
    with spaces in its name arrives in pieces."""
    end = next((at for at, word in enumerate(words) if word.endswith(_DAEMON)), 0) + 1
    return [" ".join(words[:end]), *words[end:]]


@contextlib.contextmanager
def private_folder(parent: Path) -> Iterator[Path]:
    """Make the folder of a job on this host and remove it at the end; remove dead guards' first."""
    remove_dead_folders(parent)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    try:
        with (folder / _LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
    finally:
        remove_if_possible(folder)


def remove_dead_folders(parent: Path) -> None:
    """Remove the folders of guards that were killed: the kernel has dropped their locks.

    A folder without a lock file is about to get one, or was left by a guard that died right there:
    it is empty."""
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            with (folder / _LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # held, somebody else's, or not there
            continue
        remove_if_possible(folder)


def guard(words: Sequence[str], folder: Path) -> int:
    """Run `words` until they end, have nothing to do, or this process is told to end."""
    processes.become_subreaper()
    wake, awake = os.pipe()
    for end in (wake, awake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(awake)
    for signum in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGCHLD):
        signal.signal(signum, _note)
    daemon = processes.start_child(
        words,
        stdin=subprocess.DEVNULL,
        stdout=sys.stdout.buffer,
        stderr=sys.stderr.buffer,
        env={
            **inherited_environment(),
            "TMPDIR": str(folder),
            GUARD_VARIABLE: f"{os.getpid()}:{folder}",
        },
    )
    try:
        _watch(daemon, wake)
    finally:
        processes.kill_group(daemon)
        code, _ = processes.reap(daemon)
        while processes.end_adopted(()):
            pass
    return code if code >= 0 else 128 - code


def _note(_signum: int, _frame: object) -> None:
    """Nothing: the number is in the pipe by now. An exception could come while the daemon is being
    started, and leave it behind."""


def _watch(daemon: subprocess.Popen[bytes], wake: int) -> None:
    """Return when the daemon has ended or must end."""
    busy_at: float | None = None
    while not processes.has_ended(daemon):
        select.select([wake], [], [], _LOOK_S)
        with contextlib.suppress(BlockingIOError):
            if any(signum != signal.SIGCHLD for signum in os.read(wake, 4096)):
                return
        processes.end_adopted({daemon.pid})
        now = time.monotonic()
        if _has_ranks(daemon.pid):
            busy_at = now
        elif busy_at is not None and now - busy_at > _IDLE_S:
            return


def _has_ranks(daemon: int) -> bool:
    """Whether anything but the daemon's own program runs below it: it may be two processes."""
    own, below = _program(daemon), processes.children_of(daemon)
    while below:
        pid = below.pop()
        program = _program(pid)
        if program not in (own, None):
            return True
        below += processes.children_of(pid)
    return False


def _program(pid: int) -> Path | None:
    try:
        return Path(f"/proc/{pid}/exe").readlink()
    except OSError:  # it has ended
        return None


if __name__ == "__main__":
    sys.exit(main())
