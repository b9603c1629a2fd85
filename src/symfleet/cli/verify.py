"""`symfleet verify OUT`: is the ledger sound, and do the files agree with it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from symfleet.cli import present
from symfleet.cli.arguments import Invocation, Json, OutFolder
from symfleet.cli.campaign import config_of, owning, published_of, reading, reproduction_of
from symfleet.corpus.audit import FileFinding, compare, rebuild
from symfleet.errors import ExitCode
from symfleet.ledger.contract import Finding
from symfleet.observe.restore import restore

Repair = Annotated[
    bool,
    Parameter(
        name="--repair",
        negative=(),
        show_default=False,
        help="Write missing and wrong files again from the ledger; wrong ones go to lost+found.",
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


class Verified(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was found. `decisions` and `corpus` are sorted, so that two campaigns compare."""

    ok: bool
    ledger: tuple[Finding, ...]
    files: tuple[FileFinding, ...]
    repaired: int
    decisions: tuple[tuple[str, str], ...] | None = None
    corpus: tuple[str, ...] | None = None


def verify(
    out: OutFolder, /, *, repair: Repair = False, sets: Sets = False, json: Json = False
) -> int:
    """Check the ledger (every page, digest, chain and sum) and the files against it.

    Exit code 70 when the ledger is damaged (the rows are named), 2 when files are missing or wrong.
    """
    repaired = 0
    if repair:
        with owning(out) as ledger:
            published = published_of(ledger, out)
            reproduction = reproduction_of(config_of(ledger))
            repaired = rebuild(ledger, out.absolute(), reproduction, published)
            repaired += restore(out, ledger)
    with reading(out) as reader:
        damage = tuple(reader.audit())
        files: tuple[FileFinding, ...] = ()
        if not damage:
            reproduction = reproduction_of(config_of(reader))
            published = published_of(reader, out)
            files = tuple(compare(reader, out.absolute(), reproduction, published))
        wrong = [finding for finding in files if finding.problem != "unknown"]
        decisions = corpus = None
        if sets:
            pairs = sorted((row.work_id, row.manifest_digest) for row in reader.decisions())
            decisions = tuple((str(work), digest) for work, digest in pairs)
            corpus = tuple(sorted(reader.corpus()))
    verified = Verified(not damage and not wrong, damage, files, repaired, decisions, corpus)
    present.show(verified, _lines(verified), as_json=json)
    if damage:
        return int(ExitCode.INTEGRITY)
    return int(ExitCode.FINISHED_WITH_FAULTS if wrong else ExitCode.DONE)


def _lines(verified: Verified) -> Iterator[str]:
    for finding in verified.ledger:
        yield f"ledger   {finding.what}: {finding.row}: {finding.detail}"
    for file in verified.files:
        yield f"{file.problem:<8} {file.path}"
    if verified.repaired:
        yield f"{verified.repaired} files were written again"
    if verified.ledger:
        yield "the ledger is damaged: nothing was changed; restore it from a backup"
    elif not verified.ok:
        yield "files are missing or wrong: `symfleet verify --repair` writes them again"
    else:
        yield "the ledger is sound and the files agree with it"


def register(app: App, _: Invocation) -> None:
    """Add the command."""
    app.command(verify, name="verify")
