"""The tutorial's commands, run in its order in an empty folder, say what the page says they say.

Output shown below a command must appear in the same order; numbers and digests may differ, long
lines may be cut, and `...` stands for any lines. The page's /tmp/first is a temporary folder here.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from symfleet.testing.programs import well_status

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs/tutorial").glob("*.md"))
DEADLINE_S = 150
PAGE_FOLDER = "/tmp/first"
MARK = "=== tutorial command ended:"


@dataclass(frozen=True, slots=True)
class Step:
    command: str
    expected: tuple[str, ...]


def steps(page: str) -> Iterator[Step]:
    """Yield the commands of all console blocks; a here-document belongs to its command."""
    for block in re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            count = 1
            while lines[count - 1].endswith("\\"):
                count += 1
            if here := re.search(r"<<'(\w+)'", lines[0]):
                count = lines.index(here[1]) + 1
            yield Step("\n".join(lines[:count]), tuple(lines[count:]))


def comparable(line: str) -> str:
    line = re.sub(r"\b[0-9a-f]{8,}\b|\d+([.,:]\d+)*", "#", line)
    return re.sub(r"\s+", " ", line).strip()


def missing_line(expected: tuple[str, ...], output: str) -> str | None:
    """Return the first expected line that does not follow the earlier ones in the output."""
    lines = iter([comparable(line) for line in output.splitlines()])
    for wanted in expected:
        if wanted.strip() in {"", "..."}:
            continue
        if not any(line.startswith(comparable(wanted)) for line in lines):
            return wanted
    return None


def run_in_one_shell(commands: list[str], folder: Path) -> list[tuple[int, str]]:
    """Run all commands in one shell; return status and output of each."""
    script = "".join(f'{command}\nprintf "\\n{MARK} %d\\n" $?\n' for command in commands)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "100",
    }
    # Output goes to a file: what a killed campaign leaves behind must not keep a pipe open.
    log = folder.parent / "output"
    with log.open("wb") as output:
        shell = subprocess.Popen(
            ["bash", "-u", "-c", script],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            shell.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
            pytest.fail(f"not done after {DEADLINE_S} s:\n{log.read_text()}")
    parts = re.split(rf"\n{MARK} (\d+)\n", log.read_text())
    return [(int(status), text) for text, status in zip(parts[::2], parts[1::2], strict=False)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_tutorial_is_true(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    todo = list(steps(page.read_text()))
    assert todo
    done = run_in_one_shell([step.command for step in todo], folder)
    for step, (status, output) in zip(todo, done, strict=True):
        assert status == 0, f"$ {step.command}\n{output}"
        absent = missing_line(step.expected, output.replace(str(folder), PAGE_FOLDER))
        assert absent is None, f"$ {step.command}\nlacks: {absent}\n{output}"
    for ledger in folder.rglob("ledger.db"):  # kills are no faults
        well_status(ledger.parent)
