"""The table of the reference: every program in every cell, the red ones with their reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from symfleet.testing.capabilities.building import Cell
from symfleet.testing.capabilities.judging import Finding, Verdict
from symfleet.testing.capabilities.programs import Program

_MARKS: Final = {
    Finding.SOLVED: "solved",
    Finding.UNSOLVED: "**unsolved**",
    Finding.DIFFERS: "**differs**",
    Finding.NO_BUILD: "**no build**",
    Finding.UNFIT: "**unfit**",
}
_INTRODUCTION: Final = (
    "# Capabilities",
    "",
    "Made by `python -m benchmarks.capabilities`; do not edit. Each program of",
    "`tests/capabilities/programs` hides one condition that its seed does not satisfy. *Solved*",
    "means that the program built by clang alone reaches the condition on an input that symfleet",
    "made; *differs*, that the instrumented program printed something else or ended otherwise on",
    "some input, which is worse than unsolved; *no build*, that `symfleet cc` refused it; *unfit*,",
    "that the case itself is wrong.",
    "",
)
_DIFFERENCES: Final = (Finding.DIFFERS,)
_OTHERS: Final = (Finding.UNSOLVED, Finding.NO_BUILD, Finding.UNFIT)


def page(verdicts: Sequence[Verdict], programs: Sequence[Program], facts: str) -> str:
    """Return the generated page; `facts`: when and with what it was measured."""
    cells = sorted({verdict.cell for verdict in verdicts}, key=lambda cell: (-cell.llvm, cell))
    told = {(verdict.program, verdict.cell): verdict for verdict in verdicts}
    lines = [*_INTRODUCTION, facts, "", *_totals(verdicts, cells)]
    lines += _red("Not the same program", verdicts, _DIFFERENCES)
    lines += _red("Not solved", verdicts, _OTHERS)
    lines += ["## Every program", ""]
    lines += ["| program | exercises | " + " | ".join(cell.name for cell in cells) + " |"]
    lines += ["|---" * (2 + len(cells)) + "|"]
    for program in programs:
        marks = " | ".join(_mark(told, program.name, cell) for cell in cells)
        lines.append(f"| `{program.name}` | {_text(program.exercises)} | {marks} |")
    return "\n".join(lines) + "\n"


def _totals(verdicts: Sequence[Verdict], cells: Sequence[Cell]) -> Iterator[str]:
    yield "| cell | programs | " + " | ".join(finding.value for finding in Finding) + " |"
    yield "|---" * (2 + len(Finding)) + "|"
    for cell in cells:
        found = Counter(verdict.finding for verdict in verdicts if verdict.cell == cell)
        counts = " | ".join(str(found[finding]) for finding in Finding)
        yield f"| {cell.name} | {found.total()} | {counts} |"
    yield ""


def _red(title: str, verdicts: Sequence[Verdict], findings: Sequence[Finding]) -> Iterator[str]:
    """Tell the reason for each, once for the cells that share it."""
    reasons: dict[tuple[str, str], list[Cell]] = {}
    for verdict in verdicts:
        if verdict.finding in findings:
            reason = f"{verdict.finding.value}: {verdict.reason}"
            reasons.setdefault((verdict.program, reason), []).append(verdict.cell)
    if not reasons:
        return
    yield from (f"## {title}", "", "| program | cells | finding |", "|---|---|---|")
    for (program, reason), cells in sorted(reasons.items()):
        names = "; ".join(cell.name for cell in sorted(cells))
        yield f"| `{program}` | {names} | {_text(reason)} |"
    yield ""


def _mark(told: Mapping[tuple[str, Cell], Verdict], program: str, cell: Cell) -> str:
    verdict = told.get((program, cell))
    return "" if verdict is None else _MARKS[verdict.finding]


def _text(words: str) -> str:
    """Return words that mean nothing to Markdown."""
    text = " ".join(words.split()).replace("\\", "\\\\")
    for character, instead in (("|", "\\|"), ("<", "&lt;"), ("*", "\\*"), ("_", "\\_")):
        text = text.replace(character, instead)
    return text
