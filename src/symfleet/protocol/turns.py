"""A coordinator's turn as bytes: its operations, and their answers.

The owner of the ledger runs the turns of all coordinators. One that lives in another process sends
its operations as a numbered TURN and gets what the owner's own coordinator gets: the same answers
in the same order, or the same error in its four parts. So each value is encoded by the name of its
class and its fields, and whoever adds an operation has nothing to add here.

A turn may be larger than a frame and travels in pieces (`pieces`).

Both ends run the same version (the roll call sees to it). Bytes that do not fit raise DataError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast, get_args

import msgspec

from symfleet import errors
from symfleet.errors import DataError, ExitCode, InternalError, SymfleetError
from symfleet.protocol.answers import Answer, TurnAnswers
from symfleet.protocol.operations import Operation
from symfleet.protocol.setup import Knobs

_OTHER_BYTES: Final = 64 << 20
"""Beside results a turn claims, admits and gives back: this much at most."""

_Pairs = tuple[tuple[str, msgspec.Raw], ...]
_Decoders = Mapping[str, msgspec.msgpack.Decoder[Any]]


def _decoders(kinds: Sequence[type]) -> _Decoders:
    return {kind.__name__: msgspec.msgpack.Decoder(kind, strict=True) for kind in kinds}


_OPERATIONS: Final = _decoders(get_args(Operation))
_ANSWERS: Final = _decoders(get_args(Answer))


class _Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="told"):
    """TurnAnswers without its answers, which stand beside it by name."""

    answers: _Pairs
    state: tuple[int, ...]


class _Refusal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="failed"):
    """The error that the owner's transaction raised."""

    family: str
    exit_code: int
    what: str
    where: str
    why: str
    hint: str


_STATE: Final = tuple(name for name in TurnAnswers.__dataclass_fields__ if name != "answers")
_ENCODER: Final = msgspec.msgpack.Encoder()
_PAIRS: Final = msgspec.msgpack.Decoder(_Pairs)
_OUTCOMES: Final = msgspec.msgpack.Decoder(_Told | _Refusal)


# ---- operations and answers ---------------------------------------------------------------------


def encode_operations(operations: Sequence[Operation]) -> bytes:
    """Return the bytes of a turn."""
    return _ENCODER.encode([(type(one).__name__, one) for one in operations])


def decode_operations(data: bytes) -> tuple[Operation, ...]:
    """Return the operations of a turn; raise DataError when the bytes are none."""
    try:
        return cast("tuple[Operation, ...]", _values(_PAIRS.decode(data), _OPERATIONS))
    except (msgspec.DecodeError, ValueError, KeyError, RecursionError) as error:
        raise _unfit("a turn", error) from error


def encode_answers(answers: TurnAnswers) -> bytes:
    """Return the bytes of what a turn came to."""
    pairs = [(type(one).__name__, one) for one in answers.answers]
    state = [getattr(answers, name) for name in _STATE]
    return _ENCODER.encode({"type": "told", "answers": pairs, "state": state})


def encode_error(error: SymfleetError) -> bytes:
    """Return the bytes that stand for a turn that failed as a whole."""
    families = (kind for kind in type(error).__mro__ if kind.__module__ == errors.__name__)
    family, code = next(families).__name__, int(error.exit_code)
    return _ENCODER.encode(_Refusal(family, code, error.what, error.where, error.why, error.hint))


def decode_answers(data: bytes) -> TurnAnswers:
    """Return what a turn came to; raise the owner's error again when it failed as a whole, and
    DataError when the bytes are neither."""
    try:
        outcome = _OUTCOMES.decode(data)
        if isinstance(outcome, _Told):
            answers = cast("tuple[Answer, ...]", _values(outcome.answers, _ANSWERS))
            return TurnAnswers(answers, **dict(zip(_STATE, outcome.state, strict=True)))
    except (msgspec.DecodeError, ValueError, KeyError, RecursionError) as error:
        raise _unfit("an answer", error) from error
    raise _error_of(outcome)


def _values(pairs: _Pairs, decoders: _Decoders) -> tuple[Any, ...]:
    return tuple([decoders[name].decode(raw) for name, raw in pairs])


def _error_of(refusal: _Refusal) -> SymfleetError:
    family = getattr(errors, refusal.family, None)
    if not (isinstance(family, type) and issubclass(family, SymfleetError)):
        family = InternalError
    error = family(refusal.what, where=refusal.where, why=refusal.why, hint=refusal.hint)
    error.exit_code = ExitCode(refusal.exit_code)
    return error


def _unfit(what: str, error: Exception) -> DataError:
    return DataError(
        f"{what} cannot be read",
        where="a frame between coordinators",
        why=str(error)[:200],
        hint="both ends must run the same symfleet: `symfleet doctor` on each host",
    )


def turn_bytes_max(knobs: Knobs) -> int:
    """Return how large a turn or its answer may be."""
    return ((knobs.turn_mib + knobs.result_mib) << 20) + _OTHER_BYTES
