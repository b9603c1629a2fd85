"""The owner of a ledger under spoilt TURN frames: what another coordinator may send to it.

The root's machine and its turn service are joined as its loop joins them. The other coordinator's
honest turns go on from whatever number the storm has brought the service to.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

import msgspec

from symfleet.errors import SymfleetError
from symfleet.ledger import opener
from symfleet.ledger.contract import CampaignRow, GenerationKey
from symfleet.ledger.memory import MemoryLedger
from symfleet.protocol.answers import Answer, Claimed, Lease, TurnAnswers
from symfleet.protocol.codec import Frame
from symfleet.protocol.events import CoordinatorEvent, FrameReceived
from symfleet.protocol.item_results import Flips
from symfleet.protocol.messages import SlotsSeen, Turn, TurnAnswer
from symfleet.protocol.operations import (
    Admission,
    Admit,
    AuditLeases,
    Blame,
    Child,
    Claim,
    CountFaults,
    CountSkips,
    Decide,
    Defer,
    MarkPublished,
    Operation,
    RecordAck,
    Release,
    SetSource,
    StoreInputs,
)
from symfleet.protocol.setup import Knobs
from symfleet.protocol.turns import decode_answers, encode_operations
from symfleet.runtime.turn_service import TurnService
from symfleet.testing.coordinator_bench import CAMPAIGN, GENERATION, CoordinatorBench, admission
from symfleet.testing.fake_clock import FakeClock
from symfleet.testing.frames.mutate import spoil_value
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.transport.inproc import Network
from symfleet.types import Fence, FencingToken, Incarnation, Keep, Outcome, input_id_of

OTHER: Final = 5
"""Rank of the other coordinator; its number is 1."""
LIFE: Final = Incarnation(55)
_SIZE: Final = OTHER + 2


class OwnerBench(CoordinatorBench):
    """A root whose transactions take the other coordinator's turns along."""

    def __init__(
        self, knobs: Knobs, program: SyntheticProgram, orphan: int, disk: Path | None
    ) -> None:
        """`disk`: folder for a ledger on SQLite; None: it is in memory."""
        super().__init__(
            workers=2,
            slots=2,
            program=program,
            knobs=knobs,
            peers=(OTHER,),
            orphans=(orphan,),
            ledger=None if disk is None else ledger_on(disk),
        )
        network = Network(_SIZE)
        self.theirs = network.endpoint(OTHER)
        self.service = TurnService(
            self.ledger,
            network.endpoint(0),
            self.codecs[0],
            {OTHER: (1, LIFE)},
            knobs,
            lambda *_: None,
        )
        self.taken = 0
        """Number of the newest turn of the other coordinator that was answered."""
        self.theirs_held: list[Lease] = []
        """What the other coordinator has claimed."""
        self.failure: SymfleetError | None = None

    def take(self, events: Sequence[CoordinatorEvent]) -> Sequence[CoordinatorEvent]:
        """Let the service take what is for it; return the rest."""
        return self.service.arrived(events)

    def _run(self, operations: Sequence[Operation]) -> TurnAnswers | None:
        try:
            return self.service.run(operations)
        except SymfleetError as error:
            # As the loop does: nothing of the turn happened, and the job ends with this.
            self.failure = self.failure or error
            self.machine.fail(int(error.exit_code), str(error))
            return None

    def answers(self) -> list[tuple[int, bytes]]:
        """Return number and bytes of what the other coordinator was answered."""
        found = []
        for event in self.theirs.receive(1000, 1 << 30).events:
            opened = self.codecs[OTHER].open(getattr(event, "data", b""))
            assert isinstance(opened, Frame)
            assert isinstance(opened.message, TurnAnswer)
            self.taken = opened.message.number
            found.append((opened.message.number, opened.message.data))
        return found

    def frame_of_other(self, message: Turn | SlotsSeen) -> FrameReceived:
        """Return a frame of the other coordinator as an event."""
        return FrameReceived(OTHER, self.codecs[OTHER].seal(message, incarnation=LIFE))

    def next_turn(self, data: bytes) -> Turn:
        """Return the other coordinator's next turn in one piece."""
        return Turn(self.taken + 1, 0, 1, data)

    def ask(self, *operations: Operation) -> Sequence[Answer]:
        """Run an honest turn of the other coordinator; return its answers."""
        rest = self.take([self.frame_of_other(self.next_turn(encode_operations(operations)))])
        self.turn(*rest)
        ((number, data),) = self.answers()
        assert number == self.taken
        return decode_answers(data).answers

    def lease(self, limit: int) -> None:
        """Let the other coordinator claim."""
        for answer in self.ask(Claim(1, limit)):
            assert isinstance(answer, Claimed)
            self.theirs_held += answer.leases

    @property
    def half_heard(self) -> bool:
        """Whether a part of a turn waits for its rest."""
        clients = self.service._clients  # noqa: SLF001
        return OTHER in clients and clients[OTHER].assembly.parts is not None

    def messages_of_other(self) -> Sequence[Turn | SlotsSeen]:
        """Return what the other coordinator may say to the owner."""
        operations = operations_of_another(self, self.theirs_held[0])
        whole = encode_operations(operations)
        half, number = len(whole) // 2, self.taken + 1
        return (
            *(self.next_turn(encode_operations([one])) for one in operations),
            self.next_turn(whole),
            Turn(number, 0, 2, whole[:half]),
            Turn(number, 1, 2, whole[half:]),
            Turn(self.taken, 0, 1, b""),
            SlotsSeen(msgspec.msgpack.encode(self.machine.view())),
        )

    def odd_turn(self, draw: random.Random) -> FrameReceived:
        """Return a sound frame whose operations, or whose slots, are spoilt."""
        if draw.random() < 0.1:
            shown = msgspec.msgpack.decode(msgspec.msgpack.encode(self.machine.view()))
            return self.frame_of_other(SlotsSeen(spoil_value(draw, shown)[1]))
        operations = operations_of_another(self, self.theirs_held[0])
        chosen = draw.sample(operations, draw.randrange(1, 4))
        plain = msgspec.msgpack.decode(encode_operations(chosen))
        return self.frame_of_other(self.next_turn(spoil_value(draw, plain)[1]))


def ledger_on(folder: Path) -> MemoryLedger:
    """Return a new ledger on SQLite; a bench uses nothing of it but what every ledger has."""
    request = opener.OwnerRequest("here", os.getpid(), reserve_bytes=0)
    row = CampaignRow(
        CAMPAIGN,
        "00" * 8,
        0.0,
        Keep.ALL,
        GENERATION,
        GenerationKey("00" * 32, ("t",), "file", "0", ()),
        "",
    )
    return cast("MemoryLedger", opener.create(folder, row, request, FakeClock()))


def operations_of_another(bench: OwnerBench, lease: Lease) -> Sequence[Operation]:
    """Return one of each operation that another coordinator may ask for; it holds `lease`."""
    sink, other = bench.sink, FencingToken(lease.token.epoch, Fence(10**6))
    child = bench.program.children(bench.program.node(lease.data))[0]
    made = admission(bench.program.data(child))
    return (
        Claim(1, 1),
        Admit(bench.source, (made,)),
        CountSkips(bench.source, (("empty", 1),)),
        SetSource(bench.source, is_open=True),
        Release(lease.work_id, lease.token, "given_back"),
        Defer(lease.work_id, other, "why"),
        Blame(lease.work_id, other, Incarnation(3), "d"),
        StoreInputs((b"stored",)),
        CountFaults(1, ()),
        MarkPublished(sink.sink, sink.incarnation, 0, 0),
        RecordAck(1, 0, 0, (), 0.5),
        AuditLeases(1, ()),
        _decision(bench, lease, child, made),
    )


def _decision(bench: OwnerBench, lease: Lease, child: int, made: Admission) -> Decide:
    """Return a decision of `lease` with one child."""
    done = bench.program.execute(lease.work_id, lease.data)
    report = Child(
        input_id=made.input_id,
        data=made.data,
        work_id=made.work_id,
        state_id=made.state_id,
        payload=made.payload,
        how="scan",
        site=2**63 + 1,
        direction=1,
        outcome=Outcome.OK,
        signal=0,
        edges=bench.program.edges(child),
    )
    return Decide(
        work_id=lease.work_id,
        token=lease.token,
        input_id=input_id_of(lease.data),
        keep=Keep.ALL,
        outcome=Outcome.OK,
        exit_code=0,
        signal=0,
        edges=done.edges,
        unstable=0,
        generated=1,
        dropped=0,
        children=(report,),
        flips=Flips(sat=1),
        solved={"scan": 1},
        executions=2,
        solver_us=1,
        wall_us=1,
        cpu_us=1,
        degraded=(),
        reason=None,
    )
