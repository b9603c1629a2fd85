"""The live screen: one report on 80 by 24 characters; more lines show more workers.

It reads reports only (status.json), so that the launcher and `symfleet top` show the same thing and
nothing on the screen can hold up a campaign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from symfleet.observe.lines import advice, amount, duration, since_new_edge_s, what_is_left
from symfleet.observe.report import Report, SlotPart, faults_in

if TYPE_CHECKING:
    from rich.console import RenderableType

WIDTH_MIN: Final = 60
_FIXED_LINES: Final = 17


def render(report: Report, width: int, height: int) -> RenderableType:
    """Lay out a report for a terminal of this size."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    width = max(WIDTH_MIN, width)
    grid = Table.grid(padding=(0, 1), expand=True)
    grid.add_column(style="dim", width=10, no_wrap=True)
    grid.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for label, text in _rows(report):
        grid.add_row(label, text)
    parts: list[RenderableType] = [_title(report), Text("─" * (width - 1), style="dim"), grid]
    workers = _worker_rows(report)
    room = max(0, height - _FIXED_LINES)
    shown = workers[:room] if len(workers) <= room else workers[: max(0, room - 1)]
    if shown:
        parts.append(Text("─" * (width - 1), style="dim"))
        parts += shown
    if len(shown) < len(workers):
        parts.append(Text(f"... and {len(workers) - len(shown)} more workers", style="dim"))
    return Group(*parts)


def _title(report: Report) -> RenderableType:
    from rich.text import Text

    name = report.campaign.target[0].rsplit("/", 1)[-1] if report.campaign.target else "?"
    resumed = max(0, report.epochs - 1)
    phase = report.live.phase if report.live else "stopped"
    title = Text(no_wrap=True, overflow="ellipsis")
    title.append("symfleet ", style="bold cyan")
    title.append(name, style="bold")
    title.append(f"  keep {report.campaign.keep}  epoch {report.epochs}")
    title.append(f" (resumed {resumed}x)" if resumed else "")
    title.append(f"  {phase}", style="green" if report.live else "yellow")
    return title


def _rows(report: Report) -> list[tuple[str, RenderableType]]:
    from rich.text import Text

    total, live = report.total, report.live
    rows: list[tuple[str, RenderableType]] = []
    hosts = max(1, len({slot.host for slot in live.slots})) if live else 0
    where = f"{hosts} host" + ("" if hosts == 1 else "s")
    busy = sum(slot.items > 0 for slot in live.slots) if live else 0
    slots = len(live.slots) if live else 0
    workers = live.workers if live else 0
    waiting = workers - live.workers_joined if live else 0
    joining = f"; {waiting} still joining" if waiting else ""
    rows.append(
        ("workers", Text(f"{workers} on {where}, {busy} of {slots} slots busy{joining}")),
    )
    rows.append(
        (
            "time",
            Text(
                f"{duration(report.time_this_epoch_s)} this epoch,"
                f" {duration(report.time_total_s)} whole campaign"
            ),
        )
    )
    quiet = since_new_edge_s(report)
    last = "none yet" if quiet is None else f"last new edge {duration(quiet)} ago"
    rows.append(("coverage", Text(f"{total.edges} edges, {last}", style="bold")))
    rows.append(("corpus", Text(f"{report.corpus} inputs ({total.external_inputs} from outside)")))
    crash_style = "bold red" if total.crashes else ""
    rows.append(("crashes", Text(f"{total.crashes}    hangs {total.hangs}", style=crash_style)))
    rows.append(
        (
            "frontier",
            Text(
                what_is_left(report),
                style="yellow" if total.poisoned or total.deferred else "",
            ),
        )
    )
    pace = f" ({live.executions_per_s:.1f}/s)" if live else ""
    runs = f" ({live.target_runs_per_s:.0f}/s)" if live else ""
    rows.append(
        (
            "executed",
            Text(f"{amount(total.executed)}{pace}, target runs {amount(total.target_runs)}{runs}"),
        )
    )
    rows.append(("flips", Text(_flips(report))))
    rows.append(("solved by", Text(_largest(total.solved))))
    rows.append(("empty", Text(_largest(total.empty_executions))))
    rows.append(("skipped", Text(_largest(total.skipped_inputs))))
    if total.cut_off:
        rows.append(("cut off", Text(_largest(total.cut_off), style="yellow")))
    rows.append(("health", _health(report)))
    hint = advice(report)
    if hint is not None:
        rows.append(("hint", Text(hint, style="yellow")))
    return rows


def _flips(report: Report) -> str:
    total = report.total
    names = ("sat", "unsat", "timeout", "unknown", "skipped")
    counts = ", ".join(f"{amount(total.flips.get(name, 0))} {name}" for name in names)
    share = 100 * total.solver_s / total.wall_s if total.wall_s > 0 else 0.0
    return f"{counts}; solver {min(100.0, share):.0f}%"


def _largest(counts: dict[str, int]) -> str:
    if not counts:
        return "-"
    largest = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:4]
    return ", ".join(f"{amount(count)} {name}" for name, count in largest)


def _health(report: Report) -> RenderableType:
    from rich.text import Text

    found = faults_in(report.this_epoch)
    if report.live and report.live.hosts_paused:
        found = {"paused hosts": len(report.live.hosts_paused), **found}
    disk = f"disk {report.live.disk_free_mib / 1024:.1f} GiB free" if report.live else ""
    if not found:
        return Text(f"ok  {disk}", style="green")
    shown = ", ".join(f"{name} {count}" for name, count in found.items())
    return Text(f"{shown}  {disk}", style="bold yellow")


def _worker_rows(report: Report) -> list[RenderableType]:
    from rich.text import Text

    if report.live is None:
        return []
    ranks: dict[int, list[SlotPart]] = {}
    for slot in report.live.slots:
        ranks.setdefault(slot.rank, []).append(slot)
    rows: list[RenderableType] = []
    for rank, slots in sorted(ranks.items()):
        busy = sum(slot.items > 0 for slot in slots)
        states: dict[str, int] = {}
        for slot in slots:
            if slot.state != "open":  # as every healthy slot is
                states[slot.state] = states.get(slot.state, 0) + 1
        silent = max((slot.silent_s for slot in slots), default=0.0)
        summary = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        row = Text(no_wrap=True, overflow="ellipsis")
        row.append(f"rank {rank:<4}", style="cyan")
        row.append(f" {slots[0].host[:20]:<20} {busy}/{len(slots)} busy  {summary}")
        row.append(f"  silent {duration(silent)}" if silent >= 5 else "", style="yellow")
        rows.append(row)
    return rows
