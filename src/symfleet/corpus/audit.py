"""Do the files agree with the ledger? And if not: write them again.

The ledger is the truth. Files that no artefact names are people's own and stay where they are; they
are only named. Repair puts every missing or wrong file right in the publisher's way, so a wrong
one ends in lost+found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.corpus.durable import make_folder, sync_filesystem
from symfleet.corpus.layout import ProjectedFile, Reproduction, project, sink_folder
from symfleet.corpus.publish import (
    STEP_ARTEFACTS_MAX,
    STEP_BYTES_MAX,
    ArtefactReader,
    Folder,
    check_artefact,
)
from symfleet.protocol.operations import Artefact
from symfleet.types import SinkKind

KINDS: Final = tuple(SinkKind)


@dataclass(frozen=True, slots=True)
class FileFinding:
    """One file that does not agree: `missing`, `wrong` (other bytes) or `unknown` (not ours)."""

    problem: str
    path: str


def all_artefacts(reader: ArtefactReader, kind: SinkKind, upto: int) -> Iterator[Artefact]:
    """Yield the artefacts of a kind up to a number, in order, checked."""
    after = 0
    while after < upto:
        artefacts = reader.artefacts(kind, after, STEP_ARTEFACTS_MAX, STEP_BYTES_MAX)
        if not artefacts:
            return
        for artefact in artefacts:
            if artefact.number > upto:
                return
            check_artefact(artefact)
            yield artefact
            after = artefact.number


def compare(
    reader: ArtefactReader,
    out: Path,
    reproduction: Reproduction,
    published: dict[SinkKind, int],
    kinds: Iterable[SinkKind] = KINDS,
) -> Iterator[FileFinding]:
    """Yield what does not agree, among files that are published already.

    `published`: up to which artefact number each kind's files must be there.
    """
    for kind in kinds:
        folder = sink_folder(out, kind)
        expected: set[Path] = set()
        for artefact in all_artefacts(reader, kind, published.get(kind, 0)):
            for file in project(artefact, reproduction):
                path = folder / file.path
                expected.add(path)
                problem = _problem(path, file)
                if problem is not None:
                    yield FileFinding(problem, str(path.relative_to(out)))
        unpublished = _unpublished(reader, kind, published.get(kind, 0), folder, reproduction)
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if not path.is_dir() and path not in expected and path not in unpublished:
                yield FileFinding("unknown", str(path.relative_to(out)))


def _unpublished(
    reader: ArtefactReader,
    kind: SinkKind,
    published: int,
    folder: Path,
    reproduction: Reproduction,
) -> set[Path]:
    """Return paths that a publisher may have written before its mark moved."""
    paths: set[Path] = set()
    after = published
    while artefacts := reader.artefacts(kind, after, STEP_ARTEFACTS_MAX, STEP_BYTES_MAX):
        for artefact in artefacts:
            paths |= {folder / file.path for file in project(artefact, reproduction)}
            after = artefact.number
    return paths


def _problem(path: Path, file: ProjectedFile) -> str | None:
    try:
        if path.is_symlink() or not path.is_file():
            return "wrong" if path.is_symlink() or path.exists() else "missing"
        return None if path.read_bytes() == file.data else "wrong"
    except OSError:
        return "wrong"


def rebuild(
    reader: ArtefactReader,
    out: Path,
    reproduction: Reproduction,
    published: dict[SinkKind, int],
    kinds: Iterable[SinkKind] = KINDS,
) -> int:
    """Put every published file right; return how many were written. The caller is the owner."""
    written = 0
    for kind in kinds:
        folder = Folder(out, sink_folder(out, kind))
        folder.prepare()
        for artefact in all_artefacts(reader, kind, published.get(kind, 0)):
            written += sum(folder.put(file) for file in project(artefact, reproduction))
    make_folder(out)
    sync_filesystem(out)
    return written
