"""The coordinator's machine: events in, ledger operations and actions out.

How a loop drives it (architecture 2):

    while True:
        events, drained = take what has arrived (at most turn_results RESULTs or turn_mib)
        operations = machine.begin_turn(clock.monotonic(), events, drained=drained)
        answers = ledger.run(operations) if operations else TurnAnswers(())
        for action in machine.end_turn(answers): carry it out
            # Send: after a Send with a token has returned, call machine.sent(token) at once;
            # when it raised, hand SendFailed(rank, token) to the next turn.
        wait for an event, at most until machine.next_deadline()

When `ledger.run` raises, call `machine.fail(exit_code, reason)` instead of `end_turn` and go on
with the loop: the machine stops every worker and ends with Finish. `answers` of an empty turn is
`None`: nothing is known about the ledger that was not known before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symfleet.protocol.events import CoordinatorAction, CoordinatorEvent
from symfleet.protocol.operations import Operation, TurnAnswers
from symfleet.protocol.setup import CoordinatorSetup
from symfleet.types import DispatchToken, SlotAddress


@dataclass(frozen=True, slots=True)
class SlotView:
    """One slot as status shows it."""

    place: SlotAddress
    host: str
    state: str
    deliveries: int
    items: int
    running_s: float
    """Seconds since the last sign of progress of the delivery that runs; 0 when idle."""


@dataclass(frozen=True, slots=True)
class CoordinatorView:
    """One snapshot for status and screens."""

    phase: str
    slots: tuple[SlotView, ...]
    workers: int
    workers_joined: int
    acknowledged: int
    unacknowledged: tuple[str, ...]
    in_flight_items: int
    claimed_items: int
    hosts_paused: tuple[str, ...]
    idle_window_s: float | None
    faults: tuple[tuple[str, str, int], ...]


class Coordinator:
    """See the module's text. One instance serves one epoch."""

    def __init__(self, setup: CoordinatorSetup, now: float) -> None:
        """Begin with nothing in flight. `now`: monotonic seconds."""
        raise NotImplementedError

    def begin_turn(
        self, now: float, events: Sequence[CoordinatorEvent], *, drained: bool
    ) -> Sequence[Operation]:
        """Judge events, then sweep; return the operations for ONE transaction.

        `drained`: the transport was seen empty after the last event was taken."""
        raise NotImplementedError

    def end_turn(self, answers: TurnAnswers | None) -> Sequence[CoordinatorAction]:
        """Take the answers of a committed transaction; return what may leave the process now."""
        raise NotImplementedError

    def sent(self, token: DispatchToken) -> None:
        """Note that the Send of this delivery returned."""
        raise NotImplementedError

    def fail(self, exit_code: int, reason: str) -> None:
        """Begin a control stop (69, 70, 74): no more work, every worker is stopped and named."""
        raise NotImplementedError

    def next_deadline(self) -> float | None:
        """Return when the next turn must begin even without an event (monotonic seconds)."""
        raise NotImplementedError

    @property
    def finished(self) -> bool:
        """Whether Finish was returned."""
        raise NotImplementedError

    def story(self, subject: DispatchToken | SlotAddress) -> Sequence[str]:
        """Return what happened to a delivery or a slot, oldest first (bounded)."""
        raise NotImplementedError

    def view(self) -> CoordinatorView:
        """Return a snapshot for status."""
        raise NotImplementedError

    def validate_state(self) -> None:
        """Assert every invariant that holds between turns."""
        raise NotImplementedError
