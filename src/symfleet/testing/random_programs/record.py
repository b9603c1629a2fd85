"""The dated file of results: sums over all programs from seed 0 on, and what was not well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from symfleet.testing.random_programs.decisions import Finding
from symfleet.testing.random_programs.trial import GUESSES, Verdict

PATTERN: Final = "random-programs-*.json"
SLOWEST: Final = 5
FAILED_MAX: Final = 50
"""Failed trials that are kept in full; all are counted."""

Tally = dict[str, int]


class Level(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sums of one level of optimisation."""

    programs: int = 0
    runs: int = 0
    differing: int = 0
    """Programs that differ from clang's."""
    findings: dict[str, Tally] = {}
    """By how the engine found a child: predictions confirmed, missed, unobserved, of no branch."""

    def with_verdict(self, one: Verdict) -> Level:
        findings = {
            how: dict(Counter(self.findings.get(how, {})) + Counter(one.findings.get(how, {})))
            for how in sorted({*self.findings, *one.findings})
        }
        differing = self.differing + bool(one.differences)
        return Level(self.programs + 1, self.runs + one.runs, differing, findings)


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file of results holds."""

    date: str
    engine: str
    """Digest of the native parts: results of two builds are not mixed."""
    llvm: int
    seeds: int
    """Programs 0 to this, without it, are done at every level."""
    levels: dict[str, Level]
    accuracy: float | None
    """Confirmed predictions by all that were observed, guesses left out."""
    failed: list[Verdict]
    slowest: list[Verdict]

    def with_verdicts(self, verdicts: Sequence[Verdict], date: str) -> Record:
        """Return the record with all levels of the next program."""
        levels = dict(self.levels)
        for one in verdicts:
            levels[one.level] = levels[one.level].with_verdict(one)
        failed = [one for one in verdicts if one.differences or one.missed]
        bare = [Verdict(one.seed, one.level, one.seconds, one.runs) for one in verdicts]
        slowest = sorted([*self.slowest, *bare], key=lambda one: -one.seconds)[:SLOWEST]
        return Record(
            date=date,
            engine=self.engine,
            llvm=self.llvm,
            seeds=self.seeds + 1,
            levels=levels,
            accuracy=accuracy(levels),
            failed=[*self.failed, *failed][:FAILED_MAX],
            slowest=slowest,
        )


def sums(levels: dict[str, Level]) -> Tally:
    """Return what was found of all predictions that are no guesses."""
    total: Counter[str] = Counter()
    for level in levels.values():
        for how, tally in level.findings.items():
            total.update(tally if how not in GUESSES else {})
    return dict(total)


def accuracy(levels: dict[str, Level]) -> float | None:
    """Return the share of observed predictions that held; None when there was none."""
    total = sums(levels)
    held, missed = (total.get(one.value, 0) for one in (Finding.CONFIRMED, Finding.MISSED))
    return round(held / (held + missed), 6) if held + missed else None


def newest(folder: Path, engine: str, llvm: int, levels: Sequence[str]) -> Record | None:
    """Return the last record of a build of symfleet with a clang and levels, if there is one."""
    records = (
        msgspec.json.decode(path.read_bytes(), type=Record)
        for path in sorted(folder.glob(PATTERN), reverse=True)
    )
    wanted = (engine, llvm, set(levels))
    fitting = (one for one in records if (one.engine, one.llvm, set(one.levels)) == wanted)
    return next(fitting, None)


def write(path: Path, record: Record) -> None:
    """Write a file of results, whole or not at all."""
    part = path.with_suffix(".part")
    part.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
    part.replace(path)
