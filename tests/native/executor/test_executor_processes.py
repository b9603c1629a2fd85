"""A run signals itself and its children, never those who run it, and never a stranger."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from wrapper import SOURCES, Compile

from symfleet.engine import frames
from symfleet.engine.processes import children_of

PROGRAM = SOURCES / "cases" / "processes.c"
ATTEMPTS_BY_REPETITION = 4


@pytest.fixture
def ask(start: Callable[[], Any], instrumented: Compile) -> Callable[..., Any]:
    """Run one of the program's checks on a seed and return the answer."""

    def run(*words: str) -> Any:
        executor = start()
        command = [str(instrumented(PROGRAM, "-O1")), *words, "@@"]
        ready = executor.hello(command, wall_ms=20_000)  # a busy machine may be slow
        assert isinstance(ready, frames.Ready), ready
        return executor.run(b"a")

    return run


@pytest.mark.parametrize("check", ["names", "own", "parent", "everybody", "child"])
def test_numbers_of_processes_name_the_run_and_its_children(
    ask: Callable[..., Any], check: str
) -> None:
    done = ask(check).done
    assert (done.outcome, done.exit_code, done.signal) == ("ok", 0, 0)


@pytest.mark.parametrize("check", ["crowd", "crowd-apart"])
def test_a_run_of_too_many_processes_is_ended_before_it_takes_the_host(
    start: Callable[[], Any], instrumented: Compile, check: str
) -> None:
    executor = start()
    ready = executor.hello([str(instrumented(PROGRAM, "-O1")), check, "@@"], wall_ms=50_000)
    assert isinstance(ready, frames.Ready), ready
    done = executor.run(b"a").done
    assert done.outcome == "oom"
    assert done.wall_us < 50_000_000
    (server,) = children_of(executor.process.pid)
    assert children_of(server) == []


HOW = ("raise", "kill", "group", "killpg", "thread", "queue", "syscall", "offspring")


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_asks_itself_to_end_has_ended(
    ask: Callable[..., Any], how: str, signum: int
) -> None:
    done = ask(how, str(int(signum))).done
    assert (done.outcome, done.signal) == ("ok", signum)
    repeated = done.executions - 2 * done.generated  # without those of its children
    assert repeated < ATTEMPTS_BY_REPETITION  # known at once, not by repetition


@pytest.mark.parametrize("signum", [1, 2, 3, 10, 12])
def test_every_signal_that_asks_for_an_end_is_one(ask: Callable[..., Any], signum: int) -> None:
    done = ask("raise", str(signum)).done
    assert (done.outcome, done.signal) == ("ok", signum)


@pytest.mark.parametrize("signum", [1, 2, 3, 15])
def test_a_signal_is_one_although_whoever_started_us_ignores_it(
    ask: Callable[..., Any], signum: int
) -> None:
    before = signal.signal(signum, signal.SIG_IGN)  # as nohup does with the first
    try:
        done = ask("raise", str(signum)).done
    finally:
        signal.signal(signum, before)
    assert (done.outcome, done.signal) == ("ok", signum)


@pytest.mark.parametrize("signum", [4, 6, 7, 8, 11])
def test_a_signal_of_a_fault_is_a_crash_whoever_sends_it(
    ask: Callable[..., Any], signum: int
) -> None:
    done = ask("raise", str(signum)).done
    assert (done.outcome, done.signal) == ("crash", signum)


def test_a_branch_behind_an_ending_is_found(
    start: Callable[[], Any], instrumented: Compile, tmp_path: Path
) -> None:
    source = tmp_path / "behind.c"
    source.write_text(
        "#include <signal.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
        "int main() { char b[4]; if (read(0, b, 4) != 4) return 1;\n"
        "if (b[0] == 'T') { if (b[1] == 'U') abort(); raise(SIGTERM); } return 0; }\n"
    )
    executor = start()
    executor.hello([str(instrumented(source, "-O1"))], input_mode="stdin")
    first = executor.run(b"abcd")
    # Beside it an input of three bytes, which the program refuses.
    full = [child for child in first.children if len(child.input) == 4]
    assert [(child.input[:1], child.outcome) for child in full] == [(b"T", "ok")]
    second = executor.run(full[0].input)
    assert "crash" in [child.outcome for child in (*first.children, *second.children)]
