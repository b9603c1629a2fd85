"""What the loops show to whoever watches: a narrow border to `observe`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the launcher loads this module, and none of those: its start would double
    from symfleet.protocol.coordinator import CoordinatorView
    from symfleet.protocol.events import Note


class EpochObserver(Protocol):
    """Watches one epoch from inside a coordinator."""

    def turned(self, now: float, view: Callable[[], CoordinatorView]) -> None:
        """Called after every turn of the loop; must be cheap unless something is due."""
        ...

    def noted(self, note: Note) -> None:
        """Something worth a log line."""
        ...

    def finished(self, now: float) -> None:
        """The last call: the epoch is closed."""
        ...


class LaunchObserver(Protocol):
    """Watches a launch from inside the launcher, which has the terminal."""

    def ticked(self, now: float) -> None:
        """Called about ten times a second while ranks run."""
        ...

    def told(self, line: str) -> None:
        """One line for people: an epoch began, crashed, or a stop was asked for."""
        ...


class Unobserved:
    """Nobody watches."""

    def turned(self, now: float, view: Callable[[], CoordinatorView]) -> None:
        """Ignore it."""

    def noted(self, note: Note) -> None:
        """Ignore it."""

    def finished(self, now: float) -> None:
        """Ignore it."""

    def ticked(self, now: float) -> None:
        """Ignore it."""

    def told(self, line: str) -> None:
        """Ignore it."""
