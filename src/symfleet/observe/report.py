"""One report for the whole campaign: status.json, `status --json`, the screen and the summary.

Counters carry the names of the protocol's list, once for this epoch and once for the whole
campaign. Everything is made from one ledger snapshot, and what only a live coordinator knows (its
slots, rates) stands in parts of their own that are None in a report of a stopped campaign.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from symfleet.corpus.plain_files import read_plain
from symfleet.ledger.contract import EpochRow, LedgerStatus, Totals
from symfleet.types import WorkState

if TYPE_CHECKING:
    from symfleet.protocol.coordinator_view import CoordinatorView

SCHEMA: Final = 1
_BYTES_MAX: Final = 16 << 20

QUARANTINE_REASONS: Final = ("unowned", "missing", "malformed", "stale")

FAULTS: Final = (
    "quarantined_results",
    "invalid_results",
    "quarantined_ready",
    "quarantined_frames",
    "id_mismatches",
    "wrong_owner_rejected",
    "protocol_requeued",
    "protocol_deferred",
    "deferral_failed",
    "silence_timeouts",
    "slots_recovered",
    "slots_reborn",
    "blames",
    "leases_lost",
    "projection_repaired",
)
"""Counters that are 0 in every healthy run."""

_LABELLED: Final = ("quarantined_results", "quarantined_ready")
_PLAIN: Final = (
    *(name for name in FAULTS if name not in _LABELLED),
    "leases_recovered",
    "redone_decisions",
)


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all parts of a report."""


class Counters(Part, frozen=True):
    """The protocol's counters. States of rows (`pending` to `suspect`, `unpublished`) are those of
    now in both copies; all else is a sum over decisions or fault rows."""

    executed: int
    executed_by_coordinator: dict[str, int]
    generated: int
    unique_children: int
    external_inputs: int
    pending: int
    pending_first: int | None
    """Of them those that come before the later turns of inputs that were executed, counted up to
    10,000; None with keep=all, which has no turns."""
    leased: int
    unpublished: int
    deferred: int
    poisoned: int
    suspect: int
    quarantined_results: dict[str, int]
    invalid_results: int
    quarantined_ready: dict[str, int]
    quarantined_frames: int
    id_mismatches: int
    wrong_owner_rejected: int
    protocol_requeued: int
    protocol_deferred: int
    deferral_failed: int
    silence_timeouts: int
    slots_recovered: int
    slots_reborn: int
    blames: int
    late_children: int
    unstable_edges: int
    leases_recovered: int
    leases_lost: int
    redone_decisions: int
    projection_repaired: int
    other_faults: dict[str, int]
    """Fault rows that are none of the above, `name` or `name.reason`."""
    kept: int
    crashes: int
    hangs: int
    edges: int
    target_runs: int
    solver_s: float
    wall_s: float
    not_exhaustive: int
    """Executions in which a limit cut something off for good."""
    flips: dict[str, int]
    solved: dict[str, int]
    empty_executions: dict[str, int]
    """Executions without children, by reason."""
    skipped_inputs: dict[str, int]
    cut_off: dict[str, int] = {}  # msgspec copies defaults; none in reports of earlier versions
    """Executions in which something was cut off, by limit."""
    left_out: dict[str, int] = {}
    """Children that are known to be lost to a limit, by limit."""


class EpochPart(Part, frozen=True):
    """The newest epoch. `reason` is None while it runs, and when it crashed; `running` tells
    which. `restarting`: it crashed, and its job is about to begin the next one."""

    number: int
    opened_wall_s: float
    closed_wall_s: float | None
    host: str
    pid: int
    reason: str | None
    exit_code: int | None
    running: bool
    restarting: bool


class CampaignPart(Part, frozen=True):
    """What does not change."""

    id: str
    target: tuple[str, ...]
    keep: str
    engine: str
    generation: str
    created_wall_s: float
    generation_number: int = 1
    """How often a new target was accepted, and one; edges are those of this generation."""


class SlotPart(Part, frozen=True):
    """One worker slot."""

    rank: int
    slot: int
    host: str
    state: str
    items: int
    silent_s: float


class LivePart(Part, frozen=True):
    """What only the running coordinator knows."""

    written_wall_s: float
    phase: str
    watching: bool
    """Whether it waits for new inputs when nothing is left."""
    workers: int
    workers_joined: int
    slots: tuple[SlotPart, ...]
    hosts_paused: tuple[str, ...]
    executions_per_s: float
    target_runs_per_s: float
    disk_free_mib: int


class Report(Part, frozen=True):
    """See the module's text."""

    schema: int
    campaign: CampaignPart
    epoch: EpochPart | None
    epochs: int
    time_this_epoch_s: float
    time_total_s: float
    corpus: int
    decisions: int
    last_new_edge_wall_s: float | None
    acks: dict[str, str]
    unacknowledged: tuple[str, ...]
    idle_window_s: float | None
    inbox: int
    """Inputs that `corpus add` handed over and no scan has admitted yet, counted up to 10,000."""
    this_epoch: Counters
    total: Counters
    live: LivePart | None

    @property
    def open_work(self) -> int:
        """Rows that are not finished."""
        return self.total.pending + self.total.leased + self.total.deferred


class RunTimes(Part, frozen=True):
    """Seconds that were spent exploring; epochs that crashed count up to their last decision."""

    this_epoch_s: float
    total_s: float


def counters_of(
    status: LedgerStatus,
    totals: Totals,
    faults: Mapping[str, Mapping[str, int]],
    executed_by: Mapping[int, int],
) -> Counters:
    """Put one set of counters together."""
    sums = {name: sum(reasons.values()) for name, reasons in faults.items()}
    known = {*_PLAIN, *_LABELLED}
    return Counters(
        executed=totals.executed,
        executed_by_coordinator={str(number): amount for number, amount in executed_by.items()},
        generated=totals.generated,
        unique_children=totals.unique_children,
        external_inputs=totals.external_inputs,
        pending=status.states.get(WorkState.PENDING, 0),
        pending_first=status.pending_first,
        leased=status.states.get(WorkState.LEASED, 0),
        unpublished=status.unpublished,
        deferred=status.states.get(WorkState.DEFERRED, 0),
        poisoned=status.states.get(WorkState.POISONED, 0),
        suspect=status.suspects,
        **{name: _by_reason(faults.get(name, {})) for name in _LABELLED},  # type: ignore[arg-type]
        **{name: sums.get(name, 0) for name in _PLAIN},  # type: ignore[arg-type]
        late_children=totals.late_children,
        unstable_edges=totals.unstable_edges,
        other_faults={
            f"{name}.{reason}" if reason else name: amount
            for name, reasons in faults.items()
            if name not in known
            for reason, amount in reasons.items()
        },
        kept=totals.kept,
        crashes=totals.crashes,
        hangs=totals.hangs,
        edges=totals.edges,
        target_runs=totals.target_runs,
        solver_s=totals.solver_us / 1e6,
        wall_s=totals.wall_us / 1e6,
        not_exhaustive=totals.not_exhaustive,
        flips=totals.flips,
        solved=totals.solved,
        empty_executions=totals.reasons,
        skipped_inputs=totals.skipped_inputs,
        cut_off=totals.cut_off,
        left_out=totals.left_out,
    )


def _by_reason(reasons: Mapping[str, int]) -> dict[str, int]:
    return dict.fromkeys(QUARANTINE_REASONS, 0) | dict(reasons)


def report_of(
    status: LedgerStatus,
    times: RunTimes,
    target: tuple[str, ...],
    engine: str,
    live: LivePart | None = None,
    *,
    running: bool,
    restarting: bool = False,
    inbox: int,
) -> Report:
    """Make the report of one ledger snapshot. `running`: its owner lives; `restarting`: its job
    lives, without an owner; `inbox`: inputs that wait there."""
    campaign = status.campaign
    executed_by = {part.coordinator: part.executed for part in status.coordinators}
    return Report(
        schema=SCHEMA,
        campaign=CampaignPart(
            id=campaign.campaign,
            target=target,
            keep=campaign.keep.value,
            engine=engine,
            generation=campaign.generation,
            created_wall_s=campaign.created_wall,
            generation_number=campaign.generation_number,
        ),
        epoch=_epoch_part(status.epoch, running, restarting) if status.epoch else None,
        epochs=status.epochs,
        time_this_epoch_s=times.this_epoch_s,
        time_total_s=times.total_s,
        corpus=status.corpus,
        decisions=status.decisions,
        last_new_edge_wall_s=status.last_new_edge_wall,
        acks={
            str(part.coordinator): f"{part.acknowledged}/{part.workers}"
            for part in status.coordinators
        },
        unacknowledged=tuple(name for part in status.coordinators for name in part.missing),
        idle_window_s=status.idle_window_s,
        inbox=inbox,
        this_epoch=counters_of(status, status.this_epoch, status.faults_this_epoch, executed_by),
        total=counters_of(status, status.total, status.faults_total, status.executed_by),
        live=live,
    )


def _epoch_part(row: EpochRow, running: bool, restarting: bool) -> EpochPart:
    return EpochPart(
        number=row.epoch,
        opened_wall_s=row.opened_wall,
        closed_wall_s=row.closed_wall,
        host=row.host,
        pid=row.pid,
        reason=row.reason,
        exit_code=row.exit_code,
        running=running and row.closed_wall is None,
        restarting=restarting and row.closed_wall is None,
    )


def slots_of(view: CoordinatorView) -> tuple[SlotPart, ...]:
    """Take what is shown of the slots."""
    return tuple(
        SlotPart(
            rank=slot.place.rank,
            slot=slot.place.slot,
            host=slot.host,
            state=slot.state,
            items=slot.items,
            silent_s=round(slot.running_s, 3),
        )
        for slot in view.slots
    )


def faults_in(counters: Counters) -> dict[str, int]:
    """Return the fault counters that are not 0."""
    found: dict[str, int] = {}
    for name in FAULTS:
        value: int | dict[str, int] = getattr(counters, name)
        amount = value if isinstance(value, int) else sum(value.values())
        if amount:
            found[name] = amount
    return found


_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(Report)


def encode_report(report: Report) -> bytes:
    """Return the report as JSON."""
    return msgspec.json.format(_encoder.encode(report), indent=1) + b"\n"


def decode_report(source: bytes) -> Report | None:
    """Read a report back; None for one of another version or a damaged one."""
    try:
        return _decoder.decode(source)
    except msgspec.MsgspecError:
        return None


def read_status(out: Path) -> Report | None:
    """Return what status.json says, None when there is none or it is of another version."""
    try:
        return decode_report(read_plain(out / "status.json", _BYTES_MAX))
    except OSError:
        return None
