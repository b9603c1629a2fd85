"""Where the ranks of a job stand."""

from __future__ import annotations

import socket

import pytest

from symfleet.config.model import Resources
from symfleet.errors import UserError
from symfleet.runtime.layout import lay_out
from symfleet.runtime.placement import Placement, is_this_host, place_ranks

HERE = socket.gethostname()


def placed(
    hosts: str,
    *,
    absent: tuple[str, ...] = (),
    coordinators: int | None = None,
    jobs: int | None = None,
) -> Placement:
    resources = Resources(hosts=hosts, coordinators=coordinators, jobs=jobs)
    made = place_ranks(resources, absent=absent, is_here=lambda name: name == "a")
    assert made is not None
    return made


def test_without_hosts_there_is_nothing_to_place() -> None:
    assert place_ranks(Resources(jobs=4)) is None


def test_the_root_is_here_and_workers_stand_where_their_slots_are() -> None:
    made = placed("b:4,a:2", coordinators=1)
    assert [host.name for host in made.hosts] == [HERE, "b"]
    assert [host.sizes for host in made.hosts] == [(0, 2), (4,)]
    assert made.remote == ("b",)
    assert (made.ranks, made.slots) == (3, 6)


def test_a_host_that_is_not_named_has_the_root_only() -> None:
    made = placed("b:9,c:8", coordinators=1)
    assert [host.sizes for host in made.hosts] == [(0,), (5, 4), (8,)]


def test_coordinators_are_spread_by_slots_and_each_has_somebody_to_serve() -> None:
    made = placed("a:8,b:8,c:8", coordinators=3)
    assert [host.sizes for host in made.hosts] == [(0, 8), (0, 8), (0, 8)]
    made = placed("a:2,b:16", coordinators=3)
    assert [host.sizes.count(0) for host in made.hosts] == [1, 2]
    layout = lay_out(["a"] * 2 + ["b"] * 4, 1, 1, made.sizes)
    assert len(layout.coordinators) == 3
    assert all(layout.group(number) for number in range(3))
    assert {rank: place.slots for rank, place in layout.workers.items()} == {1: 2, 4: 8, 5: 8}


def test_fewer_jobs_leave_the_last_hosts_out() -> None:
    assert [host.slots for host in placed("a:4,b:4,c:4", jobs=6).hosts] == [4, 2]


def test_absent_hosts_are_left_out_and_never_leave_too_many_coordinators() -> None:
    made = placed("a:3,b:8", absent=("b",), coordinators=3)
    assert [host.sizes for host in made.hosts] == [(0, 3)]
    assert made.remote == ()


def test_a_host_with_two_names_is_refused() -> None:
    with pytest.raises(UserError, match="named twice"):
        place_ranks(Resources(hosts="a:1,b:1"), is_here=lambda name: True)


def test_this_host_knows_itself_and_nobody_else() -> None:
    assert is_this_host("localhost")
    assert is_this_host(HERE)
    assert is_this_host("127.0.0.1")
    assert not is_this_host("192.0.2.1")
    assert not is_this_host("nobody.invalid")
