"""The soak: real MPI, a random fault every few seconds, for as long as one likes.

One finite exploration after another is made with faults drawn from a pack
(`symfleet.testing.soak.faults`), whatever stage the job is in. A fault whose victim is not there
waits for one; the ones behind it then come sooner, so that the mean rate stays. When the time is
over the faults end, and what runs has to come to its end. Each campaign is then compared with one
that nobody disturbed (`soak_oracle`); meanwhile its processes are watched (`soak_watch`).
"""

from __future__ import annotations

import itertools
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from symfleet.testing.soak.campaign import SoakCampaign
from symfleet.testing.soak.faults import Pack, weights
from symfleet.testing.soak.graph import Graph, RunLog
from symfleet.testing.soak.memory import growing, memory_of
from symfleet.testing.soak.oracle import Harm
from symfleet.testing.soak.record import (
    CampaignRecord,
    PlanRecord,
    Recorder,
    SoakRecord,
    Story,
)
from symfleet.testing.soak.strikes import Cut, Striker
from symfleet.types import GenerationId

_PROGRESS_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakPlan:
    """What a soak is to be. `cheap`: how many cheap faults there are for each dear one."""

    seconds: float
    every_s: float
    seed: int
    slots: int = 4
    coordinators: int = 1
    cheap: int = 2
    ledger: str = ""
    own_connections: bool = False
    steady: int = 0
    """Which campaign keeps its root, so that it grows old: 0 for none."""
    steady_nodes: int = 34_000
    """How many items it has, of `steady_bulk` bytes and one for each delivery: all that is kept is
    full by the middle of its life (128 MiB of the ledger's pages, 4,096 tokens of each slot)."""
    steady_bulk: int = 8192
    steady_pause_s: float = 0.12
    """More than a bundle of items may take."""
    keep: bool = False
    """Whether the folders of sound campaigns stay."""


class Soak:
    """One soak in a folder of its own."""

    def __init__(
        self,
        plan: SoakPlan,
        graph: Graph,
        folder: Path,
        *,
        cut: Cut | None = None,
        tell: Callable[[str], object] = sys.stderr.write,
    ) -> None:
        """`cut`: ends sessions, where the ledger is on a server."""
        self._plan = plan
        self._graph = graph
        self._folder = folder
        self._cut = cut
        self._tell = tell
        self._recorder = Recorder(folder)
        self._campaigns: list[CampaignRecord] = []
        self._began = 0.0
        """Monotonic seconds at which the soak began, or would have without its interruptions."""
        self._progress_at = 0.0

    def run(self) -> SoakRecord:
        """Soak until the time is over and the last campaign has ended. A soak that was cut off in
        this folder goes on."""
        generation = self._begin()
        for number in itertools.count(len(self._campaigns) + 1):
            record = self._explore(number, generation)
            self._campaigns.append(record)
            self._tell(
                f"campaign {number}: {record.decided} decided, {record.epochs} epochs,"
                f" {sum(record.faults.values())} faults, {record.wall_s:.0f} s,"
                f" wrong: {list(record.wrong)}\n"
            )
            self._recorder.progress(self.record(finished=False))
            if record.wrong or self._clock() >= self._plan.seconds:
                break
        record_of_all = self.record(finished=True)
        self._recorder.progress(record_of_all)
        return record_of_all

    def _clock(self) -> float:
        """Return the seconds that the soak has lasted, interruptions left out."""
        return time.monotonic() - self._began

    def _begin(self) -> GenerationId:
        """Explore once without a fault, or read what a soak that was cut off has left."""
        before, generation = self._recorder.read_progress(), self._recorder.generation()
        if before is not None and generation is not None:
            assert not before.finished, "a soak that has ended does not go on"
            assert before.plan == self._described(), "another soak began in this folder"
            self._campaigns = list(before.campaigns)
            self._began = time.monotonic() - before.wall_s
            self._tell(f"going on after {before.wall_s:.0f} s\n")
            return generation
        calm = self._folder / "undisturbed"
        shutil.rmtree(calm, ignore_errors=True)
        generation = self._graph.undisturbed(calm, self._plan.slots)
        self._recorder.began(generation)
        self._tell(f"{self._graph.nodes} items explored without a fault\n")
        self._began = time.monotonic()
        return generation

    def _explore(self, number: int, generation: GenerationId) -> CampaignRecord:
        plan = self._plan
        chance = random.Random(f"{plan.seed} {number}")
        root_lives = number == plan.steady
        cards = weights(
            cheap=plan.cheap,
            coordinators=plan.coordinators > 1,
            server=self._cut is not None,
            root_lives=root_lives,
        )
        graph = self._graph
        if root_lives:
            graph = replace(
                graph,
                nodes=plan.steady_nodes,
                bulk=plan.steady_bulk,
                pause_s=plan.steady_pause_s,
            )
        campaign = graph.campaign(self._folder / f"campaign{number}", plan.slots)
        campaign.ledger, campaign.coordinators = plan.ledger, plan.coordinators
        campaign.own_connections = plan.own_connections
        told = self._recorder.story()
        before = sum(one.campaign < number for one in told)
        story = Story(self._recorder, number, self._clock, before, told[before:])
        striker = Striker(chance, Pack(cards, chance), self._cut)
        one = SoakCampaign(campaign, RunLog(campaign.log, graph.bulk), striker, story, plan.every_s)
        try:
            one.run(plan.seconds, self._note)
            record = one.judge(graph.expected(generation), root_lives=root_lives)
        finally:
            one.close()
        self._recorder.lives(one.lives)
        if not record.wrong and not plan.keep:
            one.remove()
        return record

    def _note(self) -> None:
        """Write down how far everything is, now and then."""
        now = time.monotonic()
        if now >= self._progress_at:
            self._progress_at = now + _PROGRESS_S
            self._recorder.progress(self.record(finished=False))

    def record(self, *, finished: bool) -> SoakRecord:
        """Return what is known by now."""
        done = self._campaigns
        by_fault = sum((Counter(one.faults) for one in done), Counter[str]())
        wrong = [f"campaign {one.campaign}: {what}" for one in done for what in one.wrong]
        memory = memory_of(self._recorder.all_lives()) if finished else {}
        return SoakRecord(
            plan=self._described(),
            wall_s=round(self._clock(), 1),
            faults=by_fault.total(),
            by_fault=dict(sorted(by_fault.items())),
            decided=sum(one.decided for one in done),
            executions=sum(one.runs for one in done),
            epochs=sum(one.epochs for one in done),
            harm=Harm(
                lost=sum(one.harm.lost for one in done),
                counted_twice=sum(one.harm.counted_twice for one in done),
                run_again=sum(one.harm.run_again for one in done),
            ),
            memory=memory,
            violations=(*wrong, *growing(memory)),
            campaigns=tuple(done),
            finished=finished,
        )

    def _described(self) -> PlanRecord:
        plan = self._plan
        return PlanRecord(
            seed=plan.seed,
            seconds=plan.seconds,
            every_s=plan.every_s,
            cheap=plan.cheap,
            coordinators=plan.coordinators,
            slots=plan.slots,
            nodes=self._graph.nodes,
            pause_s=self._graph.pause_s,
            steady=plan.steady,
            steady_nodes=plan.steady_nodes,
            steady_bulk=plan.steady_bulk,
            store="postgresql" if plan.ledger else "sqlite",
            own_connections=plan.own_connections,
        )
