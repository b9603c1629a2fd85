"""Build a static library from upstream sources, and its harness, with any C compiler."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.real.sources import CXX_PACKAGES, PACKAGES, Package

HERE: Final = Path(__file__).parent
_COMPILE_S: Final = 300


class BuildError(Exception):
    """A compiler or archiver failed; the message holds the end of what it said."""


@dataclass(frozen=True, slots=True)
class Library:
    """What of a package is compiled, and how; paths are relative to its top folder.

    One that has only headers has no `sources`. `mend` is (header, old, new) for a header that no
    compiler of today takes. A harness with `deep` prints that word behind conditions that no seed
    meets, of which each is about what the library's API returns.
    """

    package: Package
    sources: str
    include: str
    flags: tuple[str, ...] = ()
    language: str = "c"
    deep: bool = False
    mend: tuple[str, str, str] | None = None

    @property
    def name(self) -> str:
        return self.package.name

    @property
    def seeds(self) -> Path:
        return HERE / "seeds" / self.name


_CJSON, _LIBYAML, _EXPAT = PACKAGES
_TINYXML2, _RAPIDJSON = CXX_PACKAGES

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
    Library(_TINYXML2, "tinyxml2.cpp", ".", language="cpp", deep=True),
    Library(
        _RAPIDJSON,
        "",
        "include",
        language="cpp",
        deep=True,
        # It assigns to a constant member, in a function that nothing calls.
        mend=("rapidjson/document.h", "{ s = rhs.s; length = rhs.length; }", "= delete;"),
    ),
)


def build(library: Library, upstream: Path, compiler: Sequence[str], folder: Path) -> Path:
    """Compile the library to an archive and link its harness with it; return the program.

    Raises BuildError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    include = _mended(library, upstream / library.include, folder / "include")
    common = [*compiler, "-O2", "-g", "-w", f"-I{include}", *library.flags]
    program = folder / f"{library.name}-harness"
    harness = HERE / "harness" / f"{library.name}.{library.language}"
    if not library.sources:
        _run([*common, str(harness), "-o", str(program)])
        return program
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
    _run([*common, str(harness), str(archive), "-o", str(program)])
    return program


def _mended(library: Library, include: Path, copy: Path) -> Path:
    """Return the headers' folder: upstream's, or a copy with one place changed."""
    if library.mend is None:
        return include
    name, old, new = library.mend
    shutil.copytree(include, copy, dirs_exist_ok=True)
    text = (include / name).read_text()
    if text.count(old) != 1:
        raise BuildError(f"{include / name} does not have {old!r} once")
    (copy / name).write_text(text.replace(old, new))
    return copy


def _run(command: Sequence[str]) -> None:
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=_COMPILE_S, check=False
    )
    if result.returncode != 0:
        raise BuildError(f"{' '.join(command)}\n{result.stderr[-2000:]}")
