"""What is made of the answers of other hosts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from symfleet.clock import SystemClock
from symfleet.config.model import Resources
from symfleet.errors import HostError
from symfleet.runtime.identity import python_version, version
from symfleet.runtime.reach import Answer, ask_hosts, problem_of
from symfleet.runtime.roster import Roster
from symfleet.testing.fake_clock import FakeClock
from symfleet.testing.jobs import until


@pytest.fixture
def ssh(tmp_path: Path) -> tuple[str, ...]:
    """An ssh that runs the command here, unless the host is one of those that are trouble."""
    script = tmp_path / "ssh"
    script.write_text(
        """#!/bin/sh
case $1 in
    down*) [ -e "$(dirname "$0")/up" ] || { echo "ssh: no route to $1" >&2; exit 255; };;
    bare) echo "sh: python: not found" >&2; exit 127;;
    old) echo "symfleet 0.0.1 3.11.0"; exit 0;;
    chatty) echo "Welcome to chatty, today is a nice day"; exit 0;;
esac
shift
exec sh -c "$*"
"""
    )
    script.chmod(0o755)
    return (str(script),)


def asked(ssh: tuple[str, ...], *hosts: str) -> list[HostError | None]:
    return [problem_of(answer) for answer in ask_hosts(ssh, hosts, SystemClock())]


def test_a_host_like_this_one_is_fine(ssh: tuple[str, ...]) -> None:
    assert asked(ssh, "same", "localhost") == [None, None]


@pytest.mark.parametrize(
    ("host", "what", "why"),
    [
        ("down", "a host cannot be reached", "ssh: no route to down"),
        ("bare", "symfleet is missing on a host", f"there is no {sys.executable}: sh: python"),
        ("old", "a host has another symfleet", f"symfleet 0.0.1 there, {version()} here"),
        ("chatty", "a host answers something else than was asked", "Welcome"),
    ],
)
def test_a_host_that_cannot_take_part_is_named_with_the_reason(
    ssh: tuple[str, ...], host: str, what: str, why: str
) -> None:
    (problem,) = asked(ssh, host)
    assert problem is not None
    assert (problem.what, problem.where) == (what, host)
    assert why in problem.why
    assert problem.hint


def test_both_versions_of_python_are_named() -> None:
    problem = problem_of(Answer("b", 0, f"symfleet {version()} 3.99.1"))
    assert problem is not None
    assert problem.why == f"Python 3.99.1 there, {python_version()} here"


def test_a_host_that_says_nothing_in_time_cannot_be_reached(tmp_path: Path) -> None:
    script = tmp_path / "ssh"
    script.write_text("#!/bin/sh\nexec sleep 600\n")
    script.chmod(0o755)
    (answer,) = ask_hosts((str(script),), ("mute",), FakeClock())
    problem = problem_of(answer)
    assert problem is not None
    assert (problem.what, problem.where) == ("a host cannot be reached", "mute")
    assert "within 20 s" in problem.why


def test_an_ssh_that_is_not_there_is_an_error_of_this_host(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="cannot be started") as caught:
        ask_hosts((str(tmp_path / "none"),), ("a",), SystemClock())
    assert caught.value.where == str(tmp_path / "none")


def test_a_roster_leaves_out_who_is_down_and_hears_when_it_is_back(
    ssh: tuple[str, ...], tmp_path: Path
) -> None:
    told: list[str] = []
    clock = SystemClock()
    resources = Resources(hosts="localhost:2,down:2", ssh=ssh, host_retry_s=1)
    roster = Roster(resources, clock, told.append)
    assert roster.slots == 4
    assert roster.problem() is not None
    roster.call_again()
    assert (roster.slots, roster.placement and roster.placement.remote) == (2, ())
    assert told == ["down: a host cannot be reached (ssh: no route to down); going on without it"]
    assert not roster.is_worth_renewal(clock.monotonic())
    (tmp_path / "up").touch()
    until("it is asked again", lambda: roster.is_worth_renewal(clock.monotonic()), 10)
    roster.call_again()
    assert roster.slots == 4
    assert told[1:] == ["down: it is back"]


def test_a_few_missing_slots_are_not_worth_a_new_epoch(ssh: tuple[str, ...]) -> None:
    roster = Roster(
        Resources(hosts="localhost:6,down:2", ssh=ssh), SystemClock(), lambda line: None
    )
    roster.call_again()
    assert roster.slots == 6
    assert not roster.is_worth_renewal(1e9)


def test_a_roster_without_anybody_is_an_error(ssh: tuple[str, ...]) -> None:
    roster = Roster(Resources(hosts="down1:2,down2:2", ssh=ssh), SystemClock(), lambda line: None)
    with pytest.raises(HostError, match="cannot be reached"):
        roster.call_again()
