"""Signals to the launcher: the first asks for a clean end, the second for a hard one."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any, Final, Self

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSignals:
    """Counts SIGINT, SIGTERM and SIGHUP while it is entered; main thread only.

    A terminal that closes sends SIGHUP twice as a rule (to the session's leader and to the
    foreground group), so that one counts once."""

    def __init__(self) -> None:
        self._count = 0
        self._hung_up = False
        self._older: dict[int, Any] = {}
        self.last = ""

    @property
    def count(self) -> int:
        """How often an end was asked for."""
        return self._count

    def __enter__(self) -> Self:
        for signum in _SIGNALS:
            self._older[signum] = signal.signal(signum, self._take)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for signum, handler in self._older.items():
            signal.signal(signum, handler)

    def _take(self, signum: int, _frame: FrameType | None) -> None:
        if signum == signal.SIGHUP:
            if self._hung_up:
                return
            self._hung_up = True
        self._count += 1
        self.last = signal.Signals(signum).name
