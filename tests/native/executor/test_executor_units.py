"""The executor's own C++ tests, under AddressSanitizer and UBSan."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]


def sanitizing_compiler(folder: Path) -> str:
    """A compiler that has the sanitizers' libraries; clang takes half the time of g++.

    Another package may have brought a clang without them along."""
    source = folder / "probe.cpp"
    source.write_text("int main() {}")
    names = ["clang++", *(f"clang++-{version}" for version in range(19, 13, -1)), "g++"]
    for compiler in filter(None, map(shutil.which, names)):
        command = [
            compiler,
            "-fsanitize=address,undefined",
            str(source),
            "-o",
            str(folder / "probe"),
        ]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return compiler
    raise AssertionError("no compiler links a program with AddressSanitizer")


@pytest.mark.timeout(600)
def test_reader_semantics_and_solvers_under_sanitizers(tmp_path: Path) -> None:
    compiler = sanitizing_compiler(tmp_path)
    options = [
        "-DSYMFLEET_EXEC_TESTS=ON",
        "-DSYMFLEET_EXEC_SANITIZE=ON",
        "-DSYMFLEET_WERROR=ON",
        "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_CXX_FLAGS=-O1 -g0",
        f"-DPython_EXECUTABLE={sys.executable}",
        f"-DCMAKE_CXX_COMPILER={compiler}",
    ]
    source = REPOSITORY / "native" / "executor"
    subprocess.run(
        ["cmake", "-S", source, "-B", tmp_path, "-G", "Ninja", *options],
        check=True,
        capture_output=True,
    )
    built = subprocess.run(
        ["cmake", "--build", tmp_path, "--target", "executor-tests"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout
    tested = subprocess.run(
        [tmp_path / "tests" / "executor-tests"],
        env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tested.returncode == 0, tested.stdout + tested.stderr
