"""The in-process transport keeps what the loops rely on."""

from __future__ import annotations

import pytest

from symfleet.protocol.events import FrameReceived, RankLost
from symfleet.transport.contract import NotSent
from symfleet.transport.inproc import Network


def test_frames_arrive_once_and_in_order() -> None:
    network = Network(2)
    one, two = network.endpoint(0), network.endpoint(1)
    for number in range(3):
        one.send(1, bytes([number]))
    arrivals = two.receive(10, 1000)
    assert arrivals.events == tuple(FrameReceived(0, bytes([n])) for n in range(3))
    assert arrivals.drained
    assert two.receive(10, 1000).events == ()


def test_a_bound_leaves_the_rest_for_the_next_turn() -> None:
    network = Network(2)
    for _ in range(3):
        network.endpoint(0).send(1, b"12345")
    two = network.endpoint(1)
    by_count = two.receive(1, 1000)
    assert len(by_count.events) == 1
    assert not by_count.drained
    by_size = two.receive(10, 1)
    assert len(by_size.events) == 1, "one frame is taken whatever its size"
    assert not by_size.drained


def test_what_a_dead_rank_has_sent_comes_before_word_of_its_death() -> None:
    network = Network(3)
    network.endpoint(2).send(0, b"last")
    network.lose(2)
    assert network.endpoint(0).receive(10, 1000).events == (FrameReceived(2, b"last"), RankLost(2))
    with pytest.raises(NotSent):
        network.endpoint(0).send(2, b"too late")


def test_one_source_can_be_heard_while_the_others_wait_in_order() -> None:
    network = Network(4)
    network.endpoint(1).send(0, b"1a")
    network.endpoint(2).send(0, b"2a")
    network.endpoint(1).send(0, b"1b")
    network.lose(3)
    root = network.endpoint(0)
    arrivals = root.receive(10, 1000, 2)
    assert arrivals.events == (FrameReceived(2, b"2a"),)
    assert arrivals.drained
    rest = (FrameReceived(1, b"1a"), FrameReceived(1, b"1b"), RankLost(3))
    assert root.receive(10, 1000).events == rest
    network.lose(2)
    assert root.receive(10, 1000, 2).events == (RankLost(2),)
