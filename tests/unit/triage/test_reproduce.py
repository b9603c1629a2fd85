"""Replaying an input: the outcome, the input's way, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from symfleet.corpus.layout import Reproduction
from symfleet.engine.processes import start_child
from symfleet.errors import HostError
from symfleet.triage.reproduce import replay
from symfleet.types import Outcome

ENVIRONMENT = dict(os.environ)


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "target"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_signal_is_a_crash(tmp_path: Path) -> None:
    target = script(tmp_path, "kill -SEGV $$")
    again = replay(Reproduction((target,), "stdin"), b"", 10.0, ENVIRONMENT)
    assert (again.outcome, again.signal) == (Outcome.CRASH, signal.SIGSEGV)


def test_a_signal_is_one_although_nohup_ignores_it(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        target = script(tmp_path, "kill -HUP $$; exit 3")
        again = replay(Reproduction((target,), "stdin"), b"", 10.0, ENVIRONMENT)
        command = ["/bin/sh", "-c", "kill -HUP $$; exit 3"]
        nowhere = subprocess.DEVNULL
        child = start_child(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, is_target=True)
        assert child.wait(10) == -signal.SIGHUP
    finally:
        signal.signal(signal.SIGHUP, before)
    assert again.signal == signal.SIGHUP


def test_the_input_comes_by_file_or_by_standard_input(tmp_path: Path) -> None:
    by_file = script(tmp_path, 'test "$(cat "$2")" = secret && exit 7; exit 1')
    again = replay(Reproduction((by_file, "-f", "@@"), "file"), b"secret", 10.0, ENVIRONMENT)
    assert (again.outcome, again.exit_code) == (Outcome.OK, 7)
    by_stdin = script(tmp_path, 'test "$(cat)" = secret && exit 7; exit 1')
    again = replay(Reproduction((by_stdin,), "stdin"), b"secret", 10.0, ENVIRONMENT)
    assert again.exit_code == 7


def test_variables_reach_the_target_and_its_output_is_kept(tmp_path: Path) -> None:
    target = script(tmp_path, 'echo "$SECRET"; echo oops >&2')
    reproduction = Reproduction((target,), "stdin", ("SECRET=a=b",))
    assert replay(reproduction, b"", 10.0, ENVIRONMENT).output == "a=b\noops\n"


def test_a_sanitizers_report_ends_in_a_signal_unless_the_user_says_otherwise(
    tmp_path: Path,
) -> None:
    said = 'case "$ASAN_OPTIONS$UBSAN_OPTIONS" in *abort_on_error=1*abort_on_error=1*) '
    target = script(tmp_path, said + "kill -ABRT $$;; esac; exit 1")
    plain = {name: value for name, value in ENVIRONMENT.items() if "SAN_OPTIONS" not in name}
    again = replay(Reproduction((target,), "stdin"), b"", 10.0, plain)
    assert (again.outcome, again.signal) == (Outcome.CRASH, signal.SIGABRT)
    own = Reproduction((target,), "stdin", ("ASAN_OPTIONS=abort_on_error=0",))
    assert replay(own, b"", 10.0, plain).exit_code == 1
    inherited = {**plain, "UBSAN_OPTIONS": ""}
    assert replay(Reproduction((target,), "stdin"), b"", 10.0, inherited).exit_code == 1


def test_a_hang_is_ended_with_everything_below_it(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    target = script(tmp_path, f"sleep 600 & echo $! $$ > {pids}; wait")
    began = time.monotonic()
    again = replay(Reproduction((target,), "stdin"), b"", 0.5, ENVIRONMENT)
    assert again.outcome is Outcome.HANG
    assert time.monotonic() - began < 10
    for pid in pids.read_text().split():
        deadline = time.monotonic() + 10
        while _runs(int(pid)) and time.monotonic() < deadline:
            os.sched_yield()
        assert not _runs(int(pid))


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_target_that_is_gone_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="cannot be started"):
        replay(Reproduction((str(tmp_path / "gone"),), "stdin"), b"", 1.0, ENVIRONMENT)
