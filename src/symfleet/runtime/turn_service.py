"""The owner's side of a turn: one transaction for the turns of all coordinators.

Theory of operation. The root owns the ledger. A coordinator elsewhere sends its turn as a numbered
TURN, and waits. Whatever has arrived when the root's own coordinator turns runs in ONE transaction
with its operations, up to `turn_mib` of new bytes, and each gets its own slice of the answers; what
arrives during the commit is the next batch. So a commit is paid once for all, and no coordinator
waits for another one's company.

Shares are fair when the ledger is what limits: the root's own part, which needs no message to be
there, stands back from a transaction when it has had its turn since those that wait had theirs. It
goes first in every other one, so that nobody is always served last when work is scarce; a verdict
of it is always last (Q3).

Numbers make a turn happen once: the same number again gets the same answer, and nothing else is
taken but the next one, of the very life that the root has introduced. What a coordinator may not
ask for, and what is out of order, changes nothing and counts as quarantined frame (D8): the root's
machine is told of it. When the transaction fails, every coordinator in it hears the same error.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from symfleet import crash
from symfleet.errors import DataError, SymfleetError
from symfleet.ledger.contract import TurnLedger
from symfleet.protocol.answers import Answer, TurnAnswers
from symfleet.protocol.batch import BatchBounds
from symfleet.protocol.codec import Codec, Frame, fault_of, kind_of
from symfleet.protocol.coordinator_view import CoordinatorView
from symfleet.protocol.events import CoordinatorEvent, FrameReceived, RankLost, TurnRefused
from symfleet.protocol.messages import SlotsSeen, Turn, TurnAnswer
from symfleet.protocol.operations import (
    AuditLeases,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    CountFaults,
    Operation,
    RecordAck,
    TakeOver,
)
from symfleet.protocol.pieces import Assembly, split
from symfleet.protocol.setup import Knobs
from symfleet.protocol.turns import (
    decode_operations,
    encode_answers,
    encode_error,
    turn_bytes_max,
)
from symfleet.transport.contract import NotSent, Transport
from symfleet.types import Incarnation

NEVER_AGAIN: Final = TurnAnswer(0, 0, 0, b"")
"""Told to a coordinator that was given up: no turn of it will be taken any more."""

_UNSENT_BYTES_MAX: Final = 64 << 20

OnCommitted = Callable[[Sequence[Operation], Sequence[Answer]], None]

_views: Final = msgspec.msgpack.Decoder(CoordinatorView)


@dataclass(slots=True)
class _Client:
    """A coordinator elsewhere."""

    number: int
    rank: int
    incarnation: Incarnation
    assembly: Assembly
    taken: int = 0
    """Number of its newest turn that is complete."""
    answer: bytes | None = None
    """Answer to that one; None while it waits."""
    unsent: deque[bytes] = field(default_factory=deque)
    """Frames of the answer that the transport has no room for yet."""
    served_at: int = 0
    """Number of the transaction that ran its newest turn."""
    view: CoordinatorView | None = None


@dataclass(slots=True)
class _Waiting:
    """A complete turn that is not in the ledger yet."""

    client: _Client
    operations: tuple[Operation, ...]
    size: int


@dataclass(slots=True)
class _Batch:
    """What one transaction takes along for others."""

    turns: list[_Waiting] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


class TurnService:
    """Runs the turns of the root's coordinator and of all others (see the module's text)."""

    def __init__(
        self,
        ledger: TurnLedger,
        transport: Transport,
        codec: Codec,
        clients: Mapping[int, tuple[int, Incarnation]],
        knobs: Knobs,
        on_committed: OnCommitted,
        *,
        through_root: bool = True,
    ) -> None:
        """`clients`: rank -> number and incarnation of each other coordinator. `on_committed` is
        told every operation of a transaction and its answer. `through_root`: the others' turns come
        here, not over connections of their own."""
        self._ledger = ledger
        self._transport = transport
        self._codec = codec
        self._budget = knobs.turn_mib << 20
        self.bounds = BatchBounds.of(knobs, through_root=through_root and bool(clients))
        """What the next turn of the root's own coordinator takes."""
        self._on_committed = on_committed
        self._clients = {
            rank: _Client(number, rank, incarnation, Assembly(turn_bytes_max(knobs)))
            for rank, (number, incarnation) in clients.items()
        }
        self._waiting: deque[_Waiting] = deque()
        self._own_first = False
        self._transactions = self._own_served_at = 0

    # ---- what the loop asks ----------------------------------------------------------------------

    @property
    def waiting(self) -> bool:
        """Whether a transaction is due even when the root's coordinator has nothing to run."""
        return bool(self._waiting)

    @property
    def own_bytes_max(self) -> int:
        """How much the root's coordinator may take in for its next turn: what the others leave,
        and its fair share in any case."""
        others = sum(turn.size for turn in self._waiting)
        return max(self._budget // (1 + len(self._clients)), self._budget - others)

    @property
    def stand_back(self) -> bool:
        """Whether the root's coordinator is to leave the next transaction to the others."""
        return any(turn.client.served_at < self._own_served_at for turn in self._waiting)

    def views(self) -> tuple[CoordinatorView, ...]:
        """Return what the other coordinators showed last of their slots."""
        return tuple(one.view for one in self._clients.values() if one.view is not None)

    def arrived(self, events: Sequence[CoordinatorEvent]) -> Sequence[CoordinatorEvent]:
        """Take the frames that are for the ledger; return what is for the machine."""
        if not self._clients:
            return events
        for client in self._clients.values():
            if client.unsent:
                self._send_on(client)
        rest: list[CoordinatorEvent] = []
        for event in events:
            match event:
                case FrameReceived(rank, data) if rank in self._clients:
                    kind = kind_of(data)
                    if kind is Turn or kind is SlotsSeen:
                        rest += self._frame(self._clients[rank], event)
                        continue
                case RankLost(rank):
                    self._forget(rank)
                case _:
                    pass
            rest.append(event)
        return rest

    def run(self, operations: Sequence[Operation]) -> TurnAnswers | None:
        """Run the root's operations with those that wait; return its own part of the answers, None
        when there was nothing at all. Raises what the ledger raises; everybody hears of it."""
        if not operations and not self.waiting:
            return None
        batch = self._next_batch()
        first = self._own_first and not any(
            isinstance(one, CommitQuiescence | CloseEpoch) for one in operations
        )
        everything = (*operations, *batch.operations) if first else (*batch.operations, *operations)
        if batch.turns:
            crash.point("turns.joined")
        try:
            answers = self._ledger.run(everything)
        except SymfleetError as error:
            for turn in batch.turns:
                self._reply(turn.client, encode_error(error))
            raise
        if batch.turns:
            crash.point("turns.committed")
        self._own_first = not self._own_first
        self._transactions += 1
        if operations:
            self._own_served_at = self._transactions
        start = 0 if first else len(batch.operations)
        self._hand_out(batch, answers, len(operations) if first else 0)
        if batch.turns:
            crash.point("turns.answered")
        self._on_committed(everything, answers.answers)
        return dataclasses.replace(
            answers, answers=answers.answers[start : start + len(operations)]
        )

    def checkpoint(self) -> None:
        """Let the ledger do what it does between turns."""
        self._ledger.checkpoint()

    def dismiss(self, rank: int) -> None:
        """Take no turn of a rank any more, and tell it so if it can still hear."""
        if rank in self._clients:
            with contextlib.suppress(NotSent):
                self._transport.send(rank, self._codec.seal(NEVER_AGAIN))
            self._forget(rank)

    # ---- frames ----------------------------------------------------------------------------------

    def _forget(self, rank: int) -> None:
        """Nothing of a lost coordinator runs after its leases were taken over (L2)."""
        client = self._clients.pop(rank, None)
        if client is not None:
            self._waiting = deque(turn for turn in self._waiting if turn.client is not client)

    def _frame(self, client: _Client, event: FrameReceived) -> Sequence[CoordinatorEvent]:
        """Take a frame; return what the root's machine is to count: a frame that cannot be believed
        as it came, a sound one that may not come with its reason."""
        opened = self._codec.open(event.data)
        if not isinstance(opened, Frame) or fault_of(opened, client.rank) is not None:
            return (event,)
        why = f"it is of life {opened.header.incarnation:x}"
        if opened.header.incarnation == client.incarnation:
            match opened.message:
                case Turn() as turn:
                    why = self._turn(client, turn)
                case SlotsSeen(shown):
                    why = self._show(client, shown)
                case _:
                    why = f"it is a {type(opened.message).__name__}"
        return (TurnRefused(client.rank, why),) if why else ()

    def _turn(self, client: _Client, turn: Turn) -> str:
        """Take a piece of a turn; return why it is set aside."""
        if turn.number == client.taken and client.taken:
            # Said again: it gets the same answer, now or when there is one.
            if client.answer is not None and turn.piece == turn.pieces - 1:
                self._send_answer(client, client.answer)
            return ""
        if turn.number != client.taken + 1:
            return f"it has the number {turn.number} after {client.taken}"
        try:
            whole = client.assembly.add(turn.number, turn.piece, turn.pieces, turn.data)
            if whole is None:
                return ""
            operations = decode_operations(whole)
            _require_own(client.number, operations)
        except DataError as error:
            client.taken = turn.number
            self._reply(client, encode_error(error))
            return str(error)
        client.taken, client.answer = turn.number, None
        self._waiting.append(_Waiting(client, operations, len(whole)))
        return ""

    def _show(self, client: _Client, shown: bytes) -> str:
        """Take a snapshot of slots; return why it is set aside."""
        try:
            client.view = _views.decode(shown)
        except (msgspec.MsgspecError, RecursionError) as error:
            return str(error)[:200]
        return ""

    # ---- a transaction ---------------------------------------------------------------------------

    def _next_batch(self) -> _Batch:
        """Take turns in the order of their arrival while they fit, one at least."""
        batch, size = _Batch(), 0
        while self._waiting and (not batch.turns or size + self._waiting[0].size <= self._budget):
            turn = self._waiting.popleft()
            batch.turns.append(turn)
            batch.operations += turn.operations
            size += turn.size
        return batch

    def _hand_out(self, batch: _Batch, answers: TurnAnswers, at: int) -> None:
        for turn in batch.turns:
            end = at + len(turn.operations)
            turn.client.served_at = self._transactions
            share = dataclasses.replace(answers, answers=answers.answers[at:end])
            self._reply(turn.client, encode_answers(share))
            at = end

    def _reply(self, client: _Client, answer: bytes) -> None:
        client.answer = answer
        self._send_answer(client, answer)

    def _send_answer(self, client: _Client, answer: bytes) -> None:
        pieces = split(answer, self._codec.body_bytes_max())
        client.unsent.clear()
        for piece, data in enumerate(pieces):
            message = TurnAnswer(client.taken, piece, len(pieces), data)
            client.unsent.append(self._codec.seal(message))
        self._send_on(client)

    def _send_on(self, client: _Client) -> None:
        """Hand over what there is room for: claimed inputs may be more than a queue holds. A
        coordinator that cannot be told waits until it is given up."""
        try:
            while client.unsent and self._transport.unsent_bytes(client.rank) < _UNSENT_BYTES_MAX:
                self._transport.send(client.rank, client.unsent[0])
                client.unsent.popleft()
        except NotSent:
            client.unsent.clear()


def _require_own(number: int, operations: Sequence[Operation]) -> None:
    """Raise DataError when a coordinator asks for what is another's or the root's alone."""
    for operation in operations:
        match operation:
            case (
                Claim(coordinator=named)
                | AuditLeases(coordinator=named)
                | CountFaults(coordinator=named)
                | RecordAck(coordinator=named)
            ):
                allowed = named == number
            case CommitQuiescence() | CloseEpoch() | TakeOver():
                allowed = False
            case _:
                allowed = True
        if not allowed:
            raise DataError(
                "a coordinator asked for what is not its own",
                where=f"coordinator {number}",
                why=f"it sent {type(operation).__name__}",
            )
