"""Real libraries with their own test suites: clang and `symfleet cc` must make the same programs.

Each library is configured and built by its own build system, unmodified, with either compiler at
each level; then its test suite runs, and its programs on files that a seeded generator makes. What
is printed and every exit code must be equal.

    python benchmarks/identity.py [--only NAME] [--level -O2] [--inputs N] [--json FILE]
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the sources of benchmarks.real

from benchmarks.real import sources
from benchmarks.real.targets import HERE as REAL
from symfleet.compiler.toolchain import find_toolchain

RESULTS: Final = Path(__file__).resolve().parent / "results"
LEVELS: Final = ("-O0", "-O2")
COMMAND_S: Final = 300
PROGRAM_S: Final = 20
INPUT_BYTES_MAX: Final = 4000


def _pinned(name: str, tarball: str, digest: str) -> sources.Package:
    return sources.Package(name, {tarball: digest})


_PINNED: Final = {package.name: package for package in sources.PACKAGES} | {
    "zlib": _pinned(
        "zlib",
        "zlib_1.2.13.dfsg.orig.tar.bz2",
        "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1",
    ),
    "jansson": _pinned(
        "jansson",
        "jansson_2.14.orig.tar.gz",
        "c739578bf6b764aa0752db9a2fdadcfe921c78f1228c7ec0bb47fa804c55d17b",
    ),
    "tinyxml2": _pinned(
        "tinyxml2",
        "tinyxml2_9.0.0+dfsg.orig.tar.xz",
        "96510f47a5db537f70dff3e83dd71fd2180cbba4aa76c589a549467e7f34bc9b",
    ),
}


@dataclass(frozen=True, slots=True)
class Library:
    """How one library is built; in commands {source}, {cc}, {cxx} and {level} are filled in.

    `tests` are compared by what they print; `programs` run on each generated input, which is
    {input} or standard input.
    """

    name: str
    steps: tuple[str, ...]
    tests: tuple[str, ...]
    programs: tuple[str, ...] = ()
    seeds: str = ""
    top: str = "."
    in_source: bool = False


def _cmake(options: str = "") -> tuple[str, ...]:
    compilers = "-DCMAKE_C_COMPILER={cc} -DCMAKE_CXX_COMPILER={cxx} -DCMAKE_BUILD_TYPE=None"
    compilers += " -DCMAKE_POLICY_VERSION_MINIMUM=3.5"  # for what was written for CMake 2
    flags = "-DCMAKE_C_FLAGS={level} -DCMAKE_CXX_FLAGS={level}"
    return (f"cmake -S {{source}} -B . {compilers} {flags} {options}", "cmake --build . -j2")


_CTEST: Final = "ctest -V"

LIBRARIES: Final = (
    Library("cjson", _cmake(), (_CTEST,)),
    Library(
        "libyaml",
        _cmake("-DBUILD_TESTING=ON"),
        (_CTEST,),
        tuple(f"./run-{what} {{input}}" for what in ("scanner", "parser", "loader", "dumper")),
        "libyaml",
    ),
    Library(
        "expat",
        _cmake("-DEXPAT_BUILD_DOCS=OFF"),
        (_CTEST,),
        ("xmlwf/xmlwf -c {input}", "examples/elements", "examples/outline"),
        "expat",
        top="expat",
    ),
    Library(
        "zlib",
        ("env CC={cc} CFLAGS={level} ./configure", "make -j2"),
        ("make check",),
        ("./minigzip", "./minigzip -d"),
        in_source=True,
    ),
    Library(
        "jansson",
        _cmake("-DJANSSON_BUILD_DOCS=OFF"),
        (_CTEST,),
    ),
    Library(
        "tinyxml2", ("make -j2 CXX={cxx} CXXFLAGS={level} xmltest",), ("./xmltest",), in_source=True
    ),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One library at one level: what was compared, and the first difference."""

    library: str
    level: str
    clang_build_s: float
    symfleet_build_s: float
    tests_exit_code: int
    lines_of_tests: int
    runs: int
    difference: str


class BuildFailed(Exception):
    """A build step failed; the message has the end of what it said."""


@dataclass(frozen=True, slots=True)
class Built:
    """A library built in a folder, and how to call commands there."""

    library: Library
    folder: Path
    fields: dict[str, str]
    seconds: float

    def run(
        self, command: str, stdin: bytes = b"", timeout_s: float = COMMAND_S
    ) -> tuple[int, bytes]:
        words = [word.format(**self.fields) for word in shlex.split(command)]
        done = subprocess.run(
            words,
            cwd=self.folder,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            check=False,
        )
        return done.returncode, done.stdout


def build(library: Library, upstream: Path, compilers: Path, level: str, folder: Path) -> Built:
    """Build a library with the compilers cc and c++ of a folder. Raises BuildFailed."""
    shutil.rmtree(folder, ignore_errors=True)
    source = upstream / library.top
    if library.in_source:
        shutil.copytree(source, folder, symlinks=True)
    else:
        folder.mkdir(parents=True)
    fields = {
        "source": str(source),
        "build": str(folder),
        "cc": str(compilers / "cc"),
        "cxx": str(compilers / "c++"),
        "level": level,
        "input": str(folder.parents[1] / "input"),  # one path for both: programs print it
    }
    begun = time.monotonic()
    built = Built(library, folder, fields, 0.0)
    for step in library.steps:
        code, output = built.run(step)
        if code != 0:
            said = output.decode(errors="replace")[-1500:]
            raise BuildFailed(f"{library.name} {level} in {folder}: {step}\n{said}")
    return Built(library, folder, fields, round(time.monotonic() - begun, 1))


def normalised(built: Built, output: bytes) -> list[str]:
    """Return lines without what names the folder, the compiler or the time.

    Lines of a build that a test command repeats are not the test's.
    """
    text = output.decode(errors="replace")
    for name in ("build", "cc", "cxx"):
        text = text.replace(built.fields[name], f"<{name}>")
    text = re.sub(r"\d+\.\d+ *(s|sec|milli-seconds)\b", "<time>", text)
    lines = (line.rstrip() for line in text.splitlines())
    return [
        line
        for line in lines
        if not re.match(r"(/\S*/)?(<cc>|libtool:|depbase=|\S*/libtool)", line)
    ]


def inputs(library: Library, count: int) -> Iterator[bytes]:
    """Yield the seeds and changed ones, the same for every build."""
    rng = random.Random(library.name)
    folder = REAL / "seeds" / library.seeds if library.seeds else None
    seeds = [path.read_bytes() for path in sorted(folder.iterdir())] if folder else [b"", b"aaaa"]
    yield from seeds
    for _ in range(count):
        data = bytearray(rng.choice(seeds) * rng.choice((1, 1, 2)))
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(data) + 1)
            piece = rng.choice((rng.randbytes(2), rng.choice(seeds)[:9], b"\n ", b"", b"\x80"))
            data[at : at + rng.randrange(3)] = piece
        yield bytes(data[:INPUT_BYTES_MAX])


def compare(library: Library, level: str, ours: Built, plain: Built, count: int) -> Row:
    """Run everything of two builds side by side."""
    code, lines, runs, difference = 0, 0, 0, ""
    for command in library.tests:
        results = [(built, *built.run(command)) for built in (plain, ours)]
        code = results[0][1]
        texts = [normalised(built, output) for built, _code, output in results]
        lines += len(texts[0])
        if results[0][1] != results[1][1]:
            difference = difference or f"{command}: exit {results[0][1]} and {results[1][1]}"
        elif texts[0] != texts[1]:
            pairs = zip(texts[0], texts[1], strict=False)
            first = next((pair for pair in pairs if pair[0] != pair[1]), ("length", "length"))
            difference = difference or f"{command}: {first[0]!r} became {first[1]!r}"
    for data in inputs(library, count):
        for command in library.programs:
            seen = []
            for built in (plain, ours):
                Path(built.fields["input"]).write_bytes(data)
                seen.append(built.run(command, data, PROGRAM_S))
            runs += 1
            if seen[0] != seen[1]:
                difference = difference or f"{command} on {data[:200].hex()}: {seen}"[:600]
    return Row(library.name, level, plain.seconds, ours.seconds, code, lines, runs, difference)


def write_compilers(folder: Path, commands: dict[str, str]) -> Path:
    """Make cc and c++ of one name each: build systems want a path, not a command line."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, command in commands.items():
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        script.chmod(0o755)
    return folder


def table(rows: list[Row]) -> str:
    lines = [
        f"{'library':10}{'level':>6}{'clang':>8}{'symfleet':>10}{'tests':>7}{'lines':>7}{'runs':>6}"
    ]
    lines += [
        f"{r.library:10}{r.level:>6}{r.clang_build_s:>6.1f} s{r.symfleet_build_s:>8.1f} s"
        f"{r.tests_exit_code:>7}{r.lines_of_tests:>7}{r.runs:>6}  {r.difference or 'equal'}"
        for r in rows
    ]
    return "\n".join(lines)


def measure(options: argparse.Namespace) -> Iterator[Row]:
    """Build and compare library after library. Raises BuildFailed and SourceError."""
    work = options.work.resolve()
    toolchain = find_toolchain(os.environ, lambda _: "")
    quoted = shlex.quote(toolchain.clang)
    clang = {"cc": quoted, "c++": f"{quoted} --driver-mode=g++"}
    here = shlex.quote(str(Path(sys.executable).parent / "symfleet"))
    ours = {"cc": f"{here} cc", "c++": f"{here} c++"}
    folders = {
        "clang": write_compilers(work / "bin-clang", clang),
        "symfleet": write_compilers(work / "bin-symfleet", ours),
    }
    for library in LIBRARIES:
        if options.only and library.name not in options.only:
            continue
        upstream = sources.fetch(_PINNED[library.name], REAL / ".cache")
        for level in options.level or LEVELS:
            built = {
                who: build(library, upstream, folder, level, work / library.name / who / "build")
                for who, folder in folders.items()
            }
            yield compare(library, level, built["symfleet"], built["clang"], options.inputs)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", choices=[each.name for each in LIBRARIES])
    parser.add_argument("--level", action="append", help="an -O option; -O0 and -O2 if not given")
    parser.add_argument("--inputs", type=int, default=60, help="generated inputs of each program")
    parser.add_argument("--json", type=Path, help="write the result to this file, too")
    parser.add_argument("--work", type=Path, default=Path("build/identity"))
    options = parser.parse_args()
    rows: list[Row] = []
    for row in measure(options):
        rows.append(row)
        print(table(rows).splitlines()[-1], flush=True)
    print(table(rows))
    if options.json:
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        content = {"date": now, "cores": os.cpu_count(), "libraries": [asdict(r) for r in rows]}
        options.json.write_text(json.dumps(content, indent=1) + "\n")
    return 1 if any(row.difference for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
