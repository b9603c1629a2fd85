"""Kill `symfleet ledger copy` at random instants, there and back, and look what is left.

A half-done campaign (of `ledger_kills`) moves to a server and back, again and again; each command
is killed with SIGKILL until one gets through. After each move the ledger must be sound, and hold
the same decisions and the same status. In the end one undisturbed life finishes the campaign.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from symfleet.config.environment import inherited_environment
from symfleet.errors import ExitCode, SymfleetError
from symfleet.ledger.contract import LedgerStatus
from symfleet.ledger.opener import has_ledger
from symfleet.ledger.places import read_ledger
from symfleet.testing.kills import ledger_kills

_LIFE_S: Final = (0.3, 1.0)
"""How long a command lives, at least and at most; it takes about half a second to begin."""
_LONGER_S: Final = 0.2
"""How much longer the next one may live: on a busy machine one must get through, too."""
_ATTEMPTS_MAX: Final = 200
_DECISIONS: Final = 100


@dataclass(slots=True)
class Report:
    """What the moves came to."""

    moves: int = 0
    kills: int = 0
    findings: list[str] = field(default_factory=list)


def run(out: Path, url: str, moves: int, seed: int) -> Report:
    """Move a new campaign `moves` times, there and back, and finish it."""
    dice = random.Random(seed)
    report = Report()
    _begin(out, dice)
    before = _state(out, report)
    for _ in range(moves):
        for place in (url, "sqlite"):
            report.kills += _move(out, place, dice)
            report.moves += 1
            if _state(out, report) != before:
                report.findings.append(f"another ledger after move {report.moves} to {place}")
    with Path(os.devnull).open("wb") as nowhere:
        ledger_kills.live(out, nowhere.fileno(), dice)
    end = ledger_kills.Report()
    ledger_kills.look(out, set(), end)
    if end.decided != ledger_kills.ITEMS:
        report.findings.append(f"{end.decided} items are decided")
    report.findings += end.findings
    return report


def _begin(out: Path, dice: random.Random) -> None:
    """Let a campaign begin, and kill it half-way."""
    for _ in range(_ATTEMPTS_MAX):
        ledger_kills.kill_one(out, dice)
        if has_ledger(out):
            with closing(read_ledger(out)) as reader:
                if reader.status().decisions > _DECISIONS:
                    return
    raise SystemExit("the campaign does not get on")


def _state(out: Path, report: Report) -> tuple[LedgerStatus, list[tuple[str, str]]]:
    with closing(read_ledger(out)) as reader:
        report.findings += [str(finding) for finding in reader.audit()]
        decided = [(str(row.work_id), row.manifest_digest) for row in reader.decisions()]
        return reader.status(), decided


def _move(out: Path, place: str, dice: random.Random) -> int:
    """Move the campaign with a command that is killed until one gets through; return the kills."""
    words = ("ledger", "copy", str(out), "--to", place, "--json")
    for kills in range(_ATTEMPTS_MAX):
        command = subprocess.Popen(
            [sys.executable, "-m", "symfleet.cli.main", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=inherited_environment(),
        )
        least, most = _LIFE_S
        try:
            told, _ = command.communicate(timeout=dice.uniform(least, most + kills * _LONGER_S))
        except subprocess.TimeoutExpired:
            command.kill()
            command.communicate()
            continue
        # A command that was killed after its last step has left nothing to be done.
        if command.returncode == ExitCode.DONE or b"of this kind already" in told:
            return kills
        raise SymfleetError("a move failed by itself", where=str(out), why=told.decode())
    raise SymfleetError("a move does not get through", where=str(out))
