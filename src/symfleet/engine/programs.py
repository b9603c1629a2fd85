"""One run of an outside program under limits, told apart by outcome.

A program runs as leader of its own session with its output drained and bounded. The caller's own
standard input is watched meanwhile: end of file there means that the worker is gone, and then the
program is ended at once. Whatever the program leaves running is ended with it.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.engine import processes
from symfleet.types import Outcome

_TICK_MS: Final = 50
_PROCESSES_MAX: Final = 512
"""Of one run: one that forks without end would take the host down before its time is up."""
_PIPE_BYTES: Final = 65536
_PAGE_KIB: Final = os.sysconf("SC_PAGE_SIZE") // 1024
_CPU_EVIDENCE: Final = 0.5
"""Share of the wall limit that must be CPU time for a hang (engine design: Running)."""

_CRASH_SIGNALS: Final = frozenset(
    {
        signal.SIGSEGV,
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGILL,
        signal.SIGFPE,
        signal.SIGTRAP,
        signal.SIGSYS,
    }
)


class WorkerGone(Exception):
    """Standard input reached its end while a program ran; the program was ended."""


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """Limits of one run; 0 means no limit."""

    wall_ms: int = 0
    cpu_ms: int = 0
    rss_mib: int = 0
    output_kib: int = 0
    """Size of a file that it writes; what it prints is read and dropped."""
    open_files: int = 0


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """How a run ended."""

    outcome: Outcome
    exit_code: int
    signal: int
    wall_us: int
    cpu_us: int
    rss_kib_max: int
    cut_short: bool
    """A limit ended it: files that it wrote may be incomplete."""


@dataclass(frozen=True, slots=True)
class Supervision:
    """What the caller wants to see of a run while it lasts.

    `on_input` reads `input_fd` when it is readable and raises WorkerGone at its end; `on_tick` gets
    the CPU time used so far, in microseconds."""

    input_fd: int
    on_input: Callable[[], None]
    on_tick: Callable[[int], None]


@dataclass(slots=True)
class _Watch:
    """What has been seen of a run so far."""

    rss_kib_max: int = 0
    cut: Outcome | None = None


def run_program(
    argv: Sequence[str],
    *,
    input_path: Path | None,
    env: Mapping[str, str],
    limits: ProgramLimits,
    solitary: bool,
    supervision: Supervision,
) -> ProgramRun:
    """Run `argv` once with `input_path` (or nothing) on standard input.

    `solitary` runs are second opinions: the wall limit is doubled and meeting it is a hang even
    without CPU evidence. A program that cannot be started yields Outcome.ERROR."""
    wall_ms = limits.wall_ms * (2 if solitary else 1)
    memory_before = processes.oom_kills()
    started = time.monotonic()
    try:
        child = _start(argv, input_path, env, limits)
    except OSError as error:
        return ProgramRun(Outcome.ERROR, error.errno or 1, 0, 0, 0, 0, cut_short=False)
    watch = _Watch()
    try:
        deadline = started + wall_ms / 1000 if wall_ms else None
        _watch_until_end(child, watch, limits, deadline, supervision)
    finally:
        if not processes.has_ended(child):
            processes.kill_group(child)
        code, usage = processes.reap(child)
        assert child.stdout is not None
        child.stdout.close()
        while processes.end_adopted(()):
            pass
    wall_us = int((time.monotonic() - started) * 1e6)
    cpu_us = int((usage.ru_utime + usage.ru_stime) * 1e6)
    signum = -code if code < 0 else 0
    outcome = watch.cut or _outcome_of(signum, processes.oom_kills() > memory_before)
    if watch.cut is Outcome.HANG and not solitary and cpu_us < _CPU_EVIDENCE * wall_ms * 1000:
        outcome = Outcome.STALLED
    return ProgramRun(
        outcome=outcome,
        exit_code=max(code, 0),
        signal=signum if outcome is Outcome.CRASH else 0,
        wall_us=wall_us,
        cpu_us=cpu_us,
        rss_kib_max=max(int(usage.ru_maxrss), watch.rss_kib_max),
        cut_short=outcome not in (Outcome.OK, Outcome.CRASH),
    )


def _start(
    argv: Sequence[str],
    input_path: Path | None,
    env: Mapping[str, str],
    limits: ProgramLimits,
) -> subprocess.Popen[bytes]:
    with Path(input_path or os.devnull).open("rb") as stdin:
        return processes.start_child(
            argv,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            limits=processes.ChildLimits(
                open_files=limits.open_files or None,
                cpu_s=-(-limits.cpu_ms // 1000) or None,
                file_kib=limits.output_kib or None,
            ),
            is_target=True,
        )


def _watch_until_end(
    child: subprocess.Popen[bytes],
    watch: _Watch,
    limits: ProgramLimits,
    deadline: float | None,
    supervision: Supervision,
) -> None:
    """Return when the child has ended or was killed for a limit (`watch.cut` says which)."""
    assert child.stdout is not None
    output = child.stdout.fileno()
    os.set_blocking(output, False)
    pidfd = os.pidfd_open(child.pid)
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.register(output, select.POLLIN)
    poll.register(supervision.input_fd, select.POLLIN)
    try:
        while True:
            ready = {fd for fd, _ in poll.poll(_TICK_MS)}
            if output in ready and not _drain(output):
                poll.unregister(output)
            if pidfd in ready:
                return
            if supervision.input_fd in ready:
                supervision.on_input()
            watch.cut = _limit_met(child.pid, watch, limits, deadline)
            if watch.cut is not None:
                return
            supervision.on_tick(_cpu_us(child.pid))
    finally:
        os.close(pidfd)


def _drain(output: int) -> bool:
    """Read and drop output; return False at its end."""
    try:
        return bool(os.read(output, _PIPE_BYTES))
    except BlockingIOError:
        return True


def _limit_met(
    pid: int, watch: _Watch, limits: ProgramLimits, deadline: float | None
) -> Outcome | None:
    try:
        rss_kib = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_KIB
    except (OSError, IndexError):
        rss_kib = 0
    watch.rss_kib_max = max(watch.rss_kib_max, rss_kib)
    if limits.rss_mib and rss_kib > limits.rss_mib * 1024:
        return Outcome.OOM
    if processes.count_descendants(os.getpid(), _PROCESSES_MAX + 1) > _PROCESSES_MAX:
        return Outcome.OOM
    if deadline is not None and time.monotonic() >= deadline:
        return Outcome.HANG
    return None


def _cpu_us(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    ticks = sum(int(value) for value in fields[11:15])
    return ticks * 1_000_000 // os.sysconf("SC_CLK_TCK")


def _outcome_of(signum: int, memory_evidence: bool) -> Outcome:
    if signum == 0:
        return Outcome.OK
    if signum in _CRASH_SIGNALS:
        return Outcome.CRASH
    if signum == signal.SIGXCPU:
        return Outcome.CPU
    if signum == signal.SIGXFSZ:
        return Outcome.FLOOD
    if signum == signal.SIGKILL and memory_evidence:
        return Outcome.OOM
    return Outcome.KILLED
