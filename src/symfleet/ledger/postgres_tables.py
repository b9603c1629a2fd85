"""Tables of a PostgreSQL ledger: read from a campaign's schema, written as an unfinished copy.

An unfinished copy is the campaign's schema with a table `copying`, which no ledger has. References
between tables are put aside while rows arrive (a decided row and its decision name each other) and
made again when all are there, which checks every row.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
import psycopg
import psycopg.sql

from symfleet.clock import Clock
from symfleet.errors import UserError
from symfleet.ledger.postgres_address import LedgerAddress
from symfleet.ledger.postgres_connection import (
    PostgresConnection,
    connect,
    lock_keys,
    retired_prefix,
)
from symfleet.ledger.postgres_opener import (
    check_schema,
    check_server,
    has_schema,
    is_marked,
    migrate,
    one_transaction,
    stored_version,
)
from symfleet.ledger.postgres_owner import take_lock
from symfleet.ledger.standing import COUNTED
from symfleet.ledger.statements import load
from symfleet.ledger.tables import MARK_TABLE, Row, Table, quoted, storable
from symfleet.types import CampaignId

_OF_THE_STORE: Final = frozenset({MARK_TABLE, "schema_version", "coordinators"})
"""Tables that keep the store and its sessions, and nothing of the campaign."""

_COUNTS: Final = "standing"

_SQL: Final = load("postgres/copying")
_READ: Final = load("reading")
_TURN: Final = load("turn")
_TEXT_TYPE: Final = psycopg.adapters.types["text"].oid
_PAGE_ROWS: Final = 64


class PostgresTables:
    """A schema that is read."""

    def __init__(self, session: PostgresConnection, address: LedgerAddress) -> None:
        self._session = session
        with session.guarded():
            # A server may bound what waits for the other store, or looks at all rows.
            session.raw.execute(_SQL["take_time"].encode())
        self._address = address
        self._types: dict[tuple[str, str], int] = {}
        self._cursors = 0

    @property
    def where(self) -> str:
        """Return its name for people."""
        return self._address.shown

    @property
    def database(self) -> PostgresConnection:
        """Return the session, as the audit wants it."""
        return self._session

    @property
    def version(self) -> int:
        """Return the number of its schema."""
        return stored_version(self._session, self._address)[0]

    def require_ledger(self) -> None:
        """Raise DataError or IntegrityError unless the schema is a ledger of this version."""
        check_schema(self._session, self._address)

    @property
    def size(self) -> int:
        """Return how many bytes its tables and indexes have."""
        return int(self.ask(_SQL["size"])[0][0])

    def tables(self) -> tuple[Table, ...]:
        """Return all tables that belong to the campaign, by name."""
        names = [name for (name,) in self.ask(_SQL["tables"])]
        return tuple(self._table(name) for name in names if name not in _OF_THE_STORE)

    def _table(self, name: str) -> Table:
        columns = self.ask(_SQL["columns"], (quoted(name),))
        self._types.update({(name, column): oid for column, _, oid in columns})
        key = sorted((place, column) for column, place, _ in columns if place is not None)
        return Table(
            name, tuple(column for column, _, _ in columns), tuple(column for _, column in key)
        )

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything inside the block as of one moment."""
        with one_transaction(self._session, _READ["begin"]):
            yield

    def rows(self, table: Table, after: Row | None = None) -> Iterator[Row]:
        """Yield rows in the order of the key, those behind `after` only; inside a snapshot."""
        if table.name == _COUNTS:
            yield from self._counts(table, after)
            return
        self._cursors += 1
        statement = self._filled("all_rows" if after is None else "rows_after", table)
        with self._session.guarded():
            cursor = self._session.raw.cursor(name=f"copied_{self._cursors}")
            cursor.itersize = _PAGE_ROWS
            try:
                yield from cursor.execute(statement.encode(), after)
            finally:
                # On a lost connection it is gone.
                with contextlib.suppress(psycopg.Error):
                    cursor.close()

    def _counts(self, table: Table, after: Row | None) -> Iterator[Row]:
        """Yield the row of counts as readers see it: a part of it may stand elsewhere, with the
        coordinators that count for themselves."""
        row = self._session.execute(_READ["standing"]).fetchone()
        if row is not None and after is None:
            values = {"only_row": 1, **dict(zip(COUNTED, row, strict=True))}
            yield tuple([values[column] for column in table.columns])

    def count(self, table: Table) -> int:
        """Return how many rows there are."""
        return int(self.ask(self._filled("count", table))[0][0])

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def ask(self, statement: str, values: Sequence[Any] | None = None) -> list[Any]:
        """Return the answer of a statement that is not one of a ledger's."""
        with self._session.guarded():
            return self._session.raw.execute(statement.encode(), values).fetchall()

    def run(self, statement: str, values: Sequence[Any] | None = None) -> None:
        """Run a statement that is not one of a ledger's."""
        with self._session.guarded():
            self._session.raw.execute(statement.encode(), values)

    def _filled(self, block: str, table: Table) -> str:
        key = [
            quoted(name) + (' COLLATE "C"' if self._types[table.name, name] == _TEXT_TYPE else "")
            for name in table.key
        ]
        values = {
            "table": quoted(table.name),
            "columns": ", ".join(quoted(name) for name in table.columns),
            "key": ", ".join(key),
            "key_values": ", ".join("%s" for _ in key),
            "backwards": ", ".join(f"{name} DESC" for name in key),
        }
        return _SQL[block].format(**values)


class PostgresCopy(PostgresTables):
    """A schema that a copy is written to. Its session holds the campaign's lock there."""

    def prepare(self, source: str) -> bool:
        """Go on with the copy of this source, or begin one."""
        if has_schema(self._session, self._address):
            if self._marked_source() == source:
                return True
            self.discard()
        with one_transaction(self._session, _TURN["begin"]):
            self.run(_SQL["make_schema"].format(schema=quoted(self._address.schema)))
            migrate(self._session, 0)
            references = self.ask(_SQL["references"])
            for table, name, _ in references:
                put = {"table": quoted(table), "name": quoted(name)}
                self.run(_SQL["drop_reference"].format(**put))
            self.run(_SQL["make_mark"])
            dropped = msgspec.json.encode(references).decode()
            self.run(_SQL["put_mark"], (source, dropped))
        return False

    def refuse_second(self) -> None:
        """Raise UserError when the server has a schema of this campaign that is no unfinished
        copy."""
        if has_schema(self._session, self._address) and not is_marked(self._session):
            raise UserError(
                "the place that the ledger is to be copied to is not empty",
                where=self.where,
                why="a schema of this name exists, and it is no unfinished copy",
                hint="copy into another database; or look what it is, and remove it with"
                f' DROP SCHEMA "{self._address.schema}" CASCADE',
            )

    def _marked_source(self) -> str | None:
        if not is_marked(self._session):
            return None
        rows = self.ask(_SQL["mark"])
        return str(rows[0][0]) if rows else None

    def last_key(self, table: Table) -> Row | None:
        """Return the last key that has arrived."""
        rows = self.ask(self._filled("last_key", table))
        return rows[0] if rows else None

    def put(self, table: Table, rows: Sequence[Row]) -> None:
        """Add rows in one transaction."""
        statement = self._filled("put", table)
        with self._session.guarded():
            cursor = self._session.raw.cursor()
            with cursor.copy(statement.encode()) as copy:
                copy.set_types([self._types[table.name, column] for column in table.columns])
                for row in rows:
                    copy.write_row([storable(value) for value in row])

    def complete(self) -> None:
        """Make references between tables again, which checks all rows; check the schema."""
        present = {(table, name) for table, name, _ in self.ask(_SQL["references"])}
        dropped = msgspec.json.decode(self.ask(_SQL["dropped"])[0][0], type=list[tuple[str, ...]])
        with one_transaction(self._session, _TURN["begin"]):
            for table, name, definition in dropped:
                if (table, name) not in present:
                    put = {"table": quoted(table), "name": quoted(name), "definition": definition}
                    self.run(_SQL["add_reference"].format(**put))
        with contextlib.suppress(_TakenBackError), one_transaction(self._session, _TURN["begin"]):
            self.run(_SQL["drop_mark"])
            check_schema(self._session, self._address)
            raise _TakenBackError
        # The planner knows nothing of tables that were filled at once.
        for filled in self.tables():
            self.run(_SQL["analyze"].format(table=quoted(filled.name)))

    def discard(self) -> None:
        """Remove the unfinished copy."""
        self.run(_SQL["drop_schema"].format(schema=quoted(self._address.schema)))


def take_mark_away(address: LedgerAddress) -> None:
    """Make a complete copy the ledger; nothing happens when it is that already."""
    session = connect(address)
    try:
        tables = PostgresTables(session, address)
        stored_version(session, address)
        if is_marked(session):
            tables.run(_SQL["drop_mark"])
        check_schema(session, address)
    finally:
        session.close()


def retire_schema(address: LedgerAddress, why: str) -> LedgerAddress:
    """Give the schema of a campaign that has left a name that no campaign opens; return it."""
    session = connect(address)
    try:
        if not has_schema(session, address):
            return address
        tables = PostgresTables(session, address)
        prefix = retired_prefix(address)
        taken = {name for (name,) in tables.ask(_SQL["retired_names"], (prefix,))}
        number = 1
        while f"{prefix}{number}" in taken:
            number += 1
        schema, name = quoted(address.schema), quoted(f"{prefix}{number}")
        with one_transaction(session, _TURN["begin"]):
            text = psycopg.sql.quote(why)
            tables.run(_SQL["comment"].format(schema=schema, text=text))
            tables.run(_SQL["rename_schema"].format(schema=schema, name=name))
        return LedgerAddress(address.url, f"{prefix}{number}")
    finally:
        session.close()


class _TakenBackError(Exception):
    """Ends a transaction that was only a trial."""


def open_tables(address: LedgerAddress) -> PostgresTables:
    """Open a campaign's schema for reading, beside its owner or without one."""
    return PostgresTables(connect(address, read_only=True), address)


def own_tables(
    address: LedgerAddress, campaign: CampaignId, lock_wait_s: float, clock: Clock
) -> PostgresTables:
    """Open a campaign's schema for reading and hold its lock; raise BusyError when it is live.

    A coordinator may have outlived its root for a moment. Its next transaction waits at the fence,
    which is held until the session ends, and finds nothing to write to when the campaign has left.
    """
    session = connect(address, read_only=True)
    try:
        keys = lock_keys(campaign)
        for lock in (keys.owner, keys.fence):
            take_lock(session, address, lock, clock, lock_wait_s)
        return PostgresTables(session, address)
    except BaseException:
        session.close()
        raise


def open_copy(
    address: LedgerAddress, campaign: CampaignId, lock_wait_s: float, clock: Clock
) -> PostgresCopy:
    """Open a place for a copy and hold the campaign's lock there.

    Raises HostError when the server cannot keep a ledger, UserError when it has one of this
    campaign, BusyError when somebody copies there.
    """
    session = connect(address)
    try:
        check_server(session, address, creates=True)
        take_lock(session, address, lock_keys(campaign).owner, clock, lock_wait_s)
        copy = PostgresCopy(session, address)
        copy.refuse_second()
    except BaseException:
        session.close()
        raise
    return copy
