"""Why an execution has no children, or not all, and what a person can do about each reason.

The keys are the closed list of the executor protocol (`reason`).
"""

from __future__ import annotations

from typing import Final

OUTPUT_LIMIT: Final = "output_limit"
"""Said of every execution that was cut off, with children or without."""
NO_OUTPUT_FOLDER: Final = "no_output_folder"
"""Said by the engines that run a program of others, which has to leave its folder in place."""
PROGRAM_FAILED: Final = "program_failed"
"""Said by them when it ends with an error and leaves nothing."""
PROGRAM_LIMITED: Final = "program_limited"
"""Said by them when limits have cut off all that it makes."""
NO_CHILD: Final = "no_child"
"""Said by them when it ends well and leaves nothing."""

ADVICE: Final = {
    "not_instrumented": "the target is not instrumented: build it with `symfleet cc`",
    "no_symbolic_byte": "the target read no byte of its input: check @@ and `symfleet doctor`",
    "branches_concrete": "no branch depends on the input: is its parser instrumented too?",
    "all_unsat": "every branch is decided by the input's form: add other seeds",
    "solver_time": "the solver runs out of time: raise --solver-rlimit and --solver-time",
    "already_covered": "the campaign has all that these inputs lead to",
    OUTPUT_LIMIT: "the target writes more than --output-limit and is cut off: raise it",
    NO_OUTPUT_FOLDER: "the engine's program must leave its output folder in place",
    PROGRAM_FAILED: "the engine's program ends with an error and leaves no child: run it by hand",
    PROGRAM_LIMITED: "limits cut off all that the engine's program makes: see `cut off`",
    NO_CHILD: "the engine's program leaves no child: does it write into the folder of @out?",
    "degraded": "executions are too large: raise --rows, --events or --goals",
}
