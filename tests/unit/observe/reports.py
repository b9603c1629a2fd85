"""Makes ledger snapshots and reports for the tests of this folder."""

from __future__ import annotations

import dataclasses
from typing import Any

from symfleet.ledger.contract import (
    CampaignRow,
    CoordinatorTotals,
    EpochRow,
    GenerationKey,
    LedgerStatus,
    Totals,
)
from symfleet.observe.report import LivePart, Report, RunTimes, SlotPart, report_of
from symfleet.types import CampaignId, Epoch, GenerationId, Keep, WorkState

CAMPAIGN = CampaignRow(
    campaign=CampaignId("c" * 32),
    ledger_incarnation="1" * 16,
    created_wall=1_700_000_000.0,
    keep=Keep.NOVEL,
    generation=GenerationId("9" * 64),
    key=GenerationKey("d" * 64, ("@@",), "file", "b" * 64, ()),
    config_toml="",
)
TOTALS = Totals(
    executed=1234,
    generated=5678,
    unique_children=321,
    kept=300,
    external_inputs=7,
    crashes=2,
    hangs=1,
    target_runs=98_765,
    solver_us=30_000_000,
    wall_us=60_000_000,
    edges=4321,
    flips={"sat": 100, "unsat": 50, "timeout": 3, "skipped": 9},
    solved={"inversion": 60, "smt": 40},
    reasons={"all_unsat": 5},
    skipped_inputs={"empty": 1},
)


def status(**changes: Any) -> LedgerStatus:
    """A campaign in the middle of its third launch."""
    snapshot = LedgerStatus(
        campaign=CAMPAIGN,
        epoch=EpochRow(Epoch(3), 1_700_000_100.0, None, "host1", 4242, None, None, 1, 17),
        epochs=3,
        states={
            WorkState.PENDING: 40,
            WorkState.LEASED: 8,
            WorkState.DONE: 1234,
            WorkState.DEFERRED: 0,
            WorkState.POISONED: 0,
        },
        suspects=1,
        pending_first=40,
        unpublished=5,
        corpus=307,
        this_epoch=dataclasses.replace(TOTALS, executed=34),
        total=TOTALS,
        faults_this_epoch={},
        faults_total={"quarantined_results": {"stale": 2}, "blames": {"": 1}, "odd": {"x": 4}},
        coordinators=(CoordinatorTotals(0, 34, 0, 0, ()),),
        executed_by={0: 1034, 1: 200},
        idle_window_s=None,
        decisions=1234,
        last_new_edge_wall=1_700_000_150.0,
    )
    return dataclasses.replace(snapshot, **changes)


def live(slots: int = 4, **changes: Any) -> LivePart:
    """What a coordinator with two workers says."""
    part = {
        "written_wall_s": 1_700_000_170.0,
        "phase": "running",
        "watching": False,
        "workers": 2,
        "workers_joined": 2,
        "slots": tuple(
            SlotPart(
                rank=1 + number // 2,
                slot=number % 2,
                host=f"host{1 + number // 2}",
                state="open",
                items=number % 2,
                silent_s=0.5,
            )
            for number in range(slots)
        ),
        "hosts_paused": (),
        "executions_per_s": 12.34,
        "target_runs_per_s": 987.6,
        "disk_free_mib": 5000,
    }
    return LivePart(**(part | changes))  # type: ignore[arg-type]


def report(
    snapshot: LedgerStatus | None = None,
    part: LivePart | None = None,
    *,
    running: bool = True,
    restarting: bool = False,
    inbox: int = 0,
) -> Report:
    """A report of a snapshot."""
    return report_of(
        snapshot or status(),
        RunTimes(this_epoch_s=70.0, total_s=7200.0),
        ("/work/targets/tlv", "@@"),
        "embedded",
        part,
        running=running,
        restarting=restarting,
        inbox=inbox,
    )
