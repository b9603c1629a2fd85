"""Small builders for tests of ledgers: rows with true identities, from a few words."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from symfleet.ledger.contract import CampaignRow, EpochRequest, GenerationKey
from symfleet.protocol.answers import Lease
from symfleet.protocol.item_results import Flips
from symfleet.protocol.operations import Admission, Child, Decide, FollowUp
from symfleet.protocol.work import WorkItem, encode_item, state_id_of, work_id_of
from symfleet.types import (
    CampaignId,
    GenerationId,
    Incarnation,
    InputId,
    Keep,
    Outcome,
    input_id_of,
)

GENERATION = GenerationId("ab" * 32)


class ManualClock:
    """A clock that moves when it is told to, or when somebody sleeps."""

    def __init__(self, wall: float = 1_700_000_000.0) -> None:
        self.now = 0.0
        self.now_wall = wall

    def monotonic(self) -> float:
        """Return seconds since the clock was made."""
        return self.now

    def wall(self) -> float:
        """Return the wall time."""
        return self.now_wall

    def sleep(self, seconds: float) -> None:
        """Let time pass at once."""
        self.now += seconds
        self.now_wall += seconds


def campaign_row(keep: Keep = Keep.NOVEL, campaign: str = "c1" * 16) -> CampaignRow:
    """Return a campaign's identity."""
    return CampaignRow(
        campaign=CampaignId(campaign),
        ledger_incarnation="0123456789abcdef",
        created_wall=1_700_000_000.0,
        keep=keep,
        generation=GENERATION,
        key=GenerationKey("t" * 64, ("@@",), "file", "b" * 64, (("wall_ms", 1000),)),
        config_toml="jobs = 2\n",
    )


def epoch_request(coordinator: int = 7) -> EpochRequest:
    """Return a launch by this coordinator incarnation."""
    return EpochRequest(
        host="here",
        pid=4711,
        command_line="symfleet explore",
        version="0",
        coordinator=Incarnation(coordinator),
        now_wall=1_700_000_001.0,
        config_toml="",
    )


def item_of(
    data: bytes, *, bound: int | None = None, strategy: str | None = None
) -> tuple[WorkItem, bytes]:
    """Return the work item of some bytes and its payload."""
    item = WorkItem(GENERATION, input_id_of(data), bound=bound, strategy=strategy)
    return item, encode_item(item)


def admission(data: bytes, *, strategy: str | None = None, origin: str = "seeds/x") -> Admission:
    """Return an input from outside."""
    item, payload = item_of(data, strategy=strategy)
    return Admission(item.input, data, work_id_of(item), state_id_of(item), payload, origin)


def packed(*edges: int) -> bytes:
    """Return a packed edge set."""
    return struct.pack(f"<{len(edges)}I", *sorted(edges))


def child(
    data: bytes,
    *edges: int,
    outcome: Outcome = Outcome.OK,
    in_part: bool = False,
    signal: int = 0,
) -> Child:
    """Return a child with these edges; `in_part`: its bytes came before."""
    item, payload = item_of(data)
    return Child(
        input_id=item.input,
        data=None if in_part else data,
        work_id=work_id_of(item),
        state_id=state_id_of(item),
        payload=payload,
        how="smt",
        site=2**63 + 5,
        direction=1,
        outcome=outcome,
        signal=signal,
        edges=packed(*edges),
    )


def follow_up(data: bytes, bound: int) -> FollowUp:
    """Return the rest of a truncated execution of `data`."""
    item, payload = item_of(data, bound=bound)
    return FollowUp(work_id_of(item), state_id_of(item), payload)


def decision(
    lease: Lease,
    children: Sequence[Child] = (),
    *,
    keep: Keep = Keep.NOVEL,
    outcome: Outcome = Outcome.OK,
    edges: bytes = b"",
    input_id: InputId | None = None,
    rest: FollowUp | None = None,
    generated: int | None = None,
) -> Decide:
    """Return the decision of a lease."""
    return Decide(
        work_id=lease.work_id,
        token=lease.token,
        input_id=input_id_of(lease.data) if input_id is None else input_id,
        keep=keep,
        outcome=outcome,
        exit_code=0,
        signal=11 if outcome is Outcome.CRASH else 0,
        edges=edges,
        unstable=0,
        generated=len(children) if generated is None else generated,
        dropped=0,
        children=tuple(children),
        flips=Flips(sat=len(children), unsat=1),
        solved={"smt": len(children)},
        executions=1 + len(children),
        solver_us=10,
        wall_us=100,
        cpu_us=90,
        degraded=(),
        reason=None if children else "all_unsat",
        follow_up=rest,
    )
