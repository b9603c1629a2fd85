"""OUT/poison: work that was set aside, for people to look at. A projection, like the sinks."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from symfleet import crash
from symfleet.corpus.durable import io_failure, make_folder, write_file
from symfleet.ledger.contract import WorkRow
from symfleet.types import InputId


class InputReader(Protocol):
    """The part of a ledger that this projection reads."""

    def input_bytes(self, input_id: InputId) -> bytes:
        """Return the bytes, hashed again."""
        ...


POISON: Final = "poison"
SHOWN_MAX: Final = 1000
"""Rows that are shown; the ledger has all."""


def poison_files(row: WorkRow, reader: InputReader) -> dict[str, bytes]:
    """Return the files of one row, relative to OUT/poison."""
    report = {
        "work_id": row.work_id,
        "input": row.input_id,
        "blames": row.blames,
        "losses": row.losses,
        "deliveries": row.deliveries,
        "detail": row.detail,
    }
    return {
        f"{row.work_id}/input": reader.input_bytes(row.input_id),
        # Last, and both durable: where the report is, the input is too, also after a power cut.
        f"{row.work_id}/report.json": (json.dumps(report, indent=1) + "\n").encode(),
    }


def project_poison(out: Path, rows: Sequence[WorkRow], reader: InputReader) -> None:
    """Make `poison/<work id>/{input,report.json}` for exactly these rows; others are removed."""
    folder = out / POISON
    make_folder(folder)
    wanted = {row.work_id: row for row in rows}
    try:
        for present in folder.iterdir():
            # Only what has the form of our own names is ours to remove.
            if len(present.name) == 64 and present.name not in wanted and present.is_dir():
                shutil.rmtree(present)
    except OSError as error:
        raise io_failure(error, "the poison folder cannot be renewed", str(folder)) from error
    for row in wanted.values():
        place = folder / row.work_id
        if (place / "report.json").exists():
            continue
        make_folder(place)
        for name, data in poison_files(row, reader).items():
            write_file(folder / name, data)
        crash.point("poison.written")
