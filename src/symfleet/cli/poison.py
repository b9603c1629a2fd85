"""`symfleet poison list|rearm OUT`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter

from symfleet.cli import present
from symfleet.cli.arguments import Invocation, Json, OutFolder
from symfleet.cli.campaign import owning, reading
from symfleet.clock import SystemClock
from symfleet.corpus.inbox import RearmPoison, await_answer, drop_command
from symfleet.errors import BusyError, DataError, UserError
from symfleet.ledger.contract import WorkRow
from symfleet.types import WorkId, WorkState

_SHOWN_MAX: Final = 10_000
_ANSWER_S: Final = 10.0

Ids = Annotated[
    str,
    Parameter(name="WORK_ID", help="Work ids or their first digits; none means all."),
]


def list_poison(out: OutFolder, /, *, json: Json = False) -> int:
    """List work that was set aside because executors died of it."""
    with reading(out) as reader:
        rows = reader.work_rows(WorkState.POISONED, _SHOWN_MAX)
    lines = [
        f"{row.work_id[:16]}  input {row.input_id[:16]}  {row.blames} blames,"
        f" {row.losses} losses  {row.detail}"
        for row in rows
    ]
    present.show(rows, lines or ["nothing is poisoned"], as_json=json)
    return 0


def rearm(out: OutFolder, /, *ids: Ids, json: Json = False) -> int:
    """Make poisoned work pending again, its blames forgotten; works beside a running campaign."""
    with reading(out) as reader:
        rows = reader.work_rows(WorkState.POISONED, _SHOWN_MAX)
    chosen = _choose(rows, ids)
    amount = _rearm(out, chosen) if chosen else 0
    present.show({"rearmed": amount}, [f"{amount} work items are pending again"], as_json=json)
    return 0


def _rearm(out: Path, chosen: tuple[WorkId, ...]) -> int:
    try:
        with owning(out) as ledger:
            return ledger.rearm(chosen)
    except BusyError:
        clock = SystemClock()
        name = f"{int(clock.wall() * 1000):013d}-{os.getpid()}"
        drop_command(out, RearmPoison(chosen), name)
        answer = await_answer(out, name, clock, _ANSWER_S)
    if not answer.ok:
        raise DataError(
            "the work could not be re-armed",
            where=str(out),
            why=answer.message,
            hint="`symfleet poison list` shows what is poisoned now",
        )
    return answer.amount


def _choose(rows: Sequence[WorkRow], words: Sequence[str]) -> tuple[WorkId, ...]:
    chosen: list[WorkId] = []
    for word in words:
        found = [row.work_id for row in rows if row.work_id.startswith(word)]
        if len(found) != 1:
            raise UserError(
                "no poisoned work has this id" if not found else "this could be several",
                where=word,
                why=f"{len(found)} of {len(rows)} poisoned work items begin with these digits",
                hint="`symfleet poison list` shows all",
            )
        chosen += found
    return tuple(chosen) if words else tuple(row.work_id for row in rows)


def register(app: App, _: Invocation) -> None:
    """Add the commands."""
    poison = App(name="poison", help="Work that was set aside: list, rearm.")
    poison.command(list_poison, name="list")
    poison.command(rearm, name="rearm")
    app.command(poison)
