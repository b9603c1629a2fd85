"""The worker's machine: one rank with S slots; events in, actions out.

How a loop drives it:

    actions = machine.start(clock.monotonic())
    while True:
        carry out actions
        wait for events, at most until machine.next_deadline()
        actions = machine.handle(clock.monotonic(), events)

`handle` is called with an empty sequence when only the deadline passed. A `Leave` action is the
last one.
"""

from __future__ import annotations

from collections.abc import Sequence

from symfleet.protocol.events import WorkerAction, WorkerEvent
from symfleet.protocol.setup import WorkerSetup
from symfleet.types import DispatchToken, SlotAddress


class Worker:
    """See the module's text. One instance lives as long as its process."""

    def __init__(self, setup: WorkerSetup, now: float) -> None:
        """Begin with slots that have no executor yet. `now`: monotonic seconds."""
        raise NotImplementedError

    def start(self, now: float) -> Sequence[WorkerAction]:
        """Say hello."""
        raise NotImplementedError

    def handle(self, now: float, events: Sequence[WorkerEvent]) -> Sequence[WorkerAction]:
        """Judge events, then deadlines."""
        raise NotImplementedError

    def next_deadline(self) -> float | None:
        """Return when `handle` must be called even without an event (monotonic seconds)."""
        raise NotImplementedError

    def story(self, subject: DispatchToken | SlotAddress) -> Sequence[str]:
        """Return what happened to a delivery or a slot, oldest first (bounded)."""
        raise NotImplementedError

    def validate_state(self) -> None:
        """Assert every invariant that holds between calls."""
        raise NotImplementedError
