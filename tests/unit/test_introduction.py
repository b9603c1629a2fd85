"""The first that a rank hears of an epoch, and the last of one that cannot be opened."""

from __future__ import annotations

import msgspec
import pytest

from symfleet.config.ledger_address import LedgerAccess
from symfleet.config.model import CampaignConfig, Output, Target
from symfleet.protocol.answers import EpochOpening
from symfleet.protocol.events import FrameReceived, RankLost
from symfleet.protocol.setup import Knobs, Peer
from symfleet.runtime.introduction import (
    Dismissal,
    Introduction,
    PeerIntroduction,
    RootGone,
    SourcePlace,
    await_introduction,
    await_present,
    dismiss,
    encode_introduction,
    peer_frames,
    say_farewell,
    say_present,
    without_late_words,
)
from symfleet.runtime.places import Folders
from symfleet.testing.fake_clock import FakeClock
from symfleet.transport.inproc import Network
from symfleet.types import CampaignId, Epoch, GenerationId, Incarnation


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
            heard = await_introduction(worker, FakeClock())
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
    introduction = Introduction(
        campaign=CampaignId("c1" * 16),
        epoch=Epoch(3),
        coordinator=0,
        slots=8,
        knobs=Knobs(prefetch=2),
        folders=Folders("host", "/out", "/out/.run/1"),
        output=Output(out_dir="/out"),
    )
    network.endpoint(0).send(1, encode_introduction(introduction))
    assert await_introduction(network.endpoint(1), FakeClock()) == introduction


def peer_introduction(edges: bytes) -> PeerIntroduction:
    return PeerIntroduction(
        campaign=CampaignId("c1" * 16),
        epoch=Epoch(3),
        number=1,
        incarnation=Incarnation(2**64 - 1),
        peers=(Peer(0, 0, (3,)),),
        workers=(2,),
        slots={2: 4, 3: 4},
        knobs=Knobs(),
        folders=Folders("host", "/out", "/out/.run/1"),
        config=CampaignConfig(target=Target(argv=("t", "@@"))),
        program="/bin/t",
        generation=GenerationId("9e" * 32),
        sources=(SourcePlace(1, "/seeds"),),
        opening=EpochOpening(Epoch(3), True, 0, 0, 5, 7, edges),
        may_restart=True,
        access=LedgerAccess("postgresql://u@h/d", CampaignId("c1" * 16), Epoch(3), "secret"),
        pieces=0,
    )


@pytest.mark.parametrize(("size", "frames"), [(0, 2), (1000, 2), (5 << 20, 7)])
def test_a_coordinator_gets_the_whole_coverage_in_bounded_frames(size: int, frames: int) -> None:
    network = Network(3)
    introduction = peer_introduction(bytes(range(256)) * (size // 256))
    sent = peer_frames(introduction)
    assert len(sent) == frames
    assert max(map(len, sent)) < 2 << 20
    for frame in sent:
        network.endpoint(0).send(1, frame)
    network.endpoint(2).send(1, b"hello of a worker that was told earlier")
    heard = await_introduction(network.endpoint(1), FakeClock())
    assert heard == msgspec.structs.replace(introduction, pieces=frames - 1)
    (waits,) = network.endpoint(1).receive(10, 1 << 20).events
    assert waits.rank == 2, "what others say waits"


class Standing(FakeClock):
    """While the root waits, coordinator 1 stands and speaks, and coordinator 2 dies."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.began = self.monotonic_s

    def sleep(self, seconds: float) -> None:
        if self.monotonic_s == self.began:
            say_present(self.network.endpoint(1))
            self.network.endpoint(1).send(0, b"a turn")
            self.network.lose(2)
        super().sleep(max(seconds, 0.01))


def test_workers_come_when_every_coordinator_stands_and_nothing_it_said_is_lost() -> None:
    network = Network(4)
    clock = Standing(network)
    rest, late = await_present(network.endpoint(0), clock, [1, 2])
    assert not late
    assert rest == [FrameReceived(1, b"a turn"), RankLost(2)]
    assert clock.monotonic_s - clock.began < 1, "nobody else is waited for"


def test_a_coordinator_that_takes_too_long_is_not_waited_for() -> None:
    network = Network(2)
    clock = FakeClock()
    rest, late = await_present(network.endpoint(0), clock, [1])
    assert rest == []
    assert 5 <= clock.monotonic_s - FakeClock().monotonic_s < 6
    say_present(network.endpoint(1))
    network.endpoint(1).send(0, b"a turn")
    arrived = network.endpoint(0).receive(9, 1 << 20).events
    assert without_late_words(arrived, late) == [FrameReceived(1, b"a turn")]
    assert not late
    assert without_late_words(arrived, late) == arrived, "once, and of nobody else"


def test_a_root_that_dies_before_it_speaks_is_not_waited_for() -> None:
    network = Network(2)
    network.lose(0)
    with pytest.raises(RootGone):
        await_introduction(network.endpoint(1), FakeClock())
