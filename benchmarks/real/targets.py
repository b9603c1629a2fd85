"""Build a static library from upstream sources, and its harness, with any C compiler."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.real.sources import PACKAGES, Package

HERE: Final = Path(__file__).parent
_COMPILE_S: Final = 300


class BuildError(Exception):
    """A compiler or archiver failed; the message holds the end of what it said."""


@dataclass(frozen=True, slots=True)
class Library:
    """What of a package is compiled, and how; paths are relative to its top folder."""

    package: Package
    sources: str
    include: str
    flags: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.package.name

    @property
    def seeds(self) -> Path:
        return HERE / "seeds" / self.name


_CJSON, _LIBYAML, _EXPAT = PACKAGES

LIBRARIES: Final = (
    Library(_CJSON, "cJSON.c", "."),
    Library(
        _LIBYAML,
        "src/*.c",
        "include",
        (
            '-DYAML_VERSION_STRING="0.2.5"',
            "-DYAML_VERSION_MAJOR=0",
            "-DYAML_VERSION_MINOR=2",
            "-DYAML_VERSION_PATCH=5",
        ),
    ),
    # The configuration is ours, so that no configure script decides what is measured.
    Library(_EXPAT, "expat/lib/xml*.c", "expat/lib", (f"-I{HERE / 'harness'}",)),
)


def build(library: Library, upstream: Path, compiler: Sequence[str], folder: Path) -> Path:
    """Compile the library to an archive and link its harness with it; return the program.

    Raises BuildError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    common = [*compiler, "-O2", "-g", "-w", f"-I{upstream / library.include}", *library.flags]
    objects = []
    for source in sorted(upstream.glob(library.sources)):
        if source.name.endswith(("_impl.c", "_ns.c")):
            continue  # included by another source
        objects.append(folder / f"{source.stem}.o")
        _run([*common, "-c", str(source), "-o", str(objects[-1])])
    if not objects:
        raise BuildError(f"{upstream} has no {library.sources}")
    archive = folder / f"lib{library.name}.a"
    archive.unlink(missing_ok=True)
    _run(["ar", "rcs", str(archive), *map(str, objects)])
    program = folder / f"{library.name}-harness"
    harness = HERE / "harness" / f"{library.name}.c"
    _run([*common, str(harness), str(archive), "-o", str(program)])
    return program


def _run(command: Sequence[str]) -> None:
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=_COMPILE_S, check=False
    )
    if result.returncode != 0:
        raise BuildError(f"{' '.join(command)}\n{result.stderr[-2000:]}")
