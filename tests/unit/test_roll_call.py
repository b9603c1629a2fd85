"""The roll call: who is there, and who cannot work together."""

from __future__ import annotations

import sys

import msgspec
import pytest

from symfleet.errors import HostError
from symfleet.protocol.events import FrameReceived
from symfleet.runtime.roll_call import Call, Roll, RollCall, call_roll, present, strangers
from symfleet.testing.fake_clock import FakeClock
from symfleet.transport.inproc import Network

PROGRAM = sys.executable
ROOT = present(PROGRAM)


class Answering(FakeClock):
    """When the root sleeps, each rank says what it has to say, once; None: it dies."""

    def __init__(self, network: Network, answers: dict[int, RollCall | bytes | None]) -> None:
        super().__init__()
        self.network = network
        self.answers = answers

    def sleep(self, seconds: float) -> None:
        for rank, answer in self.answers.items():
            endpoint = self.network.endpoint(rank)
            (event,) = endpoint.receive(1, 1 << 20).events
            assert isinstance(event, FrameReceived)
            assert msgspec.msgpack.decode(event.data, type=Call) == Call(PROGRAM)
            if answer is None:
                self.network.lose(rank)
            else:
                data = answer if isinstance(answer, bytes) else msgspec.msgpack.encode(answer)
                endpoint.send(0, data)
        self.answers = {}
        super().sleep(seconds)


def roll_of(*answers: RollCall | bytes | None) -> Roll:
    network = Network(1 + len(answers))
    clock = Answering(network, dict(enumerate(answers, 1)))
    return call_roll(network.endpoint(0), clock, PROGRAM)


def other(**changes: object) -> RollCall:
    return msgspec.structs.replace(ROOT, host="elsewhere", pid=7, **changes)


def test_everybody_answers_and_those_that_died_are_named() -> None:
    roll = roll_of(other(), None, ROOT)
    assert roll.hosts() == (ROOT.host, "elsewhere", "", ROOT.host)
    assert list(roll.lost) == [2]
    assert strangers(roll) is None


@pytest.mark.parametrize(
    ("answer", "what", "values"),
    [
        (other(version="9.9"), "another symfleet", ("9.9", ROOT.version)),
        (other(protocol=77), "another protocol", ("77", str(ROOT.protocol))),
        (other(python="3.99.0"), "another Python", ("3.99.0", ROOT.python)),
        (other(target="ab" * 32), "another target", ("ab" * 32, ROOT.target)),
        (other(target="", problem="No such file"), "not have the target", ("No such file",)),
    ],
)
def test_e21_a_stranger_is_named_with_both_values(
    answer: RollCall, what: str, values: tuple[str, ...]
) -> None:
    error = strangers(roll_of(ROOT, answer))
    assert isinstance(error, HostError)
    assert what in error.what
    assert "rank 2" in error.where
    assert "elsewhere" in error.where
    assert all(value in error.why for value in values)
    assert error.hint


def test_an_answer_of_another_version_may_have_other_fields() -> None:
    newer = msgspec.msgpack.encode({**msgspec.to_builtins(other()), "type": "RollCall", "new": 1})
    assert strangers(roll_of(newer)) is None


def test_bytes_that_are_no_answer_are_another_symfleet() -> None:
    with pytest.raises(HostError, match="another symfleet"):
        roll_of(b"hello")


def test_a_rank_that_says_nothing_is_named() -> None:
    network = Network(3)
    clock = Answering(network, {1: ROOT})
    with pytest.raises(HostError, match="does not answer") as caught:
        call_roll(network.endpoint(0), clock, PROGRAM)
    assert caught.value.where == "rank 2"


def test_a_target_that_is_missing_is_said_not_raised() -> None:
    answer = present("/nowhere/target")
    assert answer.target == ""
    assert "No such file" in answer.problem
