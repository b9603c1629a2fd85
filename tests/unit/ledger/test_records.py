"""Manifests, records, edge sets, SQL blocks: forms that stand on disk."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symfleet.errors import DataError
from symfleet.ledger import statements
from symfleet.ledger.edges import Knowledge, pack_edges, unpack_edges
from symfleet.ledger.manifest import (
    Manifest,
    decode_manifest,
    distinct_children,
    manifest_digest,
    manifest_of,
)
from symfleet.ledger.tally import (
    DecisionRecord,
    decision_counts,
    decode_record,
    encode_record,
    kept_bits,
    kept_flags,
)
from symfleet.protocol.answers import Lease
from symfleet.protocol.item_results import Flips
from symfleet.testing.ledgers import admission, child, decision, packed
from symfleet.types import Epoch, Fence, FencingToken, Incarnation, Outcome

_SETS = st.sets(st.integers(0, 2**32 - 1), max_size=30)


def lease(epoch: int = 1, fence: int = 1) -> Lease:
    """Return a lease of the input `a`."""
    entry = admission(b"a")
    token = FencingToken(Epoch(epoch), Fence(fence))
    return Lease(
        entry.work_id, entry.state_id, token, entry.payload, b"a", 1, 0, suspect=False, cost_us=0
    )


def encoded(*names: bytes, epoch: int = 1, incarnation: int = 7, **fields: Any) -> bytes:
    """Return the manifest bytes of a decision with these children."""
    kids = distinct_children(tuple(child(name, 8) for name in names))
    operation = decision(lease(epoch), kids, **fields)
    return manifest_of(operation, kids, Incarnation(incarnation))[1]


@pytest.mark.guarantee("C4")
@given(st.lists(st.binary(max_size=4), max_size=6), st.integers(1, 2**40), st.integers(1, 2**63))
def test_a_manifest_reads_back_as_it_was_written(
    names: list[bytes], epoch: int, incarnation: int
) -> None:
    written = encoded(*names, epoch=epoch, incarnation=incarnation)
    manifest = decode_manifest(written)
    assert msgspec.msgpack.encode(manifest) == written
    assert list(manifest.children) == sorted(set(manifest.children))


@pytest.mark.guarantee("C4")
@given(st.binary(max_size=40))
def test_other_bytes_are_no_manifest(noise: bytes) -> None:
    with pytest.raises(DataError):
        decode_manifest(noise)


@pytest.mark.guarantee("C4")
@given(st.data())
def test_a_manifest_with_a_changed_byte_is_refused_or_says_something_else(
    data: st.DataObject,
) -> None:
    written = encoded(b"x", b"y")
    place = data.draw(st.integers(0, len(written) - 1))
    changed = bytearray(written)
    changed[place] ^= data.draw(st.integers(1, 255))
    try:
        manifest = decode_manifest(bytes(changed))
    except DataError:
        return
    assert manifest != decode_manifest(written)


def test_the_digest_leaves_out_who_decided_when() -> None:
    first = decode_manifest(encoded(b"x", epoch=1, incarnation=7))
    second = decode_manifest(encoded(b"x", epoch=9, incarnation=8))
    other = decode_manifest(encoded(b"y"))
    crash = decode_manifest(encoded(b"x", outcome=Outcome.CRASH))
    assert manifest_digest(first) == manifest_digest(second)
    assert len({manifest_digest(m) for m in (first, other, crash)}) == 3


def test_the_digest_depends_on_every_other_field() -> None:
    base = decode_manifest(encoded(b"x"))
    changes: dict[str, Any] = {
        "work_id": "0" * 64,
        "input_id": "0" * 64,
        "outcome": Outcome.HANG,
        "children": (),
        "generated": 9,
        "coverage": "0" * 64,
        "flips": "0" * 64,
    }
    left_out = {"schema", "epoch", "fence", "incarnation"}
    assert set(changes) | left_out == set(Manifest.__struct_fields__)
    for name, value in changes.items():
        other = msgspec.structs.replace(base, **{name: value})
        assert manifest_digest(other) != manifest_digest(base), name


@given(_SETS)
def test_edges_read_back_as_they_were_packed(edges: set[int]) -> None:
    assert pack_edges(unpack_edges(packed(*edges))) == packed(*edges)


def test_a_cut_edge_set_is_refused() -> None:
    with pytest.raises(DataError, match="cut off"):
        unpack_edges(b"12345")


@given(st.lists(_SETS, max_size=5))
def test_knowledge_is_the_union_and_can_be_taken_back(sets: list[set[int]]) -> None:
    knowledge = Knowledge()
    steps = []
    before = []
    for edges in sets:
        before.append(knowledge.packed())
        new = knowledge.new_in(unpack_edges(packed(*edges)))
        steps.append((new, knowledge.add(new)))
    assert knowledge.packed() == packed(*set().union(*sets))
    assert sum(len(fresh) for _, fresh in steps) == len({e >> 3 for s in sets for e in s})
    for (new, fresh), old in zip(reversed(steps), reversed(before), strict=True):
        knowledge.take_back(new, fresh)
        assert knowledge.packed() == old


@given(st.lists(st.booleans(), max_size=40))
def test_kept_flags_read_back(flags: list[bool]) -> None:
    assert kept_flags(kept_bits(flags), len(flags)) == tuple(flags)


def test_every_sql_file_has_blocks_of_one_statement() -> None:
    for file in ("turn", "opening", "reading", "audit"):
        for name, statement in statements.load(file).items():
            assert statement, name
            assert ";" not in statement, name


def test_the_first_migration_makes_an_empty_database() -> None:
    assert len(statements.migrations()) >= 1


def test_a_record_of_an_earlier_version_counts_what_it_counted() -> None:
    numbers = dict.fromkeys(DecisionRecord.__struct_fields__, 0)
    fields: dict[str, Any] = {
        **numbers,
        "kept": b"",
        "flips": Flips(),
        "solved": {},
        "degraded": ("goals",),
        "reason": None,
        "not_exhaustive": False,
        "follow_up": None,
        "stories": b"",
    }
    fields |= {"cut_off": ("goals",), "left_out": {"children": 2}}
    record = DecisionRecord(**fields)
    counts = decision_counts(0, record)
    assert (counts["cut_off.goals"], counts["left_out.children"]) == (1, 2)
    earlier = msgspec.msgpack.encode(msgspec.msgpack.decode(encode_record(record))[:-2])
    before = decision_counts(0, decode_record(earlier))
    assert before == {name: counts[name] for name in before}
    assert not before.keys() & {"cut_off.goals", "left_out.children"}
