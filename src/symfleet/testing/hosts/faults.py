"""A whole host that is lost, or cut off, in the middle of a run (see `layout_faults`).

The hosts are namespaces (see `namespaces`). The first has the output folder, the root, and the
server's socket where there is a server; each has one coordinator. The last one is struck.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from typing import Final

from symfleet.config.model import Advanced, Resources
from symfleet.runtime.stores import open_reader
from symfleet.testing.hosts.namespaces import SSH, Host, Hosts
from symfleet.testing.jobs import Job, until
from symfleet.testing.kills.layout_faults import (
    SILENCE_S,
    SLOTS_PER_COORDINATOR,
    SLOTS_PER_WORKER,
    Fault,
    Layout,
    Store,
)
from symfleet.testing.kills.loop import (
    Kill,
    RunReport,
    Watch,
    conclude,
    decided_inputs,
    decisions_so_far,
)
from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.stores.postgres_cluster import Cluster

PARTITION_S: Final = 20.0
_NAMES: Final = ("alpha", "beta", "gamma")
_PATIENCE_S: Final = 60.0
_END_S: Final = 240.0
_POLL_S: Final = 0.02


class StruckHost:
    """One run over several hosts, the last of which is struck (`layout_faults.Run`)."""

    def __init__(
        self,
        campaign: ProgramCampaign,
        layout: Layout,
        chance: random.Random,
        *,
        within_s: float,
        cluster: Cluster | None = None,
    ) -> None:
        """As for `DisturbedRun`. The program's folder is there on all hosts, read-only."""
        assert campaign.program.parent not in campaign.folder.parents
        self._campaign = campaign
        self._layout = layout
        self._chance = chance
        self._within_s = within_s
        shared = [campaign.folder]
        if layout.store is not Store.SQLITE:
            assert cluster is not None
            campaign.ledger = cluster.url
            shared.append(cluster.folder)
        self._hosts = Hosts(
            campaign.folder.parent / f"{campaign.folder.name}-hosts",
            _NAMES[: layout.hosts],
            shared=shared,
            read_only=[campaign.program.parent],
        )

    def run(self) -> tuple[RunReport, str]:
        """Run to the end and look at what is left; return also what the launcher said."""
        with self._hosts:
            for host in self._hosts.all[1:]:
                host.path(self._campaign.folder).mkdir(parents=True)  # for the log of runs
                host.own(self._campaign.folder)
            job = self._job()
            try:
                return self._run(job), job.story.read_text()
            finally:
                job.end()

    def _job(self) -> Job:
        hosts = self._hosts.all
        self._campaign.resources = Resources(
            hosts=",".join(f"{host.name}:{SLOTS_PER_COORDINATOR}" for host in hosts),
            ssh=(*SSH, "-o", "ConnectTimeout=1"),
            coordinators=self._layout.coordinators,
            slots_per_worker=SLOTS_PER_WORKER,
            host_retry_s=1.0,
        )
        advanced = Advanced(idle_window_s=0.1, root_silence_s=SILENCE_S)
        launcher = (*hosts[0].enter(), sys.executable, "-m", "symfleet.testing.launch")
        return self._campaign.job(advanced=advanced, launcher=launcher)

    def _run(self, job: Job) -> RunReport:
        began, victim = time.monotonic(), self._hosts.all[-1]
        watches = [Watch(self._log(host)) for host in self._hosts.all]
        job.start()
        until(
            "the host that is struck has executed something",
            lambda: (
                not job.is_running or (self._log(victim).exists() and decisions_so_far(job.out) > 0)
            ),
            _PATIENCE_S,
        )
        assert self._log(victim).exists(), job.story.read_text()
        delay_s = self._chance.uniform(0.0, self._within_s)
        strike_at = time.monotonic() + delay_s
        while time.monotonic() < strike_at and job.is_running:
            time.sleep(_POLL_S)
        with open_reader(job.out) as reader:
            decided = decided_inputs(reader)
        for watch in watches:
            watch.mark(decided)
        met = job.is_running
        self._strike(victim)
        code = job.wait(_END_S)
        kills = (Kill(self._layout.fault, len(decided), round(delay_s, 3)),) if met else ()
        reports = [conclude(job, watch, kills, code, began) for watch in watches]
        self._assert_nothing_left()
        return RunReport(
            exit_code=code,
            kills=kills,
            epochs=reports[0].epochs,
            runs=sum(report.runs for report in reports),
            run_again=tuple(sorted({one for report in reports for one in report.run_again})),
            findings=reports[0].findings,
            faults=reports[0].faults,
            wall_s=reports[0].wall_s,
            facts=reports[0].facts,
        )

    def _log(self, host: Host) -> Path:
        return self._campaign.log if host is self._hosts.all[0] else host.path(self._campaign.log)

    def _strike(self, victim: Host) -> None:
        if self._layout.fault is Fault.HOST:
            victim.power_off()
            return
        victim.cut()
        mended_at = time.monotonic() + PARTITION_S
        while time.monotonic() < mended_at:
            time.sleep(_POLL_S)
        victim.mend()

    def _assert_nothing_left(self) -> None:
        for host in self._hosts.all:
            until(f"nothing runs on {host.name}", lambda h=host: h.processes() == [], 30)  # type: ignore[misc]
        for host in self._hosts.all[1:]:
            assert host.files() == [] or not host.is_up, f"{host.name}: {host.files()}"
        self._campaign.assert_tidy()
