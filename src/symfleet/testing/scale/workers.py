"""Workers of which only numbers are left: their slots run nothing but time.

They speak the protocol in real frames, so that a coordinator cannot tell them from real ones:
Hello, READY, STARTED, PROGRESS, RESULT with READY, RESULT and READY again until they are answered,
and an answer to each beat. Left out is what no undisturbed worker does. A worker looks for frames
as its loop does.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from symfleet.protocol.codec import Codec, Frame
from symfleet.protocol.messages import (
    Accepted,
    AnyMessage,
    Beat,
    Hello,
    Progress,
    Ready,
    Result,
    Started,
    Stop,
    StopAck,
    Welcome,
    Work,
)
from symfleet.protocol.result_frames import children_digest
from symfleet.protocol.tokens import NO_TOKEN
from symfleet.protocol.worker_states import Unanswered
from symfleet.testing.scale.costs import next_look
from symfleet.testing.scale.workload import node_of
from symfleet.types import DispatchToken, Incarnation, WorkId

if TYPE_CHECKING:
    from symfleet.testing.scale.world import World

_START_S: Final = 0.05
"""An executor's start; it is over before anything is measured."""


@dataclass(slots=True)
class Assignment:
    """A delivery at its slot."""

    token: DispatchToken
    works: tuple[WorkId, ...]
    nodes: tuple[int, ...]
    began: float = 0.0


@dataclass(slots=True)
class ScaleSlot:
    """One slot."""

    number: int
    index: int
    """Among all slots of the fleet."""
    incarnation: Incarnation
    waiting: deque[Assignment] = field(default_factory=deque)
    running: Assignment | None = None
    unanswered: dict[DispatchToken, Result] = field(default_factory=dict)
    ready: DispatchToken | None = None
    opened: bool = False


class ScaleWorker:
    """One worker rank."""

    def __init__(self, world: World, rank: int, coordinator: int, slots: range) -> None:
        """`slots`: their numbers in the fleet."""
        self.rank = rank
        self.coordinator = coordinator
        self.alive = True
        self._world = world
        self._lives = 0
        self.slots = [
            ScaleSlot(number, index, self._fresh(number)) for number, index in enumerate(slots)
        ]
        self._codec = Codec(world.campaign, world.ledger.epoch, rank, world.knobs.frame_bytes)
        self._idle_since = world.now

    def _fresh(self, number: int) -> Incarnation:
        self._lives += 1
        return Incarnation((self._lives << 48) + (self.rank << 16) + number + 1)

    # ---- sending ------------------------------------------------------------------------------

    def hello(self) -> None:
        """Say who this is."""
        lives = tuple(slot.incarnation for slot in self.slots)
        self._send(
            Hello(
                "0", f"host {self.rank}", self.rank, Incarnation(self.rank), lives, "e", "b", 8, "3"
            )
        )

    def _send(
        self,
        message: AnyMessage,
        slot: ScaleSlot | None = None,
        token: DispatchToken = NO_TOKEN,
        *,
        repeat: bool = False,
    ) -> None:
        frame = self._codec.seal(
            message,
            slot=slot.number if slot else None,
            incarnation=slot.incarnation if slot else 0,
            token=token,
            repeat=repeat,
        )
        self._world.send(self.rank, self.coordinator, frame)

    # ---- receiving ----------------------------------------------------------------------------

    def receive(self, frame: bytes) -> None:
        """A frame arrives; the loop sees it at its next look."""
        if self.alive:
            world = self._world
            at = next_look(self._idle_since, world.now)
            world.schedule(at, self._take, frame)

    def _take(self, frame: bytes) -> None:
        if not self.alive:
            return
        self._idle_since = self._world.now
        opened = self._codec.open(frame)
        assert isinstance(opened, Frame), opened
        header, message = opened.header, opened.message
        slot = None if header.slot is None else self.slots[header.slot]
        if slot is not None and slot.incarnation != header.incarnation:
            return
        match message:
            case Work(items):
                assert slot is not None
                nodes = tuple(node_of(entry.data) for entry in items)
                works = tuple(entry.work_id for entry in items)
                self._world.record.arrived(self._world.now, header.token, works)
                slot.waiting.append(Assignment(header.token, works, nodes))
                assert len(slot.waiting) <= 1 + self._world.knobs.prefetch
                slot.ready = None
                if slot.running is None:
                    self._begin(slot)
            case Accepted(token, disposition):
                if disposition == "stopped":
                    self.alive = False
                elif slot is not None:
                    slot.unanswered.pop(token, None)
                    if slot.ready == token:
                        slot.ready = None
            case Welcome():
                self._world.schedule(self._world.now + _START_S, self._open)
            case Beat():
                self._send(Beat())
            case Stop():
                self._send(StopAck(len(self.slots)))
            case _:
                self._world.told(self, message)

    def _open(self) -> None:
        for slot in self.slots:
            if not slot.opened:
                slot.opened = True
                self._send(Ready(None, 0), slot)

    # ---- running ------------------------------------------------------------------------------

    def _begin(self, slot: ScaleSlot) -> None:
        world = self._world
        slot.running = assignment = slot.waiting.popleft()
        costs, times = world.costs, world.workload.times
        self._send(Started(), slot, assignment.token)
        at = assignment.began = world.now + costs.worker_gap
        for node in assignment.nodes:
            at += times[node] + costs.worker_item
        world.schedule(at, self._finish, slot, slot.incarnation)
        if at - world.now > world.knobs.progress_s:
            world.schedule(
                world.now + world.knobs.progress_s, self._progress, slot, assignment, at, 1
            )

    def _progress(
        self, slot: ScaleSlot, assignment: Assignment, until: float, counter: int
    ) -> None:
        if self.alive and slot.running is assignment:
            self._send(Progress(counter), slot, assignment.token)
            after = self._world.now + self._world.knobs.progress_s
            if after < until:
                self._world.schedule(after, self._progress, slot, assignment, until, counter + 1)

    def _finish(self, slot: ScaleSlot, life: Incarnation) -> None:
        if not self.alive or slot.incarnation != life:
            return
        world = self._world
        self._idle_since = world.now
        assignment, slot.running = slot.running, None
        assert assignment is not None
        items = tuple(
            world.workload.execute(work_id, world.input_id(node), node)
            for work_id, node in zip(assignment.works, assignment.nodes, strict=True)
        )
        digest = children_digest(child.digest for item in items for child in item.children)
        result = Result(items, 0, digest)
        at = assignment.began
        for work_id, node in zip(assignment.works, assignment.nodes, strict=True):
            end = at + world.workload.times[node]
            world.record.ran(slot.index, work_id, at, end)
            at = end + world.costs.worker_item
        slot.unanswered[assignment.token] = result
        slot.ready = assignment.token
        self._send(result, slot, assignment.token)
        self._send(Ready(assignment.token, 0), slot, assignment.token)
        said = Unanswered.said(assignment.token, world.now, world.knobs.repeat_s)
        world.schedule(said.again_at, self._repeat, slot, life, said)
        if slot.waiting:
            self._begin(slot)

    def _repeat(self, slot: ScaleSlot, life: Incarnation, said: Unanswered[DispatchToken]) -> None:
        """Say again what was not answered."""
        token = said.what
        if not self.alive or slot.incarnation != life:
            return
        kept = slot.unanswered.get(token)
        if kept is not None:
            self._send(kept, slot, token, repeat=True)
            self._world.record.repeated += 1
        if slot.ready == token:
            self._send(Ready(token, 0), slot, token, repeat=True)
        if kept is not None or slot.ready == token:
            again = said.repeated(self._world.now)
            self._world.schedule(again.again_at, self._repeat, slot, life, again)

    # ---- losing one's coordinator ---------------------------------------------------------------

    def serve(self, coordinator: int) -> None:
        """Belong to another coordinator: what runs is killed, and every slot begins a new life."""
        self.coordinator = coordinator
        for slot in self.slots:
            slot.incarnation = self._fresh(slot.number)
            slot.waiting.clear()
            slot.unanswered.clear()
            slot.running = slot.ready = None
            slot.opened = False
        self.hello()
