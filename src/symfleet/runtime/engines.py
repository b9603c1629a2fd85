"""From the configuration to the engine that a worker starts."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from symfleet.config.environment import executor_path
from symfleet.config.model import CampaignConfig
from symfleet.errors import HostError, UserError
from symfleet.protocol.messages import EngineSetup
from symfleet.protocol.setup import Knobs
from symfleet.types import Keep

_TABLE_ROW_BYTES: Final = 24
_TABLE_REST_BYTES: Final = (64 + 4 + 1) << 20
"""Blobs, edges, and what is lost to whole pages."""
_SERVE = (sys.executable, "-m", "symfleet.engine.serve")


def engine_command(config: CampaignConfig) -> tuple[str, ...]:
    """Return the command line that speaks the executor protocol."""
    match config.target.engine:
        case "embedded":
            executor = executor_path()
            if not os.access(executor, os.X_OK):
                raise HostError(
                    "the native executor is missing",
                    where=str(executor),
                    why="symfleet was installed without its native part",
                    hint="build it (`./symfleet.sh setup`), or use --engine command or symcc",
                )
            return (str(executor), "--serve")
        case "symcc":
            return (*_SERVE, "symcc")
        case _:
            return (*_SERVE, "command", "--", *config.target.engine_command)


def engine_setup(config: CampaignConfig, program: str) -> EngineSetup:
    """Return what the workers are told. An engine without a coverage map needs `--keep all`."""
    if config.target.engine != "embedded" and config.keep is Keep.NOVEL:
        raise UserError(
            f"the engine `{config.target.engine}` cannot tell which inputs are novel",
            where="keep",
            why="it reports no coverage of the inputs that it makes",
            hint="add --keep all",
        )
    return EngineSetup(
        engine=engine_command(config),
        argv=(program, *config.target.argv[1:]),
        input_mode=config.target.effective_input_mode,
        keep=config.target.keep,
        limits=config.executor_limits(),
        seed=config.advanced.seed,
        env=config.target.environment,
    )


def largest_file(config: CampaignConfig) -> int:
    """Return how large the largest file of an executor is, in bytes; 0 for engines of others.

    Its table is in memory and counts as a file for the kernel (native/executor/src/shared_table.h).
    """
    if config.target.engine != "embedded":
        return 0
    limits = config.limits
    return _TABLE_ROW_BYTES * (limits.rows + limits.events) + _TABLE_REST_BYTES


def knobs_of(config: CampaignConfig) -> Knobs:
    """Return the machines' knobs."""
    advanced = config.advanced
    return Knobs(
        protocol_retries=advanced.protocol_retries,
        idle_window_s=advanced.idle_window_s,
        prefetch=advanced.prefetch,
        delivery_silence_s=advanced.delivery_silence_s,
        solver_budget_s=config.limits.solver_ms / 1000,
        # 0 in the configuration: no limit, which a day is.
        hard_limit_s=config.hard_limit_s or 86_400.0,
        progress_s=advanced.progress_s,
        repeat_s=advanced.repeat_s,
        shutdown_grace_s=config.shutdown_grace_s,
        root_silence_s=advanced.root_silence_s,
        frame_mib=max(advanced.frame_mib, advanced.input_mib + 1),
        input_mib=advanced.input_mib,
        result_children=advanced.result_children,
        result_mib=advanced.result_mib,
        turn_results=advanced.turn_results,
        turn_mib=advanced.turn_mib,
    )


def find_program(config: CampaignConfig, path: str) -> Path:
    """Return the absolute path of the target; raise UserError when it cannot be run."""
    name = config.target.argv[0]
    folders = [Path()] if "/" in name else [Path(folder) for folder in path.split(os.pathsep)]
    for folder in folders:
        program = folder / name
        if program.is_file():
            if os.access(program, os.X_OK):
                return program.absolute()
            raise UserError(
                "the target is not executable",
                where=str(program),
                why="its file mode forbids it",
                hint=f"chmod +x {program}",
            )
    raise UserError(
        "the target does not exist",
        where=name,
        why="there is no such file" if "/" in name else "no folder in PATH holds it",
        hint="check the path after `--`",
    )
