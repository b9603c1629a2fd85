"""Copy a store of rows into another one, of the other kind or not, and prove that they are equal.

Theory of operation. The source is read as of one moment: nobody writes while its owner's lock is
held, or it is a snapshot. First every table of it gets a digest; together they are the source's
fingerprint, and the mark in the target names it. Rows then travel in the order of their keys, in
transactions of bounded size. So what has arrived in a table is always its beginning, and its last
key tells where to go on after a kill; a target that was begun from another state of the source is
forgotten. In the end the target must have equal digests, pass the full audit, and end with the
decision that the folder's highwater tells of. The mark stays: who moves a campaign takes it away.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from symfleet import crash
from symfleet.errors import IntegrityError, IOFailure
from symfleet.ledger.audit import audit_all
from symfleet.ledger.copies import is_older_copy
from symfleet.ledger.postgres_statements import postgres_migrations
from symfleet.ledger.row_reading import read_campaign
from symfleet.ledger.statements import migrations
from symfleet.ledger.tables import (
    CopyTarget,
    Row,
    Table,
    TableDigest,
    TableReader,
    digest_of,
    fingerprint,
    plan_copy,
)

ROWS_MAX: Final = 1000
BYTES_MAX: Final = 4 * 2**20
"""Bounds of one transaction; a single row may be larger."""

Tell = Callable[[str], None]
"""Told what happens now, in a line for people."""


def copy_store(
    source: TableReader, target: CopyTarget, out: Path | None, tell: Tell
) -> tuple[TableDigest, ...]:
    """Make `target` equal to `source` and prove it; return what both hold.

    `out`: the folder of a campaign that rests, for its highwater. Raises IOFailure when a store
    fails (the same call goes on later), IntegrityError when the copy is not what it must be (it is
    forgotten).
    """
    with failing(target.where):
        with source.snapshot():
            tell(f"reading {source.where}")
            planned = source.tables()
            held = tuple(digest_of(source, table) for table in planned)
            again = target.prepare(fingerprint(held, _versions()))
            crash.point("copy.prepared")
            tell(f"{'going on with' if again else 'copying to'} {target.where}")
            for table in plan_copy(planned, target.tables()):
                _copy_table(source, target, table)
        crash.point("copy.copied")
        tell("checking the copy")
        target.complete()
        _verify(target, held, out)
    crash.point("copy.verified")
    return held


def _versions() -> str:
    return f"{len(migrations())}/{len(postgres_migrations())}"


def _copy_table(source: TableReader, target: CopyTarget, table: Table) -> None:
    batch: list[Row] = []
    size = 0
    for row in source.rows(table, target.last_key(table)):
        batch.append(row)
        size += _weight(row)
        if len(batch) >= ROWS_MAX or size >= BYTES_MAX:
            target.put(table, batch)
            crash.point("copy.batch")
            batch, size = [], 0
    if batch:
        target.put(table, batch)
        crash.point("copy.batch")


def _weight(row: Row) -> int:
    return sum(len(value) if isinstance(value, (bytes, str)) else 8 for value in row)


def _verify(target: CopyTarget, held: tuple[TableDigest, ...], out: Path | None) -> None:
    """Raise IntegrityError unless the target holds the same, is sound, and is not behind."""
    try:
        with target.snapshot():
            found = {table.name: digest_of(target, table) for table in target.tables()}
            campaign = read_campaign(target.database, target.where).campaign
            if out is not None:
                is_older_copy(target.database, out, Path(target.where), None)
        for told in held:
            if (arrived := found[told.table]) != told:
                raise _wrong(
                    target.where,
                    f"table {told.table} has {arrived.rows} rows of digest {arrived.digest[:16]},"
                    f" and in the source {told.rows} of digest {told.digest[:16]}",
                )
        for finding in audit_all(target.database, campaign):
            raise _wrong(target.where, f"{finding.what}: {finding.row}: {finding.detail}")
    except IntegrityError:
        # It is worth nothing, and would be gone on with.
        target.discard()
        raise


def _wrong(where: str, why: str) -> IntegrityError:
    return IntegrityError(
        "the copy of the ledger is not sound",
        where=where,
        why=why,
        hint="the campaign is as it was and the copy is removed; look at the source with"
        " `symfleet verify`, then copy again",
    )


@contextlib.contextmanager
def failing(where: str) -> Iterator[None]:
    """Say of what fails inside the block that the campaign is as it was, and how to go on."""
    try:
        yield
    except IOFailure as error:
        raise IOFailure(
            error.what,
            where=error.where or where,
            why=error.why,
            hint="the campaign is as it was; mend the cause, then give the same command again:"
            " it goes on where it was",
        ) from error
