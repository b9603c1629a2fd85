"""What a participant writes down: each turn before it is sent, each answer when it is there.

A participant may be killed at any instant, so that every record is one `write` to its own file. A
call without an answer is an operation that may have happened or not. Ids are shortened to 16 hex
digits: here they only name things.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from symfleet.protocol.answers import (
    Admitted,
    Answer,
    Blamed,
    Changed,
    Claimed,
    Decided,
    Failed,
    Marked,
    Quiesced,
    TakenOver,
    TurnAnswers,
)
from symfleet.protocol.operations import (
    Admit,
    Blame,
    Claim,
    CommitQuiescence,
    Decide,
    Defer,
    MarkPublished,
    Operation,
    Release,
    TakeOver,
)
from symfleet.types import StateId, WorkId

Pair = tuple[str, str]
"""Work and state."""


class Admits(msgspec.Struct, frozen=True, array_like=True, tag="admit"):
    """Admit."""

    works: tuple[Pair, ...]


class Claims(msgspec.Struct, frozen=True, array_like=True, tag="claim"):
    """Claim."""

    coordinator: int
    limit: int
    suspects_only: bool
    with_deferred: bool


class Decides(msgspec.Struct, frozen=True, array_like=True, tag="decide"):
    """Decide."""

    work: str
    epoch: int
    fence: int
    children: tuple[Pair, ...]


class Releases(msgspec.Struct, frozen=True, array_like=True, tag="release"):
    """Release."""

    work: str
    epoch: int
    fence: int
    cause: str
    ran: bool


class Defers(msgspec.Struct, frozen=True, array_like=True, tag="defer"):
    """Defer."""

    work: str
    epoch: int
    fence: int


class Blames(msgspec.Struct, frozen=True, array_like=True, tag="blame"):
    """Blame."""

    work: str
    epoch: int
    fence: int
    executor: int


class Marks(msgspec.Struct, frozen=True, array_like=True, tag="mark"):
    """MarkPublished."""

    sink: int
    incarnation: int
    start: int
    upto: int


class TakesOver(msgspec.Struct, frozen=True, array_like=True, tag="take over"):
    """TakeOver."""

    coordinator: int


class Quiesces(msgspec.Struct, frozen=True, array_like=True, tag="commit quiescence"):
    """CommitQuiescence."""


class Opens(msgspec.Struct, frozen=True, array_like=True, tag="open epoch"):
    """Opening an epoch. `owner`: the number under which it is written down."""

    owner: int


class Registers(msgspec.Struct, frozen=True, array_like=True, tag="register sink"):
    """Registering the sink."""


class Other(msgspec.Struct, frozen=True, array_like=True, tag="other"):
    """What is in no history."""

    what: str


Asked = (
    Admits
    | Claims
    | Decides
    | Releases
    | Defers
    | Blames
    | Marks
    | TakesOver
    | Quiesces
    | Opens
    | Registers
    | Other
)


class Call(msgspec.Struct, frozen=True, array_like=True, tag="call"):
    """A turn is about to be sent, at `at` nanoseconds."""

    turn: int
    at: int
    asked: tuple[Asked, ...]


class Return(msgspec.Struct, frozen=True, array_like=True, tag="return"):
    """A turn was answered. `answers` are as `told_of` makes them; `changes` and `artefacts` are the
    counters that came with them."""

    turn: int
    at: int
    answers: tuple[Any, ...]
    changes: int
    artefacts: int


REFUSED: Final = "refused"

_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Call | Return)
_LENGTH_BYTES: Final = 4


class Notebook:
    """The records of one participant."""

    def __init__(self, path: Path) -> None:
        """Begin a file."""
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._turn = 0

    def call(self, operations: Sequence[Operation]) -> None:
        """Note a turn that is about to be sent."""
        self.note(tuple([asked_of(one) for one in operations]))

    def note(self, asked: tuple[Asked, ...]) -> None:
        """Note something else that is about to be asked."""
        self._turn += 1
        self._write(Call(self._turn, time.monotonic_ns(), asked))

    def told(self, answers: TurnAnswers) -> None:
        """Note the answers of the newest turn."""
        at = time.monotonic_ns()
        told = tuple([told_of(one) for one in answers.answers])
        self._write(Return(self._turn, at, told, answers.changes, answers.last_artefact))

    def done(self, answer: object) -> None:
        """Note the answer of what `note` announced."""
        self._write(Return(self._turn, time.monotonic_ns(), (answer,), 0, 0))

    def _write(self, record: Call | Return) -> None:
        body = _ENCODER.encode(record)
        os.write(self._file, len(body).to_bytes(_LENGTH_BYTES, "little") + body)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read_records(path: Path) -> Iterator[Call | Return]:
    """Yield what a participant wrote down; a record that a kill cut off is none."""
    data = path.read_bytes()
    at = 0
    while at + _LENGTH_BYTES <= len(data):
        end = at + _LENGTH_BYTES + int.from_bytes(data[at : at + _LENGTH_BYTES], "little")
        if end > len(data):
            return
        yield _DECODER.decode(data[at + _LENGTH_BYTES : end])
        at = end


def short(name: WorkId | StateId) -> str:
    """Return how an id is named here."""
    return name[:16]


def asked_of(operation: Operation) -> Asked:  # noqa: PLR0911 - one line for each operation
    """Return what is noted of an operation."""
    match operation:
        case Admit(entries=entries):
            return Admits(tuple([(short(one.work_id), short(one.state_id)) for one in entries]))
        case Claim():
            return Claims(
                operation.coordinator,
                operation.limit,
                operation.suspects_only,
                operation.with_deferred,
            )
        case Decide(work_id=work, token=token, children=children):
            kids = tuple([(short(one.work_id), short(one.state_id)) for one in children])
            return Decides(short(work), token.epoch, token.fence, kids)
        case Release(work_id=work, token=token):
            return Releases(short(work), token.epoch, token.fence, operation.cause, operation.ran)
        case Defer(work_id=work, token=token):
            return Defers(short(work), token.epoch, token.fence)
        case Blame(work_id=work, token=token):
            return Blames(short(work), token.epoch, token.fence, operation.executor)
        case MarkPublished(sink, incarnation, start, upto):
            return Marks(sink, incarnation, start, upto)
        case TakeOver(coordinator):
            return TakesOver(coordinator)
        case CommitQuiescence():
            return Quiesces()
        case _:
            return Other(type(operation).__name__)


def told_of(answer: Answer) -> object:  # noqa: PLR0911 - one line for each answer
    """Return what is noted of an answer."""
    match answer:
        case Admitted(new):
            return new
        case Claimed(leases):
            return [
                (
                    short(one.work_id),
                    one.token.epoch,
                    one.token.fence,
                    one.deliveries,
                    one.blames,
                    one.suspect,
                )
                for one in leases
            ]
        case Decided():
            return (answer.disposition, answer.decision, answer.new_edges)
        case Changed(changed, poisoned):
            return (changed, poisoned)
        case Blamed(changed, blames, poisoned):
            return (changed, blames, poisoned)
        case Marked(disposition):
            return disposition
        case TakenOver(amount):
            return amount
        case Quiesced(committed):
            return committed
        case Failed():
            return REFUSED
        case _:
            return None
