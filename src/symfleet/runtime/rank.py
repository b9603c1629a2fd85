"""Entry of every rank: `python -m symfleet.runtime.rank OUT/.run/N/plan.json PID HOST`.

Rank 0 is the root, and the only one that reads the plan; the root tells the others what they are:
coordinators or workers. PID and HOST name the launcher. A rank dies with its mpirun, ends with 0 or
by a signal (any other exit code would make mpirun end the others), and leaves nothing running.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import msgspec

from symfleet import crash
from symfleet.clock import Clock, SystemClock
from symfleet.config.environment import (
    crash_spec,
    host_guard,
    inherited_environment,
    keep_mpi_files,
    mpi_rank,
)
from symfleet.engine import processes
from symfleet.engine.trees import remove_if_possible
from symfleet.errors import ExitCode, SymfleetError, UserError
from symfleet.runtime.layout import ROOT_RANK
from symfleet.runtime.plan import (
    OUTCOME,
    Beats,
    EpochOutcome,
    EpochPlan,
    outcome_line,
    outcome_of_error,
    read_plan,
    with_farewells,
    write_outcome,
)
from symfleet.runtime.room import hold_shared_memory
from symfleet.transport.mpi import MpiTransport, end_by_signal

if TYPE_CHECKING:
    from symfleet.runtime.introduction import Introduction, PeerIntroduction
    from symfleet.runtime.root import Root

VERDICT = "verdict.json"
"""In the output folder: how a joined epoch ended, for scripts around mpirun or srun."""


@dataclass(frozen=True, slots=True)
class Launcher:
    """The process that started mpirun, and its host: only there can a rank look for it."""

    pid: int
    host: str
    epoch: str
    """Which of its launches of mpirun this is."""


def run_rank(plan: Callable[[], EpochPlan], parent: Launcher | None, clock: Clock) -> NoReturn:
    """Be a rank of this epoch until it ends. `plan` is asked by the root only; `parent`: the
    launcher that started mpirun, None in joined mode."""
    _become_rank(parent)
    transport = MpiTransport(clock)
    try:
        if transport.rank == ROOT_RANK:
            _be_root(plan(), transport, clock)
        else:
            _be_what_the_root_says(transport, clock)
    except BaseException:  # noqa: BLE001 - the border of the process: nothing may exit non-zero
        import traceback

        traceback.print_exc()
        end_by_signal()
    transport.leave()


def _become_rank(launcher: Launcher | None) -> None:
    """Tie this process to mpirun, and take the descendants of the executors in."""
    place = f"{mpi_rank()}/{'joined' if launcher is None else launcher.epoch}"
    crash.arm(crash_spec(), lambda: place)
    processes.become_subreaper()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the launcher turns it into a request
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    guard = host_guard()
    if guard is not None:
        pid, folder = guard
        parent = os.getppid()
        if pid not in processes.ancestors_of(parent):
            end_by_signal()  # the daemon or its guard died before we were tied to it
        processes.die_with_parent(parent)
        keep_mpi_files(folder)
    elif launcher is not None:
        parent = os.getppid()
        if launcher.host == socket.gethostname() and processes.parent_of(parent) != launcher.pid:
            end_by_signal()  # mpirun died before we were tied to it
        processes.die_with_parent(parent)


def _be_root(plan: EpochPlan, transport: MpiTransport, clock: Clock) -> None:
    # The root needs much that a worker does not: loading it there would slow every start.
    from symfleet.runtime.root import Root

    if transport.size < 2:
        raise UserError(
            "a job needs a root and at least one worker",
            where="mpirun or srun",
            why="it was started with one rank",
            hint="start at least two ranks",
        )
    Beats(Path(plan.run_dir)).opening()
    root = Root(plan, transport, clock)

    def asked(signum: int, _frame: object) -> None:
        if root.loop is not None:
            root.loop.request_stop(signal.Signals(signum).name)

    signal.signal(signal.SIGTERM, asked)
    try:
        hold_shared_memory(Path(plan.run_dir), Path(plan.config.output.out_dir))
        finish = root.run()
    except SymfleetError as error:
        _end_unopened(plan, root, outcome_of_error(error))
        return
    loop = root.loop
    assert loop is not None
    if loop.failure is None:
        outcome = EpochOutcome(finish.exit_code, finish.reason)
    else:
        outcome = outcome_of_error(loop.failure)
    _tell_outcome(plan, with_farewells(outcome, finish))
    if not loop.workers_told:
        end_by_signal()


def _end_unopened(plan: EpochPlan, root: Root, outcome: EpochOutcome) -> None:
    """There is no epoch: end the other ranks as orderly as if there had been one, and say why."""
    missing = root.dismiss_others(outcome.what)
    if missing is None:
        _tell_outcome(plan, with_farewells(outcome, root.loop.finish if root.loop else None))
        end_by_signal()  # the others notice, whatever they were waiting for
    _tell_outcome(plan, msgspec.structs.replace(outcome, workers=root.others, missing=missing))
    if missing:
        end_by_signal()


def _tell_outcome(plan: EpochPlan, outcome: EpochOutcome) -> None:
    crash.point("root.untold")
    if not write_outcome(Path(plan.run_dir) / OUTCOME, outcome) and plan.launcher_pid:
        sys.stdout.write(outcome_line(outcome))
        sys.stdout.flush()
    crash.point("root.told")
    if not plan.launcher_pid:
        write_outcome(Path(plan.config.output.out_dir) / VERDICT, outcome)
        remove_if_possible(Path(plan.run_dir))
        with contextlib.suppress(OSError):
            Path(plan.run_dir).parent.rmdir()
        if outcome.exit_code not in (ExitCode.DONE, ExitCode.CRASHES_FOUND):
            if outcome.slots:
                from symfleet.observe.lines import acknowledged_words

                words = acknowledged_words(outcome.slots, outcome.unacknowledged)
                sys.stderr.write(f"symfleet: slots {words}\n")
            sys.stderr.write(f"symfleet: {outcome.reason} {outcome.what} {outcome.why}\n")


def _be_what_the_root_says(transport: MpiTransport, clock: Clock) -> None:
    from symfleet.runtime.introduction import (
        Dismissal,
        Introduction,
        PeerIntroduction,
        RootGone,
        await_introduction,
        say_farewell,
    )

    try:
        match await_introduction(transport, clock):
            case Dismissal():
                say_farewell(transport, ROOT_RANK, clock)
            case PeerIntroduction() as introduction:
                _be_peer(introduction, transport, clock)
            case Introduction() as introduction:
                _be_worker(introduction, transport, clock)
    except RootGone:
        if not transport.failure_seen:
            end_by_signal()  # it lives, but without this rank


def _be_peer(introduction: PeerIntroduction, transport: MpiTransport, clock: Clock) -> None:
    from symfleet.runtime.peer import run_peer
    from symfleet.runtime.places import rank_places

    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the root ends the epoch for all
    with rank_places(introduction.folders) as places:
        run_peer(introduction, transport, clock, places)


def _be_worker(introduction: Introduction, transport: MpiTransport, clock: Clock) -> None:
    from symfleet.protocol.worker import Worker
    from symfleet.runtime.notes import NoteLog
    from symfleet.runtime.places import rank_places
    from symfleet.runtime.worker_loop import WorkerLoop, start_clients

    machine = Worker(introduction.setup(transport.rank, random.SystemRandom()), clock.monotonic())
    with rank_places(introduction.folders) as places:
        name = f"worker-{transport.rank}"
        loop = WorkerLoop(
            machine,
            transport,
            clock,
            introduction.knobs,
            start_clients(
                transport.rank,
                places.work,
                places.out / "logs",
                inherited_environment(),
                introduction.knobs.frame_bytes,
            ),
            NoteLog(places.out, name, introduction.output, introduction.epoch),
        )
        signal.signal(signal.SIGTERM, lambda *_: loop.drain("SIGTERM"))
        gc.freeze()  # what lives by now lives on: the loop's collections need not look at it
        leave = loop.run()
    if leave.exit_code != ExitCode.DONE:
        end_by_signal()  # its coordinator is gone or silent: nobody would come to Finalize


def main() -> NoReturn:
    """Be a rank of the launcher that wrote the plan: PLAN, its process, its host."""
    plan, pid, host = sys.argv[1:]
    run_rank(
        lambda: read_plan(Path(plan)),
        Launcher(int(pid), host, Path(plan).parent.name),
        SystemClock(),
    )


if __name__ == "__main__":
    main()
