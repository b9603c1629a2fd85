"""Campaigns whose ranks write down what they do: what `benchmarks.kill_cost` counts afterwards.

    python -m benchmarks.kill_cost.traced_ranks launch TRACE CONFIG.json

That is `symfleet.testing.launch` with other ranks: each is `symfleet.runtime.rank`, and beside that
writes into the folder TRACE. A worker writes a line when it hands an item to its executor, and one
when the executor's result has come. The root keeps one file with its clocks and how much of them
was spent in making things durable. A write reaches the kernel at once and is not synced: it
outlives SIGKILL, and costs some microseconds. All times are seconds; those of lines are of the
wall clock (`time.time`), as in the ledger.
"""

from __future__ import annotations

import functools
import os
import runpy
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from symfleet import crash
from symfleet.config.environment import mpi_rank
from symfleet.engine.client import ExecutorClient
from symfleet.protocol.events import ExecutionDone, RunItem, StartExecutor, WorkerEvent
from symfleet.runtime import launcher as launcher_module
from symfleet.runtime import rank as rank_module
from symfleet.runtime import worker_loop
from symfleet.runtime.mpirun import mpirun_command

RANK: Final = "symfleet.runtime.rank"
_SPANS: Final = {
    "commit.after": ("commit.before", "commit"),
    "checkpoint.after": ("checkpoint.before", "checkpoint"),
    "publish.synced": ("filesystem.sync", "publication"),
    "file.rename": ("file.sync", "file"),
}
"""End of a span of durability -> (its begin, its name), as labels of `symfleet.crash`."""


class Done(msgspec.Struct, frozen=True, tag="done"):
    """A result has come to the worker. `wall_us` and `solver_us` (time inside solver calls) are in
    microseconds, as the executor has measured them."""

    work_id: str
    place: str
    at: float
    wall_us: int
    solver_us: int


class Run(msgspec.Struct, frozen=True, tag="run"):
    """One item was handed to an executor. `place` names worker process and slot, `at` is the time;
    `done`: its result, None when none came."""

    work_id: str
    place: str
    at: float
    done: Done | None = None


class RootUse(msgspec.Struct, frozen=True):
    """What one root has used up to its last durable step: seconds of wall clock and of CPU since
    its start, and both inside each span of durability. `commits`: transactions."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    commits: int = 0
    spans_wall_s: dict[str, float] = {}
    spans_cpu_s: dict[str, float] = {}


_encoder: Final = msgspec.json.Encoder()
_decoder: Final[msgspec.json.Decoder[Run | Done]] = msgspec.json.Decoder(Run | Done)


# ---- writing ------------------------------------------------------------------------------------


class RootTrace:
    """Replaces `symfleet.crash.point` in a root: adds up the time between pairs of points."""

    def __init__(self, path: Path, pass_on: Callable[[str], None]) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)
        self._pass_on = pass_on
        self._began = time.perf_counter()
        self._open: dict[str, tuple[float, float]] = {}
        self._commits = 0
        self._wall_s = {name: 0.0 for _, name in _SPANS.values()}
        self._cpu_s = dict(self._wall_s)
        self._begins = frozenset(begin for begin, _ in _SPANS.values())

    def point(self, label: str) -> None:
        """Pass a point."""
        if label in self._begins:
            self._open[label] = time.perf_counter(), time.process_time()
        elif label in _SPANS:
            begin, name = _SPANS[label]
            if begin in self._open:
                self._close(name, *self._open.pop(begin))
        self._pass_on(label)

    def _close(self, name: str, wall: float, cpu: float) -> None:
        now, used = time.perf_counter(), time.process_time()
        self._wall_s[name] += now - wall
        self._cpu_s[name] += used - cpu
        self._commits += name == "commit"
        use = RootUse(now - self._began, used, self._commits, self._wall_s, self._cpu_s)
        # Padded: a shorter text must not leave the end of a longer one.
        os.pwrite(self._file, _encoder.encode(use).ljust(1024), 0)


class TracedClient(ExecutorClient):
    """Writes down what it runs."""

    def __init__(self, file: int, start: StartExecutor, **settings: Any) -> None:
        """`file`: descriptor of this worker's lines."""
        super().__init__(start, **settings)
        self._file = file

    def run(self, item: RunItem) -> None:
        """Hand over one item."""
        self._write(Run(item.work_id, f"{os.getpid()}/{item.slot}", time.time()))
        super().run(item)

    def poll(self) -> list[WorkerEvent]:
        """Return what happened."""
        events = super().poll()
        for event in events:
            if isinstance(event, ExecutionDone):
                one = event.result
                place = f"{os.getpid()}/{event.slot}"
                self._write(Done(one.work_id, place, time.time(), one.wall_us, one.solver_us))
        return events

    def _write(self, line: Run | Done) -> None:
        os.write(self._file, _encoder.encode(line) + b"\n")


def _rank(folder: Path, words: Sequence[str]) -> None:
    """Be a rank that is traced. `words`: what a rank is called with."""
    if mpi_rank() == 0:
        trace = RootTrace(folder / f"root-{os.getpid()}.json", crash.point)
        crash.point = trace.point
    else:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        file = os.open(folder / f"worker-{os.getpid()}.jsonl", flags)
        traced = functools.partial(TracedClient, file)
        worker_loop.ExecutorClient = traced  # type: ignore[assignment,attr-defined]
    sys.argv = [RANK, *words]
    rank_module.main()


def _launch(folder: Path, config: str) -> None:
    """Launch a campaign with traced ranks."""

    def traced(*words: Any) -> list[str]:
        command = mpirun_command(*words)
        place = command.index(RANK)
        # The name stays among the words: symfleet.testing.jobs tells ranks by it.
        ours = ["benchmarks.kill_cost.traced_ranks", RANK, str(folder)]
        return [*command[:place], *ours, *command[place + 1 :]]

    launcher_module.mpirun_command = traced  # type: ignore[assignment,attr-defined]
    sys.argv = ["symfleet.testing.launch", config]
    runpy.run_module("symfleet.testing.launch", run_name="__main__", alter_sys=True)


# ---- reading ------------------------------------------------------------------------------------


def runs_of(folder: Path) -> list[Run]:
    """Return all runs of a campaign in the order of their begin, each with its result if one came.
    A last line that its worker's death has cut off is left out."""
    found: list[Run] = []
    for path in folder.glob("worker-*.jsonl"):
        open_runs: dict[str, Run] = {}
        for line in _lines(path):
            if isinstance(line, Run):
                if line.place in open_runs:
                    found.append(open_runs[line.place])
                open_runs[line.place] = line
            elif line.place in open_runs and open_runs[line.place].work_id == line.work_id:
                found.append(msgspec.structs.replace(open_runs.pop(line.place), done=line))
        found += open_runs.values()
    return sorted(found, key=lambda run: run.at)


def _lines(path: Path) -> Iterator[Run | Done]:
    for text in path.read_bytes().split(b"\n")[:-1]:
        yield _decoder.decode(text)


def roots_of(folder: Path) -> list[RootUse]:
    """Return what each root has used, in no order."""
    texts = (path.read_bytes().strip() for path in folder.glob("root-*.json"))
    return [msgspec.json.decode(text, type=RootUse) for text in texts if text]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["launch", trace, path]:
            _launch(Path(trace), path)
        case [name, trace, *rest] if name == RANK:
            _rank(Path(trace), rest)
        case _:
            sys.exit(__doc__)
