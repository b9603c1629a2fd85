"""Each example's planted bug is found from its seeds on two slots, and replays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from symfleet.testing.programs import well_status

EXAMPLES = Path(__file__).parents[2] / "examples"
SYMFLEET = str(Path(sys.executable).parent / "symfleet")
BUDGET_S = 60


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("targets")
    environment = {
        **os.environ,
        "PATH": f"{Path(SYMFLEET).parent}:{os.environ['PATH']}",
        "CC": "symfleet cc",  # words, so no path that may hold a space
        "CXX": "symfleet c++",
    }
    subprocess.run([EXAMPLES / "build.sh", folder], env=environment, check=True, timeout=120)
    return folder


@pytest.mark.parametrize("name", ["magic", "maze", "tlv", "expr", "statemachine"])
def test_the_planted_bug_is_found_and_replays(targets: Path, tmp_path: Path, name: str) -> None:
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
    assert "reproduced: SIG" in replayed.stdout
    assert "not reproduced" not in replayed.stdout
