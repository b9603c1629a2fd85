"""Everything that happens in a simulated campaign: hashed, and told as a story when asked for.

The digest covers each event in its order with its virtual time: every frame byte by byte, every
ledger operation with its answer, every execution, fault, death and epoch. Two runs with the same
digest were the same run.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from symfleet.protocol.answers import (
    Admitted,
    Answer,
    Changed,
    Claimed,
    Counted,
    Decided,
    TurnAnswers,
)
from symfleet.protocol.codec import HEADER_BYTES, NO_SLOT, kind_of
from symfleet.protocol.operations import (
    Admit,
    Blame,
    Claim,
    CountFaults,
    Decide,
    Defer,
    Operation,
    Release,
)

_STEP: Final = struct.Struct("<dq")
_SENT: Final = struct.Struct("<dII")
_AT_SLOT: Final = struct.Struct("<I")
_SLOT_AT, _LIFE_AT, _TOKEN_AT, _TOKEN_END = 36, 40, 48, 80
_encoder: Final = msgspec.msgpack.Encoder()


def short(name: str) -> str:
    """Return enough of a digest to know it again."""
    return name[:8]


def told_frame(frame: bytes) -> str:
    """Return what a frame says it is, for people."""
    kind = kind_of(frame)
    name = "?" if kind is None else kind.__name__
    if len(frame) < HEADER_BYTES:
        return f"{name} of {len(frame)} bytes"
    words = [name]
    (slot,) = _AT_SLOT.unpack_from(frame, _SLOT_AT)
    if slot != NO_SLOT:
        words.append(f"slot {slot} life {frame[_LIFE_AT:_TOKEN_AT][::-1].hex()[:8]}")
    token = frame[_TOKEN_AT:_TOKEN_END]
    if any(token):
        words.append(f"token {short(token.hex())}")
    if frame[7] & 1:
        words.append("again")
    return " ".join(words)


def told_operation(operation: Operation, answer: Answer) -> str:  # noqa: PLR0911
    """Return what a ledger operation did, for people."""
    name = type(operation).__name__
    match operation, answer:
        case Admit(entries=entries), Admitted(new):
            ids = [short(entry.work_id) for entry in entries]
            return f"Admit {ids}: new {list(new)}"
        case Claim(coordinator, limit), Claimed(leases):
            ids = [f"{short(lease.work_id)}/{lease.token.fence}" for lease in leases]
            return f"Claim by coordinator {coordinator}, at most {limit}: {ids}"
        case Decide(), Decided(disposition, number):
            children = [short(child.work_id) for child in operation.children]
            return (
                f"Decide {short(operation.work_id)}/{operation.token.fence} {operation.outcome} "
                f"children {children}: {disposition} as {number}"
            )
        case ((Release() | Defer() | Blame()), _):
            why = operation.cause if isinstance(operation, Release) else ""
            fence = operation.token.fence
            changed = answer.changed if isinstance(answer, Changed) else answer
            return f"{name} {short(operation.work_id)}/{fence} {why}: {changed}"
        case CountFaults(coordinator, faults), _:
            return f"CountFaults of coordinator {coordinator}: {list(faults)}"
        case _, Counted():
            return str(operation)
        case _:
            return f"{operation}: {answer}"


class History:
    """`tell`: called with each line of the story; None when nobody listens."""

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self._tell = tell

    @property
    def digest(self) -> str:
        """Return the digest of all that has happened."""
        return self._hash.hexdigest()

    def step(self, at: float, number: int) -> None:
        """Something that was to happen at a time happens."""
        self._hash.update(_STEP.pack(at, number))

    def note(self, now: float, who: str, what: str) -> None:
        """Something happened that words tell completely."""
        self._hash.update(f"{now!r}|{who}|{what}\n".encode())
        if self._tell is not None:
            self._tell(f"{now:12.4f}  {who}: {what}")

    def frame(self, now: float, source: int, target: int, frame: bytes, fate: str) -> None:
        """A frame leaves; `fate` says what becomes of it."""
        self._hash.update(_SENT.pack(now, source, target))
        self._hash.update(frame)
        self._hash.update(fate.encode())
        if self._tell is not None:
            self._tell(f"{now:12.4f}  rank {source} to {target}: {told_frame(frame)}, {fate}")

    def turn(
        self, now: float, who: str, operations: Sequence[Operation], answers: TurnAnswers
    ) -> None:
        """A transaction is committed."""
        self._hash.update(_encoder.encode((now, who, operations, answers)))
        if self._tell is not None:
            for operation, answer in zip(operations, answers.answers, strict=True):
                self._tell(
                    f"{now:12.4f}  ledger, turn of {who}: {told_operation(operation, answer)}"
                )
