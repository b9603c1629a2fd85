"""The planted bugs, without symfleet: their own inputs trigger them, the seeds do not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SIGNALS = {"magic": 11, "maze": 6, "expr": 8, "statemachine": 11}
NAMES = [*SIGNALS, "tlv", "exhaustible"]


def clang() -> str:
    for version in range(19, 13, -1):
        if path := shutil.which(f"clang-{version}"):
            return path
    pytest.fail("no clang of 14 to 19: ./symfleet.sh setup installs one")


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build all examples with plain clang and AddressSanitizer off: crashes must need no help."""
    folder = tmp_path_factory.mktemp("examples")
    compiler = clang()
    environment = {
        **os.environ,
        "CC": f"{compiler} -Wall -Wextra -Werror",
        "CXX": f"{compiler} --driver-mode=g++ -Wall -Wextra -Werror",
    }
    subprocess.run([EXAMPLES / "build.sh", folder], env=environment, check=True, timeout=60)
    return folder


def run(target: Path, data: Path, through: str) -> int:
    with data.open("rb") as stdin:
        return subprocess.run(
            [target, data] if through == "file" else [target],
            stdin=stdin if through == "stdin" else subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        ).returncode


def crashing_input(name: str, folder: Path) -> Path:
    """Make the input as the example's page says, with a shell."""
    page = (EXAMPLES / name / "README.md").read_text()
    command = re.search(r"^\$ (printf .* > crash)$", page, re.MULTILINE)
    assert command is not None
    subprocess.run(["/bin/sh", "-c", command[1]], cwd=folder, check=True, timeout=10)
    return folder / "crash"


@pytest.mark.parametrize("through", ["file", "stdin"])
@pytest.mark.parametrize("name", NAMES)
def test_a_seed_ends_well(targets: Path, name: str, through: str) -> None:
    seeds = sorted((EXAMPLES / name / "seeds").iterdir())
    assert seeds
    assert [run(targets / name, seed, through) for seed in seeds] == [0] * len(seeds)


@pytest.mark.parametrize("through", ["file", "stdin"])
@pytest.mark.parametrize("name", SIGNALS)
def test_the_input_of_the_page_triggers_the_bug(
    targets: Path, tmp_path: Path, name: str, through: str
) -> None:
    assert run(targets / name, crashing_input(name, tmp_path), through) == -SIGNALS[name]


def test_the_heap_overflow_is_noticed(targets: Path, tmp_path: Path) -> None:
    # Which signal it is depends on what the C library makes of the damage.
    assert run(targets / "tlv", crashing_input("tlv", tmp_path), "file") in {-6, -11}
