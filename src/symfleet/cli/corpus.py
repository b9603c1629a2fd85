"""`symfleet corpus add|export|verify OUT`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from symfleet.cli import present
from symfleet.cli.arguments import Invocation, Json, OutFolder
from symfleet.cli.campaign import config_of, published_of, reading
from symfleet.corpus.audit import FileFinding, compare
from symfleet.corpus.durable import check_folder_place
from symfleet.corpus.reproductions import reproductions_of
from symfleet.corpus.transfer import add_files, export_corpus
from symfleet.errors import ExitCode, UserError
from symfleet.types import SinkKind

Files = Annotated[
    Path,
    Parameter(name="FILES", help="Files, or folders whose files are all taken."),
]
Destination = Annotated[Path, Parameter(name="FOLDER", help="Where the inputs are written.")]


class AddShown(msgspec.Struct, frozen=True):
    """What became of each file."""

    added: tuple[str, ...]
    refused: dict[str, str]


class ExportShown(msgspec.Struct, frozen=True):
    """What was written."""

    folder: str
    inputs: tuple[str, ...]


class VerifyShown(msgspec.Struct, frozen=True):
    """Whether the files agree with the ledger, and the digests that the ledger has."""

    ok: bool
    findings: tuple[FileFinding, ...]
    inputs: tuple[str, ...]


def add(out: OutFolder, /, *files: Files, json: Json = False) -> int:
    """Add inputs to a campaign. A running one takes them at its next look, else the next launch.

    Exit code 65 when a file was refused; the others are taken all the same.
    """
    _require_places(files)
    with reading(out) as reader:
        input_bytes_max = config_of(reader).input_bytes_max
    taken = list(add_files(out, files, input_bytes_max))
    added = tuple(entry.input_id for entry in taken if entry.input_id is not None)
    refused = {entry.path: entry.skip.value for entry in taken if entry.skip is not None}
    lines = [f"{path}: refused, {reason}" for path, reason in refused.items()]
    lines.append(f"{len(added)} inputs handed over, {len(refused)} refused")
    present.show(AddShown(added, refused), lines, as_json=json)
    return int(ExitCode.DATA if refused else ExitCode.DONE)


def _require_places(places: tuple[Path, ...]) -> None:
    if not places:
        raise UserError(
            "no files are given",
            where="FILES",
            why="there is nothing to add",
            hint="symfleet corpus add OUT FILE...",
        )
    for place in places:
        if not place.exists() and not place.is_symlink():
            raise UserError(
                "there is no such file",
                where=str(place),
                why="nothing has this name",
                hint="check the path; nothing was added",
            )


def export(out: OutFolder, folder: Destination, /, *, json: Json = False) -> int:
    """Write the whole corpus into a folder, each input named by its SHA-256."""
    check_folder_place(folder, "the destination", "name a folder, or one that is not there yet")
    with reading(out) as reader:
        exported = export_corpus(reader, folder)
    document = ExportShown(str(folder.absolute()), tuple(exported))
    present.show(document, [f"{len(exported)} inputs in {folder}"], as_json=json)
    return 0


def verify(out: OutFolder, /, *, json: Json = False) -> int:
    """Compare the corpus folder with the ledger. Exit code 2 when a file is missing or wrong.

    `symfleet verify` checks the ledger itself and can repair.
    """
    with reading(out) as reader:
        ways = reproductions_of(reader)
        published = published_of(reader)
        findings = tuple(compare(reader, out.absolute(), ways, published, [SinkKind.CORPUS]))
        inputs = tuple(sorted(reader.corpus()))
    wrong = [finding for finding in findings if finding.problem != "unknown"]
    lines = [f"{finding.problem:<8} {finding.path}" for finding in findings]
    lines.append(f"{len(inputs)} inputs, {len(wrong)} files missing or wrong")
    present.show(VerifyShown(not wrong, findings, inputs), lines, as_json=json)
    return int(ExitCode.FINISHED_WITH_FAULTS if wrong else ExitCode.DONE)


def register(app: App, _: Invocation) -> None:
    """Add the commands."""
    corpus = App(name="corpus", help="The inputs: add, export, verify.")
    corpus.command(add, name="add")
    corpus.command(export, name="export")
    corpus.command(verify, name="verify")
    app.command(corpus)
