"""The executor's own C++ tests, under AddressSanitizer and UBSan."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.mark.timeout(600)
def test_reader_semantics_and_solvers_under_sanitizers(tmp_path: Path) -> None:
    clang = shutil.which("clang++")
    options = [
        "-DSYMFLEET_EXEC_TESTS=ON",
        "-DSYMFLEET_EXEC_SANITIZE=ON",
        "-DSYMFLEET_WERROR=ON",
        "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_CXX_FLAGS=-O1 -g0",
        f"-DPython_EXECUTABLE={sys.executable}",
        *([f"-DCMAKE_CXX_COMPILER={clang}"] if clang else []),  # half the time of g++
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
