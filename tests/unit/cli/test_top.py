"""`symfleet top`, without a campaign."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from symfleet.cli import top as verb


class Interrupting:
    """Its finaliser is interrupted, where Python drops an exception."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_is_heard_wherever_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looks = []

    def is_live(_: Path) -> bool:
        looks.append(Interrupting())
        looks.clear()
        return True

    monkeypatch.setattr(verb, "require_campaign", lambda out: None)
    monkeypatch.setattr(verb, "_is_live", is_live)
    monkeypatch.setattr(verb, "report_from_ledger", lambda out: None)
    monkeypatch.setattr(verb, "summary_lines", lambda report, out: ["epoch 1 is running"])
    assert verb.top(tmp_path) == 0
    assert "epoch 1 is running" in capsys.readouterr().out
