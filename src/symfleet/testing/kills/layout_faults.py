"""Campaigns of several coordinators that lose something on the way and end as if they had not.

A *layout* is a number of coordinators and a store. One run explores a finite program; at a random
instant after its first decision one fault strikes. In the end everything must be as in a run of
one worker that nobody disturbed (`symfleet.testing.kills.loop`, whose watch this has), the epochs
must be as many as the fault costs, and neither a process nor a file may be left.
"""

from __future__ import annotations

import enum
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

import psycopg

from symfleet.config.model import Advanced, Resources
from symfleet.runtime.stores import open_reader
from symfleet.testing.jobs import Member, Role, until
from symfleet.testing.kills.loop import (
    Facts,
    Kill,
    RunReport,
    Watch,
    collect_facts,
    conclude,
    decided_inputs,
    decisions_so_far,
)
from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.stores.postgres_cluster import Cluster

SLOTS_PER_COORDINATOR: Final = 4
SLOTS_PER_WORKER: Final = 2
SILENCE_S: Final = 3.0
"""Of `root_silence_s`: a stopped coordinator is given up after twice that."""
_DECISION_S: Final = 60.0
_STRIKE_S: Final = 30.0
_END_S: Final = 180.0
_POLL_S: Final = 0.02
_SESSIONS: Final = (
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'symfleet'"
    " AND backend_start < clock_timestamp() - interval '1 second'"
)
"""Those of coordinators: nobody else holds one for longer than a look takes."""


class Store(enum.StrEnum):
    """Where the ledger is, and how coordinators that are not the root reach it."""

    SQLITE = "sqlite through the root"
    POSTGRES = "postgresql through the root"
    OWN_CONNECTIONS = "postgresql over own connections"


class Fault(enum.StrEnum):
    """What happens to a run."""

    WORKER = "worker killed"
    COORDINATOR = "coordinator killed"
    ROOT = "root killed"
    STOPPED = "coordinator stopped until it is given up, then continued"
    SESSION = "session ended on the server"
    SERVER = "server crashed and started again"
    HOST = "host lost power"
    PARTITION = "host cut off for 20 s"

    @property
    def of_server(self) -> bool:
        """Whether it strikes the database server."""
        return self in (Fault.SESSION, Fault.SERVER)

    @property
    def of_host(self) -> bool:
        """Whether it strikes a whole host."""
        return self in (Fault.HOST, Fault.PARTITION)


_ROLES: Final = {
    Fault.WORKER: Role.WORKER,
    Fault.COORDINATOR: Role.COORDINATOR,
    Fault.ROOT: Role.ROOT,
    Fault.STOPPED: Role.COORDINATOR,
}


@dataclass(frozen=True, slots=True)
class Layout:
    """How a run is laid out, and what strikes it."""

    coordinators: int
    store: Store
    fault: Fault
    hosts: int = 1

    def __str__(self) -> str:
        where = f" on {self.hosts} hosts" if self.hosts > 1 else ""
        return f"{self.coordinators} coordinators{where}, {self.store}: {self.fault}"

    @property
    def codes(self) -> tuple[int, ...]:
        """Exit codes that are right: 2 where a worker or its acknowledgement may be missing."""
        return (0,) if self.fault in (Fault.ROOT, Fault.SESSION, Fault.SERVER) else (0, 2)

    @property
    def epochs(self) -> tuple[int, ...]:
        """How many epochs a run may take: the root's death costs one, and so does the return of a
        host; one worker of at least four may be missing."""
        if self.fault.of_host:
            return (1, 2, 3)
        return (2,) if self.fault is Fault.ROOT else (1,)


def layouts(stores: tuple[Store, ...] = tuple(Store)) -> Iterator[Layout]:
    """Yield every layout with every fault that it can meet."""
    for coordinators in (2, 3, 4):
        for store in stores:
            for fault in Fault:
                if store is Store.SQLITE and fault.of_server:
                    continue
                if not fault.of_host:
                    yield Layout(coordinators, store, fault)
                elif store is not Store.OWN_CONNECTIONS and coordinators < 4:
                    yield Layout(coordinators, store, fault, hosts=coordinators)


@dataclass(frozen=True, slots=True)
class Exploration:
    """The finite program that is explored: `nodes` executions, which take `wall_s` together at
    least, on however many slots."""

    program: Path
    nodes: int
    wall_s: float

    def campaign(self, folder: Path, slots: int) -> ProgramCampaign:
        """Return a campaign that is not launched."""
        return ProgramCampaign(
            folder,
            self.program,
            {"root": b"0"},
            slots=slots,
            seconds=round(self.wall_s * slots / self.nodes, 3),
            env=(f"NODES={self.nodes}",),
        )

    def undisturbed(self, folder: Path) -> Facts:
        """Explore with one worker and without a fault."""
        campaign = replace(self, wall_s=0.0).campaign(folder, 1)
        try:
            code = campaign.job().run(_END_S)
        finally:
            campaign.close()
        assert code == 0, campaign.jobs[0].story.read_text()
        assert len(campaign.runs()) == len(set(campaign.runs())) == self.nodes
        campaign.status()
        with campaign.reader() as reader:
            return collect_facts(reader, campaign.out)


class Run(Protocol):
    """One run and its fault."""

    def run(self) -> tuple[RunReport, str]:
        """Run to the end; return the report and what the launcher said."""


class DisturbedRun:
    """One run and its fault."""

    def __init__(
        self,
        campaign: ProgramCampaign,
        layout: Layout,
        chance: random.Random,
        *,
        within_s: float,
        cluster: Cluster | None = None,
    ) -> None:
        """`within_s`: the fault strikes at most so long after the first decision. `cluster`: the
        server, where the layout has one."""
        self._campaign = campaign
        self._layout = layout
        self._chance = chance
        self._within_s = within_s
        self._cluster = cluster
        self._watch = Watch(campaign.log)
        if layout.store is not Store.SQLITE:
            assert cluster is not None
            campaign.ledger = cluster.url
        advanced = Advanced(
            idle_window_s=0.1,
            root_silence_s=SILENCE_S if layout.fault is Fault.STOPPED else 15,
            **_own_connections(layout.store),
        )
        self.job = campaign.job(advanced=advanced)
        self.job.config = replace(
            self.job.config,
            resources=Resources(
                jobs=campaign.slots,
                coordinators=layout.coordinators,
                slots_per_worker=SLOTS_PER_WORKER,
            ),
        )

    def run(self) -> tuple[RunReport, str]:
        """Run to the end and look at what is left; the report judges nothing. Returns also what
        the launcher said."""
        began = time.monotonic()
        self.job.start()
        out = self.job.out
        until(
            "a decision is made",
            lambda: decisions_so_far(out) > 0 or not self.job.is_running,
            _DECISION_S,
        )
        delay_s = self._chance.uniform(0.0, self._within_s)
        strike_at = time.monotonic() + delay_s
        while time.monotonic() < strike_at and self.job.is_running:
            time.sleep(_POLL_S)
        struck = self._strike()
        kills = (Kill(self._layout.fault, struck, round(delay_s, 3)),) if struck else ()
        code = self.job.wait(_END_S)
        report = conclude(self.job, self._watch, kills, code, began)
        self._campaign.assert_tidy()
        return report, self.job.story.read_text()

    # ---- what strikes ------------------------------------------------------------------------

    def _strike(self) -> int:
        """Let the fault happen; return how much had been decided, 0 when it met nobody."""
        with open_reader(self.job.out) as reader:
            decided = decided_inputs(reader)
        self._watch.mark(decided)
        match self._layout.fault:
            case Fault.SESSION:
                met = self._end_session()
            case Fault.SERVER:
                assert self._cluster is not None
                met = self.job.is_running
                self._cluster.halt("immediate")
                self._cluster.start()
            case Fault.STOPPED:
                met = self._stop_and_continue()
            case Fault.HOST | Fault.PARTITION:
                raise AssertionError("hosts are struck by symfleet.testing.hosts.faults")
            case fault:
                met = self.job.kill(self._choose(_ROLES[fault]))
        return len(decided) if met else 0

    def _choose(self, role: Role) -> Member:
        found = self.job.find(role)
        assert found, f"there is no {role}: {self.job.story.read_text()}"
        return self._chance.choice(found)

    def _end_session(self) -> bool:
        """End the server's side of one coordinator's connection, as its operator may."""
        assert self._cluster is not None
        url, met = self._cluster.url, False

        def ended() -> bool:
            nonlocal met
            met = end_session(url, self._chance)
            return met or not self.job.is_running

        until("a session is seen", ended, _STRIKE_S)
        return met

    def _stop_and_continue(self) -> bool:
        """Stop a coordinator until the root has given it up; continued, it must go."""
        victim = self._choose(Role.COORDINATOR)
        if not self.job.kill(victim, signal.SIGSTOP):
            return False
        log = self.job.out / "logs" / "coordinator-0.jsonl"
        try:
            until(
                "the root gives the stopped coordinator up",
                lambda: "coordinator_lost" in (log.read_text() if log.exists() else ""),
                _STRIKE_S,
            )
        finally:
            self.job.kill(victim, signal.SIGCONT)
        until("it leaves", lambda: victim not in self.job.find(Role.COORDINATOR), _STRIKE_S)
        return True


def _own_connections(store: Store) -> Mapping[str, bool]:
    return {"own_connections": True} if store is Store.OWN_CONNECTIONS else {}


def end_session(url: str, chance: random.Random) -> bool:
    """End the session of a random coordinator on a server; False when there is none."""
    with psycopg.connect(url, autocommit=True) as connection:
        sessions = sorted(pid for (pid,) in connection.execute(_SESSIONS))
        if not sessions:
            return False
        pid = chance.choice(sessions)
        return connection.execute("SELECT pg_terminate_backend(%s)", (pid,)).fetchone() == (True,)


def disturb(
    folder: Path,
    exploration: Exploration,
    layout: Layout,
    seed: int,
    *,
    within_s: float,
    cluster: Cluster | None = None,
    make: Callable[..., Run] | None = None,
) -> tuple[RunReport, str]:
    """Run one layout with its fault; return the report and what the launcher said. `make`: what
    makes a run (default: `DisturbedRun`); one of several hosts is made elsewhere."""
    campaign = exploration.campaign(folder, layout.coordinators * SLOTS_PER_COORDINATOR)
    try:
        chance = random.Random(f"{layout} {seed}")
        run = (make or DisturbedRun)(campaign, layout, chance, within_s=within_s, cluster=cluster)
        return run.run()
    finally:
        campaign.close()


def wrong(out: Path, report: RunReport, expected: Facts, layout: Layout) -> list[str]:
    """Say what is wrong with a run: nothing, if symfleet keeps its promise."""
    facts = report.facts
    checks = {
        f"exit code {report.exit_code}": report.exit_code in layout.codes,
        "the fault met nobody": len(report.kills) == 1,
        f"{report.epochs} epochs": report.epochs in layout.epochs,
        "another corpus": facts.corpus == expected.corpus,
        "other files": facts.files == expected.files,
        "other manifests": facts.manifests == expected.manifests,
        f"other counters: {facts.counters}": facts.counters == expected.counters,
        "poisoned items": facts.poisoned == 0,
        f"run again: {report.run_again}": not report.run_again,
        f"audit: {report.findings}": not report.findings,
        (said := verify(out)): not said,
    }
    return [name for name, holds in checks.items() if not holds]


def verify(out: Path, within_s: float = 60.0) -> str:
    """Return what `symfleet verify` has to say against a campaign; empty when it is sound."""
    done = subprocess.run(
        [sys.executable, "-m", "symfleet.cli.main", "verify", "--json", str(out)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=within_s,
        check=False,
    )
    if done.returncode == 0 and json.loads(done.stdout)["ok"] is True:
        return ""
    return f"verify {done.returncode}: {(done.stdout + done.stderr).decode()}"
