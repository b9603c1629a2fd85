"""Owning a campaign on PostgreSQL: the advisory lock of a session, and coming back to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from symfleet.clock import Clock
from symfleet.errors import BusyError, HostError
from symfleet.ledger.owner_lock import Holder
from symfleet.ledger.postgres_address import LedgerAddress
from symfleet.ledger.postgres_connection import LockKeys, PostgresConnection, connect
from symfleet.ledger.postgres_faults import ConnectionLostError
from symfleet.ledger.postgres_statements import SESSION

_T = TypeVar("_T")

RECONNECT_S: Final = 12.0
"""How long an owner tries to come back. Meanwhile its job hears nothing of it, and ranks that hear
nothing for 15 s end: it gives up, and says why, before they do."""

_POLL_S: Final = 0.02
_POLL_MAX_S: Final = 1.0


@dataclass(slots=True)
class Ownership:
    """The session that owns a campaign. `nonce`: 16 random bytes of this owner's life."""

    address: LedgerAddress
    keys: LockKeys
    nonce: bytes
    session: PostgresConnection
    backend: int

    def tell(self, holder: Holder) -> None:
        """Write down who owns the campaign."""
        self.session.execute(SESSION["put_owner"], (self.nonce, holder.host, holder.pid))

    def come_back(self, clock: Clock) -> int:
        """Own the campaign on a new session; return the last turn that is durable.

        The old session may still commit for as long as it lives. It holds the lock for as long, so
        that whoever has the lock afterwards sees what became of it. Raises HostError or
        ConnectionLostError when the server stays away, BusyError when another owner has the lock.
        """
        self.session.close()
        deadline = clock.monotonic() + RECONNECT_S
        return _patiently(self._come_back_once, clock, deadline)

    def _come_back_once(self) -> int:
        session = connect(self.address)
        try:
            # Our own old session only: nobody else has this nonce.
            session.execute(SESSION["end_backend"], (self.nonce, self.keys.owner)).fetchall()
            try_lock(session, self.address, self.keys)
            self.backend = int(session.execute(SESSION["server"]).fetchone()[4])
            row = session.execute(SESSION["move_owner"], (self.nonce,)).fetchone()
        except BaseException:
            session.close()
            raise
        self.session = session
        # Without its row the server is behind everything that this owner did.
        return -1 if row is None else int(row[0])


def _patiently(ask: Callable[[], _T], clock: Clock, deadline: float) -> _T:
    """Ask again while the server is away or the lock is held, until the deadline."""
    pause = _POLL_S
    while True:
        try:
            return ask()
        except (HostError, ConnectionLostError, BusyError):
            if clock.monotonic() >= deadline:
                raise
        clock.sleep(pause)
        pause = min(pause * 2, _POLL_MAX_S)


def take_lock(
    session: PostgresConnection,
    address: LedgerAddress,
    keys: LockKeys,
    clock: Clock,
    wait_s: float,
) -> None:
    """Take the owner's lock; raise BusyError naming holder and age when another session has it."""
    deadline = clock.monotonic() + wait_s
    while True:
        try:
            return try_lock(session, address, keys)
        except BusyError:
            if clock.monotonic() >= deadline:
                raise
        clock.sleep(_POLL_S)


def try_lock(session: PostgresConnection, address: LedgerAddress, keys: LockKeys) -> None:
    """Take the owner's lock at once; raise BusyError when another session has it."""
    if not session.execute(SESSION["try_lock"], (keys.owner,)).fetchone()[0]:
        raise _held(session, address, keys)


def _held(session: PostgresConnection, address: LedgerAddress, keys: LockKeys) -> BusyError:
    """Return the refusal that names who has the lock."""
    why = "its holder has not told who it is"
    found = session.execute(SESSION["holder"], (keys.owner,)).fetchone()
    if found is not None:
        host, pid, epoch, age_s = found
        why = f"process {pid} on {host}, epoch {epoch}, holds it for {age_s:.0f} s"
    return BusyError(
        "the campaign is owned by a live job",
        where=address.shown,
        why=why,
        hint="wait for it, stop it, or look at it with `symfleet status`",
    )


def lost_to_another(ownership: Ownership, epoch: int) -> BusyError:
    """Another owner has opened an epoch while this one had no session."""
    return BusyError(
        "another job has taken the campaign over",
        where=ownership.address.shown,
        why=f"epoch {epoch} is open there, and this job did not open it",
        hint="nothing of this turn was written; look at the other job with `symfleet status`",
    )
