"""Everything that can be set, in six groups; two have modules of their own.

Units stand in the names. Constructors validate: a value outside its range, a boolean in place of a
number, infinity or NaN raise UserError with the name and the allowed range.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Final

from symfleet.config.knob import Checked, choice, count, number, switch, text, words
from symfleet.config.ledger_address import check_ledger
from symfleet.config.resources import Resources
from symfleet.config.target import INPUT_MARK, Limits, Target
from symfleet.errors import UserError
from symfleet.types import Keep

__all__ = [
    "INPUT_MARK",
    "SOLVER_MARGIN_S",
    "Advanced",
    "CampaignConfig",
    "Limits",
    "Output",
    "Resources",
    "Stop",
    "Target",
]

_DAY_S: Final = 86_400

SOLVER_MARGIN_S: Final = 10
"""By how much the silence limit must exceed the longest wall-clock solver budget."""


@dataclass(frozen=True, slots=True)
class Stop(Checked):
    """When a launch ends. A stopped campaign keeps its frontier: `resume` goes on."""

    max_time_s: float | None = number(
        None,
        0.1,
        31_536_000,
        "End this launch after this time.",
        unit="s",
        basic=True,
        derived="no limit",
    )
    max_executions: int | None = count(
        None,
        1,
        2**53,
        "End this launch after so many executions.",
        basic=True,
        derived="no limit",
    )
    until_quiescent: bool = switch(
        "Demand that all was tried: exit 2 when a limit cut something off, or the launch ended"
        " before nothing was left. Without it, too, a launch ends when nothing is left.",
        basic=True,
    )
    watch: bool = switch(
        "Do not end when nothing is left: wait for new files in the seed folders and for `corpus"
        " add`.",
        basic=True,
    )
    no_new_coverage_for_s: float | None = number(
        None,
        0.1,
        31_536_000,
        "End when no new edge was found for this time.",
        unit="s",
        basic=True,
        derived="no limit",
    )
    exit_on_crash: bool = switch("End after the first crash.", basic=True)
    fail_on_crash: bool = switch("Exit with 1 when the campaign has crashes.")
    accept_faults: bool = switch("Exit with 0 where faults or leftovers would give 2.")
    shutdown_grace_s: float | None = number(
        None,
        1,
        86_400,
        "How long workers may take to acknowledge the end.",
        unit="s",
        derived="120 s or four times wall_ms, whichever is more",
    )


@dataclass(frozen=True, slots=True)
class Output(Checked):
    """Where everything goes and what is shown."""

    out_dir: str = text(
        "",
        "The campaign's folder; made when it is missing.",
        short="-o",
        basic=True,
        is_path=True,
    )
    screen: str = choice(
        "auto",
        ["auto", "live", "plain", "none"],
        "What is shown while it runs; `auto` is `live` on a terminal and else `plain`.",
        basic=True,
    )
    status_period_s: float = number(
        1.0, 0.1, 3600, "How often status.json and the screen are renewed.", unit="s"
    )
    plain_period_s: float = number(
        10.0, 0.5, 3600, "How often a plain line is printed without a terminal.", unit="s"
    )
    log_mib: int = count(16, 1, 1024, "Size at which a log file is rotated.", unit="mib")
    log_files: int = count(4, 1, 100, "Log files that are kept for each process.")
    log_level: str = choice(
        "info", ["debug", "info", "warning", "error"], "Least important event that is logged."
    )
    ledger: str = text(
        "",
        "Where the campaign keeps its truth: `sqlite` (a file of its folder), or the address of a"
        " PostgreSQL database without a password, `postgresql://user@host/database`.",
        derived="where it is already; for a new campaign `sqlite`",
    )
    allow_filesystem: tuple[str, ...] = words(
        "File system type to accept for the campaign's folder although it is not known to keep"
        " promises (`fuse`); may be given several times."
    )

    def __post_init__(self) -> None:
        Checked.__post_init__(self)
        check_ledger(self.ledger)


@dataclass(frozen=True, slots=True)
class Advanced(Checked):
    """Knobs of the protocol. The defaults fit; each exists to be measured."""

    protocol_retries: int = count(
        1, 0, 16, "Deliveries of an item that may fail by protocol before it is deferred."
    )
    idle_window_s: float = number(
        1.0, 0.05, 60, "How long everything must be idle before the vote on the end.", unit="s"
    )
    prefetch: int = count(1, 0, 4, "Deliveries that wait at a slot beside the running one.")
    delivery_silence_s: float = number(
        30.0,
        5,
        86_400,
        "Without any sign of progress for this time a delivery is taken back.",
        unit="s",
    )
    progress_s: float = number(2.0, 0.1, 60, "How often a worker reports progress.", unit="s")
    repeat_s: float = number(
        5.0,
        0.2,
        60,
        "READY and RESULT are repeated after this time without an answer; each wait is twice the "
        "one before, up to 60 s.",
        unit="s",
    )
    # One second, not the protocol's two: with the start of the interpreter a second job on a live
    # campaign is to be refused within two.
    lock_wait_s: float = number(
        1.0, 0, 60, "How long to wait for a lock before its holder is named.", unit="s"
    )
    root_silence_s: float = number(
        15.0, 2, 3600, "A worker that hears nothing from its coordinator so long ends.", unit="s"
    )
    rescan_s: float = number(
        5.0, 0.1, 86_400, "How often seed folders and the inbox are looked at again.", unit="s"
    )
    frame_mib: int = count(4, 1, 64, "Largest frame between two processes.", unit="mib")
    input_mib: int = count(1, 1, 16, "Largest input.", unit="mib", fixed=True)
    result_children: int = count(
        4096, 1, 65_536, "Children that one execution may report.", fixed=True
    )
    result_mib: int = count(
        64, 1, 1024, "Bytes that one execution may report.", unit="mib", fixed=True
    )
    turn_results: int = count(
        64,
        1,
        4096,
        "Results that one turn of a coordinator takes; where the root runs the turns of others,"
        " messages of any kind.",
    )
    turn_mib: int = count(8, 1, 256, "Bytes that one turn of a coordinator takes.", unit="mib")
    seed: int = count(
        1, 0, 2**63 - 1, "Start of every random choice that changes what is found.", fixed=True
    )
    own_connections: bool = switch(
        "With a ledger on PostgreSQL: let each coordinator write over its own connection, not"
        " through the root."
    )
    accept_older_ledger: bool = switch(
        "Go on from a ledger that is older than what the folder has seen."
    )
    accept_new_target: bool = switch(
        "Go on although the target, its arguments, its limits or the engine changed: every input of"
        " the corpus is executed again, and coverage counts anew."
    )


@dataclass(frozen=True, slots=True)
class CampaignConfig:
    """Everything that can be set. Checks what concerns several groups."""

    target: Target = field(default_factory=Target)
    limits: Limits = field(default_factory=Limits)
    resources: Resources = field(default_factory=Resources)
    stop: Stop = field(default_factory=Stop)
    output: Output = field(default_factory=Output)
    advanced: Advanced = field(default_factory=Advanced)

    def __post_init__(self) -> None:
        needed = self.limits.solver_ms / 1000 + SOLVER_MARGIN_S
        if self.advanced.delivery_silence_s < needed:
            raise UserError(
                f"delivery_silence_s cannot be {self.advanced.delivery_silence_s:g}",
                where="delivery_silence_s",
                why=f"one query may take solver_ms = {self.limits.solver_ms} without a sign of"
                f" progress, so it must be at least {needed:g} s",
                hint="raise --delivery-silence or lower --solver-time",
            )
        if self.advanced.input_mib >= self.advanced.frame_mib:
            raise UserError(
                f"input_mib cannot be {self.advanced.input_mib}",
                where="input_mib",
                why=f"an input must fit into one frame of {self.advanced.frame_mib} MiB",
                hint="raise --frame-size or lower --input-size",
            )
        if self.stop.until_quiescent and self.stop.watch:
            raise UserError(
                "a watched campaign never becomes quiescent",
                where="until_quiescent, watch",
                why="with --watch the seed folders stay open sources",
                hint="leave one of the two away",
            )

    @property
    def keep(self) -> Keep:
        """Which children enter the frontier."""
        return Keep(self.target.keep)

    @property
    def shutdown_grace_s(self) -> float:
        """How long the end may take."""
        if self.stop.shutdown_grace_s is not None:
            return self.stop.shutdown_grace_s
        return max(120.0, 4 * self.limits.wall_ms / 1000)

    @property
    def input_bytes_max(self) -> int:
        """Largest input in bytes."""
        return self.advanced.input_mib << 20

    @property
    def hard_limit_s(self) -> float:
        """After this long a worker kills the executor of a running item: the engine's own limit
        comes first, so meeting this one means that the engine does not answer."""
        execution_s = self.limits.execution_ms / 1000
        if execution_s == 0:
            return float(_DAY_S)
        return min(float(_DAY_S), 2 * execution_s + 2 * self.limits.wall_ms / 1000)

    def executor_limits(self) -> dict[str, int]:
        """Return `limits` of the executor protocol."""
        limits = dataclasses.asdict(self.limits)
        return {
            **limits,
            "children": self.advanced.result_children,
            "result_mib": self.advanced.result_mib,
            "input_bytes": self.input_bytes_max,
        }

    def result_limits(self) -> tuple[tuple[str, int], ...]:
        """Return what changes results, for the generation key, sorted by name."""
        return tuple(sorted({**self.executor_limits(), "seed": self.advanced.seed}.items()))

    def require_complete(self) -> None:
        """Raise UserError unless a campaign could be started from this."""
        if not self.target.argv:
            raise UserError(
                "no target is given",
                where="command line",
                why="the program to explore stands after `--`",
                hint="symfleet explore -i seeds -o out -- ./target @@",
            )
        if not self.output.out_dir:
            raise UserError(
                "no output folder is given",
                where="out_dir",
                why="a campaign keeps everything in one folder",
                hint="add -o out",
            )
        self.resources.require_slots()
