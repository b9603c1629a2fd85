"""Random programs in full: `python -m benchmarks.random_programs [--programs 2000] [--jobs 1]
[--levels O0,O1,O2,O3] [--llvm 19]`.

Each program, from seed 0 on, is built by clang and by `symfleet cc` at each level. Both print the
same on the inputs of the seed and on all children that the engine makes of them; and each child
leaves its parent's path where the engine says, which the program without instrumentation confirms
(see symfleet.testing.random_programs). Predictions of guesses are counted apart.

The dated file in benchmarks/results grows program by program; a run of the same build of symfleet
goes on with the next seed. It names the slowest programs and those that were not well. The exit
code is 1 when a program differs, or fewer than 99 % of the observed predictions held.

One program again, with what it was built from: `--seed 17 --level O2 --keep FOLDER`. Nothing is
recorded then.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from symfleet.compiler.toolchain import CLANG_VARIABLE, find_toolchain, native_folder
from symfleet.testing.capabilities.record import engine_digest
from symfleet.testing.random_programs.record import Level, Record, newest, sums, write
from symfleet.testing.random_programs.trial import Trial, Verdict

RESULTS: Final = Path(__file__).resolve().parent / "results"
LEVELS: Final = "O0,O1,O2,O3"
ACCURACY_MIN: Final = 0.99
AHEAD: Final = 2


def judged(
    trial: Trial, seeds: Sequence[int], levels: Sequence[str], jobs: int
) -> Iterator[list[Verdict]]:
    """Try program after program, several at the same time; yield all levels of each in order."""

    def one(seed: int) -> list[Verdict]:
        verdicts = []
        for level in levels:
            with tempfile.TemporaryDirectory(dir=trial.folder) as folder:
                verdicts.append(trial.judge(seed, level, Path(folder)))
        return verdicts

    with ThreadPoolExecutor(jobs) as pool:
        # Few are begun ahead of the one that is awaited: a run that is cut off loses them.
        begun: deque[Future[list[Verdict]]] = deque()
        for seed in seeds:
            begun.append(pool.submit(one, seed))
            if len(begun) > AHEAD * jobs:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


def tell(verdict: Verdict) -> None:
    """Print what is not well with one program."""
    for what in (*verdict.differences, *(f"missed: {one}" for one in verdict.missed)):
        print(f"seed {verdict.seed} {verdict.level}: {what}", flush=True)


def summary(record: Record) -> str:
    """Return the sums for people."""
    lines = []
    for name, level in sorted(record.levels.items()):
        counts = ", ".join(f"{n} {what}" for what, n in sorted(sums({name: level}).items()))
        lines.append(
            f"{name}: {level.programs} programs, {level.runs} runs compared, "
            f"{level.differing} programs differ; predictions: {counts or 'none'}"
        )
    told = "none" if record.accuracy is None else f"{record.accuracy:.4%}"
    return "\n".join([*lines, f"observed predictions that held: {told}"])


def one_again(trial: Trial, options: argparse.Namespace) -> int:
    """Try one program and keep what it was made of."""
    options.keep.mkdir(parents=True, exist_ok=True)
    verdict = trial.judge(options.seed, options.level, options.keep.resolve())
    print(verdict)
    return int(bool(verdict.differences or verdict.missed))


def options_of(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.random_programs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--programs", type=int, default=2000, help="in all, those done included")
    parser.add_argument("--levels", default=LEVELS)
    parser.add_argument("--llvm", type=int, help="version of clang; the newest if not given")
    parser.add_argument("--jobs", type=int, default=1, help="programs at the same time")
    parser.add_argument("--seed", type=int, help="only this program")
    parser.add_argument("--level", default="O2", help="of --seed")
    parser.add_argument("--keep", type=Path, default=Path("build/random-program"), help="of --seed")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    """Try, write, return the exit code."""
    options = options_of(argv)
    clang = {CLANG_VARIABLE: f"clang-{options.llvm}"} if options.llvm else {}
    toolchain = find_toolchain({**os.environ, **clang}, lambda _: "")
    native = Path(native_folder(os.environ))
    levels = options.levels.split(",")
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    engine = engine_digest(native)
    with tempfile.TemporaryDirectory(prefix="symfleet-random-") as folder:
        trial = Trial(toolchain, native / "bin" / "symfleet-exec", Path(folder))
        trial.prepare()
        if options.seed is not None:
            return one_again(trial, options)
        whole = newest(RESULTS, engine, toolchain.major, levels) or Record(
            date, engine, toolchain.major, 0, {level: Level() for level in levels}, None, [], []
        )
        seeds = range(whole.seeds, options.programs)
        for verdicts in judged(trial, seeds, levels, options.jobs):
            for verdict in verdicts:
                tell(verdict)
            whole = whole.with_verdicts(verdicts, date)
            write(RESULTS / f"random-programs-{date}-{engine[:8]}.json", whole)
    print(summary(whole))
    differing = any(level.differing for level in whole.levels.values())
    return int(differing or (whole.accuracy or 0.0) < ACCURACY_MIN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
