"""Concurrent coordinators on both stores, disturbed all the time: one order explains everything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from symfleet.testing.linearizability.planted import PLANTS
from symfleet.testing.linearizability.run import STORES
from symfleet.testing.stores.postgres_cluster import programs

pytestmark = pytest.mark.timeout(600)

OPERATIONS = {"sqlite": 40_000, "postgres": 4_000}


def made(folder: Path, *options: str) -> dict[str, Any]:
    """Make histories and return the report."""
    command = [sys.executable, "-m", "symfleet.testing.linearizability.run", *options]
    done = subprocess.run(
        [*command, "--folder", str(folder)],
        capture_output=True,
        timeout=600,
        check=False,
    )
    assert done.stdout, done.stderr.decode()
    report: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == bool(report["violations"])
    return report


@pytest.mark.guarantee("L1")
@pytest.mark.guarantee("L2")
@pytest.mark.guarantee("L6")
@pytest.mark.guarantee("C2")
@pytest.mark.guarantee("C7")
@pytest.mark.parametrize("store", STORES)
def test_one_order_explains_what_concurrent_coordinators_were_told(
    tmp_path: Path, store: str
) -> None:
    if store == "postgres" and programs() is None:
        pytest.skip("no PostgreSQL server is installed (`./symfleet.sh test` installs one)")
    operations = OPERATIONS[store]
    report = made(tmp_path, "--store", store, "--operations", str(operations), "--seed", "1")
    assert not report["violations"], "\n".join(report["violations"])
    assert report["operations"] >= operations
    assert report["decisions"] > operations // 20
    assert sum(report["faults"].values()) > operations // 500
    print(json.dumps(report))


@pytest.mark.parametrize("plant", sorted(PLANTS))
def test_a_ledger_that_breaks_a_promise_is_found_out(tmp_path: Path, plant: str) -> None:
    report = made(tmp_path, "--plant", plant, "--operations", "1500", "--seed", "5")
    assert report["violations"]
