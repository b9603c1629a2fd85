"""One coordinator machine on a bench: a memory ledger below it, hand-made workers around it.

A test says what arrives, turn by turn, and looks at what leaves. After each turn the machine's
invariants are asserted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from symfleet.ledger.contract import CampaignRow, EpochRequest, GenerationKey
from symfleet.ledger.memory import MemoryLedger
from symfleet.protocol.answers import Failed, SinkRow, TurnAnswers
from symfleet.protocol.codec import Codec, Frame, Header
from symfleet.protocol.coordinator import Coordinator
from symfleet.protocol.core import Core
from symfleet.protocol.events import (
    CoordinatorAction,
    CoordinatorEvent,
    Finish,
    FrameReceived,
    Publish,
    Scan,
    ScanFinished,
    Send,
    SendFailed,
    SinkAdvanced,
    SourceBatch,
)
from symfleet.protocol.item_results import ItemResult
from symfleet.protocol.messages import AnyMessage, EngineSetup, Hello, Ready, Result, Work
from symfleet.protocol.operations import Admission, Operation
from symfleet.protocol.result_frames import settle
from symfleet.protocol.setup import CoordinatorSetup, Knobs, Peer, SourceSetup
from symfleet.protocol.tokens import NO_TOKEN
from symfleet.protocol.work import WorkItem, encode_item, state_id_of, work_id_of
from symfleet.testing.fake_clock import FakeClock
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.types import (
    CampaignId,
    DispatchToken,
    Epoch,
    GenerationId,
    Incarnation,
    Keep,
    SinkKind,
    input_id_of,
)

CAMPAIGN: Final = CampaignId("ca" * 16)
GENERATION: Final = GenerationId("9e" * 32)
ENGINE: Final = EngineSetup(("synthetic",), ("t",), "file", "all", {}, 0, {})


def admission(data: bytes, strategy: str | None = None, bound: int | None = None) -> Admission:
    """Return an input with its work item, as a scan would."""
    item = WorkItem(GENERATION, input_id_of(data), bound=bound, strategy=strategy)
    return Admission(
        item.input, data, work_id_of(item), state_id_of(item), encode_item(item), "a test"
    )


@dataclass(frozen=True, slots=True)
class Delivered:
    """A WORK that left."""

    rank: int
    slot: int
    incarnation: int
    token: DispatchToken
    work: Work


@dataclass(slots=True)
class Turn:
    """What one turn showed."""

    operations: Sequence[Operation]
    answers: TurnAnswers | None
    actions: Sequence[CoordinatorAction]
    messages: list[tuple[int, Header, AnyMessage]] = field(default_factory=list)

    def of(self, kind: type[AnyMessage]) -> list[AnyMessage]:
        """Return the messages of a kind that left."""
        return [message for _, _, message in self.messages if isinstance(message, kind)]

    @property
    def works(self) -> list[Delivered]:
        """Return the deliveries that left."""
        return [
            Delivered(rank, header.slot or 0, header.incarnation, header.token, message)
            for rank, header, message in self.messages
            if isinstance(message, Work)
        ]

    @property
    def finish(self) -> Finish | None:
        """Return the end, if this turn was the last."""
        return next((a for a in self.actions if isinstance(a, Finish)), None)


class CoordinatorBench:
    """See the module's text. `lives` has the incarnation of each slot. `peers`: ranks of the other
    coordinators; `orphans`: ranks of the workers of the last of them."""

    def __init__(  # noqa: PLR0913 - each has a default; a test names what it needs
        self,
        *,
        workers: int = 1,
        slots: int = 1,
        keep: Keep = Keep.ALL,
        knobs: Knobs | None = None,
        program: SyntheticProgram | None = None,
        exhaustive: bool = False,
        cut_off_before: int = 0,
        accept_faults: bool = False,
        number: int = 0,
        peers: tuple[int, ...] = (),
        orphans: tuple[int, ...] = (),
        ledger: MemoryLedger | None = None,
    ) -> None:
        self.clock = FakeClock()
        self.knobs = knobs or Knobs()
        self.program = program or SyntheticProgram(7)
        self.slots = slots
        self.ranks = tuple(range(1, workers + 1))
        key = GenerationKey("00" * 32, ("t",), "file", "0", ())
        row = CampaignRow(CAMPAIGN, "00" * 8, 0.0, keep, GENERATION, key, "")
        self.ledger = ledger or MemoryLedger(row, self.clock)
        opening = self.ledger.open_epoch(
            EpochRequest("host", 1, "bench", "0", Incarnation(99), self.clock.wall(), "")
        )
        self.source = self.ledger.register_source("seeds", "/seeds", "host")
        self.sink: SinkRow = self.ledger.register_sink(SinkKind.CORPUS, "/corpus", "host")
        self.epoch: Epoch = opening.epoch
        others = [other for other in range(1 + len(peers)) if other != number]
        self.setup = CoordinatorSetup(
            campaign=CAMPAIGN,
            epoch=opening.epoch,
            number=number,
            rank=0,
            peers=tuple(
                Peer(other, rank, orphans if rank == peers[-1] else ())
                for other, rank in zip(others, peers, strict=True)
            ),
            incarnation=Incarnation(99),
            secret=bytes(31) + bytes([opening.epoch]),
            version="1.0",
            workers=self.ranks,
            engine=ENGINE,
            generation=GENERATION,
            keep=keep,
            sources=(SourceSetup(self.source),),
            opening=opening,
            until_quiescent=True,
            exhaustive=exhaustive,
            cut_off_before=cut_off_before,
            accept_faults=accept_faults,
            knobs=self.knobs,
        )
        self.machine = Coordinator(self.setup, self.clock.monotonic())
        self.codecs = {
            rank: Codec(CAMPAIGN, opening.epoch, rank, self.knobs.frame_bytes)
            for rank in (0, *self.ranks, *peers, *orphans)
        }
        self.lives = {
            (rank, slot): 1000 * rank + slot
            for rank in (*self.ranks, *orphans)
            for slot in range(slots)
        }
        self.send_fails: Callable[[DispatchToken], bool] = lambda _: False
        self.fail_operations: tuple[type[Operation], ...] = ()
        self.scan = True
        """Whether scans end; what they find is for the test to say."""
        self.publish = True
        """Whether publications reach their files."""
        self.replies: list[CoordinatorEvent] = []
        """What the loop has to report in the next turn of the actions so far."""
        self._published = self._upto = self._artefacts = self.sink.published_upto

    # ---- turns --------------------------------------------------------------------------------

    @property
    def core(self) -> Core:
        """What the machine's parts share: for tests that look inside."""
        return self.machine._core  # noqa: SLF001

    def turn(self, *events: CoordinatorEvent, after_s: float = 0.001, drained: bool = True) -> Turn:
        """Run one turn `after_s` later, carry its actions out, check the invariants."""
        self.clock.sleep(after_s)
        replies, self.replies = self.replies, []
        operations = self.machine.begin_turn(
            self.clock.monotonic(), [*replies, *events], drained=drained
        )
        answers = self._run(operations)
        if answers is not None:
            self._artefacts = answers.last_artefact
        actions = self.machine.end_turn(answers)
        turn = Turn(operations, answers, actions)
        self._carry_out(turn)
        if self.publish and self._upto > self._published:
            sink = self.sink
            self.replies.append(
                SinkAdvanced(sink.sink, sink.incarnation, self._published, self._upto)
            )
            self._published = self._upto
        self.machine.validate_state()
        self.machine.next_deadline()
        return turn

    def _run(self, operations: Sequence[Operation]) -> TurnAnswers | None:
        """Run a transaction in which the savepoints of `fail_operations` fail."""
        if not operations:
            return None
        kept = [op for op in operations if not isinstance(op, self.fail_operations)]
        answers = self.ledger.run(kept)
        given = iter(answers.answers)
        return replace(
            answers,
            answers=tuple(
                Failed("made to fail") if isinstance(op, self.fail_operations) else next(given)
                for op in operations
            ),
        )

    def wait(self, seconds: float, step_s: float = 0.5) -> list[Turn]:
        """Let time pass in drained turns, so that none begins late."""
        turns = []
        while seconds > 1e-9:
            step = min(step_s, seconds)
            turns.append(self.turn(after_s=step))
            seconds -= step
        return turns

    def _carry_out(self, turn: Turn) -> None:
        for action in turn.actions:
            match action:
                case Send(rank, frame, token):
                    opened = self.codecs[rank].open(frame)
                    assert isinstance(opened, Frame)
                    turn.messages.append((rank, opened.header, opened.message))
                    if token is not None:
                        if self.send_fails(token):
                            self.replies.append(SendFailed(rank, token))
                        else:
                            self.machine.sent(token)
                case Scan(source, number) if self.scan:
                    self.replies.append(ScanFinished(source, number))
                case Publish(upto):
                    # A publisher finds what there is, whatever it was told of.
                    self._upto = max(self._upto, min(upto, self._artefacts))
                case _:
                    pass

    # ---- what workers say ---------------------------------------------------------------------

    def frame(
        self,
        message: AnyMessage,
        *,
        rank: int = 1,
        slot: int | None = 0,
        life: int | None = None,
        token: DispatchToken = NO_TOKEN,
        repeat: bool = False,
    ) -> FrameReceived:
        """Return a sealed frame of a worker as an event."""
        incarnation = life
        if incarnation is None:
            incarnation = 0 if slot is None else self.lives.get((rank, slot), 0)
        sealed = self.codecs[rank].seal(
            message, slot=slot, incarnation=incarnation, token=token, repeat=repeat
        )
        return FrameReceived(rank, sealed)

    def hello(self, rank: int = 1, *, version: str = "1.0", host: str = "") -> FrameReceived:
        """Return a worker's first frame."""
        lives = tuple(Incarnation(self.lives[rank, slot]) for slot in range(self.slots))
        return self.frame(
            Hello(
                version, host or f"host {rank}", rank, Incarnation(rank), lives, "e", "b", 8, "3"
            ),
            rank=rank,
            slot=None,
        )

    def ready(
        self, completed: object = None, *, rank: int = 1, slot: int = 0, **more: object
    ) -> FrameReceived:
        """Return a READY."""
        knowledge = more.pop("knowledge", 0)
        return self.frame(Ready(completed, knowledge), rank=rank, slot=slot, **more)  # type: ignore[arg-type]

    def result(
        self, delivered: Delivered, items: Sequence[ItemResult] | None = None, **more: object
    ) -> FrameReceived:
        """Return the RESULT of a delivery; honest unless `items` says otherwise."""
        if items is None:
            items = self.execute(delivered)
        result: Result = settle(delivered.token, items, self.codecs[0].body_bytes_max()).result
        return self.frame(
            result,
            rank=delivered.rank,
            slot=delivered.slot,
            life=delivered.incarnation,
            token=delivered.token,
            **more,  # type: ignore[arg-type]
        )

    def execute(self, delivered: Delivered) -> list[ItemResult]:
        """Return what an honest engine reports for a delivery."""
        return [self.program.execute(entry.work_id, entry.data) for entry in delivered.work.items]

    # ---- usual beginnings ---------------------------------------------------------------------

    def seed(self, *nodes: int) -> SourceBatch:
        """Return a batch with the inputs of some nodes."""
        return SourceBatch(self.source, tuple(admission(self.program.data(node)) for node in nodes))

    def join(self) -> Turn:
        """Let every worker say hello, and every slot that it is ready."""
        self.turn(*(self.hello(rank) for rank in self.ranks))
        return self.turn(
            *(self.ready(rank=rank, slot=slot) for rank in self.ranks for slot in range(self.slots))
        )

    def first_work(self, *nodes: int) -> list[Delivered]:
        """Join, admit nodes, return the deliveries that leave."""
        self.join()
        turn = self.turn(self.seed(*(nodes or (0,))))
        return turn.works

    def faults(self) -> dict[str, dict[str, int]]:
        """Return the fault counters of the epoch as the ledger has them."""
        self.turn()
        return self.ledger.status().faults_this_epoch
