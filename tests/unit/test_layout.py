"""Roles of ranks: balanced groups, and a coordinator on the worker's own host where that can be."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symfleet.errors import UserError
from symfleet.runtime.layout import lay_out


def test_one_coordinator_has_all_workers() -> None:
    layout = lay_out(["a"] * 4, 1, 7)
    assert layout.coordinators == (0,)
    assert layout.group(0) == (1, 2, 3)
    assert [place.slots for place in layout.workers.values()] == [3, 2, 2]


def test_six_slots_on_two_coordinators_are_three_each() -> None:
    layout = lay_out(["a"] * 4, 2, 6)
    assert layout.coordinators == (0, 1)
    assert [layout.group(number) for number in (0, 1)] == [(2,), (3,)]
    assert [place.slots for place in layout.workers.values()] == [3, 3]


def test_a_worker_serves_the_coordinator_of_its_own_host() -> None:
    hosts = ["a", "a", "a", "b", "b", "b"]
    layout = lay_out(hosts, 2, 8)
    assert layout.coordinators == (0, 3)
    for rank, place in layout.workers.items():
        assert hosts[layout.coordinators[place.coordinator]] == hosts[rank]


def test_balance_goes_before_the_common_host() -> None:
    hosts = ["a", "a", "a", "a", "a", "b", "b", "b"]
    layout = lay_out(hosts, 2, 6)
    assert layout.coordinators == (0, 5)
    assert sorted(len(layout.group(number)) for number in (0, 1)) == [3, 3]


def test_too_few_ranks_for_the_coordinators_are_refused() -> None:
    with pytest.raises(UserError, match="3 ranks are too few for 2 coordinators"):
        lay_out(["a"] * 3, 2, 6)


@given(
    st.lists(st.sampled_from("abc"), min_size=2, max_size=40),
    st.integers(1, 8),
    st.integers(1, 400),
)
def test_every_rank_has_one_role_and_groups_are_balanced(
    hosts: list[str], coordinators: int, slots: int
) -> None:
    workers = len(hosts) - coordinators
    if workers < coordinators:
        return
    layout = lay_out(hosts, coordinators, slots)
    assert layout.coordinators[0] == 0
    assert sorted([*layout.coordinators, *layout.workers]) == list(range(len(hosts)))
    groups = Counter(place.coordinator for place in layout.workers.values())
    assert set(groups) == set(range(coordinators))
    assert max(groups.values()) - min(groups.values()) <= 1
    sizes = [place.slots for place in layout.workers.values()]
    assert sum(sizes) == max(slots, workers)
    assert max(sizes) - min(sizes) <= 1
