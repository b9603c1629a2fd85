"""A coordinator that writes to a ledger on PostgreSQL beside the owner, over its own connection.

The root owns the campaign, opens epochs and closes them; everybody else attaches to the open epoch
under its number, once in an epoch. When the root gives a coordinator up (`TakeOver`), its session
is ended and it never commits again in that epoch, whatever it believes.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from symfleet.clock import Clock
from symfleet.config.ledger_address import LedgerAccess, check_address
from symfleet.errors import BusyError, DataError, IntegrityError, InternalError, IOFailure
from symfleet.ledger.faults import reading
from symfleet.ledger.postgres_address import LedgerAddress
from symfleet.ledger.postgres_connection import PostgresConnection, connect, lock_keys, schema_of
from symfleet.ledger.postgres_opener import check_schema, check_server
from symfleet.ledger.postgres_owner import Ownership, given_up, lost_to_another, take_lock
from symfleet.ledger.postgres_statements import BATCHES, SESSION
from symfleet.ledger.postgres_writer import Attempt, PostgresWriter
from symfleet.ledger.row_reading import read_campaign
from symfleet.protocol.answers import TurnAnswers
from symfleet.protocol.operations import CloseEpoch, CommitQuiescence, Operation, TakeOver

ROOT_ONLY: Final = (TakeOver, CommitQuiescence, CloseEpoch)


@dataclass(frozen=True, slots=True)
class AttachRequest:
    """Which coordinator attaches, from where. `lock_wait_s`: how long to wait for a session of the
    same number to end."""

    coordinator: int
    host: str
    pid: int
    lock_wait_s: float = 2.0


class AttachedLedger(PostgresWriter):
    """A coordinator's view: turns, and readings beside them. Made by `attach`."""

    def run(self, operations: Sequence[Operation]) -> TurnAnswers:
        """Run a turn's operations in one transaction; durable when this returns."""
        for operation in operations:
            if isinstance(operation, ROOT_ONLY):
                raise InternalError(
                    "only the root may ask for this",
                    where=f"{type(operation).__name__}, coordinator {self._ownership.coordinator}",
                    why="it ends an epoch, or another coordinator's part in it",
                )
        return super().run(operations)

    def _take_turn(
        self, session: PostgresConnection, attempt: Attempt[Any], before: tuple[int, ...]
    ) -> None:
        values = (*self._added(before), attempt.turn, self._ownership.nonce, self._epoch)
        session.send_for(1, BATCHES["add_share"], values)

    def _note_failure(self, error: IOFailure) -> None:
        """The root meets the same disk, and has the folder to write it down."""

    def checkpoint(self) -> None:
        """The server folds its log, the root writes `highwater`."""

    def close(self) -> None:
        """End the session. Leases stay as they are."""
        self._ownership.session.close()


def attach(access: LedgerAccess, request: AttachRequest, clock: Clock) -> AttachedLedger:
    """Attach to the open epoch of a campaign.

    Raises HostError when the server cannot be reached from here or refuses the login, DataError for
    a schema of another version, IntegrityError for a wrong one, BusyError when the epoch is over or
    this coordinator was there before (GivenUpError: it was given up).
    """
    if request.coordinator < 1:
        raise DataError(
            "the root does not attach",
            where=f"coordinator {request.coordinator}",
            why="it owns the ledger",
            hint="coordinators beside the root have numbers from 1 on",
        )
    url, schema = check_address(access.url), schema_of(access.campaign)
    address = LedgerAddress(url, schema, access.password)
    session = connect(address)
    try:
        backend = check_server(session, address, creates=False)
        check_schema(session, address)
        _check_campaign(session, address, access)
        keys = lock_keys(access.campaign)
        lock = keys.coordinator(access.epoch, request.coordinator)
        take_lock(session, address, lock, clock, request.lock_wait_s)
        nonce = secrets.token_bytes(16)
        ownership = Ownership(address, keys, nonce, session, backend, lock, request.coordinator)
        _tell(session, ownership, access, request)
        ownership.bound_idleness()
        ledger = AttachedLedger(ownership, clock)
    except BaseException:
        session.close()
        raise
    return ledger


def _check_campaign(
    session: PostgresConnection, address: LedgerAddress, access: LedgerAccess
) -> None:
    with reading(address.shown):
        campaign = read_campaign(session, address.shown).campaign
    if campaign != access.campaign:
        raise IntegrityError(
            "the ledger belongs to another campaign",
            where=address.shown,
            why=f"the root has campaign {access.campaign}, the ledger {campaign}",
            hint="nothing was changed; restore a backup of the database",
        )


def _tell(
    session: PostgresConnection,
    ownership: Ownership,
    access: LedgerAccess,
    request: AttachRequest,
) -> None:
    """Write down who attaches, unless the epoch is over or this number was there before."""
    key = (request.coordinator, access.epoch)
    values = (ownership.nonce, request.host, request.pid, *key)
    if session.execute(SESSION["put_coordinator"], values).rowcount == 1:
        return
    epoch, before = session.execute(SESSION["attached_before"], key).fetchone()
    if epoch != access.epoch:
        raise lost_to_another(ownership, epoch)
    if before is None or before:
        raise given_up(ownership.address, request.coordinator)
    raise BusyError(
        "this coordinator has been there in this epoch",
        where=f"{ownership.address.shown}, coordinator {request.coordinator}",
        why="another process attached under its number",
        hint="a coordinator that ended comes back with the next epoch",
    )
