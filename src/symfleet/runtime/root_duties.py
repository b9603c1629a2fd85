"""What the root looks after beside its turns: the launcher and the stop rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from symfleet.errors import ExitCode
from symfleet.ledger.contract import LedgerStatus
from symfleet.protocol.events import CoordinatorEvent, StopRequested
from symfleet.runtime.plan import DRAIN, RENEW, Beats, Requests
from symfleet.runtime.stop_rules import DRAIN_S, StopRules

_BEAT_S: Final = 2.0
_REQUEST_S: Final = 0.05
_LOOK_S: Final = 1.0
"""How often the root looks what coordinators decide that write without it."""


class RootDuties:
    """Beats for the launcher, hears its requests, asks the stop rules."""

    def __init__(
        self,
        run_dir: Path,
        stop_rules: StopRules,
        status: Callable[[], LedgerStatus] | None = None,
    ) -> None:
        """`status`: of the ledger, when not all turns go through the root."""
        self._beats = Beats(run_dir)
        self._requests = Requests(run_dir)
        self._stop_rules = stop_rules
        self._status = status
        self._beat_at = self._request_at = self._look_at = 0.0

    def step(self, now: float) -> Sequence[CoordinatorEvent]:
        """Do what is due; return requests to stop."""
        events: list[CoordinatorEvent] = []
        if now >= self._beat_at:
            self._beat_at = now + _BEAT_S
            self._beats.beat()
        if now >= self._request_at:
            self._request_at = now + _REQUEST_S
            request = self._requests.poll()
            if request is not None:
                events.append(_asked(request))
        if self._status is not None and now >= self._look_at:
            self._look_at = now + _LOOK_S
            self._stop_rules.look(self._status(), now)
        stop = self._stop_rules.due(now)
        if stop is not None:
            events.append(stop)
        return events


def _asked(request: str) -> StopRequested:
    if request == RENEW:
        return StopRequested("a host is back", int(ExitCode.DONE), DRAIN_S, restart=True)
    return StopRequested("interrupted", int(ExitCode.DONE), DRAIN_S if request == DRAIN else 0.0)
