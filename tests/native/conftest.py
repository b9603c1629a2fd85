"""The native half under test: compiler, runtime and executor as they are installed."""

from __future__ import annotations

import functools
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # the modules beside this file

from wrapper import Compile, symfleet_cc

from symfleet.compiler.toolchain import native_folder


@pytest.fixture(scope="session")
def native() -> pathlib.Path:
    """The folder with lib/ and bin/; a test run without it proves nothing, so it is an error."""
    folder = pathlib.Path(native_folder(os.environ))
    for needed in ("lib/libsymfleet-rt.a", "bin/symfleet-exec"):
        if not (folder / needed).is_file():
            pytest.fail(f"{folder / needed} is missing: build native/ or set SYMFLEET_NATIVE_DIR")
    return folder


@pytest.fixture(scope="session")
def llvm_versions(native: pathlib.Path) -> list[int]:
    """LLVM versions for which there are both a pass and a clang, newest first."""
    passes = (native / "lib").glob("symfleet-pass-*.so")
    versions = sorted((int(path.stem.rpartition("-")[2]) for path in passes), reverse=True)
    return [version for version in versions if shutil.which(f"clang-{version}")]


@pytest.fixture(scope="session")
def instrumented(native: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """A function (source, *options, llvm=0) that compiles with symfleet, once each."""
    folder = tmp_path_factory.mktemp("instrumented")

    @functools.cache
    def build(source: pathlib.Path, *options: str, llvm: int = 0) -> pathlib.Path:
        program = folder / f"{source.stem}{''.join(options)}-{llvm}".replace(os.sep, "_")
        language = "c++" if source.suffix == ".cpp" else "c"
        extra = {"SYMFLEET_CLANG": f"clang-{llvm}"} if llvm else {}
        words = ["-w", "-pthread", *options, str(source), "-o", str(program)]
        done = symfleet_cc(words, language, **extra)
        assert done.returncode == 0, done.stderr
        return program

    return build


@pytest.fixture(scope="session")
def plain(llvm_versions: list[int], tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """A function (source, *options) that compiles with clang alone: the oracle."""
    folder = tmp_path_factory.mktemp("plain")

    @functools.cache
    def build(source: pathlib.Path, *options: str) -> pathlib.Path:
        program = folder / f"{source.stem}{''.join(options)}"
        driver = "clang++" if source.suffix == ".cpp" else "clang"
        words = ["-w", "-pthread", "-O1", *options, str(source), "-o", str(program)]
        subprocess.run([f"{driver}-{llvm_versions[0]}", *words], check=True)
        return program

    return build
