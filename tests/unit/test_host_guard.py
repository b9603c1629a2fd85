"""The guard of a host: what it runs ends with it, and its folder too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from symfleet.config.environment import GUARD_VARIABLE
from symfleet.runtime.host_guard import private_folder, remove_dead_folders, whole_program
from symfleet.testing.jobs import descendants, until


class Guarded:
    """A guard process whose daemon is a shell script."""

    def __init__(self, folder: Path, script: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "symfleet.runtime.host_guard", "sh", "-c", script],
            env={**os.environ, "TMPDIR": str(folder)},
            stdout=subprocess.PIPE,
        )
        self.seen: list[int] = []

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode().strip()

    def below(self) -> list[int]:
        self.seen = list(descendants(self.process.pid))
        return self.seen

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def assert_all_dead(self) -> None:
        until("all end", lambda: not [p for p in self.seen if Path(f"/proc/{p}/cwd").exists()], 10)


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[list[Guarded]]:
    made: list[Guarded] = []
    yield made
    for one in made:
        one.end()


def start(guarded: list[Guarded], folder: Path, script: str) -> Guarded:
    guarded.append(Guarded(folder, script))
    return guarded[-1]


def test_the_daemon_gets_a_private_folder_that_goes_with_it(
    guarded: list[Guarded], tmp_path: Path
) -> None:
    script = f'touch "$TMPDIR/file"; echo "$TMPDIR ${GUARD_VARIABLE} $PPID"; exit 7'
    one = start(guarded, tmp_path, script)
    folder, named, parent = one.line().split()
    assert Path(folder).parent == tmp_path
    assert named == f"{one.process.pid}:{folder}"
    assert parent == str(one.process.pid)
    assert one.process.wait(10) == 7
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP])
def test_a_guard_that_is_told_to_end_takes_everything_along(
    guarded: list[Guarded], tmp_path: Path, signum: int
) -> None:
    one = start(guarded, tmp_path, "setsid sleep 600 & (sleep 600 &) ; echo up; sleep 600")
    assert one.line() == "up"
    until("all are there", lambda: len(one.below()) >= 4, 10)
    one.process.send_signal(signum)
    one.process.wait(10)
    one.assert_all_dead()
    assert list(tmp_path.iterdir()) == []


def test_what_a_daemon_leaves_running_is_ended(guarded: list[Guarded], tmp_path: Path) -> None:
    one = start(guarded, tmp_path, "setsid sleep 600 & sleep 0.5; echo up")
    assert one.line() == "up"
    one.below()
    assert one.process.wait(10) == 0
    one.assert_all_dead()


def test_a_daemon_dies_with_a_guard_that_is_killed_and_the_next_one_tidies_up(
    guarded: list[Guarded], tmp_path: Path
) -> None:
    one = start(guarded, tmp_path, "echo up; exec sleep 600")
    assert one.line() == "up"
    one.below()
    one.process.kill()
    one.process.wait()
    one.assert_all_dead()
    assert len(list(tmp_path.iterdir())) == 1
    assert start(guarded, tmp_path, "exit 3").process.wait(10) == 3
    assert list(tmp_path.iterdir()) == []


def test_only_folders_of_the_dead_are_removed(tmp_path: Path) -> None:
    with private_folder(tmp_path) as living:
        dead = tmp_path / "symfleet-host-dead"
        young = tmp_path / "symfleet-host-young"
        other = tmp_path / "other"
        for folder in (dead, young, other):
            folder.mkdir()
        (dead / "lock").touch()
        remove_dead_folders(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {living.name, young.name, other.name}
    assert not living.exists()


def test_a_daemon_is_found_in_a_folder_with_spaces() -> None:
    words = ["/home/some", "one/bin/prted", "--prtemca", "a", "b c"]
    assert whole_program(words) == ["/home/some one/bin/prted", "--prtemca", "a", "b c"]
    assert whole_program(["/usr/bin/prted", "-x"]) == ["/usr/bin/prted", "-x"]


EARLY = """
import os, signal, sys
from pathlib import Path
from symfleet.engine import processes
from symfleet.runtime import host_guard
start = processes.start_child
def start_and_be_told(*words, **more):
    child = start(*words, **more)
    os.kill(os.getpid(), signal.SIGTERM)
    return child
processes.start_child = start_and_be_told
sys.exit(host_guard.guard(["/bin/sleep", "600"], Path(sys.argv[1])))
"""


def test_a_guard_that_is_told_to_end_while_it_starts_leaves_nothing_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EARLY, str(tmp_path)], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 128 + signal.SIGKILL, done.stderr
