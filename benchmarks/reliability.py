"""The figures of docs/explanation/reliability.md, from the newest result of each programme.

    python -m benchmarks.reliability [--run NAME ... | --run all] [--check]

Without `--run` it reads benchmarks/results and writes the page's table anew. With it the named
programmes run first, one after the other, in their full form: some take hours. `--check` writes
nothing; the exit code is then 1 when the page does not show the newest results.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
RESULTS: Final = ROOT / "benchmarks" / "results"
PAGE: Final = ROOT / "docs" / "explanation" / "reliability.md"
_BEGIN: Final = "<!-- figures: written by python -m benchmarks.reliability -->"
_END: Final = "<!-- end of figures -->"

_FOUND: Final = ("violations", "problems", "wrong")
"""Where results name what is not as promised: one by one, or as their number."""

Result = dict[str, Any]


@dataclass(frozen=True)
class Programme:
    """One way to look for what could be lost. `extent` tells how much a result has looked at."""

    name: str
    """Of its results: NAME-YYYY-MM-DD.json."""
    title: str
    command: str
    extent: Callable[[Result], str]

    adds_up: bool = False
    """Whether what it looked at is what all its results did together."""

    def newest(self) -> Result | None:
        """Return the newest result, None when it never ran."""
        found = sorted(RESULTS.glob(f"{self.name}-[0-9][0-9][0-9][0-9]-*.json"))
        results: list[Result] = [json.loads(path.read_text()) for path in found]
        if not self.adds_up:
            return results[-1] if results else None
        together: Result = {}
        for result in results:
            for key, value in result.items():
                together[key] = together[key] + value if key in together else value
        return together or None


def _runs_and_kills(result: Result) -> str:
    return f"{result['runs']} campaigns, {result['kills']} kills"


def _simulated(result: Result) -> str:
    mended = len(result.get("mended", []))
    words = f"; {mended} found and mended" if mended else ""
    runs = f" in {len(result['runs'])} runs"
    return f"{result['campaigns']:,} campaigns{runs}, {result['faults']:,} faults{words}"


def _deaths(result: Result) -> str:
    halves = [result["processes"], *result["processes_on_a_server"]]
    died = sum(half["deaths"] + half["deaths_in_recovery"] for half in halves if half)
    met = result["jobs"]["met"]
    return f"{result['labels']} points; {died:,} deaths in one process, {met} of real jobs"


def _soaked(result: Result) -> str:
    hours = result["wall_s"] / 3600
    harm = result["harm"]
    lost = f"{harm['lost']} lost, {harm['counted_twice']} counted twice"
    return f"{hours:.1f} h, {result['faults']:,} faults, {result['decided']:,} items: {lost}"


def _figure(result: Result, name: str) -> str:
    one = result["figures"][name]
    return f"{one['median']:.3g} {one['unit']}"


def _million(result: Result) -> str:
    listed = _figure(result, "open work listed")
    over_s = result["restart_over_bare_s"]
    return f"open work listed in {listed}; root killed to next execution {over_s:+.2f} s to mpirun"


def _kill_cost(result: Result) -> str:
    if not result["figures"]:
        return f"{result['pairs']} pairs of campaigns on cJSON, none complete"
    edges = result["figures"]["edges, disturbed / undisturbed"]["median"]
    lost, recovery = (_figure(result, name) for name in ("execution time lost", "recovery"))
    kills = sum(result["killed"].values())
    return (
        f"{result['pairs']} pairs of campaigns on cJSON, {kills} kills: {100 * edges:.1f} % of the"
        f" edges at equal CPU, {lost} of execution time lost, next decision after {recovery}"
    )


PROGRAMMES: Final = (
    Programme(
        "simulation",
        "simulated campaigns",
        "python -m benchmarks.simulation --seeds 200000",
        _simulated,
        adds_up=True,
    ),
    Programme(
        "mutants",
        "planted faults",
        "python -m benchmarks.mutants",
        lambda r: f"{r['mutants']} mutants, {r['mutants'] - len(r['violations'])} seen",
    ),
    Programme(
        "kill-matrix",
        "kill matrix",
        "python -m benchmarks.kill_matrix",
        _deaths,
    ),
    Programme("kill-loop", "kill loop", "python -m benchmarks.kill_loop", _runs_and_kills),
    Programme("kill-cost", "what kills cost", "python -m benchmarks.kill_cost", _kill_cost),
    Programme(
        "faults",
        "many coordinators, many hosts",
        "python -m benchmarks.faults --runs 64",
        lambda r: f"{r['runs']} campaigns, a fault each",
    ),
    Programme(
        "power-cut",
        "power cuts",
        "python -m benchmarks.power_cut",
        lambda r: f"{r['distinct']:,} different states of the disk, {r['opened']:,} opened",
    ),
    Programme(
        "io-faults",
        "failing system calls",
        "python -m benchmarks.io_faults",
        lambda r: f"{r['cases']:,} calls failed, one at a time",
    ),
    Programme(
        "linearizability",
        "histories",
        "python -m benchmarks.linearizability",
        lambda r: f"{r['operations']:,} operations on two stores",
    ),
    Programme(
        "postgres-strikes",
        "PostgreSQL struck",
        "python -m benchmarks.postgres_strikes",
        lambda r: f"{sum(r['strikes'].values()):,} strikes",
    ),
    Programme(
        "frames",
        "spoilt frames",
        "python -m benchmarks.frames",
        lambda r: f"{r['frames']:,} frames",
    ),
    Programme("soak", "soak", "python -m benchmarks.soak --minutes 30 --every 2", _soaked),
    Programme(
        "soak-dense",
        "soak, two faults a second",
        "python -m benchmarks.soak --minutes 90 --every 0.5 --cheap 8 --pause 0.02 --nodes 3000",
        _soaked,
    ),
    Programme("million", "a million records", "python -m benchmarks.million", _million),
    Programme(
        "noticed",
        "a worker's death",
        "python -m benchmarks.noticed",
        lambda r: (
            f"{r['deaths']} deaths, noticed in {r['noticed']['p50_ms']:.3g} ms (p50),"
            f" {r['noticed']['p99_ms']:.3g} ms (p99)"
        ),
    ),
)


def wrong_in(result: Result) -> int:
    """Return how many promises were broken."""
    found: Any = next(result[name] for name in _FOUND if name in result)
    return found if isinstance(found, int) else len(found)


def row(programme: Programme) -> str:
    """Return a line of the table."""
    result = programme.newest()
    if result is None:
        return f"| {programme.title} | `{programme.command}` | not run yet | | |"
    date = (result.get("date") or result["runs"][-1]["date"])[:10]
    told = (programme.title, f"`{command_of(programme, result)}`", date, programme.extent(result))
    return f"| {' | '.join(told)} | {wrong_in(result)} |"


def command_of(programme: Programme, result: Result) -> str:
    """Return what made a result: the command in full, but for where its file went."""
    words = shlex.split(result.get("command", programme.command))
    if "--json" in words:
        place = words.index("--json")
        del words[place : place + 2]
    return programme.command if len(words) <= 3 else shlex.join(words)


def table() -> str:
    """Return the table."""
    head = "| programme | command | newest run | what it looked at | broken promises |"
    return "\n".join([head, "|---|---|---|---|---|", *map(row, PROGRAMMES)])


def page(text: str) -> str:
    """Return the page with the table in its place."""
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n\n{table()}\n\n{_END}{after}"


def run(names: Sequence[str]) -> int:
    """Run programmes one after the other; return the worst exit code."""
    worst = 0
    for programme in PROGRAMMES:
        if programme.name in names or "all" in names:
            words = shlex.split(programme.command)
            print(f"{programme.title}: {programme.command}", file=sys.stderr, flush=True)
            ended = subprocess.run([sys.executable, *words[1:]], cwd=ROOT, check=False)
            worst = max(worst, abs(ended.returncode))
    return worst


def main() -> int:
    """Run what is asked for, write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [programme.name for programme in PROGRAMMES]
    parser.add_argument("--run", nargs="+", choices=["all", *names], default=[])
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args()
    code = run(options.run)
    shown = PAGE.read_text(encoding="utf-8")
    fresh = page(shown)
    if options.check:
        return max(code, int(fresh != shown))
    PAGE.write_text(fresh, encoding="utf-8")
    print(table())
    return code


if __name__ == "__main__":
    raise SystemExit(main())
