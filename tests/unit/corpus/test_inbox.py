"""Commands and inputs for a campaign that another process owns."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from symfleet.corpus.inbox import (
    COMMAND_BYTES_MAX,
    COMMANDS_PER_LOOK_MAX,
    CommandAnswer,
    RearmPoison,
    StopCampaign,
    answer_command,
    await_answer,
    drop_command,
    drop_input,
    inputs_folder,
    prepare_inbox,
    read_commands,
)
from symfleet.errors import BusyError
from symfleet.types import WorkId, input_id_of


class StepClock:
    """Moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_command_reaches_the_owner_and_its_answer_comes_back(tmp_path: Path) -> None:
    prepare_inbox(tmp_path)
    command = RearmPoison((WorkId("1" * 64),))
    drop_command(tmp_path, command, "7")
    (delivered,) = read_commands(tmp_path)
    assert delivered.command == command
    answer_command(tmp_path, delivered, CommandAnswer(ok=True, message="done", amount=1))
    assert list(read_commands(tmp_path)) == []
    assert await_answer(tmp_path, "7", StepClock(), 1.0).amount == 1
    assert list((tmp_path / "inbox" / "answers").iterdir()) == []


def test_an_owner_that_does_not_answer_is_named_and_the_command_stays(tmp_path: Path) -> None:
    prepare_inbox(tmp_path)
    drop_command(tmp_path, StopCampaign("enough"), "1")
    clock = StepClock()
    with pytest.raises(BusyError, match="has not answered"):
        await_answer(tmp_path, "1", clock, 2.0)
    assert 2.0 <= clock.now < 2.2
    assert len(list(read_commands(tmp_path))) == 1


def test_a_file_that_is_no_command_is_delivered_with_its_problem(tmp_path: Path) -> None:
    prepare_inbox(tmp_path)
    folder = tmp_path / "inbox" / "commands"
    (folder / "1.json").write_text("nonsense")
    (folder / "2.json").write_text('{"type": "stop", "reason": "x", "extra": 1}')
    for delivered in read_commands(tmp_path):
        assert delivered.command is None
        assert delivered.problem


def test_one_look_takes_a_bounded_number_oldest_first(tmp_path: Path) -> None:
    prepare_inbox(tmp_path)
    for number in range(COMMANDS_PER_LOOK_MAX + 6):
        (tmp_path / "inbox" / "commands" / f"{number:03d}.json").write_text("x")
    names = [delivered.name for delivered in read_commands(tmp_path)]
    assert names == [f"{number:03d}.json" for number in range(COMMANDS_PER_LOOK_MAX)]


def test_a_dropped_input_stands_under_its_digest(tmp_path: Path) -> None:
    input_id = drop_input(tmp_path, b"data")
    assert input_id == input_id_of(b"data")
    assert [path.name for path in inputs_folder(tmp_path).iterdir()] == [input_id]
    assert (inputs_folder(tmp_path) / input_id).read_bytes() == b"data"


def test_preparing_keeps_what_waits_and_drops_old_answers(tmp_path: Path) -> None:
    prepare_inbox(tmp_path)
    drop_input(tmp_path, b"data")
    drop_command(tmp_path, StopCampaign("x"), "1")
    (tmp_path / "inbox" / "answers" / "old.json").write_text("{}")
    prepare_inbox(tmp_path)
    assert len(list(inputs_folder(tmp_path).iterdir())) == 1
    assert len(list(read_commands(tmp_path))) == 1
    assert not list((tmp_path / "inbox" / "answers").iterdir())


def test_what_is_no_file_is_no_command_and_stops_nobody(tmp_path: Path) -> None:
    prepare_inbox(tmp_path)
    commands, answers = (tmp_path / "inbox" / name for name in ("commands", "answers"))
    os.mkfifo(commands / "1.json")
    (commands / "2.json").mkdir()
    (commands / "3.json").symlink_to("/dev/zero")
    drop_command(tmp_path, StopCampaign("enough"), "4")
    assert [delivered.name for delivered in read_commands(tmp_path)] == ["4.json"]
    os.mkfifo(answers / "1.json")
    (answers / "2.json").mkdir()
    prepare_inbox(tmp_path)
    assert [path.name for path in answers.iterdir()] == ["2.json"]


def test_a_file_that_is_too_large_is_no_command_and_says_so(tmp_path: Path) -> None:
    prepare_inbox(tmp_path)
    (tmp_path / "inbox" / "commands" / "1.json").write_bytes(bytes(COMMAND_BYTES_MAX + 1))
    (delivered,) = read_commands(tmp_path)
    assert delivered.command is None
    assert str(COMMAND_BYTES_MAX) in delivered.problem
