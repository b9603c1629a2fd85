"""What `symfleet cc` costs when nothing is symbolic, against clang -O2 of the same version.

Seven kernels (benchmarks/overhead/*.c) are compiled both ways and run in turn, so that a change in
the machine's speed meets both. The figure is the geometric mean of the ratios of medians.

    python benchmarks/overhead.py [--repetitions N] [--quick] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from symfleet.compiler.toolchain import find_toolchain

KERNELS = Path(__file__).resolve().parent / "overhead"
RATIO_TARGET = 4.0
RUN_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Figure:
    """One kernel: medians in seconds, spread as (max - min) / median."""

    kernel: str
    native_s: float
    native_spread: float
    symfleet_s: float
    symfleet_spread: float

    @property
    def ratio(self) -> float:
        return self.symfleet_s / self.native_s


def ask_version(clang: str) -> str:
    answer = subprocess.run([clang, "-dumpversion"], capture_output=True, text=True, check=True)
    return answer.stdout


def compile_both(source: Path, folder: Path, clang: str) -> tuple[Path, Path]:
    native, ours = folder / f"{source.stem}-native", folder / f"{source.stem}-symfleet"
    wrapper = (
        "import sys; from symfleet.compiler.main import main; sys.exit(main(sys.argv[1:], 'c'))"
    )
    common = ["-O2", "-w", str(source), "-o"]
    subprocess.run([clang, *common, str(native)], check=True)
    subprocess.run([sys.executable, "-c", wrapper, *common, str(ours)], check=True)
    return native, ours


def run_once(program: Path) -> tuple[float, bytes]:
    begun = time.perf_counter()
    done = subprocess.run([program], capture_output=True, check=True, timeout=RUN_TIMEOUT_S)
    return time.perf_counter() - begun, done.stdout


def measure(source: Path, folder: Path, clang: str, repetitions: int) -> Figure:
    """Time one kernel; raises SystemExit if the two programs do not print the same."""
    programs = compile_both(source, folder, clang)
    times: tuple[list[float], list[float]] = ([], [])
    printed: set[bytes] = set()
    for _ in range(repetitions):
        for program, seconds in zip(programs, times, strict=True):
            taken, output = run_once(program)
            seconds.append(taken)
            printed.add(output)
    if len(printed) != 1:
        raise SystemExit(f"{source.name}: the instrumented program printed something else")
    native, ours = (statistics.median(each) for each in times)
    spreads = [(max(each) - min(each)) / statistics.median(each) for each in times]
    return Figure(source.stem, native, spreads[0], ours, spreads[1])


def geometric_mean(figures: Sequence[Figure]) -> float:
    return math.exp(statistics.fmean(math.log(figure.ratio) for figure in figures))


def report(figures: Sequence[Figure], mean: float) -> str:
    lines = [
        f"{'kernel':10}{'clang -O2':>12}{'spread':>9}{'symfleet':>12}{'spread':>9}{'ratio':>8}"
    ]
    lines += [
        f"{f.kernel:10}{f.native_s:>10.3f} s{f.native_spread:>8.0%} {f.symfleet_s:>10.3f} s"
        f"{f.symfleet_spread:>8.0%} {f.ratio:>6.2f}x"
        for f in figures
    ]
    lines.append(f"geometric mean {mean:.2f}x (target: at most {RATIO_TARGET:g}x)")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="three repetitions")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    options = parser.parse_args()
    repetitions = 3 if options.quick else options.repetitions
    if not 1 <= repetitions <= 1000:
        parser.error("--repetitions must be between 1 and 1000")
    toolchain = find_toolchain(os.environ, ask_version)
    with tempfile.TemporaryDirectory() as folder:
        figures = [
            measure(source, Path(folder), toolchain.clang, repetitions)
            for source in sorted(KERNELS.glob("*.c"))
        ]
    mean = geometric_mean(figures)
    print(report(figures, mean))
    if options.json:
        content = {
            "clang": toolchain.major,
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "repetitions": repetitions,
            "kernels": [{**asdict(figure), "ratio": figure.ratio} for figure in figures],
            "geometric_mean": mean,
        }
        options.json.write_text(json.dumps(content, indent=2) + "\n")
    return 0 if mean <= RATIO_TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
