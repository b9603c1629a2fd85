"""How SQLite carries out the statements of a start and of a turn: no matter how much was decided,
none reads a whole table that grows with it."""

from __future__ import annotations

import re
import sqlite3

import pytest

from symfleet.ledger.statements import load, migrations

GROWING = "inputs|work|decisions|coverage|artefacts|blames"
"""Tables with a row for each input, item, decision or blame."""
_ALIASES = "i|w|d|a|b|l"
_WHOLE = re.compile(
    rf"\bAUTOMATIC\b|\bSCAN (?:{GROWING}|{_ALIASES})\b(?! USING (?:COVERING )?INDEX)"
)
_READS_ALL = {
    ("opening", "drop_unnamed"): "`verify --gc`",
    ("opening", "supersede"): "a new coverage generation",
    ("reading", "last_decision"): "its newest row only",
    ("reading", "rows_done"): "people ask for decided rows",
    ("reading", "rows_superseded"): "people ask for superseded rows",
}


def whole_reads() -> dict[tuple[str, str], list[str]]:
    connection = sqlite3.connect(":memory:")
    for script in migrations():
        connection.executescript(script)
    found: dict[tuple[str, str], list[str]] = {}
    for file in ("opening", "reading", "turn"):
        for name, text in load(file).items():
            if text.split()[0] not in {"SELECT", "UPDATE", "DELETE", "INSERT", "WITH"}:
                continue
            values = (0,) * text.count("?")
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]
            whole = [line for line in plan if _WHOLE.search(line)]
            if whole:
                found[file, name] = whole
    connection.close()
    return found


def test_no_statement_of_a_start_or_a_turn_reads_a_growing_table_as_a_whole() -> None:
    assert whole_reads().keys() == _READS_ALL.keys()


@pytest.mark.parametrize("line", ["SCAN artefacts", "SCAN w", "SEARCH a USING AUTOMATIC INDEX"])
def test_a_whole_read_is_seen(line: str) -> None:
    assert _WHOLE.search(line)
