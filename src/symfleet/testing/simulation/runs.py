"""Many simulated campaigns: run in this process or in several, and summed up.

A seed is simulated in its own shape with its own plan (`simulated_shapes.py`, `fault_plan.py`). A
run that breaks a rule is a finding of the summary, with the command that replays it; it ends
neither the others nor the summary.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from symfleet.testing.simulation.campaign import Outcome, simulate
from symfleet.testing.simulation.shapes import shape_of

CHUNK: Final = 50
FINDINGS_MAX: Final = 20
"""A run of many seeds ends early when it has found so much."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A seed whose campaign broke a rule."""

    seed: int
    what: str

    @property
    def command(self) -> str:
        """Return what tells the story of it."""
        return f"python -m symfleet.testing.simulate --seed {self.seed} --replay"


@dataclass(slots=True)
class Summary:
    """What a number of campaigns showed. `cpu_s`: of all processes."""

    campaigns: int = 0
    epochs: int = 0
    decisions: int = 0
    executions: int = 0
    steps: int = 0
    virtual_s: float = 0.0
    calm_s_max: float = 0.0
    """The longest time from the last fault to the end."""
    cpu_s: float = 0.0
    shapes: Counter[str] = field(default_factory=Counter)
    injected: Counter[str] = field(default_factory=Counter)
    exit_codes: Counter[int] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    @property
    def faults(self) -> int:
        """How many faults happened."""
        return self.injected.total()

    def add(self, seed: int, outcome: Outcome) -> None:
        """Count a campaign that kept all rules."""
        self.campaigns += 1
        self.epochs += outcome.epochs
        self.decisions += outcome.decisions
        self.executions += outcome.executions
        self.steps += outcome.steps
        self.virtual_s += outcome.virtual_s
        self.calm_s_max = max(self.calm_s_max, outcome.calm_s)
        self.shapes[shape_of(seed).name] += 1
        self.injected.update(dict(outcome.injected))
        self.exit_codes[outcome.exit_code] += 1

    def merge(self, other: Summary) -> None:
        """Add what others have run."""
        for name in ("campaigns", "epochs", "decisions", "executions", "steps"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.virtual_s += other.virtual_s
        self.calm_s_max = max(self.calm_s_max, other.calm_s_max)
        self.cpu_s += other.cpu_s
        self.shapes.update(other.shapes)
        self.injected.update(other.injected)
        self.exit_codes.update(other.exit_codes)
        self.findings += other.findings

    def as_json(self) -> dict[str, Any]:
        """Return it for a file of results."""
        return {
            "campaigns": self.campaigns,
            "epochs": self.epochs,
            "decisions": self.decisions,
            "executions": self.executions,
            "events": self.steps,
            "virtual_s": round(self.virtual_s, 1),
            "calm_s_max": round(self.calm_s_max, 1),
            "cpu_s": round(self.cpu_s, 1),
            "faults": self.faults,
            "by_fault": dict(sorted(self.injected.items())),
            "by_shape": dict(sorted(self.shapes.items())),
            "exit_codes": {str(code): n for code, n in sorted(self.exit_codes.items())},
            "violations": [
                {"seed": one.seed, "what": one.what, "replay": one.command} for one in self.findings
            ],
        }


def run_seeds(seeds: range) -> Summary:
    """Simulate some seeds in this process."""
    summary, began = Summary(), time.process_time()
    collecting = gc.isenabled()
    gc.freeze()
    gc.disable()  # a campaign leaves cycles behind; looking for them within it costs a tenth
    try:
        for seed in seeds:
            try:
                summary.add(seed, simulate(seed, shape=shape_of(seed)))
            except AssertionError as broken:
                summary.campaigns += 1
                summary.findings.append(Finding(seed, f"{type(broken).__name__}: {broken}"))
            if seed % 10 == 0:
                gc.collect()
    finally:
        gc.unfreeze()
        if collecting:
            gc.enable()
    summary.cpu_s = time.process_time() - began
    return summary


def chunks_of(seeds: range, size: int) -> Iterator[range]:
    """Yield a range in pieces."""
    for first in range(seeds.start, seeds.stop, size):
        yield range(first, min(first + size, seeds.stop))


def _leave_interrupts() -> None:
    """Ctrl-C reaches all processes of a terminal; the first one says when to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run_many(
    seeds: range,
    jobs: int,
    told: Callable[[range, Summary], bool] = lambda *_: True,
    chunk: int = CHUNK,
) -> Summary:
    """Simulate many seeds in `jobs` processes, `chunk` seeds at a time. `told`: called with each
    piece that is done and its summary, in any order; returns whether to go on."""
    total, pieces = Summary(), chunks_of(seeds, chunk)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _leave_interrupts) as pool:
        running: dict[Future[Summary], range] = {}
        going = True
        while True:
            if going:
                for piece in islice(pieces, 2 * jobs - len(running)):
                    running[pool.submit(run_seeds, piece)] = piece
            if not running:
                return total
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for one in done:
                piece, summary = running.pop(one), one.result()
                total.merge(summary)
                going = told(piece, summary) and going
            total.findings.sort(key=lambda finding: finding.seed)
            going = going and len(total.findings) < FINDINGS_MAX
