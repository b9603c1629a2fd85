"""What is explored, and within which limits: the settings that a campaign keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from symfleet.config.knob import Checked, Kind, choice, count, words
from symfleet.errors import UserError
from symfleet.types import Keep

INPUT_MARK: Final = "@@"
"""Stands for the path of the input in a target's arguments, as in AFL++; with `argv` for the input
itself."""
SOCKET_MODES: Final = ("socket", "listener")
"""Standard input is a socket, and the input comes through it."""
INPUT_MODES: Final = ("auto", "file", "stdin", *SOCKET_MODES, "argv")


@dataclass(frozen=True, slots=True)
class Target(Checked):
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
        list(INPUT_MODES),
        "How the target gets its input: as a file whose path stands for `@@`, on standard input (as"
        " a file, a connected socket, or a listening socket with one connection), or as the"
        " argument that `@@` stands for. `auto` is `file` when an argument holds `@@`, else"
        " `stdin`.",
        fixed=True,
    )
    env: tuple[str, ...] = words("Variable for the target, NAME=VALUE; may be given several times.")

    def __post_init__(self) -> None:
        # No super(): `slots=True` makes a second class, which zero-argument super() does not know.
        Checked.__post_init__(self)
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
        self._check_input_mode()

    def _check_input_mode(self) -> None:
        where = " ".join(self.argv)
        if self.input_mode in ("file", "argv") and self.argv and not self._has_mark:
            what = "the input's path" if self.input_mode == "file" else "the input"
            raise UserError(
                "the target would never see its input",
                where=where,
                why=f"input_mode is `{self.input_mode}` but no argument holds {INPUT_MARK}",
                hint=f"put {INPUT_MARK} where {what} belongs, or use --input-mode stdin",
            )
        if self.input_mode in SOCKET_MODES and self._has_mark:
            raise UserError(
                "the target would get its input in two ways",
                where=where,
                why=f"input_mode is `{self.input_mode}` and an argument holds {INPUT_MARK}",
                hint=f"take {INPUT_MARK} out of the arguments, or use --input-mode file",
            )
        if self.input_mode in (*SOCKET_MODES, "argv") and self.engine != "embedded":
            raise UserError(
                f"the engine `{self.engine}` cannot give a target its input this way",
                where="input_mode",
                why=f"`{self.input_mode}` is known to the embedded engine alone",
                hint="use --engine embedded, or --input-mode file or stdin",
            )

    @property
    def _has_mark(self) -> bool:
        return any(INPUT_MARK in word for word in self.argv)

    @property
    def effective_input_mode(self) -> str:
        """The way itself, never `auto`."""
        if self.input_mode != "auto":
            return self.input_mode
        return "file" if self._has_mark else "stdin"

    @property
    def environment(self) -> dict[str, str]:
        """`env` as a map; the last one of a name wins."""
        return dict(pair.split("=", 1) for pair in self.env)


@dataclass(frozen=True, slots=True)
class Limits(Checked):
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
        16_384,
        1,
        1_048_576,
        "Size of a file that the target writes; what it prints has no limit.",
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
