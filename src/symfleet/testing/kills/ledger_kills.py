"""Kill the owner of a ledger with SIGKILL again and again, at any instant, and look what is left.

    python -m symfleet.testing.kills.ledger_kills OUT --kills 40 --seed 1

A child process owns the ledger of a small finite campaign (every input has two children up to a
length), and tells over a pipe what was committed. It is killed after a random time, also while it
creates or opens the ledger. After each kill the ledger must open, the audit must be clean, and
everything that was told must be there. In the end one undisturbed life finishes the campaign: each
item was decided exactly once. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from symfleet.clock import SystemClock
from symfleet.ledger import opener, places
from symfleet.ledger.contract import Ledger
from symfleet.protocol.answers import Claimed, Decided, Lease, SinkRow
from symfleet.protocol.operations import Admit, Claim, Decide, MarkPublished, Operation, Release
from symfleet.testing.ledgers import admission, campaign_row, child, decision, epoch_request
from symfleet.types import Keep, SinkKind, WorkState

LENGTH: Final = 9
ITEMS: Final = 2**LENGTH - 1
"""Inputs of 1 to LENGTH bytes that begin with the seed."""

_WITHIN_OPENING: Final = 0.3
"""Share of kills that come while the ledger is created or opened."""
_OPENING_S: Final = 0.05
_LINES_MAX: Final = 12
_AFTERWARDS_S: Final = 0.008
_SEED: Final = b"s"


@dataclass(slots=True)
class Report:
    """What the kills came to."""

    kills: int = 0
    kills_before_first_turn: int = 0
    told: int = 0
    lost: int = 0
    findings: list[str] = field(default_factory=list)
    decided: int = 0
    corpus: int = 0
    epochs: int = 0


def own(out: Path) -> Ledger:
    """Create the campaign or go on with it."""
    request = opener.OwnerRequest(
        "here", os.getpid(), lock_wait_s=10.0, reserve_bytes=65_536, checkpoint_rows=60
    )
    if opener.has_ledger(out):
        return places.own_ledger(out, request, SystemClock())
    return opener.create(out, campaign_row(Keep.ALL), request, SystemClock())


def live(out: Path, tell: int, dice: random.Random) -> None:
    """Work until the frontier is empty; tell each committed decision as a line."""
    ledger = own(out)
    ledger.open_epoch(epoch_request(dice.getrandbits(63) | 1))
    source = ledger.register_source("seeds", "/s", "here")
    sink = ledger.register_sink(SinkKind.CORPUS, "/c", "here")
    ledger.run([Admit(source, (admission(_SEED),))])
    mark = sink.published_upto
    while True:
        (answer,) = ledger.run([Claim(0, dice.randint(1, 6))]).answers
        assert isinstance(answer, Claimed)
        if not answer.leases:
            break
        operations = _turn_of(answer.leases, dice)
        turn = ledger.run(operations)
        told = [
            operation.work_id
            for operation, result in zip(operations, turn.answers, strict=True)
            if isinstance(operation, Decide) and result == _completed(result)
        ]
        os.write(tell, "".join(f"{work_id}\n" for work_id in told).encode())
        mark = _publish(ledger, sink, mark, dice.randint(mark, turn.last_artefact))
        ledger.checkpoint()
    ledger.close()


def _completed(result: object) -> object:
    return result if isinstance(result, Decided) and result.disposition == "completed" else None


def _turn_of(leases: Sequence[Lease], dice: random.Random) -> list[Operation]:
    """Decide most items, give some back."""
    operations: list[Operation] = []
    for lease in leases:
        if dice.random() < 0.2:
            operations.append(Release(lease.work_id, lease.token, "given_back"))
            continue
        grown = len(lease.data) < LENGTH
        kids = [child(lease.data + step, 8 * len(lease.data)) for step in (b"0", b"1") if grown]
        operations.append(decision(lease, kids, keep=Keep.ALL))
    return operations


def _publish(ledger: Ledger, sink: SinkRow, mark: int, upto: int) -> int:
    ledger.run([MarkPublished(sink.sink, sink.incarnation, mark, upto)])
    return upto


def kill_one(out: Path, dice: random.Random) -> list[str]:
    """Let a child live for a random time, kill it, return what it told."""
    reading, telling = os.pipe()
    child_pid = os.fork()
    if child_pid == 0:
        os.close(reading)
        status = 1
        try:
            live(out, telling, dice)
            status = 0
        finally:
            os._exit(status)
    os.close(telling)
    heard = bytearray()
    if dice.random() < _WITHIN_OPENING:
        time.sleep(dice.random() * _OPENING_S)
    else:
        # The pipe ends when the child does, so this loop ends, too.
        lines = dice.randint(1, _LINES_MAX)
        while heard.count(b"\n") < lines and (more := os.read(reading, 4096)):
            heard += more
        time.sleep(dice.random() * _AFTERWARDS_S)
    os.kill(child_pid, signal.SIGKILL)
    _, status = os.waitpid(child_pid, 0)
    if os.waitstatus_to_exitcode(status) == 1:
        raise SystemExit("the owner failed by itself")
    while more := os.read(reading, 4096):
        heard += more
    os.close(reading)
    *lines_told, _torn = heard.decode().split("\n")
    return lines_told


def look(out: Path, told: set[str], report: Report) -> None:
    """Open the ledger as reader and check it against what was told."""
    if not opener.has_ledger(out):
        report.lost += len(told)
        return
    reader = places.read_ledger(out)
    try:
        report.findings += [str(finding) for finding in reader.audit()]
        decided = [row.work_id for row in reader.decisions()]
        report.lost += len(told - set(decided))
        report.decided = len(decided)
        if len(set(decided)) != len(decided):
            report.findings.append("an item was decided twice")
        if reader.status().total.executed != len(decided):
            report.findings.append("executed is not the number of decisions")
    finally:
        reader.close()


def run(out: Path, kills: int, seed: int) -> Report:
    """Kill, look, and finish."""
    dice = random.Random(seed)
    report = Report()
    told: set[str] = set()
    for _ in range(kills):
        lines = kill_one(out, random.Random(dice.getrandbits(64)))
        report.kills += 1
        report.kills_before_first_turn += not lines
        told.update(lines)
        look(out, told, report)
    with Path(os.devnull).open("wb") as nowhere:
        live(out, nowhere.fileno(), dice)
    look(out, told, report)
    reader = places.read_ledger(out)
    status = reader.status()
    reader.close()
    report.told, report.corpus, report.epochs = len(told), status.corpus, status.epochs
    if status.states[WorkState.DONE] != report.decided or status.total.executed != report.decided:
        report.findings.append("not everything is decided")
    return report


def main() -> int:
    """Print the report; exit with 1 when anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    report = run(options.out, options.kills, options.seed)
    fields = {name: getattr(report, name) for name in Report.__slots__}
    sys.stdout.write(json.dumps(fields) + "\n")
    return int(bool(report.findings or report.lost or report.decided != ITEMS))


if __name__ == "__main__":
    raise SystemExit(main())
