"""Named crash points: where tests let a process die, stop or meet an I/O error.

`point("label")` stands at every durable step. It costs one comparison with None while nothing is
armed, which is always so outside tests. `SYMFLEET_CRASH=label:occurrence:action` (read in `config`)
arms it; several are separated by commas. Actions: `kill` (SIGKILL to itself), `stop` (SIGSTOP),
`eio` and `enospc` (raise OSError as the system would), `sleep` (for a minute).

The armed plan is the one piece of module state in symfleet: a crash point must be reachable from
anywhere without being handed through every constructor.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from typing import Final

from symfleet.errors import UserError

LABELS: Final = frozenset(
    {
        "coordinator.after_commit",
        "coordinator.after_send",
        "coordinator.before_commit",
        "coordinator.before_mark",
        "coordinator.before_send",
        "coordinator.turn",
        "copy.batch",
        "copy.copied",
        "copy.verified",
        "file.rename",
        "file.renamed",
        "file.sync",
        "file.write",
        "filesystem.sync",
        "launcher.before_mpirun",
        "move.arrived",
        "move.noted",
        "move.retired",
        "publish.synced",
        "publish.written",
        "root.after_epoch",
        "root.before_epoch",
        "worker.before_send",
        "worker.run",
        "worker.start_executor",
    }
)
"""All crash points; a test passes each of them."""

_ACTIONS: Final = ("kill", "stop", "eio", "enospc", "sleep")
_SLEEP_S: Final = 60.0


class CrashPlan:
    """Which points do what, and how often each was passed."""

    def __init__(self, spec: str) -> None:
        """Parse `label:occurrence:action[,...]`; raise UserError for anything else."""
        self._armed: dict[tuple[str, int], str] = {}
        self._passed: dict[str, int] = {}
        for part in filter(None, spec.split(",")):
            label, _, rest = part.partition(":")
            occurrence, _, action = rest.partition(":")
            if label not in LABELS or not occurrence.isdigit() or action not in _ACTIONS:
                raise UserError(
                    f"not a crash point: {part!r}",
                    where="SYMFLEET_CRASH",
                    why=f"it must be label:occurrence:action, action one of {', '.join(_ACTIONS)}",
                    hint="unset SYMFLEET_CRASH outside tests",
                )
            self._armed[label, int(occurrence)] = action

    def passed(self, label: str) -> str | None:
        """Count a passage and return the action that is due, if any."""
        count = self._passed.get(label, 0) + 1
        self._passed[label] = count
        return self._armed.get((label, count))


_plan: CrashPlan | None = None


def arm(spec: str) -> None:
    """Arm the points of `spec`; an empty one disarms all."""
    global _plan  # noqa: PLW0603 - see the module's text
    _plan = CrashPlan(spec) if spec else None


def point(label: str) -> None:
    """Pass a crash point."""
    if _plan is None:
        return
    action = _plan.passed(label)
    if action is None:
        return
    os.write(2, f"symfleet: crash point {label}: {action}\n".encode())
    match action:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "eio":
            raise OSError(errno.EIO, os.strerror(errno.EIO), label)
        case "enospc":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), label)
        case _:
            time.sleep(_SLEEP_S)
