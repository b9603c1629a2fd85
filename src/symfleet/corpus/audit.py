"""Do the files agree with the ledger? And if not: write them again.

The ledger is the truth. Files that no artefact names are people's own and stay where they are; they
are only named. Repair puts every missing or wrong file right in the publisher's way, so a wrong
one ends in lost+found. Files of an artefact that tell how it comes again may tell it as any launch
since did that may have written them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from symfleet.corpus.durable import STAGING_PREFIX, make_folder, sync_filesystem
from symfleet.corpus.layout import (
    LOST_AND_FOUND,
    STAGING,
    ProjectedFile,
    project,
    sink_folder,
)
from symfleet.corpus.publish import (
    STEP_ARTEFACTS_MAX,
    STEP_BYTES_MAX,
    ArtefactReader,
    Folder,
    check_artefact,
)
from symfleet.corpus.reproductions import Reproductions
from symfleet.protocol.answers import Artefact
from symfleet.types import SinkKind

KINDS: Final = tuple(SinkKind)


@dataclass(frozen=True, slots=True)
class FileFinding:
    """One file that does not agree: `missing`, `wrong` (other bytes) or `unknown` (not ours)."""

    problem: str
    path: str
    detail: str = ""


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
    reproductions: Reproductions,
    published: dict[SinkKind, int],
    kinds: Iterable[SinkKind] = KINDS,
) -> Iterator[FileFinding]:
    """Yield what does not agree, among files that are published already.

    `published`: up to which artefact number each kind's files must be there. A live job may publish
    meanwhile: what it writes is in the ledger before.
    """
    for kind in kinds:
        folder, upto = sink_folder(out, kind), published.get(kind, 0)
        expected: set[Path] = set()
        linked: set[Path] = set()
        for artefact in all_artefacts(reader, kind, upto):
            for choices in _choices(artefact, reproductions):
                path = folder / choices[0].path
                if path.parent not in expected and path.parent.is_symlink():
                    linked.add(path.parent)
                expected |= {path, path.parent}
                problem = "wrong" if path.parent in linked else _problem(path, choices)
                if problem is not None:
                    yield FileFinding(problem, str(path.relative_to(out)))
        present = list(_files_below(folder))
        expected |= _unpublished(reader, kind, upto, folder, reproductions)
        for path in present:
            if path not in expected:
                yield FileFinding("unknown", str(path.relative_to(out)))


def _choices(
    artefact: Artefact, reproductions: Reproductions
) -> Iterator[tuple[ProjectedFile, ...]]:
    """Yield each file of an artefact, with the forms that it may have."""
    ways = [tuple(project(artefact, way)) for way in reproductions.of(artefact)]
    yield from zip(*ways, strict=True)


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield what lies in a sink's folder, in order, without what a publisher keeps there for
    itself. Links are not followed."""
    for place, folders, names in os.walk(folder):
        here = Path(place)
        if here == folder:
            folders[:] = [name for name in folders if name not in (STAGING, LOST_AND_FOUND)]
        folders.sort()
        names += [name for name in folders if (here / name).is_symlink()]
        for name in sorted(names):
            if not name.startswith(STAGING_PREFIX):
                yield here / name


def _unpublished(
    reader: ArtefactReader,
    kind: SinkKind,
    published: int,
    folder: Path,
    reproductions: Reproductions,
) -> set[Path]:
    """Return paths that a publisher may have written before its mark moved."""
    paths: set[Path] = set()
    after = published
    while artefacts := reader.artefacts(kind, after, STEP_ARTEFACTS_MAX, STEP_BYTES_MAX):
        for artefact in artefacts:
            paths |= {folder / one[0].path for one in _choices(artefact, reproductions)}
            after = artefact.number
    return paths


def _problem(path: Path, choices: tuple[ProjectedFile, ...]) -> str | None:
    try:
        if path.is_symlink() or not path.is_file():
            return "wrong" if path.is_symlink() or path.exists() else "missing"
        data = path.read_bytes()
    except OSError:
        return "wrong"
    return None if any(data == file.data for file in choices) else "wrong"


def rebuild(
    reader: ArtefactReader,
    out: Path,
    reproductions: Reproductions,
    published: dict[SinkKind, int],
    kinds: Iterable[SinkKind] = KINDS,
) -> int:
    """Put every published file right; return how many were written. The caller is the owner."""
    written = 0
    for kind in kinds:
        folder = Folder(out, sink_folder(out, kind))
        folder.prepare()
        for artefact in all_artefacts(reader, kind, published.get(kind, 0)):
            for choices in _choices(artefact, reproductions):
                path = folder.folder / choices[0].path
                if path.parent.is_symlink() or _problem(path, choices) is not None:
                    written += folder.put(choices[0])
        sync_filesystem(folder.folder)
    make_folder(out)
    sync_filesystem(out)
    return written
