"""What the process-level kill matrix kills: small campaigns and what people do with their folders.

A *scene* is a folder, and a *life* in it: a function that does everything that is to be done and
has not been done yet. It may die anywhere, and is then lived again from its beginning. Each scene
knows what must be true whenever it is looked at, and what it has come to in the end.

On the way of a campaign an executor dies, another gives an answer that makes no sense, somebody
spoils a published file, and an input and a command lie in the inbox, so that every branch that
writes anything is taken.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from symfleet.config.model import Advanced, CampaignConfig, Output, Resources, Stop, Target
from symfleet.corpus.inbox import RearmPoison, drop_command, drop_input
from symfleet.ledger.contract import LedgerReader
from symfleet.ledger.opener import has_ledger
from symfleet.ledger.reserve import DEFAULT_RESERVE_BYTES, RESERVE_NAME, keep_reserve
from symfleet.protocol.events import (
    ExecutionDone,
    ExecutorGone,
    ExecutorReady,
    RunItem,
    SelfTestDone,
    StartExecutor,
    WorkerEvent,
)
from symfleet.protocol.work import decode_item, work_id_of
from symfleet.runtime.plan import plan_of
from symfleet.runtime.stores import open_reader
from symfleet.runtime.worker_loop import Executor
from symfleet.testing.kills.loop import Facts, Watch, collect_facts, decided_inputs
from symfleet.testing.one_process import STEP_S, Job
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.types import SinkKind, WorkState, input_id_of

PROGRAM: Final = SyntheticProgram(size=9, seed=23)
FROM_INBOX: Final = 8
"""The node that comes through the inbox; others lead to it, too."""
SILENCE_S: Final = 2.0
SPOILT: Final = b"spoilt"
ROOT: Final = "0"
"""The root's place."""
_EPOCHS_MAX: Final = 4


@dataclass(frozen=True, slots=True)
class Mischief:
    """What goes wrong by itself, each once in a campaign: nodes of the program. `deadly`: an
    executor that runs it dies, always. `pausing`: while it runs, coordinator 1 stands still until
    it is given up."""

    dies: int = 3
    babbles: int = 4
    spoils: int = 2
    deadly: int | None = None
    pausing: int | None = None


class Scene:
    """One campaign's folder, its lives, and what was true of it."""

    def __init__(
        self,
        folder: Path,
        *,
        coordinators: int = 1,
        mischief: Mischief | None = None,
        ledger: str = "",
    ) -> None:
        """Nothing is made yet. `ledger`: the setting of that name."""
        self.folder = folder
        self.out = folder / "out"
        self.log = folder / "runs.log"
        """One line for each execution: the input's digest."""
        self.mischief = mischief or Mischief()
        self.job: Job | None = None
        """The epoch that runs, in the process that lives."""
        self._coordinators = coordinators
        self._ledger = ledger
        self._target = folder / "target"
        self._watch = Watch(self.log)
        self._decided: frozenset[str] = frozenset()

    def make(self) -> None:
        """Make what a campaign needs: a seed, and two programs that are only named."""
        seeds = self.folder / "seeds"
        seeds.mkdir(parents=True)
        (seeds / "seed").write_bytes(PROGRAM.data(0))
        executor = self.folder / "native" / "bin" / "symfleet-exec"
        executor.parent.mkdir(parents=True)
        for program in (self._target, executor):
            program.write_text("#!/bin/false\n")
            program.chmod(0o755)
        self._share_reserve()

    def _share_reserve(self) -> None:
        """Have the ledger's reserve be there: all scenes beside each other have one, because a
        campaign of nine inputs would spend most of its time on making so large a file."""
        shared = self.folder.parent / RESERVE_NAME
        if not shared.exists():
            keep_reserve(shared.parent, DEFAULT_RESERVE_BYTES)
        self.out.mkdir(exist_ok=True)
        os.link(shared, self.out / RESERVE_NAME)

    @property
    def config(self) -> CampaignConfig:
        """What is asked for."""
        seeds, slots = self.folder / "seeds", max(2, 3 * self._coordinators)
        return CampaignConfig(
            target=Target(argv=(str(self._target),), seed_paths=(str(seeds),), keep="all"),
            resources=Resources(jobs=slots, coordinators=self._coordinators),
            stop=Stop(until_quiescent=True),
            output=Output(
                out_dir=str(self.out), screen="none", status_period_s=0.1, ledger=self._ledger
            ),
            advanced=Advanced(idle_window_s=0.05, root_silence_s=SILENCE_S),
        )

    def take(self, other: Scene) -> None:
        """Become what another scene is, with what is known of it."""
        self._decided = other._decided
        self._watch = Watch(self.log, list(other._watch.marks))
        shutil.copytree(other.folder, self.folder, ignore=shutil.ignore_patterns(RESERVE_NAME))
        self._share_reserve()

    def forget(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder)

    def runs(self) -> list[str]:
        """Return the digest of each input that was executed, in order."""
        return self.log.read_text().split() if self.log.exists() else []

    # ---- a life --------------------------------------------------------------------------------

    def live(self) -> int:
        """Work on the campaign until it has a verdict; return its exit code."""
        os.environ["SYMFLEET_NATIVE_DIR"] = str(self.folder / "native")
        self.out.mkdir(exist_ok=True)
        for number in range(1, _EPOCHS_MAX + 1):
            run_dir = self.out / ".run" / str(number)
            run_dir.mkdir(parents=True, exist_ok=True)
            drop_input(self.out, PROGRAM.data(FROM_INBOX))
            drop_command(self.out, RearmPoison(), "rearm")
            plan = plan_of(
                self.config,
                self._target,
                run_dir,
                os.getpid(),
                (0.0, 0),
                has_ledger=has_ledger(self.out),
            )
            step_s = STEP_S * self._coordinators**2  # who waits long looks seldom
            self.job = Job(plan, self._start, random.Random(number), step_s)
            finish = self.job.run()
            self.job = None
            if not finish.restart:
                return finish.exit_code
        raise AssertionError(f"no verdict after {_EPOCHS_MAX} epochs")

    def place(self) -> str:
        """Return the rank that runs; the root's when there is none."""
        return ROOT if self.job is None else self.job.place()

    def role(self, place: str) -> str:
        """Return what the rank of a place is."""
        if place == ROOT:
            return "root"
        return "coordinator" if int(place) < self._coordinators else "worker"

    def _start(self, action: StartExecutor) -> Executor:
        return SyntheticExecutor(self, action)

    # ---- looking at what a dead one has left ---------------------------------------------------

    def look(self) -> list[str]:
        """Return what is wrong now, between two lives."""
        if not has_ledger(self.out):
            return ["the ledger is gone"] if self._decided else []
        with open_reader(self.out) as reader:
            wrong = [f"{found.what}: {found.row}: {found.detail}" for found in reader.audit()]
            decided = self._decided_in(reader)
            known = set(reader.corpus())
        if self._decided - decided:
            wrong.append(f"decided and lost: {sorted(self._decided - decided)}")
        self._decided = decided
        self._watch.mark(decided)
        published = {path.name for path in self._files() if path.parent.parent.name == "corpus"}
        unknown = {name for name in published if name not in known and not self._spoilt(name)}
        if unknown:
            wrong.append(f"published, but not decided: {sorted(unknown)}")
        return wrong

    def _decided_in(self, reader: LedgerReader) -> frozenset[str]:
        return decided_inputs(reader)

    def _spoilt(self, name: str) -> bool:
        return (self.out / "corpus" / name[:2] / name).read_bytes() == SPOILT

    def _files(self) -> Iterator[Path]:
        for kind in SinkKind:
            yield from sorted(path for path in (self.out / kind).rglob("*") if path.is_file())

    def result(self) -> Result:
        """Return what the campaign has come to. It has ended."""
        with open_reader(self.out) as reader:
            facts, faults = collect_facts(reader, self.out), reader.status().faults_total
            states = {state: n for state, n in reader.status().states.items() if n}
            unpublished = reader.status().unpublished
        files = frozenset(str(path.relative_to(self.out)) for path in self._files())
        counted = {name: sum(why.values()) for name, why in faults.items() if any(why.values())}
        return Result(facts, files, states, unpublished, counted, self._watch.run_again())


@dataclass(frozen=True, slots=True)
class Result:
    """What a campaign has come to. `run_again`: inputs that were executed after their decision."""

    facts: Facts
    files: frozenset[str]
    states: dict[WorkState, int]
    unpublished: int
    faults: dict[str, int]
    run_again: tuple[str, ...]

    def wrong(self, expected: Result, allowed: Mapping[str, int]) -> list[str]:
        """Say what is not as in the life that nobody disturbed. `allowed`: fault counters, and how
        much each may show."""
        checks = {
            f"other facts: {self.facts} instead of {expected.facts}": self.facts == expected.facts,
            f"other files: {sorted(self.files ^ expected.files)}": self.files == expected.files,
            f"states {self.states}": self.states == expected.states,
            f"{self.unpublished} unpublished": self.unpublished == 0,
            f"run again: {self.run_again}": not self.run_again,
            f"faults {self.faults}": all(
                amount <= allowed.get(name, 0) for name, amount in self.faults.items()
            ),
        }
        return [name for name, holds in checks.items() if not holds]


class SyntheticExecutor:
    """An executor without a process: it runs the synthetic program, and makes mischief."""

    def __init__(self, scene: Scene, start: StartExecutor) -> None:
        self.slot = start.slot
        self._scene = scene
        self._executor = start.executor
        self._gone = False
        self._events: list[WorkerEvent] = [
            ExecutorReady(start.slot, start.executor, "synthetic", "00", 4096)
        ]
        if start.selftest:
            self._events.append(SelfTestDone(start.slot, ok=True, message=""))

    @property
    def pid(self) -> int | None:
        """None: there is no process."""
        return None

    @property
    def is_gone(self) -> bool:
        """Whether its end was told."""
        return self._gone and not self._events

    def filenos(self) -> list[int]:
        """Nothing to wait for."""
        return []

    def run(self, item: RunItem) -> None:
        """Run an item at once; log it as an engine program would."""
        scene, mischief = self._scene, self._scene.mischief
        digest, node = input_id_of(item.data), PROGRAM.node(item.data)
        is_first = digest not in scene.runs()
        with scene.log.open("a") as log:
            log.write(f"{digest}\n")
        if node == mischief.deadly or (is_first and node == mischief.dies):
            self._end(asked=False)
            return
        result = PROGRAM.execute(work_id_of(decode_item(item.payload)), item.data)
        if is_first and node == mischief.babbles:
            result = msgspec.structs.replace(result, input_id=input_id_of(b"another"))
        if is_first and node == mischief.spoils:
            spoil(scene.out, PROGRAM.data(PROGRAM.children(node)[-1]))
        if is_first and node == mischief.pausing and scene.job is not None:
            scene.job.stage.pause(1, 2.5 * SILENCE_S)
        self._events.append(ExecutionDone(self.slot, result))

    def tell(self, edges: bytes) -> None:
        """It has no use for that."""

    def kill(self) -> None:
        """End it."""
        self._end(asked=True)

    def _end(self, *, asked: bool) -> None:
        if not self._gone:
            self._gone = True
            signum = signal.SIGKILL if asked else signal.SIGSEGV
            gone = ExecutorGone(self.slot, self._executor, "ended", signum, asked, False)
            self._events = [gone]

    def poll(self) -> list[WorkerEvent]:
        """Tell what has happened."""
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        """End it without a word."""
        self._gone, self._events = True, []


def spoil(out: Path, data: bytes) -> None:
    """Put wrong bytes where an input will be published."""
    digest = input_id_of(data)
    path = out / "corpus" / digest[:2] / digest
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(SPOILT)
