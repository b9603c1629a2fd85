"""`symfleet verify OUT`: is the ledger sound, and do the files agree with it?

The ledger is read, never written, with one exception that is asked for by name (`--gc`). Files are
made from it, never the other way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec
from cyclopts import App, Parameter

from symfleet.cli import present
from symfleet.cli.arguments import Invocation, Json, OutFolder
from symfleet.cli.campaign import (
    is_worked_on,
    keeping_out,
    owning,
    published_of,
    reading,
    require_campaign,
)
from symfleet.corpus.audit import FileFinding, compare, rebuild
from symfleet.corpus.reproductions import reproductions_of
from symfleet.errors import ExitCode
from symfleet.ledger.contract import Finding, LedgerReader
from symfleet.ledger.copies import refusal_of_copy
from symfleet.ledger.highwater import HIGHWATER_NAME
from symfleet.ledger.opener import check_at_rest
from symfleet.observe.audit import compare_shown
from symfleet.observe.restore import restore

Repair = Annotated[
    bool,
    Parameter(
        name="--repair",
        negative=(),
        show_default=False,
        help="Write missing and wrong files again from the ledger; wrong inputs go to lost+found.",
    ),
]
Gc = Annotated[
    bool,
    Parameter(
        name="--gc",
        negative=(),
        show_default=False,
        help="Drop inputs from the ledger that nothing in it names.",
    ),
]
Sets = Annotated[
    bool,
    Parameter(
        name="--sets",
        negative=(),
        show_default=False,
        help="With --json: also all (work id, manifest digest) pairs and corpus digests.",
    ),
]

_SHOWN_MAX: Final = 50
"""Findings of a kind that people are shown; JSON has all."""


class Verified(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was found. `decisions` and `corpus` are sorted, so that two campaigns compare."""

    ok: bool
    ledger: tuple[Finding, ...]
    files: tuple[FileFinding, ...]
    repaired: int
    dropped: int
    live: bool
    """Whether a job worked on the campaign meanwhile."""
    decisions: tuple[tuple[str, str], ...] | None = None
    corpus: tuple[str, ...] | None = None

    @property
    def wrong(self) -> tuple[FileFinding, ...]:
        """Files that do not agree; people's own are not among them."""
        return tuple(one for one in self.files if one.problem != "unknown")


def verify(
    out: OutFolder,
    /,
    *,
    repair: Repair = False,
    gc: Gc = False,
    sets: Sets = False,
    json: Json = False,
) -> int:
    """Check the ledger (every page, digest, chain and sum) and the files against it.

    It changes nothing by itself and works beside a running campaign; `--repair` and `--gc` do not.
    Exit code 70 when the ledger is damaged (the rows are named), 2 when files are missing or wrong.
    """
    require_campaign(out)
    with keeping_out(out) if repair or gc else contextlib.nullcontext():
        verified = _verified(out, repair=repair, sets=sets, resting=repair or gc)
    if gc and not verified.ledger:
        with owning(out) as ledger:
            verified = msgspec.structs.replace(verified, dropped=ledger.drop_unnamed())
    present.show(verified, _lines(verified, out), as_json=json)
    if verified.ledger:
        return int(ExitCode.INTEGRITY)
    return int(ExitCode.DONE if verified.ok else ExitCode.FINISHED_WITH_FAULTS)


def _verified(out: Path, *, repair: bool, sets: bool, resting: bool) -> Verified:
    live = not resting and is_worked_on(out)
    repaired = 0
    files: tuple[FileFinding, ...] = ()
    if not live:
        check_at_rest(out)
    with reading(out) as reader:
        damage = tuple(_damage(reader, out, refuse=resting))
        if not damage and repair:
            repaired = _repair(reader, out)
        if not damage:
            files = tuple(_files(reader, out, live=live))
        decisions = corpus = None
        if sets and not damage:
            pairs = sorted((row.work_id, row.manifest_digest) for row in reader.decisions())
            decisions = tuple((str(work), digest) for work, digest in pairs)
            corpus = tuple(sorted(reader.corpus()))
    found = Verified(False, damage, files, repaired, 0, live, decisions, corpus)
    return msgspec.structs.replace(found, ok=not damage and not found.wrong)


def _damage(reader: LedgerReader, out: Path, *, refuse: bool) -> Iterator[Finding]:
    """Yield what is wrong with the ledger. `refuse`: raise when it is not the folder's own, so that
    no file is made from it."""
    yield from reader.audit()
    refusal = refusal_of_copy(reader, out)
    if refusal is not None and refuse:
        raise refusal
    if refusal is not None:
        yield Finding(refusal.what, HIGHWATER_NAME, refusal.why)


def _files(reader: LedgerReader, out: Path, *, live: bool) -> Iterator[FileFinding]:
    # What has to be there is asked first: a running job shows more meanwhile, never less.
    published = published_of(reader)
    yield from compare(reader, out.absolute(), reproductions_of(reader), published)
    yield from compare_shown(reader, out.absolute(), live=live)


def _repair(reader: LedgerReader, out: Path) -> int:
    ways, published = reproductions_of(reader), published_of(reader)
    written = rebuild(reader, out.absolute(), ways, published)
    return written + restore(out.absolute(), reader)


def _lines(verified: Verified, out: Path) -> Iterator[str]:
    for finding in verified.ledger[:_SHOWN_MAX]:
        yield f"ledger   {finding.what}: {finding.row}: {finding.detail}"
    yield from _rest(len(verified.ledger))
    for file in verified.files[:_SHOWN_MAX]:
        yield f"{file.problem:<8} {file.path}" + (f": {file.detail}" if file.detail else "")
    yield from _rest(len(verified.files))
    if verified.repaired:
        yield f"{verified.repaired} files were written again"
    if verified.dropped:
        yield f"{verified.dropped} inputs that nothing names were dropped from the ledger"
    if verified.ledger and all(one.row == HIGHWATER_NAME for one in verified.ledger):
        yield "this may be the wrong ledger: nothing was changed; docs/howto/recover.md tells more"
    elif verified.ledger:
        yield "the ledger is damaged: nothing was changed; docs/howto/recover.md tells what to do"
    elif not verified.ok:
        yield f"files are missing or wrong: `symfleet verify --repair {out}` writes them again"
    else:
        yield "the ledger is sound and the files agree with it"
    if any(file.problem == "unknown" for file in verified.files):
        yield "unknown files are not ours: they are left alone"


def _rest(found: int) -> Iterator[str]:
    if found > _SHOWN_MAX:
        yield f"         and {found - _SHOWN_MAX} more: --json has all"


def register(app: App, _: Invocation) -> None:
    """Add the command."""
    app.command(verify, name="verify")
