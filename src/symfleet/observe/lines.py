"""Plain text for people: the running line, the final summary, and words for amounts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from symfleet.engine.reasons import ADVICE, OUTPUT_LIMIT
from symfleet.errors import ExitCode
from symfleet.ledger.plan import PENDING_COUNTED_MAX
from symfleet.observe.exhaustion import cut_off_lines
from symfleet.observe.report import Counters, EpochPart, Report, faults_in


def duration(seconds: float) -> str:
    """Say a time in at most two units."""
    whole = int(seconds)
    for size, name, smaller, smaller_name in (
        (86_400, "d", 3600, "h"),
        (3600, "h", 60, "m"),
        (60, "m", 1, "s"),
    ):
        if whole >= size:
            return f"{whole // size}{name} {whole % size // smaller:02d}{smaller_name}"
    return f"{seconds:.1f}s" if seconds < 10 else f"{whole}s"


def amount(number: float) -> str:
    """Say a number in at most five characters' worth of precision."""
    for size, name in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if number >= size:
            return f"{number / (1e3 if name == 'k' else size):.1f}{name}"
    return f"{number:.0f}"


def since_new_edge_s(report: Report) -> float | None:
    """Return seconds since the last new edge, as of when the report was made."""
    if report.last_new_edge_wall_s is None or report.epoch is None:
        return None
    made = report.live.written_wall_s if report.live else report.epoch.closed_wall_s
    return None if made is None else max(0.0, made - report.last_new_edge_wall_s)


def plain_line(report: Report) -> str:
    """Return one line that says how it goes."""
    total = report.total
    pace = report.live.executions_per_s if report.live else 0.0
    parts = [
        f"[{duration(report.time_total_s)}]",
        f"corpus {report.corpus}",
        f"edges {total.edges}",
        f"crashes {total.crashes}",
        f"hangs {total.hangs}",
        f"pending {total.pending}{_turns(total)}",
        f"executed {total.executed} ({pace:.1f}/s)",
        f"flips {total.flips.get('sat', 0)} sat {total.flips.get('unsat', 0)} unsat",
    ]
    found = faults_in(report.this_epoch)
    if found:
        parts.append("faults " + ", ".join(f"{name} {count}" for name, count in found.items()))
    return "  ".join(parts)


def advice(report: Report) -> str | None:
    """Say what to do when executions are cut off, nothing is found or nothing is left: the
    most frequent reason of empty executions, or that the frontier is empty."""
    total = report.total
    if cut_off := total.empty_executions.get(OUTPUT_LIMIT, 0):
        return f"{cut_off} of {total.executed} executions: {ADVICE[OUTPUT_LIMIT]}"
    if report.live is not None and total.executed > 0 and not report.open_work + report.inbox:
        if report.live.watching:
            return "nothing is left: waiting for inputs (seed folders, `corpus add`), or Ctrl-C"
        if total.not_exhaustive:
            return "nothing is left within the limits, which have cut something off: ending"
        return "nothing is left to explore: ending"
    if total.executed == 0 or total.generated > 0 or not total.empty_executions:
        return None
    reason = max(total.empty_executions, key=lambda name: total.empty_executions[name])
    return ADVICE.get(reason)


def summary_lines(report: Report, out: str) -> Iterator[str]:
    """Yield the final summary."""
    total, epoch = report.total, report.epoch
    if epoch is not None:
        yield f"epoch {epoch.number} {_standing(epoch, cut_off=total.not_exhaustive > 0)}"
    yield (
        f"time       {duration(report.time_this_epoch_s)} this epoch,"
        f" {duration(report.time_total_s)} in {report.epochs} {_epochs(report.epochs)}"
    )
    yield f"corpus     {report.corpus} inputs, {total.edges} edges"
    generation = report.campaign.generation_number
    if generation > 1:
        yield f"           edges since a new target was accepted (generation {generation})"
    yield f"crashes    {total.crashes}" + (f"   see {out}/crashes" if total.crashes else "")
    yield f"hangs      {total.hangs}" + (f"   see {out}/hangs" if total.hangs else "")
    yield (
        f"executed   {report.this_epoch.executed} this epoch, {total.executed} in all;"
        f" {total.generated} children generated, {total.unique_children} new"
    )
    by_coordinator = report.this_epoch.executed_by_coordinator
    if len(by_coordinator) > 1:
        shares = ", ".join(f"{number}: {amount}" for number, amount in by_coordinator.items())
        yield f"           by coordinator {shares}"
    yield f"left       {what_is_left(report)}"
    yield from cut_off_lines(total)
    # Without its own end an epoch has told nothing of the slots: `0/0`.
    told = any(ack != "0/0" for ack in report.acks.values()) or report.unacknowledged
    if told and not (epoch is not None and epoch.running):
        words = acknowledged_words(tuple(report.acks.values()), report.unacknowledged)
        yield f"slots      {words}"
    found = faults_in(report.this_epoch)
    if found:
        yield "faults     " + ", ".join(f"{name} {count}" for name, count in found.items())
    if total.skipped_inputs:
        skipped = ", ".join(f"{name} {count}" for name, count in total.skipped_inputs.items())
        yield f"skipped    {skipped}"
    hint = advice(report)
    if hint is not None:
        yield f"hint       {hint}"
    if _goes_on(epoch):
        return
    if epoch is not None and is_in_doubt(epoch.exit_code):
        yield (
            f"the epoch ended with 70: look first what `symfleet verify {shlex.quote(out)}` says;"
            " docs/howto/recover.md tells what to do then"
        )
    elif report.open_work or report.inbox or seeds_are_left(report):
        yield f"go on with `symfleet resume {shlex.quote(out)}`"


def acknowledged_words(acks: Sequence[str], missing: Sequence[str]) -> str:
    """Say how many slots of each coordinator (`2/3`) acknowledged the end, and who did not (Q4)."""
    words = f"{', '.join(acks)} acknowledged"
    return words + (f"; not acknowledged: {', '.join(missing)}" if missing else "")


def _epochs(count: int) -> str:
    # Not launches: the ledger does not know which epochs a launch began again by itself.
    return "epoch" if count == 1 else "epochs"


_REASONS: Final = {
    "quiescent": "nothing is left to explore",
    "max_time": "--max-time is over",
    "max_executions": "--max-executions are done",
    "no_new_coverage": "no new edge for --no-new-coverage-for",
    "crash_found": "--exit-on-crash",
    "interrupted": "a signal asked for it",
}
"""What the ledger's words for the end of an epoch mean to people."""


def _goes_on(epoch: EpochPart | None) -> bool:
    """Return whether somebody is at work, or will be without being asked."""
    return epoch is not None and (epoch.running or epoch.restarting)


def is_in_doubt(exit_code: int | None) -> bool:
    """Return whether an epoch's end says that the stored state may be damaged."""
    return exit_code == int(ExitCode.INTEGRITY)


def _standing(epoch: EpochPart, *, cut_off: bool) -> str:
    if epoch.running:
        return f"is running (process {epoch.pid} on {epoch.host})"
    if epoch.restarting:
        return "crashed: it has no verdict; its job begins the next one by itself"
    if epoch.reason is None:
        return "crashed: it has no verdict; `symfleet resume` goes on"
    meaning = _REASONS.get(epoch.reason)
    if cut_off and epoch.reason == "quiescent":
        meaning = "nothing is left within the limits"
    return f"ended: {epoch.reason}" + (f" ({meaning})" if meaning else "")


def what_is_left(report: Report) -> str:
    """Say what waits, in which state; states without any are left out."""
    total, inbox = report.total, report.inbox
    states = {
        "pending": total.pending,
        "leased": total.leased,
        "deferred": total.deferred,
        "poisoned": total.poisoned,
        "unpublished": total.unpublished,
    }
    amounts = {name: f"{count} {name}" for name, count in states.items() if count}
    if total.pending:
        amounts["pending"] += _turns(total)
    if inbox:
        amounts["inbox"] = f"{inbox} in the inbox"
    if seeds_are_left(report):
        amounts["seeds"] = "the seeds (none has been read yet)"
    return ", ".join(amounts.values()) or "nothing"


def seeds_are_left(report: Report) -> bool:
    """Return whether no seed was taken in, though nobody has found that there is none: the ledger
    has no rows for what waits then."""
    epoch = report.epoch
    return epoch is not None and epoch.reason != "quiescent" and not report.total.external_inputs


def _turns(total: Counters) -> str:
    """Say how much of what is pending comes before later turns of inputs that were executed: it
    falls while the sum may stand still, because an execution that left goals untried is one."""
    first = total.pending_first
    if first is None or first + total.suspect >= total.pending:
        return ""
    least = "at least " if first >= PENDING_COUNTED_MAX else ""
    return f" ({least}{first} before later turns)"
