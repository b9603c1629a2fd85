"""What a machine is told when it is made: knobs with their ranges, identities, sources, sinks.

Each knob is checked in the constructor, not only where a person typed it: a boolean, a value that
is not finite or one outside its range is a UserError that names the knob, the value and the range.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final

from symfleet.errors import UserError
from symfleet.protocol.answers import EpochOpening
from symfleet.protocol.messages import EngineSetup
from symfleet.types import CampaignId, Epoch, GenerationId, Incarnation, Keep

_SOLVER_MARGIN_S: Final = 10.0
_SECRET_BYTES: Final = 32


def check_number(name: str, value: object, low: float, high: float, *, whole: bool) -> None:
    """Raise UserError unless `value` is a finite number of the right kind from `low` to `high`."""
    kinds = int if whole else (int, float)
    ok = isinstance(value, kinds) and not isinstance(value, bool)
    if not ok or not math.isfinite(value) or not low <= value <= high:  # type: ignore[arg-type,operator]
        kind = "a whole number" if whole else "a finite number"
        raise UserError(
            f"{name} cannot be {value!r}",
            where=name,
            why=f"it must be {kind} from {low:g} to {high:g}",
            hint=f"set {name} to a value in this range",
        )


@dataclass(frozen=True, slots=True)
class Range:
    """Allowed values of one knob."""

    low: float
    high: float
    whole: bool = False


RANGES: Final[dict[str, Range]] = {
    "protocol_retries": Range(0, 16, whole=True),
    "idle_window_s": Range(0, 3600),
    "prefetch": Range(0, 4, whole=True),
    "delivery_silence_s": Range(5, 86400),
    "solver_budget_s": Range(0, 86390),
    "hard_limit_s": Range(0.001, 86400),
    "progress_s": Range(0.01, 3600),
    "repeat_s": Range(0.01, 3600),
    "recover_s": Range(0.01, 3600),
    "late_s": Range(0.01, 3600),
    "vote_s": Range(0.1, 86400),
    "reset_wait_s": Range(0.1, 86400),
    "reset_tries": Range(1, 100, whole=True),
    "hello_wait_s": Range(0.1, 86400),
    "shutdown_grace_s": Range(0.1, 86400),
    "root_silence_s": Range(0.5, 86400),
    "audit_s": Range(0.1, 86400),
    "bundle_ms": Range(1, 60000),
    "bundle_items": Range(1, 64, whole=True),
    "frame_mib": Range(1, 1024, whole=True),
    "input_mib": Range(1, 16, whole=True),
    "result_children": Range(1, 1_000_000, whole=True),
    "result_mib": Range(1, 4096, whole=True),
    "turn_results": Range(1, 65536, whole=True),
    "turn_mib": Range(1, 4096, whole=True),
    "blames_to_pause": Range(1, 1000, whole=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """Everything about the protocol that can be turned; protocol.md gives the reasons.

    `_s` are seconds, `_mib` are 2^20 bytes. `late_s`: a turn that begins later than this moves all
    deadlines. `vote_s`: a vote without COMMIT is void after this. `turn_results` and `turn_mib`
    bound what a loop hands to one turn.
    """

    protocol_retries: int = 1
    idle_window_s: float = 1.0
    prefetch: int = 1
    delivery_silence_s: float = 30.0
    solver_budget_s: float = 10.0
    hard_limit_s: float = 120.0
    progress_s: float = 2.0
    repeat_s: float = 5.0
    recover_s: float = 2.0
    late_s: float = 1.0
    vote_s: float = 30.0
    reset_wait_s: float = 60.0
    reset_tries: int = 5
    hello_wait_s: float = 120.0
    shutdown_grace_s: float = 120.0
    root_silence_s: float = 15.0
    audit_s: float = 10.0
    bundle_ms: float = 100.0
    bundle_items: int = 64
    frame_mib: int = 4
    input_mib: int = 1
    result_children: int = 4096
    result_mib: int = 64
    turn_results: int = 64
    turn_mib: int = 8
    blames_to_pause: int = 5

    def __post_init__(self) -> None:
        for knob in fields(self):
            allowed = RANGES[knob.name]
            check_number(
                knob.name, getattr(self, knob.name), allowed.low, allowed.high, whole=allowed.whole
            )
        if self.delivery_silence_s < self.solver_budget_s + _SOLVER_MARGIN_S:
            raise UserError(
                f"delivery_silence_s cannot be {self.delivery_silence_s:g}",
                where="delivery_silence_s",
                why=f"one solver call may be silent for {self.solver_budget_s:g} s, and a slot "
                "that only solves must not look dead",
                hint=f"set it to at least {self.solver_budget_s + _SOLVER_MARGIN_S:g}",
            )
        if self.input_mib >= self.frame_mib:
            raise UserError(
                f"input_mib cannot be {self.input_mib}",
                where="input_mib",
                why=f"an input must fit into one frame of {self.frame_mib} MiB with its work item",
                hint="set frame_mib higher or input_mib lower",
            )

    @property
    def frame_bytes(self) -> int:
        """Largest frame, header included."""
        return self.frame_mib << 20

    @property
    def input_bytes(self) -> int:
        """Largest input."""
        return self.input_mib << 20


@dataclass(frozen=True, slots=True)
class SourceSetup:
    """A source of inputs that this coordinator scans. One that is `watched` never closes."""

    source: int
    watched: bool = False


@dataclass(frozen=True, slots=True)
class Peer:
    """Another coordinator: its number in the ledger, its rank, and the ranks of its workers, which
    are adopted by others when it is lost."""

    number: int
    rank: int
    workers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorSetup:
    """Everything a coordinator machine knows at birth.

    `number` is the coordinator's number in the ledger (0: root), `rank` its place in the
    transport. `secret`: 32 bytes of the system's random source, new for each incarnation (D1).
    `workers`: ranks that will say hello. `peers`: the other coordinators, by number (root first).
    `slots`: how many slots each worker rank is to have, its own and the peers', so that one that
    never spoke is counted in full at the end; a rank that is not named counts one.
    `standby`: sources of other coordinators, by number, that this one scans when they are lost.
    `opening` is what the ledger found when this epoch was opened. `until_quiescent`: the epoch ends
    when no work is left. `exhaustive`: everything is to be tried, so that what a limit cut off and
    an end before quiescence are left undone; `cut_off_before` executions of earlier epochs were cut
    off. `may_restart`: a launcher opens another epoch when this one ends because slots were lost.
    """

    campaign: CampaignId
    epoch: Epoch
    number: int
    rank: int
    incarnation: Incarnation
    secret: bytes = field(repr=False)
    version: str
    workers: tuple[int, ...]
    peers: tuple[Peer, ...] = ()
    slots: Mapping[int, int] = field(default_factory=dict)
    engine: EngineSetup
    generation: GenerationId
    keep: Keep
    sources: tuple[SourceSetup, ...]
    standby: Mapping[int, tuple[SourceSetup, ...]] = field(default_factory=dict)
    opening: EpochOpening
    until_quiescent: bool
    exhaustive: bool = False
    cut_off_before: int = 0
    accept_faults: bool = False
    may_restart: bool = True
    knobs: Knobs = field(default_factory=Knobs)

    def __post_init__(self) -> None:
        check_number("number", self.number, 0, 2**16, whole=True)
        check_number("rank", self.rank, 0, 2**32 - 2, whole=True)
        if len(self.secret) != _SECRET_BYTES:
            raise UserError(
                "a coordinator's secret has the wrong length",
                where="secret",
                why=f"{len(self.secret)} bytes instead of {_SECRET_BYTES}",
                hint="take them from the system's random source",
            )
        ranks = [self.rank, *self.workers, *(peer.rank for peer in self.peers), *self.adoptable]
        if len(set(ranks)) != len(ranks):
            raise UserError(
                "ranks of workers and coordinators overlap",
                where=f"workers {self.workers}, coordinator {self.rank}, peers {self.peers}",
                why="a rank has one role",
                hint="give each role its own ranks",
            )
        numbers = [self.number, *(peer.number for peer in self.peers)]
        if sorted(numbers) != list(range(len(numbers))) or numbers[1:] != sorted(numbers[1:]):
            raise UserError(
                "coordinators are not numbered in order",
                where=f"coordinator {self.number}, peers {self.peers}",
                why="numbers begin with the root's 0 and have no gap",
                hint="name all peers, by ascending number",
            )

    @property
    def adoptable(self) -> tuple[int, ...]:
        """Ranks of workers that may come here when their coordinator is lost."""
        return tuple(rank for peer in self.peers for rank in peer.workers)

    @property
    def root(self) -> int:
        """Rank of the root."""
        return self.rank if self.number == 0 else self.peers[0].rank


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSetup:
    """Everything a worker machine knows at birth. `coordinator`: rank that it serves until `root`,
    the root's rank, has it adopted by another.

    `incarnation`: 64 random bits, new for this process. `random` draws the incarnations of slots
    and executors; give `random.SystemRandom()` outside tests.
    """

    campaign: CampaignId
    epoch: Epoch
    rank: int
    coordinator: int
    root: int = 0
    incarnation: Incarnation
    slots: int
    version: str
    host: str
    pid: int
    python: str
    random: random.Random = field(repr=False)
    knobs: Knobs = field(default_factory=Knobs)

    def __post_init__(self) -> None:
        check_number("slots", self.slots, 1, 4096, whole=True)
        check_number("rank", self.rank, 0, 2**32 - 2, whole=True)
