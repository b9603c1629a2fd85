"""What was found, as a dated file that grows, and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

PATTERN: Final = "identity-*.json"


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One library at one level: what was compared, and what differed."""

    library: str
    sources: str
    """Name and version of the upstream tarball."""
    build_system: str
    level: str
    clang_build_s: float
    """Wall time, whatever else the machine did."""
    symfleet_build_s: float
    tests: list[str]
    tests_exit_codes: list[int | None]
    """Those of clang's build; None: it took too long."""
    lines_of_tests: int
    """That the tests of clang's build printed."""
    runs: int
    """Runs of programs on generated inputs, in each build."""
    differences: list[str]
    objects: int = 0
    """Object files of symfleet's build."""
    instrumented: int = 0
    """Of these, those that symfleet has made."""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file of results holds."""

    date: str
    engine: str
    """Digest of the native parts: rows of two builds are not mixed."""
    llvm: int
    cores: int
    rows: list[Row]

    def is_equal(self, library: str, level: str) -> bool:
        """Whether a library was compared at a level, and nothing differed."""
        equal = (row for row in self.rows if not row.differences)
        return any((row.library, row.level) == (library, level) for row in equal)

    @property
    def differing(self) -> list[Row]:
        return [row for row in self.rows if row.differences]


def newest(folder: Path, engine: str, llvm: int) -> Record | None:
    """Return the last record of a build of symfleet with a clang, if there is one."""
    records = (_read(path) for path in sorted(folder.glob(PATTERN), reverse=True))
    return next((one for one in records if (one.engine, one.llvm) == (engine, llvm)), None)


def _read(path: Path) -> Record:
    return msgspec.json.decode(path.read_bytes(), type=Record)


def joined(before: Record, date: str, new: Iterable[Row]) -> Record:
    """Return a record with new rows in place of older ones of the same library and level."""
    rows = {(row.library, row.level): row for row in (*before.rows, *new)}
    return msgspec.structs.replace(before, date=date, rows=[rows[key] for key in sorted(rows)])


def write(path: Path, record: Record) -> None:
    """Write a file of results, whole or not at all."""
    part = path.with_suffix(".part")
    part.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
    part.replace(path)


def table(rows: Sequence[Row]) -> str:
    """Lay the rows out for people."""
    head = f"{'library':12}{'built by':22}{'level':>6}{'clang':>9}{'symfleet':>10}"
    lines = [f"{head}{'lines':>7}{'runs':>6}  tests"]
    for row in rows:
        codes = ",".join("late" if code is None else str(code) for code in row.tests_exit_codes)
        lines.append(
            f"{row.library:12}{row.build_system:22}{row.level:>6}{row.clang_build_s:>7.1f} s"
            f"{row.symfleet_build_s:>8.1f} s{row.lines_of_tests:>7}{row.runs:>6}  {codes}: "
            f"{row.differences[0] if row.differences else 'equal'}"
        )
    return "\n".join(lines)
