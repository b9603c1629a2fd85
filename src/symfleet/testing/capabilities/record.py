"""The dated file of results: verdicts of one engine, which may come from several runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from symfleet.testing.capabilities.judging import Verdict

PATTERN: Final = "capabilities-*.json"


class Record(msgspec.Struct, frozen=True):
    """What a file of results holds."""

    date: str
    engine: str
    """Digest of the native parts: verdicts of two engines are not mixed."""
    verdicts: list[Verdict]


def engine_digest(native: Path) -> str:
    """Return what tells this build of the engine from others."""
    digest = hashlib.sha256()
    parts = [*(native / "bin").glob("symfleet-exec"), *(native / "lib").glob("*symfleet-*")]
    for part in sorted(parts):
        digest.update(part.name.encode() + b"\0" + part.read_bytes())
    return digest.hexdigest()[:16]


def read_record(path: Path) -> Record:
    """Read a file of results; raises msgspec.DecodeError."""
    return msgspec.json.decode(path.read_bytes(), type=Record)


def newest_record(folder: Path) -> Record | None:
    """Return the last one of a folder."""
    found = sorted(folder.glob(PATTERN))
    return read_record(found[-1]) if found else None


def joined(before: Record | None, engine: str, date: str, new: Iterable[Verdict]) -> Record:
    """Return a record with new verdicts in place of older ones of the same engine."""
    kept = before.verdicts if before is not None and before.engine == engine else []
    by_case = {(verdict.program, verdict.cell): verdict for verdict in (*kept, *new)}
    return Record(date, engine, [by_case[case] for case in sorted(by_case)])


def write_record(path: Path, record: Record) -> None:
    """Write a file of results, one verdict a line, so that changes can be read."""
    lines: Sequence[bytes] = [msgspec.json.encode(verdict) for verdict in record.verdicts]
    head = msgspec.json.encode({"date": record.date, "engine": record.engine})[:-1]
    body = b",\n".join(lines)
    path.write_bytes(head + b',"verdicts":[\n' + body + b"\n]}\n")
