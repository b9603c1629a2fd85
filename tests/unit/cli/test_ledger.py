"""What people read of a ledger."""

from __future__ import annotations

from symfleet.cli.ledger import row_lines


def test_rows_of_all_tables_stand_in_one_column() -> None:
    lines = list(row_lines({"campaign": 1, "generations": 12, "work": 1_234_567}))
    assert len({len(line) for line in lines}) == 1, lines
