"""Small campaigns whose engine is a program of a few lines.

The program is called with the input's path and the output folder; RUNS names a log, where it
appends the digest of each input that it runs, and SECONDS how long it should take: so every
execution can be counted from outside the campaign.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from symfleet.clock import SystemClock
from symfleet.config.model import (
    Advanced,
    CampaignConfig,
    Limits,
    Output,
    Resources,
    Stop,
    Target,
)
from symfleet.coverage.generation import engine_build_of, generation_key
from symfleet.ledger.contract import LedgerReader, LedgerStatus
from symfleet.ledger.opener import has_ledger
from symfleet.observe.report import FAULTS
from symfleet.runtime.engines import engine_command
from symfleet.runtime.identity import version
from symfleet.runtime.stores import OpenedLedger, open_ledger, open_reader
from symfleet.testing.jobs import Job, until
from symfleet.testing.stores.ledger_damage import tamper
from symfleet.types import WorkState


def faults_of(status: LedgerStatus) -> dict[str, dict[str, int]]:
    """Return the fault counters that are not 0: none in a healthy run."""
    return {
        name: reasons
        for name, reasons in status.faults_total.items()
        if name in FAULTS and any(reasons.values())
    }


def well_status(out: Path, disturbed: Collection[str] = ()) -> LedgerStatus:
    """Return a snapshot of a campaign that is well; see `ProgramCampaign.status`."""
    with open_reader(out) as reader:
        findings = list(reader.audit())
        assert findings == [], findings
        status = reader.status()
    faults = {name: why for name, why in faults_of(status).items() if name not in disturbed}
    assert faults == {}, faults
    assert status.states.get(WorkState.POISONED, 0) == 0
    return status


class ProgramCampaign:
    """One campaign folder, its seeds, its engine program, and all launches that a test makes."""

    def __init__(
        self,
        folder: Path,
        program: Path,
        seeds: Mapping[str, bytes],
        *,
        slots: int = 2,
        seconds: float = 0.0,
        env: Sequence[str] = (),
    ) -> None:
        """Write `seeds` (name -> bytes) below `folder`; nothing is launched yet, by this object.
        `env`: more variables of the program (NAME=VALUE)."""
        self.folder = folder
        self.out = folder / "out"
        self.seeds = folder / "seeds"
        self.log = folder / "runs.log"
        self.tmp = folder / "tmp"
        self.program = program
        self.interpreter: tuple[str, ...] = (sys.executable, "-S", "-E")
        """What runs the program."""
        self.slots = slots
        self.seconds = seconds
        self.env = tuple(env)
        self.ledger = ""
        """The setting of that name."""
        self.coordinators: int | None = None
        self.resources: Resources | None = None
        """What is used instead of `slots` slots of this host."""
        """The setting of that name."""
        self.own_connections = False
        """The setting of that name."""
        self.jobs: list[Job] = []
        for made in (self.seeds, self.tmp):
            made.mkdir(parents=True, exist_ok=True)
        for name, data in seeds.items():
            (self.seeds / name).write_bytes(data)

    def config(
        self,
        *,
        seconds: float | None = None,
        stop: Stop | None = None,
        advanced: Advanced | None = None,
    ) -> CampaignConfig:
        """Return the configuration of one launch; `seconds` that an execution takes."""
        takes = self.seconds if seconds is None else seconds
        words = (*self.interpreter, str(self.program), "@@", "@out")
        return CampaignConfig(
            target=Target(
                argv=(sys.executable,),
                seed_paths=(str(self.seeds),),
                keep="all",
                engine="command",
                engine_command=words,
                env=(f"RUNS={self.log}", f"SECONDS={takes:g}", *self.env),
            ),
            resources=self.resources or Resources(jobs=self.slots, coordinators=self.coordinators),
            # A program that sleeps must not look like one that hangs.
            limits=Limits(wall_ms=20_000),
            stop=stop or Stop(until_quiescent=True),
            output=Output(
                out_dir=str(self.out), screen="none", status_period_s=0.2, ledger=self.ledger
            ),
            advanced=advanced or Advanced(idle_window_s=0.1, own_connections=self.own_connections),
        )

    def job(
        self,
        *,
        seconds: float | None = None,
        stop: Stop | None = None,
        advanced: Advanced | None = None,
        launcher: Sequence[str] = (sys.executable, "-m", "symfleet.testing.launch"),
        env: Mapping[str, str] | None = None,
    ) -> Job:
        """Return a launch that is not started."""
        scratch = self.folder / f"launch{len(list(self.folder.glob('launch*')))}"
        scratch.mkdir()
        config = self.config(seconds=seconds, stop=stop, advanced=advanced)
        made = Job(config, scratch, launcher=launcher, env={"TMPDIR": str(self.tmp), **(env or {})})
        self.jobs.append(made)
        return made

    def close(self) -> None:
        """End what is left of all launches."""
        for job in self.jobs:
            job.end()

    # ---- looking -----------------------------------------------------------------------------

    def runs(self) -> list[str]:
        """Return the digest of each input that was run, in order."""
        return self.log.read_text().split() if self.log.exists() else []

    def reader(self) -> contextlib.AbstractContextManager[LedgerReader]:
        """Open the ledger for reading."""
        return open_reader(self.out)

    def status(self, *, disturbed: Collection[str] = ()) -> LedgerStatus:
        """Return a snapshot of a campaign that is well: its audit finds nothing, nothing is
        poisoned, and each fault counter is 0 but those that the test itself has `disturbed`."""
        return well_status(self.out, disturbed)

    def decisions(self) -> int:
        """Return how many decisions there are; 0 without a ledger."""
        if not has_ledger(self.out):
            return 0
        with self.reader() as reader:
            return reader.status().decisions

    def epochs(self) -> int:
        """Return how many epochs there are; 0 without a ledger."""
        if not has_ledger(self.out):
            return 0
        with self.reader() as reader:
            return reader.status().epochs

    def wait_for_decision(self, job: Job, within_s: float = 30.0) -> None:
        """Wait for a decision that is not there yet."""
        before = self.decisions()
        until(
            "a decision is made",
            lambda: self.decisions() > before or not job.is_running,
            within_s,
        )

    def corpus_files(self) -> dict[str, bytes]:
        """Return name -> bytes of all published inputs."""
        folder = self.out / "corpus"
        return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def assert_tidy(self) -> None:
        """Raise when a launch has left something outside what people look at."""
        left = [str(path.relative_to(self.tmp)) for path in self.tmp.rglob("*")]
        assert left == [], f"left outside the output folder: {left}"
        assert not (self.out / ".run").exists(), "a run folder is left"

    # ---- arranging ---------------------------------------------------------------------------

    @contextlib.contextmanager
    def owned(self) -> Iterator[OpenedLedger]:
        """Own the ledger, as a job would, made when there is none."""
        config = self.config()
        self.out.mkdir(exist_ok=True)
        key = generation_key(
            config,
            Path(sys.executable),
            engine_build_of(engine_command(config), version()),
        )
        opened = open_ledger(config, key, SystemClock())
        try:
            yield opened
        finally:
            opened.ledger.close()

    def tamper(self, statement: str, values: Sequence[object] = ()) -> None:
        """Change the ledger behind its back."""
        tamper(self.out / "ledger.db", statement, values)
