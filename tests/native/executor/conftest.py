"""The native executor as a process, and a target that is written by hand."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from symfleet.engine import frames

REPOSITORY = Path(__file__).resolve().parents[3]
DEADLINE_S = 60.0
LIMITS = {
    "wall_ms": 2000,
    "cpu_ms": 2000,
    "rss_mib": 512,
    "output_kib": 1024,
    "open_files": 64,
    "rows": 1 << 16,
    "events": 1 << 14,
    "solver_rlimit": 2_000_000,
    "solver_ms": 0,
    "goals": 10_000,
    "execution_ms": 0,
    "children": 1000,
    "result_mib": 64,
    "input_bytes": 1 << 16,
}


@dataclass
class Answer:
    """All that one `run` was answered with."""

    done: frames.Done
    children: list[frames.Child] = field(default_factory=list)
    progress: list[int] = field(default_factory=list)

    @property
    def inputs(self) -> list[bytes]:
        return [child.input for child in self.children]


class Executor:
    """`symfleet-exec --serve`, spoken to frame by frame."""

    def __init__(self, program: Path, work_dir: Path) -> None:
        self.work_dir = work_dir
        self.process = subprocess.Popen(
            [program, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._reader = frames.FrameReader(frames.FROM_EXECUTOR)
        self._runs = 0

    def send(self, frame: frames.FromWorker) -> None:
        self.send_bytes(frames.encode_frame(frame))

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self) -> frames.FromExecutor:
        """Return the next frame; the process's end is an error."""
        assert self.process.stdout is not None
        while (frame := self._reader.next()) is None:
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, f"the executor ended with {self.process.wait(DEADLINE_S)}"
            self._reader.feed(data)
        return frame

    def hello(
        self, argv: list[str], *, keep: str = "novel", input_mode: str = "file", **limits: int
    ) -> frames.FromExecutor:
        self.send(
            frames.Hello(
                protocol=1,
                argv=argv,
                input_mode=input_mode,
                work_dir=str(self.work_dir),
                keep=keep,
                limits=LIMITS | limits,
                seed=1,
                env={},
            )
        )
        return self.receive()

    def run(
        self,
        data: bytes,
        *,
        bound: int = 0,
        focus: list[tuple[int, int]] | None = None,
        solitary: bool = False,
    ) -> Answer:
        self._runs += 1
        self.send(frames.Run(self._runs, data, bound, focus, solitary))
        assert self.receive() == frames.Started(self._runs)
        children: list[frames.Child] = []
        progress: list[int] = []
        while True:
            match self.receive():
                case frames.Child() as child:
                    assert child.id == self._runs
                    children.append(child)
                case frames.Progress() as grown:
                    progress.append(grown.counter)
                case frames.Done() as done:
                    assert done.id == self._runs
                    return Answer(done, children, progress)
                case other:
                    raise AssertionError(other)

    def close(self) -> None:
        """End of file is the order to leave at once."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(DEADLINE_S)
        self.process.stdout.close()


@pytest.fixture(scope="session")
def program() -> Path:
    """The executor: below SYMFLEET_NATIVE_DIR, else in the installed package."""
    folder = os.environ.get("SYMFLEET_NATIVE_DIR")
    root = Path(folder) if folder else REPOSITORY / "src" / "symfleet" / "native"
    found = root / "bin" / "symfleet-exec"
    assert found.is_file(), f"{found} is missing: build native/executor"
    return found


@pytest.fixture(scope="session")
def fake_target(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Compile tests/native/fake_target.c once."""
    out = tmp_path_factory.mktemp("fake") / "fake_target"
    compiler = shutil.which("cc") or shutil.which("clang")
    assert compiler is not None
    source = REPOSITORY / "tests" / "native" / "fake_target.c"
    include = REPOSITORY / "native" / "include"
    warnings = ["-Wall", "-Wextra", "-Werror"]
    subprocess.run(
        [compiler, "-std=gnu11", *warnings, "-O1", "-I", str(include), str(source), "-o", str(out)],
        check=True,
    )
    return str(out)


@pytest.fixture
def start(program: Path, tmp_path: Path) -> Iterator[Callable[..., Executor]]:
    """A maker of executors, each with its own folder, below `parent` if that is given; all are
    ended, nothing may be left."""
    made: list[Executor] = []

    def make(parent: Path = tmp_path) -> Executor:
        folder = parent / f"work{len(made)}"
        folder.mkdir()
        made.append(Executor(program, folder))
        return made[-1]

    yield make
    for executor in made:
        executor.close()
        if executor.work_dir.is_dir():
            assert list(executor.work_dir.iterdir()) == []


def processes_named(path: str) -> list[int]:
    """Pids of the processes that run this very file."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if str((entry / "exe").readlink()) == path:
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@pytest.fixture
def own_target(fake_target: str, tmp_path: Path) -> Iterator[str]:
    """A copy of the fake target for one test: whoever runs it belongs to this test."""
    copy = str(shutil.copy(fake_target, tmp_path / "own_target"))
    yield copy
    for pid in processes_named(copy):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def running() -> Callable[[str], list[int]]:
    """The pids of the processes that run a given file."""
    return processes_named


@pytest.fixture
def none_left() -> Callable[[str], None]:
    """Wait until no process runs the given file."""

    def wait(path: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while processes_named(path):
            assert time.monotonic() < deadline, f"{processes_named(path)} still run {path}"
            time.sleep(0.01)

    return wait
