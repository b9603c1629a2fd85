"""From campaigns to figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.kill_cost.median import Figure
from benchmarks.kill_cost.rows import ROLES, Kill, Row, share


def figures_of(rows: Sequence[Row]) -> dict[str, Figure]:
    """Return the figures of all pairs whose campaigns have both used their budget up."""
    calm = {row.pair: row for row in rows if row.budget and not row.disturbed}
    pairs = [
        (row, calm[row.pair]) for row in rows if row.budget and row.disturbed and row.pair in calm
    ]
    at_budget = [(a.budget, b.budget) for a, b in pairs if a.budget and b.budget]
    struck = [row for row, _ in pairs]
    kills = [kill for row in struck for kill in row.kills]
    roots = [row.root for row in calm.values()]
    found = {
        "edges, disturbed / undisturbed": _ratio((a.edges, b.edges) for a, b in at_budget),
        "decisions, disturbed / undisturbed": _ratio((a.decided, b.decided) for a, b in at_budget),
        "CPU time of executors, disturbed / undisturbed": _ratio(
            (a.cpu_s, b.cpu_s) for a, b in at_budget
        ),
        "CPU time of the job by that of executors, disturbed / undisturbed": _ratio(
            (share(a.job_cpu_s, a.cpu_s), share(b.job_cpu_s, b.cpu_s)) for a, b in pairs
        ),
        "wall time, disturbed / undisturbed": _ratio((a.wall_s, b.wall_s) for a, b in pairs),
        "kills": Figure.of("a campaign", (len(row.kills) for row in struck)),
        "kills that no decision followed": Figure.of(
            "a campaign", (sum(k.recovery_s is None for k in row.kills) for row in struck)
        ),
        "executions lost": Figure.of("a campaign", (row.lost for row in struck)),
        "executions repeated": Figure.of("a campaign", (row.repeated for row in struck)),
        "executions repeated, undisturbed": Figure.of("a campaign", (b.repeated for _, b in pairs)),
        "execution time lost": _percent((row.run_lost_s, row.run_s) for row in struck),
        "CPU time lost": Figure.of("s", (row.cpu_lost_s for row in struck)),
        "solver time repeated": Figure.of("s", (row.solver_lost_s for row in struck)),
        "solver time repeated, share": _percent((r.solver_lost_s, r.solver_s) for r in struck),
        "recovery": _recovery(kills),
        **{
            f"recovery, {role} killed": _recovery(k for k in kills if k.role == role)
            for role in ROLES
        },
        "COMMIT, share of the root's wall time": _percent(
            (root.spans_wall_s.get("commit", 0.0), root.wall_s) for root in roots
        ),
        "COMMIT, share of the root's CPU time": _percent(
            (root.spans_cpu_s.get("commit", 0.0), root.cpu_s) for root in roots
        ),
        "durability, share of the root's wall time": _percent(
            (sum(root.spans_wall_s.values()), root.wall_s) for root in roots
        ),
        "durability, share of the root's CPU time": _percent(
            (sum(root.spans_cpu_s.values()), root.cpu_s) for root in roots
        ),
    }
    return {name: figure for name, figure in found.items() if figure is not None}


def _ratio(pairs: Iterable[tuple[float, float]]) -> Figure | None:
    return Figure.of("ratio", (share(one, other) for one, other in pairs))


def _percent(parts: Iterable[tuple[float, float]]) -> Figure | None:
    return Figure.of("%", (100 * share(part, whole) for part, whole in parts))


def _recovery(kills: Iterable[Kill]) -> Figure | None:
    return Figure.of("s", (k.recovery_s for k in kills if k.recovery_s is not None))
