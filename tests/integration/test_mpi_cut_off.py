"""What a limit cuts off is never silent: exit code 2, counted by limit, with what to raise."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import symfleet

MANY = """
import os, sys
data = open(sys.argv[1], "rb").read()
if data == b"seed":
    for number in range(12):
        open(os.path.join(sys.argv[2], f"{number:02}"), "wb").write(b"%d" % number)
    open(os.path.join(sys.argv[2], "00 large"), "wb").write(bytes(3 << 20))
"""


@dataclass
class Ended:
    code: int
    said: str
    status: dict[str, Any]


def explored(folder: Path, program: str, *options: str) -> Ended:
    """Explore one seed with a program of Python as the engine."""
    (folder / "seeds").mkdir(exist_ok=True)
    (folder / "seeds" / "a").write_bytes(b"seed")
    (folder / "engine.py").write_text(program)
    engine = shlex.join([sys.executable, "-S", "-E", str(folder / "engine.py"), "@@", "@out"])
    words = ["explore", "-i", "seeds", "-o", "out", "--engine", "command", "--keep", "all"]
    words += ["--idle-window", "0.1", "--engine-command", engine, "-j", "2", *options]
    clean = {name: text for name, text in os.environ.items() if "SYMFLEET" not in name}
    ended = subprocess.run(
        [sys.executable, "-m", "symfleet.cli.main", *words, "--", "/bin/true", "@@"],
        cwd=folder,
        env={**clean, "PYTHONPATH": str(Path(symfleet.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    status = json.loads((folder / "out" / "status.json").read_text())
    return Ended(ended.returncode, ended.stdout + ended.stderr, status)


def test_children_that_limits_cut_off_end_with_2_and_are_counted(tmp_path: Path) -> None:
    ended = explored(tmp_path, MANY, "--result-children", "4", "--until-quiescent")
    assert ended.code == 2, ended.said
    assert (ended.status["corpus"], ended.status["total"]["not_exhaustive"]) == (5, 1)
    assert ended.status["total"]["cut_off"] == {"child_size": 1, "children": 1}
    assert ended.status["total"]["left_out"] == {"child_size": 1, "children": 8}
    assert "--result-children), 8 children lost" in ended.said
    assert "--input-size), 1 child lost" in ended.said
    assert "nothing is left to explore" not in ended.said


def test_a_program_that_always_fails_is_named(tmp_path: Path) -> None:
    ended = explored(tmp_path, "raise SystemExit(1)", "--until-quiescent")
    assert ended.code == 0, ended.said
    assert ended.status["total"]["empty_executions"] == {"program_failed": 1}
    assert "the engine's program ends with an error and leaves no child" in ended.said
