"""Build a library with two compilers, run everything of both side by side, and say what differs."""

from __future__ import annotations

import random
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.identity.libraries import Library
from benchmarks.identity.report import Row

SEEDS: Final = Path(__file__).resolve().parents[1]
COMMAND_S: Final = 3600
PROGRAM_S: Final = 120
INPUT_BYTES_MAX: Final = 4000
DIFFERENCES_MAX: Final = 5
"""Of one library at one level: those that are told; more say no more."""
SHOWN_CHARACTERS: Final = 600
_OURS: Final = b"__sf_init_module"
"""In every object that was compiled from C or C++ by symfleet."""


class BuildFailed(Exception):
    """A build step failed; the message has the end of what it said."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended; `code` is None when it took too long."""

    code: int | None
    output: bytes


@dataclass(frozen=True, slots=True)
class Built:
    """A library built in a folder, and how to call commands there."""

    folder: Path
    fields: dict[str, str]
    seconds: float = 0.0

    def run(self, command: str, stdin: bytes = b"", timeout_s: float = COMMAND_S) -> Ran:
        words = [word.format(**self.fields) for word in shlex.split(command)]
        try:
            done = subprocess.run(
                words,
                cwd=self.folder,
                input=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            return Ran(None, late.output or b"")
        return Ran(done.returncode, done.stdout)


def build(library: Library, upstream: Path, compilers: Path, level: str, folder: Path) -> Built:
    """Build a library with the compilers cc and c++ of a folder. Raises BuildFailed."""
    shutil.rmtree(folder, ignore_errors=True)
    source = folder.with_name("source")
    if library.in_source:
        shutil.copytree(upstream / library.top, folder, symlinks=True)
    else:  # tests write beside their cases, so the upstream folder is not lent
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(upstream, source, symlinks=True)
        folder.mkdir(parents=True)
    fields = {
        "source": str(source / library.top),
        "build": str(folder),
        "cc": str(compilers / "cc"),
        "cxx": str(compilers / "c++"),
        "level": level,
        "jobs": "2",
        "input": str(folder.parents[1] / "input"),  # one path for both: programs print it
    }
    begun = time.monotonic()
    built = Built(folder, fields)
    for step in library.steps:
        ran = built.run(step)
        if ran.code != 0:
            said = ran.output.decode(errors="replace")[-1500:]
            raise BuildFailed(f"{library.name} {level} in {folder}: {step}\n{said}")
    return Built(folder, fields, round(time.monotonic() - begun, 1))


def instrumented(built: Built) -> tuple[int, int]:
    """Return how many object files there are, and how many symfleet has made."""
    objects = [path.read_bytes() for path in built.folder.rglob("*.o") if path.is_file()]
    return len(objects), sum(_OURS in each for each in objects)


def normalised(built: Built, output: bytes) -> list[str]:
    """Return lines without what names the folder, the compiler or the time.

    Of a progress display, which is written as often as the machine finds time, only what a terminal
    would show in the end is kept. Lines of a build that a test command repeats are not the test's.
    """
    text = re.sub(r"[^\n]*\r(?!\n|$)", "", output.decode(errors="replace"))
    for name in ("source", "build", "cc", "cxx"):
        text = text.replace(built.fields[name], f"<{name}>")
    text = re.sub(r" *\d+\.\d+ *(s|sec|milli-seconds)\b", " <time>", text)  # may be right-aligned
    lines = (line.rstrip() for line in text.splitlines())
    return [
        line
        for line in lines
        if not re.match(r"(/\S*/)?(<cc>|libtool:|depbase=|\S*/libtool)", line)
    ]


def inputs(library: Library, upstream: Path, count: int) -> Iterator[bytes]:
    """Yield the samples and changed ones, the same for every build."""
    rng = random.Random(library.name)
    files = [each for pattern in library.samples for each in sorted(upstream.glob(pattern))]
    if library.seeds:
        files += sorted((SEEDS / library.seeds).iterdir())
    seeds = [path.read_bytes()[:INPUT_BYTES_MAX] for path in files] or [b"", b"aaaa"]
    yield from seeds
    for _ in range(count):
        data = bytearray(rng.choice(seeds) * rng.choice((1, 1, 2)))
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(data) + 1)
            piece = rng.choice((rng.randbytes(2), rng.choice(seeds)[:9], b"\n ", b"", b"\x80"))
            data[at : at + rng.randrange(3)] = piece
        yield bytes(data[:INPUT_BYTES_MAX])


def difference(command: str, plain: Sequence[str], ours: Sequence[str]) -> str:
    """Say where two outputs depart from each other; nothing if they do not."""
    if plain == ours:
        return ""
    pairs = zip(plain, ours, strict=False)
    what = next((pair for pair in pairs if pair[0] != pair[1]), None)
    lengths = (f"{len(plain)} lines", f"{len(ours)}")
    before, after = what or lengths
    return f"{command}: {before!r} became {after!r}"[:SHOWN_CHARACTERS]


@dataclass(frozen=True, slots=True)
class Found:
    """What a comparison has seen: how much there was, and each difference."""

    commands: list[str]
    lines: int
    exit_codes: list[int | None]
    differences: list[str]


def compare_tests(library: Library, plain: Built, ours: Built) -> Found:
    """Run the library's own tests in both builds."""
    codes: list[int | None] = []
    lines = 0
    differences: list[str] = []
    for command in library.tests:
        before, after = plain.run(command), ours.run(command)
        codes.append(before.code)
        told = normalised(plain, before.output)
        lines += len(told)
        if before.code != after.code:
            differences.append(f"{command}: exit {before.code} became {after.code}")
        differences.append(difference(command, told, normalised(ours, after.output)))
    return Found(list(library.tests), lines, codes, [one for one in differences if one])


def compare_programs(
    library: Library, upstream: Path, count: int, plain: Built, ours: Built
) -> tuple[int, list[str]]:
    """Run the programs of both builds on each input; return how often, and what differed."""
    runs = 0
    differences: list[str] = []
    for data in inputs(library, upstream, count) if library.programs else ():
        for command in library.programs:
            seen = []
            for built in (plain, ours):
                Path(built.fields["input"]).write_bytes(data)
                seen.append(built.run(command, data, PROGRAM_S))
            runs += 1
            if seen[0] != seen[1]:
                differences.append(f"{command} on {data[:200].hex()}: {seen}"[:SHOWN_CHARACTERS])
    return runs, differences


def compare(
    library: Library, upstream: Path, level: str, count: int, plain: Built, ours: Built
) -> Row:
    """Run everything of two builds side by side."""
    objects, made = instrumented(ours)
    by_whom = [] if made and not instrumented(plain)[1] else ["symfleet has not built it"]
    tests = compare_tests(library, plain, ours)
    runs, differences = compare_programs(library, upstream, count, plain, ours)
    return Row(
        library=library.name,
        sources=upstream.name,
        build_system=library.build_system,
        level=level,
        clang_build_s=plain.seconds,
        symfleet_build_s=ours.seconds,
        tests=tests.commands,
        tests_exit_codes=tests.exit_codes,
        lines_of_tests=tests.lines,
        runs=runs,
        objects=objects,
        instrumented=made,
        differences=[*by_whom, *tests.differences, *differences][:DIFFERENCES_MAX],
    )


def write_compilers(folder: Path, commands: dict[str, str]) -> Path:
    """Make cc and c++ of one name each: build systems want a path, not a command line."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, command in commands.items():
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        script.chmod(0o755)
    return folder
