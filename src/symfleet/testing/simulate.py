"""Simulated campaigns from the command line: `python -m symfleet.testing.simulate`.

    --seed N                  run one campaign and say how it ended
    --seed N --replay         tell its story, then run it again in another process and compare
    --seed N --shrink         make a failing campaign shorter, then tell its story
    --seeds A..B --jobs 2     run many (B is not among them) and sum up

`--shape` and `--plan` take JSON objects: what they name replaces what is drawn from the seed. The
exit code is 1 when a rule was broken.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, Final, TypeVar

import msgspec

from symfleet.config.environment import inherited_environment
from symfleet.testing.simulation.campaign import Simulation
from symfleet.testing.simulation.epoch import Shape
from symfleet.testing.simulation.fault_plan import FaultPlan
from symfleet.testing.simulation.runs import Summary, run_many
from symfleet.testing.simulation.shapes import shape_of
from symfleet.testing.simulation.shrinking import Case, shrink

_TOLD_S: Final = 5.0
T = TypeVar("T")


def _changed(kind: type[T], drawn: T, text: str) -> T:
    """Return what was drawn with the fields of a JSON object in the place of its own."""
    given = msgspec.json.decode(text, type=dict[str, Any])
    before = msgspec.to_builtins(drawn)
    unknown = sorted(given.keys() - before.keys())
    if unknown:
        raise argparse.ArgumentTypeError(f"{kind.__name__} has no {', '.join(unknown)}")
    return msgspec.convert({**before, **given}, kind)


def _range(text: str) -> range:
    first, dots, after = text.partition("..")
    if not dots or not first.isdigit() or not after.isdigit() or int(first) >= int(after):
        raise argparse.ArgumentTypeError(f"{text!r} is not A..B with A below B")
    return range(int(first), int(after))


def run_one(case: Case, *, tells: bool) -> tuple[str, str]:
    """Run a campaign; return how it ended ("" when all rules were kept) and its digest."""
    world = Simulation(case.seed, case.plan, case.shape, tell=print if tells else None)
    try:
        outcome = world.run()
    except AssertionError as broken:
        return f"{type(broken).__name__}: {broken}", world.history.digest
    if tells:
        print(f"{outcome}")
    return "", outcome.trace


def _elsewhere(case: Case) -> str:
    """Run a campaign in a process that hashes strings in another way; return its digest."""
    asked = _asked(case)
    done = subprocess.run(
        [sys.executable, "-m", "symfleet.testing.simulate", *asked, "--digest"],
        env={**inherited_environment(), "PYTHONHASHSEED": str(1 + case.seed % 1000)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return done.stdout.strip()


def _asked(case: Case) -> list[str]:
    """Return the options that name a case: what is not drawn from its seed is given."""
    words = ["--seed", str(case.seed)]
    for option, drawn, value in (
        ("--shape", shape_of(case.seed), case.shape),
        ("--plan", FaultPlan.from_seed(case.seed), case.plan),
    ):
        before, after = msgspec.to_builtins(drawn), msgspec.to_builtins(value)
        given = {name: after[name] for name in after if after[name] != before[name]}
        words += [option, msgspec.json.encode(given).decode()] if given else []
    return words


def replay(case: Case) -> int:
    """Tell the story of a campaign, and whether it is always the same one."""
    broken, digest = run_one(case, tells=True)
    print(f"\n{broken or 'all rules were kept'}")
    again = _elsewhere(case)
    print(f"history {digest}, in another process {again or 'nothing'}")
    if again != digest:
        print("the two runs are not the same: a simulation must depend on nothing but its seed")
        return 1
    return 1 if broken else 0


def _shrink(case: Case) -> int:
    found = shrink(case, told=lambda what: print(what, file=sys.stderr))
    if found is None:
        print("this campaign keeps all rules")
        return 0
    print(f"shrunk in {found.runs} runs: {found.what}")
    print(f"python -m symfleet.testing.simulate {shlex.join(_asked(found.case))} --replay")
    print()
    run_one(found.case, tells=True)
    print(f"\n{found.what}")
    return 1


def told(summary: Summary, wall_s: float) -> str:
    """Return a summary for people."""
    head = (
        f"{summary.campaigns} campaigns in {wall_s:.1f} s, {summary.campaigns / wall_s:.1f}/s "
        f"({summary.cpu_s / summary.campaigns * 1e3:.1f} ms of CPU time each)"
    )
    sums = (
        f"{summary.epochs} epochs, {summary.decisions} decisions, {summary.executions} executions, "
        f"{summary.steps} events, {summary.virtual_s:.0f} virtual seconds; at most "
        f"{summary.calm_s_max:.0f} s from the last fault to the end"
    )
    faults = ", ".join(f"{name} {n}" for name, n in summary.injected.most_common())
    lines = [
        head,
        sums,
        f"{summary.faults} faults: {faults}",
        *(f"  {n:6} of {name}" for name, n in sorted(summary.shapes.items())),
        *(f"BROKEN {one.what}\n  {one.command}" for one in summary.findings),
        f"{len(summary.findings)} campaigns broke a rule",
    ]
    return "\n".join(lines)


def run_range(seeds: range, jobs: int) -> int:
    """Run many campaigns, say how it goes, and sum up."""
    began = last = time.monotonic()
    total = Summary()

    def progress(_: range, summary: Summary) -> bool:
        nonlocal last
        total.merge(summary)
        for one in summary.findings:
            print(f"BROKEN {one.what}\n  {one.command}", file=sys.stderr)
        now = time.monotonic()
        if now >= last + _TOLD_S:
            last = now
            print(
                f"{total.campaigns} of {len(seeds)}, {len(total.findings)} broken", file=sys.stderr
            )
        return True

    summary = run_many(seeds, jobs, progress)
    print(told(summary, time.monotonic() - began))
    return 1 if summary.findings else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seed", type=int)
    which.add_argument("--seeds", type=_range, metavar="A..B")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--replay", action="store_true", help="tell the story, and run it twice")
    what.add_argument("--shrink", action="store_true", help="make a failing campaign shorter")
    what.add_argument("--digest", action="store_true", help="print the digest of the history only")
    parser.add_argument("--shape", default="{}", help="JSON, e.g. '{\"workers\": 1}'")
    parser.add_argument("--plan", default="{}", help='JSON, e.g. \'{"loss": 0.1, "budget": 5}\'')
    parser.add_argument("--jobs", type=int, default=1, help="processes for --seeds")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; return the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.seeds is not None:
        if options.replay or options.shrink or options.digest:
            parser.error("--replay, --shrink and --digest need --seed")
        return run_range(options.seeds, options.jobs)
    try:
        shape = _changed(Shape, shape_of(options.seed), options.shape)
        plan = _changed(FaultPlan, FaultPlan.from_seed(options.seed), options.plan)
    except (argparse.ArgumentTypeError, msgspec.MsgspecError) as error:
        parser.error(str(error))
    case = Case(options.seed, plan, shape)
    if options.replay:
        return replay(case)
    if options.shrink:
        return _shrink(case)
    broken, digest = run_one(case, tells=False)
    print(digest if options.digest else broken or f"all rules were kept, history {digest}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
