"""Named crash points: where tests let a process die, stop or meet an I/O error.

`point("label")` stands at every durable step. It costs one comparison with None while nothing is
armed, which is always so outside tests. `SYMFLEET_CRASH=label:occurrence:action[:place]` (read in
`config`) arms it; several are separated by commas. Actions: `kill` (SIGKILL to itself), `stop`
(SIGSTOP), `eio` and `enospc` (raise OSError as the system would), `sleep` (for a minute), `note`
(say that it was passed, and go on). Each process counts its passages by itself. `place` says which
processes are meant: `launcher`, or RANK/EPOCH of a launch (`0/1`: the root of its first epoch; `*`
stands for any); without it every process is.

The armed plan is the one piece of module state in symfleet: a crash point must be reachable from
anywhere without being handed through every constructor.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Final

from symfleet.errors import UserError

LABELS: Final[Mapping[str, str]] = {
    # One operation of a turn: applied inside its transaction, and durable.
    "admit.applied": "inputs from outside stand in the transaction",
    "admit.committed": "they are durable, nobody has heard of it",
    "close.applied": "the verdict stands in the transaction",
    "close.committed": "the epoch is closed, the process lives",
    "decide.applied": "a result, its children and counters stand in the transaction",
    "decide.committed": "the decision is durable, nobody has heard of it",
    "generation.applied": "another program's generation stands in the transaction",
    "generation.committed": "it has begun, no epoch of it was opened",
    "giveback.applied": "a release, deferral or blame stands in the transaction",
    "giveback.committed": "it is durable",
    "lease.applied": "leases stand in the transaction",
    "lease.committed": "they are committed, nothing was sent",
    "mark.applied": "a sink's mark was moved in the transaction",
    "mark.committed": "published for good",
    "quiescence.applied": "the vote stands in the transaction",
    "quiescence.committed": "the campaign is quiescent, its end is not written",
    "takeover.applied": "the leases of a lost coordinator are pending in the transaction",
    "takeover.committed": "they are pending, its workers serve nobody",
    # The ledger itself.
    "checkpoint.after": "the write-ahead log was folded back",
    "checkpoint.before": "it is about to be",
    "commit.after": "a transaction is durable",
    "commit.before": "everything of it was written but COMMIT",
    "create.named": "a new ledger has its name",
    "create.written": "it is complete, under another name",
    "epoch.applied": "older leases are void and the epoch's row is written, in the transaction",
    "epoch.checked": "the start check is over, nothing was written",
    "epoch.committed": "the epoch is open",
    "epoch.reserved": "the reserve file is there, the epoch is not open",
    "highwater.after": "OUT/highwater tells of the newest decision",
    "highwater.before": "it is about to",
    "ledger.closed": "everything is folded back and marked, the lock is still held",
    "migrate.before": "a step of the schema is due",
    "migrate.step": "it is done",
    # Another store.
    "backup.named": "a backup has its name",
    "backup.written": "it is complete, not verified, under another name",
    "copy.batch": "some rows have arrived in the other store",
    "copy.copied": "all have",
    "copy.prepared": "the other store is marked as an unfinished copy",
    "copy.verified": "the copy is proved",
    "move.arrived": "the new ledger has its name",
    "move.finished": "the note of the move is gone",
    "move.noted": "the switch is made, names are not",
    "move.retired": "the old ledger has lost its name",
    # Files.
    "export.synced": "exported files are durable",
    "export.written": "one file of an export is there",
    "file.rename": "a file is written beside its place",
    "file.renamed": "it is in its place",
    "file.sync": "its bytes are written, not durable",
    "file.write": "it is empty",
    "filesystem.sync": "many files are to be made durable",
    "inbox.answered": "a command is answered and still there",
    "inbox.dropped": "an input stands in the inbox",
    "inbox.taken": "an input of the inbox is durable, its file still there",
    "poison.written": "one poisoned item is shown",
    "publish.file": "one file of an artefact is in its place",
    "publish.set_aside": "a wrong file is gone from its place",
    "publish.synced": "files are durable, the mark has not moved",
    "publish.written": "all files of an artefact are in place, not durable",
    "readme.written": "README.txt is there",
    "stats.fuzzer": "fuzzer_stats is renewed, plot_data is not",
    "stats.plot": "plot_data has a new line",
    "stats.status": "status.json is renewed",
    # The launcher.
    "launcher.before_mpirun": "the plan is written",
    "launcher.ended": "mpirun was ended and reaped, its files are there",
    "launcher.judged": "the epoch was judged",
    "launcher.locked": "the campaign is locked, nothing was written",
    "launcher.noted": "what was asked for is written down",
    "launcher.restart": "the next epoch is about to be opened",
    "launcher.room_made": "there is room for a start",
    "launcher.started": "mpirun runs",
    # The root, and every coordinator.
    "coordinator.after_commit": "a turn was answered",
    "coordinator.after_send": "a frame is sent",
    "coordinator.before_commit": "a turn's operations are known",
    "coordinator.before_mark": "a publisher asks for its mark",
    "coordinator.before_send": "a frame is about to be sent",
    "coordinator.gave_up": "a silent rank was given up",
    "coordinator.turn": "a turn begins",
    "result.decided": "a turn with a result is durable, its files are not written",
    "result.received": "a result has arrived, nothing was made of it",
    "result.undecided": "a result was judged, the turn that decides it has not run",
    "root.after_epoch": "the epoch is open",
    "root.before_epoch": "the ledger is owned",
    "root.configured": "campaign.toml is renewed",
    "root.introduced": "every rank knows what it is",
    "root.told": "how the epoch ended is said to the launcher",
    "root.untold": "it is not",
    "root.watched": "sources are registered",
    # A coordinator that is not the root, and who serves it.
    "peer.turn": "it has a turn for the root",
    "peer.turn_answered": "the answer has come",
    "peer.turn_sent": "it waits for the answer",
    "turns.answered": "the root has told all coordinators what became of their turns",
    "turns.committed": "their turns are durable",
    "turns.joined": "they are about to run with the root's own",
    # Workers.
    "executor.gone": "an executor has ended and was reaped",
    "executor.reset": "it is to be killed",
    "executor.started": "its process is there",
    "worker.adopted": "a worker serves another coordinator",
    "worker.before_send": "a frame is about to be sent",
    "worker.received": "frames have arrived",
    "worker.result": "an execution is done, its result was not sent",
    "worker.run": "an item is about to run",
    "worker.sent": "a frame is sent",
    "worker.start_executor": "an executor is about to be started",
}
"""All crash points, and what has happened at each; a test passes every one of them."""

_ACTIONS: Final = ("kill", "stop", "eio", "enospc", "sleep", "note")
_SLEEP_S: Final = 60.0
_PARTS: Final = (3, 4)

Place = Callable[[], str]


def _anywhere() -> str:
    return ""


class CrashPlan:
    """Which points do what, and how often each was passed at each place."""

    def __init__(self, spec: str, place: Place = _anywhere) -> None:
        """Parse `label:occurrence:action[:place][,...]`; raise UserError for anything else."""
        self.where = place
        self._armed: dict[tuple[str, int], list[tuple[str, str]]] = {}
        self.passages: dict[tuple[str, str], int] = {}
        """(place, label) -> how often."""
        for part in filter(None, spec.split(",")):
            words = part.split(":")
            label, occurrence, action, where = (*words, "*", "*", "*")[:4]
            known = label in LABELS and occurrence.isdecimal() and action in _ACTIONS
            if len(words) not in _PARTS or not known:
                raise UserError(
                    f"not a crash point: {part!r}",
                    where="SYMFLEET_CRASH",
                    why="it must be label:occurrence:action or label:occurrence:action:place, "
                    f"action one of {', '.join(_ACTIONS)}",
                    hint="unset SYMFLEET_CRASH outside tests",
                )
            self._armed.setdefault((label, int(occurrence)), []).append((where, action))

    def passed(self, label: str) -> str | None:
        """Count a passage and return the action that is due, if any."""
        here = self.where()
        count = self.passages.get((here, label), 0) + 1
        self.passages[here, label] = count
        for where, action in self._armed.get((label, count), ()):
            if fnmatchcase(here, where):
                return action
        return None


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


_plan: CrashPlan | None = None
_kill: Callable[[], None] = _die


def arm(spec: str, place: Place = _anywhere, kill: Callable[[], None] = _die) -> None:
    """Arm the points of `spec`; an empty one disarms all. `place`: where the caller is, asked at
    each passage. `kill`: what `kill` does."""
    global _plan, _kill  # noqa: PLW0603 - see the module's text
    _plan = CrashPlan(spec, place) if spec else None
    _kill = kill


def count(place: Place = _anywhere) -> Mapping[tuple[str, str], int]:
    """Disarm all points, but count their passages from now on; return the live counts by place and
    label."""
    global _plan  # noqa: PLW0603 - see the module's text
    _plan = CrashPlan("", place)
    return _plan.passages


def noting(labels: Iterable[str]) -> str:
    """Return the spec that has every process say at which of these points it was."""
    return ",".join(f"{label}:1:note" for label in labels)


def is_armed() -> bool:
    """Whether passages count: for points whose condition is not free."""
    return _plan is not None


def point(label: str) -> None:
    """Pass a crash point."""
    if _plan is None:
        return
    action = _plan.passed(label)
    if action is None:
        return
    here = _plan.where()
    os.write(2, f"symfleet: crash point {label}: {action}{here and f' ({here})'}\n".encode())
    match action:
        case "kill":
            _kill()
        case "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "eio":
            raise OSError(errno.EIO, os.strerror(errno.EIO), label)
        case "enospc":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), label)
        case "sleep":
            time.sleep(_SLEEP_S)
        case _:
            pass
