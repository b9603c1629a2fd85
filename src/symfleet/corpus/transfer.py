"""Inputs in and out by hand: files into a campaign's inbox, the corpus into a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from symfleet import crash
from symfleet.corpus.admission import printable_path
from symfleet.corpus.durable import clear_staging, make_folder, sync_filesystem, write_file
from symfleet.corpus.inbox import drop_input
from symfleet.corpus.scan import Skip, judge, read_input, walk
from symfleet.types import InputId


class CorpusReader(Protocol):
    """The part of a ledger that an export reads."""

    def corpus(self) -> Iterator[InputId]:
        """Yield the corpus in admission order."""
        ...

    def input_bytes(self, input_id: InputId) -> bytes:
        """Return the bytes, hashed again."""
        ...


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of one file: `input_id` when it was handed over, else `skip` says why not."""

    path: str
    input_id: InputId | None
    skip: Skip | None


def add_files(out: Path, places: Iterable[Path], input_bytes_max: int) -> Iterator[Taken]:
    """Hand files (of folders: all below) to a campaign through its inbox, durably, one by one.

    A file that cannot be taken, or whose name is a digest that its bytes do not have, is refused
    with its reason and the rest goes on. So is a folder that is not entered, a campaign's first.
    """
    for place in places:
        for path, reason in walk(str(place)):
            if reason is not None:
                yield Taken(printable_path(path), None, reason)
                continue
            reading = read_input(path, input_bytes_max)
            skip = judge(Path(path).name, reading, input_bytes_max)
            taken = drop_input(out, reading.data) if skip is None else None
            yield Taken(printable_path(path), taken, skip)


def export_corpus(reader: CorpusReader, folder: Path) -> list[InputId]:
    """Write every input of the corpus to `folder`, named by digest; return the digests in order.

    Files that are there already with the right bytes stay; all is durable when this returns. One
    export at a time may write to a folder: what an earlier one left unfinished is removed.
    """
    make_folder(folder)
    clear_staging(folder)
    exported: list[InputId] = []
    for input_id in reader.corpus():
        data = reader.input_bytes(input_id)
        path = folder / input_id
        if not path.is_file() or path.read_bytes() != data:
            write_file(path, data, durable=False)
            crash.point("export.written")
        exported.append(input_id)
    sync_filesystem(folder)
    crash.point("export.synced")
    return exported
