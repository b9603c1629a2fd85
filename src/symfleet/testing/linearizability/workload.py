"""What a coordinator of a history asks: turns that meet others' turns on purpose.

What an item leads to is a function of its bytes, so that two participants that decide the same
lease say the same. Leases are shown to everybody on a common board, and each participant acts on
leases of others, too, living ones and void ones: only the ledger keeps them apart.
"""

from __future__ import annotations

import enum
import hashlib
import mmap
import random
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from symfleet.protocol.answers import Claimed, Lease, Marked, TurnAnswers
from symfleet.protocol.operations import (
    Admit,
    Blame,
    Child,
    Claim,
    Decide,
    Defer,
    MarkPublished,
    Operation,
    Release,
    ReleaseCause,
)
from symfleet.testing.ledgers import admission, child, decision, packed
from symfleet.types import Epoch, Fence, FencingToken, Incarnation, Keep, StateId, WorkId

PARTICIPANTS_MAX: Final = 64
_COUNT: Final = struct.Struct("<Q")
_MARK_AT: Final = 1024
_PLACES: Final = 32
_NOTE: Final = struct.Struct("<32sII24pI")
_HELD_MAX: Final = 12
_STRATEGIES: Final = (None, "deep", "wide")
_CAUSES: Final[tuple[tuple[ReleaseCause, bool], ...]] = (
    ("given_back", False),
    ("prefetched", True),
    ("lost", True),
    ("silence", True),
    ("killed", True),
    ("protocol", False),
)


@dataclass(frozen=True, slots=True)
class Held:
    """A lease, as far as acting on it needs one."""

    work_id: WorkId
    token: FencingToken
    data: bytes


class Stage(enum.IntEnum):
    """What everybody is to do now."""

    WORK = 0
    DRAIN = 1
    """Finish what is open; hardly anything new comes."""
    END = 2


class Board:
    """Memory that all participants share: the newest leases, how many operations each has asked
    for, and what is to be done. A note that is read while it is written has a wrong sum and is
    none."""

    def __init__(self) -> None:
        """Make it before the participants, who inherit it."""
        self._memory = mmap.mmap(-1, mmap.PAGESIZE + _PLACES * _NOTE.size)

    @property
    def stage(self) -> Stage:
        """What everybody is to do."""
        return Stage(self._memory[0])

    @stage.setter
    def stage(self, stage: Stage) -> None:
        self._memory[0] = stage

    @property
    def mark(self) -> int:
        """How far the sink is published, as far as anybody has told."""
        return int(_COUNT.unpack_from(self._memory, _MARK_AT)[0])

    @mark.setter
    def mark(self, upto: int) -> None:
        _COUNT.pack_into(self._memory, _MARK_AT, upto)

    def count(self, participant: int, operations: int) -> None:
        """Say how many operations a participant has asked for."""
        _COUNT.pack_into(self._memory, _COUNT.size * (1 + participant), operations)

    def counted(self) -> int:
        """Return how many operations all have asked for since the last call of `recount`."""
        return sum(
            _COUNT.unpack_from(self._memory, _COUNT.size * (1 + participant))[0]
            for participant in range(PARTICIPANTS_MAX)
        )

    def recount(self) -> None:
        """Begin at nothing."""
        for participant in range(PARTICIPANTS_MAX):
            self.count(participant, 0)

    def show(self, held: Held, place: int) -> None:
        """Show a lease."""
        token = held.token
        body = (bytes.fromhex(held.work_id), token.epoch, token.fence, held.data)
        note = _NOTE.pack(*body, _sum(body))
        at = mmap.PAGESIZE + place % _PLACES * _NOTE.size
        self._memory[at : at + _NOTE.size] = note

    def look(self, place: int) -> Held | None:
        """Return a lease that somebody showed."""
        at = mmap.PAGESIZE + place % _PLACES * _NOTE.size
        *body, stored = _NOTE.unpack(self._memory[at : at + _NOTE.size])
        if stored != _sum(tuple(body)) or not body[1]:
            return None
        token = FencingToken(Epoch(body[1]), Fence(body[2]))
        return Held(WorkId(body[0].hex()), token, body[3])


def _sum(body: tuple[object, ...]) -> int:
    return zlib.crc32(repr(body).encode())


def children_of(data: bytes) -> list[Child]:
    """Return the children of an item: those of neighbours are the same."""
    if not data.startswith(b"in "):
        return []
    number = int(data[3:])
    digest = hashlib.sha256(data).digest()
    kids = [child(b"kid %d" % (number // 3), 8 * (number // 3 % 4096))]
    if digest[0] < 96:
        kids.append(child(b"own %d" % number, 8 * (4096 + number % 4096)))
    return kids


def decide(held: Held) -> Decide:
    """Return the decision of a lease: the same whoever makes it."""
    lease = Lease(held.work_id, StateId(""), held.token, b"", held.data, 0, 0, False, 0)
    edges = packed(8 * (hashlib.sha256(held.data).digest()[1] + 16384))
    return decision(lease, children_of(held.data), keep=Keep.ALL, edges=edges)


class Workload:
    """The turns of one participant."""

    def __init__(self, number: int, dice: random.Random, board: Board, span: int) -> None:
        """`number`: of the coordinator. Inputs are drawn from the newest `span` and from those
        before; all participants walk the same way."""
        self._number = number
        self._dice = dice
        self._board = board
        self._span = span
        self._held: list[Held] = []
        self._artefacts = 0
        self.sink: tuple[int, Incarnation] | None = None
        self.admits = True
        self.operations = 0

    def next(self, steps_max: int = 20) -> list[Operation]:
        """Return the next turn."""
        dice = self._dice
        turn = [one for one in (self._step() for _ in range(dice.randint(2, steps_max))) if one]
        turn.append(self._claim())
        self.operations += len(turn)
        return turn

    def drain(self) -> list[Operation]:
        """Return a turn that finishes what there is: decide what is held, claim what is open."""
        turn: list[Operation] = [decide(held) for held in self._held]
        self._held.clear()
        suspects = self._dice.random() < 0.5
        turn.append(Claim(self._number, 64, with_deferred=True, suspects_only=suspects))
        self.operations += len(turn)
        return turn

    def take(self, operations: Sequence[Operation], answers: TurnAnswers) -> None:
        """Learn what a turn came to."""
        self._artefacts = max(self._artefacts, answers.last_artefact)
        for operation, answer in zip(operations, answers.answers, strict=True):
            if isinstance(operation, MarkPublished) and answer == Marked("completed"):
                self._board.mark = operation.published_upto
            if isinstance(answer, Claimed):
                for lease in answer.leases:
                    held = Held(lease.work_id, lease.token, lease.data)
                    self._held.append(held)
                    self._board.show(held, self._dice.randrange(_PLACES))

    def mark(self) -> MarkPublished | None:
        """Return a move of the sink's mark to where the ledger is."""
        if self.sink is None:
            return None
        sink, incarnation = self.sink
        start, upto = self._board.mark, self._artefacts
        if self._dice.random() < 0.1:
            start = self._dice.randint(0, self._artefacts)
        if self._dice.random() < 0.2:
            upto = self._dice.randint(min(start, upto), upto)
        return MarkPublished(sink, incarnation, min(start, upto), upto)

    def mark_all(self, start: int) -> MarkPublished:
        """Return a move of the mark from where it is."""
        assert self.sink is not None
        return MarkPublished(*self.sink, start, max(start, self._artefacts))

    # ---- one step -------------------------------------------------------------------------------

    def _claim(self) -> Claim:
        dice = self._dice
        room = max(1, min(6, _HELD_MAX - len(self._held)))
        return Claim(
            self._number,
            room,
            with_deferred=dice.random() < 0.2,
            suspects_only=dice.random() < 0.05,
        )

    def _step(self) -> Operation | None:
        match self._dice.random():
            case draw if draw < 0.15:
                return self._admit() if self.admits else None
            case draw if draw < 0.2:
                return self.mark()
            case draw if draw < 0.35:
                foreign = self._board.look(self._dice.randrange(_PLACES))
                return None if foreign is None else self._act(foreign)
            case _:
                if not self._held:
                    return None
                held = self._held[self._dice.randrange(len(self._held))]
                # Sometimes it is asked for again, as after a lost answer.
                if self._dice.random() < 0.9:
                    self._held.remove(held)
                return self._act(held)

    def _act(self, held: Held) -> Operation:
        work_id, token = held.work_id, held.token
        match self._dice.random():
            case draw if draw < 0.6:
                return decide(held)
            case draw if draw < 0.8:
                cause, ran = self._dice.choice(_CAUSES)
                at_head = self._dice.random() < 0.3
                return Release(work_id, token, cause, ran=ran, at_head=at_head)
            case draw if draw < 0.9:
                return Defer(work_id, token, "drawn")
            case _:
                return Blame(work_id, token, Incarnation(self._dice.randint(1, 4)), "drawn")

    def _admit(self) -> Admit:
        newest = self.operations // 4
        entries = []
        for _ in range(self._dice.randint(1, 3)):
            number = max(0, newest + self._dice.randint(-self._span, self._span))
            strategy = self._dice.choice(_STRATEGIES) if number % 5 == 0 else None
            entries.append(admission(b"in %d" % number, strategy=strategy))
        return Admit(1, tuple(entries))
