"""Writers on PostgreSQL that are struck inside their transactions."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from symfleet.ledger.postgres_writer import PostgresWriter
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.testing.stores.postgres_strikes import KINDS, run

pytestmark = pytest.mark.timeout(600)


@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("L2")
def test_a_turn_that_is_struck_counts_once_or_belongs_to_nobody(
    tmp_path: Path, postgres: Cluster
) -> None:
    report = run(tmp_path, postgres, 20, seed=1)
    assert report.violations == []
    assert report.strikes == dict.fromkeys(KINDS, 4)
    assert (report.decisions, report.refused) == (16, 4)


def test_a_writer_that_does_not_look_what_became_of_its_turn_is_found_out(
    tmp_path: Path, postgres: Cluster
) -> None:
    whole = PostgresWriter._come_back

    def forget(writer: PostgresWriter, attempt: Any) -> bool:
        whole(writer, attempt)
        return False

    with mock.patch.object(PostgresWriter, "_come_back", forget):
        report = run(tmp_path, postgres, 4, seed=2)
    assert any("answer to COMMIT lost" in violation for violation in report.violations)
