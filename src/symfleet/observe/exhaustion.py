"""What limits have cut off, in words: by which limit, how much of it is known, what to raise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from symfleet.observe.report import Counters

LIMITS: Final = {
    "blobs": "strings that the target compares (no option raises it)",
    "bytes": "a result's bytes (--result-size)",
    "child_size": "a child is larger than an input may be (--input-size)",
    "children": "an execution's children (--result-children)",
    "events": "branch events (--events)",
    "goals": "branches tried, or a result's bytes (--goals, --result-size)",
    "memory": "memory of a run (--memory), or more than 512 processes",
    "output": "a file that the target writes (--output-limit)",
    "rows": "rows of the expression table (--rows)",
    "solver": "queries that the solver gave up (--solver-rlimit, --solver-time)",
    "time": "time (--wall-time, --cpu-time, --solver-time, --execution-time)",
}
"""Words of decisions (`protocol.decision.cut_off`), and the options that raise each limit."""


def cut_off_lines(total: Counters) -> Iterator[str]:
    """Yield what is to be said of executions that did not try everything; nothing when all did."""
    count = total.not_exhaustive
    if not count:
        return
    one = count == 1
    yield (
        f"cut off    {count} {'execution was' if one else 'executions were'} cut off by a limit:"
        " not all was tried"
    )
    for limit, amount in sorted(total.cut_off.items(), key=lambda pair: (-pair[1], pair[0])):
        lost = total.left_out.get(limit, 0)
        known = f", {lost} {'child' if lost == 1 else 'children'} lost" if lost else ""
        yield f"           {amount} by {LIMITS.get(limit, limit)}{known}"
    yield "           raise it with --accept-new-target: every input is executed again"
