"""The scale study's tables in Markdown, printed and written into docs/explanation/scale.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from symfleet.testing.scale.costs import BEGIN_TERMS, END_TERMS, STORE_TERMS
from symfleet.testing.scale.world import coordinators_for

_BEGIN: Final = "<!-- results: written by python -m benchmarks.scale -->"
_END: Final = "<!-- end of results -->"
_STORES: Final = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
_TURN_TERMS: Final = ("turn", "decided", "leased")

Row = dict[str, Any]
Capacities = dict[tuple[str, int], list[tuple[float, float]]]
"""(ledger, coordinators) -> (demand, decisions/s) of the points beyond the knee."""


def rewrite(path: Path, tables: str) -> None:
    """Replace the tables of a page."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    path.write_text(f"{before}{_BEGIN}\n\n{tables}\n{_END}{after}", encoding="utf-8")


def page(result: dict[str, Any]) -> str:
    """Return everything that a result says."""
    rows = result["points"]
    auto = [r for r in rows if r["bundle_items"] == 1 and is_auto(r)]
    sweeps = [r for r in rows if r["store"] == "sqlite" and r["bundle_items"] == 1]
    swept = [
        r
        for size in sorted({(r["slots"], r["length_ms"]) for r in sweeps if not is_auto(r)})
        for r in sorted(sweeps, key=lambda r: int(r["coordinators"]))
        if (r["slots"], r["length_ms"]) == size
    ]
    bundles = [r for r in rows if r["bundle_items"] > 1]
    known = capacities([r for r in rows if r["bundle_items"] == 1])
    parts = [
        f"`{result['command']}`, {result['date'][:10]}"
        + ("" if result["complete"] else ", not all points"),
        knee_lines(result["knee"]),
        "### Measured costs",
        costs_table(result["costs"], result["quality"]),
        "### Fleets",
        points_table(sorted(auto, key=order), known),
    ]
    if swept:
        parts += ["### More and fewer coordinators", points_table(swept, known)]
    if bundles:
        parts += ["### Bundles", points_table(sorted(bundles, key=order), {})]
    if result["losses"]:
        parts += ["### Losses", losses_table(result["losses"])]
    return "\n\n".join(parts) + "\n"


def is_auto(row: Row) -> bool:
    """Whether a point has the coordinators that `auto` takes."""
    return bool(row["coordinators"] == coordinators_for(row["slots"]))


def order(row: Row) -> tuple[str, int, float]:
    """Sort SQLite first, then by size."""
    return "" if row["store"] == "sqlite" else row["store"], row["slots"], row["length_ms"]


def table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def knee_lines(knee: dict[str, float]) -> str:
    """Return how much each store takes."""
    if not knee:
        return "No point was beyond a knee."
    known = [f"{_STORES[store]} **{rate:,.0f} decisions/s**" for store, rate in knee.items()]
    return f"The knee: {', '.join(known)}."


def capacities(rows: Sequence[Row]) -> Capacities:
    """Return what stores decided a second through so many coordinators at points whose slots asked
    for a quarter as much again at least."""
    found: Capacities = {}
    for row in rows:
        if row["demand"] >= 1.25 * row["throughput"]:
            key = row["store"], row["coordinators"]
            found.setdefault(key, []).append((row["demand"], row["throughput"]))
    return found


def expected_of(row: Row, known: Capacities) -> float | None:
    """Return capacity against demand, the capacity being the most that *other* points with as many
    coordinators showed: no point is held against itself. None when there is no such point."""
    points = known.get((row["store"], row["coordinators"]), [])
    rates = [rate for demand, rate in points if demand != row["demand"]]
    return min(1.0, max(rates) / row["demand"]) if rates else None


def points_table(rows: Sequence[Row], known: Capacities) -> str:
    """Return undisturbed points; `expected` is capacity against demand."""
    titles = (
        "ledger", "slots", "coordinators", "execution", "asked /s", "decided /s", "efficiency",
        "expected", "trip p50", "p99", "ledger busy", "root busy", "least slot",
        "coordinators least, most", "items a transaction", "items", "ledger",
    )  # fmt: skip
    return table(titles, [point_line(row, known) for row in rows])


def point_line(row: Row, known: Capacities) -> list[str]:
    """Return one point."""
    expected = expected_of(row, known)
    length = (
        f"{row['length_ms'] / 1000:g} s" if row["length_ms"] >= 1000 else f"{row['length_ms']:g} ms"
    )
    return [
        _STORES[row["store"]],
        f"{row['slots']:,}",
        str(row["coordinators"]),
        length,
        f"{row['demand']:,.0f}",
        f"{row['throughput']:,.0f}",
        f"{row['efficiency']:.1%}",
        "" if expected is None else f"{expected:.1%}",
        f"{row['trip_p50_ms']:,.1f} ms",
        f"{row['trip_p99_ms']:,.1f} ms",
        f"{row['ledger_busy']:.0%}",
        f"{row['root_busy']:.0%}",
        f"{row['slot_least']:.0%}",
        f"{row['coordinator_least']:.0%}, {row['coordinator_most']:.0%}",
        f"{row['items_a_transaction']:g}",
        f"{row['items']:,}",
        f"{row['ledger_mib']:g} MiB",
    ]


def losses_table(rows: Sequence[Row]) -> str:
    """Return what losses cost."""
    titles = (
        "slots", "coordinators", "execution", "lost", "its slots", "half run again after",
        "all after", "slot seconds missing", "ended executions made again",
    )  # fmt: skip
    return table(
        titles,
        [
            [
                f"{row['slots']:,}",
                str(row["coordinators"]),
                f"{row['length_ms'] / 1000:g} s",
                row["lost"],
                f"{row['group']:,}",
                f"{row['half_s']:.2f} s",
                f"{row['all_s']:.2f} s",
                f"{row['slot_seconds']:,.0f}",
                f"{row['repeated']:,}",
            ]
            for row in rows
        ],
    )


def costs_table(costs: dict[str, Any], quality: dict[str, Any]) -> str:
    """Return the parameters in microseconds."""
    terms = {
        "begin": BEGIN_TERMS,
        "end": END_TERMS,
        "sqlite": STORE_TERMS,
        "postgres": STORE_TERMS,
        "turn_sent": _TURN_TERMS,
        "turn_served": _TURN_TERMS,
    }
    lines = []
    for name, value in costs.items():
        if name in terms:
            parts = [
                f"{cost * 1e6:.3g} a {term}"
                for term, cost in zip(terms[name], value, strict=True)
                if cost > 1e-9
            ]
            text = ", ".join(parts)
        elif name.endswith("_bytes"):
            text = f"{value:,.0f} bytes"
        elif name == "postgres_alone":
            text = f"{value:.0%}"
        else:
            text = f"{value * 1e6:,.3g}" if value < 0.01 else f"{value:.3g} s"
        told = quality.get(name)
        fit = f"{told['explained']:.0%} of {told['samples']}" if told else ""
        lines.append([f"`{name}`", text, fit])
    return table(("cost", "µs, unless another unit stands there", "variance explained"), lines)
