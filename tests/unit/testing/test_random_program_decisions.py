"""The judge of predictions confirms what a run shows, and nothing else."""

from __future__ import annotations

import struct

import pytest

from symfleet.testing.random_programs.decisions import (
    ENTRIES_MAX,
    Finding,
    Log,
    Site,
    departure,
    judge,
    read_logs,
)
from symfleet.testing.random_programs.record import Level, Record, accuracy
from symfleet.testing.random_programs.trial import Verdict

ARMED, WENT, ENDED, BRANCH, SWITCH = 1, 2, 3, 4, 5
Entry = tuple[int, int, int]


def decision(name: int, way: int, *seen: Entry) -> list[Entry]:
    return [(ARMED, 0, name), *seen, (WENT, way, name)]


def log_of(*entries: Entry) -> Log:
    data = struct.pack("<Q", len(entries))
    data += b"".join(struct.pack("<IIQ", *entry) for entry in entries)
    (log,) = read_logs(data)
    return log


PARENT = log_of(*decision(1, 1), *decision(2, 0), *decision(3, 1), (ENDED, 0, 77))
RECORDED = log_of(
    *decision(1, 1, (BRANCH, 1, 100)),
    *decision(2, 0, (BRANCH, 0, 200)),
    *decision(3, 1),
    (ENDED, 0, 77),
)


def test_a_decision_is_that_of_the_one_branch_between_its_halves() -> None:
    assert RECORDED.decisions == PARENT.decisions == [(1, 1), (2, 0), (3, 1)]
    assert RECORDED.sites == [Site(100, True), Site(200, False), None]
    assert RECORDED.agrees(PARENT)


@pytest.mark.parametrize(
    "entries",
    [
        [(BRANCH, 1, 100), *decision(1, 1)],
        [*decision(1, 1, (BRANCH, 1, 100), (BRANCH, 1, 101))],
        [*decision(1, 1, (BRANCH, 1, 100)), (BRANCH, 0, 100)],
    ],
)
def test_a_branch_anywhere_else_is_not_observed(entries: list[Entry]) -> None:
    recorded = log_of(*entries)
    assert 100 in recorded.elsewhere
    child = log_of(*decision(1, 0))
    plain = log_of(*decision(1, 1))
    assert judge(recorded, plain, child, 100, 0) is Finding.UNOBSERVED


@pytest.mark.parametrize(
    ("child", "finding"),
    [
        ([*decision(1, 1), *decision(2, 1)], Finding.CONFIRMED),
        ([*decision(1, 1), *decision(2, 0), *decision(3, 1)], Finding.MISSED),
        ([*decision(1, 1), *decision(2, 0), *decision(3, 0)], Finding.MISSED),
        ([*decision(1, 0), *decision(2, 1)], Finding.MISSED),
        ([*decision(1, 1)], Finding.MISSED),
    ],
    ids=["there", "nowhere", "later", "earlier", "ended before"],
)
def test_a_child_has_to_depart_at_its_site(child: list[Entry], finding: Finding) -> None:
    assert judge(RECORDED, PARENT, log_of(*child), 200, 1) is finding


def test_a_branch_that_was_taken_out_of_its_loop_is_not_observed() -> None:
    turn = [*decision(2, 0), *decision(3, 1)]
    recorded = log_of(*decision(1, 1, (BRANCH, 0, 300)), *turn, *decision(1, 0))
    parent = log_of(*decision(1, 1), *turn, *decision(1, 0))
    child = log_of(*decision(1, 1), *decision(2, 0), *decision(3, 0), *decision(1, 0))
    assert judge(recorded, parent, child, 300, 1) is Finding.UNOBSERVED
    behind = log_of(*decision(1, 1), *turn, *decision(1, 1))
    assert judge(recorded, parent, behind, 300, 1) is Finding.MISSED
    assert judge(recorded, parent, parent, 300, 1) is Finding.MISSED


def test_a_prediction_in_the_direction_that_the_parent_took_is_no_prediction() -> None:
    child = log_of(*decision(1, 1), *decision(2, 1))
    assert judge(RECORDED, PARENT, child, 200, 0) is Finding.UNOBSERVED


def test_what_no_branch_asks_is_told_apart() -> None:
    assert judge(RECORDED, PARENT, PARENT, 300, 1) is Finding.NO_BRANCH


def test_a_switch_is_left_in_any_direction() -> None:
    recorded, parent = log_of(*decision(1, 4, (SWITCH, 0, 100))), log_of(*decision(1, 4))
    child = log_of(*decision(1, 12))
    assert {judge(recorded, parent, child, 100, each) for each in (0, 1)} == {Finding.CONFIRMED}


def test_of_a_log_that_was_cut_off_nothing_is_said() -> None:
    full = log_of(*decision(1, 1, (BRANCH, 1, 100)), *[(ARMED, 0, 9)] * ENTRIES_MAX)
    child = log_of(*decision(1, 0))
    assert full.full
    assert judge(full, log_of(*decision(1, 1)), child, 100, 0) is Finding.UNOBSERVED
    assert full.agrees(log_of(*decision(1, 1), *decision(2, 1)))


def test_a_spoilt_log_is_refused() -> None:
    with pytest.raises(struct.error):
        list(read_logs(struct.pack("<QIIQ", 2, WENT, 1, 1)))


def test_logs_that_differ_in_what_was_computed_do_not_agree() -> None:
    assert departure(PARENT, RECORDED) is None
    assert not log_of((ENDED, 0, 1)).agrees(log_of((ENDED, 0, 2)))


def test_guesses_do_not_count_as_predictions() -> None:
    findings = {
        "smt": {"confirmed": 98, "missed": 2, "unobserved": 50},
        "optimistic": {"missed": 1000},
    }
    well = Verdict(0, "O0", 1.0, runs=5)
    bad = Verdict(0, "O2", 2.0, 7, ["differs"], findings, ["smt"])
    record = Record("", "", 19, 0, {"O0": Level(), "O2": Level()}, None, [], [])
    record = record.with_verdicts([well, bad], "2026-01-02")
    assert record.seeds == 1
    assert record.accuracy == accuracy(record.levels) == 0.98
    assert record.failed == [bad]
    assert [(one.level, one.findings) for one in record.slowest] == [("O2", {}), ("O0", {})]
    assert (record.levels["O2"].programs, record.levels["O2"].differing) == (1, 1)
