"""What the launcher tells its ranks, and what the root tells the launcher: files of one epoch.

All of it lies in OUT/.run/<number>/, a folder that nobody but this launch reads:

    plan.json     launcher -> ranks: the configuration (no secrets)
    request       launcher -> root: drain, hard stop, or make room for a new epoch
    beat          root -> launcher: a number that grows every two seconds
    outcome.json  root -> launcher: how the epoch ended, when the ledger cannot say so

A rank that reads a request or a launcher that reads a beat sees a whole file or none: all are
written by rename. None of it is needed to resume; a crash leaves it behind and the next launch
removes it under the lock.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from symfleet import errors
from symfleet.config.model import CampaignConfig
from symfleet.errors import ExitCode, InternalError, SymfleetError, naming_folder

if TYPE_CHECKING:  # the launcher reads outcomes, and needs no protocol for that
    from symfleet.protocol.events import Finish

PLAN: Final = "plan.json"
REQUEST: Final = "request"
BEAT: Final = "beat"
OUTCOME: Final = "outcome.json"
_OUTCOME_MARK: Final = "symfleet outcome: "

DRAIN: Final = "drain"
STOP: Final = "stop"
RENEW: Final = "renew"
"""Requests: the end in good order, the end at once, a new epoch with hosts that are back."""

OPENING: Final = b"0"
"""The first beat: MPI is up, the root opens the ledger, which may take long after a bad end."""


class EpochPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that a rank needs before it has heard anything."""

    config: CampaignConfig
    program: str
    """Absolute path of the target."""
    run_dir: str
    launcher_pid: int
    """0 in joined mode: nobody restarts the ranks."""
    command_line: str
    elapsed_s: float
    """Time that earlier epochs of this launch have used up (for --max-time)."""
    executed: int
    """Decisions of earlier epochs of this launch (for --max-executions)."""
    has_ledger: bool = False
    """Whether the campaign has one: then the root never makes another."""
    sizes: tuple[int, ...] = ()
    """Slots of each rank, 0 for a coordinator, where hosts were named; else as even as can be."""


class EpochOutcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How an epoch ended, in the four parts of an error when it was one."""

    exit_code: int
    reason: str
    what: str = ""
    where: str = ""
    why: str = ""
    hint: str = ""
    workers: int = 0
    """Ranks that were dismissed because there was no epoch to run; 0 when there was one."""
    missing: Sequence[int] = ()
    """Those of them that did not acknowledge."""
    slots: Sequence[str] = ()
    """Slots of each coordinator of an epoch that acknowledged the end, as `2/3`."""
    unacknowledged: Sequence[str] = ()
    """Who did not."""


def plan_of(
    config: CampaignConfig,
    program: Path,
    run_dir: Path,
    launcher: int,
    used: tuple[float, int],
    *,
    has_ledger: bool,
) -> EpochPlan:
    """Make the plan of an epoch. `used`: seconds and decisions of earlier epochs of the launch."""
    return EpochPlan(
        config=config,
        program=str(program),
        run_dir=str(run_dir),
        launcher_pid=launcher,
        command_line=shlex.join(sys.argv),
        elapsed_s=used[0],
        executed=used[1],
        has_ledger=has_ledger,
    )


def write_visible(path: Path, data: bytes) -> None:
    """Replace `path` in one step; raise OSError. Not durable: everything here dies with the
    launch."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


def write_plan(plan: EpochPlan) -> Path:
    """Write the plan into its run folder and return where."""
    path = Path(plan.run_dir) / PLAN
    write_visible(path, msgspec.json.encode(plan))
    return path


def read_plan(path: Path) -> EpochPlan:
    """Read what `write_plan` wrote."""
    return msgspec.json.decode(path.read_bytes(), type=EpochPlan)


def outcome_of_error(error: SymfleetError) -> EpochOutcome:
    """Describe an error for the launcher, by the family that its class belongs to."""
    families = (kind for kind in type(error).__mro__ if kind.__module__ == errors.__name__)
    return EpochOutcome(
        exit_code=int(error.exit_code),
        reason=next(families).__name__,
        what=error.what,
        where=error.where,
        why=error.why,
        hint=error.hint,
    )


def with_farewells(outcome: EpochOutcome, finish: Finish | None) -> EpochOutcome:
    """Say who acknowledged the end of an epoch that there was: its ledger may be what failed."""
    if finish is None:
        return outcome
    acks = sorted(finish.acks, key=lambda ack: ack.coordinator)
    return msgspec.structs.replace(
        outcome,
        slots=[f"{ack.acknowledged}/{ack.total}" for ack in acks],
        unacknowledged=finish.missing,
    )


_GOES_ON: Final = frozenset({ExitCode.HOST, ExitCode.IO})
"""Ends of an epoch after which the campaign goes on as it is once the cause is mended."""


def error_of_outcome(outcome: EpochOutcome, out: Path) -> SymfleetError:
    """Make the error again that `outcome_of_error` described; `out`: the campaign's folder, which
    it tells how to go on with when an epoch had begun."""
    family = getattr(errors, outcome.reason, None)
    if not (isinstance(family, type) and issubclass(family, SymfleetError)):
        family = InternalError
    folder = shlex.quote(str(out))
    hint = naming_folder(outcome.hint, folder)
    if outcome.slots and outcome.exit_code in _GOES_ON and "symfleet resume" not in hint:
        hint += f"{'; then ' if hint else ''}`symfleet resume {folder}` goes on"
    error = family(outcome.what, where=outcome.where, why=outcome.why, hint=hint)
    assert isinstance(error, SymfleetError)
    error.exit_code = ExitCode(outcome.exit_code)
    return error


def write_outcome(path: Path, outcome: EpochOutcome) -> bool:
    """Say how the epoch ended; return whether the disk took it."""
    try:
        write_visible(path, msgspec.json.encode(outcome))
    except OSError:
        return False
    return True


def outcome_line(outcome: EpochOutcome) -> str:
    """Return a line of output that says the same, for a root whose disk takes nothing."""
    return f"{_OUTCOME_MARK}{msgspec.json.encode(outcome).decode()}\n"


def outcome_in(output: str) -> EpochOutcome | None:
    """Return what the last such line of an epoch's output says, None when it has none."""
    for line in reversed(output.splitlines()):
        if line.startswith(_OUTCOME_MARK):
            with contextlib.suppress(msgspec.DecodeError):
                return msgspec.json.decode(line.removeprefix(_OUTCOME_MARK), type=EpochOutcome)
    return None


def read_outcome(path: Path) -> EpochOutcome | None:
    """Return what the root said, None when it said nothing."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=EpochOutcome)
    except (OSError, msgspec.DecodeError):
        return None


class Requests:
    """The root's view of the launcher's requests: the newest, and only when it is new."""

    def __init__(self, run_dir: Path) -> None:
        self._path = run_dir / REQUEST
        self._seen = ""

    def poll(self) -> str | None:
        """Return a request that is new, None otherwise."""
        try:
            text = self._path.read_text()
        except OSError:
            return None
        if text == self._seen:
            return None
        self._seen = text
        return text


class Beats:
    """The root's sign of life."""

    def __init__(self, run_dir: Path) -> None:
        self._path = run_dir / BEAT
        self._number = 0

    def opening(self) -> None:
        """Say that MPI is up."""
        with contextlib.suppress(OSError):
            write_visible(self._path, OPENING)

    def beat(self) -> None:
        """Say that the root's loop turns, in place: a full disk must not look like a dead root."""
        self._number += 1
        with contextlib.suppress(OSError):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                os.write(descriptor, b"%020d" % self._number)
            finally:
                os.close(descriptor)


def read_beat(run_dir: Path) -> bytes:
    """Return the newest beat, empty before the first."""
    try:
        return (run_dir / BEAT).read_bytes()
    except OSError:
        return b""
