"""Measures a campaign with very many records: listing, opening, resuming, telling, verifying."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from symfleet.clock import SystemClock
from symfleet.config.environment import inherited_environment
from symfleet.ledger import opener
from symfleet.runtime.launcher import RUN_FOLDER
from symfleet.runtime.mpirun import find_mpirun, mpirun_command
from symfleet.testing.jobs import Job, Role, until
from symfleet.testing.million.campaign import Million, refill
from symfleet.testing.programs import ProgramCampaign
from symfleet.types import WorkState

_POLL_S: Final = 0.002
_DEADLINE_S: Final = 120.0
_EMPTY: Final = "from mpi4py import MPI"
_OPEN_STATES: Final = (WorkState.PENDING, WorkState.LEASED, WorkState.DEFERRED)


class Figure(msgspec.Struct, frozen=True):
    """Repetitions of one thing."""

    unit: str
    median: float
    low: float
    high: float
    values: tuple[float, ...]

    @classmethod
    def of(cls, unit: str, values: Sequence[float]) -> Figure:
        """Return the figure of some values."""
        rounded = tuple(round(value, 3) for value in values)
        return cls(unit, round(statistics.median(rounded), 3), min(rounded), max(rounded), rounded)


@dataclass(slots=True)
class Resumes:
    """Times until the first execution of a job that goes on, beside a bare start of MPI."""

    bare_s: list[float]
    restart_s: list[float]
    """From the root's death by SIGKILL on: its launcher opens the next epoch."""
    command_s: list[float]
    """From `symfleet resume` on, after the launcher's death by SIGKILL."""
    root_mib: list[float]
    executed: int
    repeated: list[str]
    """Inputs that were executed after they had been decided: none."""


def times_ms(run: Callable[[], object], repetitions: int) -> Figure:
    """Repeat something short."""
    values = []
    for _ in range(repetitions):
        began = time.perf_counter()
        run()
        values.append((time.perf_counter() - began) * 1e3)
    return Figure.of("ms", values)


def listing(million: Million, repetitions: int) -> dict[str, Figure]:
    """Measure readers and the start check."""
    out = million.campaign.out
    reader = opener.open_reader(out)

    def list_open() -> None:
        found = sum(len(reader.work_rows(state, 10**9)) for state in _OPEN_STATES)
        assert found, "nothing is open"

    def own() -> None:
        opener.open_owner(out, opener.OwnerRequest("here", os.getpid()), SystemClock()).close()

    figures = {
        "open work listed": times_ms(list_open, 5 * repetitions),
        "status read": times_ms(reader.status, repetitions),
    }
    reader.close()
    figures["reader opens"] = times_ms(lambda: opener.open_reader(out).close(), repetitions)
    figures["owner opens, start check included"] = times_ms(own, repetitions)
    return figures


def program(*words: str) -> tuple[float, float, int]:
    """Run the command line program; return seconds, MiB at most, and its exit code."""
    path = Path(sysconfig.get_path("scripts")) / "symfleet"
    began = time.perf_counter()
    process = subprocess.Popen(
        [str(path), *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - began, usage.ru_maxrss / 1024, process.returncode


def programs(million: Million, repetitions: int, verifications: int) -> dict[str, Any]:
    """Measure what people call."""
    out = str(million.campaign.out)
    told = [program("status", out) for _ in range(repetitions)]
    checked = [program("verify", out) for _ in range(verifications)]
    assert {code for *_, code in told} <= {0}, told
    figures: dict[str, Any] = {"symfleet status": Figure.of("s", [one[0] for one in told])}
    if checked:
        figures |= {
            "symfleet verify": Figure.of("s", [one[0] for one in checked]),
            "memory of symfleet verify": Figure.of("MiB", [one[1] for one in checked]),
            "exit codes of symfleet verify": [one[2] for one in checked],
        }
    return figures


# ---- going on -----------------------------------------------------------------------------------


def resumes(million: Million, repetitions: int) -> Resumes:
    """Kill and go on, again and again, on the campaign itself."""
    campaign = million.campaign
    found = Resumes([], [], [], [], 0, [])
    before = len(campaign.runs())
    for number in range(repetitions):
        refill(campaign, time.time_ns())
        found.bare_s.append(bare_start(campaign))
        with _running(campaign, ()) as job:
            _one_restart(campaign, job, found)
        found.command_s.append(_one_command(campaign, found))
        found.bare_s.append(bare_start(campaign))
        print(f"resume {number + 1}: {found}", file=sys.stderr)
    found.executed = len(campaign.runs()) - before
    return found


def bare_start(campaign: ProgramCampaign) -> float:
    """Return how long mpirun takes for as many ranks of a Python program that only begins MPI."""
    ranks = campaign.config().resources.ranks
    command = mpirun_command(find_mpirun(os.defpath), ranks, campaign.tmp, Path("unused"))
    launch = [*command[: command.index(sys.executable)], sys.executable, "-c", _EMPTY]
    began = time.perf_counter()
    subprocess.run(launch, stdin=subprocess.DEVNULL, check=True, env=inherited_environment())
    return time.perf_counter() - began


@contextlib.contextmanager
def _running(campaign: ProgramCampaign, launcher: Sequence[str]) -> Iterator[Job]:
    """A job that has decided something in this launch."""
    job = campaign.job(launcher=launcher) if launcher else campaign.job()
    decided = _decided(campaign)
    job.start()
    try:
        until("something is decided", lambda: len(_decided(campaign)) > len(decided), _DEADLINE_S)
        yield job
    finally:
        job.members()
        job.end()
        job.assert_nothing_left()


def _one_restart(campaign: ProgramCampaign, job: Job, found: Resumes) -> None:
    (root,) = job.find(Role.ROOT)
    found.root_mib.append(_peak_mib(root.pid))
    before = _launches(campaign)
    began = time.perf_counter()
    job.kill(root)
    # What the old epoch's workers had begun before they ended is no news of the new one, whose
    # folder is made when they have. (To look for its root among all processes would take a core.)
    until("another epoch begins", lambda: _launches(campaign) > before, _DEADLINE_S)
    done, lines = _decided(campaign), len(campaign.runs())
    found.restart_s.append(_first_execution(campaign, lines) - began)
    time.sleep(1.0)  # more of it are begun
    found.repeated += [digest for digest in campaign.runs()[lines:] if digest in done]


def _one_command(campaign: ProgramCampaign, found: Resumes) -> float:
    """Return the time of `symfleet resume` in a campaign whose launcher was killed."""
    done, lines = _decided(campaign), len(campaign.runs())
    path = Path(sysconfig.get_path("scripts")) / "symfleet"
    words = ("sh", "-c", f'exec "{path}" resume "{campaign.out}" --screen none')
    began = time.perf_counter()
    job = campaign.job(launcher=words)
    job.start()
    try:
        took = _first_execution(campaign, lines) - began
        time.sleep(1.0)
    finally:
        job.members()
        job.end()
        job.assert_nothing_left()
    found.repeated += [digest for digest in campaign.runs()[lines:] if digest in done]
    return took


def _first_execution(campaign: ProgramCampaign, lines: int) -> float:
    """Return when the engine program first says that it runs."""
    deadline = time.perf_counter() + _DEADLINE_S
    size = 65 * lines
    while time.perf_counter() < deadline:
        if campaign.log.exists() and campaign.log.stat().st_size > size:
            return time.perf_counter()
        time.sleep(_POLL_S)
    raise AssertionError("nothing is executed")


def _decided(campaign: ProgramCampaign) -> set[str]:
    """Return digests of what was decided since the campaign was made: not the many records."""
    path = f"file:{campaign.out / 'ledger.db'}?mode=ro"
    statement = (
        "SELECT hex(i.digest) FROM work AS w JOIN inputs AS i ON i.input = w.input"
        " WHERE w.work > ? AND w.state = 'done'"
    )
    made = msgspec.json.decode((campaign.folder / "made.json").read_bytes())
    with contextlib.closing(sqlite3.connect(path, uri=True)) as connection:
        rows = connection.execute(statement, (made["records"],))
        return {digest.lower() for (digest,) in rows}


def _launches(campaign: ProgramCampaign) -> int:
    """Return the number of the newest launch of mpirun that is there, 0 when none is."""
    folder = campaign.out / RUN_FOLDER
    return max((int(path.name) for path in folder.glob("*") if path.name.isdigit()), default=0)


def _peak_mib(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("VmHWM:")[2].split()[0]) / 1024
