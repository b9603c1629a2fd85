"""Where a turn may be cut off: behind each operation, and once all of it is durable."""

from __future__ import annotations

from collections.abc import Sequence

from symfleet import crash
from symfleet.protocol.operations import (
    Admit,
    Blame,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    Decide,
    Defer,
    MarkPublished,
    Operation,
    Release,
    TakeOver,
)


def pass_applied(operation: Operation) -> None:
    """An operation stands in the transaction of its turn."""
    match operation:
        case Admit():
            crash.point("admit.applied")
        case Claim():
            crash.point("lease.applied")
        case Decide():
            crash.point("decide.applied")
        case Release() | Defer() | Blame():
            crash.point("giveback.applied")
        case MarkPublished():
            crash.point("mark.applied")
        case TakeOver():
            crash.point("takeover.applied")
        case CommitQuiescence():
            crash.point("quiescence.applied")
        case CloseEpoch():
            crash.point("close.applied")
        case _:
            pass


def pass_committed(operations: Sequence[Operation]) -> None:
    """A turn is durable, and nobody has heard of it."""
    for operation in operations:
        match operation:
            case Admit():
                crash.point("admit.committed")
            case Claim():
                crash.point("lease.committed")
            case Decide():
                crash.point("decide.committed")
            case Release() | Defer() | Blame():
                crash.point("giveback.committed")
            case MarkPublished():
                crash.point("mark.committed")
            case TakeOver():
                crash.point("takeover.committed")
            case CommitQuiescence():
                crash.point("quiescence.committed")
            case CloseEpoch():
                crash.point("close.committed")
            case _:
                pass
