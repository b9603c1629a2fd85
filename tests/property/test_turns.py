"""A turn that travels to the owner of the ledger is there what it was here."""

from __future__ import annotations

import dataclasses
import enum
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symfleet import errors
from symfleet.errors import DataError, SymfleetError
from symfleet.protocol.answers import Answer, TurnAnswers
from symfleet.protocol.item_results import Flips
from symfleet.protocol.operations import Operation
from symfleet.protocol.pieces import Assembly, split
from symfleet.protocol.turns import (
    decode_answers,
    decode_operations,
    encode_answers,
    encode_error,
    encode_operations,
)

PLAIN: dict[object, st.SearchStrategy[Any]] = {
    int: st.integers(-(2**63), 2**64 - 1),
    float: st.floats(allow_nan=False),
    str: st.text(),
    bytes: st.binary(),
    bool: st.booleans(),
    type(None): st.none(),
}


NAMES = st.binary(min_size=32, max_size=32).map(bytes.hex)
WHOLE = st.integers(0, 2**48)


def values_within(kind: Any, meta: msgspec.Meta) -> st.SearchStrategy[Any]:
    """Return all values of a type with a range."""
    if meta.pattern is not None:
        return NAMES if meta.max_length == 64 else st.text(st.characters(exclude_characters="\0"))
    high = 2**64 - 1 if meta.le is None else meta.le
    if kind is float:
        return st.floats(meta.ge, high)
    return st.integers(int(meta.ge or 0), int(high))


def values_of(kind: Any) -> st.SearchStrategy[Any]:  # noqa: PLR0911
    """Return all values of a type that MessagePack can carry."""
    if kind in PLAIN:
        return PLAIN[kind]
    if get_origin(kind) is Annotated:
        base, meta = get_args(kind)
        return values_within(getattr(base, "__supertype__", base), meta)
    if kind is Flips:
        return st.builds(Flips, **dict.fromkeys(Flips.__struct_fields__, WHOLE))
    if hasattr(kind, "__supertype__"):
        return values_of(kind.__supertype__)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple and arguments[-1] is ...:
        return st.lists(values_of(arguments[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values_of, arguments))
    if origin is dict:
        return st.dictionaries(*map(values_of, arguments), max_size=3)
    if origin is not None:
        return st.one_of([values_of(argument) for argument in arguments])
    if issubclass(kind, enum.Enum):
        return st.sampled_from(kind)
    hints = get_type_hints(kind, include_extras=True)
    return st.builds(kind, **{name: values_of(hint) for name, hint in hints.items()})


def lists_of(kinds: Any) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.one_of([values_of(kind) for kind in get_args(kinds)]), max_size=5).map(tuple)


OPERATIONS = lists_of(Operation)
ANSWERS = lists_of(Answer)
STATE = [field.name for field in dataclasses.fields(TurnAnswers) if field.name != "answers"]
FAMILIES = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, SymfleetError)
]


@given(OPERATIONS)
def test_operations_come_back_as_they_were(operations: tuple[Operation, ...]) -> None:
    assert decode_operations(encode_operations(operations)) == operations


@given(ANSWERS, st.lists(values_of(int), min_size=len(STATE), max_size=len(STATE)))
def test_answers_and_the_state_after_them_come_back(
    answers: tuple[Answer, ...], state: list[int]
) -> None:
    told = TurnAnswers(answers, **dict(zip(STATE, state, strict=True)))
    assert decode_answers(encode_answers(told)) == told


@given(st.sampled_from(FAMILIES), st.lists(st.text(), min_size=4, max_size=4))
def test_an_error_comes_back_in_its_family_with_its_four_parts(
    family: type[SymfleetError], parts: list[str]
) -> None:
    what, where, why, hint = parts
    with pytest.raises(family) as caught:
        decode_answers(encode_error(family(what, where=where, why=why, hint=hint)))
    error = caught.value
    assert type(error) is family or family is SymfleetError
    assert [error.what, error.where, error.why, error.hint] == parts
    assert error.exit_code == family.exit_code


@given(st.binary(max_size=200))
def test_other_bytes_are_refused_and_nothing_else_is_raised(data: bytes) -> None:
    for decode in (decode_operations, decode_answers):
        try:
            decode(data)
        except SymfleetError:
            continue


@given(st.binary(max_size=5000), st.integers(257, 1500))
def test_pieces_are_bounded_and_make_the_whole(data: bytes, body: int) -> None:
    pieces = split(data, body)
    assert all(len(piece) <= body for piece in pieces)
    assembly, whole = Assembly(len(data)), None
    for number, piece in enumerate(pieces):
        assert whole is None
        whole = assembly.add(1, number, len(pieces), piece)
    assert whole == data


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 4), st.integers(-1, 4)), max_size=8))
def test_only_whole_things_in_order_are_made_of_pieces(
    said: list[tuple[int, int, int]],
) -> None:
    assembly = Assembly(1 << 20)
    expected: list[tuple[int, int, int]] = []
    for number, piece, pieces in said:
        expected.append((number, piece, pieces))
        first = expected[0]
        fits = expected == [(first[0], n, first[2]) for n in range(len(expected))]
        try:
            whole = assembly.add(number, piece, pieces, b"x")
        except DataError:
            assert not fits or len(expected) > max(first[2], 0)
            expected = []
            continue
        assert fits
        assert (whole is not None) == (len(expected) == pieces)
        if whole is not None:
            expected = []


def test_a_whole_beyond_the_bound_is_refused() -> None:
    assembly = Assembly(10)
    assert assembly.add(1, 0, 2, bytes(6)) is None
    with pytest.raises(DataError):
        assembly.add(1, 1, 2, bytes(6))
