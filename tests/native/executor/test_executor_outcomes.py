"""What an executor says about runs that do not simply end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from symfleet.engine import frames

Start = Callable[[], Any]
SEED = b"\0" * 24


@pytest.fixture
def ask(start: Start, fake_target: str) -> Callable[..., Any]:
    """Run the fake target once on a seed and return the answer."""

    def run(what: str, *, solitary: bool = False, **limits: int) -> Any:
        executor = start()
        ready = executor.hello([fake_target, what, "@@"], **limits)
        assert isinstance(ready, frames.Ready), ready
        return executor.run(SEED, solitary=solitary)

    return run


def test_an_exit_code_is_ok(ask: Callable[..., Any]) -> None:
    answer = ask("exit3")
    assert (answer.done.outcome, answer.done.exit_code, answer.done.signal) == ("ok", 3, 0)


def test_an_own_signal_is_a_crash(ask: Callable[..., Any]) -> None:
    done = ask("abort").done
    assert (done.outcome, done.signal) == ("crash", signal.SIGABRT)


def test_computing_beyond_the_wall_limit_is_a_hang(ask: Callable[..., Any]) -> None:
    done = ask("spin", wall_ms=200, cpu_ms=5000, solitary=True).done
    assert done.outcome == "hang"
    assert done.degraded == ["time"]


def test_computing_beyond_the_cpu_limit_is_cpu(ask: Callable[..., Any]) -> None:
    assert ask("spin", wall_ms=20000, cpu_ms=150).done.outcome == "cpu"


def test_sleeping_beyond_the_wall_limit_is_no_verdict(ask: Callable[..., Any]) -> None:
    assert ask("sleep", wall_ms=150).done.outcome == "stalled"


def test_sleeping_alone_beyond_twice_the_wall_limit_is_a_hang(ask: Callable[..., Any]) -> None:
    done = ask("sleep", wall_ms=150, solitary=True).done
    assert done.outcome == "hang"
    assert done.wall_us >= 2 * 2 * 150_000  # recorded once, judged once


def test_memory_beyond_the_limit_is_oom(ask: Callable[..., Any]) -> None:
    done = ask("allocate", rss_mib=100, wall_ms=20000, cpu_ms=20000).done
    assert done.outcome == "oom"
    assert done.rss_kib_max > 90 * 1024


def test_printing_beyond_the_limit_of_files_ends_no_run(ask: Callable[..., Any]) -> None:
    answer = ask("prints", output_kib=64)
    assert (answer.done.outcome, answer.done.exit_code) == ("ok", 0)
    assert [child.input[:1] for child in answer.children] == [b"p"]


def test_endless_printing_meets_the_limit_of_time(ask: Callable[..., Any]) -> None:
    assert ask("flood", output_kib=64, wall_ms=200, solitary=True).done.outcome in ("hang", "cpu")


def test_a_file_beyond_the_limit_is_a_flood_that_says_so(ask: Callable[..., Any]) -> None:
    done = ask("writes", output_kib=64).done
    assert (done.outcome, done.reason) == ("flood", "output_limit")


@pytest.mark.parametrize(
    ("what", "signum"), [("killed", signal.SIGKILL), ("terminated", signal.SIGTERM)]
)
def test_a_signal_at_the_same_point_each_time_is_an_ending(
    ask: Callable[..., Any], what: str, signum: int
) -> None:
    done = ask(what).done
    assert (done.outcome, done.signal) == ("ok", signum)


def test_a_signal_that_nobody_explains_is_no_verdict(ask: Callable[..., Any]) -> None:
    assert ask("erratic").done.outcome == "killed"


def test_a_run_that_reads_no_input_is_refused_and_names_its_files(ask: Callable[..., Any]) -> None:
    done = ask("unread").done
    assert done.outcome == "refused"
    assert done.reason == "no_symbolic_byte"
    assert done.opened == ["/etc/hostname", "/dev/null"]


def test_a_target_that_kills_its_fork_server_is_an_error_and_the_next_run_works(
    start: Start, fake_target: str
) -> None:
    executor = start()
    executor.hello([fake_target, "killserver", "@@"])
    assert executor.run(SEED).done.outcome == "error"
    assert executor.run(SEED + b"x").done.outcome == "error"


def test_a_fork_server_that_was_killed_is_started_again(
    start: Start,
    own_target: str,
    running: Callable[[str], list[int]],
    none_left: Callable[[str], None],
) -> None:
    executor = start()
    executor.hello([own_target, "magic", "@@"], keep="all")
    first = executor.run(SEED)
    for pid in running(own_target):
        os.kill(pid, signal.SIGKILL)
    second = executor.run(SEED)
    assert second.inputs == first.inputs
    assert second.done.outcome == "ok"
    executor.close()
    none_left(own_target)


@pytest.mark.parametrize("keep", ["all", "novel"])
@pytest.mark.parametrize("whom", ["run", "server"])
def test_a_run_that_is_killed_once_leaves_no_trace(
    start: Start, fake_target: str, tmp_path: Path, whom: str, keep: str
) -> None:
    def answer(which: int) -> tuple[object, ...]:
        executor = start()
        order = f"victim:{whom}:{which}:{tmp_path / f'runs-{which}'}"
        executor.hello([fake_target, order, "@@"], keep=keep)
        given = executor.run(SEED)
        executor.close()
        done = given.done
        found = [
            (child.input, child.outcome, child.edges, child.unstable) for child in given.children
        ]
        said = (done.outcome, done.edges, done.unstable, done.rows, done.events, done.generated)
        return (sorted(found), said, done.flips)

    calm = answer(0)
    runs = (tmp_path / "runs-0").stat().st_size
    assert runs >= 4
    for which in range(1, runs + 1):
        assert answer(which) == calm, f"run {which} of {runs} was killed"


def test_unstable_edges_are_counted_and_left_out(ask: Callable[..., Any]) -> None:
    answer = ask("unstable")
    assert answer.done.unstable > 0
    stable = memoryview(answer.done.edges).cast("I").tolist()
    assert 1 * 8 in stable  # the edge of every run
    assert all(edge // 8 < 200 for edge in stable)  # none of the random ones


def test_nonsense_in_the_table_harms_nobody(start: Start, fake_target: str) -> None:
    executor = start()
    executor.hello([fake_target, "garbage", "@@"], solver_rlimit=20_000, goals=30)
    for number in range(12):
        answer = executor.run(number.to_bytes(8, "little"))
        assert answer.done.outcome in ("ok", "crash")
