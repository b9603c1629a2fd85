"""A coordinator's ledger when another process owns it: each turn goes to the root and back.

While the answer is on its way this coordinator does nothing else, like the root while it commits:
it takes frames of the root only, and everything that others say waits in the transport. What the
root says beside the answer is kept for the next turn.

A turn is sent once: the transport loses nothing, and a root that does not answer is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from symfleet import crash
from symfleet.clock import Clock
from symfleet.protocol.answers import TurnAnswers
from symfleet.protocol.batch import BatchBounds
from symfleet.protocol.codec import Codec, Frame, kind_of
from symfleet.protocol.events import CoordinatorEvent, FrameReceived, RankLost
from symfleet.protocol.messages import Turn, TurnAnswer
from symfleet.protocol.operations import Claim, Operation
from symfleet.protocol.pieces import Assembly, split
from symfleet.protocol.setup import Knobs
from symfleet.protocol.turns import (
    decode_answers,
    encode_operations,
    turn_bytes_max,
)
from symfleet.runtime.introduction import RootGone
from symfleet.runtime.layout import ROOT_RANK
from symfleet.runtime.pace import Pace
from symfleet.runtime.turn_service import NEVER_AGAIN
from symfleet.transport.contract import NotSent, Transport
from symfleet.types import Incarnation

ANSWER_S: Final = 120.0
"""Twice the silence after which the launcher ends a root that does not turn."""
_FRAMES_MAX: Final = 64


class RemoteLedger:
    """The turns of one coordinator that is not the root."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        codec: Codec,
        incarnation: Incarnation,
        knobs: Knobs,
        answer_s: float = ANSWER_S,
    ) -> None:
        """`incarnation`: the life under which the root knows this coordinator. `answer_s`: after so
        long without an answer the root is gone."""
        self._transport = transport
        self._clock = clock
        self._codec = codec
        self._incarnation = incarnation
        self._answer_s = answer_s
        self._own_bytes_max = knobs.turn_mib << 20
        self.bounds = BatchBounds.of(knobs, through_root=True)
        self._bytes_max = turn_bytes_max(knobs)
        self._input_bytes = knobs.input_bytes
        self._number = 0
        self._kept: list[CoordinatorEvent] = []

    @property
    def waiting(self) -> bool:
        """Whether something that the root said is still to be heard."""
        return bool(self._kept)

    @property
    def own_bytes_max(self) -> int:
        """How much this coordinator may take in for its next turn."""
        return self._own_bytes_max

    @property
    def stand_back(self) -> bool:
        """The root sees to fairness."""
        return False

    def arrived(self, events: Sequence[CoordinatorEvent]) -> Sequence[CoordinatorEvent]:
        """Return what is for the machine, what came during the last turn first; raise RootGone when
        the root is dead or has given this coordinator up."""
        kept, self._kept = self._kept, []
        rest: list[CoordinatorEvent] = []
        for event in (*kept, *events):
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
        """Have the root run a turn; return its answers, None when there was nothing to run. Raises
        the error that the ledger raised there, and RootGone."""
        if not operations:
            return None
        crash.point("peer.turn")
        self._number += 1
        pieces = split(encode_operations(operations), self._codec.body_bytes_max())
        try:
            for piece, data in enumerate(pieces):
                turn = Turn(self._number, piece, len(pieces), data)
                frame = self._codec.seal(turn, incarnation=self._incarnation)
                self._transport.send(ROOT_RANK, frame)
        except NotSent as error:
            raise RootGone from error
        claimed = sum(one.limit for one in operations if isinstance(one, Claim))
        crash.point("peer.turn_sent")
        answer = self._await_answer(self._bytes_max + claimed * self._input_bytes)
        crash.point("peer.turn_answered")
        return decode_answers(answer)

    def checkpoint(self) -> None:
        """The owner does that."""

    def dismiss(self, rank: int) -> None:
        """Nobody sends turns here."""

    def _await_answer(self, bytes_max: int) -> bytes:
        assembly, pace = Assembly(bytes_max), Pace()
        deadline = self._clock.monotonic() + self._answer_s
        while self._clock.monotonic() < deadline:
            whole: bytes | None = None
            for event in self._transport.receive(_FRAMES_MAX, self._bytes_max, ROOT_RANK).events:
                if isinstance(event, RankLost):
                    raise RootGone
                answer = self._answer_in(event.data)
                if answer is None:
                    self._kept.append(event)
                else:
                    whole = assembly.add(answer.number, answer.piece, answer.pieces, answer.data)
            if whole is not None:
                return whole
            self._clock.sleep(pace.idle(0.0, None))
        raise RootGone

    def _answer_in(self, data: bytes) -> TurnAnswer | None:
        """Return the piece of this turn's answer that a frame holds, None when it is another."""
        if kind_of(data) is not TurnAnswer:
            return None
        require_wanted(self._codec, data)
        opened = self._codec.open(data)
        if isinstance(opened, Frame) and isinstance(opened.message, TurnAnswer):
            answer = opened.message
            return answer if answer.number == self._number else None
        return None


def require_wanted(codec: Codec, data: bytes) -> None:
    """Raise RootGone when a frame says that no turn of this coordinator is taken any more."""
    opened = codec.open(data)
    if isinstance(opened, Frame) and opened.message == NEVER_AGAIN:
        raise RootGone
