"""What people do with a campaign that has ended, as scenes of the kill matrix."""

from __future__ import annotations

import os
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path

from symfleet.clock import SystemClock
from symfleet.config.ledger_address import SQLITE
from symfleet.config.model import CampaignConfig
from symfleet.corpus.transfer import export_corpus
from symfleet.ledger.audit import audit_all
from symfleet.ledger.backup import back_up
from symfleet.ledger.contract import LedgerReader
from symfleet.ledger.copying import copy_store
from symfleet.ledger.database import LEDGER_NAME, connect_reader
from symfleet.ledger.manifest import decode_manifest
from symfleet.ledger.moving import COPY_NAME, Move, is_moving, move
from symfleet.ledger.opener import OwnerRequest
from symfleet.ledger.owner_lock import Holder, acquire
from symfleet.ledger.places import own_ledger
from symfleet.ledger.row_reading import read_campaign
from symfleet.ledger.sqlite_tables import SqliteCopy, open_tables
from symfleet.runtime.stores import open_reader
from symfleet.testing.kills.loop import Watch
from symfleet.testing.kills.scenes import Mischief, Result, Scene


class Keeping(Scene):
    """A finished campaign, with which people do things: exports, a backup, a move of its ledger."""

    def __init__(self, folder: Path, finished: Scene) -> None:
        """`finished`: a campaign that has ended; it is copied."""
        super().__init__(folder)
        self._finished = finished

    def make(self) -> None:
        """Take a copy."""
        self.take(self._finished)

    def live(self) -> int:
        """Export, back up, move the ledger to a copy of itself; each that is not done yet."""
        with open_reader(self.out) if not is_moving(self.out) else nullcontext() as reader:
            if reader is not None:
                export_corpus(reader, self.folder / "exported")
        if not is_moving(self.out) and not (self.folder / "backup.db").exists():
            back_up(self.out, self.folder / "backup.db", _quiet)
        request = OwnerRequest("here", os.getpid(), lock_wait_s=5.0, reserve_bytes=65_536)
        if not (self.folder / "moved").exists():
            self._move(request)
            (self.folder / "moved").touch()
        own_ledger(self.out, request, SystemClock()).close()
        return 0

    def _move(self, request: OwnerRequest) -> None:
        """Put a copy of the ledger in its place, as a move to another store of this kind would."""
        clock = SystemClock()
        ledger = own_ledger(self.out, request, clock)
        campaign = ledger.status().campaign.campaign
        ledger.close()
        holder = Holder(request.host, request.pid, 0, clock.wall())
        with closing(acquire(self.out, holder, clock, request.lock_wait_s)):
            with (
                closing(open_tables(self.out / LEDGER_NAME)) as source,
                closing(SqliteCopy(self.out / COPY_NAME)) as target,
            ):
                copy_store(source, target, self.out, _quiet)
            move(self.out, Move(SQLITE, campaign))

    def look(self) -> list[str]:
        """Return what is wrong now. Names are missing while the ledger moves: an owner makes the
        end, and then it must be the same campaign."""
        wrong = [] if is_moving(self.out) else super().look()
        if (self.folder / "backup.db").exists():
            with closing(connect_reader(self.folder / "backup.db")) as backup:
                campaign = read_campaign(backup, "backup.db").campaign
                wrong += [f"backup: {found.what}" for found in audit_all(backup, campaign)]
        return wrong

    def result(self) -> Result:
        """Return what the campaign is, and what was exported."""
        result = super().result()
        exported = {f"exported/{path.name}" for path in (self.folder / "exported").iterdir()}
        return replace(result, files=result.files | exported)


class Retargeted(Scene):
    """A finished campaign that goes on with another program: every input is executed again."""

    def __init__(self, folder: Path, finished: Scene) -> None:
        """`finished`: a campaign that has ended; it is copied."""
        super().__init__(folder, mischief=Mischief(dies=-1, babbles=-1, spoils=-1))
        self._finished = finished
        self.before = 0
        """How many decisions it had."""

    def make(self) -> None:
        """Take a copy with an empty log of executions, and build another program."""
        self.take(self._finished)
        self.log.unlink()
        self._target.write_text("#!/bin/true\n")
        with open_reader(self.out) as reader:
            self.before = reader.status().decisions

    def take(self, other: Scene) -> None:
        """Become what another scene is; only decisions on the new program count."""
        super().take(other)
        self._decided, self._watch = frozenset(), Watch(self.log)
        if isinstance(other, Retargeted):
            self.before = other.before

    @property
    def config(self) -> CampaignConfig:
        """What is asked for: to accept the new program."""
        config = super().config
        return replace(config, advanced=replace(config.advanced, accept_new_target=True))

    def _decided_in(self, reader: LedgerReader) -> frozenset[str]:
        return frozenset(
            decode_manifest(row.manifest).input_id
            for row in reader.decisions()
            if row.number > self.before
        )


def _quiet(_line: str) -> None:
    """Tell nobody."""
