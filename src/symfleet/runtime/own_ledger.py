"""A coordinator's ledger when it writes over its own connection: each turn is its own transaction.

The root still opens and closes the epoch, and gives coordinators up. One that was given up finds
its session ended on the server and is refused there for good: for it the root is gone.
"""

from __future__ import annotations

from collections.abc import Sequence

from symfleet.ledger.contract import TurnLedger
from symfleet.ledger.postgres_owner import GivenUpError
from symfleet.protocol.answers import TurnAnswers
from symfleet.protocol.batch import BatchBounds
from symfleet.protocol.codec import Codec, kind_of
from symfleet.protocol.events import CoordinatorEvent, FrameReceived, RankLost
from symfleet.protocol.messages import TurnAnswer
from symfleet.protocol.operations import Operation
from symfleet.protocol.setup import Knobs
from symfleet.runtime.introduction import RootGone
from symfleet.runtime.layout import ROOT_RANK
from symfleet.runtime.remote_ledger import require_wanted


class OwnLedger:
    """The turns of one coordinator that is not the root."""

    def __init__(self, ledger: TurnLedger, codec: Codec, knobs: Knobs) -> None:
        self._ledger = ledger
        self._codec = codec
        self._own_bytes_max = knobs.turn_mib << 20
        self.bounds = BatchBounds.of(knobs, through_root=False)

    @property
    def waiting(self) -> bool:
        """Nothing is kept between turns."""
        return False

    @property
    def own_bytes_max(self) -> int:
        """How much this coordinator may take in for its next turn."""
        return self._own_bytes_max

    @property
    def stand_back(self) -> bool:
        """The server sees to fairness."""
        return False

    def arrived(self, events: Sequence[CoordinatorEvent]) -> Sequence[CoordinatorEvent]:
        """Return what is for the machine; raise RootGone when the root is dead or has given this
        coordinator up."""
        rest: list[CoordinatorEvent] = []
        for event in events:
            match event:
                case RankLost(rank) if rank == ROOT_RANK:
                    raise RootGone
                case FrameReceived(rank, data) if rank == ROOT_RANK and kind_of(data) is TurnAnswer:
                    require_wanted(self._codec, data)
                    rest.append(event)  # nobody waits for it: the machine counts it (D8)
                case _:
                    rest.append(event)
        return rest

    def run(self, operations: Sequence[Operation]) -> TurnAnswers | None:
        """Run a turn; return its answers, None when there was nothing to run."""
        if not operations:
            return None
        try:
            return self._ledger.run(operations)
        except GivenUpError as error:
            raise RootGone from error

    def checkpoint(self) -> None:
        """Do what the connection needs between turns."""
        self._ledger.checkpoint()

    def dismiss(self, rank: int) -> None:
        """Nobody sends turns here."""
