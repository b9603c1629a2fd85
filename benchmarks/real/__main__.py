"""Build the real libraries, explore each for a while, write the numbers down.

python -m benchmarks.real [--seconds 60] [--slots 2] [--only cjson] [--compiler 'symfleet cc']
    [--cxx-compiler 'symfleet c++']
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.real import sources, targets
from symfleet.observe.report import Report, faults_in

RESULTS: Final = targets.HERE.parent / "results"
_GRACE_S: Final = 180
"""What a campaign may take beyond its time: start, workers' last executions, clean end."""


@dataclass(frozen=True, slots=True)
class Row:
    """One library's campaign."""

    library: str
    time_s: float
    executions: int
    target_runs: int
    target_runs_per_s: float
    edges: int
    children: int
    corpus: int
    seeds: int
    """Of the corpus: what came from outside."""
    crashes: int
    hangs: int
    flips: dict[str, int]
    solved: dict[str, int]
    empty_executions: dict[str, int]
    faults: dict[str, int]
    poisoned: int
    exit_code: int
    deep: int | None = None
    """Inputs of the corpus with which the harness says that it came through all its conditions;
    None: it has none."""

    @property
    def problems(self) -> list[str]:
        """What a healthy engine on a library with branches does not show."""
        found = [f"{self.library}: {name} {count}" for name, count in self.faults.items()]
        if self.poisoned:
            found.append(f"{self.library}: {self.poisoned} inputs were set aside as poison")
        if self.corpus <= self.seeds:
            found.append(f"{self.library}: the corpus did not grow beyond {self.seeds} seeds")
        if self.deep == 0:
            found.append(f"{self.library}: no input meets the conditions of the harness")
        if self.exit_code:
            found.append(f"{self.library}: explore ended with {self.exit_code}")
        return found


def explore(program: Path, seeds: Path, out: Path, seconds: float, slots: int) -> Row:
    """Run one campaign to its time limit; return what `symfleet status --json` says of it."""
    command = ["symfleet", "explore", "-i", str(seeds), "-o", str(out), "-j", str(slots)]
    command += ["--max-time", f"{seconds:g}", "--screen", "none", "--", str(program), "@@"]
    ended = subprocess.run(command, timeout=seconds + _GRACE_S, check=False)
    status = subprocess.run(
        ["symfleet", "status", "--json", str(out)], check=True, capture_output=True, timeout=60
    )
    report = msgspec.json.decode(status.stdout, type=Report)
    return _row(program.parent.name, report, ended.returncode)


def came_deep(program: Path, corpus: Path) -> int:
    """Count the inputs with which a harness, without the engine, says "deep"."""
    inputs = (path for path in sorted(corpus.rglob("*")) if path.is_file())
    said = (
        subprocess.run([str(program), path], capture_output=True, timeout=60, check=False).stdout
        for path in inputs
    )
    return sum(output == b"deep\n" for output in said)


def _row(library: str, report: Report, exit_code: int) -> Row:
    total = report.total
    return Row(
        library=library,
        time_s=round(report.time_total_s, 1),
        executions=total.executed,
        target_runs=total.target_runs,
        target_runs_per_s=round(total.target_runs / report.time_total_s, 1),
        edges=total.edges,
        children=total.unique_children,
        corpus=report.corpus,
        seeds=total.external_inputs,
        crashes=total.crashes,
        hangs=total.hangs,
        flips=total.flips,
        solved=total.solved,
        empty_executions=total.empty_executions,
        faults={**faults_in(total), **total.other_faults},
        poisoned=total.poisoned,
        exit_code=exit_code,
    )


def table(rows: list[Row]) -> Table:
    """Lay the rows out for people."""
    columns = "library time edges children corpus executions runs/s flips crashes hangs deep empty"
    shown = Table(*columns.split(), title="Real libraries")
    for row in rows:
        flips = " ".join(f"{name} {count}" for name, count in row.flips.items() if count)
        empty = " ".join(f"{name} {count}" for name, count in row.empty_executions.items())
        counts = (row.edges, row.children, row.corpus, row.executions, row.target_runs_per_s)
        shown.add_row(
            row.library,
            f"{row.time_s:g} s",
            *map(str, counts),
            flips,
            str(row.crashes),
            str(row.hangs),
            "" if row.deep is None else str(row.deep),
            empty or "none",
        )
    return shown


def main() -> int:
    options = _options()
    # `symfleet` is that of the Python which runs this, whether its folder is on PATH or not.
    own = Path(sys.executable).parent
    os.environ["PATH"] = os.pathsep.join([str(own), os.environ.get("PATH", os.defpath)])
    now = datetime.datetime.now(datetime.UTC)
    rows = []
    for library in targets.LIBRARIES:
        if options.only and library.name not in options.only:
            continue
        upstream = sources.fetch(library.package, targets.HERE / ".cache")
        folder = options.work.resolve() / upstream.name
        compiler = {"c": options.compiler, "cpp": options.cxx_compiler}[library.language]
        program = targets.build(library, upstream, shlex.split(compiler), folder)
        out = folder / f"out-{now:%Y%m%d-%H%M%S}"
        row = explore(program, library.seeds, out, options.seconds, options.slots)
        deep = came_deep(program, out / "corpus") if library.deep else None
        rows.append(replace(row, deep=deep))
    problems = [problem for row in rows for problem in row.problems]
    report = {
        "date": now.isoformat(timespec="seconds"),
        "machine": {"architecture": platform.machine(), "cores": os.cpu_count()},
        "seconds": options.seconds,
        "slots": options.slots,
        "compiler": options.compiler,
        "problems": problems,
        "libraries": [asdict(row) for row in rows],
    }
    options.results.mkdir(parents=True, exist_ok=True)
    path = options.results / f"real-{now:%Y-%m-%d-%H%M}.json"
    path.write_text(json.dumps(report, indent=1) + "\n")
    console = Console(width=max(140, shutil.get_terminal_size().columns))
    console.print(table(rows))
    console.print(f"written to {path}")
    for problem in problems:
        console.print(f"PROBLEM: {problem}")
    return exit_code(rows)


def exit_code(rows: Sequence[Row]) -> int:
    """Return the worst of what `explore` returned; 1 when something else is wrong."""
    worst = max((row.exit_code for row in rows), default=64)
    return worst or int(any(row.problems for row in rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="time of each campaign")
    parser.add_argument("--slots", type=int, default=2, help="inputs executed at the same time")
    parser.add_argument("--only", action="append", help="only this library; repeatable")
    parser.add_argument("--compiler", default="symfleet cc", help="C compiler with its options")
    parser.add_argument("--cxx-compiler", default="symfleet c++", help="the same for C++")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the numbers go")
    parser.add_argument(
        "--work", type=Path, default=Path("build/real"), help="where targets and campaigns go"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
