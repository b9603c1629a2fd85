"""Each example's planted bug is found from its seeds on two slots, and replays.

That it is the planted one, and not another crash, says a build by g++ with AddressSanitizer: it
crashes with the found input, in the line that is marked so.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from symfleet.testing.programs import well_status

EXAMPLES = Path(__file__).parents[2] / "examples"
SYMFLEET = str(Path(sys.executable).parent / "symfleet")
BUDGET_S = 60


MARK = "the planted bug"


def built(folder: Path, **compilers: str) -> Path:
    """Build all examples. Compilers are words, so they have no path that may hold a space."""
    path = f"{Path(SYMFLEET).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **compilers}
    subprocess.run([EXAMPLES / "build.sh", folder], env=environment, check=True, timeout=120)
    return folder


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("targets"), CC="symfleet cc", CXX="symfleet c++")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    options = "-g -fsanitize=address"
    folder = tmp_path_factory.mktemp("plain")
    return built(folder, CC=f"gcc {options}", CXX=f"g++ {options}")


def where_it_crashes(program: Path, data: Path, source: Path) -> str:
    """Return the line of `source` in which AddressSanitizer's first report has the program."""
    environment = {**os.environ, "ASAN_OPTIONS": "handle_abort=1"}
    said = subprocess.run(
        [program, data], env=environment, capture_output=True, text=True, timeout=60, check=False
    ).stderr
    where = re.search(rf"{re.escape(source.name)}:(\d+)", said)
    assert where is not None, said
    return source.read_text().splitlines()[int(where[1]) - 1]


@pytest.mark.parametrize(
    ("name", "source", "reason"),
    [
        ("magic", "magic.c", "SIGSEGV"),
        ("maze", "maze.c", "SIGABRT"),
        ("tlv", "tlv.c", ""),  # what a heap overflow does is up to the heap
        ("expr", "expr.cpp", "SIGFPE"),
        ("statemachine", "statemachine.c", "SIGSEGV"),
    ],
)
def test_the_planted_bug_is_found_and_replays(
    targets: Path, plain: Path, tmp_path: Path, name: str, source: str, reason: str
) -> None:
    out = tmp_path / "out"
    command: list[str | Path] = [
        SYMFLEET,
        "explore",
        "-i",
        EXAMPLES / name / "seeds",
        "-o",
        out,
        "-j",
        "2",
    ]
    command += ["--max-time", str(BUDGET_S), "--exit-on-crash", "--", targets / name, "@@"]
    subprocess.run(command, check=True, timeout=BUDGET_S + 90, stdout=subprocess.DEVNULL)

    status = subprocess.run(
        [SYMFLEET, "status", "--json", out], check=True, capture_output=True, timeout=30
    )
    assert json.loads(status.stdout)["total"]["crashes"] >= 1
    well_status(out)
    replayed = subprocess.run(
        [SYMFLEET, "crashes", "repro", out], check=True, capture_output=True, text=True, timeout=60
    )
    assert f"reproduced: {reason or 'SIG'}" in replayed.stdout
    assert "not reproduced" not in replayed.stdout
    crashes = (out / "crashes").glob("*/input")
    found = {where_it_crashes(plain / name, one, EXAMPLES / name / source) for one in crashes}
    assert [MARK in line for line in found] == [True], found
