"""The launcher: holds a campaign for as long as it is worked on.

Theory of operation. It is no part of the MPI job. It takes `job.lock` before it starts anything,
runs one mpirun after another (an *epoch* each) until one of them ends with a verdict, and ends
everything below it before it lets the lock go. Nothing that it knows is needed for resuming: it may
be killed at any time; then the kernel drops the lock, mpirun dies by PDEATHSIG and takes its ranks,
executors and targets along, and the next launcher cleans what lies in OUT/.run.

Signals do not reach mpirun, which would end the ranks at once: it has a session of its own, and the
launcher turns them into requests that the root reads.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from symfleet import crash
from symfleet.clock import Clock, SystemClock
from symfleet.config.environment import (
    crash_spec,
    inherited_environment,
    mpi_world_size,
)
from symfleet.config.hostfile import with_hostfile
from symfleet.config.model import CampaignConfig
from symfleet.corpus.durable import make_folder
from symfleet.engine import processes
from symfleet.engine.capture import Capture
from symfleet.errors import ExitCode, HostError, InternalError
from symfleet.runtime import plan as plans
from symfleet.runtime.campaign_lock import CampaignLock
from symfleet.runtime.engines import engine_setup, find_program, largest_file
from symfleet.runtime.home import Home, folder_is_gone
from symfleet.runtime.joined import follow_if_told, join_as_root
from symfleet.runtime.mpirun import (
    OtherHosts,
    find_mpirun,
    mpirun_command,
    mpirun_environment,
    remove_run_dirs,
    short_path,
    write_agent,
)
from symfleet.runtime.observer import LaunchObserver, Unobserved
from symfleet.runtime.restarts import BeatWatch, RestartPolicy
from symfleet.runtime.room import (
    died_for_space,
    lack_of_room,
    naming_the_disk,
    require_file_limit,
    require_room,
    room_of_start,
    words_of_lack,
)
from symfleet.runtime.roster import Roster
from symfleet.runtime.stop_signals import StopSignals
from symfleet.runtime.stores import (
    EpochSummary,
    holds_campaign,
    missing_reserve,
    note_beginning,
    read_summary,
    refuse_idle_connections,
)

RUN_FOLDER: Final = ".run"
_TICK_S: Final = 0.1
_HARD_STOP_S: Final = 5.0
_LEAVE_S: Final = 15.0
"""How long ranks may take to leave once the root has said how the epoch ended."""
_READ_BYTES: Final = 1 << 16
_TAIL_BYTES: Final = 16_000
"""Of an epoch's output: the root may have said there how it ended."""
_STORY_CHARACTERS: Final = 2000
_START_FAILURES_MAX: Final = 2


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """How one mpirun ended."""

    exit_code: int
    heard: bool
    """Whether the root ever beat."""
    silent: bool
    """Whether it was ended because the root had stopped beating."""
    output: str
    """The end of it."""
    no_space: str
    """What was said about a lack of space."""

    @property
    def story(self) -> str:
        """What people are told of the output."""
        return self.output[-_STORY_CHARACTERS:].strip()


def run_campaign(
    config: CampaignConfig,
    *,
    must_exist: bool = False,
    observer: LaunchObserver | None = None,
    clock: Clock | None = None,
) -> ExitCode:
    """Work on the campaign until it ends; resume it when it exists. Main thread only.

    `must_exist`: its folder was just read; none is made when that has gone meanwhile.

    Under an existing mpirun or srun this process joins as one of its ranks and never returns.
    Raises SymfleetError: BusyError when a live job owns the campaign, the root's own error when it
    could not go on, InternalError when epoch after epoch comes to nothing."""
    clock = clock or SystemClock()
    follow_if_told(clock)
    config = with_hostfile(config)
    config.require_complete()
    environment = inherited_environment()
    program = find_program(config, environment.get("PATH", os.defpath))
    engine_setup(config, str(program))  # refuses what no worker could start
    crash.arm(crash_spec(), lambda: "launcher")
    out = Path(config.output.out_dir).absolute()
    refuse_idle_connections(out, config)
    if must_exist and not out.exists():
        raise folder_is_gone(out, "nothing has this name now")
    with naming_the_disk(out):
        make_folder(out)
    if mpi_world_size() is not None:
        join_as_root(config, program, out, RUN_FOLDER, clock)
    mpirun = find_mpirun(environment.get("PATH", os.defpath))
    lock = CampaignLock(out, clock)
    with naming_the_disk(out):
        lock.acquire(config.advanced.lock_wait_s)
    crash.point("launcher.locked")
    try:
        with naming_the_disk(out):
            note_beginning(out, config, must_exist=must_exist)
        crash.point("launcher.noted")
        with StopSignals() as signals:
            launch = Launch(config, out, program, mpirun, clock, observer or Unobserved(), signals)
            return launch.run()
    finally:
        lock.release()


class Launch:
    """All epochs of one launch."""

    def __init__(
        self,
        config: CampaignConfig,
        out: Path,
        program: Path,
        mpirun: str,
        clock: Clock,
        observer: LaunchObserver,
        signals: StopSignals,
    ) -> None:
        """The caller holds the lock of `out`."""
        self._config = config
        self._out = out
        self._program = program
        self._mpirun = mpirun
        self._clock = clock
        self._observer = observer
        self._signals = signals
        self._began = clock.monotonic()
        self._home = Home(out)
        self._has_ledger = holds_campaign(out)
        """Or had one at any time of this launch: somebody may have emptied the folder since."""
        self._foreign = frozenset(processes.children_of_self())
        """Children that this process had before: none of our business."""
        self._capture = Capture(out / "logs" / "mpirun.log")
        self._executed = 0
        self._tail = b""
        self._no_space = ""
        self._start_failures = 0
        self._roster = Roster(config.resources, clock, self._tell)

    def run(self) -> ExitCode:
        """Run epochs until one ends with a verdict or no other is worth a try."""
        processes.become_subreaper()
        remove_run_dirs(self._out / RUN_FOLDER)
        policy = RestartPolicy()
        number = 0
        try:
            while True:
                number += 1
                before = read_summary(self._out)
                run_dir = self._out / RUN_FOLDER / str(number)
                end = self._run_epoch(run_dir)
                crash.point("launcher.ended")
                written = plans.read_outcome(run_dir / plans.OUTCOME)
                said = written or plans.outcome_in(end.output)
                self._sweep()
                after = read_summary(self._out)
                code = self._judge(end, said, before, after, policy)
                crash.point("launcher.judged")
                if code is not None:
                    return code
                self._roster.call_again()
                crash.point("launcher.restart")
        finally:
            self._sweep()
            self._capture.close()

    # ---- one epoch ---------------------------------------------------------------------------

    def _run_epoch(self, run_dir: Path) -> EpochEnd:
        used = (self._clock.monotonic() - self._began, self._executed)
        self._home.check()
        self._check_room("the job cannot start")
        crash.point("launcher.room_made")
        self._tail, self._no_space = b"", ""
        try:
            run_dir.mkdir(parents=True, exist_ok=True)
            files = short_path(run_dir)
            told = plans.plan_of(
                self._config,
                self._program,
                run_dir,
                os.getpid(),
                used,
                has_ledger=self._has_ledger,
            )
            placement = self._roster.placement
            sizes = () if placement is None else placement.sizes
            plan = plans.write_plan(msgspec.structs.replace(told, sizes=sizes))
            if placement is not None:
                write_agent(files, self._roster.ssh)
        except OSError as error:
            raise lack_of_room(error, self._out) from error
        crash.point("launcher.before_mpirun")
        child = processes.start_child(
            [
                *mpirun_command(self._mpirun, self._ranks, files, plan, self._other_hosts()),
                str(os.getpid()),
                socket.gethostname(),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=mpirun_environment(inherited_environment(), files),
        )
        try:
            crash.point("launcher.started")
            heard, silent = self._supervise(child, run_dir)
        finally:
            processes.kill_group(child)
            code, _ = processes.reap(child)
            self._read_output(child)
            assert child.stdout is not None
            child.stdout.close()
            self._roster.rest()
            self._end_below()
        return EpochEnd(code, heard, silent, self._tail.decode("utf-8", "replace"), self._no_space)

    @property
    def _ranks(self) -> int:
        placement = self._roster.placement
        return self._config.resources.ranks if placement is None else placement.ranks

    def _other_hosts(self) -> OtherHosts | None:
        placement = self._roster.placement
        if placement is None or not placement.remote:
            return None
        return OtherHosts(placement, self._roster.ssh, self._config.resources.network)

    def _check_room(self, what: str) -> None:
        """Raise IOFailure when the disk has no room for MPI and the ledger to start."""
        require_file_limit(self._out, largest_file(self._config))
        reserve = missing_reserve(self._out, self._config)
        room = room_of_start(self._ranks, self._config.resources.slots, reserve)
        require_room(self._out, self._out / RUN_FOLDER, room, what)

    def _supervise(self, child: subprocess.Popen[bytes], run_dir: Path) -> tuple[bool, bool]:
        """Return (the root was heard, it fell silent) when mpirun has ended or must end."""
        assert child.stdout is not None
        os.set_blocking(child.stdout.fileno(), False)
        beats = BeatWatch(self._clock.monotonic())
        asked = started = 0
        end_at: float | None = None
        while not processes.has_ended(child):
            select.select([child.stdout], [], [], _TICK_S)
            self._read_output(child)
            self._has_ledger = self._has_ledger or holds_campaign(self._out)
            now = self._clock.monotonic()
            if self._signals.count > asked:
                asked = self._signals.count
                end_at = now + _HARD_STOP_S if asked > 1 else end_at
                if not self._ask(run_dir, asked):
                    return beats.heard, False
            if end_at is None and (run_dir / plans.OUTCOME).exists():
                end_at = now + _LEAVE_S
            if end_at is not None and now >= end_at:
                return beats.heard, False
            if beats.is_silent(plans.read_beat(run_dir), now):
                self._tell("the root is silent: the job is ended and started again")
                return beats.heard, True
            if not beats.heard:
                # MPI's start is collective: the others would wait for a rank that died in it.
                alive = len(processes.children_of(child.pid))
                if alive < started == self._below and not processes.has_ended(child):
                    self._tell("a process died while the job was starting")
                    return False, False
                started = max(started, alive)
            if not asked and self._roster.is_worth_renewal(now) and self._renew(run_dir):
                self._tell("a host is back: going over to a new epoch")
            with contextlib.suppress(OSError):  # the terminal may be gone
                self._observer.ticked(now)
        beats.is_silent(plans.read_beat(run_dir), self._clock.monotonic())
        return beats.heard, False

    def _ask(self, run_dir: Path, asked: int) -> bool:
        """Hand a request to the root; False when that cannot be written."""
        if asked == 1:
            self._tell(f"{self._signals.last}: finishing what runs; once more stops at once")
            request = plans.DRAIN
        else:
            self._tell(f"{self._signals.last}: stopping at once")
            request = plans.STOP
        try:
            plans.write_visible(run_dir / plans.REQUEST, request.encode())
        except OSError as error:
            self._tell(f"the job cannot be asked to stop ({error.strerror}): it is ended")
            return False
        return True

    @property
    def _below(self) -> int:
        """How many processes mpirun has on this host once all ranks are there: its ranks, and a
        connection to each other host."""
        placement = self._roster.placement
        if placement is None:
            return self._ranks
        return len(placement.hosts[0].sizes) + len(placement.remote)

    @staticmethod
    def _renew(run_dir: Path) -> bool:
        """Ask the root to make room for a new epoch; False when that cannot be written."""
        try:
            plans.write_visible(run_dir / plans.REQUEST, plans.RENEW.encode())
        except OSError:
            return False
        return True

    def _read_output(self, child: subprocess.Popen[bytes]) -> None:
        """Move mpirun's output into its log, and remember the last of it."""
        assert child.stdout is not None
        with contextlib.suppress(BlockingIOError):
            while data := os.read(child.stdout.fileno(), _READ_BYTES):
                self._capture.write(data)
                said = self._tail + data
                self._no_space = self._no_space or words_of_lack(said)
                self._tail = said[-_TAIL_BYTES:]

    def _end_below(self) -> None:
        """End and reap everything that the epoch started: with its parents dead it is ours."""
        while processes.end_adopted(self._foreign):
            pass

    def _sweep(self) -> None:
        self._end_below()
        remove_run_dirs(self._out / RUN_FOLDER)
        with contextlib.suppress(OSError):
            (self._out / RUN_FOLDER).rmdir()

    # ---- between epochs ----------------------------------------------------------------------

    def _judge(
        self,
        end: EpochEnd,
        said: plans.EpochOutcome | None,
        before: EpochSummary | None,
        after: EpochSummary | None,
        policy: RestartPolicy,
    ) -> ExitCode | None:
        """Return the launch's exit code, or None when the next epoch is to be opened."""
        if said is not None and said.what:
            if said.workers:
                self._tell(_farewells(said))
            if said.slots:
                self._tell(_slots_words(said))
            raise plans.error_of_outcome(said, self._out)
        self._home.check()
        opened = after is not None and (before is None or after.epoch > before.epoch)
        decided = opened and after is not None and after.decisions > 0
        if opened and after is not None:
            self._executed += after.decisions
            if after.reason is not None:
                return self._exit_code(after)
        if self._is_asked():
            self._tell("stopped; `symfleet resume` goes on")
            return ExitCode.DONE
        self._check_room("the job died and cannot start again")
        if end.no_space:
            raise died_for_space(end.no_space, self._out)
        self._check_start(end)
        delay_s = policy.delay_after_crash(decided=decided)
        if delay_s is None:
            raise InternalError(
                "five launches in a row ended without a single decision",
                where=str(self._out),
                why=end.story or f"mpirun ended with {end.exit_code}",
                hint=f"read {self._out / 'logs'}; nothing is lost, `symfleet resume` tries again",
            )
        why = "the job died" if said is None else said.reason
        self._tell(f"{why}; opening the next epoch" + (f" in {delay_s:g} s" if delay_s else ""))
        self._wait(delay_s)
        return ExitCode.DONE if self._is_asked() else None

    def _is_asked(self) -> bool:
        """Whether somebody asked for the end."""
        return self._signals.count > 0

    def _check_start(self, end: EpochEnd) -> None:
        """Raise HostError when mpirun itself cannot start anything."""
        if end.heard or end.exit_code <= 0:
            self._start_failures = 0
            return
        self._start_failures += 1
        problem = self._roster.problem()
        if problem is not None:
            raise problem
        if self._start_failures >= _START_FAILURES_MAX:
            raise HostError(
                "mpirun cannot start the job",
                where=self._mpirun,
                why=end.story or f"it ended with {end.exit_code}",
                hint="`symfleet doctor` checks MPI on this host",
            )

    def _exit_code(self, after: EpochSummary) -> ExitCode:
        code = ExitCode(after.exit_code if after.exit_code is not None else ExitCode.INTEGRITY)
        if code is ExitCode.DONE and self._config.stop.fail_on_crash and after.crashes:
            return ExitCode.CRASHES_FOUND
        return code

    def _wait(self, seconds: float) -> None:
        deadline = self._clock.monotonic() + seconds
        while self._clock.monotonic() < deadline and not self._is_asked():
            self._clock.sleep(_TICK_S)

    def _tell(self, line: str) -> None:
        with contextlib.suppress(OSError):
            self._observer.told(line)


def _slots_words(said: plans.EpochOutcome) -> str:
    """Say how an epoch ended that failed, as the summary of another does (Q4)."""
    from symfleet.observe.lines import acknowledged_words

    return f"slots {acknowledged_words(said.slots, said.unacknowledged)}"


def _farewells(said: plans.EpochOutcome) -> str:
    """Say how the workers of an epoch that never was have ended (Q4)."""
    line = f"{said.workers - len(said.missing)}/{said.workers} processes acknowledged the end"
    if said.missing:
        line += "; not heard of: " + ", ".join(f"rank {rank}" for rank in said.missing)
    return line
