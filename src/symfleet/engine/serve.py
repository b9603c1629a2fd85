"""Serve an outside program as an engine.

    python -m symfleet.engine.serve command -- PROGRAM @@ @out
    python -m symfleet.engine.serve symcc

Speaks the executor protocol on standard input and output; standard error is the log. An adapter
says how one input is run (`Adapter`); everything else (frames, limits, children, verdicts, the end
of the worker) is done here, so that an adapter stays a page long. Imports are few on purpose: this
starts once for every slot and after every executor's death.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import hashlib
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NoReturn

from symfleet.config.environment import inherited_environment
from symfleet.engine import frames, processes
from symfleet.engine.adapter import Adapter, Command, Layout
from symfleet.engine.children import Left, read_children
from symfleet.engine.identity import build_digest, find_program
from symfleet.engine.programs import (
    ProgramLimits,
    ProgramRun,
    Supervision,
    WorkerGone,
    run_program,
)
from symfleet.engine.reasons import (
    NO_CHILD,
    NO_OUTPUT_FOLDER,
    OUTPUT_LIMIT,
    PROGRAM_FAILED,
    PROGRAM_LIMITED,
)
from symfleet.engine.trees import empty_folder, fresh_file, own_folder
from symfleet.errors import NO_SPACE_ERRNOS, DataError, ExitCode
from symfleet.ledger.reserve import DEFAULT_RESERVE_BYTES, RESERVE_NAME
from symfleet.types import Outcome

_READ_BYTES: Final = 1 << 20
_PROGRESS_S: Final = 0.5
_ROOM_BYTES: Final = 64 * 1024
"""With less than this a disk counts as full."""
_LOW_BYTES: Final = 4 * DEFAULT_RESERVE_BYTES
"""With less than this a reserve that is gone was needed, and not removed by somebody."""


class Server:
    """One executor process: its pipe, its adapter, its folder."""

    def __init__(
        self, adapter: Adapter, *, read_fd: int, write_fd: int, base_env: Mapping[str, str]
    ) -> None:
        self._adapter = adapter
        self._base_env = base_env
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._reader = frames.FrameReader(frames.FROM_WORKER)
        self._hello: frames.Hello | None = None
        self._reserve: Path | None = None
        self._progress_due = 0.0
        self._counter = 0

    def serve(self) -> int:
        """Answer frames until `stop` or the end of input; return the exit code."""
        try:
            while True:
                frame = self._reader.next()
                if frame is None:
                    self._fill()
                    continue
                match frame:
                    case frames.Hello():
                        self._greet(frame)
                    case frames.Known():
                        pass  # without a coverage map there is nothing to compare with
                    case frames.Run():
                        self._run(frame)
                    case frames.SelfTestRequest():
                        self._selftest()
                    case frames.StopRequest():
                        return 0
        except WorkerGone:
            return 0
        except OSError as error:
            if error.errno not in NO_SPACE_ERRNOS:
                raise
            folder = "" if self._hello is None else self._hello.work_dir
            with contextlib.suppress(WorkerGone):
                self._write(frames.no_space(folder, error))
            return int(ExitCode.IO)

    # ---- pipe ------------------------------------------------------------------------------

    def _fill(self) -> None:
        data = os.read(self._read_fd, _READ_BYTES)
        if not data:
            raise WorkerGone
        self._reader.feed(data)

    def _write(self, frame: frames.FromExecutor) -> None:
        data = memoryview(frames.encode_frame(frame))
        while data:
            try:
                data = data[os.write(self._write_fd, data) :]
            except BrokenPipeError as error:
                raise WorkerGone from error

    # ---- answers ---------------------------------------------------------------------------

    def _greet(self, hello: frames.Hello) -> None:
        program = self._adapter.program(tuple(hello.argv))
        failure = _refuse(hello.protocol, program, self._env(hello))
        if failure is not None:
            self._write(failure)
            return
        self._hello = hello
        self._reserve = _reserve_beside(Path(hello.work_dir).absolute())
        self._write(
            frames.Ready(
                engine=f"{self._adapter.name} {frames.PROTOCOL_VERSION}",
                edges=0,
                build=self._build(hello),
                pid=os.getpid(),
            )
        )

    def _build(self, hello: frames.Hello) -> str:
        """Name the programs; the target's arguments are none, and may be files that it writes."""
        target = tuple(hello.argv[:1])
        return build_digest((*self._adapter.program(target), *target))

    def _selftest(self) -> None:
        """The program is not run: it may do whatever it likes with an input that nobody gave."""
        hello = self._greeted()
        name = self._adapter.program(tuple(hello.argv))[0]
        found = find_program(name, self._env(hello))
        message = "" if found else f"{name} is gone"
        self._write(frames.SelfTestAnswer(ok=found is not None, message=message))

    def _run(self, run: frames.Run) -> None:
        hello = self._greeted()
        self._write(frames.Started(id=run.id))
        layout = Layout(Path(hello.work_dir))
        _lay_out(layout, run.input)
        self._adapter.prepare(layout, hello.keep)
        command = self._adapter.command(
            tuple(hello.argv),
            layout,
            stdin=hello.input_mode == "stdin",
            env=self._env(hello),
        )
        # A1: what is hashed is what the program can read, not what was sent.
        digest = hashlib.sha256(layout.input.read_bytes()).hexdigest()
        first = self._execute(command, layout, run)
        if _disk_was_full(layout.root, self._reserve):
            # What it could not write is missing or cut off (A2): done again, when there is space.
            first = dataclasses.replace(first, outcome=Outcome.STALLED, cut_short=True)
            empty_folder(layout.output)
            _require_space(layout.root)
        elif not layout.root.parent.is_dir():
            # No program knows of that folder: somebody cleared it away, children and all.
            first = dataclasses.replace(first, outcome=Outcome.STALLED, cut_short=True)
        runs, verdict = 1, first
        left = read_children(layout.output, hello.limits, run.bound)
        if first.outcome is Outcome.CRASH:
            _lay_out(layout, run.input)
            second = self._execute(self._adapter.confirmation(command), layout, run)
            runs, verdict = 2, (first if second.outcome is Outcome.CRASH else second)
        if first.cut_short:
            left.degraded.append("time")
        if verdict.outcome.is_verdict:
            for child in left.children:
                self._write(_child_frame(run.id, child))
        else:
            left.children, left.truncated, left.left_out = [], None, {}
        reason = _reason(verdict, left, fails_by_code=self._adapter.fails_by_code)
        self._write(_done_frame(run.id, digest, verdict, left, runs, reason))
        own_folder(layout.root)
        empty_folder(layout.output)

    def _env(self, hello: frames.Hello) -> dict[str, str]:
        return {**self._base_env, **hello.env}

    def _greeted(self) -> frames.Hello:
        if self._hello is None:
            raise DataError("an executor was used before it was greeted", hint="send hello first")
        return self._hello

    def _execute(self, command: Command, layout: Layout, run: frames.Run) -> ProgramRun:
        hello = self._greeted()
        limits = hello.limits
        walls = [limits[key] for key in ("wall_ms", "execution_ms") if limits.get(key)]
        return run_program(
            command.argv,
            input_path=layout.input if command.stdin else None,
            env=command.env,
            limits=ProgramLimits(
                wall_ms=min(walls, default=0),
                cpu_ms=limits.get("cpu_ms", 0),
                rss_mib=limits.get("rss_mib", 0),
                output_kib=limits.get("output_kib", 0),
                open_files=limits.get("open_files", 0),
            ),
            solitary=run.solitary,
            supervision=Supervision(
                input_fd=self._read_fd,
                on_input=self._fill,
                on_tick=lambda cpu_us: self._tick(run.id, cpu_us),
            ),
        )

    def _tick(self, run_id: int, cpu_us: int) -> None:
        """Tell that CPU time was used: the only evidence of work that any program gives."""
        now = time.monotonic()
        if cpu_us > self._counter and now >= self._progress_due:
            self._progress_due = now + _PROGRESS_S
            self._counter = cpu_us
            self._write(frames.Progress(id=run_id, counter=cpu_us))
        elif cpu_us < self._counter:  # another program: its clock starts again
            self._counter = 0


def _refuse(protocol: int, argv: tuple[str, ...], env: Mapping[str, str]) -> frames.Failure | None:
    """Return why this cannot be served, or None."""
    if protocol != frames.PROTOCOL_VERSION:
        return frames.Failure(
            "abi_mismatch",
            f"executor protocol {protocol}; this engine speaks {frames.PROTOCOL_VERSION}",
            "install worker and engine from one build",
        )
    if not argv:
        return frames.Failure("target_missing", "no program was given", "name it after --")
    program = find_program(argv[0], env)
    if program is None:
        return frames.Failure(
            "target_missing", f"{argv[0]} does not exist", "check the path after --"
        )
    if not os.access(program, os.X_OK):
        return frames.Failure(
            "target_not_executable", f"{program} is not executable", f"chmod +x {program}"
        )
    return None


def _disk_was_full(folder: Path, reserve: Path | None) -> bool:
    """Whether a program that has just ended may have found no space to write in `folder`: there is
    none now, or the ledger's owner has given its `reserve` back because there was none."""
    free = _free_bytes(folder)
    if reserve is not None and free < _LOW_BYTES and not reserve.exists():
        return True
    return free < _ROOM_BYTES


def _require_space(folder: Path) -> None:
    """Raise OSError unless the disk of a folder takes more: every other run would end so, too."""
    if _free_bytes(folder) < _ROOM_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _free_bytes(folder: Path) -> int:
    """Return how much the disk of a folder takes: nothing when it takes no more files."""
    while not folder.is_dir() or folder.is_symlink():  # the program has removed or replaced it
        folder = folder.parent
    disk = os.statvfs(folder)
    if disk.f_files > 0 and disk.f_favail == 0:
        return 0
    return disk.f_bavail * disk.f_frsize


def _reserve_beside(folder: Path) -> Path | None:
    """Return the reserve of the campaign that a folder belongs to, if it has one."""
    places = (parent / RESERVE_NAME for parent in folder.parents)
    return next((place for place in places if place.exists()), None)


def _lay_out(layout: Layout, data: bytes) -> None:
    """Make the folder what a run expects, whatever the one before has made of it."""
    own_folder(layout.root)
    empty_folder(layout.output)  # first: what a run has left there may have taken all space
    fresh_file(layout.input, data)


def _child_frame(run_id: int, data: bytes) -> frames.Child:
    return frames.Child(
        id=run_id,
        input=data,
        digest=hashlib.sha256(data).hexdigest(),
        how="engine",
        site=0,
        direction=0,
        outcome=Outcome.OK,
        signal=0,
        edges=b"",
        unstable=0,
        wall_us=0,
    )


def _done_frame(
    run_id: int,
    digest: str,
    verdict: ProgramRun,
    left: Left,
    executions: int,
    reason: str | None,
) -> frames.Done:
    generated = len(left.children)
    return frames.Done(
        id=run_id,
        digest=digest,
        outcome=verdict.outcome,
        exit_code=verdict.exit_code,
        signal=verdict.signal,
        edges=b"",
        unstable=0,
        generated=generated,
        dropped=0,
        flips={},
        how={"engine": generated} if generated else {},
        executions=executions,
        solver_us=0,
        wall_us=verdict.wall_us,
        cpu_us=verdict.cpu_us,
        rss_kib_max=verdict.rss_kib_max,
        degraded=left.degraded,
        truncated=left.truncated,
        reason=reason,
        left_out=left.left_out,
    )


def _reason(verdict: ProgramRun, left: Left, *, fails_by_code: bool) -> str | None:
    if verdict.outcome is Outcome.FLOOD:
        return OUTPUT_LIMIT  # with children, too: what comes after is unseen
    if left.children:
        return None
    if left.no_folder:
        return NO_OUTPUT_FOLDER
    if left.degraded or left.left_out:
        return PROGRAM_LIMITED
    failed = verdict.outcome is Outcome.ERROR or (fails_by_code and verdict.exit_code != 0)
    return PROGRAM_FAILED if failed else NO_CHILD


def _adapter(kind: str, words: tuple[str, ...]) -> Adapter | None:
    match kind, words:
        case "command", ("--", program, *rest):
            from symfleet.engine.command import CommandAdapter

            return CommandAdapter((program, *rest))
        case "symcc", ():
            from symfleet.engine.symcc import SymccAdapter

            return SymccAdapter()
        case _:
            return None


def main() -> NoReturn:
    """Serve the adapter that the first argument names."""
    adapter = _adapter(sys.argv[1] if len(sys.argv) > 1 else "", tuple(sys.argv[2:]))
    if adapter is None:
        sys.stderr.write(
            "usage: python -m symfleet.engine.serve command -- PROGRAM [@@] [@out]\n"
            "       python -m symfleet.engine.serve symcc\n"
        )
        sys.exit(64)
    # The protocol keeps the pipes for itself: nothing that runs here can write between frames.
    read_fd, write_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    processes.become_subreaper()
    server = Server(adapter, read_fd=read_fd, write_fd=write_fd, base_env=inherited_environment())
    sys.exit(server.serve())


if __name__ == "__main__":
    main()
