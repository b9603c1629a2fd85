"""The scale study's plots as plain SVG: a few polylines on logarithmic axes need no library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

_WIDTH: Final = 640
_HEIGHT: Final = 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 170, 40, 50
_COLOURS: Final = ("#1f6f8b", "#d1495b", "#3c896d", "#8a5a9b", "#c77d1b", "#555555")
_STORE_NAMES: Final = {"sqlite": "SQLite", "postgres": "PostgreSQL"}

Row = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A named polyline; `dashed` for what is calculated and not simulated."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: int
    dashed: bool = False


@dataclass(frozen=True)
class Axis:
    """A range of values; logarithmic or not."""

    title: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    is_log: bool = True

    def place(self, value: float) -> float:
        """Return where a value lies, 0 to 1."""
        value = min(max(value, self.low), self.high)
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def log_axis(title: str, values: Sequence[float], unit: str = "") -> Axis:
    """Return an axis over whole decades."""
    low = 10.0 ** math.floor(math.log10(min(values)))
    high = 10.0 ** math.ceil(math.log10(max(values)))
    if high <= low:
        high = low * 10
    decades = range(round(math.log10(low)), round(math.log10(high)) + 1)
    return Axis(title, low, high, [(10.0**n, f"{10.0**n:,g}{unit}") for n in decades])


PERCENT: Final = Axis("", 0.0, 1.0, [(n / 5, f"{20 * n} %") for n in range(6)], is_log=False)


def chart(title: str, across: Axis, up: Axis, lines: Sequence[Line]) -> str:
    """Return an SVG document."""
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + wide * across.place(x), _TOP + tall * (1 - up.place(y))

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}">',
        "<style>text{font-family:sans-serif;font-size:12px}</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="22" font-weight="bold">{escape(title)}</text>',
    ]
    for value, text in across.ticks:
        x, _ = at(value, up.low)
        parts.append(_rule(x, _TOP, x, _TOP + tall))
        parts.append(_text(x, _TOP + tall + 18, text, "middle"))
    for value, text in up.ticks:
        _, y = at(across.low, value)
        parts.append(_rule(_LEFT, y, _LEFT + wide, y))
        parts.append(_text(_LEFT - 8, y + 4, text, "end"))
    parts.append(_text(_LEFT + wide / 2, _HEIGHT - 12, across.title, "middle"))
    if up.title:
        parts.append(_text(_LEFT, 36, up.title, "start"))
    for number, line in enumerate(lines):
        colour = _COLOURS[line.colour % len(_COLOURS)]
        dash = ' stroke-dasharray="5 4"' if line.dashed else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in line.points))
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
        )
        if not line.dashed:
            for point in line.points:
                x, y = at(*point)
                parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
        y = _TOP + 10 + 20 * number
        left = _LEFT + wide + 12
        parts.append(
            f'<path d="M{left} {y}h20" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
        )
        parts.append(_text(left + 26, y + 4, line.name, "start"))
    return "\n".join([*parts, "</svg>", ""])


def _rule(x: float, y: float, x2: float, y2: float) -> str:
    return (
        f'<path d="M{x:.1f} {y:.1f}L{x2:.1f} {y2:.1f}" stroke="#dddddd" stroke-width="1"'
        ' fill="none"/>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


# ---- the study's charts -------------------------------------------------------------------------


def draw_all(result: dict[str, Any], folder: Path) -> None:
    """Draw every chart of a result."""
    auto = [row for row in result["points"] if row["bundle_items"] == 1 and is_auto(row)]
    for store in ("sqlite", "postgres"):
        rows = [row for row in auto if row["store"] == store]
        if not rows:
            continue
        name = _STORE_NAMES[store]
        slots = log_axis("slots", [row["slots"] for row in rows])
        save(folder, f"scale-efficiency-{store}", chart(
            f"Share of slot time in executions, {name}", slots, PERCENT,
            by_length(rows, lambda row: row["efficiency"]),
        ))  # fmt: skip
        save(folder, f"scale-latency-{store}", chart(
            f"What a delivery takes beside its execution, {name} (p50)", slots,
            log_axis("", [row["trip_p50_ms"] for row in rows], " ms"),
            by_length(rows, lambda row: row["trip_p50_ms"]),
        ))  # fmt: skip
    save(folder, "scale-knee", knee_chart(auto, result["knee"]))


def is_auto(row: Row) -> bool:
    """Whether a point has the coordinators that `auto` takes."""
    return bool(row["coordinators"] == max(1, min(64, round(row["slots"] / 90))))


def by_length(rows: Sequence[Row], value: Callable[[Row], float]) -> list[Line]:
    """Return a line over the slots for each length of execution."""
    lines = []
    for colour, length in enumerate(sorted({row["length_ms"] for row in rows})):
        points = sorted((row["slots"], value(row)) for row in rows if row["length_ms"] == length)
        text = f"{length / 1000:g} s" if length >= 1000 else f"{length:g} ms"
        lines.append(Line(text, points, colour))
    return lines


def knee_chart(rows: Sequence[Row], knee: dict[str, float]) -> str:
    """Return decided against asked a second: straight until the knee, level beyond it."""
    lines = []
    asked = [row["demand"] for row in rows]
    for colour, store in enumerate(("sqlite", "postgres")):
        best: dict[float, float] = {}
        for row in rows:
            if row["store"] == store and row["slots"] >= 90:
                best[row["demand"]] = max(best.get(row["demand"], 0.0), row["throughput"])
        lines.append(Line(_STORE_NAMES[store], sorted(best.items()), colour))
        if store in knee:
            level = knee[store]
            model = [(min(asked), min(*asked, level)), (level, level), (max(asked), level)]
            lines.append(Line(f"its knee, {level:,.0f}/s", model, colour, dashed=True))
    values = [row["throughput"] for row in rows if row["throughput"]]
    return chart(
        "Decisions a second",
        log_axis("what the slots ask for, a second", asked),
        log_axis("decided", [*values, *asked][: len(values)] or [1.0], ""),
        [line for line in lines if line.points],
    )


def save(folder: Path, name: str, document: str) -> None:
    """Write one chart."""
    (folder / f"{name}.svg").write_text(document)
