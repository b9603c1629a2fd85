"""A launch that is killed before its campaign has a ledger; a ledger that is gone afterwards."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import symfleet
from symfleet.errors import IOFailure, parts_of
from symfleet.ledger.database import LEDGER_NAME
from symfleet.ledger.highwater import HIGHWATER_NAME

pytestmark = pytest.mark.jobs

PROGRAMS = Path(__file__).parents[1] / "programs"


@dataclass
class Ended:
    code: int
    said: str
    stdout: str
    error: dict[str, str]


@dataclass
class Desk:
    """A folder with one seed and the command line that explores from it."""

    root: Path

    @property
    def out(self) -> Path:
        return self.root / "out"

    @property
    def explore(self) -> list[str]:
        program = str(PROGRAMS / "none.py")
        engine = shlex.join([sys.executable, "-S", "-E", program, "@@", "@out"])
        words = ["explore", "-i", "seeds", "-o", "out", "--keep", "all", "--until-quiescent"]
        words += ["--env", f"RUNS={self.root / 'runs'}", "--env", "SECONDS=0"]
        words += ["--idle-window", "0.1", "--engine", "command", "--engine-command", engine]
        return [*words, "--", "/bin/true", "@@"]

    def run(self, words: Sequence[str], **environment: str) -> Ended:
        command, mark, target = "\n".join(words).partition("\n--\n")
        full = [*command.split("\n"), "--json", *f"{mark.strip()}\n{target}".split("\n")]
        clean = {name: text for name, text in os.environ.items() if "SYMFLEET" not in name}
        source = str(Path(symfleet.__file__).parents[1])
        ended = subprocess.run(
            [sys.executable, "-m", "symfleet.cli.main", *filter(None, full)],
            cwd=self.root,
            env={**clean, "PYTHONPATH": source, **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        said = json.loads(ended.stdout) if ended.stdout else {}
        return Ended(
            ended.returncode, ended.stdout + ended.stderr, ended.stdout, said.get("error", {})
        )

    def runs(self) -> int:
        return len((self.root / "runs").read_text().split())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "a").write_bytes(b"a")
    return Desk(tmp_path)


def test_a_campaign_inside_its_own_seeds_does_not_feed_on_itself(desk: Desk) -> None:
    inside = [word if word != "out" else "seeds/out" for word in desk.explore]
    first, again = desk.run(inside), desk.run(inside)
    assert (first.code, again.code) == (0, 0), first.said + again.said
    assert "it lies in the seeds" in first.said
    report = json.loads(desk.run(["status", "seeds/out"]).stdout)
    assert (report["corpus"], report["total"]["executed"]) == (1, 1)
    assert report["total"]["skipped_inputs"] == {"campaign": 2}, "once in each epoch"
    refused = desk.run([word if word != "seeds" else "seeds/out" for word in desk.explore])
    assert refused.code == 64
    assert "-i seeds/out/corpus" in refused.error["what_to_do"]


@pytest.mark.parametrize("point", ["launcher.before_mpirun", "file.write", "file.renamed"])
def test_resume_begins_a_campaign_that_was_killed_before_its_ledger(desk: Desk, point: str) -> None:
    killed = desk.run(desk.explore, SYMFLEET_CRASH=f"{point}:1:kill")
    assert killed.code == -signal.SIGKILL
    assert not (desk.out / LEDGER_NAME).exists()
    looked = desk.run(["status", "out"])
    assert looked.code == 65
    assert looked.error["what"] == "the campaign has no ledger yet"

    resumed = desk.run(["resume", "out"])
    if point == "file.write":  # nothing was written down yet: only the command itself is known
        assert resumed.code == 65
        assert "same `symfleet explore`" in resumed.error["what_to_do"]
        resumed = desk.run(desk.explore)
    assert resumed.code == 0, resumed.said
    assert desk.runs() == 1


@pytest.mark.guarantee("C9")
def test_a_campaign_whose_ledger_is_gone_is_not_begun_anew(desk: Desk) -> None:
    assert desk.run(desk.explore).code == 0
    for name in (HIGHWATER_NAME, LEDGER_NAME):
        (desk.out / name).unlink()
    for words in (["status", "out"], ["resume", "out"], desk.explore):
        ended = desk.run(words)
        assert ended.code == 70, ended.said
        assert "had a ledger" in ended.error["why"]
    assert desk.runs() == 1
    assert not (desk.out / LEDGER_NAME).exists()

    (desk.out / LEDGER_NAME).touch()
    for words in (["status", "out"], ["resume", "out"]):
        ended = desk.run(words)
        assert ended.code == 70
        assert "had a ledger" in ended.error["why"]


def test_a_campaign_that_had_to_stop_says_why_in_four_parts(desk: Desk) -> None:
    engine = desk.root / "engine"
    engine.write_text('#!/bin/sh\nrm "$0"\nkill -9 $PPID\n')  # it is found, once
    engine.chmod(0o755)
    words = desk.explore
    words[words.index("--engine-command") + 1] = f"{engine} @@ @out"
    ended = desk.run(words)
    assert ended.code == 69
    assert "no host can run the engine" in ended.error["why"]
    assert all(ended.error.values())


def test_the_parts_of_an_error_are_found_again_in_its_text() -> None:
    error = IOFailure("full", where="a/b", why="no space", hint="free some; then go on")
    assert parts_of(str(error)) == ("full", "a/b", "no space", "free some; then go on")
    assert parts_of("quiescent") == ("quiescent", "", "", "")
