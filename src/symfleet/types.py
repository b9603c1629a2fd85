"""Identities and closed vocabularies that every part of symfleet shares.

An identity is a `NewType` over `str` or `int` that only a `parse_*` function makes; a bare string
token never travels. Vocabularies are string enumerations so that they read the same in Python, in
frames and in the ledger.
"""

from __future__ import annotations

import enum
import hashlib
import re
from dataclasses import dataclass
from typing import Annotated, Final, NewType

import msgspec

from symfleet.errors import DataError

InputId = NewType("InputId", str)
"""SHA-256 of an input's bytes, 64 lower-case hex digits."""

WorkId = NewType("WorkId", str)
"""SHA-256 of the canonical work item, 64 lower-case hex digits."""

StateId = NewType("StateId", str)
"""WorkId of the same item without its strategy."""

GenerationId = NewType("GenerationId", str)
"""Digest of the program under test and everything that changes what an execution yields."""

DispatchToken = NewType("DispatchToken", str)
"""One delivery; opaque, never reused, 64 lower-case hex digits (guarantee D1)."""

CampaignId = NewType("CampaignId", str)
"""128 random bits as 32 lower-case hex digits."""

Incarnation = NewType("Incarnation", int)
"""One life of a coordinator, worker, slot or executor: 64 random bits, never 0."""

Epoch = NewType("Epoch", int)
"""Number of a launch within its campaign, from 1."""

Fence = NewType("Fence", int)
"""Lease number of a work row; only grows."""

_HEX64: Final = re.compile(r"[0-9a-f]{64}")
_HEX32: Final = re.compile(r"[0-9a-f]{32}")
_U64_MAX: Final = 2**64 - 1
_STORED: Final = msgspec.Meta(ge=0, le=2**63 - 1)
"""Numbers that a ledger can keep."""


def _parse_hex64(text: object, what: str) -> str:
    if not isinstance(text, str) or not _HEX64.fullmatch(text):
        raise DataError(
            f"not a valid {what}",
            where=repr(text)[:80],
            why="it must be 64 lower-case hexadecimal digits",
            hint="check where the value comes from",
        )
    return text


def parse_input_id(text: object) -> InputId:
    """Return `text` as an InputId; raise DataError when it is not one."""
    return InputId(_parse_hex64(text, "input id"))


def parse_work_id(text: object) -> WorkId:
    """Return `text` as a WorkId; raise DataError when it is not one."""
    return WorkId(_parse_hex64(text, "work id"))


def parse_state_id(text: object) -> StateId:
    """Return `text` as a StateId; raise DataError when it is not one."""
    return StateId(_parse_hex64(text, "state id"))


def parse_generation_id(text: object) -> GenerationId:
    """Return `text` as a GenerationId; raise DataError when it is not one."""
    return GenerationId(_parse_hex64(text, "generation id"))


def parse_dispatch_token(text: object) -> DispatchToken:
    """Return `text` as a DispatchToken; raise DataError when it is not one."""
    return DispatchToken(_parse_hex64(text, "dispatch token"))


def parse_campaign_id(text: object) -> CampaignId:
    """Return `text` as a CampaignId; raise DataError when it is not one."""
    if not isinstance(text, str) or not _HEX32.fullmatch(text):
        raise DataError(
            "not a valid campaign id",
            where=repr(text)[:80],
            why="it must be 32 lower-case hexadecimal digits",
            hint="check where the value comes from",
        )
    return CampaignId(text)


def parse_incarnation(value: object) -> Incarnation:
    """Return `value` as an Incarnation (1..2^64-1); raise DataError when it is not one."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _U64_MAX:
        raise DataError(
            "not a valid incarnation",
            where=repr(value)[:80],
            why="it must be an integer from 1 to 2^64 - 1",
            hint="check where the value comes from",
        )
    return Incarnation(value)


def input_id_of(data: bytes) -> InputId:
    """Name a byte string by its SHA-256."""
    return InputId(hashlib.sha256(data).hexdigest())


@dataclass(frozen=True, slots=True, order=True)
class FencingToken:
    """Proof of the right to decide a work row now (L2). The epoch is part of it because a power
    cut may undo a lease that was not yet durable."""

    epoch: Annotated[Epoch, _STORED]
    fence: Annotated[Fence, _STORED]


@dataclass(frozen=True, slots=True, order=True)
class SlotAddress:
    """A place for one running item: worker rank and slot number on it."""

    rank: int
    slot: int


class Outcome(enum.StrEnum):
    """Verdict of one execution of the target. STALLED and KILLED are not verdicts and never decide
    an item: the work is done again. A child may have them until it is executed itself."""

    OK = "ok"
    CRASH = "crash"
    HANG = "hang"
    CPU = "cpu"
    OOM = "oom"
    FLOOD = "flood"
    ERROR = "error"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    """The whole execution, solver included, met its hard limit and the worker ended it."""
    STALLED = "stalled"
    KILLED = "killed"

    @property
    def is_verdict(self) -> bool:
        """Whether a decision may record it."""
        return self not in (Outcome.STALLED, Outcome.KILLED)


NO_SPACE: Final = "no_space"
"""Reason of an engine that finds no space for its own files: the one reason that it may also give
while it runs an item, because it says nothing about the item."""


class WorkState(enum.StrEnum):
    """States of a work row (architecture: life of a work item)."""

    PENDING = "pending"
    LEASED = "leased"
    DONE = "done"
    DEFERRED = "deferred"
    POISONED = "poisoned"
    SUPERSEDED = "superseded"
    """It was open when a new coverage generation began, which has work of its own."""


class Keep(enum.StrEnum):
    """Which children enter the frontier."""

    NOVEL = "novel"
    ALL = "all"


class SinkKind(enum.StrEnum):
    """A projection of decisions into files."""

    CORPUS = "corpus"
    CRASHES = "crashes"
    HANGS = "hangs"
