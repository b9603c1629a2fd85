"""Be a symfleet whose ledger fails to set the first item aside. Arguments: how (`refused`: that one
operation; `eio`: the disk) and a command line."""

import sqlite3
import sys

from symfleet.errors import DataError
from symfleet.ledger import row_ledger, turn_giving_back

how = sys.argv.pop(1)
defer = turn_giving_back.defer
failures = []


def fail_once(turn, operation):
    """Defer, but not at the first time."""
    if failures:
        return defer(turn, operation)
    failures.append(operation)
    if how == "refused":
        raise DataError("a deferral was refused", why="a test says so")
    defer(turn, operation)  # it stands in the transaction, and then the disk breaks
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode, error.sqlite_errorname = (
        sqlite3.SQLITE_IOERR_WRITE,
        "SQLITE_IOERR_WRITE",
    )
    raise error


row_ledger.turn_giving_back.defer = fail_once

from symfleet.cli.main import main  # noqa: E402

main()
