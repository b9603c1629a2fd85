"""Who may write to a campaign on PostgreSQL: the lock of a session, coming back to it, and making
sure that somebody else never comes back.

Theory of operation. The root owns a campaign through the lock `owner`; every other coordinator has
a lock for the one epoch of its life. Whoever writes holds its lock for the whole session, so that
another session which has the lock knows: no transaction of the older session can commit any more.
That is how a writer learns what became of a turn whose answer it never saw, and how a coordinator
is given up: its sessions are ended, its lock is taken, and it is written down as lost before the
lock is free again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from symfleet.clock import Clock
from symfleet.errors import BusyError, HostError
from symfleet.ledger.owner_lock import Holder
from symfleet.ledger.postgres_address import LedgerAddress
from symfleet.ledger.postgres_connection import LockKeys, PostgresConnection, connect
from symfleet.ledger.postgres_faults import ConnectionLostError, not_back
from symfleet.ledger.postgres_statements import SESSION
from symfleet.types import Epoch

_T = TypeVar("_T")

RECONNECT_S: Final = 12.0
"""How long an owner tries to come back. Meanwhile its job hears nothing of it, and ranks that hear
nothing for 15 s end: it gives up, and says why, before they do."""

_GIVE_UP_S: Final = 8.0
_POLL_S: Final = 0.02
_POLL_MAX_S: Final = 1.0


class GivenUpError(BusyError):
    """This coordinator was given up: its leases are others' work now."""


@dataclass(slots=True)
class Ownership:
    """The session through which a coordinator writes. `nonce`: 16 random bytes of this writer's
    life. `lock`: what it holds for as long as it may commit."""

    address: LedgerAddress
    keys: LockKeys
    nonce: bytes
    session: PostgresConnection
    backend: int
    lock: int
    coordinator: int = 0
    is_bounded: bool = False

    def tell(self, holder: Holder) -> None:
        """Write down who owns the campaign."""
        self.session.execute(SESSION["put_owner"], (self.nonce, holder.host, holder.pid))

    def bound_idleness(self) -> None:
        """Let the server end this session when we stop in the middle of a transaction, now and
        after every return: others wait for its locks."""
        self.is_bounded = True
        self.session.execute(SESSION["bound_idleness"]).fetchone()

    def come_back(self, clock: Clock, deadline: float) -> int:
        """Own the campaign on a new session; return the last turn that is durable.

        The old session may still commit for as long as it lives. It holds the lock for as long, so
        that whoever has the lock afterwards sees what became of it. Raises HostError or
        ConnectionLostError when the server stays away until the deadline (monotonic seconds),
        BusyError when another owner has the lock.
        """
        self.session.close()
        try:
            return _patiently(self._come_back_once, clock, deadline)
        except HostError as error:
            raise not_back(error) from error

    def _come_back_once(self) -> int:
        session = connect(self.address)
        try:
            # Our own old session only: nobody else has this nonce.
            session.execute(SESSION["end_backend"], (self.nonce, self.lock)).fetchall()
            try_lock(session, self.address, self.lock)
            self.backend = int(session.execute(SESSION["server"]).fetchone()[4])
            row = session.execute(SESSION["move_owner"], (self.nonce,)).fetchone()
            self._require_not_lost(row)
            if self.is_bounded:
                session.execute(SESSION["bound_idleness"]).fetchone()
        except BaseException:
            session.close()
            raise
        self.session = session
        # Without its row the server is behind everything that this writer did.
        return -1 if row is None else int(row[0])

    def _require_not_lost(self, row: tuple[int, int] | None) -> None:
        if row is not None and row[1]:
            raise given_up(self.address, self.coordinator)

    def give_up(self, epoch: Epoch, coordinator: int, clock: Clock) -> None:
        """Make sure that another coordinator never commits again in this epoch.

        Raises BusyError when its session does not end."""
        session, lock = self.session, self.keys.coordinator(epoch, coordinator)
        deadline = clock.monotonic() + _GIVE_UP_S
        while True:
            session.execute(SESSION["end_holders"], (lock,)).fetchall()
            if session.execute(SESSION["try_lock"], (lock,)).fetchone()[0]:
                break
            if clock.monotonic() >= deadline:
                raise _held(session, self.address, lock)
            clock.sleep(_POLL_S)
        if session.execute(SESSION["give_up"], (epoch, coordinator)).rowcount == 0:
            # It has not attached yet, and never will.
            values = (secrets.token_bytes(16), coordinator, epoch)
            session.execute(SESSION["put_given_up"], values)
        session.execute(SESSION["unlock"], (lock,)).fetchone()


def _patiently(ask: Callable[[], _T], clock: Clock, deadline: float) -> _T:
    """Ask again while the server is away or the lock is held, until the deadline."""
    pause = _POLL_S
    while True:
        try:
            return ask()
        except GivenUpError:
            raise
        except (HostError, ConnectionLostError, BusyError):
            if clock.monotonic() >= deadline:
                raise
        clock.sleep(pause)
        pause = min(pause * 2, _POLL_MAX_S)


def take_lock(
    session: PostgresConnection, address: LedgerAddress, lock: int, clock: Clock, wait_s: float
) -> None:
    """Take a lock; raise BusyError naming holder and age when another session has it."""
    deadline = clock.monotonic() + wait_s
    while True:
        try:
            return try_lock(session, address, lock)
        except BusyError:
            if clock.monotonic() >= deadline:
                raise
        clock.sleep(_POLL_S)


def try_lock(session: PostgresConnection, address: LedgerAddress, lock: int) -> None:
    """Take a lock at once; raise BusyError when another session has it."""
    if not session.execute(SESSION["try_lock"], (lock,)).fetchone()[0]:
        raise _held(session, address, lock)


def _held(session: PostgresConnection, address: LedgerAddress, lock: int) -> BusyError:
    """Return the refusal that names who has the lock."""
    why = "its holder has not told who it is"
    found = session.execute(SESSION["holder"], (lock,)).fetchone()
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


def given_up(address: LedgerAddress, coordinator: int) -> GivenUpError:
    """The root has given this coordinator up."""
    return GivenUpError(
        "this coordinator was given up",
        where=f"{address.shown}, coordinator {coordinator}",
        why="the root heard nothing of it; its leases were taken over",
        hint="nothing of this turn was written; it comes back with the next epoch",
    )
