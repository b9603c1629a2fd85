"""symfleet-exec on the command line."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest


def call(program: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    path = tmp_path / "seed"
    path.write_bytes(b"aaaa")
    return path


def test_children_are_files_named_by_their_digest(
    program: Path, fake_target: str, seed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = call(program, "-i", seed, "-o", out, "--", fake_target, "classes", "@@")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == len(list(out.iterdir())) > 0
    for path in out.iterdir():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
    assert f"{len(lines)} children" in done.stderr


def test_children_are_numbered_on_request(
    program: Path, fake_target: str, seed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    call(program, "-i", seed, "-o", out, "--names", "number", "--", fake_target, "classes", "@@")
    names = sorted(path.name for path in out.iterdir())
    assert names == [f"{number:06}" for number in range(len(names))]


def test_json_has_one_object_a_line(
    program: Path, fake_target: str, seed: Path, tmp_path: Path
) -> None:
    done = call(
        program, "-i", seed, "-o", tmp_path / "out", "--json", "--", fake_target, "classes", "@@"
    )
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    assert [o["t"] for o in objects] == ["child"] * (len(objects) - 1) + ["done"]
    assert all(
        hashlib.sha256(bytes.fromhex(o["input"])).hexdigest() == o["digest"] for o in objects[:-1]
    )


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([], 64, "--help"),
        (["--keep", "some"], 64, "keep"),
        (["--wall-ms", "-1"], 64, "wall-ms"),
        (["-i", "SEED", "-o", "OUT", "--", "/nonexistent"], 64, "target_missing"),
        (["-i", "SEED", "-o", "OUT", "--", "/bin/true"], 65, "symfleet cc"),
        (["-i", "SEED", "-o", "OUT", "--input-bytes", "3", "--", "FAKE", "magic"], 65, "3 bytes"),
        (["-i", "SEED", "-o", "/proc/nothing", "--", "FAKE", "magic"], 70, "/proc/nothing"),
        (["--help"], 0, "Exit codes"),
        (["--selftest"], 0, "ok"),
        (["--version"], 0, "symfleet-exec"),
    ],
)
def test_exit_codes_and_messages(
    program: Path,
    fake_target: str,
    seed: Path,
    tmp_path: Path,
    arguments: list[str],
    code: int,
    says: str,
) -> None:
    names = {"SEED": str(seed), "OUT": str(tmp_path / "out"), "FAKE": fake_target}
    done = call(program, *(names.get(argument, argument) for argument in arguments))
    assert done.returncode == code
    assert says in done.stdout + done.stderr


def test_no_folder_is_left_in_the_temporary_one(
    program: Path, fake_target: str, seed: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    subprocess.run(
        [program, "-i", seed, "-o", tmp_path / "out", "--", fake_target, "magic", "@@"],
        env=os.environ | {"TMPDIR": str(temporary)},
        check=True,
        capture_output=True,
    )
    assert list(temporary.iterdir()) == []
