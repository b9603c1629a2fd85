"""The first and the last that a worker hears of an epoch that cannot be opened."""

from __future__ import annotations

import pytest

from symfleet.protocol.setup import Knobs
from symfleet.runtime.introduction import (
    Dismissal,
    Introduction,
    RootGone,
    await_introduction,
    dismiss,
    encode_introduction,
    say_farewell,
)
from symfleet.testing.fake_clock import FakeClock
from symfleet.transport.inproc import Network
from symfleet.types import CampaignId, Epoch


class Meanwhile(FakeClock):
    """The first time the root sleeps, worker 1 answers and worker 2 dies."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.began = self.monotonic_s
        self.woke = False

    def sleep(self, seconds: float) -> None:
        if not self.woke:
            self.woke = True
            worker = self.network.endpoint(1)
            heard = await_introduction(worker, 0, FakeClock())
            assert isinstance(heard, Dismissal)
            say_farewell(worker, 0, FakeClock())
            self.network.lose(2)
        super().sleep(seconds)


@pytest.mark.guarantee("Q4")
def test_a_dismissed_worker_acknowledges_and_the_others_are_named() -> None:
    network = Network(4)
    clock = Meanwhile(network)
    assert dismiss(network.endpoint(0), clock, 7.0) == [2, 3]
    assert clock.monotonic_s - clock.began == pytest.approx(7.0, abs=0.1), "the silent one is due"


@pytest.mark.guarantee("Q4")
def test_nobody_is_waited_for_who_is_dead_or_has_answered() -> None:
    network = Network(3)
    network.lose(2)
    clock = Meanwhile(network)
    assert dismiss(network.endpoint(0), clock, 7.0) == [2]
    assert clock.monotonic_s - clock.began < 0.1


def test_an_introduction_comes_back_as_it_was_written() -> None:
    network = Network(2)
    introduction = Introduction(CampaignId("c1" * 16), Epoch(3), 0, 8, Knobs(prefetch=2))
    network.endpoint(0).send(1, encode_introduction(introduction))
    assert await_introduction(network.endpoint(1), 0, FakeClock()) == introduction


def test_a_root_that_dies_before_it_speaks_is_not_waited_for() -> None:
    network = Network(2)
    network.lose(0)
    with pytest.raises(RootGone):
        await_introduction(network.endpoint(1), 0, FakeClock())
