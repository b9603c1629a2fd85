"""Poisoned work by the command line: listed, shown, re-armed with and without a live owner."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from symfleet.cli.app import run
from symfleet.corpus.admission import admission_of
from symfleet.corpus.inbox import (
    CommandAnswer,
    RearmPoison,
    answer_command,
    prepare_inbox,
    read_commands,
)
from symfleet.ledger.contract import Ledger
from symfleet.protocol.answers import Blamed, Claimed
from symfleet.protocol.operations import Admit, Blame, Claim
from symfleet.testing.jobs import until
from symfleet.testing.ledgers import epoch_request
from symfleet.testing.programs import ProgramCampaign
from symfleet.types import GenerationId, Incarnation

PROGRAMS = Path(__file__).parents[1] / "programs"


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[ProgramCampaign]:
    made = ProgramCampaign(tmp_path, PROGRAMS / "none.py", {"a": b"a"})
    with made.owned() as opened:
        opened.ledger.open_epoch(epoch_request())
        opened.ledger.register_source("seeds", "/seeds", "here")
        poison(opened.ledger, opened.generation)
    yield made
    made.close()


def poison(ledger: Ledger, generation: GenerationId) -> None:
    ledger.run([Admit(1, tuple(admission_of(data, "x", generation) for data in (b"a", b"b")))])
    for executor in (1, 2, 3):
        (claimed,) = ledger.run([Claim(0, 2)]).answers
        assert isinstance(claimed, Claimed)
        for lease in claimed.leases:
            blame = Blame(lease.work_id, lease.token, Incarnation(executor), "SIGSEGV")
            (answer,) = ledger.run([blame]).answers
            assert isinstance(answer, Blamed)


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_poison_is_listed_and_rearmed(
    campaign: ProgramCampaign, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(campaign.out)
    listed = shown(capsys, "poison", "list", out)
    assert len(listed) == 2
    assert {row["blames"] for row in listed} == {3}
    first = listed[0]["work_id"]
    assert shown(capsys, "poison", "rearm", out, first[:10]) == {"rearmed": 1}
    assert [row["work_id"] for row in shown(capsys, "poison", "list", out)] == [
        listed[1]["work_id"]
    ]
    assert shown(capsys, "poison", "rearm", out) == {"rearmed": 1}
    assert shown(capsys, "status", out)["total"]["pending"] == 2


def answering(out: Path, answer: Callable[[RearmPoison], CommandAnswer]) -> threading.Thread:
    """Play the owner for one command."""

    def serve() -> None:
        until("a command comes", lambda: bool(list(read_commands(out))), 20)
        (delivered,) = read_commands(out)
        assert isinstance(delivered.command, RearmPoison)
        answer_command(out, delivered, answer(delivered.command))

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def test_a_live_owner_rearms_on_request(
    campaign: ProgramCampaign, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare_inbox(campaign.out)
    with campaign.owned() as opened:
        owner = answering(
            campaign.out,
            lambda command: CommandAnswer(ok=True, message="", amount=len(command.work_ids)),
        )
        assert shown(capsys, "poison", "rearm", str(campaign.out)) == {"rearmed": 2}
        owner.join()
        assert opened.ledger.status().epochs == 1


def test_what_a_live_owner_refuses_is_told(
    campaign: ProgramCampaign, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare_inbox(campaign.out)
    with campaign.owned():
        owner = answering(campaign.out, lambda _: CommandAnswer(ok=False, message="not now"))
        assert run(["poison", "rearm", str(campaign.out)]) == 65
        owner.join()
    assert "not now" in capsys.readouterr().err
