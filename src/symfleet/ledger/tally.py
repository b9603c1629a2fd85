"""What decisions, admissions and faults count.

Work counters are sums over decisions (and admissions); both stores add the same deltas here, the
audit adds them again from the stored decisions and compares (C7).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec

from symfleet.ledger.contract import Totals
from symfleet.ledger.plan import DecisionPlan
from symfleet.protocol.item_results import Flips
from symfleet.protocol.operations import Decide
from symfleet.types import CampaignId, Epoch, Incarnation, InputId, Outcome, SinkKind, WorkId

_CHAIN_DOMAIN: Final = b"symfleet decisions v1\0"


class DecisionRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """What a decision counts beyond its manifest; hashed into the chain with it.

    `kept` has one bit for each child of the manifest, first child in the lowest bit.
    `unique_children` are inputs that were not in the corpus before. `first_shown` is the number of
    the first artefact that the decision put into the outbox (0: none), `stories` a digest of all of
    them: what is told of a crash is as well proved as the crash.
    """

    coordinator: int
    exit_code: int
    signal: int
    unstable: int
    dropped: int
    kept: bytes
    late: int
    new_work: int
    unique_children: int
    crashes: int
    hangs: int
    fresh_edges: int
    flips: Flips
    solved: dict[str, int]
    executions: int
    solver_us: int
    wall_us: int
    cpu_us: int
    degraded: tuple[str, ...]
    reason: str | None
    not_exhaustive: bool
    follow_up: WorkId | None
    first_shown: int
    stories: bytes
    cut_off: tuple[str, ...] = ()  # records of earlier versions end before
    left_out: dict[str, int] = {}  # msgspec copies defaults

    @property
    def shown(self) -> int:
        """Return how many artefacts the decision put into the outbox."""
        return self.unique_children + self.crashes + self.hangs


_encoder: Final = msgspec.msgpack.Encoder(order="deterministic")
_decoder: Final = msgspec.msgpack.Decoder(DecisionRecord, strict=True)


def encode_record(record: DecisionRecord) -> bytes:
    """Return the bytes of a record."""
    return _encoder.encode(record)


def decode_record(encoded: bytes) -> DecisionRecord:
    """Read a record; raises msgspec.MsgspecError."""
    return _decoder.decode(encoded)


def kept_bits(kept: Iterable[bool]) -> bytes:
    """Pack which children of a manifest are kept."""
    flags = tuple(kept)
    number = 0
    for place, flag in enumerate(flags):
        if flag:
            number |= 1 << place
    return number.to_bytes((len(flags) + 7) // 8, "little")


def kept_flags(bits: bytes, children: int) -> tuple[bool, ...]:
    """Unpack which children of a manifest are kept."""
    number = int.from_bytes(bits, "little")
    return tuple(bool(number >> place & 1) for place in range(children))


class Shown(NamedTuple):
    """One artefact of a decision as its digest sees it."""

    number: int
    kind: SinkKind
    input_id: InputId
    parent: InputId | None
    epoch: Epoch
    outcome: Outcome
    signal: int
    how: str
    site: int


def stories_digest(shown: Sequence[Shown]) -> bytes:
    """Return the digest of a decision's artefacts in order; empty when there are none."""
    return hashlib.sha256(_encoder.encode(shown)).digest() if shown else b""


@dataclass(frozen=True, slots=True)
class Effects:
    """What a decision changed in the rows of a store."""

    coordinator: int
    new_work: int
    unique_children: int
    crashes: int
    hangs: int
    fresh_edges: int
    shown: Sequence[Shown]


def record_of(decide: Decide, plan: DecisionPlan, effects: Effects) -> DecisionRecord:
    """Return what a decision counts."""
    kept = sum(plan.kept)
    return DecisionRecord(
        coordinator=effects.coordinator,
        exit_code=decide.exit_code,
        signal=decide.signal,
        unstable=decide.unstable,
        dropped=decide.dropped,
        kept=kept_bits(plan.kept),
        late=len(plan.children) - kept,
        new_work=effects.new_work,
        unique_children=effects.unique_children,
        crashes=effects.crashes,
        hangs=effects.hangs,
        fresh_edges=effects.fresh_edges,
        flips=decide.flips,
        solved=decide.solved,
        executions=decide.executions,
        solver_us=decide.solver_us,
        wall_us=decide.wall_us,
        cpu_us=decide.cpu_us,
        degraded=decide.degraded,
        reason=decide.reason,
        not_exhaustive=decide.not_exhaustive,
        follow_up=None if decide.follow_up is None or plan.keeps_all else decide.follow_up.work_id,
        first_shown=effects.shown[0].number if effects.shown else 0,
        stories=stories_digest(effects.shown),
        cut_off=decide.cut_off,
        left_out=decide.left_out,
    )


def chain_start(
    campaign: CampaignId, epoch: Epoch, incarnation: Incarnation, last: int, last_hash: bytes
) -> bytes:
    """Return the hash that a coordinator incarnation's chain of decisions starts from. It names the
    decision that was last when its epoch opened, so that chains hang together."""
    text = f"{campaign}:{epoch}:{incarnation}:{last}:".encode()
    return hashlib.sha256(_CHAIN_DOMAIN + text + last_hash).digest()


def chain_next(
    previous: bytes, number: int, manifest: bytes, record: bytes, new_edges: bytes
) -> bytes:
    """Return a decision's hash."""
    head = b"%d:%d:%d:" % (number, len(manifest), len(record))
    return hashlib.sha256(previous + head + manifest + record + new_edges).digest()


def decision_counts(generated: int, record: DecisionRecord) -> dict[str, int]:
    """Return what one decision adds to the work counters (zeros may be left out)."""
    flips = record.flips
    counts = {
        "executed": 1,
        "generated": generated,
        "unique_children": record.unique_children,
        "kept": int.from_bytes(record.kept, "little").bit_count(),
        "late_children": record.late,
        "unstable_edges": record.unstable,
        "crashes": record.crashes,
        "hangs": record.hangs,
        "target_runs": record.executions,
        "solver_us": record.solver_us,
        "wall_us": record.wall_us,
        "edges": record.fresh_edges,
        "not_exhaustive": int(record.not_exhaustive),
        "flips.sat": flips.sat,
        "flips.unsat": flips.unsat,
        "flips.timeout": flips.timeout,
        "flips.unknown": flips.unknown,
        "flips.skipped": flips.skipped,
    }
    for step, amount in record.solved.items():
        counts["solved." + step] = amount
    for limit in record.cut_off:
        counts["cut_off." + limit] = 1
    for limit, amount in record.left_out.items():
        counts["left_out." + limit] = amount
    if record.reason is not None:
        counts["reasons." + record.reason] = 1
    return counts


_PLAIN: Final = (
    "executed",
    "generated",
    "unique_children",
    "kept",
    "late_children",
    "unstable_edges",
    "external_inputs",
    "crashes",
    "hangs",
    "target_runs",
    "solver_us",
    "wall_us",
    "edges",
    "not_exhaustive",
)
_GROUPS: Final = ("flips", "solved", "reasons", "skipped_inputs", "cut_off", "left_out")


def is_of_generation(name: str) -> bool:
    """Whether a counter says something of one program: a new generation begins with none of it,
    because every input is executed again."""
    return name in ("edges", "not_exhaustive") or name.startswith(("cut_off.", "left_out."))


def totals_of(counts: Mapping[str, int]) -> Totals:
    """Return counters by name as people read them; names with a dot belong to a group."""
    groups: dict[str, dict[str, int]] = {group: {} for group in _GROUPS}
    for name, amount in sorted(counts.items()):
        group, dot, member = name.partition(".")
        if dot and amount:
            groups[group][member] = amount
    return Totals(
        **{name: counts.get(name, 0) for name in _PLAIN},
        flips=groups["flips"],
        solved=groups["solved"],
        reasons=groups["reasons"],
        skipped_inputs=groups["skipped_inputs"],
        cut_off=groups["cut_off"],
        left_out=groups["left_out"],
    )
