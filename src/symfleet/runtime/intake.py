"""What comes into a campaign from outside: seed folders and the inbox.

Each source is scanned again and again, a bounded piece between two turns. Not more than one batch
of a source is on its way to the ledger: a folder of any size needs little memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, assert_never

from symfleet.corpus.inbox import (
    CommandAnswer,
    Delivered,
    RearmPoison,
    StopCampaign,
    answer_command,
    read_commands,
)
from symfleet.corpus.scan import FolderScanner
from symfleet.errors import ExitCode, SymfleetError
from symfleet.ledger.contract import Ledger
from symfleet.protocol.events import (
    ConfirmAdmitted,
    CoordinatorEvent,
    Scan,
    SourceBatch,
    StopRequested,
)
from symfleet.runtime.stop_rules import DRAIN_S

_INBOX_S: Final = 0.5


class Inbox:
    """What people ask of a live campaign: the root reads it."""

    def __init__(self, out: Path, ledger: Ledger) -> None:
        self._out = out
        self._ledger = ledger
        self._look_at = 0.0

    def step(self, now: float) -> list[CoordinatorEvent]:
        """Obey what has come when it is time to look."""
        if now < self._look_at:
            return []
        self._look_at = now + _INBOX_S
        events: list[CoordinatorEvent] = []
        for delivered in read_commands(self._out):
            events += self._obey(delivered)
        return events

    def _obey(self, delivered: Delivered) -> list[CoordinatorEvent]:
        events: list[CoordinatorEvent] = []
        match delivered.command:
            case None:
                answer = CommandAnswer(ok=False, message=delivered.problem)
            case StopCampaign(reason=reason):
                events.append(StopRequested(reason, int(ExitCode.DONE), DRAIN_S))
                answer = CommandAnswer(ok=True, message="stopping")
            case RearmPoison(work_ids=work_ids):
                try:
                    amount = self._ledger.rearm(work_ids)
                except SymfleetError as error:
                    answer = CommandAnswer(ok=False, message=str(error))
                else:
                    answer = CommandAnswer(ok=True, message="re-armed", amount=amount)
            case _:
                assert_never(delivered.command)
        answer_command(self._out, delivered, answer)
        return events


class Intake:
    """The sources of one coordinator, and the campaign's inbox if it is the root."""

    def __init__(
        self,
        scanners: Sequence[FolderScanner],
        rescan_s: float,
        inbox: Inbox | None = None,
        standby: Sequence[FolderScanner] = (),
    ) -> None:
        """`standby`: scanners of other coordinators' sources, each used from its first Scan on."""
        self._scanners = {scanner.source: scanner for scanner in scanners}
        self._standby = {scanner.source: scanner for scanner in standby}
        self._inbox = inbox
        self._rescan_s = rescan_s
        self._rescan_at = 0.0
        self._waiting: set[int] = set()
        """Sources with a batch whose admission is not durable yet."""

    def step(self, now: float) -> list[CoordinatorEvent]:
        """Do a bounded piece of everything that is due."""
        events: list[CoordinatorEvent] = []
        if now >= self._rescan_at:
            self._rescan_at = now + self._rescan_s
            for scanner in self._scanners.values():
                if not scanner.active:
                    scanner.start()
        for source, scanner in self._scanners.items():
            if source in self._waiting:
                continue
            for event in scanner.step():
                if isinstance(event, SourceBatch) and event.entries:
                    self._waiting.add(source)
                events.append(event)
        if self._inbox is not None:
            events += self._inbox.step(now)
        return events

    def confirm(self, admitted: ConfirmAdmitted) -> None:
        """Mark inputs as seen: they are durable."""
        self._waiting.discard(admitted.source)
        self._scanners[admitted.source].confirm(admitted.origins)

    def scan(self, action: Scan) -> None:
        """Scan a source from its beginning; the answer names the round."""
        self._waiting.discard(action.source)
        adopted = self._standby.pop(action.source, None)
        if adopted is not None:
            self._scanners[action.source] = adopted
        self._scanners[action.source].start(action.round)
