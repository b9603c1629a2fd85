"""Sessions of a PostgreSQL server, as the stores of rows ask for them.

The address never holds a password: libpq takes it from the file that PGPASSFILE names, or from
PGPASSWORD; a coordinator that has neither is told it by the root. Statements of a transaction
travel in a pipeline: one whose answer nobody reads costs no round trip.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumperUnknown

from symfleet.ledger import postgres_arrays
from symfleet.ledger.postgres_address import LedgerAddress
from symfleet.ledger.postgres_faults import (
    guarded,
    refused_address,
    refused_connection,
    rows_changed,
)
from symfleet.ledger.postgres_statements import (
    BINARY,
    COUNTING,
    IN_POSTGRES,
    LONG,
    SESSION,
    WRITING,
)
from symfleet.ledger.rows import Answer, Database
from symfleet.types import CampaignId, Epoch

# What it warns of (a connection that ended inside a pipeline) we raise, or recover from.
logging.getLogger("psycopg").setLevel(logging.ERROR)

_CONNECT_S: Final = 10
_PORTAL_ROWS: Final = 512
_TCP: Final = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
# The server looks for a client that is gone in the middle of a statement, and gives a lost host's
# session up as fast as we do: with it the owner's lock.
_SERVER_OPTIONS: Final = (
    "-c client_connection_check_interval=2s -c tcp_keepalives_idle=10"
    " -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"
)


class _TextDumper(StrDumperUnknown):
    """PostgreSQL's texts hold no zero byte; people see the sign for an unknown one."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", "\ufffd"))


@dataclass(frozen=True, slots=True)
class LockKeys:
    """The advisory locks of a campaign: its owner's, the fence around its transactions, and the
    order of those that number rows."""

    campaign: CampaignId
    owner: int
    fence: int
    order: int

    def coordinator(self, epoch: Epoch, number: int) -> int:
        """Return the lock of another coordinator than the root, for the one epoch of its life."""
        return _key(self.campaign, f"coordinator {number} of epoch {epoch}")


def schema_of(campaign: CampaignId) -> str:
    """Return the name of a campaign's schema."""
    return f"symfleet_{campaign}"


def retired_prefix(address: LedgerAddress) -> str:
    """Return how schemas are called that a campaign has left; a number follows."""
    return f"{address.schema}_retired_"


def lock_keys(campaign: CampaignId) -> LockKeys:
    """Return a campaign's locks; a database may hold many campaigns."""
    owner, fence, order = (_key(campaign, purpose) for purpose in ("owner", "fence", "order"))
    return LockKeys(campaign, owner, fence, order)


def _key(campaign: CampaignId, purpose: str) -> int:
    digest = hashlib.sha256(f"symfleet {purpose}:{campaign}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


class PostgresCursor:
    """Answers of the last statement."""

    def __init__(self, connection: PostgresConnection) -> None:
        self.connection: Database = connection
        self._session = connection
        self._cursor: psycopg.Cursor[Any] | psycopg.ServerCursor[Any] | None = None
        self._many: list[psycopg.Cursor[Any] | psycopg.ServerCursor[Any]] = []

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> PostgresCursor:
        """Send one statement; its answer is read when it is asked for."""
        self._cursor = self._session.send(statement, values)
        return self

    def executemany(self, statement: str, values: Iterable[Sequence[Any]], /) -> PostgresCursor:
        """Send one statement for each of many values."""
        self._many = [self._session.send(statement, each) for each in values]
        self._cursor = None
        return self

    @property
    def rowcount(self) -> int:
        """Return how many rows were written."""
        self._session.settle()
        if self._cursor is None:
            return sum(cursor.rowcount for cursor in self._many)
        return self._cursor.rowcount

    @property
    def lastrowid(self) -> int | None:
        """Return the number that the last statement returned."""
        row = self.fetchone()
        return None if row is None else int(row[0])

    def fetchone(self) -> Any:
        """Return the next row, None after the last."""
        assert self._cursor is not None
        self._session.settle()
        with self._session.guarded():
            return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        assert self._cursor is not None
        self._session.settle()
        with self._session.guarded():
            return self._cursor.fetchall()

    def __iter__(self) -> Iterator[Any]:
        assert self._cursor is not None
        cursor = self._cursor
        self._session.settle()
        try:
            with self._session.guarded():
                yield from cursor
        finally:
            # Pages that nobody wants any more; on a lost connection they are gone.
            with contextlib.suppress(psycopg.Error):
                cursor.close()

    def close(self) -> None:
        """Let rows go that nobody wants any more."""
        self._cursor = None


class PostgresConnection:
    """One session. Not for threads."""

    def __init__(self, raw: psycopg.Connection[Any], where: str) -> None:
        self._raw = raw
        self._where = where
        self._pipeline: psycopg.Pipeline | None = None
        self._portals = 0
        self._expected: list[tuple[str, int, psycopg.Cursor[Any] | psycopg.ServerCursor[Any]]] = []
        self.writes = 0
        """How many statements that may write were sent."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Answer:
        """Run one statement."""
        return PostgresCursor(self).execute(statement, values)

    def cursor(self) -> PostgresCursor:
        """Return a cursor."""
        return PostgresCursor(self)

    def send(
        self, statement: str, values: Sequence[Any]
    ) -> psycopg.Cursor[Any] | psycopg.ServerCursor[Any]:
        """Send a statement that callers know by its text in `sql/*.sql`. Long answers of a
        transaction come in pages, as they are read."""
        self.writes += statement in WRITING
        with self.guarded():
            if statement in LONG and self._pipeline is None and self.in_transaction:
                self._portals += 1
                portal = self._raw.cursor(name=f"rows_{self._portals}")
                portal.itersize = _PORTAL_ROWS
                return portal.execute(IN_POSTGRES[statement], values)
            return self._raw.execute(IN_POSTGRES[statement], values, binary=statement in BINARY)

    @property
    def raw(self) -> psycopg.Connection[Any]:
        """Return the session as psycopg has it, for statements that are made from the catalogue;
        to be used inside `guarded`."""
        return self._raw

    def send_for(self, rows: int, statement: str, values: Sequence[Any]) -> None:
        """Send a statement that must write exactly so many rows. A counting one fails when it does
        not; for any other one `verify` looks."""
        if statement in COUNTING:
            self.send(statement, (*values, rows))
        else:
            self._expected.append((statement, rows, self.send(statement, values)))

    def verify(self) -> None:
        """Make sure that every statement wrote what it was made for, or will fail."""
        if not self._expected:
            return
        self.settle()
        for statement, rows, sent in self._expected:
            if sent.rowcount != rows:
                where = f"{self._where}: {statement.splitlines()[0]}"
                raise rows_changed(where, f"{sent.rowcount} rows instead of {rows}")
        self._expected.clear()

    def script(self, text: str) -> None:
        """Run a migration."""
        with self.guarded():
            self._raw.execute(text.encode())

    def guarded(self) -> contextlib.AbstractContextManager[None]:
        """Translate PostgreSQL's errors inside a block."""
        return guarded(self._raw, self._where)

    @contextlib.contextmanager
    def pipeline(self) -> Iterator[None]:
        """Send the statements inside the block without waiting for answers that nobody reads."""
        self._expected.clear()
        with self.guarded():
            try:
                with self._raw.pipeline() as pipeline:
                    self._pipeline = pipeline
                    yield
            finally:
                self._pipeline = None
                if self._is_stuck:
                    self.close()

    def settle(self) -> None:
        """Wait for all answers. The server then knows that it waits for us, and for how long: a
        transaction of a stopped process ends (`bound_idleness`)."""
        if self._pipeline is not None:
            with self.guarded():
                self._pipeline.sync()

    @property
    def _is_stuck(self) -> bool:
        """Whether a pipeline could not be left: the server said goodbye inside of it, and no answer
        will come any more, though libpq has not yet seen the connection end."""
        pgconn = self._raw.pgconn
        return bool(pgconn) and pgconn.pipeline_status != psycopg.pq.PipelineStatus.OFF

    @property
    def is_lost(self) -> bool:
        """Whether the session is over."""
        return self._raw.closed or self._raw.broken

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open, failed or not."""
        return self._raw.info.transaction_status in {
            psycopg.pq.TransactionStatus.INTRANS,
            psycopg.pq.TransactionStatus.INERROR,
        }

    def roll_back(self) -> None:
        """Take an open transaction back."""
        with self.guarded():
            self._raw.rollback()

    @property
    def password(self) -> str:
        """Return the password that the session began with, from wherever libpq took it."""
        return self._raw.info.password

    def close(self) -> None:
        """End the session."""
        with contextlib.suppress(psycopg.Error):
            self._raw.close()


def _parameters_of(url: str) -> dict[str, Any]:
    """Take an address apart; raise UserError, which names what is wrong, when libpq cannot."""
    try:
        return conninfo_to_dict(url)
    except psycopg.Error as error:
        raise refused_address(error, url) from error


def connect(address: LedgerAddress, *, read_only: bool = False) -> PostgresConnection:
    """Begin a session in a campaign's schema; raise HostError when that is impossible, UserError
    for an address that is none."""
    where = address.shown
    told = _parameters_of(address.url)
    try:
        options = " ".join((str(told.pop("options", "")), _SERVER_OPTIONS)).strip()
        given: dict[str, Any] = {
            "connect_timeout": _CONNECT_S,
            "application_name": "symfleet",
            **_TCP,
            **told,
        }
        if address.password:
            given["password"] = address.password
        raw = psycopg.connect(**given, options=options, autocommit=True, prepare_threshold=2)
    except psycopg.Error as error:
        raise refused_connection(error, where) from error
    raw.prepared_max = 500
    postgres_arrays.register(raw)
    raw.adapters.register_dumper(int, Int8Dumper)
    raw.adapters.register_dumper(str, _TextDumper)
    connection = PostgresConnection(raw, where)
    try:
        settings = SESSION["reader_settings" if read_only else "settings"]
        connection.execute(settings, (address.schema,)).fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
