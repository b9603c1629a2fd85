"""The power fails at any instant: whatever the disk has kept, the campaign goes on from it.

Each program is traced once; what may be on the disk at each instant is enumerated under three
models of a file system and opened with the real code. Each change looks at some instants, at about
300 distinct folders a second of one core; `python -m benchmarks.power_cut` looks at all of them,
and at a million folders.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from symfleet.ledger.sqlite_tables import SqliteCopy
from symfleet.testing.power_cut.programme import Share, examine
from symfleet.testing.power_cut.trace import can_trace

SEED = 20_261_129

pytestmark = pytest.mark.skipif(bool(can_trace()), reason=can_trace() or "can trace")

SHARES = {
    # name: (share, distinct folders at least)
    "create": (Share(every=5), 2_000),
    "turns": (Share(every=40, second=1, second_every=60), 900),
    "fold": (Share(every=30), 700),
    "recover": (Share(every=60), 150),
    "publish": (Share(every=140), 100),
    "close": (Share(every=160), 150),
    "migrate": (Share(every=16), 150),
    "repair": (Share(every=6), 10),
    "drop": (Share(every=1), 3),
    "backup": (Share(every=24), 50),
    "copy": (Share(every=120), 10),
    "big": (Share(), 50),
}


@pytest.mark.guarantee("A2")
@pytest.mark.guarantee("C1")
@pytest.mark.guarantee("C5")
@pytest.mark.guarantee("C9")
@pytest.mark.parametrize("name", SHARES)
def test_nothing_that_was_durable_is_lost_and_nothing_is_counted_twice(name: str) -> None:
    share, least = SHARES[name]
    tally = examine(name, SEED, share)
    assert tally.violations == []
    assert tally.distinct >= least


@pytest.mark.parametrize(
    ("fault", "name", "every", "seen"),
    [
        ("no-sync", "fold", 30, "was durable"),
        ("normal-sync", "turns", 60, "was durable"),
        ("mark-before-files", "publish", 60, "a published file is"),
        ("name-before-bytes", "fold", 20, "exit code 70: the highwater file is damaged"),
        ("no-folder-sync", "drop", 1, "an input that was handed over is lost"),
        ("early-highwater", "turns", 20, "exit code 70: the ledger is an older"),
    ],
)
def test_a_planted_fault_is_seen(fault: str, name: str, every: int, seen: str) -> None:
    tally = examine(name, SEED, Share(every=every), plant=fault)
    assert any(seen in violation.what for violation in tally.violations), tally.violations[:5]


def test_an_unfinished_copy_that_is_no_database_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unfinished = tmp_path / "ledger.db.copying"
    unfinished.write_bytes(b"\x07" * 8192)
    made: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def connected(*words: Any, **more: Any) -> sqlite3.Connection:
        made.append(connect(*words, **more))
        return made[-1]

    monkeypatch.setattr(sqlite3, "connect", connected)
    with contextlib.closing(SqliteCopy(unfinished)) as copy:
        assert not copy.prepare("source")
    assert len(made) >= 3
    for connection in made:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.total_changes  # noqa: B018
    with contextlib.closing(SqliteCopy(unfinished)) as copy:
        assert copy.prepare("source"), "it is gone on with"
