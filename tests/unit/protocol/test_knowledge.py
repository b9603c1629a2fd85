"""Coverage knowledge: told once, in order, again in full when somebody may have missed it."""

from __future__ import annotations

import pytest

from symfleet.protocol.knowledge import CampaignKnowledge, is_ascending, pack, version_or_none
from symfleet.protocol.messages import Knowledge, Work
from symfleet.protocol.setup import Knobs
from symfleet.testing.coordinator_bench import CoordinatorBench
from symfleet.types import Keep


def test_a_delta_adds_to_the_version_that_is_held() -> None:
    known = CampaignKnowledge(pack([8]))
    known.learn(pack([24]))
    known.learn(pack([16]))
    assert known.since(1, 1 << 20) == (Knowledge(1, 3, pack([16, 24])),)
    assert known.since(0, 1 << 20) == (Knowledge(0, 3, pack([8, 16, 24])),)
    assert known.since(3, 1 << 20) == ()


def test_a_large_snapshot_claims_its_version_in_the_last_frame_only() -> None:
    known = CampaignKnowledge(pack(range(0, 800, 8)))
    frames = known.since(0, 100)
    assert [frame.version for frame in frames[:-1]] == [0] * (len(frames) - 1)
    assert b"".join(frame.edges for frame in frames) == pack(range(0, 800, 8))
    assert frames[-1].version == 1


def test_a_cursor_that_is_too_old_gets_a_snapshot() -> None:
    known = CampaignKnowledge(b"")
    for edge in range(600):
        known.learn(pack([edge]))
    (frame,) = known.since(1, 1 << 20)
    assert (frame.base, frame.version) == (0, 600)


@pytest.mark.parametrize("value", [True, False, -1, 4, None, "1", 1.0])
def test_what_is_no_version_counts_as_none(value: object) -> None:
    assert version_or_none(value, 3) == 0


def test_packed_edges_are_strictly_ascending_whole_numbers() -> None:
    assert is_ascending(b"")
    assert is_ascending(pack([1, 2, 2**32 - 1]))
    assert not is_ascending(pack([2, 2]))
    assert not is_ascending(pack([2, 1]))
    assert not is_ascending(b"\0\0\0")


@pytest.mark.parametrize(("keep", "told"), [(Keep.NOVEL, True), (Keep.ALL, False)])
def test_a_worker_is_told_what_is_new_ahead_of_its_next_work(keep: Keep, told: bool) -> None:
    bench = CoordinatorBench(keep=keep, knobs=Knobs(prefetch=0))
    (work,) = bench.first_work(0, 3)
    turn = bench.turn(bench.result(work), bench.ready(work.token))
    kinds = [type(m) for _, _, m in turn.messages if isinstance(m, Knowledge | Work)]
    assert kinds == ([Knowledge, Work] if told else [Work])
    (again,) = turn.works
    turn = bench.turn(bench.result(again), bench.ready(again.token, knowledge=1))
    fresh = [m for m in turn.of(Knowledge) if isinstance(m, Knowledge)]
    assert all(m.base >= 1 for m in fresh), "only what is newer than what it holds"
    assert bench.faults() == {}
