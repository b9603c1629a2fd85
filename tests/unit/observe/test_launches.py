"""Epochs as people see them: an epoch without a verdict crashed, runs, or was gone on from."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import cast

import pytest

from symfleet.ledger.contract import EpochRow, LedgerReader
from symfleet.observe.launches import epoch_lines, epochs_of
from symfleet.types import Epoch


class Rows:
    """A reader that has these epochs."""

    def __init__(self, *reasons: str | None) -> None:
        self._reasons = reasons

    def epochs(self) -> Sequence[EpochRow]:
        return [
            EpochRow(
                Epoch(number), 0.0, None if reason is None else 1.0, "host", 7, reason, 0, 0, 5
            )
            for number, reason in enumerate(self._reasons, 1)
        ]


@pytest.mark.parametrize(
    ("reasons", "running", "endings"),
    [
        ((None, None), True, ("epoch 2 went on", "is running (process 7)")),
        ((None, None), False, ("epoch 2 went on", "`symfleet resume` goes on")),
        ((None, "quiescent"), False, ("epoch 2 went on", "quiescent (exit code 0)")),
        (("quiescent", None), True, ("quiescent (exit code 0)", "is running (process 7)")),
    ],
)
def test_an_epoch_without_a_verdict_is_not_left_open(
    reasons: Sequence[str | None], running: bool, endings: Sequence[str]
) -> None:
    reader = cast("LedgerReader", Rows(*reasons))
    shown = epochs_of(reader, lambda: running)
    assert [one.running for one in shown] == [False, running and reasons[-1] is None]
    lines = list(epoch_lines(shown))
    assert len(lines) == len(endings)
    for line, ending in zip(lines, endings, strict=True):
        assert line.endswith(ending)
    assert ("crashed" in lines[0]) == (reasons[0] is None)


def test_only_a_newest_epoch_that_ended_with_70_asks_to_look_first() -> None:
    class Damaged(Rows):
        def epochs(self) -> Sequence[EpochRow]:
            return [dataclasses.replace(row, exit_code=70) for row in super().epochs()]

    reader = cast("LedgerReader", Damaged("it is damaged; where: row 7", "it is damaged; why: x"))
    first, last = epoch_lines(epochs_of(reader, lambda: False))
    assert first.endswith("it is damaged (exit code 70)")
    assert last.endswith("it is damaged (exit code 70); look first what `symfleet verify` says")


@pytest.mark.parametrize("reason", [None, "quiescent"])
def test_an_epoch_that_its_job_goes_on_from_asks_nothing_of_anybody(reason: str | None) -> None:
    reader = cast("LedgerReader", Rows("quiescent", reason))
    shown = epochs_of(reader, lambda: False, lambda: True)
    assert [one.restarting for one in shown] == [False, reason is None]
    last = list(epoch_lines(shown))[-1]
    assert "resume" not in last
    assert ("its job begins the next one by itself" in last) == (reason is None)
