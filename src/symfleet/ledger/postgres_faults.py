"""What PostgreSQL's errors mean for a campaign."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

from symfleet.errors import (
    BusyError,
    HostError,
    IntegrityError,
    InternalError,
    IOFailure,
    SymfleetError,
    UserError,
)
from symfleet.ledger.faults import DiskFailureError, DiskFullError

_VERIFY: Final = "run `symfleet verify`, then restore a backup of the database"
_PAGE: Final = "see the page `A ledger on PostgreSQL` of the manual"


class ConnectionLostError(IOFailure):
    """The connection ended. Whether a transaction that was being committed is durable is unknown
    until its turn is looked up."""


class ConflictError(IOFailure):
    """The server gave the transaction up in favour of another one; it changed nothing."""


class RowChangedError(InternalError):
    """A row was not any more what this transaction had read: it wrote nothing. Whoever reads again
    sees what the other one made of it."""


def translated(  # noqa: PLR0911 - one for each family
    error: psycopg.Error, where: str, *, lost: bool
) -> SymfleetError:
    """Return the error family of an error in a session; `lost`: its connection is gone."""
    state = error.sqlstate or ""
    why = _first_line(error) + (f" ({state})" if state else "")
    if lost or state[:2] == "08" or state in {"57P01", "57P02", "57P03", "57P05", "25P03"}:
        return ConnectionLostError(
            "the connection to PostgreSQL was lost",
            where=where,
            why=why,
            hint="nothing is lost: when the server can be reached again, `symfleet resume` goes on",
        )
    # Two leases of one state at once: who waited for the other one chooses again.
    rival = state == "23505" and error.diag.constraint_name == "work_leased"
    if rival or state in {"40001", "40P01"}:
        return ConflictError(
            "PostgreSQL gave a transaction up in favour of another one",
            where=where,
            why=why,
            hint="it was tried several times; `symfleet resume` goes on",
        )
    if state == "22012":
        return rows_changed(where, why)
    match state[:2]:
        case "53" if state == "53100":
            return DiskFullError(
                "no space is left for the ledger",
                where=where,
                why=why,
                hint="free some space on the server, then `symfleet resume` goes on",
            )
        case "53" | "54" | "57" | "58":
            return DiskFailureError(
                "PostgreSQL cannot do what the ledger needs",
                where=where,
                why=why,
                hint="read the server's log and mend the cause, then `symfleet resume` goes on",
            )
        case "XX" if state in {"XX001", "XX002"}:
            return IntegrityError("the ledger is damaged", where=where, why=why, hint=_VERIFY)
        # Our statements fit our schema: otherwise the stored one is not ours.
        case "42" if state != "42501":
            return IntegrityError("the ledger is damaged", where=where, why=why, hint=_VERIFY)
        case "3F":
            return IntegrityError("the ledger is damaged", where=where, why=why, hint=_VERIFY)
        case "42" | "25":
            return no_rights(where, why)
        case "55":
            return BusyError(
                "another program holds rows of the ledger",
                where=where,
                why=why,
                hint="end the other program; look for it in pg_stat_activity",
            )
        case _:
            return InternalError(
                "the ledger refused a change that breaks one of its rules",
                where=where,
                why=why,
                hint="nothing was changed; please report this",
            )


def rows_changed(where: str, why: str) -> RowChangedError:
    """A statement has not written the rows that it was made for."""
    return RowChangedError(
        "a row changed between its check and its write",
        where=where,
        why=f"{why}; another writer would have to pass the fence",
        hint="nothing was changed; please report this",
    )


def no_rights(where: str, why: str) -> HostError:
    """The role may not do what a ledger needs."""
    return HostError(
        "PostgreSQL refuses the ledger its rights",
        where=where,
        why=why,
        hint=f"the role must own the campaign's schema, or may create one; {_PAGE}",
    )


_NO_DATABASE: Final = "there is no such database"
_CAUSES: Final = (
    (
        ("password authentication failed", "no password supplied", "authentication failed"),
        "PostgreSQL refuses the login",
        "put the password into the file that PGPASSFILE names (mode 0600)",
    ),
    (
        ("no pg_hba.conf entry", "is not permitted to log in", 'role "', "pg_ident"),
        "PostgreSQL refuses the login",
        "check the role's name and the server's pg_hba.conf",
    ),
    # After the logins: a refused one tells whether it was encrypted.
    (
        ("SSL", "TLS", "certificate"),
        "the TLS connection to PostgreSQL failed",
        "check sslmode, sslrootcert and the server's certificate",
    ),
    (
        ('database "',),
        _NO_DATABASE,
        "make it (`createdb NAME`), or correct the name in --ledger",
    ),
)


_BAD_VALUE: Final = re.compile(r"invalid (\S+ value|port number)|invalid \S+ \S+ value")
"""What libpq says of a parameter that no server has seen yet."""


def refused_address(error: psycopg.Error, where: str) -> UserError:
    """Return what is wrong with an address: a parameter, by its name, or its form."""
    return UserError(
        "the ledger's address cannot be used",
        where=where,
        why=_first_line(error),
        hint="correct it in --ledger; its parameters are those of libpq (sslmode, sslrootcert,"
        " connect_timeout ...)",
    )


def refused_connection(error: psycopg.Error, where: str) -> HostError | UserError:
    """Return why no session could begin."""
    if _BAD_VALUE.search(str(error)):
        return refused_address(error, where)
    why = _first_line(error)
    told = re.sub(r'"[^"]*"', '""', str(error))  # names of hosts and roles say nothing
    if "no encryption" in told and "SSL encryption" not in told:
        return HostError(
            "PostgreSQL takes no connection without TLS",
            where=where,
            why=why,
            hint="take sslmode=disable out of the address; sslmode=verify-full is the safe one",
        )
    for marks, what, hint in _CAUSES:
        if any(mark in told for mark in marks):
            return HostError(what, where=where, why=why, hint=hint)
    return HostError(
        "PostgreSQL cannot be reached",
        where=where,
        why=why,
        hint=f"is the server running, and is the address right? {_PAGE}",
    )


def not_back(error: HostError) -> HostError:
    """Return why an owner that had a session got no other one, with what to do then: other than
    before a first start the campaign is there already."""
    if error.what == _NO_DATABASE:
        hint = "it was dropped or renamed, and the campaign's ledger is in it: give it its name"
        hint += " back or restore a backup of it, then `symfleet resume` goes on"
    else:
        hint = f"{error.hint}; nothing is lost: when that is mended, `symfleet resume` goes on"
    return HostError(error.what, where=error.where, why=error.why, hint=hint)


def _first_line(error: psycopg.Error) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return "; ".join(lines[:2]) if lines else type(error).__name__


@contextmanager
def guarded(connection: psycopg.Connection[tuple[object, ...]], where: str) -> Iterator[None]:
    """Translate PostgreSQL's errors inside the block."""
    try:
        yield
    except psycopg.Error as error:
        raise translated(error, where, lost=connection.broken or connection.closed) from error
