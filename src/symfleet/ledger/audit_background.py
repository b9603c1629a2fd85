"""The full audit beside a running campaign, after a launch that had no end.

A kill, a power cut or a broken disk may have left what the bounded start check does not look at.
So the next owner checks everything: pages, every digest, the chain, the sums; a bounded slice
between two turns. In a ledger of more than 10^5 rows it takes at most a twentieth of a core, unless
nothing else is to be done; and it is always over before a campaign is called quiescent.

Only rows of before are looked at, and these do not change any more; what this epoch writes was
checked when it was written. SQLite's check of its pages cannot be divided: in a large ledger it has
a thread of its own, which the system runs when nobody else wants the core, over a connection of
its own.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.errors import IntegrityError, IOFailure, SymfleetError
from symfleet.ledger.audit import audit_pages
from symfleet.ledger.audit_walks import (
    ArtefactWalk,
    DecisionWalk,
    InputWalk,
    Walk,
    WorkWalk,
    outbox_finding,
    sum_findings,
)
from symfleet.ledger.contract import Finding
from symfleet.ledger.database import connect_reader
from symfleet.ledger.faults import reading
from symfleet.ledger.rows import Database
from symfleet.types import CampaignId, Epoch

ROWS_UNTHROTTLED_MAX: Final = 100_000
SHARE: Final = 0.05
"""Of a core, in a ledger of more rows."""
HURRY_S: Final = 0.2
"""How long slices may take together when nothing else is to be done."""
PAGES_INLINE_ROWS_MAX: Final = 20_000
"""Up to so many rows the pages are checked in one slice of some tenths of a second at most."""
_NICEST: Final = 19
_MISSING_TIME: Final = re.compile(r"NULL value in epochs\.(opened|closed)_wall")

_SLICE_ROWS: Final = 32
"""Rows of a slice that holds inputs or decisions, with all their children."""
_SMALL_ROWS: Final = 256

Slices = Generator[Sequence[Finding], None, None]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The last rows of before, and the epoch that is open now."""

    inputs: int
    works: int
    decisions: int
    artefacts: int
    epoch: Epoch


def row_slices(connection: Database, campaign: CampaignId, bounds: Bounds) -> Slices:
    """Yield what is wrong with the rows of before, one slice at a time."""
    work, inputs = WorkWalk(connection, bounds.works), InputWalk(connection, bounds.inputs)
    decisions = DecisionWalk(connection, campaign, upto=bounds.decisions)
    artefacts = ArtefactWalk(connection, bounds.artefacts)
    parts: tuple[tuple[Walk, int], ...] = (
        (decisions, _SLICE_ROWS),
        (inputs, _SLICE_ROWS),
        (work, _SMALL_ROWS),
        (artefacts, _SMALL_ROWS),
    )
    for walk, rows in parts:
        while not walk.finished:
            yield walk.step(rows)
    yield list(outbox_finding(artefacts.shown, decisions.shown))
    yield list(sum_findings(connection, decisions.sums, before_epoch=bounds.epoch))


def page_slices(path: Path, connection: Database, rows: int) -> Slices:
    """Check the database's own structure: at once, or in a thread while slices are empty."""
    if rows <= PAGES_INLINE_ROWS_MAX:
        yield _damage(audit_pages(connection))
        return
    check = _PageCheck(path)
    check.start()
    try:
        while check.is_alive():
            yield ()
    finally:
        check.give_up()
    if check.refused is not None:
        raise check.refused
    yield _damage(check.found)


def _damage(findings: Iterable[Finding]) -> list[Finding]:
    """Return what a campaign cannot go on from. A time of an epoch that is missing decides nothing
    (L4): `symfleet verify` names it, and no launch ends for it."""
    return [finding for finding in findings if not _MISSING_TIME.search(finding.detail)]


class _PageCheck(threading.Thread):
    """SQLite's check of all pages, when nobody else wants the core."""

    def __init__(self, path: Path) -> None:
        super().__init__(name="pages", daemon=True)
        self._path = path
        self._reader: sqlite3.Connection | None = None
        self._unwanted = threading.Event()
        self.found: list[Finding] = []
        self.refused: IOFailure | None = None
        """Why the disk did not let the pages be checked: that is no damage."""

    def run(self) -> None:
        """Check; a check that was given up has found nothing."""
        with contextlib.suppress(OSError):  # the others are only slower for it then
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICEST)
        try:
            with contextlib.closing(connect_reader(self._path)) as self._reader:
                found = [] if self._unwanted.is_set() else list(audit_pages(self._reader))
        except IOFailure as error:
            found, self.refused = [], None if self._unwanted.is_set() else error
        except SymfleetError as error:
            found = [Finding(error.what, error.where, error.why)]
        finally:
            self._reader = None
        if not self._unwanted.is_set():
            self.found = found

    def give_up(self) -> None:
        """End the check, wherever it is."""
        self._unwanted.set()
        while self.is_alive():
            reader = self._reader
            if reader is not None:
                with contextlib.suppress(sqlite3.Error):
                    reader.interrupt()
            self.join(0.05)


class BackgroundAudit:
    """Runs slices when it is their time. `step` is called between turns."""

    def __init__(self, slices: Slices, rows: int, monotonic: Callable[[], float]) -> None:
        self._slices = slices
        self._is_throttled = rows > ROWS_UNTHROTTLED_MAX
        self._monotonic = monotonic
        self._next_at = monotonic()
        self._is_over = False
        self.finished = False
        """Whether everything was looked at, and nothing was found."""

    def step(self, where: str, *, hurry: bool) -> None:
        """Run a slice if one is due; several when nothing else is to be done (`hurry`). Raises
        IntegrityError, once, for the first thing that is wrong."""
        began = now = self._monotonic()
        if self._is_over or (now < self._next_at and not hurry):
            return
        while not self._is_over:
            with reading(where):
                found = next(self._slices, None)
            if found is None:
                self._is_over = self.finished = True
            elif found:
                self.close()
                raise _refusal(found[0])
            now = self._monotonic()
            if not hurry or now - began >= HURRY_S:
                break
        if self._is_throttled:
            self._next_at = began + (now - began) / SHARE

    def close(self) -> None:
        """Give up what was not looked at; it is never called finished then."""
        self._is_over = True
        self._slices.close()


def _refusal(finding: Finding) -> IntegrityError:
    return IntegrityError(
        finding.what,
        where=finding.row,
        why=f"{finding.detail} (found while the campaign ran)",
        hint="nothing was changed; run `symfleet verify`, then restore a backup of the ledger",
    )
