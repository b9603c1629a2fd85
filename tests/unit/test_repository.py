"""The frame around the code: bootstrap script, lock, continuous integration."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import symfleet

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "symfleet.sh"


def test_every_dependency_is_locked_with_digests() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(name for extra in extras for name in extra)]
    lock = (ROOT / "requirements.lock").read_text()
    entry = re.compile(r"^([\w-]+)==\S+.* \\\n    --hash=(sha256:[0-9a-f]{64})", re.MULTILINE)
    locked = dict(entry.findall(lock))
    names = {re.split(r"[<>=\[]", requirement)[0] for requirement in wanted}
    assert names - set(locked) == set()


def test_the_version_in_the_code_is_the_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert symfleet.__version__ == project["version"]


def test_the_lock_names_no_package_index() -> None:
    assert "//" not in (ROOT / "requirements.lock").read_text()


@pytest.mark.parametrize("arguments", [[], ["dmeo"], ["--tests"]])
def test_an_unknown_verb_is_a_usage_error_that_shows_the_verbs(arguments: list[str]) -> None:
    result = subprocess.run(
        [SCRIPT, *arguments], capture_output=True, text=True, timeout=10, check=False
    )
    assert result.returncode == 64
    assert "./symfleet.sh demo" in result.stderr
    assert "./symfleet.sh test" in result.stderr


def test_missing_packages_are_named_to_who_may_not_install_them(tmp_path: Path) -> None:
    # A machine with nothing but the basic tools and a user that may not become root.
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in (
        "dirname",
        "date",
        "sed",
        "tr",
        "cat",
        "mkdir",
        "touch",
        "flock",
        "cut",
        "grep",
        "sha256sum",
    ):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    (tools / "id").write_text("#!/bin/sh\necho 1000\n")
    (tools / "apt-get").write_text("#!/bin/sh\nexit 1\n")
    (tools / "apt-cache").write_text("#!/bin/sh\nprintf 'x:\\n  Candidate: 1.0\\n'\n")
    for program in ("id", "apt-get", "apt-cache"):
        (tools / program).chmod(0o755)
    copy = tmp_path / "symfleet.sh"
    copy.write_text(SCRIPT.read_text())
    result = subprocess.run(
        ["/bin/sh", copy, "setup"],
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert result.returncode == 69
    for package in ("python3.13", "python3.13-venv", "clang-19", "llvm-19-dev", "g++"):
        assert package in result.stderr
    assert "sudo apt-get update && sudo apt-get install" in result.stderr


def test_continuous_integration_runs_the_second_command_of_the_readme() -> None:
    assert "./symfleet.sh test" in (ROOT / "README.md").read_text()
    assert 'symfleet.sh" test' in (ROOT / ".ci/run").read_text()
