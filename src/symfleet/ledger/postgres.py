"""The ledger on PostgreSQL: the owner's half.

One session owns a campaign: it holds an advisory lock, which the server releases when the session
ends. How a turn is written, and what happens when a session ends without its process, is told in
`postgres_writer`; other coordinators write through `postgres_attached`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from symfleet.clock import Clock
from symfleet.config.ledger_address import LedgerAccess
from symfleet.corpus.durable import write_file
from symfleet.errors import IOFailure, SymfleetError
from symfleet.ledger.contract import EpochRequest
from symfleet.ledger.copies import CHECK_FIRST_NAME
from symfleet.ledger.highwater import write_highwater
from symfleet.ledger.owner_lock import OwnerLock
from symfleet.ledger.postgres_connection import PostgresConnection
from symfleet.ledger.postgres_faults import ConnectionLostError
from symfleet.ledger.postgres_owner import Ownership
from symfleet.ledger.postgres_scope import Scope
from symfleet.ledger.postgres_statements import BATCHES, SESSION
from symfleet.ledger.postgres_writer import ATTEMPTS, Attempt, PostgresWriter
from symfleet.protocol.answers import EpochOpening, TurnAnswers
from symfleet.protocol.operations import Operation, TakeOver

__all__ = ["ATTEMPTS", "PostgresLedger"]

_HIGHWATER_S: Final = 10.0


class PostgresLedger(PostgresWriter):
    """The owner's view of a schema. Made by `postgres_opener`, which has checked it."""

    def __init__(self, ownership: Ownership, out: Path, clock: Clock, lock: OwnerLock) -> None:
        super().__init__(ownership, clock)
        self._out = out
        self._lock = lock
        self._marked_at = clock.monotonic()
        self._marked = -1

    # ---- opening --------------------------------------------------------------------------------

    def open_epoch(self, request: EpochRequest) -> EpochOpening:
        """Void all older leases, re-arm deferred rows, write the new epoch row (L4..L6, J8)."""
        (now,) = self._view.execute(SESSION["server_time"]).fetchone()
        opened = self._open_epoch(replace(request, now_wall=now))
        self._ownership.bound_idleness()
        self._lock.tell_epoch(self._standing.epoch)
        self._write_highwater()
        return opened

    def access(self) -> LedgerAccess:
        """Return what another coordinator needs to attach in this epoch (`attach_ledger`). It may
        hold a password: it goes to its rank, and nowhere else."""
        self._require_epoch()
        ownership = self._ownership
        return LedgerAccess(
            url=ownership.address.url,
            campaign=self._campaign.campaign,
            epoch=self._epoch,
            password=ownership.session.password,
        )

    # ---- turns ----------------------------------------------------------------------------------

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn's operations in one transaction; durable when this returns.

        A coordinator that is taken over is first made unable to commit anything more; raises
        BusyError when that fails, and nothing of the turn has happened."""
        self._require_epoch()
        self._audit_before(operations)
        for operation in operations:
            if isinstance(operation, TakeOver):
                self._give_up(operation.coordinator)
        return super().run(operations)

    def _give_up(self, coordinator: int) -> None:
        if self._broken is not None:
            raise self._broken
        for left in reversed(range(ATTEMPTS)):
            try:
                self._ownership.give_up(self._epoch, coordinator, self._clock)
            except ConnectionLostError:
                if not left:
                    raise
                self._come_back(None)
            else:
                return

    def _take_turn(
        self, session: PostgresConnection, attempt: Attempt[Any], before: tuple[int, ...]
    ) -> None:
        if attempt.scope is Scope.ALONE:
            # Nobody else is inside a transaction: the row is whole again, for whoever reads tables.
            session.send_for(1, BATCHES["fold_shares"], (self._epoch,))
            session.send(SESSION["clear_shares"], (self._epoch,))
        if self._standing.row != before:
            session.send_for(1, BATCHES["add_standing"], self._added(before))
        epoch = self._standing.epoch
        values = (attempt.turn, epoch, self._ownership.nonce, epoch)
        session.send_for(1, BATCHES["take_turn"], values)

    # ---- between turns --------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Write `highwater` when it is time; the server folds its own log."""
        self._step_audit()
        if self._clock.monotonic() - self._marked_at >= _HIGHWATER_S:
            self._write_highwater()

    def _write_highwater(self) -> None:
        self._marked_at = self._clock.monotonic()
        mark = self.highwater()
        if mark.decision != self._marked:
            self._marked = mark.decision
            write_highwater(self._out, mark)

    def _note_failure(self, error: IOFailure) -> None:
        with contextlib.suppress(SymfleetError):
            write_file(self._out / CHECK_FIRST_NAME, f"{error}\n".encode())

    def abandon(self) -> None:
        """Let go without a last word: no `highwater`, no verdict, leases as they are."""
        self._ownership.session.close()
        self._lock.close()

    def close(self) -> None:
        """Write `highwater`, release the lock; never hides an earlier error."""
        try:
            if self._broken is None and self._standing.epoch:
                self._write_highwater()
        finally:
            self.abandon()
