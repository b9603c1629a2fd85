"""Every script that a how-to page shows is one that a shell takes, and that shellcheck passes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from symfleet.testing.documents import Block, code_blocks

PAGES = Path(__file__).parents[2] / "docs" / "howto"
SCRIPTS = {
    f"{page.name}:{block.line}": block
    for page in sorted(PAGES.glob("*.md"))
    for block in code_blocks(page)
    if block.language == "sh"
}
EXPLORING = {name: block for name, block in SCRIPTS.items() if "symfleet explore" in block.text}
each_script = pytest.mark.parametrize("block", SCRIPTS.values(), ids=SCRIPTS)


def complaints(*checker: str, block: Block) -> str:
    """Return what a program says that reads the script from its standard input."""
    done = subprocess.run(
        checker, input=block.text, capture_output=True, text=True, timeout=60, check=False
    )
    return (done.stdout + done.stderr) if done.returncode else ""


def test_there_are_scripts() -> None:
    assert SCRIPTS
    assert EXPLORING


@each_script
def test_a_shell_can_read_it(block: Block) -> None:
    assert complaints("sh", "-n", block=block) == ""


@pytest.mark.skipif(
    shutil.which("shellcheck") is None,
    reason="shellcheck is not installed (`./symfleet.sh test` installs it)",
)
@each_script
def test_shellcheck_has_nothing_to_say(block: Block) -> None:
    assert complaints("shellcheck", "--shell=sh", "-", block=block) == ""


@pytest.mark.parametrize("block", EXPLORING.values(), ids=EXPLORING)
def test_symfleet_takes_its_options(block: Block, tmp_path: Path) -> None:
    """In a folder without anything, it is the target that is missing."""
    for name, text in (("scontrol", "echo node1"), ("srun", 'shift; exec "$@"')):
        stub = tmp_path / name
        stub.write_text(f"#!/bin/sh\n{text}\n")
        stub.chmod(0o755)
    path = f"{tmp_path}:{Path(sys.executable).parent}:/usr/bin:/bin"
    allocation = {"SLURM_JOB_NODELIST": "node1", "SLURM_CPUS_PER_TASK": "4"}
    done = subprocess.run(
        ["sh", "-c", block.text],
        cwd=tmp_path,
        env={"PATH": path, "HOME": str(tmp_path), **allocation},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode not in (0, 2)
    assert "the target is missing" in done.stderr


def test_a_block_says_where_it_begins(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Words.\n\n```sh\necho one\n```\n\n```\nno language\n```\n\n```toml\na = 1\n```\n"
    )
    assert list(code_blocks(page)) == [Block("sh", "echo one\n", 4), Block("toml", "a = 1\n", 12)]
