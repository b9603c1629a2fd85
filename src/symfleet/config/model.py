"""Everything that can be set, in six groups.

Units stand in the names. Constructors validate: a value outside its range, a boolean in place of a
number, infinity or NaN raise UserError with the name and the allowed range.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, field
from typing import Final

from symfleet.config.hosts import parse_hosts
from symfleet.config.knob import Kind, check_value, choice, count, number, switch, text, words
from symfleet.config.ledger_address import check_ledger
from symfleet.errors import UserError
from symfleet.types import Keep

INPUT_MARK: Final = "@@"
"""Stands for the path of the input in a target's arguments, as in AFL++."""

_DAY_S: Final = 86_400

SOLVER_MARGIN_S: Final = 10
"""By how much the silence limit must exceed the longest wall-clock solver budget."""


class _Checked:
    """Validates every field of a group against its knob."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            check_value(item.name, getattr(self, item.name), item.metadata["knob"])


@dataclass(frozen=True, slots=True)
class Target(_Checked):
    """What is explored and by which engine."""

    argv: tuple[str, ...] = words(
        "The program and its arguments, after `--`; `@@` stands for the input's path, without it"
        " the input comes on standard input.",
        kind=Kind.COMMAND,
        fixed=True,
        hidden=True,
    )
    seed_paths: tuple[str, ...] = words(
        "Folder or file with seeds; may be given several times.",
        short="-i",
        basic=True,
        is_path=True,
    )
    keep: str = choice(
        "novel",
        [keep.value for keep in Keep],
        "Which children are executed too: those with new coverage, or all (a finite program is then"
        " explored to exhaustion).",
        basic=True,
        fixed=True,
    )
    engine: str = choice(
        "embedded",
        ["embedded", "symcc", "command"],
        "What executes an input: the own engine, a binary of a SymCC-compatible compiler, or any"
        " program.",
        basic=True,
        fixed=True,
    )
    engine_command: tuple[str, ...] = words(
        "With `--engine command`: the program that turns one input into new ones.",
        kind=Kind.COMMAND,
        fixed=True,
    )
    input_mode: str = choice(
        "auto",
        ["auto", "file", "stdin"],
        "How the target gets its input; `auto` is `file` when an argument holds `@@`.",
        fixed=True,
    )
    env: tuple[str, ...] = words("Variable for the target, NAME=VALUE; may be given several times.")

    def __post_init__(self) -> None:
        # No super(): `slots=True` makes a second class, which zero-argument super() does not know.
        _Checked.__post_init__(self)
        for pair in self.env:
            if pair.find("=") < 1:
                raise UserError(
                    f"env cannot hold {pair!r}",
                    where="env",
                    why="each entry must be NAME=VALUE",
                    hint="for example --env LANG=C",
                )
        if self.engine == "command" and not self.engine_command:
            raise UserError(
                "the engine `command` has no command",
                where="engine_command",
                why="`--engine command` runs a program of yours for each input",
                hint="add --engine-command 'program @@'",
            )
        if self.input_mode == "file" and self.argv and not self._has_mark:
            raise UserError(
                "the target would never see its input",
                where=" ".join(self.argv),
                why=f"input_mode is `file` but no argument holds {INPUT_MARK}",
                hint=f"put {INPUT_MARK} where the input's path belongs, or use --input-mode stdin",
            )

    @property
    def _has_mark(self) -> bool:
        return any(INPUT_MARK in word for word in self.argv)

    @property
    def effective_input_mode(self) -> str:
        """`file` or `stdin`."""
        if self.input_mode != "auto":
            return self.input_mode
        return "file" if self._has_mark else "stdin"

    @property
    def environment(self) -> dict[str, str]:
        """`env` as a map; the last one of a name wins."""
        return dict(pair.split("=", 1) for pair in self.env)


@dataclass(frozen=True, slots=True)
class Limits(_Checked):
    """Limits of one execution. All belong to the campaign, because they change what it yields."""

    wall_ms: int = count(
        1000,
        1,
        3_600_000,
        "Wall time of one run of the target; beyond it the run is a hang.",
        unit="ms",
        fixed=True,
        basic=True,
    )
    cpu_ms: int = count(
        10_000, 1, 3_600_000, "CPU time of one run of the target.", unit="ms", fixed=True
    )
    rss_mib: int = count(
        2048,
        16,
        1_048_576,
        "Resident memory of one run of the target.",
        unit="mib",
        fixed=True,
        basic=True,
    )
    output_kib: int = count(
        1024,
        1,
        1_048_576,
        "What one run of the target may write to files and pipes.",
        unit="kib",
        fixed=True,
    )
    open_files: int = count(
        256, 8, 1_048_576, "Files that the target may hold open at once.", fixed=True
    )
    rows: int = count(
        4_000_000, 1000, 2**31, "Rows of the expression table of one execution.", fixed=True
    )
    events: int = count(1_000_000, 100, 2**31, "Branch events of one execution.", fixed=True)
    solver_rlimit: int = count(
        2_000_000, 1000, 2**32 - 1, "Counted solver units that one query may spend.", fixed=True
    )
    solver_ms: int = count(
        10_000,
        0,
        3_600_000,
        "Wall time that one query may take; 0 sets none.",
        unit="ms",
        fixed=True,
    )
    goals: int = count(20_000, 1, 2**31, "Branches that one execution may try to flip.", fixed=True)
    execution_ms: int = count(
        60_000,
        0,
        86_400_000,
        "Wall time of one execution with all its queries and candidates; 0 sets none.",
        unit="ms",
        fixed=True,
    )


_SLOTS_PER_COORDINATOR: Final = 90
"""What one coordinator serves well; measured in docs/explanation/scale.md."""
_SLOTS_PER_COORDINATOR_MIN: Final = 3


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class Resources(_Checked):
    """How much of which machines is used."""

    jobs: int | None = count(
        None,
        1,
        1024,
        "How many inputs are executed at the same time.",
        short="-j",
        basic=True,
        derived="the number of usable cores",
    )
    slots_per_worker: int = count(8, 1, 64, "Slots that one worker process drives.")
    coordinators: int | None = count(
        None,
        1,
        64,
        "How many processes hand out work; each needs three slots at least.",
        derived="auto: one for about 90 slots",
    )
    hosts: str = text(
        "",
        "Hosts that execute inputs, and how many each at the same time: NAME:SLOTS,NAME:SLOTS. This"
        " host has the campaign in any case, and executes when it is named.",
        derived="this host",
        basic=True,
    )
    hostfile: str = text(
        "",
        "File with a line `NAME slots=SLOTS` for each host, instead of `--hosts`.",
        is_path=True,
        basic=True,
    )
    ssh: tuple[str, ...] = words(
        "Command that runs another on a host, called with the host and a command line.",
        kind=Kind.COMMAND,
        derived="ssh that asks no questions",
    )
    network: str = text(
        "",
        "Network that the hosts use among each other: names of interfaces or addresses with a"
        " prefix length (10.1.0.0/16), separated by commas.",
        derived="every network that two hosts share",
    )
    host_retry_s: float = number(
        15.0,
        1,
        86_400,
        "How often a host that was lost is asked whether it is back, while slots are missing.",
        unit="s",
    )

    def __post_init__(self) -> None:
        _Checked.__post_init__(self)
        there = sum(host.slots for host in parse_hosts(self.hosts))
        if self.hosts and not self.hostfile and self.jobs is not None and self.jobs > there:
            raise UserError(
                f"jobs cannot be {self.jobs}",
                where="hosts",
                why=f"the hosts have {there} slots together",
                hint="add hosts or raise their slots, or leave --jobs away",
            )

    @property
    def slots(self) -> int:
        """Number of slots of the campaign."""
        if self.jobs is not None:
            return self.jobs
        return sum(host.slots for host in parse_hosts(self.hosts)) or _usable_cores()

    @property
    def coordinator_count(self) -> int:
        """Number of coordinators, the root's among them."""
        if self.coordinators is not None:
            return self.coordinators
        return max(1, round(self.slots / _SLOTS_PER_COORDINATOR))

    def require_slots(self) -> None:
        """Raise UserError when there are more coordinators than the slots are worth."""
        count = self.coordinator_count
        needed = _SLOTS_PER_COORDINATOR_MIN * count
        if count > 1 and self.slots < needed:
            raise UserError(
                f"coordinators cannot be {count}",
                where="coordinators",
                why=f"each needs {_SLOTS_PER_COORDINATOR_MIN} slots at least, and there are"
                f" {self.slots}",
                hint=f"raise --jobs to {needed} or lower --coordinators to"
                f" {max(1, self.slots // _SLOTS_PER_COORDINATOR_MIN)}",
            )

    @property
    def ranks(self) -> int:
        """Number of MPI processes."""
        return self.coordinator_count + len(self.slots_by_worker)

    @property
    def slots_by_worker(self) -> tuple[int, ...]:
        """Slots of each worker rank: as even as can be, two ranks at least for two slots, and as
        many for each coordinator."""
        slots, coordinators = self.slots, self.coordinator_count
        workers = max(-(-slots // self.slots_per_worker), min(2, slots))
        workers = -(-workers // coordinators) * coordinators
        small, larger = divmod(slots, workers)
        return tuple(small + (index < larger) for index in range(workers))


@dataclass(frozen=True, slots=True)
class Stop(_Checked):
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
        "Demand that all was tried: exit 2 when a limit cut something off. Without it, too, a"
        " launch ends when nothing is left.",
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
class Output(_Checked):
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
        _Checked.__post_init__(self)
        check_ledger(self.ledger)


@dataclass(frozen=True, slots=True)
class Advanced(_Checked):
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
    turn_results: int = count(64, 1, 4096, "Results that one turn of a coordinator takes.")
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
